//! What a work tree changed since it left its base: committed, staged, unstaged and untracked, file by
//! file, and the patch of one file.
//!
//! The tree may be a stranger's: nothing that its configuration or its attributes name is run, no lock is
//! taken, nothing is written or fetched, and no link and no submodule is followed.

mod base;
mod listing;
mod patch;
mod state;
mod untracked;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::{GitError, Oid, Repository};
use crate::files::{self, ConfinedError};

pub use base::Base;
pub use patch::{Patch, PatchOptions, read};
pub use state::{State, StateLimits, moved, state};

/// How long one answer may take.
pub const LIMIT: Duration = Duration::from_secs(30);
/// Untracked files above this are listed and not read.
pub const MAX_UNTRACKED: u64 = 10 << 20;
/// The bytes of untracked files that are read for one answer; what comes later is listed and not read.
pub const MAX_UNTRACKED_IN_ALL: u64 = 256 << 20;

/// Answers that are worked out at the same time; the others wait, as part of their time.
static AT_ONCE: Semaphore = Semaphore::const_new(4);

/// How two states are compared, whatever the user's taste in diffs is.
const COMPARE: &[&str] = &[
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--find-renames",
    "-l1000",
    // Looking into a submodule would start a git there, with the settings of that one.
    "--ignore-submodules=dirty",
    "--submodule=short",
    "-O/dev/null",
];

/// What happened to a file since the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// It is new.
    Added,
    /// It is another, in content, mode or kind.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name, and may be another as well.
    Renamed,
    /// It is new, and git does not know it.
    Untracked,
}

/// Where a change lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    /// Between the base and the head.
    Committed,
    /// Between the head and the index.
    Staged,
    /// Between the index and the work tree.
    Unstaged,
    /// Outside of the index.
    Untracked,
}

/// A file that differs from the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Its path from the top on, as git spells it.
    pub path: Vec<u8>,
    /// Its path before, if that was another.
    pub old_path: Option<Vec<u8>>,
    /// What happened to it.
    pub status: Status,
    /// Where, in order.
    pub areas: Vec<Area>,
    /// Lines that it has and the base has not; 0 for what is not text.
    pub additions: u64,
    /// Lines that the base has and it has not.
    pub deletions: u64,
    /// Whether it is not text.
    pub is_binary: bool,
    /// Whether it is too large to be read.
    pub is_too_large: bool,
}

impl FileChange {
    fn untracked(path: Vec<u8>) -> Self {
        Self {
            path,
            old_path: None,
            status: Status::Untracked,
            areas: vec![Area::Untracked],
            additions: 0,
            deletions: 0,
            is_binary: false,
            is_too_large: false,
        }
    }
}

/// All that differs, and from what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeList {
    /// The top of the work tree.
    pub top: PathBuf,
    /// The branch, unless the head is detached.
    pub branch: Option<String>,
    /// What is compared with.
    pub base: Base,
    /// The commit that is checked out, unless there is none yet.
    pub head: Option<Oid>,
    /// The files, by path.
    pub files: Vec<FileChange>,
}

/// What the work tree around a directory changed since its base.
///
/// # Errors
/// If the directory is in no work tree, git cannot tell, or it takes longer than [`LIMIT`].
pub async fn list(directory: &Path) -> Result<ChangeList, GitError> {
    let all = within(LIMIT, async {
        let _one = AT_ONCE.acquire().await;
        let repo = Repository::discover(directory).await?;
        let head = repo.head().await?;
        let base = base::find(&repo, &head).await?;
        let files = listing::files(&repo, &head, &base).await?;
        Ok(ChangeList {
            top: repo.top().to_owned(),
            branch: head.branch,
            base,
            head: head.commit,
            files,
        })
    });
    all.await
}

/// A directory without links, if there are roots, and then only if it and the whole work tree around it are within
/// one of them.
///
/// # Errors
/// If it leads elsewhere, or nowhere.
pub async fn confined(directory: PathBuf, roots: Vec<PathBuf>) -> Result<PathBuf, ConfinedError> {
    if roots.is_empty() {
        return Ok(directory);
    }
    let real = within_roots(directory, &roots).await?;
    // Where there is no work tree there is nothing to look at, as whoever looks is going to say.
    if let Ok(repo) = Repository::discover(&real).await {
        within_roots(repo.top().to_owned(), &roots).await?;
    }
    Ok(real)
}

async fn within_roots(path: PathBuf, roots: &[PathBuf]) -> Result<PathBuf, ConfinedError> {
    let (asked, roots) = (path.clone(), roots.to_vec());
    let done = tokio::task::spawn_blocking(move || files::confined(&asked, &roots)).await;
    done.unwrap_or_else(|error| Err(ConfinedError::Io(path, io::Error::other(error))))
}

/// Gives up after some time. Whatever git does by then is killed.
async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, GitError>>,
) -> Result<T, GitError> {
    let late = |_| GitError::TimedOut("diff".to_owned());
    tokio::time::timeout(limit, work).await.map_err(late)?
}

#[cfg(test)]
mod tests;
