//! Memories: what is to be known in other threads as well. Results are in camelCase; what is reported of them
//! is written in both spellings, see [`DeepDual`](super::dual::DeepDual).

use std::borrow::Cow;

use rookery_model::{MemoryScope, ScopeName};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

use super::or_default;

/// Whom a memory is for, as it is written: `"Global"`, or one member such as `{"Project": "/src/a"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Scope {
    Global,
    User(String),
    Workspace(String),
    Project(String),
    Thread(String),
}

/// A scope as a request names it: a text such as `project` or `project:ID`, an object with `kind` and `id`
/// or `workspace`, or the form in which it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeParam(pub ScopeName);

/// What is said of a scope that is none.
const NO_SCOPE: &str =
    "expected global, project, user, project:ID, user:ID, thread:ID, or an object with kind and id";

impl<'de> Deserialize<'de> for ScopeParam {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        scope_name(&value).map(ScopeParam).ok_or_else(|| {
            let shown: String = value.to_string().chars().take(64).collect();
            de::Error::custom(format!("{shown} is not a scope; {NO_SCOPE}"))
        })
    }
}

impl JsonSchema for ScopeParam {
    fn schema_name() -> Cow<'static, str> {
        "ScopeParam".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": NO_SCOPE, "anyOf": [{ "type": "string" }, { "type": "object" }] })
    }
}

fn scope_name(value: &Value) -> Option<ScopeName> {
    let members = match value {
        Value::String(text) => return ScopeName::parse(text),
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    let text = |name: &str| members.get(name).and_then(Value::as_str).filter(|id| !id.is_empty());
    if let Some(kind) = members.get("kind") {
        let kind = kind.as_str()?.to_lowercase();
        return match text("id").or_else(|| text("workspace")) {
            Some(_) if kind == "global" => ScopeName::parse(&kind),
            Some(id) => ScopeName::parse(&format!("{kind}:{id}")),
            None => ScopeName::parse(&kind),
        };
    }
    let (kind, id) = members.iter().next().filter(|_| members.len() == 1)?;
    let id = id.as_str()?.to_owned();
    let scope = match kind.as_str() {
        "User" => MemoryScope::User(id),
        "Workspace" => MemoryScope::Workspace(id),
        "Project" => MemoryScope::Project(id),
        "Thread" => MemoryScope::Thread(id),
        _ => return None,
    };
    Some(ScopeName::Named(scope))
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryRecord {
    pub id: String,
    pub scope: Scope,
    /// The scope as one text, such as `project:/src/a`.
    pub scope_id: String,
    pub text: String,
    /// SHA-256 of the text.
    pub content_hash: String,
    pub metadata: Value,
    pub usage: MemoryUsage,
    pub deleted: bool,
    pub created_at: String,
    pub updated_at: String,
}

/// How often turns were given a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryUsage {
    pub use_count: u64,
    pub last_used_at: Option<String>,
}

/// A memory as a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryCitation {
    pub memory_id: String,
    pub scope_id: String,
    /// The part of it that fits.
    pub snippet: String,
    pub score_millis: u32,
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryResult {
    pub record: MemoryRecord,
    /// How well it fits, above 0 and at most 1.
    pub score: f64,
    pub citation: MemoryCitation,
}

/// Params of `memory/list`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MemoryListParams {
    /// Every scope if it is not said.
    pub scope: Option<ScopeParam>,
    /// 50 if it is not said, 200 at most.
    pub limit: Option<i64>,
}

/// Result of `memory/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryListResult {
    /// The one that was changed last first.
    pub memories: Vec<MemoryRecord>,
}

/// Params of `memory/read` and `memory/delete`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryIdParams {
    pub memory_id: String,
}

/// Result of `memory/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryReadResult {
    /// Null if there is none, or it was deleted.
    pub memory: Option<MemoryRecord>,
}

/// Params of `memory/save`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemorySaveParams {
    pub scope: ScopeParam,
    pub text: String,
    #[serde(default)]
    pub metadata: Value,
}

/// Result of `memory/save`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemorySaveResult {
    pub memory_id: String,
    /// Whether the scope had the text already.
    pub deduplicated: bool,
}

/// Params of `memory/update`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryUpdateParams {
    pub memory_id: String,
    pub text: String,
    /// What it had before if it is not said.
    #[serde(default)]
    pub metadata: Value,
}

/// Result of `memory/update`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryUpdateResult {
    pub memory_id: String,
}

/// Result of `memory/delete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryDeleteResult {
    pub deleted: bool,
}

/// Params of `memory/query`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryQueryParams {
    /// The newest memories if it is blank.
    pub text: String,
    /// Every scope if it is not said.
    #[serde(default)]
    pub scope: Option<ScopeParam>,
    /// 10 if it is not said, 100 at most.
    #[serde(default)]
    pub limit: Option<i64>,
    /// Whether the global scope is searched as well.
    #[serde(default, deserialize_with = "or_default")]
    pub include_global: bool,
}

/// Result of `memory/query`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryQueryResult {
    /// The best first.
    pub results: Vec<MemoryResult>,
    /// Whether the server of vectors could not be asked, so that only words counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub degraded: bool,
}

/// A provider of vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryProvider {
    pub id: String,
    pub name: String,
    pub default_model: String,
    pub models: Vec<MemoryModel>,
}

/// A model of a provider of vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryModel {
    pub id: String,
    /// 0 if it makes no vectors, or that is not known.
    pub dimensions: u32,
    pub default: bool,
}

/// A provider and a model of it. Params and result of `memory/provider/set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemorySelection {
    pub provider_id: String,
    pub model: String,
}

