//! Further checkouts of a repository: made, taken over, filled, landed and removed, without losing
//! work. Whether a session works in them is not known here; the caller says so.

mod bootstrap;
mod create;
mod halfway;
mod land;
mod lent;
mod list;
mod merge;
mod name;
mod remove;

use std::path::PathBuf;

use super::GitError;

pub use bootstrap::{INCLUDE_FILE, Setup, bootstrap};
pub use create::{Base, Created, NewWorktree, Planned, create, plan, undo_planned};
pub use land::{LandMode, LandRequest, Landed, land};
pub use lent::{ReturnOutcome, give_back};
pub use list::{Worktree, attach, current_branch, inspect, list, top_level};
pub use merge::Conflict;
pub use name::{branch_name, slug};
pub use remove::{RemoveRequest, remove};

/// What a worktree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is in use, according to the caller.
    Attached,
    /// Its directory is gone.
    MissingOnDisk,
    /// It has changes that are in no commit.
    Dirty,
    /// It has none.
    Clean,
    /// It is about to be removed; said by the caller.
    PendingDeletion,
}

/// Why something with worktrees did not work. Texts that end with a period are those of idx0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorktreeError {
    /// The directory is not there.
    #[error("The path does not exist: {}", .0.display())]
    NoSuchPath(PathBuf),
    /// The directory is in no repository.
    #[error(
        "This folder is not a Git repository. Choose another folder or turn off worktree creation."
    )]
    NotARepository,
    /// The name is taken.
    #[error(
        "Branch already exists. Choose a different branch name or attach an existing worktree."
    )]
    BranchExists,
    /// What was asked for is no name of a branch.
    #[error("'{0}' is not a valid branch name")]
    BadBranchName(String),
    /// Git did not make it, for this reason.
    #[error("{0}")]
    NotCreated(String),
    /// The path to take over is no directory.
    #[error("The selected worktree path is invalid.")]
    InvalidPath,
    /// The path is no worktree of the repository, or stands on no branch.
    #[error("That worktree does not belong to the selected repository.")]
    Foreign,
    /// There are changes that are in no commit.
    #[error("Worktree has local changes. Clean it before deletion.")]
    Dirty,
    /// There are commits that nothing else holds.
    #[error("{commits} commit(s) of this worktree are on no other branch or remote")]
    Unpushed {
        /// How many.
        commits: u64,
    },
    /// It is locked, for this reason.
    #[error("the worktree is locked: {0}")]
    Locked(String),
    /// Something runs in it.
    #[error("something still runs in the worktree")]
    Running,
    /// It is the repository's own checkout.
    #[error("the main worktree cannot be removed")]
    Main,
    /// There is no such branch.
    #[error("no branch {0}")]
    NoSuchBranch(String),
    /// There is no remote, or it has no branch to begin with.
    #[error("the repository has no remote branch to start from")]
    NoRemote,
    /// The other side could not be reached.
    #[error("fetching failed: {0}")]
    Fetch(String),
    /// There are changes that are in no commit, so they would not be landed.
    #[error("the worktree has changes that are not committed")]
    SourceDirty,
    /// The checkout of the target branch has changes.
    #[error("the branch is checked out with local changes: {}", .0.display())]
    TargetDirty(PathBuf),
    /// Files that git does not track lie where the landing would write.
    #[error("would be overwritten at the checkout of the branch: {}", first_of(.0))]
    InTheWay(Vec<PathBuf>),
    /// The target has all of it already.
    #[error("the branch has nothing that is not landed yet")]
    NothingToLand,
    /// The target moved meanwhile. Nothing was changed.
    #[error("branch {0} moved meanwhile")]
    Moved(String),
    /// There are more commits than are put on top of another branch one by one.
    #[error("{0} commits are too many to rebase")]
    TooMany(u64),
    /// Both sides changed the same. Nothing was changed.
    #[error("{} file(s) are in conflict", .0.len())]
    Conflicts(Vec<Conflict>),
    /// The list of files to copy is too long or names too much.
    #[error("the files to copy are too many or too large")]
    TooMuchToCopy,
    /// Git said no.
    #[error(transparent)]
    Git(GitError),
}

/// The first few paths, for people.
fn first_of(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths.iter().take(5).map(|path| path.display().to_string()).collect();
    shown.join(", ") + if paths.len() > shown.len() { ", …" } else { "" }
}

impl From<GitError> for WorktreeError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::NoSuchPath(path) => Self::NoSuchPath(path),
            GitError::NotARepository(_) => Self::NotARepository,
            other => Self::Git(other),
        }
    }
}

#[cfg(test)]
mod tests;
