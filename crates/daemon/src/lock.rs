//! One daemon per home: a lock that the kernel lets go of with the process.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::fs::{FlockOperation, flock};

/// How long a lock may take to be let go by a process that is dying.
const PATIENCE: Duration = Duration::from_millis(500);

/// Held for the life of the daemon.
pub(crate) struct DaemonLock(#[expect(dead_code, reason = "its being open is the lock")] File);

/// Takes the lock, or says who has it.
pub(crate) fn acquire(path: &Path) -> anyhow::Result<DaemonLock> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    if !is_taken(&file)? {
        let mut holder = String::new();
        let _ = file.read_to_string(&mut holder);
        let holder = holder.trim();
        let who = if holder.is_empty() { String::new() } else { format!(" (process {holder})") };
        bail!("a daemon already runs for this home{who}; see `rookery status`");
    }
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())?;
    Ok(DaemonLock(file))
}

/// Takes the lock. One who was just killed lets go of it in a moment, so that is waited for.
fn is_taken(file: &File) -> anyhow::Result<bool> {
    if flock(file, FlockOperation::NonBlockingLockExclusive).is_ok() {
        return Ok(true);
    }
    let (waiting, (sender, taken)) = (file.try_clone()?, std::sync::mpsc::channel());
    // Whoever is refused ends, and so does this thread.
    std::thread::Builder::new().name("lock".to_owned()).spawn(move || {
        let _ = sender.send(flock(&waiting, FlockOperation::LockExclusive).is_ok());
    })?;
    Ok(taken.recv_timeout(PATIENCE).unwrap_or(false))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_second_daemon_is_refused_and_told_why() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("daemon.lock");
        let first = super::acquire(&path).unwrap();
        let error = super::acquire(&path).err().unwrap().to_string();
        assert!(error.contains(&std::process::id().to_string()), "{error}");
        drop(first);
        assert!(super::acquire(&path).is_ok());
    }

    #[test]
    fn a_lock_that_is_let_go_in_a_moment_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("daemon.lock");
        let first = super::acquire(&path).unwrap();
        let second = std::thread::spawn({
            let path = path.clone();
            move || super::acquire(&path).is_ok()
        });
        drop(first);
        assert!(second.join().unwrap());
    }
}
