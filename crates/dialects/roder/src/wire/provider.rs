//! Providers and the choice of a model.

use rookery_wire::Secret;
use serde_json::Value;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of `providers/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct ProvidersListResult {
    /// The provider used unless a thread says otherwise.
    pub active_provider: String,
    pub active_model: String,
    /// How hard it thinks; `none` if that is not known.
    pub active_reasoning: String,
    /// How the model was chosen.
    #[serde(rename = "selectionMode")]
    pub selection_mode: SelectionMode,
    /// Ways to have it chosen; there are none.
    #[serde(rename = "routingOptions")]
    pub routing_options: Vec<Value>,
    /// All providers, in their order.
    pub providers: Vec<Provider>,
}

/// One provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct Provider {
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it is.
    #[serde(default)]
    pub description: Option<String>,
    /// How it is entered.
    pub auth_type: AuthType,
    /// What the key is called.
    #[serde(default)]
    pub auth_label: Option<String>,
    /// Whether a call can be made now.
    pub authenticated: bool,
    /// More about that.
    #[serde(default)]
    pub auth_detail: Option<String>,
    /// Whether it is a good first choice.
    pub recommended: bool,
    /// Its place in lists.
    pub sort_order: i32,
    /// What it can do.
    pub capabilities: ProviderCapabilities,
    /// Its models; empty if it does not tell.
    pub models: Vec<ProviderModel>,
}

/// How a provider is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthType {
    /// Without anything.
    None,
    /// With a key.
    ApiKey,
    /// Through a browser.
    OAuth,
}

/// What a provider can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct ProviderCapabilities {
    /// Answers piece by piece.
    pub streaming: bool,
    pub tool_calls: bool,
    /// Calls several at once.
    pub parallel_tool_calls: bool,
    /// Tells what it thought.
    pub reasoning_summaries: bool,
    /// Answers in a given shape.
    pub structured_output: bool,
    /// Sees images.
    pub image_input: bool,
    /// Remembers prompts.
    pub prompt_cache: bool,
    /// Tells more about its answers.
    pub provider_metadata: bool,
    /// Finds tools by itself.
    pub tool_search: bool,
}

/// A model as its provider lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct ProviderModel {
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// How many tokens it takes.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// How hard it thinks by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_reasoning: Option<String>,
    /// How hard it can think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported_reasoning: Option<Vec<ReasoningEffort>>,
}

/// One way to think.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct ReasoningEffort {
    /// Its name.
    pub effort: String,
    /// What it means.
    pub description: String,
}

/// Params of `providers/configure`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvidersConfigureParams {
    pub provider: String,
    pub api_key: Secret,
}

/// Result of `providers/configure`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct ProvidersConfigureResult {
    /// The provider, by its own id.
    pub provider: String,
    /// Whether a call can be made now.
    pub authenticated: bool,
}

/// Params of `providers/clear`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvidersClearParams {
    pub provider: String,
}

/// Result of `providers/clear`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct ProvidersClearResult {
    /// The provider, by its own id.
    pub provider: String,
}

/// Params of `providers/select`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvidersSelectParams {
    pub provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Reasoning effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// For this thread only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}

/// Result of `providers/select`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvidersSelectResult {
    /// The provider chosen.
    pub provider: String,
    /// The model chosen.
    pub model: String,
    /// How hard it thinks; `none` if that is not known.
    pub reasoning: String,
    /// What is known of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_profile: Option<Value>,
    /// What changes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_switch_summary: Option<String>,
}

/// Params of `model/select`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelSelectParams {
    /// What is chosen.
    pub selection: Selection,
    /// For this thread only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}

/// Result of `model/select`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelSelectResult {
    /// The provider chosen.
    pub provider: String,
    /// The model chosen.
    pub model: String,
    /// How hard it thinks; `none` if that is not known.
    pub reasoning: String,
    /// What is known of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_profile: Option<Value>,
    /// What changes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_switch_summary: Option<String>,
    /// How it was chosen.
    pub selection_mode: SelectionMode,
}

/// A choice as a client makes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Selection {
    /// This model.
    Manual {
        /// Its provider.
        provider: String,
        /// Its id; the provider's default without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Reasoning effort.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
    },
    /// Whichever this option chooses.
    Auto {
        /// The option.
        option_id: String,
    },
}

/// A choice as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SelectionMode {
    /// This model.
    Manual {
        /// Its provider.
        provider: String,
        /// Its id.
        model: String,
        /// How hard it thinks, if that was chosen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
    },
    /// Whichever this option chooses.
    Auto {
        /// The option.
        option_id: String,
    },
}
