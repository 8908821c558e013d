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

use crate::{End, Script};

/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(2);
/// How much one call of git may print.
const OUTPUT_LIMIT: usize = 8 << 20;
/// How many bytes of files that git does not know are read for their lines, in all.
const READ_LIMIT: u64 = 64 << 20;
/// How far git itself looks for a zero byte before it takes a file for text.
const BINARY_PROBE: usize = 8000;

/// What would point git elsewhere or make it run or write something.
const UNWANTED: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE2_PERF",
    "GIT_WORK_TREE",
];

/// Settings that go before those of the user and of the tree.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", ""),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("diff.autoRefreshIndex", "false"),
    ("protocol.allow", "never"),
];

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
    let git = Git { directory: directory.to_owned(), filters: Vec::new(), limit };
    let top = line(git.run(&["rev-parse", "--show-toplevel"]).await?);
    let mut git = Git { directory: PathBuf::from(OsString::from_vec(top)), ..git };
    git.filters = git.filters().await?;
    let base = git.base().await?;
    let mut arguments = DIFF.to_vec();
    arguments.extend([base.as_str(), "--"]);
    let mut changes = tracked(&git.run(&arguments).await?)?;
    let others = git.run(&["ls-files", "--others", "--exclude-standard", "-z"]).await?;
    let deadline = Instant::now() + limit;
    let count = move || untracked(&git.directory, &others, deadline);
    let (files, added) = tokio::task::spawn_blocking(count).await.ok()??;
    changes.files += files;
    changes.added += added;
    Some(changes)
}

/// How git is called in one tree.
struct Git {
    directory: PathBuf,
    /// Names of the tree's filters, which are switched off.
    filters: Vec<Vec<u8>>,
    limit: Duration,
}

impl Git {
    async fn run(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        let outcome = self.script(arguments).run().await;
        outcome.is_success().then_some(outcome.stdout)
    }

    fn script(&self, arguments: &[&str]) -> Script {
        let fixed = ["git", "--no-optional-locks", "--no-pager", "--literal-pathspecs"];
        let mut script = Script::new(fixed.iter().chain(arguments).copied());
        script.cwd = Some(self.directory.clone());
        script.timeout = self.limit;
        script.stdout_limit = OUTPUT_LIMIT;
        script.env_remove = UNWANTED.iter().map(OsString::from).collect();
        let fixed = SETTINGS.iter().map(|(key, value)| (key.into(), value.into()));
        let settings: Vec<(OsString, OsString)> = fixed.chain(self.filters_off()).collect();
        script.env.push(("GIT_CONFIG_COUNT".into(), settings.len().to_string().into()));
        for (index, (key, value)) in settings.into_iter().enumerate() {
            script.env.push((format!("GIT_CONFIG_KEY_{index}").into(), key));
            script.env.push((format!("GIT_CONFIG_VALUE_{index}").into(), value));
        }
        let plain = [("GIT_TERMINAL_PROMPT", "0"), ("GIT_NO_LAZY_FETCH", "1"), ("LC_ALL", "C")];
        script.env.extend(plain.map(|(name, value)| (name.into(), value.into())));
        script
    }

    /// The tree's filters, by the first part of their settings' names: `filter.NAME`.
    async fn filters(&self) -> Option<Vec<Vec<u8>>> {
        let list = ["config", "-z", "--name-only", "--get-regexp", "^filter\\."];
        let outcome = self.script(&list).run().await;
        // 1 says that there are none.
        if !matches!(outcome.end, End::Exited(0 | 1)) {
            return None;
        }
        let names = outcome.stdout.split(|byte| *byte == 0);
        let prefix = |name: &[u8]| Some(name[..name.iter().rposition(|b| *b == b'.')?].to_vec());
        let mut names: Vec<Vec<u8>> = names.filter_map(prefix).collect();
        names.sort_unstable();
        names.dedup();
        Some(names)
    }

    /// Settings that leave each filter without a program, and do not miss it.
    fn filters_off(&self) -> impl Iterator<Item = (OsString, OsString)> {
        let parts = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
        self.filters.iter().flat_map(move |filter| {
            parts.map(|(part, value)| {
                let name = [filter, b".".as_slice(), part.as_bytes()].concat();
                (OsString::from_vec(name), value.into())
            })
        })
    }

    /// The last commit, or the empty tree where there is none yet.
    async fn base(&self) -> Option<String> {
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let head = match self.run(&head).await {
            Some(head) => head,
            None => self.run(&["hash-object", "-t", "tree", "--stdin"]).await?,
        };
        String::from_utf8(line(head)).ok()
    }
}

/// One line of output without its end, whatever is in it.
fn line(mut output: Vec<u8>) -> Vec<u8> {
    output.pop_if(|byte| *byte == b'\n');
    output
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
