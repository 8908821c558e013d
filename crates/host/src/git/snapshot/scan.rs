//! What lies in a work tree now: its files and links, each as the blob that holds its bytes.

use std::collections::{HashMap, HashSet};

use rustix::fs::FileType;

use super::beneath::Beneath;
use super::blobs::{Source, Stored, store};
use super::cache::{Cache, Stamp};
use super::listing::{Entry, GITLINK, LINK, entries};
use super::scratch::{Scratch, clock};
use super::{CaptureOptions, SkipReason, Skipped};
use crate::git::run::{blocking, fields, path};
use crate::git::{GitError, Oid, Repository};

/// Above this many files that are not known, the user's index is asked for what it knows.
const WORTH_ASKING: usize = 64;
/// Attributes by which git stores other bytes than it finds.
const CONVERTING: &[&[u8]] =
    &[b"text", b"crlf", b"eol", b"ident", b"filter", b"working-tree-encoding"];

/// A file or link of the work tree, stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blob {
    pub(super) mode: u32,
    pub(super) oid: Oid,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Files and links by path.
    pub(super) blobs: HashMap<Vec<u8>, Blob>,
    /// Entries that git leaves out of the work tree.
    pub(super) absent: Vec<Vec<u8>>,
    /// Permissions other than the usual ones.
    pub(super) modes: Vec<u8>,
    /// What could not be kept.
    pub(super) skipped: Vec<Skipped>,
    /// When the look began, by the clock of the file system.
    pub(super) clock: Option<Stamp>,
    /// The user's index as a file.
    pub(super) index: Option<Oid>,
    /// The permissions, stored.
    pub(super) modes_blob: Option<Oid>,
}

/// Something that is there, not stored yet.
struct Found {
    path: Vec<u8>,
    mode: u32,
    stamp: Stamp,
    /// Where it leads, if it is a link.
    target: Option<Vec<u8>>,
    oid: Option<Oid>,
}

/// What one look at the work tree brings.
struct Look {
    found: Vec<Found>,
    scan: Scan,
    cache: Cache,
    clock: Stamp,
}

/// The user's index as a file: what it was, and its bytes.
pub(super) struct IndexFile {
    pub(super) stamp: Stamp,
    pub(super) bytes: Vec<u8>,
}

/// What the index is remembered as, beside the files; no file has such a name.
const INDEX: &[u8] = b"\0index";

/// Finds and stores all that is tracked or not ignored, and the index itself.
pub(super) async fn scan(
    repo: &Repository,
    scratch: &Scratch,
    options: &CaptureOptions,
    tracked: &[Entry],
    others: &[u8],
    index: Option<IndexFile>,
) -> Result<Scan, GitError> {
    let task = Task {
        top: repo.top().to_owned(),
        scratch: scratch.path().to_owned(),
        cache: scratch.kept("stat-cache"),
        max_file: options.max_file,
        has_modes: repo.git.core("filemode") != Some(b"false"),
        has_links: repo.git.core("symlinks") != Some(b"false"),
    };
    let (tracked_now, others) = (tracked.to_vec(), others.to_vec());
    let mut look = blocking(move || task.look(&tracked_now, &others)).await?;
    ask_index(repo, scratch, &mut look, tracked).await?;
    keep(repo, scratch, look, index).await
}

struct Task {
    top: std::path::PathBuf,
    scratch: std::path::PathBuf,
    cache: std::path::PathBuf,
    max_file: u64,
    has_modes: bool,
    has_links: bool,
}

impl Task {
    /// Looks at every path. Blocking.
    fn look(&self, tracked: &[Entry], others: &[u8]) -> Result<Look, GitError> {
        let clock = clock(&self.scratch)?;
        let mut tree = Beneath::new(&self.top).map_err(|error| GitError::file(&self.top, error))?;
        let cache = Cache::load(&self.cache);
        let scan = Scan { clock: Some(clock), ..Scan::default() };
        let mut look = Look { found: Vec::new(), scan, cache, clock };
        let mut last: Option<&[u8]> = None;
        for entry in tracked {
            // Stages of a conflict are neighbors.
            if last.replace(&entry.path) == Some(&entry.path) {
                continue;
            }
            if !self.take(&mut tree, &entry.path, Some(entry), &mut look) && entry.is_sparse() {
                look.scan.absent.push(entry.path.clone());
            }
        }
        for name in fields(others) {
            match name.strip_suffix(b"/") {
                Some(nested) => look.scan.skip(nested, SkipReason::NestedRepository),
                None => drop(self.take(&mut tree, name, None, &mut look)),
            }
        }
        Ok(look)
    }

