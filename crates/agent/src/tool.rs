//! What a tool is: a name, a kind, a schema, and a function of its arguments.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rookery_host::sandbox::Secrets;
use rookery_model::{Edit, Goal, GoalStatus, TerminalId, ThreadId, ToolKind, TurnId};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::provider::ToolSpec;
use crate::tools::{MemoryAnswer, MemoryCall, Sessions, SkillText};

/// The result of a tool. A failure is a result as well, which the model gets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model reads.
    pub text: String,
    /// Details for programs.
    pub data: Value,
    /// Whether the text tells of a failure.
    pub is_error: bool,
    /// Images for the model, as `data:` addresses.
    pub images: Vec<String>,
    /// How the command ended, if it was one.
    pub exit_code: Option<i32>,
    /// The terminal it ran in.
    pub terminal: Option<TerminalId>,
    /// What it changed in files, if it edits them.
    pub edits: Vec<Edit>,
}

impl ToolOutput {
    /// A result with a text and details.
    pub fn new(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data, ..Self::default() }
    }

    /// A failure, as a result for the model.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true, ..Self::default() }
    }
}

/// A tool at work.
pub type Running = Pin<Box<dyn Future<Output = ToolOutput> + Send>>;

/// One row of the table of tools.
pub struct Tool {
    pub name: &'static str,
    /// What it does.
    pub kind: ToolKind,
    /// What it is for, sent to the model.
    pub description: &'static str,
    /// Whether only the driver of a turn can carry it out, because it waits for a person's answer.
    pub needs_turn: bool,
    /// Whether only threads with an assignment have it.
    pub needs_assignment: bool,
    /// JSON Schema of its arguments.
    pub parameters: fn() -> Value,
    /// Says why arguments do not fit, in the words that `run` would use.
    pub check: fn(&Value) -> Result<(), String>,
    /// Runs it. Arguments that do not fit come back as an error output.
    pub run: fn(ToolContext, Value) -> Running,
}

impl Tool {
    /// The tool as the model sees it.
    pub fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            parameters: (self.parameters)(),
        }
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Which files a tool may touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathScope {
    /// Those of the workspace.
    #[default]
    Workspace,
    /// All that the user may.
    Global,
}

/// Wraps program and arguments in what holds them to something.
pub type Sandbox = Arc<dyn Fn(Vec<String>) -> Vec<String> + Send + Sync>;

/// What searches leave out beside what they always do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchBounds {
    /// Files longer than this; none leaves it to the tool.
    pub max_file_bytes: Option<u64>,
    /// Files that match one of these, or are below a directory that does.
    pub ignored_globs: Vec<String>,
}

/// How long commands may take, by what was set for the thread that runs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLimit {
    /// How long.
    pub limit: Duration,
    /// Beginnings of commands that it does not hold for.
    pub long_commands: Vec<String>,
}

impl CommandLimit {
    /// How long a command may take; none if that is up to the tool.
    pub fn of(&self, command: &str) -> Option<Duration> {
        let beginnings = self.long_commands.iter().map(|beginning| beginning.trim());
        let mut beginnings = beginnings.filter(|beginning| !beginning.is_empty());
        let is_long = beginnings.any(|beginning| command.trim_start().starts_with(beginning));
        (!is_long).then_some(self.limit)
    }
}

/// What a tool works with.
#[derive(Clone)]
pub struct ToolContext {
    /// The thread it works for.
    pub thread: ThreadId,
    /// The turn it works for; none if a client called it directly.
    pub turn: Option<TurnId>,
    /// The directory that relative paths begin at.
    pub root: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// Which files it may touch.
    pub scope: PathScope,
    /// Files and directories that it may not touch in any scope: they hold keys.
    pub secrets: Secrets,
    /// What searches leave out.
    pub search: SearchBounds,
    /// Where long outputs are kept whole; none cuts them in place.
    pub artifacts: Option<PathBuf>,
    /// Where files that are being written are noted, so that a daemon that is killed leaves nothing
    /// half-made; none notes nothing.
    pub writes: Option<PathBuf>,
    /// Whether its command was allowed because it only reads, and has to be held to that.
    pub read_only: bool,
    /// How a command is held to only reading; without it the command runs as it is.
    pub sandbox: Option<Sandbox>,
    /// How any other command is kept off our control sockets, where the kernel can do that.
    pub seal: Option<Sandbox>,
    /// How a command that no one types into is kept from asking at its terminal; without it only its
    /// input is at its end.
    pub unattended: Option<Sandbox>,
    /// The shell that runs commands: the user's, or the one that was approved.
    pub shell: String,
    /// Variables that no program of a tool inherits: they hold keys.
    pub withheld: Vec<String>,
    /// How long its commands may take; none leaves that to the tools.
    pub command_limit: Option<CommandLimit>,
    /// Commands that were started earlier and may still run.
    pub sessions: Arc<Sessions>,
    /// Cancelled when the caller is gone.
    pub cancel: CancellationToken,
    /// At what time it has to be done, measured from now.
    pub time_left: Option<Duration>,
    /// How commands run, if they do not run on this machine.
    pub commands: Option<Arc<dyn RemoteCommands>>,
    /// Where files are, if they are not on this machine; then `root` is a path there.
    pub files: Option<Arc<dyn RemoteFiles>>,
    /// The session of the runner at which they are, which tells them from files at others.
    pub session: Option<String>,
    /// The rest of the world, as far as tools may touch it.
    pub world: Arc<dyn ToolWorld>,
}

