//! What a work tree contains where it is not what was last committed: contents by their hashes, so that
//! two moments can be distinguished however little was written between them.

use std::collections::{BTreeSet, HashMap};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FileType, Stat};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use super::super::run::{Git, blocking, fields};
use super::super::snapshot::Beneath;
use super::super::{GitError, Oid, Repository};
use super::listing::STATUS;
use super::untracked::Stop;
use super::within;

/// Work trees that are looked at at the same time; the others wait, as part of their time.
static AT_ONCE: Semaphore = Semaphore::const_new(4);

/// What looking at a work tree may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateLimits {
    /// How long it may take.
    pub time: Duration,
    /// How many files may differ from the last commit.
    pub files: usize,
    /// A file above this is known by its size and times, and not by its content.
    pub file: u64,
    /// How many bytes are hashed in all; what comes later is known by its size and times.
    pub bytes: u64,
}

/// What a file is at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing is there.
    Absent,
    /// A file or link: its kind and whether it is a program, and the hash of its content.
    Content(u32, [u8; 32]),
    /// The same for what is too large: number, size, and when it changed.
    Stamp(u32, [u64; 4]),
    /// A directory or a device, which is not looked into.
    Other(u32),
}

/// A work tree at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    top: PathBuf,
    head: Option<Oid>,
    files: HashMap<Vec<u8>, Known>,
    /// Those of the files that git lists as changed.
    listed: BTreeSet<Vec<u8>>,
}

impl State {
    /// The top of the work tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The files that git lists as changed.
    pub fn listed(&self) -> impl Iterator<Item = &[u8]> {
        self.listed.iter().map(Vec::as_slice)
    }

    /// Whether there is a file at a path, as far as that was looked at.
    pub fn has(&self, path: &[u8]) -> bool {
        self.files.get(path).is_some_and(|known| *known != Known::Absent)
    }

    /// Files that differ in a later state. `moved` are those that differ between the two heads.
    pub fn differing(&self, later: &State, moved: &BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
        let was_clean = |path: &Vec<u8>| !self.listed.contains(path);
        let is_clean = |path: &Vec<u8>| !later.listed.contains(path);
        let mut found: BTreeSet<Vec<u8>> = BTreeSet::new();
        for path in self.listed.union(&later.listed) {
            let (before, after) = (self.files.get(path), later.files.get(path));
            // A file that was clean had the content of the head, which it has no more.
            if was_clean(path) || before != after {
                found.insert(path.clone());
            }
        }
        found.extend(moved.iter().filter(|path| was_clean(path) && is_clean(path)).cloned());
        found
    }
}

/// Looks at the work tree around a directory; at these files as well, whether they changed or not.
///
/// # Errors
/// If the directory is in no work tree, git cannot tell, or a limit is reached.
pub async fn state(
    directory: &Path,
    also: Vec<Vec<u8>>,
    limits: StateLimits,
) -> Result<State, GitError> {
    let work = async {
        let _one = AT_ONCE.acquire().await;
        let repo = Repository::discover(directory).await?;
        let status = [STATUS, &["--branch"]].concat();
        let listing = repo.git.run(status).await?;
        let (head, listed) = read(&listing).ok_or_else(|| GitError::Unreadable("status".into()))?;
        if listed.len() > limits.files {
            return Err(GitError::TooMuchOutput("status".into()));
        }
        let top = repo.top().to_owned();
        let names: BTreeSet<Vec<u8>> = listed.iter().cloned().chain(also).collect();
        let files = hashed(top.clone(), names, limits).await?;
        Ok(State { top, head, files, listed })
    };
    within(limits.time, work).await
}

