//! Programs that run on while others read what they write and write what they read.
//!
//! A program gets a session of its own and pipes. What it writes is kept in bounded buffers,
//! whether or not they are read. It is killed with all that it started when it is asked to end
//! or when its last handle is dropped, and it is always reaped.

mod partner;
mod ring;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::timeout;

use crate::child::{Inherits, Start};
use crate::script::tree::Tree;
pub use partner::{PartnerPipes, PipedProgram};
use ring::Ring;

/// How long a program may take to end when it was asked to.
const GRACE: Duration = Duration::from_millis(250);
/// How long what a program left in its pipes is waited for after its end; others may hold them open.
const DRAIN_LIMIT: Duration = Duration::from_millis(250);
/// How long a killed program may take to be gone before we stop waiting for it.
const REAP_LIMIT: Duration = Duration::from_secs(1);
/// How many pieces of input may wait to be read.
const MAX_INPUTS: usize = 64;

/// A program to run on pipes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipeCommand {
    /// The program and its arguments. A program without a slash is looked up in `PATH`.
    pub argv: Vec<OsString>,
    /// Variables set over what is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Variables that are not inherited. What `env` sets stays set.
    pub env_remove: Vec<OsString>,
    /// Where it runs; our own directory if none is named.
    pub cwd: Option<PathBuf>,
}

/// Which of its outputs is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipeStream {
    /// Its standard output.
    Stdout,
    /// Its standard error.
    Stderr,
    /// Both, in the order in which they came.
    Both,
}

/// A piece of what a program wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipeOutput {
    /// The bytes after the offset that was asked for.
    pub bytes: Vec<u8>,
    /// Where the next ones begin.
    pub next: u64,
    /// Bytes in between that are no longer kept.
    pub lost: u64,
    /// How the program ended, once it did: its code, or minus the signal.
    pub ended: Option<i32>,
}

/// A running program. Dropping it kills the program and all that it started.
pub struct Pipes {
    buffers: Arc<Mutex<Buffers>>,
    input: mpsc::Sender<Input>,
    ended: watch::Receiver<Option<i32>>,
    stop: Arc<Notify>,
    _alive: mpsc::Sender<()>,
}

/// Bytes for its standard input, or the end of it.
enum Input {
    Bytes(Vec<u8>),
    End,
}

#[derive(Default)]
struct Buffers {
    stdout: Ring,
    stderr: Ring,
    both: Ring,
}

impl Pipes {
    /// Starts a program. Must be called inside of a tokio runtime with time and I/O.
    pub async fn start(command: PipeCommand) -> Result<Self, String> {
        let program = command.argv.first().map(|name| name.to_string_lossy().into_owned());
        let program = program.ok_or("no program is named")?;
        // An executable can lie on a slow disk.
        let spawned = tokio::task::spawn_blocking(move || spawn(&command));
        let child = spawned.await.map_err(|_| "the runtime is ending".to_owned())?;
        let child = child.map_err(|error| format!("cannot start {program}: {error}"))?;
        let buffers = Arc::new(Mutex::new(Buffers::default()));
        let (input, inputs) = mpsc::channel(MAX_INPUTS);
        let (says_end, ended) = watch::channel(None);
        let (alive, abandoned) = mpsc::channel(1);
        let stop = Arc::new(Notify::new());
        let shared = (buffers.clone(), stop.clone());
        tokio::spawn(attend(child, shared, inputs, says_end, abandoned));
        Ok(Self { buffers, input, ended, stop, _alive: alive })
    }

    /// What it has written to one of its outputs after an offset.
    pub fn read(&self, stream: PipeStream, offset: u64) -> PipeOutput {
        // Asked before the buffers are: what it wrote last is in them by then.
        let ended = *self.ended.borrow();
        let buffers = self.buffers.lock();
        let ring = match stream {
            PipeStream::Stdout => &buffers.stdout,
            PipeStream::Stderr => &buffers.stderr,
            PipeStream::Both => &buffers.both,
        };
        let (bytes, next, lost) = ring.after(offset);
        PipeOutput { bytes, next, lost, ended }
    }

    /// Waits until it has ended and all that it wrote is there to be read.
    pub async fn wait(&self) -> i32 {
        let mut ended = self.ended.clone();
        let code = ended.wait_for(Option::is_some).await.ok().and_then(|code| *code);
        code.unwrap_or(-1)
    }

    /// Hands it bytes to read, or fails if it has ended or does not read what it was given before.
    pub fn write(&self, bytes: Vec<u8>) -> Result<(), String> {
        self.send(Input::Bytes(bytes))
    }

    /// Ends its standard input.
    pub fn close_input(&self) -> Result<(), String> {
        self.send(Input::End)
    }

