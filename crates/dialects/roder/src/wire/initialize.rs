//! `initialize`: who we are, and what a client can take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `initialize`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// Who asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_info: Option<ClientInfo>,
    /// What it can take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<ClientCapabilities>,
}

/// Who a client is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientInfo {
    #[serde(default, deserialize_with = "super::or_default")]
    pub name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// What a client can take.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientCapabilities {
    /// Whether it wants methods that may change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experimental_api: Option<bool>,
    /// Notifications it does not want, by their exact names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opt_out_notification_methods: Option<Vec<String>>,
    /// Whether reasoning comes under its own methods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_methods: Option<bool>,
}

/// Result of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// The provider used unless a thread says otherwise.
    pub provider: String,
    /// The model used unless a thread says otherwise.
    pub model: String,
    /// The server's directory, if it has one.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Who answers.
    pub server_info: ServerInfo,
    pub protocol_version: u32,
    /// The live policy mode.
    pub policy_mode: String,
    /// What can be asked.
    pub capabilities: ServerCapabilities,
    /// How a remote client got in; absent for local ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<Remote>,
}

/// Who the server is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfo {
    pub name: String,
    pub version: String,
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerCapabilities {
    /// Every method, by name.
    pub methods: Vec<String>,
}

/// How a remote client got in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Remote {
    /// Always true: others do not get in.
    pub authenticated: bool,
    /// In which ways a token may be presented.
    pub auth_schemes: Vec<String>,
    /// The server's name for people.
    pub server_name: String,
    /// The directory it serves.
    #[serde(default)]
    pub workspace: Option<String>,
}
