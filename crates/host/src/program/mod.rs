//! Programs whose output is taken as it comes: nothing is dropped, and who does not read holds the
//! program up.
//!
//! A program gets a session of its own and pipes. It is killed with all that it started when
//! it is ended or when its last handle is dropped, and it is always reaped. What it left
//! running in the background after a regular end is neither waited for nor killed.

mod find;
mod pump;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin};
use tokio::sync::{Mutex, Notify, mpsc, watch};

use crate::child::{Inherits, Start};
use crate::pipes::{grace, reap};
use crate::script::tree::Tree;

pub use find::find_program;
pub use pump::MAX_CHUNK;

/// Pieces of output that may wait to be taken.
const MAX_CHUNKS: usize = 8;
/// Pieces of input that may wait to be read.
const MAX_INPUTS: usize = 16;
/// How large such a piece is at most.
const INPUT_PIECE: usize = 64 << 10;
/// How long a program may read nothing of its input before a writer gets an error.
const READ_PATIENCE: Duration = Duration::from_secs(1);

/// A program to run.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProgramCommand {
    /// The program and its arguments. A program without a slash is looked up in its own `PATH`.
    pub argv: Vec<OsString>,
    /// Its whole environment; nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Whether it gets input; otherwise it reads from `/dev/null`.
    pub has_input: bool,
}

impl std::fmt::Debug for ProgramCommand {
    // Values of variables may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProgramCommand").field("argv", &self.argv).finish_non_exhaustive()
    }
}

/// Which of its outputs a program wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramStream {
    /// Its standard output.
    Stdout,
    /// Its standard error.
    Stderr,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
}

/// A running program. Dropping it kills the program and all that it started.
#[derive(Debug)]
pub struct Program {
    chunks: mpsc::Receiver<(ProgramStream, Bytes)>,
    control: ProgramControl,
    _alive: mpsc::Sender<()>,
}

/// What is done to a program from elsewhere. Cheap to clone; does not keep it alive.
#[derive(Clone, Debug)]
pub struct ProgramControl {
    pid: u32,
    input: Arc<Mutex<Option<mpsc::Sender<Bytes>>>>,
    ended: watch::Receiver<Option<ProgramEnd>>,
    orders: Arc<Orders>,
}

/// How a program is ended.
#[derive(Debug, Default)]
struct Orders {
    ask: Notify,
    kill: Notify,
}

impl Program {
    /// Starts a program. Must be called inside of a tokio runtime with time and I/O.
    ///
    /// # Errors
    /// If it cannot be started, for the reason given.
    pub async fn start(command: ProgramCommand) -> Result<Self, String> {
        let program = command.argv.first().map(|name| name.to_string_lossy().into_owned());
        let program = program.ok_or("no program is named")?;
        // An executable can lie on a slow disk.
        let spawned = tokio::task::spawn_blocking(move || spawn(&command));
        let spawned = spawned.await.map_err(|_| "the runtime is ending".to_owned())?;
        let mut child = spawned.map_err(|reason| format!("cannot start {program}: {reason}"))?;
        let pid = child.id().unwrap_or_default();
        let (says_end, ended) = watch::channel(None);
        let (sender, chunks) = mpsc::channel(MAX_CHUNKS);
        pump::start(&mut child, &sender, &ended);
        let stdin = child.stdin.take();
        let (input, inputs) = mpsc::channel(MAX_INPUTS);
        let input = Arc::new(Mutex::new(stdin.is_some().then_some(input)));
        let orders = Arc::<Orders>::default();
        let (alive, abandoned) = mpsc::channel(1);
        let feeding = tokio::spawn(feed(stdin, inputs));
        tokio::spawn(attend(child, Arc::clone(&orders), feeding, says_end, abandoned));
        let control = ProgramControl { pid, input, ended, orders };
        Ok(Self { chunks, control, _alive: alive })
    }

    /// The next piece of output, at most [`MAX_CHUNK`] long. None when both outputs are closed, or
    /// a moment after its end when others hold them open.
    pub async fn next(&mut self) -> Option<(ProgramStream, Bytes)> {
        self.chunks.recv().await
    }

