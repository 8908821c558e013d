//! The line in which the requests of one connection stand: they touch the world in the order in
//! which they came, while those that wait for people step aside.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};

/// The line of one connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lane(Arc<Mutex<()>>);

impl Lane {
    /// Waits for a turn. Places in line are given in the order in which this is first polled.
    pub(crate) async fn turn(&self) -> Turn {
        Turn(Arc::clone(&self.0).lock_owned().await)
    }
}

/// The turn of one request; the next one begins when this is dropped.
#[derive(Debug)]
#[must_use = "the next request begins when this is dropped"]
pub struct Turn(#[expect(dead_code, reason = "held, not used")] OwnedMutexGuard<()>);

impl Turn {
    /// Lets the next request begin, though this one is not answered yet.
    pub fn end(self) {}
}
