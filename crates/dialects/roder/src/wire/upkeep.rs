//! Upkeep of threads: putting away, naming, forking, shortening, and their goals.

use super::thread::Thread;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of methods that need nothing but a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadIdParams {
    pub thread_id: String,
}

/// Result of `thread/archive` and `thread/unarchive`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadArchiveResult {
    pub thread_id: String,
    /// Whether it is archived now.
    pub archived: bool,
}

/// Result of `thread/delete`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadDeleteResult {
    pub thread_id: String,
    /// Whether there was one.
    pub deleted: bool,
}

/// Params of `thread/name/set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadNameSetParams {
    pub thread_id: String,
    /// Its new name.
    pub name: String,
}

/// Result of `thread/name/set`, and params of `thread/name/updated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadNameResult {
    pub thread_id: String,
    /// Its name, if it has one.
    #[serde(default)]
    pub name: Option<String>,
}

/// Params of `thread/fork`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadForkParams {
    pub thread_id: String,
    /// The last turn to take along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_turn_id: Option<String>,
    /// The new thread's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who shall copy its directory; a fork works in the same one, and says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

/// Result of `thread/fork`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadForkResult {
    /// The new thread.
    pub thread: Thread,
    /// Where it works.
    pub fork: Fork,
    /// What was wanted and is not so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The directory of a fork.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fork {
    /// Its id: the new thread's.
    pub id: String,
    /// Whose it is.
    pub ownership: ForkOwnership,
    /// Who made it: `shared`, for it is the directory of the thread that was forked.
    pub provider_id: String,
    /// The directory of the thread that was forked.
    pub source_workspace: String,
    /// The directory of the new thread.
    pub workspace: String,
    /// Always `active`.
    pub status: String,
    /// How it came to be.
    pub provenance: ForkProvenance,
    /// Always `explicit`: nothing is removed by itself.
    pub cleanup: String,
}

/// Whose a fork is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForkOwnership {
    /// The thread that was forked.
    pub creator_thread_id: String,
    /// The new thread.
    pub owner_thread_id: String,
}

/// How a fork came to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForkProvenance {
    /// When.
    pub created_at: String,
}

/// Result of `thread/rollback`, and params of `thread/started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadResult {
    pub thread: Thread,
}

/// Params of `thread/rollback`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadRollbackParams {
    pub thread_id: String,
    /// How many turns to forget.
    pub num_turns: u32,
}

/// Params of `thread/compact`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadCompactParams {
    pub thread_id: String,
    /// The turn that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// What has to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preserve_hint: Option<String>,
}

/// Result of `thread/compact`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadCompactResult {
    /// Whether anything was left out.
    pub compacted: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// About how many tokens there were.
    pub estimated_tokens_before: u64,
    /// About how many there are.
    pub estimated_tokens_after: u64,
}

/// Params of `thread/goal/set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalSetParams {
    pub thread_id: String,
    /// What it is meant to reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// Where that stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<GoalStatus>,
    /// Tokens it may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<u64>,
}

/// Result of `thread/goal/get` and `thread/goal/set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalResult {
    /// The goal, if there is one.
    #[serde(default)]
    pub goal: Option<Goal>,
}

/// Result of `thread/goal/clear`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalClearResult {
    /// Whether there was one.
    pub cleared: bool,
}

/// What a thread is meant to reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Goal {
    pub thread_id: String,
    /// In words.
    pub objective: String,
    /// Where it stands.
    pub status: GoalStatus,
    /// Tokens it may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<u64>,
    /// Tokens it has cost.
    pub tokens_used: u64,
    /// Seconds it has cost.
    pub time_used_seconds: u64,
    /// When it was set.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
}

/// Where a goal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GoalStatus {
    /// Worked on.
    Active,
    /// Set aside.
    Paused,
    /// The agent cannot go on.
    Blocked,
    /// The provider's limit was reached.
    UsageLimited,
    /// The budget is spent.
    BudgetLimited,
    /// Reached.
    Complete,
}
