//! Which worktrees a repository has, and what state they are in.

use futures_util::future::BoxFuture;
use std::path::{Path, PathBuf};

use super::halfway::patiently;
use super::{State, WorktreeError};
use crate::git::run::{blocking, fields, line, path};
use crate::git::untouched::untouched;
use crate::git::{GitError, Oid, Repository};

/// A worktree as git lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktree {
    /// Its top.
    pub path: PathBuf,
    /// What it stands on, unless there is no commit yet.
    pub head: Option<Oid>,
    /// Its branch, unless its head is detached.
    pub branch: Option<String>,
    /// Whether it is the repository's own checkout.
    pub is_main: bool,
    /// Why it is locked, if it is; often empty.
    pub locked: Option<String>,
    /// Whether git would forget it, since its directory is gone.
    pub is_prunable: bool,
}

/// All worktrees of a repository, its own checkout first.
///
/// # Errors
/// If git cannot tell.
pub async fn list(repo: &Repository) -> Result<Vec<Worktree>, GitError> {
    let list = || repo.git.run(["worktree", "list", "--porcelain", "-z"]);
    Ok(parse(&patiently(list).await?))
}

/// Reads lines that end with zero bytes; an empty one ends a worktree.
fn parse(listing: &[u8]) -> Vec<Worktree> {
    let mut all: Vec<Worktree> = Vec::new();
    let (mut current, mut is_bare) = (None::<Worktree>, false);
    for field in listing.split(|byte| *byte == 0) {
        let at = field.iter().position(|byte| *byte == b' ').unwrap_or(field.len());
        let (key, value) = (&field[..at], field.get(at + 1..).unwrap_or_default());
        let text = || String::from_utf8_lossy(value).into_owned();
        match (key, &mut current) {
            (b"worktree", _) => {
                is_bare = false;
                current = Some(Worktree { path: path(value), ..Worktree::default() });
            }
            (b"", open) => {
                if let Some(mut done) = open.take() {
                    done.is_main = all.is_empty() && !is_bare;
                    all.push(done);
                }
            }
            (b"HEAD", Some(tree)) => tree.head = Oid::read(value).filter(|oid| !oid.is_null()),
            (b"branch", Some(tree)) => {
                tree.branch = text().strip_prefix("refs/heads/").map(str::to_owned);
            }
            (b"locked", Some(tree)) => tree.locked = Some(text()),
            (b"prunable", Some(tree)) => tree.is_prunable = true,
            (b"bare", Some(_)) => is_bare = true,
            _ => {}
        }
    }
    all
}

/// The top of the checkout around a directory.
///
/// # Errors
/// If it is not there, or in no repository.
pub async fn top_level(directory: &Path) -> Result<PathBuf, WorktreeError> {
    Ok(Repository::discover(directory).await?.top().to_owned())
}

/// The branch that a checkout stands on; None if its head is detached.
///
/// # Errors
/// If git cannot tell.
pub async fn current_branch(repo: &Repository) -> Result<Option<String>, GitError> {
    let branch = line(repo.git.run(["branch", "--show-current"]).await?);
    Ok(String::from_utf8(branch).ok().filter(|branch| !branch.is_empty()))
}

/// Takes over a worktree that exists: it has to be one of the repository's, on a branch.
///
/// # Errors
/// If it is not.
pub async fn attach(repo: &Repository, place: &Path) -> Result<Worktree, WorktreeError> {
    find(repo, place).await?.filter(|tree| tree.branch.is_some()).ok_or(WorktreeError::Foreign)
}

/// The listed worktree of a directory that has to be there.
async fn find(repo: &Repository, place: &Path) -> Result<Option<Worktree>, WorktreeError> {
    let place = place.to_owned();
    let real =
        blocking(move || Ok(std::fs::canonicalize(&place).ok().filter(|place| place.is_dir())));
    let real = real.await?.ok_or(WorktreeError::InvalidPath)?;
    find_listed(repo, &real).await
}

/// The listed worktree of a directory, which may be gone.
pub(super) async fn find_listed(
    repo: &Repository,
    place: &Path,
) -> Result<Option<Worktree>, WorktreeError> {
    let all = list(repo).await?;
    let place = place.to_owned();
    let found = blocking(move || {
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let place = real(&place);
        Ok(all.into_iter().find(|tree| real(&tree.path) == place))
    });
    Ok(found.await?)
}

/// Whether the directory is there, and has changes that are in no commit.
///
/// # Errors
/// If git cannot tell.
pub async fn inspect(place: &Path) -> Result<State, WorktreeError> {
    match Repository::discover(place).await {
        Err(GitError::NoSuchPath(_) | GitError::NotARepository(_)) => Ok(State::MissingOnDisk),
        Err(error) => Err(error.into()),
        Ok(repo) => Ok(if is_dirty(&repo, true).await? { State::Dirty } else { State::Clean }),
    }
}

/// Whether a work tree has changes, and if asked whether it has files that git does not know.
pub(super) fn is_dirty(
    repo: &Repository,
    with_untracked: bool,
) -> BoxFuture<'_, Result<bool, GitError>> {
    Box::pin(is_dirty_inner(repo, with_untracked))
}

async fn is_dirty_inner(repo: &Repository, with_untracked: bool) -> Result<bool, GitError> {
    let untracked = if with_untracked { "normal" } else { "no" };
    let untracked = format!("--untracked-files={untracked}");
    // A status of a submodule would run with its own settings; they are looked at by themselves.
    let status = ["status", "--porcelain", "-z", "--ignore-submodules=dirty", &untracked];
    let changed = repo.git.run(status).await?;
    // Two letters and a blank before each name: changed in the work tree, and not in the index.
    let changed: Vec<Option<&[u8]>> =
        fields(&changed).map(|entry| entry.strip_prefix(b" M ")).collect();
    let Some(changed) = changed.into_iter().collect::<Option<Vec<&[u8]>>>() else {
        return Ok(true);
    };
    let only_seems = untouched(&repo.git, repo.top(), repo.index(), &changed).await?;
    if only_seems.len() < changed.len() {
        return Ok(true);
    }
    crate::git::snapshot::has_dirty_submodule(repo).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_listing_is_read() {
        let oid = "a".repeat(40);
        let listing = format!(
            "worktree /r\0HEAD {oid}\0branch refs/heads/main\0\0\
             worktree /r/with space\nand line\0HEAD {oid}\0detached\0locked on a stick\0prunable gone\0\0"
        );
        let all = parse(listing.as_bytes());
        let main = Worktree {
            path: "/r".into(),
            head: Oid::parse(&oid),
            branch: Some("main".into()),
            is_main: true,
            ..Worktree::default()
        };
        assert_eq!(all[0], main);
        assert_eq!(all[1].path, Path::new("/r/with space\nand line"));
        assert_eq!(all[1].locked.as_deref(), Some("on a stick"));
        assert!(all[1].is_prunable && all[1].branch.is_none() && !all[1].is_main);
    }

    proptest! {
        #[test]
        fn nonsense_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..90)) {
            let _ = parse(&[b"worktree /a\0".as_slice(), &bytes].concat());
        }
    }
}
