//! Processes of ours: commands of clients, background tasks, and what tools run here and at runners.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `processes/list`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesListParams {
    /// Those that ended as well.
    #[serde(default, deserialize_with = "super::or_default")]
    pub include_completed: bool,
}

/// Result of `processes/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesListResult {
    /// In the order they were started.
    pub processes: Vec<Process>,
}

/// A process at work, or one that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    /// What it is called.
    pub process_id: String,
    /// Who started it.
    pub origin: ProcessOrigin,
    /// Whether it runs, as published decoders read it.
    pub state: ProcessState,
    /// Program and arguments.
    pub command: Vec<String>,
    /// The same in one line, without what looks like a secret.
    pub command_summary: String,
    /// Where it runs.
    pub cwd: String,
    /// Whether it runs.
    pub status: ProcessStatus,
    /// Whether it can be stopped.
    pub stoppable: bool,
    /// Its number in the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How it ended.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// Whether it has a terminal.
    pub tty: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_id: Option<String>,
    /// The background task that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The runner that it runs at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_destination_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_session_id: Option<String>,
    /// The thread that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The turn that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// When it began.
    pub started_at: String,
    /// When it began or ended.
    pub updated_at: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
}

/// Who started a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProcessOrigin {
    /// A client, with `command/exec`.
    CommandExec,
    /// A background task, whose id is that of its process.
    BackgroundTask,
    /// A tool of a thread.
    ShellTool,
    /// A task or a tool whose program runs at a runner that is not this machine.
    RemoteRunner,
}

/// How far a command has come, as published decoders read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ProcessState {
    /// It runs.
    Running,
    /// It ended by itself.
    Exited {
        /// How, if that is known.
        exit_code: Option<i32>,
    },
    /// It was ended because of this.
    Failed {
        /// Why.
        error: String,
    },
    /// A signal ended it.
    Stopped,
}

/// Whether a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ProcessStatus {
    /// It does.
    Running,
    /// It ended well.
    Completed,
    /// It ended otherwise.
    Failed,
    /// Its time ran out.
    TimedOut,
    /// A signal ended it.
    Stopped,
}

/// Params of `processes/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesGetParams {
    /// Which command.
    pub process_id: String,
    /// How much of the end of its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
}

/// Result of `processes/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesGetResult {
    /// The command; none if there is none of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// The end of what it wrote, as published decoders read it.
    pub output: Vec<ProcessOutput>,
    /// The end of what it wrote.
    pub stdout: String,
    /// The end of what it complained of.
    pub stderr: String,
}

/// A piece of what a command wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessOutput {
    /// The command.
    pub process_id: String,
    /// Where it wrote; of what is no task both streams are kept together as `stdout`.
    pub stream: super::exec::OutputStream,
    /// What it wrote.
    pub chunk: String,
    /// How many bytes before it are not shown.
    pub dropped_bytes: u64,
    /// The thread that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The turn that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// When it was written, or when the command began or ended.
    pub timestamp: String,
}

/// Params of `processes/stop`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesStopParams {
    /// Which one.
    pub process_id: String,
    /// Why; a background task keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Params of `processes/stopAll`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesStopAllParams {
    /// Why; background tasks keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of a command that was to be stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessStopResult {
    /// The command.
    pub process_id: String,
    /// Whether it ran until then.
    pub stopped: bool,
    /// How it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
}

/// Result of `processes/stop`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesStopResult {
    /// What became of it.
    pub result: ProcessStopResult,
    /// The command.
    pub process_id: String,
    /// Whether it ran until then.
    pub stopped: bool,
}

/// Result of `processes/stopAll`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesStopAllResult {
    /// What became of them.
    pub results: Vec<ProcessStopResult>,
    /// Those that ran until then.
    pub stopped_process_ids: Vec<String>,
}

/// Params of `processes/subscribe`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesSubscribeParams {
    /// Only this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<String>,
}

/// Result of `processes/subscribe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesSubscribeResult {
    /// Always true.
    pub subscribed: bool,
    /// The notifications that tell of them.
    pub event_kinds: Vec<String>,
    /// As they are now.
    pub processes: Vec<Process>,
}

/// Params of `process.started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessStarted {
    /// As it began.
    pub process: Process,
    /// When.
    pub timestamp: String,
}

/// Params of `process.exited`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessExited {
    /// As it ended.
    pub process: Process,
    /// How, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// When.
    pub timestamp: String,
}

/// Params of `process.stopping`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessStopping {
    /// What was asked to end.
    pub process_id: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When.
    pub timestamp: String,
}

/// Params of `process.stopped`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessStopped {
    /// As it ended.
    pub process: Process,
    /// Why it was asked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When.
    pub timestamp: String,
}

/// Params of `process.failed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessFailed {
    /// As it ended.
    pub process: Process,
    /// Why it failed.
    pub error: String,
    /// When.
    pub timestamp: String,
}

/// Params of `processes/updated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesUpdated {
    /// As they are now.
    pub processes: Vec<Process>,
}
