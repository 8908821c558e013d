//! Removes worktrees, unless that would lose work.

use std::path::PathBuf;

use super::list::{find_listed, is_dirty};
use super::{Worktree, WorktreeError};
use crate::git::run::line;
use crate::git::{GitError, Repository};

/// A worktree to be removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoveRequest {
    /// Its top.
    pub path: PathBuf,
    /// Whether changes and commits that nothing else holds may be lost. What is locked or in use
    /// stays even then.
    pub force: bool,
    /// Whether its branch goes too.
    pub delete_branch: bool,
    /// Whether something runs in it.
    pub is_running: bool,
}

/// Removes a worktree.
///
/// # Errors
/// If it is none of the repository's, or work would be lost.
pub async fn remove(repo: &Repository, request: &RemoveRequest) -> Result<(), WorktreeError> {
    let found = find_listed(repo, &request.path).await?.ok_or(WorktreeError::Foreign)?;
    check(repo, &found, request).await?;
    discard(repo, &found, request.delete_branch).await
}

async fn check(
    repo: &Repository,
    found: &Worktree,
    request: &RemoveRequest,
) -> Result<(), WorktreeError> {
    if found.is_main {
        return Err(WorktreeError::Main);
    }
    if request.is_running {
        return Err(WorktreeError::Running);
    }
    if let Some(reason) = &found.locked {
        return Err(WorktreeError::Locked(reason.clone()));
    }
    if request.force {
        return Ok(());
    }
    match Repository::discover(&found.path).await {
        // Gone already: there is nothing in it to lose.
        Err(GitError::NoSuchPath(_)) => {}
        Err(error) => return Err(error.into()),
        Ok(inside) if is_dirty(&inside, true).await? => return Err(WorktreeError::Dirty),
        Ok(_) => {}
    }
    match only_here(repo, found).await? {
        0 => Ok(()),
        commits => Err(WorktreeError::Unpushed { commits }),
    }
}

/// How many commits no other branch, remote branch or tag holds.
async fn only_here(repo: &Repository, found: &Worktree) -> Result<u64, WorktreeError> {
    let Some(head) = &found.head else { return Ok(0) };
    let mut call = repo.git.call(["rev-list", "--count", head.as_str(), "--not"]);
    if let Some(branch) = &found.branch {
        call = call.args([format!("--exclude={branch}")]);
    }
    let count = line(call.args(["--branches", "--remotes", "--tags", "--"]).run().await?);
    let count = str::from_utf8(&count).ok().and_then(|count| count.parse().ok());
    count.ok_or_else(|| GitError::Unreadable("rev-list".into()).into())
}

/// Removes it without asking.
pub(super) async fn discard(
    repo: &Repository,
    found: &Worktree,
    delete_branch: bool,
) -> Result<(), WorktreeError> {
    // The repository may have been found through the worktree that goes.
    let git = repo.git.moved_to(repo.common_dir());
    // Git would refuse where submodules are, and what else it refuses for was looked at.
    git.call(["worktree", "remove", "--force", "--"]).args([&found.path]).run().await?;
    if let Some(branch) = found.branch.as_ref().filter(|_| delete_branch) {
        git.run(["branch", "-D", "--quiet", "--", branch]).await?;
    }
    Ok(())
}
