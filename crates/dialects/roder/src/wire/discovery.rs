//! What there is: extensions, models, tools and agents.

use serde_json::Value;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dual::Dual;

/// Result of `extensions/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct ExtensionsListResult {
    /// All of them.
    pub extensions: Vec<Dual<Extension>>,
    /// What each was allowed, by its id.
    pub capability_statuses: BTreeMap<String, Vec<CapabilityStatus>>,
}

/// One extension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct Extension {
    pub id: String,
    pub name: String,
    pub version: String,
    /// Version of the interface it was made for.
    pub api_version: String,
    /// What it is for.
    pub description: String,
    /// What it adds.
    pub provides: Vec<Provides>,
    /// What it needs to be allowed.
    pub required_capabilities: Vec<RequiredCapability>,
}

/// A thing that an extension adds: its kind and its id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Provides {
    /// Answers as a model does.
    InferenceEngine(String),
    ToolProvider(String),
    /// Keeps threads.
    ThreadStore(String),
    /// Keeps how the files of a project were.
    CheckpointStore(String),
    /// Keeps memories.
    MemoryStore(String),
    /// Makes vectors of texts.
    EmbeddingProvider(String),
    /// Makes images.
    MediaGenerator(String),
    /// Says what changed in a repository.
    VersionControlProvider(String),
    /// Has a say in what is allowed.
    PolicyContributor(String),
    /// Runs background tasks.
    TaskExecutor(String),
    /// Starts further agents.
    SubagentDispatcher(String),
    /// Is told what happens.
    NotificationSink(String),
    /// Has something to tell the model.
    ContextProvider(String),
    /// Runs tools and tasks elsewhere.
    RemoteRunnerProvider(String),
}

/// Something an extension needs to be allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct RequiredCapability {
    /// What.
    pub id: String,
    /// What for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Whether something was allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct CapabilityStatus {
    /// What.
    pub id: String,
    /// Whether.
    pub decision: Decision,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Whether a capability was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Not decided yet.
    Requested,
    /// Yes.
    Granted,
    /// No.
    Denied,
}

/// Result of `model/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelListResult {
    /// The models of all providers.
    pub models: Vec<Model>,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Its id at its provider.
    pub id: String,
    /// Its name for people.
    pub name: String,
    pub model_provider: String,
    /// How hard it thinks by default.
    #[serde(default)]
    pub default_reasoning_effort: Option<String>,
    /// How hard it can think.
    pub reasoning_efforts: Vec<String>,
    /// Whether it is used unless a thread says otherwise.
    pub is_default: bool,
}

/// Result of `tools/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolsListResult {
    pub tools: Vec<ToolSpec>,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    pub name: String,
    /// What it is for.
    #[serde(default, deserialize_with = "super::or_default")]
    pub description: String,
    /// JSON Schema of its arguments.
    #[serde(default, deserialize_with = "super::or_default")]
    pub parameters: Value,
}

/// Params of `agents/list`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentsListParams {
    /// The directory whose definitions are meant; absolute.
    #[serde(default)]
    pub workspace: Option<String>,
    /// The thread whose directory is meant, if none is named.
    #[serde(default)]
    pub thread_id: Option<String>,
}

/// Result of `agents/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct AgentsListResult {
    /// The kinds of agents, by name.
    pub agents: Vec<Dual<AgentSpec>>,
    /// What is wrong with files that define some.
    #[serde(default)]
    pub diagnostics: Vec<AgentDiagnostic>,
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentDiagnostic {
    pub path: String,
    pub message: String,
}

/// A kind of agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct AgentSpec {
    /// Its name.
    pub agent_type: String,
    /// What it is for.
    pub description: String,
    /// The tools it may use.
    pub tools: Vec<String>,
    /// The model it uses, if not the thread's.
    #[serde(default)]
    pub model: Option<String>,
    /// What it may do.
    pub permission_mode: PermissionMode,
    /// How many turns it may take.
    #[serde(default)]
    pub max_turns: Option<u32>,
    /// How long its result may be.
    #[serde(default)]
    pub max_result_chars: Option<u32>,
}

/// What an agent may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// Look.
    ReadOnly,
    /// What its thread may.
    Default,
    /// Edit without asking.
    AutoEdit,
}
