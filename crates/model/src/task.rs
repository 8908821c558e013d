//! Background tasks: what is to be done, by whom it is held, and what became of every attempt.
//!
//! One record for one machine and for many. What may follow from what is decided by the machine of
//! `rookery-tasks`; here are only the nouns.

use std::path::PathBuf;
use std::time::Duration;

use crate::{Origin, ProjectId, TaskId, ThreadId, Timestamp, TurnId};

/// How far a task has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskState {
    /// It waits for a node.
    Queued,
    /// A node prepares it; nothing of it has happened.
    Claimed,
    /// It runs, or may have begun to.
    Running,
    /// It came to its end, whatever its exit code is.
    Done,
    /// It could not be begun, took too long, or was lost with no way to move.
    Failed,
    Cancelled,
    /// Its node was lost, and a person decides whether it is done again.
    Lost,
}

impl TaskState {
    /// Whether nothing more happens to it by itself.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled | Self::Lost)
    }
}

/// What became of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It goes on.
    Running,
    /// It came to its end.
    Done,
    Failed,
    Cancelled,
    /// It was given back before it began.
    Released,
    /// Its node was lost while it ran, so that it may have had its effect.
    Unknown,
}

/// What becomes of a task whose node is lost and that may not move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lost {
    /// A person decides.
    Hold,
    /// It has failed.
    Fail,
}

/// With what a task ends at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lifetime {
    Turn,
    /// When its thread is archived or deleted.
    Thread,
    /// With itself.
    Server,
}

/// When a task is done again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retry {
    /// How often at most, besides the first time.
    pub max: u32,
    /// Whether it moves when its node is lost.
    pub on_lost: bool,
    /// Whether it is done again when it failed.
    pub on_failed: bool,
    /// How long is waited before that.
    pub backoff: Duration,
}

/// How a task's terminal is opened, if it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskTerminal {
    /// Its project; the usual one if not said.
    pub project: Option<ProjectId>,
    pub title: Option<String>,
    /// Its rows and columns; the usual ones if not said.
    pub rows: Option<u16>,
    /// Its columns.
    pub cols: Option<u16>,
    /// Whether it stays open when the program has ended.
    pub keep: bool,
}

/// The runner that a task's program runs at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRunner {
    pub destination: String,
    /// The directory there that it works in; the root of the session if none was named.
    pub workspace: Option<PathBuf>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSpec {
    /// The name of the executor.
    pub executor: String,
    /// Its input, as JSON.
    pub input: String,
    /// Where it works.
    pub workspace: PathBuf,
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// Its terminal, if the executor runs a program in one.
    pub terminal: Option<TaskTerminal>,
    /// Where its program runs, if not on this machine as it is.
    pub runner: Option<TaskRunner>,
    /// Whether it was let through for reading only, and so is held to that.
    pub is_reading: bool,
    /// Whether a person typed it, so that it runs as if in their own terminal.
    pub is_unasked: bool,
}

/// Who has a task in hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub node: String,
    /// Since when.
    pub since: Timestamp,
}

/// One attempt at a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its number, which fences off all others.
    pub epoch: u64,
    pub node: String,
    /// When it was claimed.
    pub from: Timestamp,
    /// When it ended, if that is known.
    pub to: Option<Timestamp>,
    /// What became of it.
    pub fate: Fate,
}

/// That a task is to be cancelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cancel {
    /// Who asked for it.
    pub by: String,
    /// Why, if a reason was given.
    pub reason: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// What a task came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskResult {
    /// The exit code of its program.
    pub exit_code: Option<i32>,
    /// What the executor gives back, as JSON.
    pub payload: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// The kind of that error, where clients tell kinds apart.
    pub error_kind: Option<String>,
    /// The end of what it wrote, if it ran out of time.
    pub partial: Option<String>,
}

/// A background task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its id, which follows from `space`, `by` and `key`.
    pub id: TaskId,
    /// The group of nodes that may do it.
    pub space: String,
    /// Who submitted it.
    pub by: String,
    /// Under which key; the same key again is the same task.
    pub key: String,
    /// What a node has to have for it.
    pub needs: Vec<String>,
    /// Assignment: what the task should do.
    pub spec: TaskSpec,
    /// The thread it belongs to.
    pub thread: Option<ThreadId>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// With what it ends at the latest.
    pub lifetime: Lifetime,
    /// Whose it is: a program that it starts is its submitter's.
    pub origin: Origin,
    /// When it is done again.
    pub retry: Retry,
    /// What becomes of it when its node is lost.
    pub lost: Lost,
    /// How far it has come.
    pub state: TaskState,
    /// The number of the newest attempt; 0 before the first.
    pub epoch: u64,
    /// The message that brings it to nodes; 0 while there is none.
    pub message: u64,
    /// Who has it in hand.
    pub holder: Option<Holder>,
    /// Whether it may have had its effect more than once. Never taken back.
    pub maybe_twice: bool,
    /// The newest attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// How many there were in all.
    pub attempt_count: u64,
    /// That it is to be cancelled.
    pub cancel: Option<Cancel>,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When its newest attempt began to run.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What it came to.
    pub result: Option<TaskResult>,
    /// Raised by every change of this record.
    pub revision: u64,
}

/// Where a piece of a task's log comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogStream {
    /// The program's output, or its terminal.
    Stdout,
    /// The program's errors.
    Stderr,
    /// The executor itself.
    Log,
}

/// A piece of a task's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogChunk {
    /// Its number, from 1.
    pub seq: u64,
    /// Where it comes from.
    pub stream: LogStream,
    /// When it came.
    pub at: Timestamp,
    /// What it says.
    pub text: String,
}

/// The end of what a task wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskLog {
    /// The newest pieces, oldest first.
    pub chunks: Vec<LogChunk>,
    /// How many bytes before them are gone.
    pub dropped: u64,
    /// The number of the newest piece.
    pub last_seq: u64,
    /// How much of its terminal's output is in it.
    pub offset: u64,
}
