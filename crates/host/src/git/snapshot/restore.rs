//! Puts a work tree back to a checkpoint. The state before becomes a checkpoint first, and nothing
//! is touched until all is known to be possible.

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::capture::{Taken, capture_in, update_index};
use super::commit::{Book, StoredCheckpoint, load, load_book};
use super::history::delete;
use super::listing::{Change, GITLINK, changes, entries, index_line};
use super::scan::list_index;
use super::scratch::{Scratch, copy_with_time};
use super::write::{
    IndexLock, Modes, NewIndex, Plan, Staged, Write, check, check_paths, put, stage,
};
use super::{CaptureOptions, Captured, CheckpointError, CheckpointId, DEFAULT_MAX_FILE};
use crate::git::run::{blocking, fields, line, path};
use crate::git::{GitError, Oid, Repository};

/// How much is put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RestoreScope {
    /// Everything that is tracked or not ignored.
    #[default]
    All,
    /// These files, and all below these directories; relative to the top of the work tree.
    Paths(Vec<PathBuf>),
}

impl RestoreScope {
    fn has(&self, name: &[u8]) -> bool {
        let below = |asked: &PathBuf| path(name).starts_with(asked);
        match self {
            Self::All => true,
            Self::Paths(paths) => paths.iter().any(below),
        }
    }
}

/// What happens to head and branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadChange {
    /// They stay.
    #[default]
    Keep,
    /// They go back too. A branch that moved on while another one is checked out stays; then the
    /// head is detached.
    Move,
}

/// How a checkpoint is put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreOptions {
    /// How much.
    pub what: RestoreScope,
    pub head: HeadChange,
}

/// A checkpoint that was put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The state before; restoring it, with its head, undoes this.
    pub safety: Captured,
    /// Files written.
    pub written: u64,
    /// Files removed.
    pub removed: u64,
    /// What was left as it is: submodules, and what the checkpoint does not hold.
    pub untouched: Vec<PathBuf>,
    /// Whether the head was moved.
    pub moved_head: bool,
}

/// Puts a work tree and its index back, byte for byte. Ignored files are never touched.
///
/// # Errors
/// If it cannot be done; then nothing was changed, except for [`CheckpointError::HalfDone`].
pub async fn restore(
    repo: &Repository,
    id: &CheckpointId,
    safety: &CheckpointId,
    options: &RestoreOptions,
) -> Result<Restored, CheckpointError> {
    let scratch = Scratch::new(repo).await?;
    let kept = load(repo, id).await?;
    let book = load_book(repo, &kept).await?;
    let lock = IndexLock::take(repo.index()).await?;
    let title = format!("Before restoring {id}");
    let before = CaptureOptions { title, max_file: DEFAULT_MAX_FILE };
    let (captured, now) = capture_in(repo, &scratch, safety, &before).await?;
    let ready = match prepare(repo, &scratch, &kept, &book, &now, options).await {
        Ok(ready) => ready,
        Err(error) => {
            // Nothing happened, so there is nothing to undo.
            delete(repo, safety).await?;
            return Err(error);
        }
    };
    let Ready { plan, untouched, index, staged } = ready;
    let (written, removed) = (plan.writes.len() as u64, plan.removes.len() as u64);
    // From here on it is not cancelled, even if the caller is.
    let (own, head) = (repo.clone(), options.head);
    let working = tokio::spawn(async move {
        let top = own.top().to_owned();
        blocking(move || put(&top, plan, staged, lock, index)).await?;
        let moved = match head {
            HeadChange::Keep => false,
            HeadChange::Move => move_head(&own, &kept).await?,
        };
        drop(scratch);
        Ok::<bool, GitError>(moved)
    });
    let result = working.await.unwrap_or(Err(GitError::Abandoned));
    let half_done = |error: GitError| CheckpointError::HalfDone {
        safety: safety.clone(),
        reason: error.to_string(),
    };
    let moved_head = result.map_err(half_done)?;
    Ok(Restored { safety: captured, written, removed, untouched, moved_head })
}

/// All that is needed to carry a restore out.
struct Ready {
    plan: Plan,
    untouched: Vec<PathBuf>,
    index: NewIndex,
    staged: Staged,
}

/// Makes everything ready without touching the work tree.
async fn prepare(
    repo: &Repository,
    scratch: &Scratch,
    kept: &StoredCheckpoint,
    book: &Book,
    now: &Taken,
    options: &RestoreOptions,
) -> Result<Ready, CheckpointError> {
    let (mut plan, mut untouched) = plan(repo, kept, book, now, &options.what).await?;
    plan.modes = modes(repo, book, now, options).await?;
    check_paths(&plan)?;
    let index = new_index(repo, scratch, kept, book, &options.what).await?;
    let staged = stage(repo, scratch, &plan.writes).await?;
    let top = repo.top().to_owned();
    // Last, so that little time is left for others to change something unseen.
    let plan = blocking(move || Ok(check(&top, plan))).await??;
    untouched.sort_unstable();
    untouched.dedup();
    Ok(Ready { plan, untouched, index, staged })
}

