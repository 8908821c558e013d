//! A program whose pipes belong to the caller, while its lifetime is managed here.
//!
//! It is killed with all that it started when it is ended, when its last handle is dropped, and
//! also when it ends by itself and leaves others behind. It is always reaped.

use std::sync::Arc;

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{Notify, mpsc, watch};

use super::{PipeCommand, kill, reaped, spawn};
use crate::script::tree::Tree;

/// A running program that is spoken with. Dropping it kills the program and all that it started.
pub struct PipedProgram {
    id: u32,
    ended: watch::Receiver<Option<i32>>,
    stop: Arc<Notify>,
    _alive: mpsc::Sender<()>,
}

/// The three pipes of a [`PipedProgram`].
#[derive(Debug)]
pub struct PartnerPipes {
    /// What it reads.
    pub stdin: ChildStdin,
    /// What it writes.
    pub stdout: ChildStdout,
    /// What it complains about.
    pub stderr: ChildStderr,
}

impl PipedProgram {
    /// Starts a program. Must be called inside of a tokio runtime with time and I/O.
    pub async fn start(command: PipeCommand) -> Result<(Self, PartnerPipes), String> {
        let program = command.argv.first().map(|name| name.to_string_lossy().into_owned());
        let program = program.ok_or("no program is named")?;
        // An executable can lie on a slow disk.
        let spawned = tokio::task::spawn_blocking(move || spawn(&command));
        let child = spawned.await.map_err(|_| "the runtime is ending".to_owned())?;
        let mut child = child.map_err(|error| format!("cannot start {program}: {error}"))?;
        let tree = Tree::of(&child);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr), Some(id)) =
            (pipes.0, pipes.1, pipes.2, child.id())
        else {
            return Err(format!("{program} has no pipes"));
        };
        let (says_end, ended) = watch::channel(None);
        let (alive, abandoned) = mpsc::channel(1);
        let stop = Arc::new(Notify::new());
        tokio::spawn(attend(child, tree, Arc::clone(&stop), says_end, abandoned));
        let partner = Self { id, ended, stop, _alive: alive };
        Ok((partner, PartnerPipes { stdin, stdout, stderr }))
    }

    /// Its process id, which may mean another process once it has ended.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// How it ended, once it did: its code, or minus the signal.
    pub fn ended(&self) -> Option<i32> {
        *self.ended.borrow()
    }

    /// Waits until it and all that it started are gone. Does not keep it alive.
    pub fn wait(&self) -> impl Future<Output = i32> + Send + 'static {
        let mut ended = self.ended.clone();
        async move {
            let code = ended.wait_for(Option::is_some).await.ok().and_then(|code| *code);
            code.unwrap_or(-1)
        }
    }

    /// Ends it with all that it started: asks politely, kills after a grace, and waits for the end.
    pub async fn end(&self) -> i32 {
        self.stop.notify_one();
        self.wait().await
    }
}

impl std::fmt::Debug for PipedProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PipedProgram")
            .field("id", &self.id)
            .field("ended", &self.ended())
            .finish_non_exhaustive()
    }
}

/// Looks after a program until it is reaped.
async fn attend(
    mut child: Child,
    mut tree: Tree,
    stop: Arc<Notify>,
    says_end: watch::Sender<Option<i32>>,
    mut abandoned: mpsc::Receiver<()>,
) {
    let code = tokio::select! {
        // Not reaped yet, so that its number and its group's still mean it.
        () = exit_of(&child) => {
            tree.kill().await;
            reaped(&mut child).await
        }
        () = stop.notified() => kill(&mut child, &mut tree).await,
        // Its last handle is gone, so no exit is waited for.
        _ = abandoned.recv() => {
            tree.kill().await;
            reaped(&mut child).await
        }
    };
    tree.let_go();
    says_end.send_replace(Some(code));
}

/// Waits until a child has ended, without reaping it.
async fn exit_of(child: &Child) {
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    let Some(handle) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return std::future::pending().await;
    };
    #[expect(unsafe_code, reason = "the runtime has no other way to wait without reaping")]
    // SAFETY: an owned descriptor stays open, and the same one, until the registration is dropped.
    let handle = unsafe { AsyncFd::register_with_interest(handle, Interest::READABLE) };
    let Ok(handle) = handle else { return std::future::pending().await };
    let _ = handle.readable().await;
}