/// A command that runs elsewhere.
#[derive(Clone, Debug)]
pub struct RemoteCommand {
    /// Program and arguments, as they run there.
    pub argv: Vec<String>,
    /// Where it runs: as the tool calls it, which may be a path of this machine that is there as well.
    pub cwd: PathBuf,
    /// What it changes in the environment.
    pub env: Vec<(String, String)>,
    /// Whether it has a terminal.
    pub has_terminal: bool,
    /// Ends it.
    pub cancel: CancellationToken,
}

/// What came of a command that ran elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteEnd {
    /// What it wrote.
    pub output: Vec<u8>,
    /// Its status, or minus the signal.
    pub code: i32,
    /// How many bytes of its output are not kept.
    pub dropped: u64,
}

/// What a path is elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteKind {
    File,
    /// A directory.
    Dir,
}

/// How commands of tools run elsewhere. What cannot be done there is an error; nothing is done here instead.
pub trait RemoteCommands: Send + Sync {
    /// Program and arguments of this machine that run a command there in a terminal or on pipes of ours,
    /// and by which name it is ended. None if only [`RemoteCommands::run`] can.
    fn in_terminal(&self, command: &RemoteCommand)
    -> Result<Option<(Vec<String>, String)>, String>;
    /// Runs a command to its end.
    fn run(&self, command: RemoteCommand) -> WorldFuture<'_, RemoteEnd>;
    /// Ends a command of [`RemoteCommands::in_terminal`] with all that it started there.
    fn end<'a>(&'a self, id: &'a str) -> WorldFuture<'a, ()>;
}

/// Files that are elsewhere. Paths are absolute there; what leads out of the place is an error.
pub trait RemoteFiles: Send + Sync {
    /// What a path is; none if there is nothing.
    fn kind<'a>(&'a self, path: &'a Path) -> WorldFuture<'a, Option<RemoteKind>>;
    /// Reads a file whole.
    fn read<'a>(&'a self, path: &'a Path, limit: u64) -> WorldFuture<'a, Vec<u8>>;
    /// The permissions of a file; none where they cannot be determined.
    fn mode<'a>(&'a self, path: &'a Path) -> WorldFuture<'a, Option<u32>>;
    /// Makes or replaces a file with its directories. One that is made has these permissions, if they are
    /// not the usual ones; one that is replaced keeps its own.
    fn write<'a>(
        &'a self,
        path: &'a Path,
        bytes: Vec<u8>,
        mode: Option<u32>,
    ) -> WorldFuture<'a, ()>;
    /// Removes a file.
    fn remove<'a>(&'a self, path: &'a Path) -> WorldFuture<'a, ()>;
    /// Names in a directory, and whether each is a directory.
    fn list<'a>(&'a self, path: &'a Path) -> WorldFuture<'a, Vec<(String, bool)>>;
    /// Files below a directory by their paths from there on, sorted; at most `most`.
    fn find<'a>(&'a self, path: &'a Path, most: usize) -> WorldFuture<'a, Vec<String>>;
}

/// A command to run in a terminal of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalCommand {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// What it changes in the environment.
    pub env: Vec<(String, String)>,
    /// Variables that it does not inherit.
    pub without: Vec<String>,
    /// What the terminal is called.
    pub title: String,
}

/// What came out of a terminal up to a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalOutput {
    /// The bytes after the offset that was asked for.
    pub bytes: Vec<u8>,
    /// Where the next ones begin.
    pub next: u64,
    /// Bytes in between that are no longer kept.
    pub lost: u64,
    /// How the program ended, once it did and all was read: its code, or minus the signal.
    pub ended: Option<i32>,
}

/// A future of the world's.
pub type WorldFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// What tools may do to the world. Core implements it.
pub trait ToolWorld: Send + Sync {
    /// Opens a terminal that a user can watch and type into.
    fn open(&self, command: TerminalCommand) -> WorldFuture<'_, TerminalId>;
    /// What came out of it after `offset`. Waits for its end, or for `wait` to pass.
    /// An offset past everything asks only whether and how it ended.
    fn output(
        &self,
        id: TerminalId,
        offset: u64,
        wait: Duration,
    ) -> WorldFuture<'_, TerminalOutput>;
    /// Types into it.
    fn write(&self, id: TerminalId, bytes: Vec<u8>) -> WorldFuture<'_, ()>;
    /// Ends everything in it: politely, and after a grace by force.
    fn end(&self, id: TerminalId) -> WorldFuture<'_, ()>;
    /// The thread's goal.
    fn goal(&self, thread: ThreadId) -> Option<Goal>;
    /// Sets the thread's goal.
    fn set_goal(
        &self,
        thread: ThreadId,
        objective: String,
        budget: Option<u64>,
    ) -> WorldFuture<'_, Goal>;
    /// Says where the thread's goal stands.
    fn update_goal(&self, thread: ThreadId, status: GoalStatus) -> WorldFuture<'_, Goal>;
    /// Replaces the thread's plan.
    fn set_plan(&self, thread: ThreadId, plan: Vec<rookery_model::PlanStep>)
    -> WorldFuture<'_, ()>;
    /// Replaces the thread's ledger.
    fn set_ledger(
        &self,
        thread: ThreadId,
        ledger: Vec<rookery_model::PlanStep>,
    ) -> WorldFuture<'_, ()>;
    /// What is to be known in other threads: saved, found, changed or deleted.
    fn memory<'a>(
        &'a self,
        context: &'a ToolContext,
        call: MemoryCall,
    ) -> WorldFuture<'a, MemoryAnswer>;
    /// A skill that the thread has.
    fn skill(&self, name: String) -> WorldFuture<'_, SkillText>;
}