/// What has to be written and removed, and what is left alone.
async fn plan(
    repo: &Repository,
    kept: &StoredCheckpoint,
    book: &Book,
    now: &Taken,
    what: &RestoreScope,
) -> Result<(Plan, Vec<PathBuf>), CheckpointError> {
    let trees = [now.tree.as_str(), kept.tree.as_str()];
    let listing = ["diff-tree", "-r", "-z", "--raw", "--no-renames"];
    let listing = repo.git.run(listing.iter().chain(&trees)).await?;
    let mut changes = changes(&listing).ok_or_else(|| GitError::Unreadable("diff-tree".into()))?;
    changes.extend(reappearing(repo, kept, now, book).await?);
    if let RestoreScope::Paths(paths) = what {
        known_paths(repo, &trees, paths).await?;
        changes.retain(|change| what.has(&change.path));
    }
    let unknown: HashSet<&Path> = kept.meta.skipped.iter().map(|s| s.path.as_path()).collect();
    let absent: HashSet<&[u8]> = book.absent.iter().map(Vec::as_slice).collect();
    let unsaved = now.meta.skipped.iter().map(|s| s.path.clone()).collect();
    let mut plan = Plan { unsaved, clock: now.clock, ..Plan::default() };
    let mut untouched = Vec::new();
    for change in changes {
        let name = path(&change.path);
        let is_unknown =
            unknown.contains(name.as_path()) || absent.contains(change.path.as_slice());
        // A submodule neither comes nor goes, and is not moved.
        let is_submodule =
            change.new_mode == GITLINK || change.new_mode == 0 && change.old_mode == GITLINK;
        if is_unknown || is_submodule {
            untouched.push(name);
        } else if change.new_mode == 0 {
            plan.removes.push(change.path);
        } else {
            let is_known = change.old_mode != 0 && change.old_mode != GITLINK;
            let Change { new_mode: mode, new: oid, path, .. } = change;
            plan.writes.push(Write { path, mode, oid, replaces: is_known });
        }
    }
    Ok((plan, untouched))
}

/// Files that git leaves out of the work tree now and did not when the checkpoint was taken.
async fn reappearing(
    repo: &Repository,
    kept: &StoredCheckpoint,
    now: &Taken,
    book: &Book,
) -> Result<Vec<Change>, GitError> {
    let mut missing: HashSet<&[u8]> = now.absent.iter().map(Vec::as_slice).collect();
    for path in &book.absent {
        missing.remove(path.as_slice());
    }
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let empty = repo.empty_tree();
    let all =
        ["diff-tree", "-r", "-z", "--raw", "--no-renames", empty.as_str(), kept.tree.as_str()];
    let all = changes(&repo.git.run(all).await?);
    let mut all = all.ok_or_else(|| GitError::Unreadable("diff-tree".into()))?;
    all.retain(|change| missing.contains(change.path.as_slice()));
    Ok(all)
}

async fn known_paths(
    repo: &Repository,
    trees: &[&str; 2],
    paths: &[PathBuf],
) -> Result<(), CheckpointError> {
    for tree in trees {
        let names = repo.git.call(["ls-tree", "-z", "--name-only", tree, "--"]).args(paths);
        if !names.run().await?.is_empty() {
            return Ok(());
        }
    }
    Err(CheckpointError::NoSuchPaths(paths.to_vec()))
}

/// Permissions to be set: those of the checkpoint, and the usual ones where only now has others.
async fn modes(
    repo: &Repository,
    book: &Book,
    now: &Taken,
    options: &RestoreOptions,
) -> Result<Modes, GitError> {
    let mut then = HashMap::new();
    if let Some(blob) = &book.modes {
        then = read_modes(&repo.git.run(["cat-file", "blob", blob.as_str()]).await?);
    }
    let mut changed = Vec::new();
    for name in read_modes(&now.modes).into_keys().filter(|name| options.what.has(name)) {
        if !then.contains_key(&name) {
            changed.push(name);
        }
    }
    then.retain(|name, _| options.what.has(name));
    Ok(Modes { then, usual: changed })
}

/// Permissions by path, from `OCTAL PATH` and zero bytes.
fn read_modes(list: &[u8]) -> HashMap<Vec<u8>, u32> {
    let entry = |field: &[u8]| {
        let at = field.iter().position(|byte| *byte == b' ')?;
        let rights = u32::from_str_radix(str::from_utf8(&field[..at]).ok()?, 8).ok()?;
        // Nothing gains the rights of another user by being put back.
        Some((field[at + 1..].to_vec(), rights & 0o777))
    };
    fields(list).filter_map(entry).collect()
}