/// The files that differ between the heads of two states.
///
/// # Errors
/// If git cannot tell within the limits.
pub async fn moved(
    before: &State,
    after: &State,
    limits: StateLimits,
) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let (Some(from), Some(to)) = (&before.head, &after.head) else { return Ok(BTreeSet::new()) };
    if from == to {
        return Ok(BTreeSet::new());
    }
    let work = async {
        let git = Git::bare_of(&after.top, limits.time);
        let names = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-commit-id"];
        let listing = git.call(names).args([from.as_str(), to.as_str(), "--"]).run().await?;
        let found: BTreeSet<Vec<u8>> = fields(&listing).map(<[u8]>::to_vec).collect();
        match found.len() > limits.files {
            true => Err(GitError::TooMuchOutput("diff-tree".into())),
            false => Ok(found),
        }
    };
    within(limits.time, work).await
}

/// Reads what `status --porcelain=v2 -z --branch` says: the head, and the names of all files.
fn read(listing: &[u8]) -> Option<(Option<Oid>, BTreeSet<Vec<u8>>)> {
    let (mut head, mut listed) = (None, BTreeSet::new());
    for entry in fields(listing) {
        if let Some(oid) = entry.strip_prefix(b"# branch.oid ") {
            head = Oid::read(oid);
            continue;
        }
        let words = match entry.first()? {
            b'1' => 8,
            b'u' => 10,
            b'?' => 1,
            _ => continue,
        };
        let path = entry.splitn(words + 1, |byte| *byte == b' ').nth(words)?;
        listed.insert(path.strip_suffix(b"/").unwrap_or(path).to_vec());
    }
    Some((head, listed))
}

/// What the files are now.
async fn hashed(
    top: PathBuf,
    names: BTreeSet<Vec<u8>>,
    limits: StateLimits,
) -> Result<HashMap<Vec<u8>, Known>, GitError> {
    let stop = Stop::default();
    let is_gone = stop.asked();
    blocking(move || {
        let mut tree = Beneath::new(&top).map_err(|error| GitError::file(&top, error))?;
        let mut budget = limits.bytes;
        let mut known = HashMap::with_capacity(names.len());
        for name in names {
            if is_gone() {
                return Err(GitError::Abandoned);
            }
            let found = look(&mut tree, &name, limits.file, &mut budget);
            known.insert(name, found);
        }
        Ok(known)
    })
    .await
}

fn look(tree: &mut Beneath, name: &[u8], most: u64, budget: &mut u64) -> Known {
    let Ok(Some(stat)) = tree.stat(name) else { return Known::Absent };
    let kind = FileType::from_raw_mode(stat.st_mode);
    // Of its permissions git knows only whether it is a program.
    let mode = (stat.st_mode & 0o170_000) | (stat.st_mode & 0o100);
    match kind {
        FileType::Symlink => match tree.link(name) {
            Ok(target) => Known::Content(mode, Sha256::digest(target).into()),
            Err(_) => Known::Absent,
        },
        FileType::RegularFile => {
            let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
            if size > most.min(*budget) {
                return stamp(mode, &stat);
            }
            *budget -= size;
            let Ok(file) = tree.open(name) else { return stamp(mode, &stat) };
            digest(file, most).map_or_else(|| stamp(mode, &stat), |hash| Known::Content(mode, hash))
        }
        _ => Known::Other(mode),
    }
}

/// The hash of a file; none if it cannot be read or became too long.
fn digest(file: std::fs::File, most: u64) -> Option<[u8; 32]> {
    let mut reader = file.take(most + 1);
    let (mut hash, mut buffer, mut total) = (Sha256::new(), vec![0; 64 << 10], 0);
    loop {
        match reader.read(&mut buffer).ok()? {
            0 => return (total <= most).then(|| hash.finalize().into()),
            count => {
                total += count as u64;
                hash.update(&buffer[..count]);
            }
        }
    }
}

#[expect(clippy::unnecessary_cast, reason = "the types differ between machines")]
fn stamp(mode: u32, stat: &Stat) -> Known {
    let changed = stat.st_ctime as u64;
    let nanos = stat.st_ctime_nsec as u64;
    Known::Stamp(mode, [stat.st_ino as u64, stat.st_size as u64, changed, nanos])
}
