//! The checkpoints that a repository has: listed, shown, deleted and thinned out.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::commit::{load, load_book, read_commit};
use super::meta::Meta;
use super::seen::compare;
use super::{Captured, ChangedFile, CheckpointError, CheckpointId, REFS, Skipped, Stat, Submodule};
use crate::git::{GitError, Oid, Repository};

/// A checkpoint as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// What it is called.
    pub id: CheckpointId,
    /// What people see.
    pub title: String,
    /// The commit that the reference names.
    pub commit: Oid,
    /// The work tree, byte for byte.
    pub tree: Oid,
    /// What the work tree stood on, unless there was no commit yet.
    pub head: Option<Oid>,
    /// The branch, unless the head was detached.
    pub branch: Option<String>,
    /// The top of the work tree that it was taken of.
    pub top: PathBuf,
    /// When.
    pub captured_at: SystemTime,
    /// What was going on: `merge`, `rebase`, `cherry-pick`, `revert` or `bisect`.
    pub in_progress: Option<String>,
    /// What could not be kept.
    pub skipped: Vec<Skipped>,
    /// Submodules at that time.
    pub submodules: Vec<Submodule>,
}

/// Which checkpoints stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The newest ones, that many.
    Newest(usize),
    /// Those that are not older.
    Younger(Duration),
}

impl Details {
    fn new(id: CheckpointId, commit: Oid, tree: Oid, meta: Meta) -> Self {
        let Meta { title, captured_at, top, head, in_progress, skipped, submodules, .. } = meta;
        let (head, branch) = (head.commit, head.branch);
        Self {
            id,
            title,
            commit,
            tree,
            head,
            branch,
            top,
            captured_at,
            in_progress,
            skipped,
            submodules,
        }
    }
}

/// All checkpoints of a repository, of all its work trees, oldest first. What is under our
/// references but is none of ours is left out.
///
/// # Errors
/// If git cannot tell.
pub async fn list(repo: &Repository) -> Result<Vec<Details>, CheckpointError> {
    let format = "--format=%(refname)%00%(objectname)%00%(tree)%00%(parent)";
    let refs = repo.git.run(["for-each-ref", format, REFS]).await?;
    let mut found = Vec::new();
    for line in String::from_utf8_lossy(&refs).lines() {
        let parts: Vec<&str> = line.split('\0').collect();
        let [name, commit, tree, parents] = parts[..] else { continue };
        let id = name.strip_prefix(REFS).and_then(|id| id.parse::<CheckpointId>().ok());
        let notes = parents.split(' ').next_back().and_then(Oid::parse);
        let oids = (Oid::parse(commit), Oid::parse(tree), notes);
        if let (Some(id), (Some(commit), Some(tree), Some(notes))) = (id, oids) {
            found.push((id, commit, tree, notes));
        }
    }
    let notes = read_notes(repo, found.iter().map(|(_, _, _, notes)| notes)).await?;
    let details = found.into_iter().filter_map(|(id, commit, tree, book)| {
        Some(Details::new(id, commit, tree, notes.get(&book)?.clone()))
    });
    let mut details: Vec<Details> = details.collect();
    details.sort_by(|a, b| (a.captured_at, &a.id).cmp(&(b.captured_at, &b.id)));
    Ok(details)
}

/// Reads the notes of many checkpoints at once.
async fn read_notes(
    repo: &Repository,
    commits: impl Iterator<Item = &Oid>,
) -> Result<HashMap<Oid, Meta>, GitError> {
    let mut request = String::new();
    commits.for_each(|oid| request.extend([oid.as_str(), "\n"]));
    if request.is_empty() {
        return Ok(HashMap::new());
    }
    let output = repo.git.call(["cat-file", "--batch"]).stdin(request).run().await?;
    let mut notes = HashMap::new();
    let mut rest = output.as_slice();
    while let Some((oid, text, more)) = next_object(rest) {
        let meta = text.and_then(read_commit).and_then(|(_, _, message)| Meta::parse(message));
        if let (Some(oid), Some(meta)) = (oid, meta) {
            notes.insert(oid, meta);
        }
        rest = more;
    }
    Ok(notes)
}

