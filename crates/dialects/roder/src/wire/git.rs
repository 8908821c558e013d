//! What a work tree changed: git's view of it, and the same as version control in general.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `git/changes/list`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitChangesListParams {
    /// Where to look; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Files at most; 500 if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Result of `git/changes/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitChangesListResult {
    pub repository_root: String,
    /// Null while no branch is checked out.
    pub branch: Option<String>,
    /// Null while there is no commit.
    pub base_ref: Option<String>,
    /// The commit where the branch left its base, or the empty tree.
    pub base_sha: String,
    pub head_sha: Option<String>,
    /// By path.
    pub files: Vec<GitChangedFile>,
    pub totals: GitChangesTotals,
    /// Whether there are more files than these.
    pub truncated: bool,
}

/// A file that differs from the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitChangedFile {
    pub path: String,
    pub old_path: Option<String>,
    pub status: GitChangeStatus,
    pub additions: u64,
    pub deletions: u64,
    pub binary: bool,
    /// Where the change lies; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub areas: Option<Vec<ChangeArea>>,
    /// Whether it was not read because of its size.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_large: bool,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GitChangeStatus {
    Added,
    Modified,
    Deleted,
    Renamed,
    Untracked,
}

/// Where a change lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeArea {
    Committed,
    Staged,
    Unstaged,
    Untracked,
}

/// The sum over all files, also over those that are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitChangesTotals {
    pub files: u64,
    pub additions: u64,
    pub deletions: u64,
}

/// Params of `git/changes/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitChangesReadParams {
    /// Where to look; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The file, from the top of the repository on.
    pub path: String,
    /// The line to begin at.
    #[serde(default, deserialize_with = "super::or_default")]
    pub offset: u64,
    /// Lines at most; 400 if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Only what lies here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<ChangeArea>,
    #[serde(default, deserialize_with = "super::or_default")]
    pub ignore_whitespace: bool,
}

/// Result of `git/changes/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitChangesReadResult {
    pub path: String,
    /// Lines of a unified diff, each with its line end.
    pub patch: String,
    pub offset: u64,
    pub limit: u64,
    pub total_lines: u64,
    pub next_offset: Option<u64>,
    pub binary: bool,
    /// Whether the file was not read because of its size.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_large: bool,
}

/// Params of `vcs/status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VcsStatusParams {
    pub workspace_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
}

/// Params of `vcs/changes/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VcsChangesListParams {
    pub workspace_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Files at most; 500 if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Params of `vcs/changes/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VcsChangesReadParams {
    pub workspace_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The file, from the top of the repository on.
    pub path: String,
    /// The line to begin at.
    #[serde(default, deserialize_with = "super::or_default")]
    pub offset: u64,
    /// Lines at most; 400 if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Only what lies here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<ChangeArea>,
    #[serde(default, deserialize_with = "super::or_default")]
    pub ignore_whitespace: bool,
}

/// Result of `vcs/status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VcsStatus {
    pub provider: VcsProvider,
    pub workspace: VcsWorkspace,
    /// The branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_line: Option<VcsLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<VcsBase>,
    pub capabilities: VcsCapabilities,
    pub changed_file_count: u64,
}

/// A program for version control.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VcsProvider {
    pub id: String,
    pub display_name: String,
}

/// A work tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VcsWorkspace {
    pub root: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A branch, in general.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VcsLine {
    pub id: String,
    pub name: String,
    /// `branch`.
    pub kind: String,
}

/// What changes are counted from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VcsBase {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha: Option<String>,
}

/// What can be asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VcsCapabilities {
    pub operations: Vec<VcsCapability>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VcsCapability {
    pub operation: String,
    /// `supported` or `unsupported`.
    pub state: String,
}

/// Result of `vcs/changes/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VcsChangesListResult {
    pub status: VcsStatus,
    /// By path.
    pub files: Vec<GitChangedFile>,
    pub totals: GitChangesTotals,
    /// Whether there are more files than these.
    pub truncated: bool,
}

/// Result of `vcs/changes/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VcsChangesReadResult {
    pub path: String,
    /// Lines of a unified diff, each with its line end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    pub offset: u64,
    pub total_lines: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    pub binary: bool,
}
