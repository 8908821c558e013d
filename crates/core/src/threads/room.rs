//! What belongs to threads alone.

use std::collections::HashMap;

use parking_lot::Mutex;
use rookery_model::TurnId;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use super::{LiveThreads, Resumed};

/// Threads in memory, and turns at work.
#[derive(Default)]
pub(crate) struct Room {
    pub(crate) live_threads: LiveThreads,
    /// Turns at work.
    pub(super) turns: TaskTracker,
    /// Raised whenever a turn has ended, or a thread was closed.
    pub(super) turns_ended: watch::Sender<u64>,
    /// Answers that turns of the last daemon wait for, by turn and call.
    pub(super) resumed: Mutex<HashMap<(TurnId, String), Resumed>>,
}
