//! Runs a program to its end within bounds of time and output, and tells how it ended.
//!
//! The program gets a session of its own. When it takes too long, says too much, or
//! its caller is cancelled, everything it started is killed and it is reaped.
//! Starting programs and looking through `/proc` happen off the runtime's threads.

mod output;
pub(crate) mod tree;

use std::convert::Infallible;
use std::ffi::OsString;
use std::future::pending;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use crate::child::{Inherits, Start};
use output::Collected;
use tree::Tree;

/// How long a killed program may take to be gone before we stop waiting for it.
const REAP_LIMIT: Duration = Duration::from_secs(1);

/// A program to run, and the bounds it has to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The program and its arguments. A program without a slash is looked up in `PATH`.
    pub argv: Vec<OsString>,
    /// Variables set over what is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Variables that are not inherited. What `env` sets stays set.
    pub env_remove: Vec<OsString>,
    /// Where it runs; our own directory if none is named.
    pub cwd: Option<PathBuf>,
    /// What it reads from its standard input, before the end of it.
    pub stdin: Vec<u8>,
    /// How long it may take in all.
    pub timeout: Duration,
    /// How many bytes it may write to its standard output.
    pub stdout_limit: usize,
    /// How many bytes it may write to its standard error.
    pub stderr_limit: usize,
    /// How many bytes it may write into one file; as many as we may ourselves if none are named.
    pub file_limit: Option<u64>,
}

impl Script {
    /// A script with the usual bounds: 5 s, 1 MiB of output and 256 KiB of complaints.
    pub fn new(argv: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            env_remove: Vec::new(),
            cwd: None,
            stdin: Vec::new(),
            timeout: Duration::from_secs(5),
            stdout_limit: 1 << 20,
            stderr_limit: 256 << 10,
            file_limit: None,
        }
    }

    /// Runs it. Dropping the future kills the program and all that it started.
    ///
    /// The result comes when the program itself ends: what it left running in the background
    /// is not waited for and, after a regular end, not killed.
    /// Must be called inside of a tokio runtime with time and I/O.
    pub async fn run(self) -> Outcome {
        let (alive, abandoned) = oneshot::channel::<()>();
        // A task of its own, so that the program is reaped even if the caller is cancelled.
        let task = tokio::spawn(supervise(self, abandoned));
        let outcome = task.await;
        drop(alive);
        outcome.unwrap_or_else(|_| Outcome::failed("the runtime is ending".into()))
    }
}

/// What came of running a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What it wrote to its standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// What it wrote to its standard error, up to the limit.
    pub stderr: Vec<u8>,
    /// The last line that says something on its standard error, without control characters.
    pub last_error_line: Option<String>,
}

impl Outcome {
    /// True if it ended by itself with status 0.
    pub fn is_success(&self) -> bool {
        self.end == End::Exited(0)
    }

    /// Why it failed, in words for people: its last line of complaint if it ended by itself,
    /// otherwise what was done to it. None if it did not fail.
    pub fn failure(&self) -> Option<String> {
        match (&self.end, &self.last_error_line) {
            (End::Exited(0), _) => None,
            (End::Exited(_) | End::Signaled(_), Some(line)) => Some(line.clone()),
            (end, _) => Some(end.to_string()),
        }
    }

    fn failed(reason: String) -> Self {
        let end = End::Failed(reason);
        Self { end, stdout: Vec::new(), stderr: Vec::new(), last_error_line: None }
    }
}

/// How a script ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, which did not come from us.
    Signaled(i32),
    /// It took longer than it may and was killed.
    TimedOut,
    /// It wrote more than it may and was killed.
    TooMuchOutput,
    /// It could not be started or watched, for this reason.
    Failed(String),
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit status {code}"),
            Self::Signaled(signal) => write!(f, "killed by signal {signal}"),
            Self::TimedOut => write!(f, "timed out"),
            Self::TooMuchOutput => write!(f, "too much output"),
            Self::Failed(reason) => write!(f, "{reason}"),
        }
    }
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exited(code),
            (None, signal) => Self::Signaled(signal.unwrap_or_default()),
        }
    }
}

