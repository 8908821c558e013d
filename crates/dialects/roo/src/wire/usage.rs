//! Tokens and tools, counted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::ToolName;

/// The tokens of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Tokens read, those from caches among them.
    pub total_tokens_in: u64,
    /// Tokens written.
    pub total_tokens_out: u64,
    /// Tokens written to caches, once a provider reported any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_cache_writes: Option<u64>,
    /// Tokens read from caches, once a provider reported any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_cache_reads: Option<u64>,
    /// What they cost, in dollars, as far as prices are known.
    pub total_cost: f64,
    /// Tokens of the last request and its answer.
    pub context_tokens: u64,
}

/// How often a tool was tried, and how often it failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCount {
    /// Calls.
    pub attempts: u64,
    /// Calls that failed.
    pub failures: u64,
}

/// The tools of a task.
pub type ToolUsage = BTreeMap<ToolName, ToolCount>;
