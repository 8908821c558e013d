//! Points in time: RFC 3339 in UTC, to the microsecond.

use rookery_model as model;

/// A point in time as text, such as `2026-03-01T12:00:00.000000Z`.
pub type Time = String;

/// The time as this dialect writes it.
pub fn format_time(time: model::Timestamp) -> Time {
    time.to_string()
}
