//! Tells when files may have gone or come, by names alone: what is written to files in the same directories is no one's
//! news here, nor are other names, so a busy database beside them costs nothing, and a busy `/tmp` little.
//! [`Watch`](crate::Watch) is for contents.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A watch over the names of some files, as their directories are when it begins. Make a new one after each change,
/// before looking at the files.
pub struct Presence {
    kernel: AsyncFd<OwnedFd>,
    /// What may come or go in the directories.
    names: HashSet<OsString>,
}

/// Bytes of events read at a time.
const EVENTS: usize = 4096;

impl Presence {
    /// Begins to watch. What does not exist is awaited in the nearest directory above it that does. Must be called
    /// inside of a tokio runtime with I/O.
    ///
    /// # Errors
    /// If the kernel has no watch left to give.
    pub fn watch(paths: &[PathBuf]) -> io::Result<Self> {
        let kernel = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let names = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE;
        let itself = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        let mut failure = None;
        let mut count = 0;
        let mut awaited = HashSet::new();
        for (directory, name) in paths.iter().filter_map(|path| nearest(path)) {
            awaited.insert(name);
            match inotify::add_watch(&kernel, directory, names | itself | WatchFlags::ONLYDIR) {
                Ok(_) => count += 1,
                Err(error) => failure = Some(error),
            }
        }
        match failure {
            Some(error) if count == 0 => Err(error.into()),
            _ => Ok(Self { kernel: register(kernel)?, names: awaited }),
        }
    }

    /// Waits until one of the names came or went.
    ///
    /// # Errors
    /// If the watch broke down.
    pub async fn changed(&self) -> io::Result<()> {
        loop {
            let mut ready = self.kernel.readable().await?;
            if self.has_news()? {
                return Ok(());
            }
            ready.clear_ready();
        }
    }

    /// Reads what there is to read, up to the first event about one of the names or about a directory itself.
    fn has_news(&self) -> io::Result<bool> {
        let mut buffer = [MaybeUninit::uninit(); EVENTS];
        let mut events = inotify::Reader::new(self.kernel.get_ref(), &mut buffer);
        loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            if name.is_none_or(|name| self.names.contains(name)) {
                return Ok(true);
            }
        }
    }
}

/// The directory that a path is in, or the nearest one above it that exists, and what is awaited there.
fn nearest(path: &Path) -> Option<(&Path, OsString)> {
    let mut name = path.file_name()?;
    for directory in path.ancestors().skip(1) {
        if directory.is_dir() {
            return Some((directory, name.to_owned()));
        }
        name = directory.file_name()?;
    }
    None
}

#[expect(unsafe_code, reason = "registering a descriptor is a promise about its lifetime")]
fn register(kernel: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is owned by what is registered, which gives out the same one as long as it lives.
    unsafe { AsyncFd::register_with_interest(kernel, Interest::READABLE) }.map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    async fn next_change(presence: &Presence) {
        let limit = Duration::from_secs(30);
        tokio::time::timeout(limit, presence.changed()).await.expect("it is told").unwrap();
    }

    #[tokio::test]
    async fn names_that_go_and_come_are_reported_and_contents_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a/one");
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(&file, "").unwrap();
        let paths = [file.clone()];
        let presence = Presence::watch(&paths).unwrap();
        fs::write(&file, "more").unwrap();
        let early = tokio::time::timeout(Duration::ZERO, presence.changed()).await;
        assert!(early.is_err(), "writing is no news");
        fs::write(dir.path().join("a/other"), "").unwrap();
        fs::rename(dir.path().join("a/other"), dir.path().join("a/third")).unwrap();
        let early = tokio::time::timeout(Duration::ZERO, presence.changed()).await;
        assert!(early.is_err(), "other names are no news");
        fs::remove_file(dir.path().join("a/third")).unwrap();
        fs::remove_file(&file).unwrap();
        next_change(&presence).await;
        let presence = Presence::watch(&paths).unwrap();
        fs::remove_dir(dir.path().join("a")).unwrap();
        next_change(&presence).await;
        let presence = Presence::watch(&paths).unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        next_change(&presence).await;
        let presence = Presence::watch(&paths).unwrap();
        fs::write(&file, "").unwrap();
        next_change(&presence).await;
    }
}
