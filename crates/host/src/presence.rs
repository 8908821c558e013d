//! Tells when files may have gone or come, by names alone: what is written to files in the same directories is no one's
//! news here, so a busy database beside them costs nothing. [`Watch`](crate::Watch) is for contents.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A watch over the names of some files, as their directories are when it begins. Make a new one after each change,
/// before looking at the files.
pub struct Presence(AsyncFd<OwnedFd>);

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
        for directory in paths.iter().filter_map(|path| nearest(path)) {
            match inotify::add_watch(&kernel, directory, names | itself | WatchFlags::ONLYDIR) {
                Ok(_) => count += 1,
                Err(error) => failure = Some(error),
            }
        }
        match failure {
            Some(error) if count == 0 => Err(error.into()),
            _ => Ok(Self(register(kernel)?)),
        }
    }

    /// Waits until a name came or went.
    ///
    /// # Errors
    /// If the watch broke down.
    pub async fn changed(&self) -> io::Result<()> {
        let mut ready = self.0.readable().await?;
        ready.clear_ready();
        Ok(())
    }
}

/// The directory that a path is in, or the nearest one above it that exists.
fn nearest(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|directory| directory.is_dir())
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
    async fn names_that_go_and_come_are_told_and_contents_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a/one");
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(&file, "").unwrap();
        let paths = [file.clone()];
        let presence = Presence::watch(&paths).unwrap();
        fs::write(&file, "more").unwrap();
        let early = tokio::time::timeout(Duration::ZERO, presence.changed()).await;
        assert!(early.is_err(), "writing is no news");
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
