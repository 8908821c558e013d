//! What time it is, and waiting for another: an argument, so that tests need not wait.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A wait.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Tells the time and waits.
pub trait Clock: Send + Sync {
    /// Milliseconds since the epoch.
    fn now(&self) -> u64;
    /// Waits for a while.
    fn sleep(&self, time: Duration) -> Sleep;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn sleep(&self, time: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(time))
    }
}
