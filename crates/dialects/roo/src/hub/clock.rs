//! The time that events carry and timers go by.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Wall time that never goes back: the clock of the machine may be set, and it goes on while the machine
/// sleeps.
#[derive(Default)]
pub(super) struct Clock(AtomicU64);

impl Clock {
    /// Milliseconds since the epoch.
    pub(super) fn now(&self) -> u64 {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall = u64::try_from(wall.as_millis()).unwrap_or(u64::MAX);
        self.0.fetch_max(wall, Ordering::Relaxed).max(wall)
    }

    /// How long it is until then.
    pub(super) fn until(&self, at: u64) -> Duration {
        Duration::from_millis(at.saturating_sub(self.now()))
    }
}
