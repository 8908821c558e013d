//! Words and signs that every face has. A mood has a sign and a word, so that none is distinguished by color
//! alone.

use rookery_view::link::Mood;

/// Signs beside colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signs {
    /// Whether more than ASCII is shown.
    pub utf8: bool,
}

impl Signs {
    /// The sign of a mood.
    pub fn of(self, mood: Mood) -> &'static str {
        match (mood, self.utf8) {
            (Mood::Waiting, true) => "◆",
            (Mood::Failed, true) => "✗",
            (Mood::Working, true) => "●",
            (Mood::Done, true) => "✓",
            (Mood::Waiting, false) => "?",
            (Mood::Failed, false) => "x",
            (Mood::Working, false) => "~",
            (Mood::Done, false) => "+",
            (Mood::Quiet, _) => " ",
        }
    }

    /// What stands before the selected row.
    pub fn pointer(self) -> &'static str {
        if self.utf8 { "›" } else { ">" }
    }
}

/// The word of a mood.
pub fn word(mood: Mood) -> &'static str {
    match mood {
        Mood::Waiting => "waits",
        Mood::Failed => "failed",
        Mood::Working => "works",
        Mood::Done => "is done",
        Mood::Quiet => "is quiet",
    }
}

/// A number of files.
pub fn files(count: usize) -> String {
    format!("{count} {}", if count == 1 { "file" } else { "files" })
}

/// How old something is: `<1m`, `4m`, `2h`, `3d`; nothing if that is not known.
pub fn age(at: i64, now: i64) -> String {
    if at <= 0 {
        return String::new();
    }
    let minutes = (now - at).max(0) / 60_000;
    match minutes {
        0 => "<1m".to_owned(),
        1..60 => format!("{minutes}m"),
        60..1440 => format!("{}h", minutes / 60),
        _ => format!("{}d", minutes / 1440),
    }
}

/// The age of a time such as `2026-11-19T04:11:24.5Z`; what is none is shown as it is.
pub fn age_of(at: &str, now: i64) -> String {
    millis(at).map_or_else(|| line(at), |at| age(at, now))
}

/// The time of day where the user is, `14:20:05`.
pub fn clock(at: i64) -> String {
    clock_in(at, jiff::tz::TimeZone::system())
}

fn clock_in(at: i64, zone: jiff::tz::TimeZone) -> String {
    let time = jiff::Timestamp::from_millisecond(at).unwrap_or_default().to_zoned(zone);
    format!("{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second())
}

/// A time in UTC as milliseconds since 1970.
fn millis(at: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| at.get(range)?.parse::<i64>().ok();
    if !at.ends_with('Z') || at.as_bytes().get(10) != Some(&b'T') {
        return None;
    }
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    // Years begin in March here, so that a leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days =
        365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
            - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
}

/// One line of text that comes from elsewhere: nothing in it acts on a terminal or hides.
pub fn line(text: &str) -> String {
    rookery_view::safe::seen(&rookery_view::safe::line(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        let hour = 3_600_000;
        let now = 1_000 * hour;
        assert_eq!(age(now - 1, now), "<1m");
        assert_eq!(age(now - 4 * 60_000, now), "4m");
        assert_eq!(age(now - 2 * hour, now), "2h");
        assert_eq!(age(now - 72 * hour, now), "3d");
        assert_eq!(age(0, now), "");
        assert_eq!(millis("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(millis("2026-11-19T04:11:24.512340Z"), Some(1_795_061_484_000));
        assert_eq!(age_of("1970-02-11T11:00:00Z", now), "5h");
        assert_eq!(age_of("soon", now), "soon");
    }

    #[test]
    fn times_of_day_are_those_of_the_user() {
        let zone = |hours| jiff::tz::TimeZone::fixed(jiff::tz::offset(hours));
        assert_eq!(clock_in(1_795_061_484_000, zone(0)), "04:11:24");
        assert_eq!(clock_in(1_795_061_484_000, zone(-5)), "23:11:24");
        assert_eq!(clock_in(i64::MAX, zone(0)), "00:00:00");
    }

    #[test]
    fn lines_of_others_do_nothing() {
        assert_eq!(line("a\x1b[2Jb\nc\u{9b}d"), "a[2Jb cd");
    }
}
