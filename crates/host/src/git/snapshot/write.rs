//! Writes a restore into the work tree: first everything beside it, then into its place in one go.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Stat};
use tokio::sync::mpsc;

use super::CheckpointError;
use super::beneath::{Beneath, is_safe};
use super::cache::Stamp;
use super::listing::LINK;
use super::scratch::{Modified, Scratch, set_time};
use crate::git::run::{blocking, path};
use crate::git::stream::{Content, WAITING, contents};
use crate::git::{GitError, Oid, Repository};

/// How deep and how far a directory that is in the way is looked through.
const LOOK_LIMIT: usize = 100_000;

/// A file to be written.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) path: Vec<u8>,
    pub(super) mode: u32,
    pub(super) oid: Oid,
    /// Whether what is there now is saved.
    pub(super) replaces: bool,
}

/// Permissions to be set.
#[derive(Clone, Debug, Default)]
pub(super) struct Modes {
    /// Those of the checkpoint, where they were not the usual ones.
    pub(super) then: HashMap<Vec<u8>, u32>,
    /// Files that get the usual ones again.
    pub(super) usual: Vec<Vec<u8>>,
}

/// All that is to be done.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) writes: Vec<Write>,
    pub(super) removes: Vec<Vec<u8>>,
    pub(super) modes: Modes,
    /// What lies there and could not be saved.
    pub(super) unsaved: HashSet<PathBuf>,
    /// When the saving began: what changed later is not saved.
    pub(super) clock: Option<Stamp>,
}

impl Plan {
    /// Whether what lies there was changed after it was saved.
    fn is_stale(&self, stat: &Stat) -> bool {
        self.clock.is_some_and(|clock| clock.is_older(&Stamp::of(stat)))
    }
}

/// What becomes of the user's index.
pub(super) enum NewIndex {
    /// It stays.
    Same,
    /// This one, written at that time.
    File(PathBuf, Modified),
    /// This one, written now.
    Fresh(PathBuf),
    /// There was none.
    None,
}

/// The lock that git itself respects. Goes with this value.
#[derive(Debug)]
pub(super) struct IndexLock {
    index: PathBuf,
    lock: PathBuf,
    file: File,
}

impl IndexLock {
    pub(super) async fn take(index: &Path) -> Result<Self, CheckpointError> {
        let index = index.to_owned();
        let taken = blocking(move || {
            let mut lock = index.as_os_str().to_owned();
            lock.push(".lock");
            let lock = PathBuf::from(lock);
            match OpenOptions::new().write(true).create_new(true).mode(0o644).open(&lock) {
                Ok(file) => Ok(Ok(Self { index, lock, file })),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Ok(Err(CheckpointError::IndexLocked(lock)))
                }
                Err(error) => Err(GitError::file(lock, error)),
            }
        });
        taken.await?
    }

    /// Puts the new index in its place. Blocking.
    fn replace(mut self, new: NewIndex) -> Result<(), GitError> {
        let (from, time) = match new {
            NewIndex::Same => return Ok(()),
            NewIndex::None => {
                return match std::fs::remove_file(&self.index) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        Err(GitError::file(&self.index, error))
                    }
                    _ => Ok(()),
                };
            }
            NewIndex::File(from, time) => (from, Some(time)),
            NewIndex::Fresh(from) => (from, None),
        };
        let copied = File::open(&from).and_then(|mut from| io::copy(&mut from, &mut self.file));
        copied
            .and_then(|_| self.file.flush())
            .map_err(|error| GitError::file(&self.lock, error))?;
        if let Some(time) = time {
            set_time(&self.lock, time)?;
        }
        std::fs::rename(&self.lock, &self.index).map_err(|error| GitError::file(&self.index, error))
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        // After the index was replaced there is none any more.
        let _ = std::fs::remove_file(&self.lock);
    }
}

/// Whether all paths stay below the top of the work tree.
pub(super) fn check_paths(plan: &Plan) -> Result<(), CheckpointError> {
    let mut paths = plan.writes.iter().map(|write| &write.path).chain(&plan.removes);
    match paths.find(|path| !is_safe(path)) {
        Some(bad) => Err(CheckpointError::UnsafePath(path(bad))),
        None => Ok(()),
    }
}

/// Whether the plan can be carried out without losing anything. Blocking.
pub(super) fn check(top: &Path, plan: Plan) -> Result<Plan, CheckpointError> {
    let mut tree = Beneath::new(top).map_err(|error| GitError::file(top, error))?;
    let going: HashSet<&[u8]> = plan.removes.iter().map(Vec::as_slice).collect();
    let mut blocked = Vec::new();
    for name in &plan.removes {
        let stat = tree.stat(name).map_err(|error| GitError::file(path(name), error))?;
        if plan.unsaved.contains(&path(name)) || stat.is_some_and(|stat| plan.is_stale(&stat)) {
            blocked.push(path(name));
        }
    }
    for write in &plan.writes {
        match obstacle(&mut tree, top, write, &plan, &going) {
            Ok(None) if !plan.unsaved.contains(&path(&write.path)) => {}
            Ok(None) => blocked.push(path(&write.path)),
            Ok(Some(obstacle)) => blocked.push(obstacle),
            Err(error) => return Err(GitError::file(path(&write.path), error).into()),
        }
    }
    drop(going);
    blocked.sort_unstable();
    blocked.dedup();
    match blocked.is_empty() {
        true => Ok(plan),
        false => Err(CheckpointError::Blocked(blocked)),
    }
}

