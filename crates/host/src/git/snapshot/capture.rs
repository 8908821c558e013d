//! Takes a checkpoint: looks at head, index and work tree, and makes trees of them.

use futures_util::future::BoxFuture;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::SystemTime;

use super::cache::Stamp;
use super::commit::{Book, write_book, write_commit};
use super::listing::{Entry, GITLINK, index_line};
use super::meta::Meta;
use super::scan::{IndexFile, Scan, list_index, scan};
use super::scratch::{Modified, Scratch, copy_with_time};
use super::seen::changed;
use super::submodules::{Seen, look};
use super::{CaptureOptions, Captured, ChangedFile, CheckpointError, CheckpointId, Stat};
use crate::git::run::blocking;
use crate::git::{GitError, Oid, Repository};

/// Files of git's that say what is going on.
const IN_PROGRESS: &[(&str, &str)] = &[
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];

/// Takes a checkpoint. The index, the stash, branches and reflogs stay as they are, and nothing
/// that the repository names is run.
///
/// # Errors
/// If the name is taken, or git or the file system does not do its part. Then nothing is kept.
pub async fn capture(
    repo: &Repository,
    id: &CheckpointId,
    options: &CaptureOptions,
) -> Result<Captured, CheckpointError> {
    let scratch = Scratch::new(repo).await?;
    let (captured, _) = capture_in(repo, &scratch, id, options).await?;
    Ok(captured)
}

/// What a work tree is, all of it in the object store but not kept by anything yet.
pub(super) struct Taken {
    pub(super) tree: Oid,
    pub(super) book: Oid,
    pub(super) meta: Meta,
    pub(super) changed_files: Vec<ChangedFile>,
    pub(super) stat: Stat,
    /// Permissions other than the usual ones, as they are stored.
    pub(super) modes: Vec<u8>,
    /// Entries that git leaves out of the work tree.
    pub(super) absent: Vec<Vec<u8>>,
    /// When the look began, by the clock of the file system.
    pub(super) clock: Option<Stamp>,
}

/// Takes a checkpoint while the work tree is ours.
pub(super) async fn capture_in(
    repo: &Repository,
    scratch: &Scratch,
    id: &CheckpointId,
    options: &CaptureOptions,
) -> Result<(Captured, Taken), CheckpointError> {
    let taken = take(repo, scratch, options).await?;
    let commit = write_commit(repo, id, &taken.tree, &taken.book, &taken.meta).await?;
    let Meta { head, skipped, submodules, in_progress, captured_at, .. } = taken.meta.clone();
    let captured = Captured {
        id: id.clone(),
        commit,
        tree: taken.tree.clone(),
        head: head.commit,
        branch: head.branch,
        changed_files: taken.changed_files.clone(),
        stat: taken.stat,
        skipped,
        submodules,
        in_progress,
        captured_at,
    };
    Ok((captured, taken))
}

/// Looks at everything.
pub(super) async fn take(
    repo: &Repository,
    scratch: &Scratch,
    options: &CaptureOptions,
) -> Result<Taken, CheckpointError> {
    match attempt(repo, scratch, options).await {
        // What was known of files may name objects that are gone by now.
        Err(GitError::Failed { command, .. }) if command == "write-tree" || command == "mktree" => {
            let known = scratch.kept("stat-cache");
            blocking(move || {
                let _ = std::fs::remove_file(known);
                Ok(())
            })
            .await?;
            Ok(attempt(repo, scratch, options).await?)
        }
        other => Ok(other?),
    }
}

fn attempt<'a>(
    repo: &'a Repository,
    scratch: &'a Scratch,
    options: &'a CaptureOptions,
) -> BoxFuture<'a, Result<Taken, GitError>> {
    Box::pin(attempt_inner(repo, scratch, options))
}

