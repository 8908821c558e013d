//! This very program, to be started again.

use std::path::{Path, PathBuf};

/// A path by which this process and its children start the program that runs here: the same file even if another was
/// put in its place, or none. Valid as long as this process lives. `installed` is used where there is no `/proc`.
pub fn own_program(installed: &Path) -> PathBuf {
    let own = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    if own.exists() { own } else { installed.to_owned() }
}
