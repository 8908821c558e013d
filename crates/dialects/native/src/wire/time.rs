//! Points in time: RFC 3339 in UTC, to the microsecond.

use rookery_model as model;

/// A point in time as text, such as `2026-03-01T12:00:00.000000Z`.
pub type Time = String;

/// The time as this dialect writes it.
pub fn format_time(time: model::Timestamp) -> Time {
    let clamped = jiff::Timestamp::from_microsecond(time.as_micros()).unwrap_or({
        if time.as_micros() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX }
    });
    format!("{clamped:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn always_utc_and_six_digits() {
        let format = |micros| format_time(model::Timestamp::from_micros(micros));
        assert_eq!(format(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(format(1_772_366_400_000_001), "2026-03-01T12:00:00.000001Z");
        assert!(format(i64::MAX).starts_with("9999-"));
        assert!(format(i64::MIN).starts_with("-009999-"));
    }
}