    /// Looks at one path; false if nothing is there that could be tracked.
    fn take(
        &self,
        tree: &mut Beneath,
        name: &[u8],
        entry: Option<&Entry>,
        look: &mut Look,
    ) -> bool {
        let stat = match tree.stat(name) {
            Ok(Some(stat)) => stat,
            Ok(None) => return false,
            Err(_) => {
                look.scan.skip(name, SkipReason::Unreadable);
                return true;
            }
        };
        let stamp = Stamp::of(&stat);
        let mut target = None;
        let mode = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => return false,
            FileType::Symlink => match tree.link(name) {
                Ok(link) => {
                    target = Some(link);
                    LINK
                }
                Err(_) => return false,
            },
            FileType::RegularFile if stamp.size() > self.max_file => {
                look.scan.skip(name, SkipReason::TooLarge);
                return true;
            }
            FileType::RegularFile => {
                let rights = stat.st_mode & 0o7777;
                if !matches!(rights, 0o644 | 0o755) {
                    look.scan.modes.extend(format!("{rights:o} ").bytes());
                    look.scan.modes.extend(name);
                    look.scan.modes.push(0);
                }
                self.mode(rights, entry)
            }
            _ => {
                look.scan.skip(name, SkipReason::Special);
                return true;
            }
        };
        let oid = look.cache.get(name, &stamp).filter(|_| target.is_none()).cloned();
        look.found.push(Found { path: name.to_vec(), mode, stamp, target, oid });
        true
    }

    /// The mode of a file, where the file system cannot be trusted the one that git knows.
    fn mode(&self, rights: u32, entry: Option<&Entry>) -> u32 {
        let known = entry.map(|entry| entry.mode).filter(|mode| *mode != GITLINK);
        let known = known.unwrap_or(0o100_644);
        match (rights & 0o100 != 0, known == LINK) {
            (_, true) if !self.has_links => LINK,
            (_, false) if !self.has_modes => known,
            (true, _) => 0o100_755,
            (false, _) => 0o100_644,
        }
    }
}

impl Scan {
    fn skip(&mut self, name: &[u8], reason: SkipReason) {
        self.skipped.push(Skipped { path: path(name), reason });
    }
}

/// Takes the user's index at its word for files that it knows to be unchanged, where git stores
/// the bytes that it finds.
async fn ask_index(
    repo: &Repository,
    scratch: &Scratch,
    look: &mut Look,
    tracked: &[Entry],
) -> Result<(), GitError> {
    let converts_all = repo.git.core("autocrlf").is_some_and(|value| value != b"false");
    let unknown = |found: &&mut Found| found.oid.is_none() && found.target.is_none();
    if converts_all || look.found.iter_mut().filter(unknown).count() < WORTH_ASKING {
        return Ok(());
    }
    let trusted = |entry: &&Entry| entry.stage == 0 && !entry.is_assumed() && !entry.is_sparse();
    let trusted = tracked.iter().filter(trusted);
    let trusted: HashMap<&[u8], &Entry> = trusted.map(|e| (e.path.as_slice(), e)).collect();
    let index = scratch.file("index");
    let arguments = ["diff-files", "-z", "--name-only", "--no-renames", "--ignore-submodules=all"];
    let changed = repo.git.call(arguments).index(&index).run().await?;
    let changed: HashSet<&[u8]> = fields(&changed).collect();
    let mut asked: Vec<(&mut Found, &Oid)> = Vec::new();
    for found in look.found.iter_mut().filter(unknown) {
        match trusted.get(found.path.as_slice()) {
            Some(entry) if !changed.contains(found.path.as_slice()) => {
                asked.push((found, &entry.oid))
            }
            _ => {}
        }
    }
    let converting = converting(repo, asked.iter().map(|(found, _)| found.path.as_slice())).await?;
    let mut request = Vec::new();
    asked.iter().for_each(|(_, oid)| request.extend([oid.as_str().as_bytes(), b"\n"].concat()));
    let sizes = ["cat-file", "--buffer", "--batch-check=%(objectsize)"];
    let sizes = repo.git.call(sizes).stdin(request).run().await?;
    // Attributes may have been others when the file was added: then its size tells.
    for ((found, oid), size) in asked.into_iter().zip(sizes.split(|byte| *byte == b'\n')) {
        let is_raw = size == found.stamp.size().to_string().as_bytes();
        if is_raw && !converting.contains(&found.path) {
            found.oid = Some(oid.clone());
        }
    }
    Ok(())
}

