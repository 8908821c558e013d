//! Turns, and the end of all of them.

use super::{input::InputItem, item::Item, thread::Usage};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One turn of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    pub id: String,
    /// What it consists of; empty in notifications.
    pub items: Vec<Item>,
    /// Always `default`.
    pub items_view: String,
    /// Where it is in its life.
    pub status: TurnStatus,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TurnError>,
    /// When it began, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// When it ended, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<i64>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Its tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
}

/// Where a turn is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TurnStatus {
    /// It runs, or waits for an answer.
    InProgress,
    /// It came to its end.
    Completed,
    Failed,
    Interrupted,
}

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnError {
    /// In words.
    pub message: String,
    /// For programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// Params of `turn/start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnStartParams {
    pub thread_id: String,
    /// What the user says, if `input` has no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What the user says.
    #[serde(default, deserialize_with = "super::or_default")]
    pub input: Vec<InputItem>,
    /// Whether the ledger has to be kept.
    #[serde(default, deserialize_with = "super::or_default")]
    pub task_ledger_required: bool,
    /// Provider and model, for this turn only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// Which model, this once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Reasoning effort, for this turn only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What to tell the model, this once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer_context: Option<String>,
    /// The live mode to set first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_mode: Option<String>,
    /// How long it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_seconds: Option<u64>,
}

/// Result of `turn/start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnStartResult {
    /// The turn that takes the input.
    pub turn_id: String,
    /// The same as an object.
    pub turn: Turn,
}

/// Params of `turn/steer`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnSteerParams {
    pub thread_id: String,
    /// The turn that is meant.
    pub expected_turn_id: String,
    /// What the user says, if `input` has no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What the user says.
    #[serde(default, deserialize_with = "super::or_default")]
    pub input: Vec<InputItem>,
}

/// Result of `turn/steer` and `turn/interrupt`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnIdResult {
    pub turn_id: String,
}

/// Params of `turn/interrupt`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnInterruptParams {
    pub thread_id: String,
    /// The turn that is meant; the running one without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
}

/// What became of a turn, for those who watch over it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lifecycle {
    pub thread_id: String,
    pub turn_id: String,
    /// Where it is.
    pub state: String,
    /// Whether what it started is gone.
    pub cleanup: String,
    /// Who looks after it.
    pub ownership: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When.
    pub timestamp: String,
}

/// Params of `runtime/drain`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeDrainParams {
    /// How long to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// Result of `runtime/drain`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeDrainResult {
    /// How it went.
    pub status: DrainStatus,
    /// Turns that were stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted_turn_ids: Option<Vec<String>>,
    /// Turns that did not stop in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_turn_ids: Option<Vec<String>>,
    /// Commands that were ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_process_ids: Option<Vec<String>>,
}

/// How a drain went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DrainStatus {
    /// Everything has ended.
    Clean,
    /// Something did not end in time.
    DeadlineExceeded,
    /// Something could not be stored.
    PersistenceFailed,
}
