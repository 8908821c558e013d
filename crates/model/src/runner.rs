//! Where the tools of a thread run, if that is a runner.

use std::path::PathBuf;

/// A thread's place at a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerBinding {
    /// The destination; its configuration is kept apart from the thread.
    pub destination: String,
    pub provider: String,
    /// The directory that tools work in, on the runner; absolute.
    pub workspace: PathBuf,
    /// Further directories there that tools may read.
    pub read_roots: Vec<PathBuf>,
}
