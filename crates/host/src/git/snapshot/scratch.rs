//! A private directory inside of the git directory for one piece of work, and the lock that keeps
//! two pieces of work on the same work tree apart.

use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FlockOperation, Timespec, Timestamps};

use super::CheckpointError;
use super::cache::Stamp;
use crate::git::run::blocking;
use crate::git::{GitError, Repository};

/// How long another piece of work is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether it ended.
const LOOK: Duration = Duration::from_millis(10);
/// What a crash left behind goes after this long.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);
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
        let made = blocking(move || {
            sweep(&home);
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

fn sweep(home: &Path) {
    let Ok(entries) = std::fs::read_dir(home) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let age = entry.metadata().and_then(|meta| meta.modified()).ok();
        let is_stale = age.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > STALE);
        if is_ours && is_stale {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
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
