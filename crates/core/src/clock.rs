//! The clocks of the daemon: wall time for records, monotonic time for waits.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rookery_model::Timestamp;

/// A monotonic clock that counts from its own creation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn start() -> Clock {
        Clock(Instant::now())
    }

    pub(crate) fn now(&self) -> Duration {
        self.0.elapsed()
    }

    /// The instant at which this clock shows `at`.
    pub(crate) fn instant(&self, at: Duration) -> Instant {
        self.0 + at
    }
}

/// Wall time now.
pub(crate) fn wall() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// Wall time a while from now.
pub(crate) fn after(span: Duration) -> Timestamp {
    let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(wall().as_micros().saturating_add(micros))
}
