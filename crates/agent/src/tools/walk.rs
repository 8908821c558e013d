//! The files of a workspace that are worth searching, in order.

use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

/// Directories that are never searched.
const SKIPPED: [&str; 3] = [".git", ".roder", "target"];

/// All files below a directory, sorted, without what ignore files leave out; or the file itself.
/// Links are not followed: what they lead to may lie outside.
pub(super) fn files(base: &Path) -> impl Iterator<Item = PathBuf> {
    WalkBuilder::new(base)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(is_searched)
        .sort_by_file_path(Path::cmp)
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(DirEntry::into_path)
}

fn is_searched(entry: &DirEntry) -> bool {
    let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
    let is_skipped = entry.file_name().to_str().is_some_and(|name| SKIPPED.contains(&name));
    // A directory that was asked for by name is searched in any case.
    entry.depth() == 0 || !(is_dir && is_skipped)
}
