//! Settings that outlive a connection.

use serde_json::Value;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of `settings/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct SettingsGetResult {
    pub web_search: WebSearchSettings,
    /// The index of files.
    pub search_index: SearchIndexSettings,
    /// The shell of tools.
    pub shell: ShellSettings,
    /// The provider of new threads.
    pub default_provider: String,
    /// The model of new threads.
    pub default_model: String,
    /// How hard it thinks; `none` if that is not known.
    pub default_reasoning: String,
    /// The policy mode at the start.
    pub default_mode: String,
    /// Always false.
    pub agent_swarm_mode: bool,
    /// Always false.
    pub ultra_mode: bool,
    /// Whether long outputs are kept in files.
    pub file_backed_dynamic_context: bool,
}

/// Searching the web.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct WebSearchSettings {
    /// `disabled`, `cached`, `auto` or `live`.
    pub mode: String,
    /// Always false.
    pub external_enabled: bool,
    /// Who searches, if not the model's provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_provider: Option<String>,
    /// Who could.
    pub providers: Vec<Value>,
}

/// The index of files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct SearchIndexSettings {
    /// Whether there is one.
    pub enabled: bool,
}

/// The shell of tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct ShellSettings {
    /// The one used.
    pub shell: String,
    /// Those there are.
    pub options: Vec<String>,
}

/// Params of `settings/set_web_search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsSetWebSearchParams {
    /// `disabled`, `cached`, `auto` or `live`.
    pub mode: String,
}

/// Result of `settings/set_web_search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct SettingsSetWebSearchResult {
    /// As it is now.
    pub web_search: WebSearchSettings,
}

/// Params of `settings/set_default_mode`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsSetDefaultModeParams {
    /// A policy mode.
    pub mode: String,
}

/// Result of `settings/set_default_mode`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct SettingsSetDefaultModeResult {
    /// As it is now.
    pub default_mode: String,
}

/// Params of `settings/set_shell`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsSetShellParams {
    /// Path or name of a shell.
    pub shell: String,
}

/// Result of `settings/set_shell`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct SettingsSetShellResult {
    /// As it is now.
    pub shell: ShellSettings,
}

/// Params of `settings/set_search_index`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsSetSearchIndexParams {
    /// Whether it is enabled.
    pub enabled: bool,
}

/// Result of `settings/set_search_index`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct SettingsSetSearchIndexResult {
    /// As it is now.
    pub search_index: SearchIndexSettings,
    /// The same again.
    pub enabled: bool,
}

/// Params of `settings/set_file_backed_dynamic_context`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsSetDynamicContextParams {
    /// Whether long outputs are kept in files.
    pub enabled: bool,
}

/// Result of `settings/set_file_backed_dynamic_context`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct SettingsSetDynamicContextResult {
    /// As it is now.
    pub enabled: bool,
}
