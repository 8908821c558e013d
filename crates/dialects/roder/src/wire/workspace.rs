//! Workspaces: named sets of directories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of `workspace/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceListResult {
    /// All that are known.
    pub workspaces: Vec<Workspace>,
}

/// A named set of directories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    /// Its id, which follows from its directories.
    pub id: String,
    pub name: String,
    /// Its directories.
    pub roots: Vec<Root>,
    /// The one used unless another is named.
    pub default_root_id: String,
    /// When it last changed, in milliseconds.
    pub updated_at: i64,
}

/// A directory of a workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Root {
    /// Its id, which follows from its path.
    pub id: String,
    /// The directory.
    pub path: String,
    pub name: String,
}

/// A directory as a client names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RootParams {
    /// The directory; absolute.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Params of `workspace/create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceCreateParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its directories.
    pub roots: Vec<RootParams>,
    /// The one used unless another is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_root_path: Option<String>,
}

/// Result of `workspace/create` and `workspace/update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceResult {
    /// As it is now.
    pub workspace: Workspace,
}

/// Params of `workspace/update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceUpdateParams {
    pub workspace_id: String,
    /// Its new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its new directories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roots: Option<Vec<RootParams>>,
    /// The one used unless another is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_root_id: Option<String>,
}

/// Params of `workspace/forget`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceForgetParams {
    pub workspace_id: String,
}

/// Result of `workspace/forget`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceForgetResult {
    pub workspace_id: String,
    /// Whether there was one.
    pub forgotten: bool,
}
