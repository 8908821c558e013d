//! A live use of a runner: what can be done there.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::RunnerError;
use crate::artifacts::{Artifact, copy_out};

/// Something at work at a runner.
pub type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, RunnerError>> + Send + 'a>>;

/// How much of each output of a command is kept unless said otherwise.
const OUTPUT_LIMIT: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq)]
pub struct SessionInfo {
    /// Its id: letters, digits and dashes.
    pub id: String,
    pub provider: &'static str,
    /// Its root, on the runner.
    pub root: PathBuf,
    /// Where the same directory is on this machine; none if its files are only there.
    pub local_root: Option<PathBuf>,
    /// Whether commands of this machine run in the root as they do everywhere else.
    pub runs_here: bool,
    /// What is needed to find it again, and what people may want to know. No secret is in it.
    pub metadata: Value,
}

#[must_use]
pub fn new_session_id() -> String {
    format!("rs-{}", uuid::Uuid::new_v4().simple())
}

/// A command to run to its end.
#[derive(Debug)]
pub struct Command {
    /// By which [`Session::end_command`] ends it, also after a restart: letters, digits and dashes. One is
    /// drawn if none is given.
    pub id: Option<String>,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Where, below the root; the root itself if none is named.
    pub cwd: Option<String>,
    /// Variables beside those of the place.
    pub env: Vec<(String, String)>,
    /// What it reads.
    pub stdin: Vec<u8>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// How much of each output is kept, the newest.
    pub output_limit: usize,
    /// Where output goes as it comes, if that is wanted. Who does not read holds the command up.
    pub output: Option<mpsc::Sender<Chunk>>,
    /// Ends it: asked first, by force after 250 ms.
    pub cancel: CancellationToken,
}

impl Command {
    /// A command with the usual bounds.
    pub fn new(argv: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            id: None,
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: None,
            env: Vec::new(),
            stdin: Vec::new(),
            timeout: None,
            output_limit: OUTPUT_LIMIT,
            output: None,
            cancel: CancellationToken::new(),
        }
    }
}

/// Which of its outputs a command wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Its standard output.
    Stdout,
    /// Its standard error.
    Stderr,
}

/// A piece of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where it was written.
    pub stream: Stream,
    /// What.
    pub bytes: Bytes,
}

/// How a command came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCause {
    /// By itself, or by a signal that was not ours.
    Exited,
    Cancelled,
    /// It took too long and was ended.
    TimedOut,
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandEnd {
    /// How it ended.
    pub how: ExitCause,
    /// Its status, or minus the signal; none if that is not known.
    pub exit_code: Option<i32>,
    /// The end of what it wrote to its standard output.
    pub stdout: Vec<u8>,
    /// The same of its standard error.
    pub stderr: Vec<u8>,
    /// How many bytes of both are not kept.
    pub dropped: u64,
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub name: String,
    /// Whether it is a directory.
    pub is_dir: bool,
}

/// A state of a session that was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// What its provider calls it.
    pub id: String,
    /// Details; no secret and no address of a mount is in it.
    pub metadata: Value,
}

/// A port that programs of a session listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its number at the runner.
    pub port: u16,
    /// Where it is reached, if it can be.
    pub url: Option<String>,
    /// What it was called when it was exposed.
    pub label: Option<String>,
    /// The port of this machine that leads there, if it is another.
    pub local_port: Option<u16>,
}

/// A command that is to run in a terminal of this machine.
#[derive(Clone, Debug)]
pub struct TerminalLaunch {
    /// By which [`Session::end_command`] ends it, as for [`Command`].
    pub id: Option<String>,
    /// Program and arguments, as they run there.
    pub argv: Vec<String>,
    /// Where, below the root.
    pub cwd: Option<String>,
    /// Variables beside those of the place.
    pub env: Vec<(String, String)>,
    /// Whether a person or a program may type into it.
    pub has_terminal: bool,
}

/// What runs on this machine so that a command runs there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapped {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// By which it is ended, see [`Session::end_command`].
    pub id: String,
}

