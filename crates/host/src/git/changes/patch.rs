//! The patch of one file, between the base and the work tree or within one area.

use std::path::Path;

use super::super::run::{blocking, fields, path as path_of};
use super::super::snapshot::Beneath;
use super::super::{GitError, Repository};
use super::untracked::{self, Content};
use super::{AT_ONCE, Area, COMPARE, LIMIT, MAX_UNTRACKED, base, listing, within};

/// Lines around a change.
const CONTEXT: &str = "--unified=80";
/// How long a patch may be.
const MAX_PATCH: usize = 64 << 20;

/// How a patch is printed, whatever the user's taste in diffs is.
const PRINT: &[&str] = &[
    "-p",
    CONTEXT,
    "--inter-hunk-context=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--ws-error-highlight=none",
];

/// Which patch of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatchOptions {
    /// Only what lies here; everything since the base if it is not said.
    pub area: Option<Area>,
    /// Whether white space alone makes no difference.
    pub ignores_whitespace: bool,
}

/// The patch of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// A unified diff; empty if nothing differs.
    pub text: String,
    /// Whether the file is not text.
    pub is_binary: bool,
    /// Whether the file is too large to be read.
    pub is_too_large: bool,
}

/// How the file at a path differs. The path is from the top of the work tree on, and is taken by its word.
///
/// # Errors
/// If the directory is in no work tree, git cannot tell, or it takes longer than [`LIMIT`].
pub async fn read(directory: &Path, path: &str, options: PatchOptions) -> Result<Patch, GitError> {
    within(LIMIT, read_within(directory, path, options)).await
}

async fn read_within(
    directory: &Path,
    path: &str,
    options: PatchOptions,
) -> Result<Patch, GitError> {
    let _one = AT_ONCE.acquire().await;
    let repo = Repository::discover(directory).await?;
    let area = options.area;
    if area.is_none_or(|area| area == Area::Untracked) && is_untracked(&repo, path).await? {
        return unknown(&repo, path).await;
    }
    let head = repo.head().await?;
    let base = base::find(&repo, &head).await?;
    let none = repo.empty_tree();
    let head = head.commit.as_ref().unwrap_or(&none);
    let states: &[&str] = match area {
        None => &[base.tree.as_str()],
        Some(Area::Committed) => &[base.tree.as_str(), head.as_str()],
        Some(Area::Staged) => &["--cached", head.as_str()],
        Some(Area::Unstaged) => &[],
        Some(Area::Untracked) => return Ok(Patch::default()),
    };
    let rows = listing::compared(&repo.git, states).await?;
    let Some(row) = rows.into_iter().find(|row| row.path == path.as_bytes()) else {
        return Ok(Patch::default());
    };
    let call = repo.git.call(["-c", "diff.suppressBlankEmpty=false", "diff"]);
    let mut call = call.args(COMPARE).args(PRINT).output_limit(MAX_PATCH);
    if options.ignores_whitespace {
        call = call.args(["--ignore-all-space"]);
    }
    let names = row.old_path.iter().chain(std::iter::once(&row.path)).map(|name| path_of(name));
    let call = call.args(states).args(["--"]).args(names.map(std::path::PathBuf::into_os_string));
    let text = String::from_utf8_lossy(&call.run().await?).into_owned();
    Ok(Patch { text, is_binary: row.lines.is_none(), is_too_large: false })
}

/// Whether a path names a file that git does not know and does not ignore.
async fn is_untracked(repo: &Repository, path: &str) -> Result<bool, GitError> {
    let others = ["ls-files", "--others", "--exclude-standard", "-z", "--", path];
    let listing = repo.git.run(others).await?;
    let is_it = |name: &[u8]| name.strip_suffix(b"/").unwrap_or(name) == path.as_bytes();
    let is_listed = fields(&listing).any(is_it);
    Ok(is_listed)
}

/// The patch that would add a file that git does not know.
async fn unknown(repo: &Repository, path: &str) -> Result<Patch, GitError> {
    let (top, name) = (repo.top().to_owned(), path.to_owned());
    blocking(move || {
        let mut tree = Beneath::new(&top).map_err(|error| GitError::file(&top, error))?;
        let mut budget = MAX_UNTRACKED;
        let content = untracked::content(&mut tree, name.as_bytes(), &mut budget);
        let found = tree.stat(name.as_bytes()).ok().flatten();
        let is_program = found.is_some_and(|found| found.st_mode & 0o100 != 0);
        let mode = match (&content, is_program) {
            (Content::Link(_), _) => "120000",
            (_, true) => "100755",
            (_, false) => "100644",
        };
        Ok(Patch {
            text: untracked::patch(&name, mode, &content),
            is_binary: content == Content::Binary,
            is_too_large: content == Content::TooLarge,
        })
    })
    .await
}
