//! A point in time as plain data. Clocks are read elsewhere.

/// Microseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From microseconds since the Unix epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the Unix epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole seconds since the Unix epoch.
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }
}

/// RFC 3339 in UTC, to the microsecond, such as `2026-03-01T12:00:00.000000Z`.
impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let clamped = jiff::Timestamp::from_microsecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        });
        write!(f, "{clamped:.6}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn always_utc_and_six_digits() {
        let format = |micros| Timestamp::from_micros(micros).to_string();
        assert_eq!(format(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(format(1_772_366_400_000_001), "2026-03-01T12:00:00.000001Z");
        assert!(format(i64::MAX).starts_with("9999-"));
        assert!(format(i64::MIN).starts_with("-009999-"));
    }
}
