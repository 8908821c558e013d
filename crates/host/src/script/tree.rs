//! A program and everything that it started, to be killed as a whole.

use rustix::fd::OwnedFd;
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
};
use tokio::process::Child;

/// How often the table of processes is looked through for those that were just being born.
const ROUNDS: usize = 32;

/// Kills its processes when it is dropped, unless it was let go before.
pub(crate) struct Tree {
    root: Option<Pid>,
    strays: Vec<OwnedFd>,
}

impl Tree {
    /// The tree below a child that leads a process group.
    pub(crate) fn of(child: &Child) -> Self {
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        Self { root: pid.and_then(Pid::from_raw), strays: Vec::new() }
    }

    /// Forgets the processes: the root was reaped, so its number may mean another one soon.
    pub(crate) fn let_go(&mut self) {
        self.root = None;
        self.strays.clear();
    }

    /// Asks every process of the group to end, and remembers those that left the group: once the
    /// root is gone, they are no longer found below it.
    pub(crate) async fn ask_to_end(&mut self) {
        let Some(root) = self.root else { return };
        let ask = move || {
            let below = crate::descendants(root.as_raw_pid().cast_unsigned());
            let open = |pid: &u32| {
                let pid = i32::try_from(*pid).ok().and_then(Pid::from_raw)?;
                pidfd_open(pid, PidfdFlags::empty()).ok()
            };
            let strays = below.iter().filter_map(open).collect();
            let _ = kill_process_group(root, Signal::TERM);
            strays
        };
        self.strays = tokio::task::spawn_blocking(ask).await.unwrap_or_default();
    }

    /// Kills every process of the tree, off the runtime's threads. The root must not be reaped yet.
    pub(crate) async fn kill(&self) {
        let Some(root) = self.root else { return };
        let _ = tokio::task::spawn_blocking(move || kill_all(root)).await;
        for stray in &self.strays {
            let _ = pidfd_send_signal(stray, Signal::KILL);
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Only when the runtime itself ends, so there is no other thread to do it.
        if let Some(root) = self.root {
            kill_all(root);
        }
    }
}

/// Stops the processes before it kills them: whoever is stopped cannot start another one,
/// and whose parent still exists is still found below the root.
fn kill_all(root: Pid) {
    let _ = kill_process_group(root, Signal::STOP);
    let mut stopped: Vec<u32> = Vec::new();
    for _ in 0..ROUNDS {
        let mut found = crate::descendants(root.as_raw_pid().cast_unsigned());
        found.retain(|pid| !stopped.contains(pid));
        if found.is_empty() {
            break;
        }
        found.iter().for_each(|pid| signal(*pid, Signal::STOP));
        stopped.append(&mut found);
    }
    stopped.iter().for_each(|pid| signal(*pid, Signal::KILL));
    let _ = kill_process_group(root, Signal::KILL);
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // Gone already is as good as killed.
        let _ = kill_process(pid, signal);
    }
}
