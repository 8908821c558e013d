//! Threads: the object, and starting, listing and reading them.

use super::{
    discovery::ToolSpec,
    provider::{Selection, SelectionMode},
    runner::{ThreadRunner, ThreadRunnerParams},
    turn::{Lifecycle, Turn},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A conversation with an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    pub id: String,
    /// The same.
    pub session_id: String,
    /// The beginning of what the user first said.
    pub preview: String,
    /// Who answers.
    pub model_provider: String,
    pub model: String,
    /// How that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection_mode: Option<SelectionMode>,
    /// When it was started, in seconds.
    pub created_at: i64,
    /// When something last happened, in seconds.
    pub updated_at: i64,
    /// Whether it is at work.
    pub status: ThreadStatus,
    /// Its directory.
    pub cwd: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Its directory of that workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Messages of users and agents.
    pub message_count: u64,
    /// Its turns, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Vec<Turn>>,
    /// Its tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether it is kept in memory only.
    pub ephemeral: bool,
    /// The only tools it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_allowlist: Option<Vec<String>>,
    /// What its developer tells the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer_instructions: Option<String>,
    /// Tools that a client runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_tools: Option<Vec<ToolSpec>>,
    /// The thread it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_thread_id: Option<String>,
    /// The thread that it works for, if it is a child agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_thread_id: Option<String>,
    /// Whether it was archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Where its tools run, if that is a runner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<ThreadRunner>,
}

/// Whether a thread is at work, and what it waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadStatus {
    /// Whether it is at work.
    #[serde(rename = "type")]
    pub state: ThreadState,
    /// The turn at work.
    #[serde(default)]
    pub active_turn_id: Option<String>,
    /// What it waits for, in the order of the flags.
    pub active_flags: Vec<ActiveFlag>,
}

/// Whether a thread is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ThreadState {
    /// It is not.
    Idle,
    /// It is.
    Running,
}

/// What a running thread waits for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum ActiveFlag {
    /// A tool waits to be allowed.
    ApprovalRequired,
    /// Questions wait for answers.
    UserInputRequired,
    /// A plan waits to be allowed.
    PlanExitRequired,
    /// A client's tool is at work.
    ExternalToolPending,
    /// It is being stopped.
    Interrupting,
}

/// Tokens. Cached ones and those written to the cache are part of the prompt's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct Usage {
    /// Read.
    pub prompt_tokens: u64,
    /// Written.
    pub completion_tokens: u64,
    /// Both.
    pub total_tokens: u64,
    /// Read from the cache.
    pub cached_prompt_tokens: u64,
    /// Written to the cache.
    pub cache_creation_prompt_tokens: u64,
    /// Which part of the prompt was cached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_hit_rate: Option<f64>,
}

/// Params of `thread/start`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadStartParams {
    /// Its directory; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Provider and model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Reasoning effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The same in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// Whether to keep it in memory only.
    #[serde(default, deserialize_with = "super::or_default")]
    pub ephemeral: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Its directory of that workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_id: Option<String>,
    /// The only tools it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_allowlist: Option<Vec<String>>,
    /// What to tell the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer_instructions: Option<String>,
    /// Tools that the client runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_tools: Option<Vec<ToolSpec>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where its tools run instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<ThreadRunnerParams>,
}

/// Result of `thread/start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadStartResult {
    pub thread: Thread,
    /// Which model answers.
    pub model: String,
    /// Who answers.
    pub model_provider: String,
    /// How hard it thinks; `none` if that is not known.
    pub reasoning: String,
    /// How that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection_mode: Option<SelectionMode>,
    /// Its directory.
    pub cwd: String,
    pub workspace_id: String,
    /// Its directory of that workspace.
    pub root_id: String,
}

/// Params of `thread/list`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadListParams {
    /// How many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Where to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Archived ones instead.
    #[serde(default, deserialize_with = "super::or_default")]
    pub archived: bool,
    /// Only those of this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Only those with this in their name or preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_term: Option<String>,
}

/// Result of `thread/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadListResult {
    /// Threads, the last touched first.
    pub data: Vec<Thread>,
    /// Where older ones go on.
    #[serde(default)]
    pub next_cursor: Option<String>,
    /// Where newer ones go on.
    #[serde(default)]
    pub backwards_cursor: Option<String>,
}

/// Params of `thread/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadReadParams {
    pub thread_id: String,
    /// With its turns.
    #[serde(default, deserialize_with = "super::or_default")]
    pub include_turns: bool,
}

/// Result of `thread/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadReadResult {
    /// The thread, if there is one.
    #[serde(default)]
    pub thread: Option<Thread>,
    /// What became of its turns.
    pub lifecycle: LifecycleLog,
    /// What the policy decided lately, oldest first, if the turns were asked for and anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_decisions: Option<Vec<PolicyDecision>>,
}

/// What the policy, or a person, decided on a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyDecision {
    /// The call.
    pub tool_id: String,
    pub tool_name: String,
    /// The mode of that moment.
    pub mode: String,
    /// `allowed`, `requires_approval`, `auto_approved` or `denied`, or `approved` by a person.
    pub decision: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched_rule: Option<String>,
    /// `model`, or `client` for what a client called by itself.
    pub source: String,
    /// Who decided, if it was not the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When.
    pub timestamp: String,
}

/// What became of the turns of a thread.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LifecycleLog {
    /// In their order.
    pub records: Vec<Lifecycle>,
    /// How many could not be read.
    pub corrupt_record_count: u64,
}

/// Params of `thread/history/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadHistoryReadParams {
    pub thread_id: String,
    /// Only what is before this cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// How many turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// How much of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

/// Result of `thread/history/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadHistoryReadResult {
    /// The thread with these turns, if there is one.
    #[serde(default)]
    pub thread: Option<Thread>,
    /// Where older ones go on.
    #[serde(default)]
    pub before: Option<String>,
    /// Whether there are older ones.
    pub has_more: bool,
}