async fn attempt_inner(
    repo: &Repository,
    scratch: &Scratch,
    options: &CaptureOptions,
) -> Result<Taken, GitError> {
    let captured_at = SystemTime::now();
    let (index_file, index_modified) = copy_index(repo, scratch).await?.unzip();
    let index = scratch.file("index");
    let others = ["ls-files", "--others", "--exclude-standard", "-z"];
    let others = repo.git.call(others).index(&index).run();
    let (tracked, others, head) = tokio::try_join!(list_index(repo, &index), others, repo.head())?;
    let scanning = scan(repo, scratch, options, &tracked, &others, index_file);
    let staged = index_trees(repo, scratch, &tracked);
    let looking = look(repo, &tracked);
    let (found, submodules, (index_tree, stages)) = tokio::try_join!(scanning, looking, staged)?;
    let tree = work_tree(repo, scratch, &tracked, &found, &submodules, &index_tree).await?;
    let base = head.commit.clone().unwrap_or_else(|| repo.empty_tree());
    let (seen, changed_files, stat) = changed(repo, scratch, &base, &tree).await?;
    let (index, modes) = (found.index.clone(), found.modes_blob.clone());
    let absent = found.absent.clone();
    let book = Book { index, index_tree: Some(index_tree), stages, modes, seen, absent };
    let book = write_book(repo, &book).await?;
    let git_dir = repo.git_dir().to_owned();
    let meta = Meta {
        title: options.title.clone(),
        captured_at,
        top: repo.top().to_owned(),
        head,
        index_modified,
        in_progress: blocking(move || Ok(in_progress(&git_dir))).await?,
        skipped: found.skipped,
        submodules: submodules.into_iter().map(|seen| seen.submodule).collect(),
    };
    let (modes, absent, clock) = (found.modes, found.absent, found.clock);
    Ok(Taken { tree, book, meta, changed_files, stat, modes, absent, clock })
}

/// Copies the user's index, and gives its bytes and its time. One that is split in two is put
/// together, since the other half could go. None if there is none.
async fn copy_index(
    repo: &Repository,
    scratch: &Scratch,
) -> Result<Option<(IndexFile, Modified)>, GitError> {
    let (from, to) = (repo.index().to_owned(), scratch.file("index"));
    let (copy, git_dir) = (to.clone(), repo.git_dir().to_owned());
    let copied = blocking(move || {
        let _ = std::fs::remove_file(&copy);
        let stamp = rustix::fs::stat(&from).ok().map(|stat| Stamp::of(&stat));
        let modified = copy_with_time(&from, &copy)?;
        Ok(stamp.zip(modified).map(|found| (found, is_split(&git_dir))))
    });
    let Some(((stamp, modified), is_split)) = copied.await? else { return Ok(None) };
    if is_split {
        repo.git.call(["update-index", "--no-split-index"]).index(&to).run().await?;
    }
    let bytes = blocking(move || {
        super::scratch::set_time(&to, modified)?;
        std::fs::read(&to).map_err(|error| GitError::file(&to, error))
    });
    Ok(Some((IndexFile { stamp, bytes: bytes.await? }, modified)))
}

fn is_split(git_dir: &Path) -> bool {
    let entries = std::fs::read_dir(git_dir).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("sharedindex."))
}

fn in_progress(git_dir: &Path) -> Option<String> {
    let found = IN_PROGRESS.iter().find(|(file, _)| git_dir.join(file).exists());
    found.map(|(_, what)| (*what).to_owned())
}

/// The tree of the index, and a tree that holds what is in conflict.
async fn index_trees(
    repo: &Repository,
    scratch: &Scratch,
    tracked: &[Entry],
) -> Result<(Oid, Option<Oid>), GitError> {
    if tracked.is_empty() {
        // Known to git, but not stored: an empty index makes it be.
        return Ok((write_tree(repo, &scratch.file("no-index")).await?, None));
    }
    let index = scratch.file("index");
    let unmerged: Vec<&Entry> = tracked.iter().filter(|entry| entry.stage > 0).collect();
    if unmerged.is_empty() {
        return Ok((write_tree(repo, &index).await?, None));
    }
    let merged = scratch.file("merged-index");
    let (from, to) = (index.clone(), merged.clone());
    blocking(move || copy_with_time(&from, &to)).await?;
    let (mut gone, mut stages) = (Vec::new(), Vec::new());
    let mut known = HashSet::new();
    for entry in &unmerged {
        index_line(&mut gone, 0, &"0".repeat(entry.oid.as_str().len()), 0, &entry.path);
        if entry.mode != GITLINK && known.insert(&entry.oid) {
            stages.extend(format!("100644 blob {oid}\t{oid}\0", oid = entry.oid).bytes());
        }
    }
    update_index(repo, &merged, gone).await?;
    let stages = repo.git.call(["mktree", "-z"]).stdin(stages).line().await?;
    Ok((write_tree(repo, &merged).await?, Oid::parse(&stages)))
}

