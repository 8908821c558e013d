//! How much a working tree differs from its last commit, counted by the `git` program.
//!
//! The tree may be a stranger's: nothing that its configuration names is run, no lock is taken,
//! nothing is written and nothing is fetched.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use super::Repository;
use super::run::{Git, fields};
use super::untouched::untouched;

/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(2);
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
    /// Lines added to files that git knows; a file that is not text has none.
    pub added: u64,
    /// Lines deleted.
    pub deleted: u64,
}

/// What changed in the working tree around a directory since its last commit.
///
/// None if nothing did, if it is no working tree, or if it cannot be determined within two seconds.
pub async fn changes(directory: &Path) -> Option<Changes> {
    changes_within(directory, LIMIT).await
}

async fn changes_within(directory: &Path, limit: Duration) -> Option<Changes> {
    tokio::time::timeout(limit, count(directory)).await.ok()??.some()
}

impl Changes {
    fn some(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}

async fn count(directory: &Path) -> Option<Changes> {
    let repo = Repository::discover(directory).await.ok()?;
    let git = &repo.git;
    let base = base(git).await?;
    let mut arguments = DIFF.to_vec();
    arguments.extend([base.as_str(), "--"]);
    let numstat = git.run(&arguments).await.ok()?;
    let mut changes = tracked(&numstat, &only_seeming(&repo, &base, &numstat).await?)?;
    let others = ["ls-files", "--others", "--exclude-standard", "-z"];
    let others = git.run(others).await.ok()?;
    // A file that git does not know is a file more; its lines are counted once it is added.
    changes.files += fields(&others).count() as u64;
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

/// Files that differ only because their filter does not run.
async fn only_seeming(repo: &Repository, base: &str, numstat: &[u8]) -> Option<HashSet<Vec<u8>>> {
    let git = &repo.git;
    if !git.has_filters() {
        return Some(HashSet::new());
    }
    // What is another in the index than in the commit differs anyway.
    let staged = ["diff-index", "--cached", "--name-only", "-z", "--no-renames", base, "--"];
    let staged = git.run(staged).await.ok()?;
    let staged: HashSet<&[u8]> = fields(&staged).collect();
    let names = fields(numstat).filter_map(|entry| entry.splitn(3, |byte| *byte == b'\t').nth(2));
    let names: Vec<&[u8]> = names.filter(|name| !staged.contains(name)).collect();
    untouched(git, repo.top(), repo.index(), &names).await.ok()
}

/// Adds up what `--numstat -z` says: added, deleted and name, with dashes for what is not text.
fn tracked(numstat: &[u8], left_out: &HashSet<Vec<u8>>) -> Option<Changes> {
    let mut changes = Changes::default();
    for entry in fields(numstat) {
        let mut parts = entry.splitn(3, |byte| *byte == b'\t');
        let mut number = || match str::from_utf8(parts.next()?).ok()? {
            "-" => Some(0),
            digits => digits.parse::<u64>().ok(),
        };
        let (added, deleted) = (number()?, number()?);
        if left_out.contains(parts.next()?) {
            continue;
        }
        changes.added = changes.added.saturating_add(added);
        changes.deleted = changes.deleted.saturating_add(deleted);
        changes.files += 1;
    }
    Some(changes)
}

#[cfg(test)]
mod tests;
