//! Sessions: terminals and conversations under one kind of name.

use std::path::PathBuf;

use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Empty;

/// A terminal or a conversation, as those who supervise it see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its universally unique name.
    pub id: String,
    pub title: String,
    /// Where it works.
    pub cwd: String,
    /// The terminal, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<u64>,
    /// The conversation, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The top level of the repository that it was opened for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The linked working tree, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// Params of `rookery/sessions/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionList {
    /// Only those that work in this directory or below it; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
}

call!("rookery/sessions/list" SessionList -> Sessions);

/// Result of `rookery/sessions/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sessions {
    /// Terminals, then conversations that are at work or were lately.
    pub sessions: Vec<Session>,
}

/// Params of `rookery/sessions/close`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionClose {
    /// The session, by its id or title.
    pub session: String,
}

call!("rookery/sessions/close" SessionClose -> Empty);

/// Params of `rookery/sessions/create`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionCreate {
    /// Its title; made of repository and branch if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The repository or directory to work in, absolute; home if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<PathBuf>,
    /// The branch of a new worktree, or a label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether it gets a worktree of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worktree: bool,
    /// A worktree that exists and is used, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing_worktree: Option<PathBuf>,
    /// The agent to start in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

call!("rookery/sessions/create" SessionCreate -> Session);
