//! What an ask about a tool says: JSON inside of the text of a message.

use serde::{Deserialize, Serialize};

use super::words::SayTool;

/// A tool that asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the members are those of the original")]
pub struct ClineSayTool {
    pub tool: SayTool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_outside_workspace: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_protected: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_stats: Option<DiffStats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_pattern: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todos: Option<Vec<serde_json::Value>>,
}

impl ClineSayTool {
    /// A tool of which nothing more is said.
    #[must_use]
    pub fn new(tool: SayTool) -> Self {
        ClineSayTool {
            tool,
            path: None,
            content: None,
            is_outside_workspace: None,
            is_protected: None,
            diff_stats: None,
            regex: None,
            file_pattern: None,
            mode: None,
            reason: None,
            description: None,
            skill: None,
            todos: None,
        }
    }
}

/// Lines that a change adds and removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct DiffStats {
    pub added: u64,
    pub removed: u64,
}

/// A tool of a server that asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum McpUse {
    /// A tool.
    #[serde(rename_all = "camelCase")]
    UseMcpTool {
        /// The server.
        server_name: String,
        /// The tool.
        tool_name: String,
        /// The arguments: JSON text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<String>,
    },
}