/// The tree of the work tree: what the index holds, with all that differs from it.
async fn work_tree(
    repo: &Repository,
    scratch: &Scratch,
    tracked: &[Entry],
    found: &Scan,
    submodules: &[Seen],
    index_tree: &Oid,
) -> Result<Oid, GitError> {
    let (from, to) = (scratch.file("index"), scratch.file("tree-index"));
    let copy = to.clone();
    blocking(move || {
        let _ = std::fs::remove_file(&copy);
        copy_with_time(&from, &copy)
    })
    .await?;
    let lines = differences(tracked, found, submodules, &repo.empty_blob());
    if lines.is_empty() {
        return Ok(index_tree.clone());
    }
    update_index(repo, &to, lines).await?;
    write_tree(repo, &to).await
}

/// Lines that make an index be the work tree: what goes first, then what comes.
fn differences(tracked: &[Entry], found: &Scan, submodules: &[Seen], empty: &Oid) -> Vec<u8> {
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    let null = "0".repeat(empty.as_str().len());
    let stays: HashSet<&[u8]> = found.absent.iter().map(Vec::as_slice).collect();
    let skipped: HashSet<&Path> = found.skipped.iter().map(|skip| skip.path.as_path()).collect();
    let submodules: HashMap<&Path, &Seen> =
        submodules.iter().map(|seen| (seen.submodule.path.as_path(), seen)).collect();
    let mut known = HashSet::new();
    for entry in tracked {
        let path = crate::git::run::path(&entry.path);
        let is_first = known.insert(entry.path.as_slice());
        let submodule = submodules.get(path.as_path()).filter(|_| entry.mode == GITLINK);
        if entry.stage > 0 {
            index_line(&mut gone, 0, &null, 0, &entry.path);
        }
        if let Some(blob) = found.blobs.get(&entry.path) {
            // An entry that only intends to be added looks like an empty file.
            let is_same = (entry.mode, &entry.oid) == (blob.mode, &blob.oid) && entry.oid != *empty;
            if is_first && !(is_same && entry.stage == 0) {
                index_line(&mut come, blob.mode, blob.oid.as_str(), 0, &entry.path);
            }
        } else if let Some(seen) = submodule.filter(|seen| seen.is_there) {
            let head = seen.submodule.head.as_ref().unwrap_or(&entry.oid);
            if *head != entry.oid || entry.stage > 0 {
                index_line(&mut come, GITLINK, head.as_str(), 0, &entry.path);
            }
        } else if !stays.contains(entry.path.as_slice()) && !skipped.contains(path.as_path()) {
            index_line(&mut gone, 0, &null, 0, &entry.path);
        }
    }
    for (path, blob) in &found.blobs {
        if !known.contains(path.as_slice()) {
            index_line(&mut come, blob.mode, blob.oid.as_str(), 0, path);
        }
    }
    gone.extend(come);
    gone
}

pub(super) async fn update_index(
    repo: &Repository,
    index: &Path,
    lines: Vec<u8>,
) -> Result<(), GitError> {
    let update = ["update-index", "-z", "--index-info"];
    repo.git.call(update).index(index).stdin(lines).run().await.map(drop)
}

async fn write_tree(repo: &Repository, index: &Path) -> Result<Oid, GitError> {
    let tree = repo.git.call(["write-tree"]).index(index);
    Oid::parse(&tree.line().await?).ok_or_else(|| GitError::Unreadable("write-tree".into()))
}
