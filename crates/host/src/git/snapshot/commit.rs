//! A checkpoint as commits: the work tree on top of the head, and beside the head a second parent
//! that holds the index and the notes, so that all of it survives a cleaning of the repository.

use std::collections::HashMap;
use std::time::SystemTime;

use super::meta::Meta;
use super::{CheckpointError, CheckpointId};
use crate::git::run::{fields, line};
use crate::git::{GitError, Oid, Repository};

const WHO: &[(&str, &str)] = &[
    ("GIT_AUTHOR_NAME", "Rookery"),
    ("GIT_AUTHOR_EMAIL", "rookery@localhost"),
    ("GIT_COMMITTER_NAME", "Rookery"),
    ("GIT_COMMITTER_EMAIL", "rookery@localhost"),
];

/// What is kept beside the work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Book {
    /// The user's index as a file; None if there was none.
    pub(super) index: Option<Oid>,
    /// The tree of the index, which keeps what is staged.
    pub(super) index_tree: Option<Oid>,
    /// What is in conflict.
    pub(super) stages: Option<Oid>,
    /// Permissions other than the usual ones: `OCTAL PATH`, each ended by a zero byte.
    pub(super) modes: Option<Oid>,
    /// The work tree as git sees it, where that differs from its bytes.
    pub(super) seen: Option<Oid>,
    /// Entries that git leaves out of the work tree. Stored as a blob.
    pub(super) absent: Vec<Vec<u8>>,
}

/// A checkpoint as it is kept.
#[derive(Clone, Debug)]
pub(super) struct StoredCheckpoint {
    pub(super) commit: Oid,
    pub(super) tree: Oid,
    pub(super) book: Oid,
    pub(super) meta: Meta,
}

/// Makes the commits and the reference.
pub(super) async fn write_commit(
    repo: &Repository,
    id: &CheckpointId,
    tree: &Oid,
    book: &Oid,
    meta: &Meta,
) -> Result<Oid, CheckpointError> {
    let notes = commit(repo, book, &[], &meta.print(), meta.captured_at).await?;
    let mut parents: Vec<&Oid> = meta.head.commit.iter().collect();
    parents.push(&notes);
    let title: String = meta.title.chars().filter(|c| !c.is_control()).take(500).collect();
    let message =
        format!("{}\n\ncheckpoint {id}\n", if title.is_empty() { "Checkpoint" } else { &title });
    let made = commit(repo, tree, &parents, &message, meta.captured_at).await?;
    let request = format!("create {} {made}\n", id.reference());
    match repo.git.call(["update-ref", "--stdin"]).stdin(request).run().await {
        Err(GitError::Failed { message, .. }) if message.contains("already exists") => {
            Err(CheckpointError::Exists(id.clone()))
        }
        other => other.map(|_| made).map_err(CheckpointError::from),
    }
}

/// Makes the tree of what is kept beside the work tree.
pub(super) async fn write_book(repo: &Repository, book: &Book) -> Result<Oid, GitError> {
    let mut absent = None;
    if !book.absent.is_empty() {
        let list: Vec<u8> = book.absent.join(&0);
        let blob = repo.git.call(["hash-object", "-w", "--stdin"]).stdin(list).line().await?;
        absent = Oid::parse(&blob);
    }
    let trees = [("index-tree", &book.index_tree), ("stages", &book.stages), ("seen", &book.seen)];
    let blobs = [("absent", &absent), ("index", &book.index), ("modes", &book.modes)];
    let mut lines = String::new();
    for (mode, kind, parts) in [("040000", "tree", trees), ("100644", "blob", blobs)] {
        for (name, oid) in parts {
            if let Some(oid) = oid {
                lines.push_str(&format!("{mode} {kind} {oid}\t{name}\0"));
            }
        }
    }
    let made = repo.git.call(["mktree", "-z"]).stdin(lines).line().await?;
    Oid::parse(&made).ok_or_else(|| GitError::Unreadable("mktree".into()))
}