/// Which of these paths git may store with other bytes than it finds.
pub(super) async fn converting(
    repo: &Repository,
    paths: impl Iterator<Item = &[u8]>,
) -> Result<HashSet<Vec<u8>>, GitError> {
    let mut request = Vec::new();
    for path in paths {
        request.extend(path);
        request.push(0);
    }
    if request.is_empty() {
        return Ok(HashSet::new());
    }
    let answer =
        repo.git.call(["check-attr", "-z", "--stdin", "--all"]).stdin(request).run().await?;
    let answer: Vec<&[u8]> = fields(&answer).collect();
    let converts = |parts: &[&[u8]]| match parts {
        [path, attribute, value] => {
            (CONVERTING.contains(attribute) && *value != b"unset").then(|| path.to_vec())
        }
        _ => None,
    };
    Ok(answer.chunks(3).filter_map(converts).collect())
}

/// Stores what is not stored yet, and remembers it for the next time.
async fn keep(
    repo: &Repository,
    scratch: &Scratch,
    look: Look,
    index: Option<IndexFile>,
) -> Result<Scan, GitError> {
    let Look { found, mut scan, clock, cache: known } = look;
    let missing: Vec<usize> = (0..found.len()).filter(|at| found[*at].oid.is_none()).collect();
    let source = |found: &Found| match &found.target {
        Some(target) => Source::Bytes(target.clone()),
        None => Source::File(found.path.clone()),
    };
    let size = missing.iter().map(|at| found[*at].stamp.size()).sum();
    let mut sources: Vec<Source> = missing.iter().map(|at| source(&found[*at])).collect();
    let index_stamp = index.as_ref().map(|index| index.stamp);
    scan.index = index_stamp.and_then(|stamp| known.get(INDEX, &stamp).cloned());
    let has_new_index = index.is_some() && scan.index.is_none();
    sources.extend(index.filter(|_| has_new_index).map(|index| Source::Bytes(index.bytes)));
    let has_modes = !scan.modes.is_empty();
    sources.extend(has_modes.then(|| Source::Bytes(scan.modes.clone())));
    let mut stored = store(repo, scratch, sources, size).await?;
    let mut extra = stored.split_off(missing.len()).into_iter().flatten().map(|(oid, _)| oid);
    if has_new_index {
        scan.index = extra.next();
    }
    scan.modes_blob = extra.next();
    let mut stored: HashMap<usize, Stored> = missing.into_iter().zip(stored).collect();
    let mut cache = Cache::default();
    if let (Some(stamp), Some(oid)) = (index_stamp, &scan.index)
        && stamp.is_older(&clock)
    {
        cache.insert(INDEX.to_vec(), stamp, oid.clone());
    }
    for (at, found) in found.into_iter().enumerate() {
        let (oid, stamp) = match (found.oid, stored.remove(&at)) {
            (Some(oid), _) => (oid, found.stamp),
            (None, Some(Ok((oid, stamp)))) => (oid, stamp.unwrap_or(found.stamp)),
            (None, Some(Err(reason))) => {
                scan.skip(&found.path, reason);
                continue;
            }
            (None, None) => return Err(GitError::Unreadable("fast-import".into())),
        };
        if found.target.is_none() && stamp.is_older(&clock) {
            cache.insert(found.path.clone(), stamp, oid.clone());
        }
        scan.blobs.insert(found.path, Blob { mode: found.mode, oid });
    }
    let (place, directory) = (scratch.kept("stat-cache"), scratch.path().to_owned());
    // Without it the next checkpoint takes longer, no more.
    let _ = blocking(move || {
        cache.save(&place, &directory).map_err(|error| GitError::file(&place, error))
    })
    .await;
    Ok(scan)
}

pub(super) async fn list_index(
    repo: &Repository,
    index: &std::path::Path,
) -> Result<Vec<Entry>, GitError> {
    let listing = repo.git.call(["ls-files", "-v", "--stage", "-z"]).index(index).run().await?;
    entries(&listing).ok_or_else(|| GitError::Unreadable("ls-files".into()))
}