/// A live use of a runner. Paths are relative to the root, or absolute below it; whatever leads out
/// of it, by links too, is [`RunnerError::Outside`].
pub trait Session: Send + Sync {
    /// What it is.
    fn info(&self) -> &SessionInfo;
    /// Runs a command to its end. Dropping the future ends the command.
    fn exec(&self, command: Command) -> Work<'_, CommandEnd>;
    /// Reads a file whole, up to a limit.
    fn read_file<'a>(&'a self, path: &'a str, limit: u64) -> Work<'a, Vec<u8>>;
    /// Makes or replaces a file, with its directories.
    fn write_file<'a>(&'a self, path: &'a str, bytes: Vec<u8>) -> Work<'a, ()>;
    fn remove_file<'a>(&'a self, path: &'a str) -> Work<'a, ()>;
    /// The permissions of a file; none where they cannot be determined.
    fn mode<'a>(&'a self, path: &'a str) -> Work<'a, Option<u32>>;
    /// Makes a file that is not there, with these permissions.
    fn make_file<'a>(&'a self, path: &'a str, bytes: Vec<u8>, mode: u32) -> Work<'a, ()>;
    /// The entries of a directory, by name.
    fn list<'a>(&'a self, path: &'a str) -> Work<'a, Vec<Entry>>;
    /// The regular files below a directory by their paths from there on, sorted; at most `most`.
    fn find<'a>(&'a self, path: &'a str, most: usize) -> Work<'a, Vec<String>>;
    /// Keeps the state it is in; none if the provider cannot.
    fn snapshot<'a>(&'a self, label: Option<&'a str>) -> Work<'a, Option<Snapshot>>;
    /// The ports that are exposed, and those that are listened at where it can be determined.
    fn ports(&self) -> Work<'_, Vec<Port>>;
    /// Makes a port reachable from this machine.
    fn expose<'a>(&'a self, port: u16, label: Option<&'a str>) -> Work<'a, Port>;
    /// Takes that back. Gives whether it was exposed.
    fn conceal(&self, port: u16) -> Work<'_, bool>;
    /// Holds everything in it.
    fn pause(&self) -> Work<'_, ()>;
    /// Lets it go on.
    fn resume(&self) -> Work<'_, ()>;
    /// Lets go of it so that it can be opened again by its metadata; its commands are ended.
    fn detach(&self) -> Work<'_, ()>;
    /// Ends it: commands, forwards, containers. Work that is kept nowhere else stays unless `force`;
    /// then its place is given.
    fn close(&self, force: bool) -> Work<'_, Option<PathBuf>>;
    /// What runs in a terminal of this machine so that a command runs there. None if it cannot be done
    /// that way.
    fn in_terminal(&self, launch: &TerminalLaunch) -> Result<Option<Wrapped>, RunnerError>;
    /// Ends a command by its id, with all that it started.
    fn end_command<'a>(&'a self, id: &'a str) -> Work<'a, ()>;

    /// Hands a file out, or a directory if `recursive`: what is had without the session then. `target` is the
    /// folder for those that are copied.
    fn export<'a>(
        &'a self,
        path: &'a str,
        recursive: bool,
        target: &'a Path,
    ) -> Work<'a, Artifact> {
        Box::pin(copy_out(self, path, recursive, target))
    }

    /// Whether it can still be used; one whose connection is gone cannot, and is opened anew.
    fn is_open(&self) -> bool {
        true
    }
}

/// The id of a command, drawn if it has none.
pub(crate) fn command_id(given: Option<String>) -> String {
    given.unwrap_or_else(|| uuid::Uuid::new_v4().simple().to_string())
}

/// The answer of a provider that cannot do something.
pub(crate) fn unsupported<T: Send + 'static>(
    provider: &'static str,
    what: &'static str,
) -> Work<'static, T> {
    Box::pin(std::future::ready(Err(RunnerError::Unsupported { provider, what })))
}