/// Why a script is stopped before its end.
enum Stop {
    Late,
    Abandoned,
    Overflow,
}

async fn supervise(script: Script, mut abandoned: oneshot::Receiver<()>) -> Outcome {
    let deadline = Instant::now() + script.timeout;
    let mut child = match start(&script, deadline).await {
        Ok(child) => child,
        Err(end) => {
            let (stdout, stderr) = (Vec::new(), Vec::new());
            return Outcome { end, stdout, stderr, last_error_line: None };
        }
    };
    let mut tree = Tree::tagged(&child);
    let mut collected = Collected::new(&mut child, script.stdout_limit, script.stderr_limit);
    let stdin = child.stdin.take();
    let end = tokio::select! {
        biased;
        _ = &mut abandoned => Err(Stop::Abandoned),
        ended = timeout_at(deadline, attend(&mut child, stdin, script.stdin, &mut collected)) => {
            ended.unwrap_or(Err(Stop::Late))
        }
    };
    let end = match end {
        Ok(end) => {
            tree.let_go();
            end
        }
        Err(stop) => {
            tree.kill().await;
            // Beyond this the runtime reaps it, whenever the kernel lets it go.
            let _ = timeout(REAP_LIMIT, child.wait()).await;
            tree.let_go();
            match stop {
                Stop::Late | Stop::Abandoned => End::TimedOut,
                Stop::Overflow => End::TooMuchOutput,
            }
        }
    };
    let (stdout, stderr, last_error_line) = collected.finish();
    Outcome { end, stdout, stderr, last_error_line }
}

/// Starts the program on a thread that may block.
async fn start(script: &Script, deadline: Instant) -> Result<Child, End> {
    let (argv, env) = (script.argv.clone(), script.env.clone());
    let (env_remove, cwd) = (script.env_remove.clone(), script.cwd.clone());
    let file_limit = script.file_limit;
    let Some(program) = argv.first().map(|name| name.to_string_lossy().into_owned()) else {
        return Err(End::Failed("no program is named".into()));
    };
    let start = move || {
        let (inherits, cwd) = (Inherits::AllBut(&env_remove), cwd.as_deref());
        let (argv, env) = (&argv, &env);
        let (has_input, is_supervised) = (true, false);
        Start { argv, env, inherits, cwd, has_input, is_supervised, file_limit }.start()
    };
    // If this is given up, the program is killed as soon as it was started.
    let started = tokio::task::spawn_blocking(start);
    match timeout_at(deadline, started).await {
        Ok(Ok(Ok(child))) => Ok(child),
        Ok(Ok(Err(error))) => Err(End::Failed(format!("cannot start {program}: {error}"))),
        Ok(Err(_)) => Err(End::Failed("the runtime is ending".into())),
        Err(_) => Err(End::TimedOut),
    }
}

/// Feeds the program and listens to it until it ends or says too much.
async fn attend(
    child: &mut Child,
    stdin: Option<ChildStdin>,
    input: Vec<u8>,
    collected: &mut Collected,
) -> Result<End, Stop> {
    let feed = async {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input is none of our business.
            let _ = stdin.write_all(&input).await;
        }
        pending::<Infallible>().await
    };
    let listen = async {
        collected.listen().await?;
        Ok::<Infallible, Stop>(pending().await)
    };
    let status = tokio::select! {
        never = feed => match never {},
        Err(stop) = listen => return Err(stop),
        status = child.wait() => status,
    };
    // What it wrote before it ended is in the pipes now, whether or not others still hold them open.
    collected.drain()?;
    Ok(match status {
        Ok(status) => status.into(),
        Err(error) => End::Failed(format!("its end was not seen: {error}")),
    })
}

#[cfg(test)]
mod tests;