async fn commit(
    repo: &Repository,
    tree: &Oid,
    parents: &[&Oid],
    message: &str,
    when: SystemTime,
) -> Result<Oid, GitError> {
    let seconds = when.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let when = format!("@{seconds} +0000");
    let start = ["-c", "i18n.commitEncoding=UTF-8", "commit-tree", tree.as_str()];
    let parents = parents.iter().flat_map(|parent| ["-p", parent.as_str()]);
    let mut call = repo.git.call(start.into_iter().chain(parents)).stdin(message);
    for (name, value) in WHO {
        call = call.env(name, value);
    }
    let call = call.env("GIT_AUTHOR_DATE", &when).env("GIT_COMMITTER_DATE", &when);
    Oid::parse(&call.line().await?).ok_or_else(|| GitError::Unreadable("commit-tree".into()))
}

/// Finds a checkpoint.
pub(super) async fn load(
    repo: &Repository,
    id: &CheckpointId,
) -> Result<StoredCheckpoint, CheckpointError> {
    let reference = format!("{}^{{commit}}", id.reference());
    let found = repo.git.call(["rev-parse", "--verify", "--quiet", &reference]).answer().await?;
    let commit = found.ok_or_else(|| CheckpointError::NotFound(id.clone()))?;
    let broken = || CheckpointError::Broken(id.clone());
    let commit = Oid::read(&line(commit)).ok_or_else(broken)?;
    let text = repo.git.run(["cat-file", "commit", commit.as_str()]).await?;
    let (tree, parents, _) = read_commit(&text).ok_or_else(broken)?;
    let notes = parents.last().ok_or_else(broken)?;
    let text = repo.git.run(["cat-file", "commit", notes.as_str()]).await?;
    let (book, _, message) = read_commit(&text).ok_or_else(broken)?;
    let meta = Meta::parse(message).ok_or_else(broken)?;
    Ok(StoredCheckpoint { commit, tree, book, meta })
}

/// Tree, parents and message of a commit.
pub(super) fn read_commit(text: &[u8]) -> Option<(Oid, Vec<Oid>, &str)> {
    let text = str::from_utf8(text).ok()?;
    let (head, message) = text.split_once("\n\n")?;
    let of = |name: &'static str| {
        let words = head.lines().filter_map(|line| line.split_once(' '));
        words.filter(move |(key, _)| *key == name).filter_map(|(_, value)| Oid::parse(value))
    };
    let tree = of("tree").next()?;
    Some((tree, of("parent").collect(), message))
}

/// What is kept beside the work tree.
pub(super) async fn load_book(
    repo: &Repository,
    kept: &StoredCheckpoint,
) -> Result<Book, GitError> {
    let listing = repo.git.run(["ls-tree", "-z", kept.book.as_str()]).await?;
    let mut parts: HashMap<&[u8], Oid> = HashMap::new();
    for entry in fields(&listing) {
        let (head, name) = entry.split_at(entry.iter().position(|b| *b == b'\t').unwrap_or(0));
        let oid = head.rsplit(|byte| *byte == b' ').next().and_then(Oid::read);
        if let (Some(oid), [b'\t', name @ ..]) = (oid, name) {
            parts.insert(name, oid);
        }
    }
    let mut book = Book {
        index: parts.remove(b"index".as_slice()),
        index_tree: parts.remove(b"index-tree".as_slice()),
        stages: parts.remove(b"stages".as_slice()),
        modes: parts.remove(b"modes".as_slice()),
        seen: parts.remove(b"seen".as_slice()),
        absent: Vec::new(),
    };
    if let Some(absent) = parts.remove(b"absent".as_slice()) {
        let list = repo.git.run(["cat-file", "blob", absent.as_str()]).await?;
        book.absent = fields(&list).map(<[u8]>::to_vec).collect();
    }
    Ok(book)
}
