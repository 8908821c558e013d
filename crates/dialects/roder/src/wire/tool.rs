//! Calling tools, and tools that clients run.

use serde_json::Value;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `tools/call`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolsCallParams {
    /// In which thread's workspace.
    pub thread_id: String,
    pub tool_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// Whether to wait if it needs approval.
    #[serde(default, deserialize_with = "super::or_default")]
    pub wait_for_approval: bool,
}

/// Result of `tools/call`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct ToolsCallResult {
    /// What it says.
    pub text: String,
    /// Details.
    pub data: Value,
    /// Whether it failed.
    pub is_error: bool,
}

/// Params of `tools/resolve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolsResolveParams {
    /// Which call.
    pub request_id: String,
    /// What came of it; text, or JSON that becomes text.
    pub output: Value,
    /// Whether it failed.
    #[serde(default, deserialize_with = "super::or_default")]
    pub is_error: bool,
}

/// Params of `thread/toolExecutionRequested`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolExecutionRequested {
    /// The thread that asks.
    pub thread_id: String,
    /// The turn that asks.
    pub turn_id: String,
    /// What to answer to.
    pub request_id: String,
    /// What to do.
    pub call: ToolCall,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Its name.
    pub id: String,
    /// The tool.
    pub name: String,
    pub arguments: Value,
}

/// Params of `thread/toolExecutionResolved`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolExecutionResolved {
    /// The thread that asked.
    pub thread_id: String,
    /// The turn that asked.
    pub turn_id: String,
    /// What was answered.
    pub request_id: String,
    /// The tool call.
    pub tool_id: String,
    pub tool_name: String,
    /// What became of it.
    pub outcome: ToolOutcome,
    /// Whether it failed.
    pub is_error: bool,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolOutcome {
    /// It was answered.
    Resolved,
    /// It was not answered in time.
    TimedOut,
    /// It is not waited for any more.
    Cancelled,
}
