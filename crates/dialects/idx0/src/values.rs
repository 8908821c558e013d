//! How values are spelled: truth, lists, ids and dates are all strings.

use rookery_model::{SessionId, Timestamp};

/// Whether a string means yes.
pub fn is_true(text: &str) -> bool {
    matches!(text.to_lowercase().as_str(), "1" | "true" | "yes" | "y")
}

/// The parts of a list.
pub fn list(text: &str) -> Vec<String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

/// An id in capitals.
pub fn uuid(raw: u128) -> String {
    let hex = format!("{raw:032X}");
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    parts.join("-")
}

/// A session where an id has to stand: all zeros for none.
pub(crate) fn session_uuid(session: Option<SessionId>) -> String {
    uuid(session.map_or(0, SessionId::get))
}

/// The id that a text spells, in small or large letters.
pub fn parse_uuid(text: &str) -> Option<u128> {
    let id: rookery_model::SessionId = text.parse().ok()?;
    Some(id.get())
}

/// A date: UTC, whole seconds.
pub fn date(at: Timestamp) -> String {
    let seconds = jiff::Timestamp::from_second(at.as_seconds());
    let clamped = seconds.unwrap_or(if at.as_seconds() < 0 {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    });
    format!("{clamped:.0}")
}

/// The time that a date means; parts of a second are read too.
pub fn parse_date(text: &str) -> Option<Timestamp> {
    let is_dated = text.as_bytes().get(10).is_some_and(|byte| matches!(byte, b'T' | b't'));
    let at: jiff::Timestamp = is_dated.then(|| text.parse().ok()).flatten()?;
    Some(Timestamp::from_micros(at.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_and_lists() {
        for yes in ["1", "TRUE", "yes", "Y"] {
            assert!(is_true(yes), "{yes}");
        }
        for no in ["", "0", "on", " true", "true "] {
            assert!(!is_true(no), "{no}");
        }
        assert_eq!(list(" a, ,b "), ["a", "b"]);
        assert!(list(" , ").is_empty());
    }

    #[test]
    fn ids_are_written_in_capitals_and_read_in_any() {
        let text = "0f2f66f2-7c4d-4a96-9c4a-a5f9b4dba89e";
        let raw = parse_uuid(text).unwrap();
        assert_eq!(uuid(raw), text.to_uppercase());
        assert_eq!(parse_uuid(&uuid(raw)), Some(raw));
        assert_eq!(parse_uuid("0f2f66f27c4d4a969c4aa5f9b4dba89e"), None);
        assert_eq!(parse_uuid(""), None);
    }

    #[test]
    fn dates_are_whole_seconds_in_utc() {
        let at = parse_date("2026-03-22T15:00:00Z").unwrap();
        assert_eq!(date(at), "2026-03-22T15:00:00Z");
        assert_eq!(parse_date("2026-03-22T17:00:00+02:00"), Some(at));
        let later = parse_date("2026-03-22T15:00:00.750Z").unwrap();
        assert_eq!(date(later), "2026-03-22T15:00:00Z");
        for wrong in ["2026-03-22", "2026-03-22 15:00:00Z", "2026-03-22T15:00:00", "now", ""] {
            assert_eq!(parse_date(wrong), None, "{wrong}");
        }
        assert!(date(Timestamp::from_micros(i64::MAX)).ends_with('Z'));
    }
}
