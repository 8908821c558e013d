//! A private directory inside of the git directory for one piece of work, and the lock that keeps
//! two pieces of work on the same work tree apart.

use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, FlockOperation, Timespec, Timestamps};

use super::CheckpointError;
use super::cache::Stamp;
use crate::git::run::blocking;
use crate::git::{GitError, Repository};

/// How long another piece of work is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether it ended.
const LOOK: Duration = Duration::from_millis(10);
/// How long git may run on after the process that started it has died.
const ORPHANS: Duration = Duration::from_secs(30);
const PREFIX: &str = "work-";

/// The directory. It goes with this value, and the lock is let go.
#[derive(Debug)]
pub(super) struct Scratch {
    directory: PathBuf,
    home: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Waits for the work tree to be free and makes the directory.
    pub(super) async fn new(repo: &Repository) -> Result<Self, CheckpointError> {
        let home = repo.git_dir().join("rookery");
        let place = home.clone();
        let lock = blocking(move || open_lock(&place)).await?;
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            if tokio::time::Instant::now() > deadline {
                return Err(CheckpointError::Busy);
            }
            tokio::time::sleep(LOOK).await;
        }
        sweep(repo, &home).await?;
        let made = blocking(move || {
            let name = format!("{PREFIX}{}-{:016x}", std::process::id(), fastrand::u64(..));
            let directory = home.join(name);
            let made = DirBuilder::new().mode(0o700).create(&directory);
            made.map_err(|error| GitError::file(&directory, error))?;
            Ok(Self { directory, home, _lock: lock })
        });
        Ok(made.await?)
    }

    /// A file of that name in the directory.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The directory itself.
    pub(super) fn path(&self) -> &Path {
        &self.directory
    }

    /// A file that outlives this piece of work.
    pub(super) fn kept(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let directory = std::mem::take(&mut self.directory);
        let remove = move || drop(std::fs::remove_dir_all(directory));
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}

/// Removes what a killed process left behind in the git directory.
///
/// # Errors
/// If another piece of work is under way, or the directory cannot be used.
pub async fn tidy(repo: &Repository) -> Result<(), CheckpointError> {
    Scratch::new(repo).await.map(drop)
}

/// The present moment by the clock of the file system, which need not be ours. Blocking.
pub(super) fn clock(directory: &Path) -> Result<Stamp, GitError> {
    let path = directory.join("clock");
    let stat = File::create(&path).and_then(|file| Ok(rustix::fs::fstat(&file)?));
    stat.map(|stat| Stamp::of(&stat)).map_err(|error| GitError::file(path, error))
}

fn open_lock(home: &Path) -> Result<File, GitError> {
    match DirBuilder::new().mode(0o700).create(home) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(GitError::file(home, error)),
    }
    let path = home.join("lock");
    let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
    lock.map_err(|error| GitError::file(path, error))
}

/// Removes what a killed process left behind. The lock is ours, so the process that made a directory that is
/// still there has ended; only a git that it started may go on for a moment.
async fn sweep(repo: &Repository, home: &Path) -> Result<(), GitError> {
    let place = home.to_owned();
    let left = blocking(move || {
        let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
        let is_ours = |name: &std::ffi::OsString| name.to_string_lossy().starts_with(PREFIX);
        Ok(entries.filter(|entry| is_ours(&entry.file_name())).collect::<Vec<_>>())
    });
    for entry in left.await? {
        // The name is drawn anew each time, so that no other process mentions it.
        let name = entry.file_name().to_string_lossy().into_owned();
        if !crate::wait_for_processes_naming(&name, ORPHANS).await {
            continue;
        }
        let objects = repo.common_dir().join("objects/pack");
        let crashes = repo.git_dir().to_owned();
        blocking(move || {
            let meta = entry.metadata();
            // Where the file system does not know when it was made, an hour is long enough.
            let about = |meta: &std::fs::Metadata| {
                Some(meta.modified().ok()? - Duration::from_secs(60 * 60))
            };
            let begun = meta.ok().and_then(|meta| meta.created().ok().or_else(|| about(&meta)));
            remove_half_made(&objects, &crashes, begun);
            let _ = std::fs::remove_dir_all(entry.path());
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// Removes packs that were being written since then and that no process has open, the marks by which
/// a dead import still keeps its pack, and its reports of having died.
fn remove_half_made(packs: &Path, crashes: &Path, since: Option<SystemTime>) {
    let is_since = |path: &Path| {
        let modified = std::fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
        modified.zip(since).is_some_and(|(modified, since)| modified >= since)
    };
    let all = |place: &Path| {
        let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| is_since(path)).collect::<Vec<_>>()
    };
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for path in all(packs) {
        let is_half = name(&path).starts_with("tmp_pack_") || name(&path).starts_with("tmp_idx_");
        let is_kept_by_dead = path.extension().is_some_and(|extension| extension == "keep")
            && std::fs::read(&path).is_ok_and(|text| text.starts_with(b"fast-import"));
        if (is_half || is_kept_by_dead) && !is_open(&path) {
            let _ = std::fs::remove_file(path);
        }
    }
    for path in all(crashes) {
        if name(&path).starts_with("fast_import_crash_") {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Whether a process that we can look at has this file open.
fn is_open(path: &Path) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let files = processes
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit()))
        .filter_map(|entry| std::fs::read_dir(entry.path().join("fd")).ok())
        .flat_map(|files| files.flatten());
    files.into_iter().any(|file| std::fs::read_link(file.path()).is_ok_and(|open| open == path))
}

/// When a file was last written to, in seconds and nanoseconds.
pub(super) type Modified = (i64, i64);

/// Copies a file with its time of change: git tells by it which entries it must not trust. None
/// if there is no such file. Blocking.
pub(super) fn copy_with_time(from: &Path, to: &Path) -> Result<Option<Modified>, GitError> {
    let modified = match rustix::fs::stat(from) {
        Ok(stat) => (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or_default()),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(GitError::file(from, error)),
    };
    std::fs::copy(from, to).map_err(|error| GitError::file(from, error))?;
    set_time(to, modified)?;
    Ok(Some(modified))
}

/// Says when a file was last written to. Blocking.
pub(super) fn set_time(path: &Path, (seconds, nanos): Modified) -> Result<(), GitError> {
    let time = Timespec { tv_sec: seconds, tv_nsec: nanos };
    let times = Timestamps { last_access: time, last_modification: time };
    rustix::fs::utimensat(CWD, path, &times, AtFlags::empty())
        .map_err(|error| GitError::file(path, error))
}