/// What is in the way of a file and would be lost.
fn obstacle(
    tree: &mut Beneath,
    top: &Path,
    write: &Write,
    plan: &Plan,
    going: &HashSet<&[u8]>,
) -> io::Result<Option<PathBuf>> {
    let kind = |stat: &Stat| FileType::from_raw_mode(stat.st_mode);
    for (at, _) in write.path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        let above = &write.path[..at];
        match tree.stat(above)?.as_ref().map(kind) {
            Some(FileType::Directory) => {}
            // It goes first, so there is nothing below it.
            Some(_) if going.contains(above) => return Ok(None),
            Some(_) => return Ok(Some(path(above))),
            None => return Ok(None),
        }
    }
    match tree.stat(&write.path)? {
        None => Ok(None),
        Some(stat) if kind(&stat) == FileType::Directory => staying(top, &write.path, going),
        Some(stat) => {
            let is_saved = write.replaces && !plan.is_stale(&stat);
            Ok((!is_saved).then(|| path(&write.path)))
        }
    }
}

/// Something below a directory that is not going to be removed.
fn staying(top: &Path, below: &[u8], going: &HashSet<&[u8]>) -> io::Result<Option<PathBuf>> {
    let mut waiting = vec![path(below)];
    let mut seen = 0;
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(top.join(&directory))? {
            let entry = entry?;
            let name = directory.join(entry.file_name());
            seen += 1;
            if entry.file_type()?.is_dir() && seen < LOOK_LIMIT {
                waiting.push(name);
            } else if !going.contains(name.as_os_str().as_bytes()) {
                return Ok(Some(name));
            }
        }
    }
    Ok(None)
}

/// Contents that lie ready beside the work tree, in the order of the writes.
#[derive(Debug)]
pub(super) struct Staged {
    directory: PathBuf,
}

impl Staged {
    fn file(&self, at: usize) -> PathBuf {
        self.directory.join(at.to_string())
    }
}

/// Gets all contents out of the object store.
pub(super) async fn stage(
    repo: &Repository,
    scratch: &Scratch,
    writes: &[Write],
) -> Result<Staged, CheckpointError> {
    let directory = scratch.file("staged");
    let blobs: Vec<Oid> = writes.iter().map(|write| write.oid.clone()).collect();
    check_space(repo, &blobs).await?;
    let modes: Vec<u32> = writes.iter().map(|write| write.mode).collect();
    let (sender, receiver) = mpsc::channel(WAITING);
    let place = directory.clone();
    let writing = blocking(move || {
        std::fs::create_dir(&place).map_err(|error| GitError::file(&place, error))?;
        let staged = Staged { directory: place };
        write_staged(&staged, &modes, receiver)
            .map_err(|error| GitError::file(&staged.directory, error))?;
        Ok(staged)
    });
    // If writing fails, the contents have no receiver any more; the write error is the one to report.
    let (read, staged) = tokio::join!(contents(&repo.git, blobs, sender), writing);
    let staged = staged?;
    read?;
    Ok(staged)
}

/// Whether every object is there, and the disk has room for it.
async fn check_space(repo: &Repository, blobs: &[Oid]) -> Result<(), CheckpointError> {
    let mut request = String::new();
    blobs.iter().for_each(|oid| request.extend([oid.as_str(), "\n"]));
    let sizes = ["cat-file", "--buffer", "--batch-check=%(objecttype) %(objectsize)"];
    let sizes = repo.git.call(sizes).stdin(request).run().await?;
    let mut needed: u64 = 0;
    for line in String::from_utf8_lossy(&sizes).lines() {
        let size = line.strip_prefix("blob ").and_then(|size| size.parse::<u64>().ok());
        let size = size.ok_or_else(|| GitError::Unreadable("cat-file".into()))?;
        // A file takes whole blocks.
        needed = needed.saturating_add(size.div_ceil(4096).saturating_mul(4096));
    }
    let top = repo.top().to_owned();
    let available = blocking(move || {
        let fs = rustix::fs::statvfs(&top).map_err(|error| GitError::file(&top, error))?;
        Ok(fs.f_bavail.saturating_mul(fs.f_frsize))
    });
    let available = available.await?;
    match needed > available {
        true => Err(CheckpointError::NoSpace { needed, available }),
        false => Ok(()),
    }
}

