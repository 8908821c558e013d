//! What belongs to changes of files alone.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use rookery_model::ThreadId;

use super::observe::Windows;
use super::sessions::RunningCommand;

/// Work on files that is under way.
#[derive(Default)]
pub(crate) struct Room {
    /// Hunks that are being taken back.
    pub(super) rolling_back: Mutex<HashSet<(ThreadId, String)>>,
    /// Stretches of time in which tools may change files.
    pub(super) windows: Arc<Mutex<Windows>>,
    /// Commands that go on after their call.
    pub(super) going: Mutex<Vec<RunningCommand>>,
    /// Directories whose work trees took too long, and since when.
    pub(super) slow: Mutex<HashMap<PathBuf, Instant>>,
}
