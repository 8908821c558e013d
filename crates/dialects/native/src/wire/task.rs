//! Params and results about background tasks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Time;
use crate::ProjectRef;

/// Params of `rookery/tasks/submit`. Either `argv` or `executor` is needed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskSubmit {
    /// A program and its arguments, which run in a terminal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// Variables of that program.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// An executor, instead of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executor: Option<String>,
    /// The executor's input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Where it works, absolute; the project's directory, else where agents work if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Project of its terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectRef>,
    /// Title of its terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<u16>,
    /// Whether its terminal stays open after its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
    /// How long it may run, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// The same key again is the same task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How often it is done again if it fails or is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// After what it is done again; after both if not said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retry_on: Vec<RetryOn>,
    /// How long is waited before that, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_backoff_seconds: Option<u64>,
    /// What becomes of it when the daemon dies with it and it is not done again; it fails if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<WhenLost>,
    /// Whether the reply waits until its terminal is open, or it is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opened: bool,
}

call!("rookery/tasks/submit" TaskSubmit -> Task);

/// After what a task is done again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RetryOn {
    /// The daemon died with it.
    Lost,
    Failed,
}

/// What becomes of a task that is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WhenLost {
    /// A person decides; it is in the queue.
    Hold,
    /// It has failed.
    Fail,
}

/// How far a task has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TaskState {
    Queued,
    Claimed,
    Running,
    Done,
    Failed,
    Cancelled,
    Lost,
}

/// One attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskAttempt {
    pub epoch: u64,
    pub node: String,
    pub from: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Time>,
    /// `running`, `done`, `failed`, `cancelled`, `released` or `unknown`.
    pub fate: String,
}

/// A background task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub id: String,
    pub executor: String,
    /// What it does in one line.
    pub summary: String,
    pub state: TaskState,
    pub workspace: PathBuf,
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    pub created_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<String>,
    /// What its executor gave back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// Its terminal, while that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<u64>,
    /// The number of its newest attempt; 0 before the first.
    pub epoch: u64,
    /// Whether it may have had its effect more than once.
    pub maybe_twice: bool,
    /// The newest attempts, oldest first.
    pub attempts: Vec<TaskAttempt>,
    pub attempt_count: u64,
}

/// Params of `rookery/tasks/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskList {
    /// Only those in one of these states; all if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<TaskState>,
    /// At most this number, the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

call!("rookery/tasks/list" TaskList -> Tasks);

/// Result of `rookery/tasks/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tasks {
    /// The tasks, newest first.
    pub tasks: Vec<Task>,
}

/// Params of `rookery/tasks/show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskShow {
    /// Which task; the end of its id is enough if no other ends so.
    pub task: String,
}

call!("rookery/tasks/show" TaskShow -> Task);

/// Params of `rookery/tasks/logs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskLogs {
    /// Which task; the end of its id is enough if no other ends so.
    pub task: String,
    /// Only what it wrote after this piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Whether `rookery/task` notifications follow with what it writes from then on, until it is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follow: bool,
}

call!("rookery/tasks/logs" TaskLogs -> TaskLogged);

/// A piece of what a task wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskLogPiece {
    pub seq: u64,
    /// `stdout`, `stderr` or `log`.
    pub stream: String,
    pub at: Time,
    pub text: String,
}

/// Result of `rookery/tasks/logs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskLogged {
    pub task: Task,
    pub pieces: Vec<TaskLogPiece>,
    /// How many bytes of its log are gone.
    pub dropped: u64,
    /// The number of the newest piece.
    pub last: u64,
    /// The number of the stream, if it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription: Option<u64>,
}

/// Params of the notification `rookery/task`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskNotification {
    pub subscription: u64,
    #[serde(flatten)]
    pub news: TaskNews,
}

/// What happens to a task that is followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum TaskNews {
    /// It began.
    Started { task: Box<Task> },
    /// It wrote something.
    Output { piece: TaskLogPiece },
    /// Pieces are missing; `rookery/tasks/logs` has the end of what it wrote.
    Dropped { count: u64 },
    /// It is over; nothing follows.
    Ended { task: Box<Task> },
}

/// Params of `rookery/tasks/cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCancel {
    /// Which task; the end of its id is enough if no other ends so.
    pub task: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

call!("rookery/tasks/cancel" TaskCancel -> TaskCancelled);

/// Result of `rookery/tasks/cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCancelled {
    /// The task's id in full.
    pub task: String,
    /// False if it was over before.
    pub cancelled: bool,
}

/// Params of `rookery/tasks/retry`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRetry {
    /// Which task; the end of its id is enough if no other ends so.
    pub task: String,
}

call!("rookery/tasks/retry" TaskRetry -> Task);