fn write_staged(
    staged: &Staged,
    modes: &[u32],
    mut contents: mpsc::Receiver<Content>,
) -> io::Result<()> {
    let (mut next, mut current) = (0, None::<File>);
    let mut targets: HashMap<usize, Vec<u8>> = HashMap::new();
    while let Some(content) = contents.blocking_recv() {
        match content {
            Content::Begins(_) => {
                current = match modes.get(next) {
                    Some(mode) if *mode == LINK => {
                        targets.insert(next, Vec::new());
                        None
                    }
                    Some(_) => Some(File::create(staged.file(next))?),
                    None => None,
                };
                next += 1;
            }
            Content::Bytes(bytes) => match (&mut current, targets.get_mut(&(next - 1))) {
                (Some(file), _) => file.write_all(&bytes)?,
                (None, Some(target)) => target.extend_from_slice(&bytes),
                (None, None) => {}
            },
        }
    }
    for (at, target) in targets {
        std::os::unix::fs::symlink(path(&target), staged.file(at))?;
    }
    Ok(())
}

/// Carries the plan out. Blocking; an error leaves it half done.
pub(super) fn put(
    top: &Path,
    plan: Plan,
    staged: Staged,
    lock: IndexLock,
    index: NewIndex,
) -> Result<(), GitError> {
    let at = |name: &[u8]| top.join(path(name));
    let mut tree = Beneath::new(top).map_err(|error| GitError::file(top, error))?;
    for name in plan.removes.iter().rev() {
        tree.remove(name).map_err(|error| GitError::file(at(name), error))?;
    }
    let mut modes = plan.modes.then;
    for (number, write) in plan.writes.iter().enumerate() {
        let usual = if write.mode == 0o100_755 { 0o755 } else { 0o644 };
        let rights = modes.remove(&write.path).unwrap_or(usual);
        let from = staged.file(number);
        let done = match write.mode == LINK {
            true => Ok(()),
            false => std::fs::set_permissions(&from, Permissions::from_mode(rights)),
        };
        let done = done.and_then(|()| place(&mut tree, &from, &write.path));
        done.map_err(|error| GitError::file(at(&write.path), error))?;
    }
    let written: HashSet<&[u8]> = plan.writes.iter().map(|write| write.path.as_slice()).collect();
    let rest = modes.into_iter().map(|(name, rights)| (name, Some(rights)));
    let usual = plan.modes.usual.into_iter().map(|name| (name, None));
    for (name, rights) in rest.chain(usual).filter(|(name, _)| !written.contains(name.as_slice())) {
        set_rights(&mut tree, &name, rights).map_err(|error| GitError::file(at(&name), error))?;
    }
    lock.replace(index)
}

/// Moves a staged file to its place, over what is there.
fn place(tree: &mut Beneath, from: &Path, name: &[u8]) -> io::Result<()> {
    tree.make_parent(name)?;
    let (parent, last) = tree.parent(name)?;
    // Only directories without files are left here; a file is replaced by the move itself.
    remove_empty(parent, last)?;
    match rustix::fs::renameat(CWD, from, parent, last) {
        Err(rustix::io::Errno::XDEV) => {}
        other => return Ok(other?),
    }
    // The work tree is on another disk than the repository.
    let draft = format!(".rookery-{:016x}", fastrand::u64(..));
    match std::fs::read_link(from) {
        Ok(target) => rustix::fs::symlinkat(target, parent, &draft)?,
        Err(_) => {
            let mut source = File::open(from)?;
            let mode =
                rustix::fs::Mode::from_raw_mode(source.metadata()?.permissions().mode() & 0o777);
            let flags = rustix::fs::OFlags::WRONLY
                | rustix::fs::OFlags::CREATE
                | rustix::fs::OFlags::EXCL
                | rustix::fs::OFlags::CLOEXEC;
            let mut copy = File::from(rustix::fs::openat(parent, &draft, flags, mode)?);
            io::copy(&mut source, &mut copy)?;
            rustix::fs::fchmod(&copy, mode)?;
        }
    }
    Ok(rustix::fs::renameat(parent, &draft, parent, last)?)
}

/// Removes a directory in which there are only directories.
fn remove_empty(parent: std::os::fd::BorrowedFd<'_>, name: &std::ffi::OsStr) -> io::Result<()> {
    use rustix::fs::{Dir, Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(directory) = rustix::fs::openat(parent, name, flags, Mode::empty()) else {
        return Ok(());
    };
    for entry in Dir::read_from(&directory)? {
        let entry = entry?;
        let below = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes());
        if below != "." && below != ".." {
            remove_empty(std::os::fd::AsFd::as_fd(&directory), below)?;
        }
    }
    Ok(rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

/// Sets the permissions of a file that is not written anew; none means the usual ones.
fn set_rights(tree: &mut Beneath, name: &[u8], rights: Option<u32>) -> io::Result<()> {
    let Some(stat) = tree.stat(name)? else { return Ok(()) };
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(());
    }
    let usual = if stat.st_mode & 0o100 != 0 { 0o755 } else { 0o644 };
    let rights = rights.unwrap_or(usual);
    if stat.st_mode & 0o7777 == rights {
        return Ok(());
    }
    let file = tree.open(name)?;
    Ok(rustix::fs::fchmod(&file, rustix::fs::Mode::from_raw_mode(rights))?)
}
