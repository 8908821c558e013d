//! Submodules of a work tree: what each stands on, and whether it has changes of its own.

use std::time::Duration;

use super::Submodule;
use super::listing::{Entry, GITLINK};
use crate::git::run::{Git, line, path};
use crate::git::{GitError, Oid, Repository};

/// How many submodules are looked at; the others are as the index says.
const LOOKED_AT: usize = 64;
/// How long one look may take.
const LIMIT: Duration = Duration::from_secs(10);

/// A submodule, and whether anything is at its place at all.
pub(super) struct Seen {
    pub(super) submodule: Submodule,
    pub(super) is_there: bool,
}

/// All submodules that the index knows.
pub(super) async fn look(repo: &Repository, tracked: &[Entry]) -> Result<Vec<Seen>, GitError> {
    let mut all = Vec::new();
    for (at, entry) in tracked.iter().filter(|entry| entry.mode == GITLINK).enumerate() {
        let place = repo.top().join(path(&entry.path));
        let kind = tokio::fs::symlink_metadata(&place).await.ok();
        let is_there = kind.is_some_and(|kind| kind.is_dir()) || entry.is_sparse();
        let mut submodule = Submodule { path: path(&entry.path), head: None, is_dirty: false };
        let is_populated = tokio::fs::symlink_metadata(place.join(".git")).await.is_ok();
        if is_there && is_populated && at < LOOKED_AT {
            let git = Git::bare_of(&place, LIMIT);
            let head = git.call(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
            let head = head.env("GIT_CEILING_DIRECTORIES", repo.top()).answer().await;
            submodule.head = head.ok().flatten().and_then(|oid| Oid::read(&line(oid)));
            submodule.is_dirty = is_dirty(git).await.unwrap_or(true);
        }
        all.push(Seen { submodule, is_there });
    }
    Ok(all)
}

async fn is_dirty(git: Git) -> Result<bool, GitError> {
    let status = ["status", "--porcelain", "-z", "--ignore-submodules=all"];
    Ok(!git.disarmed().await?.run(status).await?.is_empty())
}

/// Whether any submodule of a work tree has changes of its own.
pub(in crate::git) async fn has_dirty_submodule(repo: &Repository) -> Result<bool, GitError> {
    let tracked = super::scan::list_index(repo, repo.index()).await?;
    Ok(look(repo, &tracked).await?.iter().any(|seen| seen.submodule.is_dirty))
}