    /// What can be done to it from elsewhere.
    pub fn control(&self) -> ProgramControl {
        self.control.clone()
    }
}

impl ProgramControl {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How it ended, if it did.
    pub fn ended(&self) -> Option<ProgramEnd> {
        *self.ended.borrow()
    }

    /// Waits for its end.
    pub async fn wait(&self) -> ProgramEnd {
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await.ok().and_then(|end| *end);
        end.unwrap_or(ProgramEnd::Signaled(9))
    }

    /// Hands it bytes to read, while others wait as long as it reads.
    ///
    /// # Errors
    /// If its input is closed, or it reads nothing for a while.
    pub async fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let input = self.input.lock().await;
        let sender = input.as_ref().ok_or(WriteError::Closed)?;
        for piece in bytes.chunks(INPUT_PIECE) {
            match sender.send_timeout(Bytes::copy_from_slice(piece), READ_PATIENCE).await {
                Ok(()) => {}
                Err(mpsc::error::SendTimeoutError::Timeout(_)) => return Err(WriteError::Full),
                Err(mpsc::error::SendTimeoutError::Closed(_)) => return Err(WriteError::Closed),
            }
        }
        Ok(())
    }

    /// Ends its input once it has read what it was given. Closed already is as good.
    pub async fn close_input(&self) {
        self.input.lock().await.take();
    }

    /// Asks it and all that it started to end, kills them after a grace, and waits for the end.
    pub async fn end(&self) -> ProgramEnd {
        self.orders.ask.notify_one();
        self.wait().await
    }

    /// Kills it with all that it started, and waits for the end.
    pub async fn kill(&self) -> ProgramEnd {
        self.orders.kill.notify_one();
        self.wait().await
    }
}

/// Why a program did not get its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// It has no input, or no longer.
    #[error("the program's input is closed")]
    Closed,
    /// It does not read what it was given before.
    #[error("the program does not read its input")]
    Full,
}

fn spawn(command: &ProgramCommand) -> Result<Child, String> {
    if !command.cwd.is_dir() {
        // The kernel would only say that something is not there.
        return Err(format!("{} is not a directory", command.cwd.display()));
    }
    let start = Start {
        argv: &command.argv,
        env: &command.env,
        inherits: Inherits::Nothing,
        cwd: Some(&command.cwd),
        has_input: command.has_input,
        is_supervised: true,
        file_limit: None,
    };
    start.start().map_err(|error| error.to_string())
}

/// Looks after a program until it is reaped.
async fn attend(
    mut child: Child,
    orders: Arc<Orders>,
    feeding: tokio::task::JoinHandle<()>,
    says_end: watch::Sender<Option<ProgramEnd>>,
    mut abandoned: mpsc::Receiver<()>,
) {
    let mut tree = Tree::tagged(&child);
    let status = tokio::select! {
        status = child.wait() => status.ok(),
        () = orders.kill.notified() => kill(&mut child, &mut tree).await,
        // Its last handle is gone, so no exit is waited for.
        _ = abandoned.recv() => kill(&mut child, &mut tree).await,
        () = orders.ask.notified() => {
            tree.ask_to_end().await;
            // Not reaped yet, so that its number and its group's still mean it.
            tokio::select! {
                () = grace(&child) => {}
                () = orders.kill.notified() => {}
            }
            kill(&mut child, &mut tree).await
        }
    };
    tree.let_go();
    feeding.abort();
    says_end.send_replace(Some(end_of(status)));
}

async fn kill(child: &mut Child, tree: &mut Tree) -> Option<ExitStatus> {
    tree.kill().await;
    reap(child).await
}

fn end_of(status: Option<ExitStatus>) -> ProgramEnd {
    match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => ProgramEnd::Exited(code),
        Some((None, Some(signal))) => ProgramEnd::Signaled(signal),
        // Not gone in time after it was killed.
        _ => ProgramEnd::Signaled(9),
    }
}

async fn feed(stdin: Option<ChildStdin>, mut inputs: mpsc::Receiver<Bytes>) {
    let Some(mut stdin) = stdin else { return };
    while let Some(bytes) = inputs.recv().await {
        if stdin.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
