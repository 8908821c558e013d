//! How much a working tree differs from its last commit, counted by the `git` program.
//!
//! The tree may be anybody's: nothing that its configuration names is run, no lock is taken,
//! nothing is written and nothing is fetched.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FileType, Mode, OFlags};

use super::run::{Git, line};

/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(2);
/// How many bytes of files that git does not know are read for their lines, in all.
const READ_LIMIT: u64 = 64 << 20;
/// How far git itself looks for a zero byte before it takes a file for text.
const BINARY_PROBE: usize = 8000;

const DIFF: &[&str] = &[
    "diff",
    "--numstat",
    "-z",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--no-relative",
    // Looking into a submodule would start a git there, with the settings of that one.
    "--ignore-submodules=dirty",
    "-O/dev/null",
];

/// The difference between a working tree and its last commit, what git does not know yet included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Files that differ.
    pub files: u64,
    /// Lines added; a file that is not text has none.
    pub added: u64,
    /// Lines deleted.
    pub deleted: u64,
}

/// What changed in the working tree around a directory since its last commit.
///
/// None if nothing did, if it is no working tree, or if it cannot be told within two seconds.
pub async fn changes(directory: &Path) -> Option<Changes> {
    changes_within(directory, LIMIT).await
}

async fn changes_within(directory: &Path, limit: Duration) -> Option<Changes> {
    tokio::time::timeout(limit, count(directory, limit)).await.ok()??.some()
}

impl Changes {
    fn some(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}

async fn count(directory: &Path, limit: Duration) -> Option<Changes> {
    let git = Git::bare_of(directory, limit);
    let top = git.run(["rev-parse", "--show-toplevel"]).await.ok()?;
    let top = PathBuf::from(OsString::from_vec(line(top)));
    let git = git.moved_to(&top).disarmed().await.ok()?;
    let base = base(&git).await?;
    let mut arguments = DIFF.to_vec();
    arguments.extend([base.as_str(), "--"]);
    let mut changes = tracked(&git.run(&arguments).await.ok()?)?;
    let others = ["ls-files", "--others", "--exclude-standard", "-z"];
    let others = git.run(others).await.ok()?;
    let deadline = Instant::now() + limit;
    let count = move || untracked(&top, &others, deadline);
    let (files, added) = tokio::task::spawn_blocking(count).await.ok()??;
    changes.files += files;
    changes.added += added;
    Some(changes)
}

/// The last commit, or the empty tree where there is none yet.
async fn base(git: &Git) -> Option<String> {
    let head = git.call(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
    match head.line().await {
        Ok(head) => Some(head),
        Err(_) => git.call(["hash-object", "-t", "tree", "--stdin"]).line().await.ok(),
    }
}

/// Adds up what `--numstat -z` says: added, deleted and name, with dashes for what is not text.
fn tracked(numstat: &[u8]) -> Option<Changes> {
    let mut changes = Changes::default();
    for entry in numstat.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let mut fields = entry.splitn(3, |byte| *byte == b'\t');
        let mut number = || match str::from_utf8(fields.next()?).ok()? {
            "-" => Some(0),
            digits => digits.parse::<u64>().ok(),
        };
        changes.added = changes.added.saturating_add(number()?);
        changes.deleted = changes.deleted.saturating_add(number()?);
        changes.files += 1;
    }
    Some(changes)
}

/// Files that git does not know, and their lines as far as the limits reach.
fn untracked(top: &Path, list: &[u8], deadline: Instant) -> Option<(u64, u64)> {
    let (mut files, mut added, mut room) = (0, 0, READ_LIMIT);
    for name in list.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if Instant::now() > deadline {
            return None;
        }
        files += 1;
        added += lines(&top.join(OsStr::from_bytes(name)), &mut room).unwrap_or(0);
    }
    Some((files, added))
}

/// The lines of a text file. A link counts as one line, as it does for git; anything else as none.
fn lines(path: &Path, room: &mut u64) -> Option<u64> {
    // Without waiting: it could be a pipe by now.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(rustix::io::Errno::LOOP) => return Some(1),
        other => other.ok()?,
    };
    let stat = rustix::fs::fstat(&file).ok()?;
    let size = u64::try_from(stat.st_size).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || size > *room {
        return None;
    }
    *room -= size;
    let mut file = std::fs::File::from(file).take(size);
    let mut chunk = vec![0; 64 << 10];
    let (mut lines, mut last, mut seen) = (0, b'\n', 0);
    loop {
        let got = match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(got) => got,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        let probe = &chunk[..got.min(BINARY_PROBE.saturating_sub(seen))];
        if probe.contains(&0) {
            return None;
        }
        seen += got;
        lines += chunk[..got].iter().filter(|byte| **byte == b'\n').count() as u64;
        last = chunk[got - 1];
    }
    Some(lines + u64::from(last != b'\n'))
}

#[cfg(test)]
mod tests;