/// Result of `memory/provider/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryProviderListResult {
    pub providers: Vec<MemoryProvider>,
    pub selected: MemorySelection,
}

/// Params of `memory/recall/preview`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryRecallPreviewParams {
    pub thread_id: String,
    pub turn_id: String,
    pub text: String,
    /// The thread's project and the global scope if it is not said.
    #[serde(default)]
    pub scope: Option<ScopeParam>,
    /// 5 if it is not said, 100 at most.
    #[serde(default)]
    pub limit: Option<i64>,
    #[serde(default, deserialize_with = "or_default")]
    pub include_global: bool,
}

/// Result of `memory/recall/preview`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryRecallPreviewResult {
    pub citations: Vec<MemoryCitation>,
    pub results: Vec<MemoryResult>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub degraded: bool,
}

/// Params of `memory/saved` and `memory/updated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemorySaved {
    pub memory: MemoryRecord,
    pub timestamp: String,
}

/// Params of `memory/deleted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryDeleted {
    pub memory_id: String,
    pub timestamp: String,
}

/// Params of `memory/queried`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryQueried {
    /// Null for every scope.
    pub scope: Option<Scope>,
    pub query: String,
    pub result_count: usize,
    pub timestamp: String,
}

/// Params of `memory/recallReady`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRecallReady {
    pub thread_id: String,
    pub turn_id: String,
    pub citations: Vec<MemoryCitation>,
    pub timestamp: String,
}

/// Params of `memory/reembedQueued`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryReembedQueued {
    /// Null for every scope.
    pub scope: Option<Scope>,
    pub provider: MemorySelection,
    pub timestamp: String,
}

/// Params of `memory/providerChanged`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryProviderChanged {
    pub provider: MemorySelection,
    pub timestamp: String,
}

/// Params of `memory/observationRecorded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryObservationRecorded {
    pub thread_id: String,
    pub turn_id: String,
    pub memory_id: String,
    pub timestamp: String,
}

/// The names of what is reported of memories.
pub mod name {
    /// Carries a [`MemorySaved`](super::MemorySaved).
    pub const SAVED: &str = "memory/saved";
    /// Carries a [`MemorySaved`](super::MemorySaved).
    pub const UPDATED: &str = "memory/updated";
    /// Carries a [`MemoryDeleted`](super::MemoryDeleted).
    pub const DELETED: &str = "memory/deleted";
    /// Carries a [`MemoryQueried`](super::MemoryQueried).
    pub const QUERIED: &str = "memory/queried";
    /// Carries a [`MemoryRecallReady`](super::MemoryRecallReady).
    pub const RECALL_READY: &str = "memory/recallReady";
    /// Carries a [`MemoryReembedQueued`](super::MemoryReembedQueued).
    pub const REEMBED_QUEUED: &str = "memory/reembedQueued";
    /// Carries a [`MemoryProviderChanged`](super::MemoryProviderChanged).
    pub const PROVIDER_CHANGED: &str = "memory/providerChanged";
    /// Carries a [`MemoryObservationRecorded`](super::MemoryObservationRecorded).
    pub const OBSERVATION_RECORDED: &str = "memory/observationRecorded";
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(scope: MemoryScope) -> Option<ScopeName> {
        Some(ScopeName::Named(scope))
    }

    #[test]
    fn all_spellings_of_a_scope_mean_the_same() {
        for global in [json!("global"), json!("Global"), json!({"kind": "global"})] {
            assert_eq!(scope_name(&global), named(MemoryScope::Global), "{global}");
        }
        for here in [json!("project"), json!("workspace"), json!({"kind": "project"})] {
            assert_eq!(scope_name(&here), Some(ScopeName::Here), "{here}");
        }
        for project in [
            json!("project:/a"),
            json!({"Project": "/a"}),
            json!({"kind": "project", "workspace": "/a"}),
            json!({"kind": "project", "id": "/a"}),
        ] {
            let scope = MemoryScope::Project("/a".into());
            assert_eq!(scope_name(&project), named(scope), "{project}");
        }
        assert_eq!(scope_name(&json!("user")), Some(ScopeName::Myself));
        assert_eq!(scope_name(&json!({"kind": "user"})), Some(ScopeName::Myself));
        let thread = MemoryScope::Thread("t".into());
        assert_eq!(scope_name(&json!({"kind": "thread", "id": "t"})), named(thread.clone()));
        assert_eq!(scope_name(&json!({"Thread": "t"})), named(thread));
        let workspace = MemoryScope::Workspace("w".into());
        assert_eq!(scope_name(&json!({"Workspace": "w"})), named(workspace));
    }

    #[test]
    fn what_is_no_scope_is_refused() {
        for wrong in [
            json!("thread"),
            json!({"kind": "thread"}),
            json!({"kind": 7}),
            json!({"kind": "planet", "id": "x"}),
            json!({"Planet": "x"}),
            json!({"Project": 1}),
            json!({"Project": "a", "User": "b"}),
            json!({}),
            json!([]),
            json!(1),
            json!("project:"),
        ] {
            assert_eq!(scope_name(&wrong), None, "{wrong}");
        }
        let told = serde_json::from_value::<ScopeParam>(json!("thread")).unwrap_err().to_string();
        assert!(told.starts_with("\"thread\" is not a scope; expected global"), "{told}");
    }

    #[test]
    fn a_scope_is_written_as_published_clients_read_it() {
        assert_eq!(serde_json::to_value(Scope::Global).unwrap(), json!("Global"));
        let project = serde_json::to_value(Scope::Project("/a".into())).unwrap();
        assert_eq!(project, json!({"Project": "/a"}));
    }
}
