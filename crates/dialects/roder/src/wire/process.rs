//! Commands at work, whoever started them.

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

/// A command at work, or one that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    /// What it is called.
    pub process_id: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub cwd: String,
    /// Whether it runs.
    pub status: ProcessStatus,
    /// Its number in the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How it ended.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// Whether it has a terminal.
    pub tty: bool,
    /// That terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_id: Option<String>,
    /// The thread that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The turn that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
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
    /// Somebody ended it.
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
    /// The command.
    pub process: Process,
    /// The end of what it wrote.
    pub stdout: String,
    /// The end of what it complained of.
    pub stderr: String,
}

/// Params of `processes/stop`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessIdParams {
    /// Which command.
    pub process_id: String,
}

/// Result of `processes/stop`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesStopResult {
    /// The command.
    pub process_id: String,
    /// Whether it ran until then.
    pub stopped: bool,
}

/// Result of `processes/stopAll`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesStopAllResult {
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

/// Result of `processes/subscribe`, and params of `processes/updated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessesSubscribeResult {
    /// As they are now.
    pub processes: Vec<Process>,
}
