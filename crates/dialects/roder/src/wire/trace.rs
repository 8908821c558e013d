//! Traces of child agents. Members are written in both spellings, see [`Dual`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dual::Dual;
use super::thread::Usage;

/// Params of `turn/subagentTraces/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubagentTracesListParams {
    pub thread_id: String,
    pub turn_id: String,
}

/// Result of `turn/subagentTraces/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentTracesListResult {
    /// In the order in which they were asked for, each as it is now.
    pub traces: Vec<Dual<TraceSummary>>,
}

/// Params of `turn/subagentTrace/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubagentTraceReadParams {
    pub thread_id: String,
    pub trace_id: String,
    /// Where to begin; at the first if it is not said.
    #[serde(default)]
    pub offset: Option<u64>,
    /// How many; 100 if it is not said.
    #[serde(default)]
    pub limit: Option<u64>,
    /// The one event whose text is read on.
    #[serde(default)]
    pub item_index: Option<u64>,
    /// From which character on, together with `itemIndex`.
    #[serde(default)]
    pub text_offset: Option<u64>,
}

/// Result of `turn/subagentTrace/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentTraceReadResult {
    pub trace_id: String,
    pub events: Vec<Dual<TraceDelta>>,
    /// The offset of what follows; absent if nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
}

/// A trace as it is at a moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceSummary {
    pub trace_id: String,
    pub parent: Dual<ParentTurn>,
    pub child_thread_id: String,
    /// Empty while it is queued.
    pub child_turn_id: String,
    pub title: String,
    /// The name of its definition.
    pub role: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    pub status: String,
    pub elapsed_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Dual<Usage>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<Dual<Destination>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_activity: Option<String>,
    /// The category of what went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_reason: Option<String>,
}

/// The turn that a child works for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParentTurn {
    pub thread_id: String,
    pub turn_id: String,
}

/// Where a child works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Destination {
    /// `in_process`, `local_worktree` or `remote_runner`.
    pub kind: String,
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_id: Option<String>,
}

/// Something that happened in a child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceDelta {
    pub trace_id: String,
    pub parent: Dual<ParentTurn>,
    pub item: Dual<TraceItem>,
    /// Its place in the trace.
    pub item_index: u64,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum TraceItem {
    /// Something was said.
    Message {
        /// `user` or `assistant`.
        role: String,
        content: Dual<TraceText>,
    },
    /// The model thought.
    Reasoning { content: Dual<TraceText> },
    /// A tool was called.
    ToolCall { tool_id: String, tool_name: String, input: Value },
    /// A tool came to its end.
    ToolResult { tool_id: String, is_error: bool, output: Dual<TraceText> },
    /// It is at another place in its life.
    Status {
        status: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
}

/// A text, or a part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceText {
    pub text: String,
    pub truncated: bool,
    /// The character that follows, for `textOffset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
}

/// Params of `turn/subagentTraceCreated` and `turn/subagentTraceCompleted`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceCreated {
    pub summary: Dual<TraceSummary>,
    pub timestamp: String,
}

/// Params of `turn/subagentTraceDelta`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceDeltaSent {
    pub delta: Dual<TraceDelta>,
    pub timestamp: String,
}

/// Params of `turn/subagentTraceStatusChanged`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceStatusChanged {
    pub trace_id: String,
    pub parent: Dual<ParentTurn>,
    pub status: String,
    /// What it did last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub elapsed_ms: u64,
    pub timestamp: String,
}

/// Params of `turn/subagentTraceFailed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceFailed {
    pub summary: Dual<TraceSummary>,
    /// A category, never the words of a provider.
    pub error: String,
    pub timestamp: String,
}