    fn send(&self, input: Input) -> Result<(), String> {
        self.input.try_send(input).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => "the program does not read its input".into(),
            mpsc::error::TrySendError::Closed(_) => "the program's input is closed".into(),
        })
    }

    /// Ends it with all that it started: asks politely, kills after a grace, and waits for the end.
    pub async fn end(&self) -> i32 {
        self.stop.notify_one();
        self.wait().await
    }
}

impl std::fmt::Debug for Pipes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipes").field("ended", &*self.ended.borrow()).finish_non_exhaustive()
    }
}

fn spawn(command: &PipeCommand) -> std::io::Result<Child> {
    let start = Start {
        argv: &command.argv,
        env: &command.env,
        inherits: Inherits::AllBut(&command.env_remove),
        cwd: command.cwd.as_deref(),
        has_input: true,
        is_supervised: true,
        file_limit: None,
    };
    start.start()
}

/// Looks after a program until it is reaped.
async fn attend(
    mut child: Child,
    (buffers, stop): (Arc<Mutex<Buffers>>, Arc<Notify>),
    inputs: mpsc::Receiver<Input>,
    says_end: watch::Sender<Option<i32>>,
    mut abandoned: mpsc::Receiver<()>,
) {
    let mut tree = Tree::tagged(&child);
    let out = pump(child.stdout.take(), buffers.clone(), |buffers| &mut buffers.stdout);
    let err = pump(child.stderr.take(), buffers, |buffers| &mut buffers.stderr);
    let mut pumps = std::pin::pin!(async { tokio::join!(out, err) });
    let feeding = tokio::spawn(feed(child.stdin.take(), inputs));
    let mut are_pumps_done = false;
    let code = loop {
        tokio::select! {
            status = child.wait() => break code(status),
            () = stop.notified() => break kill(&mut child, &mut tree).await,
            // Its last handle is gone, so no exit is waited for.
            _ = abandoned.recv() => {
                tree.kill().await;
                break reaped(&mut child).await;
            }
            _ = &mut pumps, if !are_pumps_done => are_pumps_done = true,
        }
    };
    tree.let_go();
    feeding.abort();
    if !are_pumps_done {
        let _ = timeout(DRAIN_LIMIT, pumps).await;
    }
    says_end.send_replace(Some(code));
}

/// Asks a program to end, and kills it with all that it started when it does not, or when it does
/// but others stay behind.
async fn kill(child: &mut Child, tree: &mut Tree) -> i32 {
    tree.ask_to_end().await;
    // Not reaped yet, so that its number and its group's still mean it.
    grace(child).await;
    tree.kill().await;
    reaped(child).await
}

/// Waits until a child has ended, or the grace is over, without reaping it.
pub(crate) async fn grace(child: &Child) {
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    let Some(handle) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return;
    };
    let wait = move || {
        let limit = Timespec { tv_sec: 0, tv_nsec: GRACE.subsec_nanos().into() };
        let mut ended = [PollFd::new(&handle, PollFlags::IN)];
        let _ = retry_on_intr(|| poll(&mut ended, Some(&limit)));
    };
    let _ = tokio::task::spawn_blocking(wait).await;
}

async fn reaped(child: &mut Child) -> i32 {
    reap(child).await.map_or(-9, |status| code(Ok(status)))
}

/// Waits for a child that was killed; none if it takes too long.
pub(crate) async fn reap(child: &mut Child) -> Option<ExitStatus> {
    // Beyond this the runtime reaps it, whenever the kernel lets it go.
    timeout(REAP_LIMIT, child.wait()).await.ok()?.ok()
}

fn code(status: std::io::Result<ExitStatus>) -> i32 {
    let Ok(status) = status else { return -1 };
    status.code().unwrap_or_else(|| -status.signal().unwrap_or(1))
}

/// Reads one output to its end into its own buffer and into that of both.
async fn pump<P: AsyncRead + Unpin>(
    pipe: Option<P>,
    buffers: Arc<Mutex<Buffers>>,
    own: fn(&mut Buffers) -> &mut Ring,
) {
    let Some(mut pipe) = pipe else { return };
    let mut chunk = vec![0; 16 << 10];
    while let Ok(got @ 1..) = pipe.read(&mut chunk).await {
        let mut buffers = buffers.lock();
        own(&mut buffers).push(&chunk[..got]);
        buffers.both.push(&chunk[..got]);
    }
}

async fn feed(stdin: Option<ChildStdin>, mut inputs: mpsc::Receiver<Input>) {
    let Some(mut stdin) = stdin else { return };
    while let Some(Input::Bytes(bytes)) = inputs.recv().await {
        if stdin.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