/// The index that is put in the place of the user's.
async fn new_index(
    repo: &Repository,
    scratch: &Scratch,
    kept: &StoredCheckpoint,
    book: &Book,
    what: &RestoreScope,
) -> Result<NewIndex, CheckpointError> {
    let then = scratch.file("index-then");
    let modified = kept.meta.index_modified;
    if let Some(blob) = &book.index {
        let bytes = repo.git.run(["cat-file", "blob", blob.as_str()]).await?;
        let (place, time) = (then.clone(), modified.unwrap_or_default());
        blocking(move || {
            std::fs::write(&place, bytes).map_err(|error| GitError::file(&place, error))?;
            super::scratch::set_time(&place, time)
        })
        .await?;
    }
    if *what == RestoreScope::All {
        return Ok(match (&book.index, modified) {
            (Some(_), Some(time)) => NewIndex::File(then, time),
            _ => NewIndex::None,
        });
    }
    let (from, mixed) = (repo.index().to_owned(), scratch.file("index-mixed"));
    let copy = mixed.clone();
    blocking(move || copy_with_time(&from, &copy)).await?;
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for entry in list_index(repo, &mixed).await?.iter().filter(|entry| what.has(&entry.path)) {
        index_line(&mut gone, 0, &"0".repeat(entry.oid.as_str().len()), 0, &entry.path);
    }
    let listing = ["ls-files", "-v", "--stage", "-z"];
    let listing = repo.git.call(listing).index(&then).run().await?;
    let listing = entries(&listing).ok_or_else(|| GitError::Unreadable("ls-files".into()))?;
    for entry in listing.iter().filter(|entry| what.has(&entry.path)) {
        index_line(&mut come, entry.mode, entry.oid.as_str(), entry.stage, &entry.path);
    }
    gone.extend(come);
    if gone.is_empty() {
        return Ok(NewIndex::Same);
    }
    update_index(repo, &mixed, gone).await?;
    Ok(NewIndex::Fresh(mixed))
}

/// Puts head and branch back; true if anything moved.
async fn move_head(repo: &Repository, kept: &StoredCheckpoint) -> Result<bool, GitError> {
    let (then, now) = (&kept.meta.head, repo.head().await?);
    if *then == now {
        return Ok(false);
    }
    let message = "rookery: restore checkpoint";
    let Some(branch) = &then.branch else {
        let commit = then.commit.as_ref().map_or("HEAD", Oid::as_str);
        repo.git.run(["update-ref", "--no-deref", "-m", message, "HEAD", commit]).await?;
        return Ok(true);
    };
    let reference = format!("refs/heads/{branch}");
    let tip = repo.git.call(["rev-parse", "--verify", "--quiet", &reference]).answer().await?;
    let tip = tip.and_then(|oid| Oid::read(&line(oid)));
    if now.branch.as_ref() == Some(branch) {
        match (&then.commit, &tip) {
            (Some(commit), _) => {
                repo.git.run(["update-ref", "-m", message, &reference, commit.as_str()]).await?
            }
            (None, Some(tip)) => {
                repo.git.run(["update-ref", "-d", &reference, tip.as_str()]).await?
            }
            (None, None) => return Ok(false),
        };
        return Ok(true);
    }
    match (&then.commit, tip) {
        // Where the branch is checked out elsewhere or has moved on, the commit is what counts.
        (Some(commit), tip)
            if tip.as_ref().is_some_and(|tip| tip != commit) || elsewhere(repo, branch).await? =>
        {
            repo.git
                .run(["update-ref", "--no-deref", "-m", message, "HEAD", commit.as_str()])
                .await?;
        }
        (None, Some(_)) => return Ok(false),
        (Some(commit), None) => {
            repo.git.run(["update-ref", "-m", message, &reference, commit.as_str()]).await?;
            repo.git.run(["symbolic-ref", "-m", message, "HEAD", &reference]).await?;
        }
        _ => drop(repo.git.run(["symbolic-ref", "-m", message, "HEAD", &reference]).await?),
    }
    Ok(true)
}

/// Whether another work tree has the branch checked out.
async fn elsewhere(repo: &Repository, branch: &str) -> Result<bool, GitError> {
    let all = crate::git::worktree::list(repo).await?;
    let is_other = |place: &Path| place.as_os_str().as_bytes() != repo.top().as_os_str().as_bytes();
    Ok(all.iter().any(|tree| tree.branch.as_deref() == Some(branch) && is_other(&tree.path)))
}
