//! Commands that a client runs.

use serde_json::Value;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `command/exec`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandExecParams {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Where it runs; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What it changes in the environment; null removes.
    #[serde(default, deserialize_with = "super::or_default")]
    pub env: BTreeMap<String, Option<String>>,
    /// How long it may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How much of each stream is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes_cap: Option<u64>,
    /// Whether output comes as notifications.
    #[serde(default, deserialize_with = "super::or_default")]
    pub stream_stdout_stderr: bool,
    /// What the client calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<String>,
    /// Let it run for ever.
    #[serde(default, deserialize_with = "super::or_default")]
    pub disable_timeout: bool,
    /// Keep all output.
    #[serde(default, deserialize_with = "super::or_default")]
    pub disable_output_cap: bool,
    /// Run it in a terminal.
    #[serde(default, deserialize_with = "super::or_default")]
    pub tty: bool,
    /// Whether it is written to.
    #[serde(default, deserialize_with = "super::or_default")]
    pub stream_stdin: bool,
    /// Size of the terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<TtySize>,
    /// Taken and ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_policy: Option<Value>,
    /// The thread that it is run for: it runs in its directory unless another is named, and what it
    /// changes is kept with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}

/// Size of a terminal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TtySize {
    /// Lines.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
}

/// Result of `command/exec`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandExecResult {
    /// How it ended; -1 by a signal.
    pub exit_code: i32,
    /// What it wrote; empty if that was streamed.
    pub stdout: String,
    /// What it complained of; empty if that was streamed.
    pub stderr: String,
    /// All of `stdout`, if it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout_artifact: Option<Artifact>,
    /// All of `stderr`, if it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_artifact: Option<Artifact>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// How long it ran.
    pub duration_ms: u64,
    /// Always false: that is an error.
    pub timed_out: bool,
}

/// Output that is kept in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    pub id: String,
    /// What it is.
    pub kind: String,
    /// Whose it is.
    pub thread_id: String,
    /// The turn or process it came from.
    pub turn_id: String,
    /// Its length.
    pub byte_count: u64,
    /// Its lines.
    pub line_count: u64,
    /// Whether there was more than is kept.
    pub truncated: bool,
    /// How much more.
    pub dropped_bytes: u64,
    /// When it was made.
    pub created_at: String,
}

/// Params of `command/exec/write`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandExecWriteParams {
    /// Which command.
    pub process_id: String,
    /// What to write, in Base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta_base64: Option<String>,
    /// Whether that is all.
    #[serde(default, deserialize_with = "super::or_default")]
    pub close_stdin: bool,
}

/// Params of `command/exec/resize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandExecResizeParams {
    /// Which command.
    pub process_id: String,
    /// Size of its terminal.
    pub size: TtySize,
}

/// Params of `command/exec/terminate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandExecTerminateParams {
    /// Which command.
    pub process_id: String,
}

/// Params of `command/exec/output_delta`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandExecOutputDelta {
    /// Which command.
    pub process_id: String,
    /// Where it wrote.
    pub stream: OutputStream,
    /// What it wrote, in Base64.
    pub delta_base64: String,
    /// Whether nothing more of this stream comes.
    pub cap_reached: bool,
}

/// Where a command writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OutputStream {
    /// Its output.
    Stdout,
    /// Output on stderr.
    Stderr,
}
