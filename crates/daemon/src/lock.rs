//! One daemon per store: a lock that the kernel lets go of with the process.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use rookery_trust::TrustedDir;
use rustix::fs::{FlockOperation, flock};

use crate::running::has_open;

/// How long a lock may take to be let go by a daemon that is there, but may be ending.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long it may take where the daemon is gone: a program that it was just starting has the lock until it is
/// that program, which a busy machine puts off.
const LONG_PATIENCE: Duration = Duration::from_secs(5);

/// The daemon's lock, beside the store. Another of this name lies in the runtime directory, where former versions
/// look for it.
pub(crate) const DAEMON_LOCK: &str = "daemon.lock";

/// Held for the life of the daemon.
#[derive(Debug)]
pub(crate) struct DaemonLock {
    /// Its being open is the lock.
    file: File,
    path: PathBuf,
}

impl DaemonLock {
    /// Where others look for it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether others still find this very lock.
    pub(crate) fn is_in_place(&self) -> bool {
        let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
        let here = self.file.metadata().map(identity);
        let there = self.path.symlink_metadata().map(identity);
        matches!((here, there), (Ok(here), Ok(there)) if here == there)
    }
}

/// Takes the lock, or says who has it.
pub(crate) fn acquire(dir: &TrustedDir, name: &str) -> anyhow::Result<DaemonLock> {
    let mut file = dir.open(name)?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() && !is_let_go(&file)? {
        let holder = holder(&file);
        let who = if holder.is_empty() { String::new() } else { format!(" (process {holder})") };
        bail!("a daemon is already running for this home{who}; see `rookery status`");
    }
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())?;
    Ok(DaemonLock { file, path: dir.path().join(name) })
}

/// What the lock says of the process that has it.
fn holder(mut file: &File) -> String {
    let mut holder = String::new();
    let _ = file.rewind().and_then(|()| file.take(64).read_to_string(&mut holder));
    holder.trim().to_owned()
}

/// Takes the lock if it is let go of in time. One who was just killed lets go of it in a moment.
fn is_let_go(file: &File) -> anyhow::Result<bool> {
    let found = file.metadata()?;
    let daemon = holder(file).parse().ok();
    let is_there = daemon.is_some_and(|pid| has_open(pid, (found.dev(), found.ino())));
    let patience = if is_there { PATIENCE } else { LONG_PATIENCE };
    let (waiting, (sender, taken)) = (file.try_clone()?, std::sync::mpsc::channel());
    // A process that is refused exits, and so does this thread.
    std::thread::Builder::new().name("lock".to_owned()).spawn(move || {
        let _ = sender.send(flock(&waiting, FlockOperation::LockExclusive).is_ok());
    })?;
    Ok(taken.recv_timeout(patience).unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir() -> (tempfile::TempDir, TrustedDir) {
        let temporary = tempfile::tempdir().unwrap();
        let dir = TrustedDir::private(temporary.path()).unwrap();
        (temporary, dir)
    }

    #[test]
    fn the_second_daemon_is_refused_and_told_why() {
        let (_temporary, dir) = dir();
        let first = acquire(&dir, "lock").unwrap();
        let error = acquire(&dir, "lock").err().unwrap().to_string();
        assert!(error.contains(&std::process::id().to_string()), "{error}");
        drop(first);
        assert!(acquire(&dir, "lock").is_ok());
    }

    #[test]
    fn a_lock_that_is_let_go_in_a_moment_is_waited_for() {
        let (temporary, dir) = dir();
        let first = acquire(&dir, "lock").unwrap();
        let second = std::thread::spawn({
            let dir = TrustedDir::private(temporary.path()).unwrap();
            move || acquire(&dir, "lock").is_ok()
        });
        drop(first);
        assert!(second.join().unwrap());
    }

    #[test]
    fn attack_a_planted_lock_is_not_written_through() {
        let (temporary, dir) = dir();
        let victim = temporary.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, temporary.path().join("lock")).unwrap();
        std::fs::hard_link(&victim, temporary.path().join("twin")).unwrap();
        for name in ["lock", "twin"] {
            let error = acquire(&dir, name).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    }
}
