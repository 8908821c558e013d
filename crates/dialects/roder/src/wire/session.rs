//! The policy mode, and everything that waits for an answer.

use super::Moment;

use serde_json::Value;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `session/get`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionGetParams {
    /// The thread that is meant; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}

/// Result of `session/get`, in the spellings of both generations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct SessionGetResult {
    /// The policy mode.
    pub mode: String,
    /// The plan that waits to be allowed.
    #[serde(default)]
    pub pending_plan_exit: Option<PendingPlanExit>,
    /// The same again.
    #[serde(rename = "pendingPlanExit", default)]
    pub pending_plan_exit_camel: Option<PendingPlanExitCamel>,
    /// What waits to be allowed.
    #[serde(rename = "pendingApprovals")]
    pub pending_approvals: Vec<ApprovalRequested>,
    /// What waits for answers.
    #[serde(rename = "pendingUserInputs")]
    pub pending_user_inputs: Vec<UserInputRequested>,
}

/// A plan that waits to be allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct PendingPlanExit {
    pub thread_id: String,
    pub turn_id: String,
    /// What to answer to.
    pub request_id: String,
    /// The mode it asks for.
    pub target_mode: String,
    /// What it is.
    #[serde(default)]
    pub plan_summary: Option<String>,
    /// What comes first.
    pub next_steps: Vec<String>,
    /// When it was asked.
    pub requested_at: String,
    /// When it will be refused.
    #[serde(default)]
    pub expires_at: Option<String>,
}

/// A plan that waits to be allowed, in the other spelling and as published decoders read its times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingPlanExitCamel {
    pub thread_id: String,
    pub turn_id: String,
    /// What to answer to.
    pub request_id: String,
    /// The mode it asks for.
    pub target_mode: String,
    /// What it is.
    #[serde(default)]
    pub plan_summary: Option<String>,
    /// What comes first.
    pub next_steps: Vec<String>,
    /// When it was asked.
    pub requested_at: Moment,
    /// When it will be refused.
    #[serde(default)]
    pub expires_at: Option<Moment>,
}

/// Params of `session/set_mode`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionSetModeParams {
    /// A policy mode.
    pub mode: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For this thread only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}

/// Result of `session/set_mode`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionSetModeResult {
    /// The mode now.
    pub mode: String,
}

/// Params of `session/exit_plan`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionExitPlanParams {
    /// What is answered.
    pub request_id: String,
    /// The answer.
    pub approved: bool,
}

/// Result of `session/exit_plan`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionExitPlanResult {
    /// Whether this was the answer that counted.
    pub resolved: bool,
    /// The mode now.
    pub mode: String,
}

/// Params of `session/resolve_approval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionResolveApprovalParams {
    /// What is answered.
    pub approval_id: String,
    /// The answer.
    pub approved: bool,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// For how long it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<Remember>,
}

/// For how long an approval holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Remember {
    /// As long as the thread.
    Session,
}

/// Result of methods that answer a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedResult {
    /// Whether this was the answer that counted.
    pub resolved: bool,
}

/// Params of `session/resolve_user_input`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionResolveUserInputParams {
    /// What is answered.
    pub request_id: String,
    /// The answers, in whatever shape.
    pub answers: Value,
}

/// Params of `session/approvalRequested`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequested {
    /// The thread that asks.
    pub thread_id: String,
    /// The turn that asks.
    pub turn_id: String,
    /// What to answer to.
    pub approval_id: String,
    /// The tool call that asks.
    pub tool_id: String,
    /// The tool that asks.
    pub tool_name: String,
    /// Why it asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tool's arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// What would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The threads that a child agent works for, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<ParentThread>,
}

/// A thread that a child agent works for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParentThread {
    pub thread_id: String,
    pub title: String,
}

/// Params of `session/approvalResolved`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalResolved {
    /// The thread that asked.
    pub thread_id: String,
    /// The turn that asked.
    pub turn_id: String,
    /// What was answered.
    pub approval_id: String,
    /// The tool call that asked.
    pub tool_id: String,
    /// The tool that asked.
    pub tool_name: String,
    /// The answer.
    pub approved: bool,
    /// Who gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why `approved` is false without a refusal: `answered_at_terminal` or `withdrawn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
}

/// Params of `session/userInputRequested`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserInputRequested {
    /// The thread that asks.
    pub thread_id: String,
    /// The turn that asks.
    pub turn_id: String,
    /// What to answer to.
    pub request_id: String,
    pub questions: Vec<Question>,
}

/// A question with a few answers to choose from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// A word or two.
    pub header: String,
    /// The name of the answer.
    pub id: String,
    pub question: String,
    /// What may be answered.
    pub options: Vec<QuestionOption>,
}

/// One answer to choose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    /// In a few words.
    pub label: String,
    /// What it means.
    pub description: String,
}

/// Params of `session/userInputResolved`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserInputResolved {
    /// The thread that asked.
    pub thread_id: String,
    /// The turn that asked.
    pub turn_id: String,
    /// What was answered.
    pub request_id: String,
    /// The answers; null if they are not waited for any more.
    pub answers: Value,
}

/// Params of `session/planExitRequested`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanExitRequested {
    /// The thread that asks.
    pub thread_id: String,
    /// The turn that asks.
    pub turn_id: String,
    /// What to answer to.
    pub request_id: String,
    /// The mode it asks for.
    pub target_mode: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_summary: Option<String>,
    /// What comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_steps: Option<Vec<String>>,
}

/// Params of `session/planExitResolved`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanExitResolved {
    /// The thread that asked.
    pub thread_id: String,
    /// The turn that asked.
    pub turn_id: String,
    /// What was answered.
    pub request_id: String,
    /// The answer.
    pub approved: bool,
    /// The mode it asked for.
    pub target_mode: String,
    /// The mode now.
    pub resolved_mode: String,
}

/// Params of `session/modeChanged`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModeChanged {
    /// The thread, if it is only for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The mode before.
    pub previous_mode: String,
    /// The mode now.
    pub mode: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
