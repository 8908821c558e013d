//! A program and everything that it started, to be killed as a whole.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::Child;

use crate::{ProcessTag, Strays};

/// How often the table of processes is looked through for those that were just being born.
const ROUNDS: usize = 32;

/// Kills its processes when it is dropped, unless it was let go before.
pub(crate) struct Tree {
    root: Option<Pid>,
    strays: Option<Strays>,
    tag: Option<ProcessTag>,
}

impl Tree {
    /// The tree below a child that leads a process group.
    pub(crate) fn of(child: &Child) -> Self {
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        Self { root: pid.and_then(Pid::from_raw), strays: None, tag: None }
    }

    /// The same of a child that was just started with its own tag.
    pub(crate) fn tagged(child: &Child) -> Self {
        let mut tree = Self::of(child);
        tree.tag = child.id().and_then(ProcessTag::from_pid);
        tree
    }

    /// Forgets the processes: the root was reaped, so its number may mean another one soon.
    pub(crate) fn let_go(&mut self) {
        self.root = None;
        self.strays = None;
        self.tag = None;
    }

    /// Asks every process of the group to end, and remembers those that left the group: once the
    /// root is gone, they are no longer found below it.
    pub(crate) async fn ask_to_end(&mut self) {
        let Some(root) = self.root else { return };
        let ask = move || {
            // Stopped, they start nothing that would be missed; they are asked when they go on.
            let _ = kill_process_group(root, Signal::STOP);
            let strays = Strays::of(root.as_raw_pid().cast_unsigned());
            let _ = kill_process_group(root, Signal::TERM);
            let _ = kill_process_group(root, Signal::CONT);
            strays
        };
        self.strays = tokio::task::spawn_blocking(ask).await.ok();
    }

    /// Kills every process of the tree, off the runtime's threads. The root must not be reaped yet.
    pub(crate) async fn kill(&mut self) {
        let Some(root) = self.root else { return };
        let (strays, tag) = (self.strays.take(), self.tag.take());
        let kill = move || {
            kill_all(root);
            if let Some(strays) = strays {
                strays.kill();
            }
            tag.map(|tag| tag.kill())
        };
        let _ = tokio::task::spawn_blocking(kill).await;
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Only when the runtime itself ends, so there is no other thread to do it.
        if let Some(root) = self.root {
            kill_all(root);
        }
        if let Some(tag) = &self.tag {
            tag.kill();
        }
    }
}

/// Stops the processes before it kills them: a stopped process cannot start another one,
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