/// The next answer of `cat-file --batch`: name, content unless it is missing, and what follows.
#[expect(clippy::type_complexity, reason = "taken apart at once by its only caller")]
fn next_object(output: &[u8]) -> Option<(Option<Oid>, Option<&[u8]>, &[u8])> {
    let end = output.iter().position(|byte| *byte == b'\n')?;
    let header = str::from_utf8(&output[..end]).ok()?;
    let rest = &output[end + 1..];
    let words: Vec<&str> = header.split(' ').collect();
    let [oid, _kind, size] = words[..] else { return Some((None, None, rest)) };
    let size: usize = size.parse().ok()?;
    let (content, rest) = rest.split_at_checked(size)?;
    Some((Oid::parse(oid), Some(content), rest.get(1..)?))
}

/// One checkpoint and the files that differed from its head.
///
/// # Errors
/// If there is none of that name, or it cannot be read.
pub async fn show(
    repo: &Repository,
    id: &CheckpointId,
) -> Result<(Details, Vec<ChangedFile>, Stat), CheckpointError> {
    let kept = load(repo, id).await?;
    let book = load_book(repo, &kept).await?;
    let base = kept.meta.head.commit.clone().unwrap_or_else(|| repo.empty_tree());
    let (files, stat) = compare(repo, &base, book.seen.as_ref().unwrap_or(&kept.tree)).await?;
    Ok((Details::new(id.clone(), kept.commit, kept.tree, kept.meta), files, stat))
}

/// A checkpoint as it was when it was taken.
///
/// # Errors
/// If there is none of that name, or it cannot be read.
pub async fn captured(repo: &Repository, id: &CheckpointId) -> Result<Captured, CheckpointError> {
    let (details, changed_files, stat) = show(repo, id).await?;
    Ok(Captured {
        id: details.id,
        commit: details.commit,
        tree: details.tree,
        head: details.head,
        branch: details.branch,
        changed_files,
        stat,
        skipped: details.skipped,
        submodules: details.submodules,
        in_progress: details.in_progress,
        captured_at: details.captured_at,
    })
}

/// Forgets a checkpoint. Its objects go when git cleans up.
///
/// # Errors
/// If there is none of that name.
pub async fn delete(repo: &Repository, id: &CheckpointId) -> Result<(), CheckpointError> {
    let reference = id.reference();
    let known = repo.git.call(["rev-parse", "--verify", "--quiet", &reference]).answer().await?;
    if known.is_none() {
        return Err(CheckpointError::NotFound(id.clone()));
    }
    repo.git.run(["update-ref", "-d", &reference]).await?;
    Ok(())
}

/// Forgets all checkpoints but those to keep, and says which went.
///
/// # Errors
/// If git does not do its part; then none went.
pub async fn prune(repo: &Repository, keep: Keep) -> Result<Vec<CheckpointId>, CheckpointError> {
    let all = list(repo).await?;
    let doomed: Vec<&Details> = match keep {
        Keep::Newest(count) => all.iter().take(all.len().saturating_sub(count)).collect(),
        Keep::Younger(age) => {
            let now = SystemTime::now();
            let is_old = |d: &&Details| now.duration_since(d.captured_at).is_ok_and(|a| a > age);
            all.iter().filter(is_old).collect()
        }
    };
    let mut request = String::new();
    for details in &doomed {
        request.push_str(&format!("delete {} {}\n", details.id.reference(), details.commit));
    }
    if !request.is_empty() {
        repo.git.call(["update-ref", "--stdin"]).stdin(request).run().await?;
    }
    Ok(doomed.into_iter().map(|details| details.id.clone()).collect())
}
