//! Background tasks. Params are read in either spelling; results and notifications are dual.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dual::Dual;

/// Params of `tasks/submit`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksSubmitParams {
    pub executor_id: String,
    /// As the executor's schema says.
    #[serde(default)]
    pub input: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// An absolute directory; where this client works if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// How long it may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// With what it ends at the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<TaskLifetime>,
    /// The same key again is the same task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When it is done again; never if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<TaskRetry>,
    /// What becomes of it when the daemon dies with it and it is not done again; it fails if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<TaskLost>,
}

/// When a task is done again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskRetry {
    /// How often at most, besides the first time.
    pub max: u32,
    /// After what; after being lost if not said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<TaskRetryOn>,
    /// How long is waited before that.
    #[serde(default, deserialize_with = "super::or_default")]
    pub backoff_seconds: u64,
}

/// After what a task is done again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskRetryOn {
    /// The daemon died with it.
    Lost,
    Failed,
}

/// What becomes of a task that is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskLost {
    /// A person decides; it is in the queue.
    Hold,
    /// It has failed.
    Fail,
}

/// With what a task ends at the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskLifetime {
    /// With its turn.
    Turn,
    /// When its thread is archived.
    Thread,
    /// With itself.
    Server,
}

/// How far a task has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    Queued,
    Running,
    Completed,
    Failed,
    Cancelled,
}

/// What an executor does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSpec {
    pub kind: String,
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_timeout_seconds: Option<u64>,
    pub metadata: Value,
}

/// One attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskAttempt {
    pub epoch: u64,
    pub node: String,
    pub from: String,
    #[serde(default)]
    pub to: Option<String>,
    /// `running`, `done`, `failed`, `cancelled`, `released` or `unknown`.
    pub fate: String,
}

/// A background task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskHandle {
    pub task_id: String,
    pub executor_id: String,
    pub spec: Dual<TaskSpec>,
    pub state: TaskState,
    /// The same as `state`.
    pub status: TaskState,
    pub created_at: String,
    pub started_at: Option<String>,
    pub finished_at: Option<String>,
    pub thread_id: Option<String>,
    pub turn_id: Option<String>,
    pub workspace: String,
    pub exit_code: Option<i32>,
    pub error: Option<String>,
    pub error_kind: Option<String>,
    pub lifetime: TaskLifetime,
    /// Where it runs, or ran last.
    pub node: Option<String>,
    /// The number of its newest attempt; 0 before the first.
    pub epoch: u64,
    /// Whether it may have had its effect more than once.
    pub maybe_twice: bool,
    /// The newest attempts, oldest first.
    pub attempts: Vec<TaskAttempt>,
    /// How many there were in all.
    pub attempt_count: u64,
    /// Its terminal, while it has one.
    pub terminal_id: Option<String>,
}

/// Result of `tasks/submit`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TasksSubmitResult {
    pub task: Dual<TaskHandle>,
}

/// Params of `tasks/list`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksListParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Result of `tasks/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TasksListResult {
    /// The newest first.
    pub tasks: Vec<Dual<TaskHandle>>,
}

/// Params of `tasks/get`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksGetParams {
    pub task_id: String,
    /// Only what it wrote after this piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_seq: Option<u64>,
}

/// A piece of what a task wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskLogEntry {
    pub seq: u64,
    /// `stdout`, `stderr` or `log`.
    pub stream: String,
    pub chunk: String,
    pub timestamp: String,
}

/// Result of `tasks/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TasksGetResult {
    pub task: Dual<TaskHandle>,
    pub logs: Vec<TaskLogEntry>,
    /// How many bytes of its log are gone.
    pub dropped_bytes: u64,
    /// What its executor gave back.
    pub payload: Value,
    /// The number that the next piece gets.
    pub next_seq: u64,
}

/// Params of `tasks/cancel`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksCancelParams {
    pub task_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Result of `tasks/cancel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TasksCancelResult {
    /// False if it was over before.
    pub cancelled: bool,
}

/// Params of `tasks/subscribe`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksSubscribeParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Only these notifications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_kinds: Option<Vec<String>>,
}

/// Result of `tasks/subscribe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TasksSubscribeResult {
    pub subscribed: bool,
    pub event_kinds: Vec<String>,
    pub subscription_id: String,
}

/// Params of `tasks/unsubscribe`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksUnsubscribeParams {
    /// All of this connection's if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription_id: Option<String>,
}

/// Result of `tasks/unsubscribe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TasksUnsubscribeResult {
    pub subscribed: bool,
}

/// Params of `task.started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskStarted {
    pub task_id: String,
    pub executor_id: String,
    pub task_kind: String,
    /// How many wait.
    pub queue_depth: usize,
    #[serde(flatten)]
    pub place: TaskPlace,
}

/// Where a task belongs, and when something happened to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskPlace {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    pub timestamp: String,
}

/// Params of `task.output`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskOutput {
    pub task_id: String,
    pub stream: String,
    pub chunk: String,
    pub dropped_bytes: u64,
    pub seq: u64,
    #[serde(flatten)]
    pub place: TaskPlace,
}

/// Params of `task.completed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCompleted {
    pub task_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    pub payload: Value,
    #[serde(flatten)]
    pub place: TaskPlace,
}

/// Params of `task.failed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskFailed {
    pub task_id: String,
    pub error: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_result: Option<String>,
    #[serde(flatten)]
    pub place: TaskPlace,
}

/// Params of `task.cancelled`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCancelled {
    pub task_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(flatten)]
    pub place: TaskPlace,
}
