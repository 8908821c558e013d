//! Where the tools of a thread run, if that is a runner.

use std::path::PathBuf;

/// What parts the id of a destination from the number of a later place of that id; no id has it.
pub const LATER_DESTINATION: char = '#';

/// The id of a destination as it was chosen. What is kept names a later place of that id by its number.
#[must_use]
pub fn shown_destination(key: &str) -> &str {
    key.split_once(LATER_DESTINATION).map_or(key, |(id, _)| id)
}

/// A thread's place at a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerBinding {
    /// The key of the destination; its configuration is kept apart from the thread.
    pub destination: String,
    pub provider: String,
    /// The directory that tools work in, on the runner; absolute.
    pub workspace: PathBuf,
    /// Further directories there that tools may read.
    pub read_roots: Vec<PathBuf>,
}
