//! Slash commands of a workspace.

use std::path::PathBuf;

use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TurnOnly;

/// Params of `rookery/commands/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandList {
    /// Whose commands; absolute. Where agents usually work if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
}

call!("rookery/commands/list" CommandList -> Commands);

/// Result of `rookery/commands/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commands {
    /// All of them, by name.
    pub commands: Vec<Command>,
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What follows its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_hint: Option<String>,
    /// Where it comes from, such as `workspace`.
    pub source: String,
}

/// Params of `rookery/commands/run`: a turn with the expanded command. A thread whose turn runs is
/// refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandRun {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
    /// Which command, without the slash.
    pub name: String,
    /// What follows its name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arguments: String,
}

call!("rookery/commands/run" CommandRun -> TurnOnly);
