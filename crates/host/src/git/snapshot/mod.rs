//! Checkpoints: the state of a work tree as git objects, kept by private references.
//!
//! Head, index, work tree and untracked files are kept to the byte; the user's index, stash,
//! branches and reflogs are not touched. What a checkpoint is for is not known here.

mod beneath;
mod blobs;
mod cache;
mod capture;
mod commit;
mod diff;
mod history;
mod listing;
mod meta;
mod pinned;
mod restore;
mod scan;
mod scratch;
mod seen;
mod submodules;
mod write;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::SystemTime;

use super::{GitError, Oid};

pub(super) use beneath::{Beneath, is_safe};
pub(super) use submodules::has_dirty_submodule;

pub use capture::capture;
pub use diff::{Against, Difference, PATCH_LIMIT, diff};
pub use history::{Details, Keep, captured, delete, list, prune, show};
pub use pinned::{SNAPSHOTS, pin, pinned};
pub use restore::{HeadChange, RestoreOptions, RestoreScope, Restored, restore};
pub use scratch::tidy;

/// Where checkpoints are kept.
pub const REFS: &str = "refs/rookery/checkpoints/";
/// How large a file is kept, unless said otherwise.
pub const DEFAULT_MAX_FILE: u64 = 512 << 20;

/// What a checkpoint is called: 1 to 64 ASCII letters, digits and dashes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CheckpointId(String);

impl CheckpointId {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The reference that keeps it.
    pub fn reference(&self) -> String {
        format!("{REFS}{}", self.0)
    }
}

impl FromStr for CheckpointId {
    type Err = CheckpointError;

    fn from_str(text: &str) -> Result<Self, CheckpointError> {
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        fits.then(|| Self(text.to_owned())).ok_or(CheckpointError::BadId)
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a checkpoint is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions {
    /// What people see.
    pub title: String,
    /// Larger files are left out, and listed.
    pub max_file: u64,
}

impl CaptureOptions {
    /// With this title and the usual limit.
    pub fn titled(title: impl Into<String>) -> Self {
        Self { title: title.into(), max_file: DEFAULT_MAX_FILE }
    }
}

/// A checkpoint that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// What it is called.
    pub id: CheckpointId,
    /// The commit that the reference names.
    pub commit: Oid,
    /// The work tree, byte for byte.
    pub tree: Oid,
    /// What the work tree stood on, unless there was no commit yet.
    pub head: Option<Oid>,
    /// The branch, unless the head was detached.
    pub branch: Option<String>,
    /// What differs from the head, as git sees it.
    pub changed_files: Vec<ChangedFile>,
    /// The sum of it.
    pub stat: Stat,
    /// What could not be kept.
    pub skipped: Vec<Skipped>,
    /// Submodules, which are not looked into.
    pub submodules: Vec<Submodule>,
    /// What was going on: `merge`, `rebase`, `cherry-pick`, `revert` or `bisect`.
    pub in_progress: Option<String>,
    /// When.
    pub captured_at: SystemTime,
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Where it is now, or was before it was deleted.
    pub path: PathBuf,
    /// Lines added; none for what is not text.
    pub additions: Option<u64>,
    /// Lines deleted; none for what is not text.
    pub deletions: Option<u64>,
    /// The letter of git: `A`, `D`, `M`, `R`, `T`.
    pub status: char,
}

/// The sum of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// Files that differ.
    pub files: u64,
    /// Lines added.
    pub additions: u64,
    /// Lines deleted.
    pub deletions: u64,
}

/// Something that is not in a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Where it is.
    pub path: PathBuf,
    /// Why.
    pub reason: SkipReason,
}

/// Why something is not in a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// Larger than the limit.
    TooLarge,
    /// We may not read it.
    Unreadable,
    /// A pipe, a socket or a device.
    Special,
    /// It was written to again and again while it was read.
    Changing,
    /// A repository inside of this one that is no submodule of it.
    NestedRepository,
}

/// Reasons and how they are stored.
const REASONS: &[(SkipReason, &str)] = &[
    (SkipReason::TooLarge, "too-large"),
    (SkipReason::Unreadable, "unreadable"),
    (SkipReason::Special, "special"),
    (SkipReason::Changing, "changing"),
    (SkipReason::NestedRepository, "nested-repository"),
];

impl SkipReason {
    /// A word for it.
    pub fn as_str(self) -> &'static str {
        REASONS.iter().find(|(reason, _)| *reason == self).map_or("unknown", |(_, word)| word)
    }

    fn parse(word: &str) -> Option<Self> {
        REASONS.iter().find(|(_, known)| *known == word).map(|(reason, _)| *reason)
    }
}

/// A submodule at the time of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submodule {
    /// Where it is.
    pub path: PathBuf,
    /// What it stands on, unless it is not there.
    pub head: Option<Oid>,
    /// Whether it has changes of its own, which are not kept.
    pub is_dirty: bool,
}

/// Why something with checkpoints did not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// No name for a checkpoint.
    #[error("a checkpoint id has 1 to 64 letters, digits and dashes")]
    BadId,
    /// That name is taken.
    #[error("checkpoint {0} exists already")]
    Exists(CheckpointId),
    /// There is none of that name.
    #[error("no checkpoint {0}")]
    NotFound(CheckpointId),
    /// The reference names something that no checkpoint of ours looks like.
    #[error("checkpoint {0} cannot be read")]
    Broken(CheckpointId),
    /// Another checkpoint or restore of the same work tree does not end.
    #[error("another checkpoint of this work tree is under way")]
    Busy,
    /// A git of the user's works on the index.
    #[error("the index is locked by another git process: {}", .0.display())]
    IndexLocked(PathBuf),
    /// What would be overwritten or removed could not be saved before. Nothing was changed.
    #[error("would be overwritten and is not saved: {}", list_of(.0))]
    Blocked(Vec<PathBuf>),
    /// The checkpoint names files outside of the work tree. Nothing was changed.
    #[error("the checkpoint holds an unsafe path: {}", .0.display())]
    UnsafePath(PathBuf),
    /// The disk is too full. Nothing was changed.
    #[error("restoring needs {needed} bytes and {available} are free")]
    NoSpace {
        /// How many are needed.
        needed: u64,
        /// How many there are.
        available: u64,
    },
    /// None of the paths asked for is in the checkpoint or in the work tree.
    #[error("not in the checkpoint: {}", list_of(.0))]
    NoSuchPaths(Vec<PathBuf>),
    /// A restore broke off. The state before is kept.
    #[error("the restore was interrupted: {reason}; restore checkpoint {safety} to go back")]
    HalfDone {
        /// The checkpoint of the state before.
        safety: CheckpointId,
        /// Why.
        reason: String,
    },
    /// Git said no.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The first few paths, for people.
fn list_of(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths.iter().take(5).map(|path| path.display().to_string()).collect();
    let more = if paths.len() > shown.len() { ", …" } else { "" };
    shown.join(", ") + more
}

#[cfg(test)]
mod tests;
