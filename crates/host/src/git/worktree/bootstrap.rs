//! What a new worktree gets that git does not give it: files that are not tracked, listed in a file
//! of the source, and the command to set it up, which the caller runs.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::WorktreeError;
use super::name::EXCLUDED;
use crate::git::run::{blocking, fields, path};
use crate::git::snapshot::{Beneath, is_safe};
use crate::git::{GitError, Repository};

/// The file that lists what is copied, in the syntax of `.gitignore`.
pub const INCLUDE_FILE: &str = ".worktreeinclude";
/// How many files are copied at most.
const MAX_FILES: usize = 50_000;
/// How many bytes are copied at most.
const MAX_BYTES: u64 = 4 << 30;

/// A command that prepares a worktree. Running it is the caller's decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// A line for a shell.
    pub command: String,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Variables that tell it where it is.
    pub env: Vec<(OsString, OsString)>,
}

/// Copies files from one checkout into another: those that git does not track there and that
/// [`INCLUDE_FILE`] of the source lists. What is there already stays. Gives what was copied.
///
/// # Errors
/// If it is too much, or the file system says no.
pub async fn bootstrap(source: &Repository, target: &Path) -> Result<Vec<PathBuf>, WorktreeError> {
    let list = source.top().join(INCLUDE_FILE);
    let place = list.clone();
    let is_there =
        blocking(move || Ok(std::fs::symlink_metadata(&place).is_ok_and(|meta| meta.is_file())));
    if !is_there.await? {
        return Ok(Vec::new());
    }
    let mut from = OsString::from("--exclude-from=");
    from.push(&list);
    let names = source.git.call(["ls-files", "--others", "--ignored", "-z"]).args([from]);
    let names = names.run().await?;
    let wanted = |name: &&[u8]| {
        is_safe(name) && !name.ends_with(b"/") && !name.starts_with(EXCLUDED.as_bytes())
    };
    let names: Vec<Vec<u8>> = fields(&names).filter(wanted).map(<[u8]>::to_vec).collect();
    if names.len() > MAX_FILES {
        return Err(WorktreeError::TooMuchToCopy);
    }
    let (from, to) = (source.top().to_owned(), target.to_owned());
    let copied =
        blocking(move || copy(&from, &to, &names).map_err(|error| GitError::file(&to, error)));
    copied.await?.ok_or(WorktreeError::TooMuchToCopy)
}

/// Copies files; None if they are too large. Blocking.
fn copy(from: &Path, to: &Path, names: &[Vec<u8>]) -> io::Result<Option<Vec<PathBuf>>> {
    let (mut source, mut target) = (Beneath::new(from)?, Beneath::new(to)?);
    let (mut copied, mut room) = (Vec::new(), MAX_BYTES);
    for name in names {
        let Some(stat) = source.stat(name)? else { continue };
        if target.stat(name)?.is_some() {
            continue;
        }
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        let Some(left) = room.checked_sub(size) else { return Ok(None) };
        room = left;
        if copy_one(&mut source, &mut target, name, &stat)? {
            copied.push(path(name));
        }
    }
    Ok(Some(copied))
}

fn copy_one(
    source: &mut Beneath,
    target: &mut Beneath,
    name: &[u8],
    stat: &rustix::fs::Stat,
) -> io::Result<bool> {
    use rustix::fs::FileType;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => {
            let leads_to = source.link(name)?;
            target.make_parent(name)?;
            let (parent, last) = target.parent(name)?;
            rustix::fs::symlinkat(path(&leads_to), parent, last)?;
        }
        FileType::RegularFile => {
            let mut from = source.open(name)?;
            target.make_parent(name)?;
            let (parent, last) = target.parent(name)?;
            let mode = Mode::from_raw_mode(stat.st_mode & 0o777);
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let mut to = File::from(rustix::fs::openat(parent, last, flags, mode)?);
            io::copy(&mut from, &mut to)?;
            rustix::fs::fchmod(&to, mode)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}
