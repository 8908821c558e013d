//! What edit tools changed, hunk by hunk, and what commands were seen to change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::git::GitChangedFile;

/// Params of `hunk/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkListParams {
    pub thread_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_id: Option<String>,
    /// Only those of this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Result of `hunk/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HunkListResult {
    /// In the order in which they were made.
    pub hunks: Vec<Hunk>,
}

/// Params of `hunk/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkReadParams {
    pub thread_id: String,
    pub hunk_id: String,
    #[serde(default, deserialize_with = "super::or_default")]
    pub offset: u64,
    /// Lines at most; 100 if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Result of `hunk/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HunkReadResult {
    pub page: Option<HunkPage>,
}

/// A part of a hunk's lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkPage {
    pub hunk: Hunk,
    pub offset: u64,
    pub limit: u64,
    pub total_lines: u64,
    pub lines: Vec<HunkLine>,
    pub next_offset: Option<u64>,
}

/// Params of `hunk/rollback`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkRollbackParams {
    pub thread_id: String,
    pub hunk_id: String,
    /// Nothing is done without it.
    #[serde(default, deserialize_with = "super::or_default")]
    pub confirmed: bool,
}

/// Result of `hunk/rollback`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkRollbackResult {
    pub rolled_back: bool,
    /// Why it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One contiguous change of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    pub id: String,
    pub thread_id: String,
    /// An id of zeros if a client called the tool.
    pub turn_id: String,
    /// From the thread's directory on.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// `modify`, `create`, `delete` or `rename`.
    pub file_op: String,
    pub old_start: u64,
    /// With context.
    pub old_lines: u64,
    pub new_start: u64,
    /// With context.
    pub new_lines: u64,
    /// The first 400 lines.
    pub diff: Vec<HunkLine>,
    pub tool_call_id: String,
    pub tool_name: String,
    /// The plan that was carried out with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_review_id: Option<String>,
    /// The step of that plan, if the plan has only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_step_id: Option<String>,
    /// The item of the call, if a turn made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline_event_id: Option<String>,
    /// The newest checkpoint of the thread when the change was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
    pub rollback: RollbackState,
    /// A patch for `apply_patch` that undoes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_patch: Option<String>,
    pub created_at: String,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkLine {
    /// `context`, `added` or `removed`.
    pub kind: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_line: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_line: Option<u64>,
}

/// Whether a hunk can be undone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RollbackState {
    Available,
    Applied,
    Unavailable { reason: String },
    Conflict { reason: String },
}

/// Params of `hunk/recorded`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HunkRecorded {
    pub hunk: Hunk,
    pub timestamp: String,
}

/// Params of `hunk/rollbackRequested` and `hunk/rollbackCompleted`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkRollback {
    pub thread_id: String,
    pub turn_id: String,
    pub hunk_id: String,
    /// Why it was not rolled back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub timestamp: String,
}

/// Params of `workspace/changes/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceChangesListParams {
    pub thread_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
}

/// Result of `workspace/changes/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceChangesListResult {
    /// In the order in which they were seen.
    pub changes: Vec<Observation>,
}

/// Files that changed while a command ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observation {
    pub id: String,
    pub thread_id: String,
    /// An id of zeros if a client ran the command.
    pub turn_id: String,
    pub tool_call_id: String,
    pub tool_name: String,
    /// `versionControlReconciled`.
    pub source: String,
    /// The same as older clients know it.
    pub source_legacy: String,
    pub provider_id: String,
    /// `observedAfterTool`.
    pub confidence: String,
    /// Whether other tools worked in the same work tree meanwhile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    pub files: Vec<GitChangedFile>,
    pub created_at: String,
}

/// Params of `workspace/changeObserved`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceChangeObserved {
    pub change: Observation,
    pub timestamp: String,
}
