//! Params and results about memories: what is to be known in other threads as well.

use std::path::PathBuf;

use rookery_core as core;
use rookery_model as model;
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::format_time;

/// Params of `rookery/memory/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryList {
    /// `global`, `project`, `user`, `project:ID`, `user:ID` or `thread:ID`; every scope if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The directory whose project `project` means; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// 50 if not said, 200 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

call!("rookery/memory/list" MemoryList -> Memories);

/// Result of `rookery/memory/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Memories {
    /// The one that was changed last first.
    pub memories: Vec<Memory>,
}

/// Params of `rookery/memory/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryGet {
    pub memory: String,
}

call!("rookery/memory/get" MemoryGet -> Memory);

/// Params of `rookery/memory/save`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemorySave {
    pub text: String,
    /// As for `rookery/memory/list`; `project` if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}

call!("rookery/memory/save" MemorySave -> MemorySaved);

/// Result of `rookery/memory/save`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemorySaved {
    pub memory: Memory,
    /// Whether the scope had the text already.
    pub deduplicated: bool,
}

/// Params of `rookery/memory/update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryUpdate {
    pub memory: String,
    pub text: String,
    /// What it had before if not said.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}

call!("rookery/memory/update" MemoryUpdate -> Memory);

/// Params of `rookery/memory/delete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryDelete {
    pub memory: String,
}

call!("rookery/memory/delete" MemoryDelete -> super::Empty);

/// Params of `rookery/memory/query`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemorySearch {
    /// The newest memories if it is blank.
    pub text: String,
    /// As for `rookery/memory/list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Whether the global scope is searched as well.
    #[serde(default)]
    pub include_global: bool,
    /// 10 if not said, 100 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

call!("rookery/memory/query" MemorySearch -> MemoryResults);

/// Result of `rookery/memory/query`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryResults {
    /// The best first.
    pub results: Vec<MemoryResult>,
    /// Whether the server of vectors could not be asked, so that only words counted.
    pub degraded: bool,
}

/// Params of `rookery/memory/recall`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryRecall {
    pub thread: String,
    /// What the turn would be told.
    pub text: String,
    /// 5 if not said, 100 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

call!("rookery/memory/recall" MemoryRecall -> MemoryResults);

/// Params of `rookery/memory/providers`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryProviders {}

call!("rookery/memory/providers" MemoryProviders -> MemoryProviderList);

/// Result of `rookery/memory/providers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryProviderList {
    pub providers: Vec<MemoryProvider>,
    /// Who finds memories now.
    pub selected: MemoryChoice,
}

/// Who can find memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryProvider {
    pub id: String,
    pub name: String,
    /// The first is the usual one.
    pub models: Vec<MemoryModel>,
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryModel {
    pub id: String,
    /// How many numbers its vectors have; 0 if it makes none, or that is not known.
    pub dimensions: u32,
}

/// Params of `rookery/memory/choose`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryChoose {
    pub provider: String,
    /// The provider's usual one if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

call!("rookery/memory/choose" MemoryChoose -> MemoryChoice);

/// Who finds memories, with which model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryChoice {
    pub provider: String,
    pub model: String,
}

impl From<core::MemoryProviderView> for MemoryProvider {
    fn from(view: core::MemoryProviderView) -> Self {
        let models = view.models.into_iter();
        let models = models.map(|it| MemoryModel { id: it.id, dimensions: it.dimensions });
        MemoryProvider { id: view.id, name: view.name, models: models.collect() }
    }
}

impl From<core::MemoryChoice> for MemoryChoice {
    fn from(choice: core::MemoryChoice) -> Self {
        MemoryChoice { provider: choice.provider, model: choice.model }
    }
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryResult {
    pub memory: Memory,
    /// How well it fits, above 0 and at most 1.
    pub score: f64,
    /// The part of it that fits.
    pub snippet: String,
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    pub id: String,
    pub scope: String,
    pub text: String,
    /// SHA-256 of the text.
    pub content_hash: String,
    pub metadata: Value,
    /// How often turns were given it.
    pub use_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
    pub created_at: String,
    pub updated_at: String,
}

impl From<&model::Memory> for Memory {
    fn from(memory: &model::Memory) -> Self {
        Memory {
            id: memory.id.clone(),
            scope: memory.scope.id(),
            text: memory.text.clone(),
            content_hash: memory.content_hash.clone(),
            metadata: serde_json::from_str(&memory.metadata).unwrap_or_default(),
            use_count: memory.use_count,
            last_used_at: memory.last_used_at.map(format_time),
            created_at: format_time(memory.created_at),
            updated_at: format_time(memory.updated_at),
        }
    }
}

impl From<&core::MemoryHit> for MemoryResult {
    fn from(hit: &core::MemoryHit) -> Self {
        let snippet = hit.citation.snippet.clone();
        MemoryResult { memory: (&hit.memory).into(), score: hit.score, snippet }
    }
}
