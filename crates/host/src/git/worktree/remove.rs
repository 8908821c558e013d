//! Removes worktrees, unless that would lose work.

use futures_util::future::BoxFuture;
use std::path::PathBuf;

use super::halfway::patiently;
use super::list::{find_listed, is_dirty};
use super::merge::merge_trees;
use super::{Worktree, WorktreeError};
use crate::git::run::line;
use crate::git::{GitError, Oid, Repository};

/// How many other branches are looked at for commits that landed there in another form.
const MOST_BRANCHES: usize = 20;
/// How many of their commits are looked at, in all.
const MOST_LOOKS: u32 = 100;

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
pub fn remove<'a>(
    repo: &'a Repository,
    request: &'a RemoveRequest,
) -> BoxFuture<'a, Result<(), WorktreeError>> {
    Box::pin(remove_inner(repo, request))
}

async fn remove_inner(repo: &Repository, request: &RemoveRequest) -> Result<(), WorktreeError> {
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
        // Squashed or rebased they are other commits, with all that these have.
        _ if has_landed(repo, found).await? => Ok(()),
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

/// Whether another branch has, or once had, all that the commits of this worktree changed: merging
/// them there would change nothing. As many are looked at as is sensible, the newest first.
async fn has_landed(repo: &Repository, found: &Worktree) -> Result<bool, WorktreeError> {
    let Some(head) = &found.head else { return Ok(false) };
    let own = found.branch.as_ref().map(|branch| format!("refs/heads/{branch}"));
    let count = format!("--count={}", MOST_BRANCHES + 1);
    let list = ["for-each-ref", "--sort=-committerdate", &count, "--format=%(refname)"];
    let names = repo.git.run(list.iter().chain(&["refs/heads", "refs/remotes"])).await?;
    let names = String::from_utf8_lossy(&names).into_owned();
    let mut looks = MOST_LOOKS;
    for name in names.lines().filter(|name| Some(*name) != own.as_deref()).take(MOST_BRANCHES) {
        let since = format!("--max-count={looks}");
        // From where it is now back to where the two parted.
        let list = ["rev-list", "--first-parent", &since, name, "--not", head.as_str(), "--"];
        let commits = String::from_utf8_lossy(&repo.git.run(list).await?).into_owned();
        for commit in commits.lines().filter_map(Oid::parse) {
            looks -= 1;
            if changes_nothing(repo, &commit, head).await? {
                return Ok(true);
            }
        }
        if looks == 0 {
            break;
        }
    }
    Ok(false)
}

/// Whether a merge of one commit into another leaves that one as it is.
async fn changes_nothing(
    repo: &Repository,
    into: &Oid,
    commit: &Oid,
) -> Result<bool, WorktreeError> {
    let merged = match merge_trees(repo, None, into.as_str(), commit.as_str()).await {
        Ok(merged) => merged,
        Err(WorktreeError::Conflicts(_)) => return Ok(false),
        // Histories that have nothing in common cannot be merged.
        Err(WorktreeError::Git(GitError::Failed { .. })) => return Ok(false),
        Err(error) => return Err(error),
    };
    let tree = format!("{into}^{{tree}}");
    Ok(repo.git.call(["rev-parse", "--verify", &tree]).line().await? == merged.as_str())
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
    let remove = || git.call(["worktree", "remove", "--force", "--"]).args([&found.path]).run();
    patiently(remove).await?;
    if let Some(branch) = found.branch.as_ref().filter(|_| delete_branch) {
        patiently(|| git.run(["branch", "-D", "--quiet", "--", branch])).await?;
    }
    Ok(())
}
