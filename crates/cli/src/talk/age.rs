//! How long ago something was, in few letters.

use std::time::{SystemTime, UNIX_EPOCH};

/// Names of spans, the largest first, in seconds.
const SPANS: &[(i64, char)] = &[(86_400, 'd'), (3_600, 'h'), (60, 'm'), (1, 's')];

/// The present moment in seconds.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// How long before `now` a moment was; both in seconds.
pub(crate) fn since(then: i64, now: i64) -> String {
    let age = now.saturating_sub(then).max(0);
    let (span, letter) = SPANS.iter().find(|(span, _)| age >= *span).copied().unwrap_or((1, 's'));
    format!("{}{letter}", age / span)
}

/// The same for a moment in RFC 3339.
pub(crate) fn since_text(then: &str, now: i64) -> String {
    match then.parse::<jiff::Timestamp>() {
        Ok(then) => since(then.as_second(), now),
        Err(_) => "?".to_owned(),
    }
}

/// A duration in milliseconds, for people.
pub(crate) fn took(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{} m {} s", millis / 60_000, millis % 60_000 / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_in_the_largest_span_that_fits() {
        for (age, expected) in
            [(-5, "0s"), (0, "0s"), (59, "59s"), (60, "1m"), (7_199, "1h"), (200_000, "2d")]
        {
            assert_eq!(since(1_000_000 - age, 1_000_000), expected);
        }
        assert_eq!(since_text("1970-01-01T00:01:00.000000Z", 180), "2m");
        assert_eq!(since_text("yesterday", 180), "?");
        assert_eq!(since(i64::MIN, i64::MAX), format!("{}d", i64::MAX / 86_400));
    }

    #[test]
    fn durations_are_short() {
        for (millis, expected) in
            [(0, "0 ms"), (999, "999 ms"), (1_250, "1.2 s"), (61_000, "1 m 1 s")]
        {
            assert_eq!(took(millis), expected);
        }
    }
}
