//! Slash commands.

use serde_json::Value;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `commands/list`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandsListParams {
    /// Whose commands; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// Result of `commands/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct CommandsListResult {
    /// All of them, by name.
    pub commands: Vec<Command>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// What follows its name.
    #[serde(default)]
    pub argument_hint: Option<String>,
    /// Where it comes from.
    pub source: String,
    /// The model it wants.
    #[serde(default)]
    pub model: Option<String>,
    /// The agent it wants.
    #[serde(default)]
    pub agent: Option<String>,
    /// Whether it runs commands.
    pub has_shell_includes: bool,
    /// Whether it reads from the network.
    pub has_url_includes: bool,
}

/// Params of `commands/expand`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandsExpandParams {
    /// Which command.
    pub name: String,
    /// What follows its name.
    #[serde(default, deserialize_with = "super::or_default")]
    pub arguments: String,
    /// Whose commands; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// Result of `commands/expand`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct CommandsExpandResult {
    pub command: Command,
    /// What the user would say.
    pub message: String,
    /// Additional context for the model.
    pub context_blocks: Vec<ContextBlock>,
    /// The only tools it may use; all if empty.
    pub allowed_tools: Vec<String>,
    /// The model it wants.
    #[serde(default)]
    pub model: Option<String>,
    /// The agent it wants.
    #[serde(default)]
    pub agent: Option<String>,
}

/// Additional context for the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct ContextBlock {
    pub id: String,
    /// What it is.
    pub kind: String,
    /// What it says.
    pub text: String,
    /// What is left out last.
    pub priority: i32,
    /// About how many tokens it costs.
    #[serde(default)]
    pub token_estimate: Option<u64>,
    /// More about it.
    pub metadata: Value,
}

/// Params of `commands/run`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandsRunParams {
    pub thread_id: String,
    /// Which command.
    pub name: String,
    /// What follows its name.
    #[serde(default, deserialize_with = "super::or_default")]
    pub arguments: String,
    /// Whose commands; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// Result of `commands/run`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct CommandsRunResult {
    /// The turn that was started.
    pub turn_id: String,
    /// The same again.
    #[serde(rename = "turnId")]
    pub turn_id_camel: String,
    /// What it was started with.
    pub expanded: CommandsExpandResult,
}
