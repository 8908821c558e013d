//! Orphans: what our programs started and left behind comes to us instead of to init, so that it can
//! still be known where it comes from. A process that adopts has to reap as well, and must not reap what others
//! of this process wait for.

use std::collections::HashSet;
use std::io;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, waitpid};
use tokio::signal::unix::{SignalKind, signal};

use super::{Stat, all};

/// Ends that come close together are looked at together.
const GATHER: Duration = Duration::from_millis(200);

/// Children that this process started itself and waits for.
static STARTED: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

/// Whether orphans are adopted.
static ADOPTING: Mutex<bool> = Mutex::new(false);

/// Starts a child that is waited for by its owner, never as an orphan.
pub(crate) fn start_child(
    command: &mut tokio::process::Command,
) -> io::Result<tokio::process::Child> {
    // Held over the start, so that a child that ends at once is not taken for an orphan.
    let mut started = STARTED.lock();
    let child = command.spawn()?;
    if let (Some(started), Some(pid)) = (started.as_mut(), child.id()) {
        started.insert(pid);
    }
    Ok(child)
}

/// Runs `start`, which starts a process that is to outlive this one and must not be adopted by it.
pub fn let_orphans_go<T>(start: impl FnOnce() -> T) -> T {
    // One at a time: the first one back would adopt for the other as well.
    let adopting = ADOPTING.lock();
    if *adopting {
        let _ = set_child_subreaper(None);
    }
    let started = start();
    if *adopting {
        let _ = set_child_subreaper(Some(getpid()));
    }
    started
}

/// The promise to reap orphans.
#[derive(Debug)]
pub struct Orphans(());

impl Orphans {
    /// Makes this process the parent of orphans below it. Must be called before the first child is
    /// started, or that one's end may be taken for an orphan's.
    ///
    /// # Errors
    /// If the system does not let us.
    pub fn adopt() -> io::Result<Self> {
        STARTED.lock().get_or_insert_default();
        set_child_subreaper(Some(getpid()))?;
        *ADOPTING.lock() = true;
        Ok(Self(()))
    }

    /// Reaps orphans until it is dropped.
    ///
    /// # Errors
    /// If ends cannot be followed.
    pub async fn reap(self) -> io::Result<()> {
        let mut ends = signal(SignalKind::child())?;
        while ends.recv().await.is_some() {
            tokio::time::sleep(GATHER).await;
            // On a thread that may block: `/proc` is looked through.
            let _ = tokio::task::spawn_blocking(sweep).await;
        }
        Ok(())
    }
}

fn sweep() {
    let mut started = STARTED.lock();
    let Some(started) = started.as_mut() else { return };
    let own = getpid().as_raw_pid();
    let children: Vec<Stat> = all().into_iter().filter(|stat| stat.parent == own).collect();
    // One that was reaped gives its number back, which an orphan may get.
    started.retain(|pid| children.iter().any(|child| child.pid.unsigned_abs() == *pid));
    let is_orphan = |child: &&Stat| !started.contains(&child.pid.unsigned_abs());
    for orphan in children.iter().filter(|child| child.is_dead).filter(is_orphan) {
        let reaped = Pid::from_raw(orphan.pid).map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
        tracing::trace!(pid = orphan.pid, ?reaped, "an orphan has ended");
    }
}
