//! Directories that are read: a repository's, out of which nothing leads, or the user's own.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rookery_host::{Beneath, EntryKind, files};

/// Entries of one directory that are looked at.
const ENTRIES_LIMIT: usize = 4096;

/// A directory with all below it.
#[derive(Debug)]
pub(crate) enum Tree {
    /// Others fill it: no link that leads out of it is followed.
    Confined(Beneath),
    /// The user fills it: links lead wherever the user wants.
    Open(PathBuf),
}

impl Tree {
    /// A directory that others fill.
    pub(crate) fn confined(root: &Path) -> io::Result<Self> {
        Beneath::new(root).map(Self::Confined)
    }

    /// The entries of a directory by name; those that have no name in UTF-8 come without one.
    pub(crate) fn list(
        &self,
        path: &Path,
    ) -> io::Result<Vec<(Result<String, OsString>, EntryKind)>> {
        let mut found: Vec<(Result<String, OsString>, EntryKind)> = match self {
            Self::Confined(tree) => {
                let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
                let entries = tree.list(path, ENTRIES_LIMIT)?.into_iter();
                entries.map(|(name, kind)| (name.into_string(), kind)).collect()
            }
            Self::Open(root) => {
                let entries = files::read_dir(&root.join(path))?.into_iter().take(ENTRIES_LIMIT);
                let kind = |is_dir, is_file| match (is_dir, is_file) {
                    (true, _) => EntryKind::Dir,
                    (_, true) => EntryKind::File,
                    _ => EntryKind::Other,
                };
                entries.map(|entry| (Ok(entry.name), kind(entry.is_dir, entry.is_file))).collect()
            }
        };
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }

    /// The first bytes of a regular file.
    pub(crate) fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        match self {
            Self::Confined(tree) => tree.read_start(path, limit),
            Self::Open(root) => files::read_start(&root.join(path), limit),
        }
    }
}
