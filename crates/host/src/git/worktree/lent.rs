//! Worktrees that were made for a piece of work and go with it, unless it left something in them.

use super::create::{Planned, undo_planned};
use super::list::{find_listed, is_dirty};
use super::{Worktree, WorktreeError};
use crate::git::{GitError, Oid, Repository};

/// What became of a worktree that was given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReturnOutcome {
    /// Nothing was in it that its base has not; it is gone with its branch.
    Removed,
    /// It stays; its head is on this branch, if on one.
    Kept(Option<String>),
}

/// Removes a worktree and its branch if it has no changes since its first commit. Changes in no
/// commit and commits of its own keep it, and so do a lock and another branch.
///
/// # Errors
/// If git cannot tell, or something of it is still there.
pub async fn give_back(planned: &Planned) -> Result<ReturnOutcome, WorktreeError> {
    let repo = Repository::discover(&planned.top).await?;
    if let Some(found) = find_listed(&repo, &planned.path).await?
        && has_work(&found, planned).await?
    {
        return Ok(ReturnOutcome::Kept(found.branch));
    }
    undo_planned(planned).await?;
    Ok(ReturnOutcome::Removed)
}

async fn has_work(found: &Worktree, planned: &Planned) -> Result<bool, WorktreeError> {
    let inside = match Repository::discover(&found.path).await {
        // Gone already: there is nothing in it to lose.
        Err(GitError::NoSuchPath(_) | GitError::NotARepository(_)) => return Ok(false),
        other => other?,
    };
    let base = planned.base.as_deref().and_then(Oid::parse);
    let is_as_made = found.locked.is_none()
        && found.head == base
        && found.branch.as_deref() == Some(planned.branch.as_str());
    Ok(!is_as_made || is_dirty(&inside, true).await?)
}
