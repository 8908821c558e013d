//! Imports of other agents' files, and skills.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::or_default;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowScanParams {
    /// The client's directory if none is named.
    #[serde(default)]
    pub workspace: Option<String>,
    /// Whether files of the user's home and installed plugins are scanned as well.
    #[serde(default, deserialize_with = "or_default")]
    pub include_user: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowPreviewParams {
    #[serde(default)]
    pub workspace: Option<String>,
    /// All items if none is named.
    #[serde(default)]
    pub item_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowEnableParams {
    #[serde(default)]
    pub workspace: Option<String>,
    pub item_id: String,
    /// Approves that the item starts programs or contacts servers.
    #[serde(default, deserialize_with = "or_default")]
    pub approve_side_effects: bool,
    /// The hash of the item when it was shown; another one is an error.
    #[serde(default)]
    pub source_hash: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowItemParams {
    #[serde(default)]
    pub workspace: Option<String>,
    pub item_id: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowRefreshParams {
    #[serde(default)]
    pub workspace: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowScanResult {
    pub scan: ImportScan,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowPreviewResult {
    pub items: Vec<ImportItem>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowEnableResult {
    pub item: ImportItem,
    pub decision: ImportDecision,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowIgnoreResult {
    pub item_id: String,
    pub decision: ImportDecision,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowRefreshResult {
    pub scan: ImportScan,
    /// Items that are enabled and not as they were.
    pub stale: Vec<ImportItem>,
    /// Decisions to enable items whose files are gone.
    pub missing: Vec<ImportDecision>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowRemoveResult {
    pub item_id: String,
    /// Always `removed`.
    pub state: String,
    pub decision: ImportDecision,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportScan {
    pub workspace: String,
    /// Sorted by id.
    pub items: Vec<ImportItem>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ImportError>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportError {
    pub path: String,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportItem {
    pub id: String,
    pub title: String,
    pub summary: String,
    pub source: ImportSource,
    /// `detected`, `previewed`, `enabled`, `ignored`, `disabled`, `removed`, `stale` or `failed`.
    pub state: String,
    /// `passive`, `readsWorkspace`, `startsProcess`, `runsHook` or `unknown`.
    pub risk: String,
    pub command_capable: bool,
    pub approval_required: bool,
    /// What the item holds, without secrets.
    pub preview: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ImportConflict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled_at: Option<String>,
    /// Whether it takes effect without a decision.
    #[serde(default)]
    pub live: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportSource {
    /// `guidance`, `rule`, `skill`, `slashCommand`, `agent`, `mcpServer`, `hook`, `plugin` or `unknown`.
    pub source_type: String,
    /// From the workspace on; absolute for files of the user.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// SHA-256 of the file.
    pub hash: String,
    pub detected_at: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportConflict {
    pub field: String,
    pub existing: String,
    pub incoming: String,
    pub detail: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportDecision {
    pub item_id: String,
    /// `enable`, `ignore`, `disable` or `remove`.
    pub decision: String,
    pub source_hash: String,
    pub approved_side_effects: bool,
    pub decided_at: String,
    pub workspace: String,
    pub path: String,
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportsDetected {
    pub workspace: String,
    pub items: Vec<ImportItem>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ImportError>,
    pub timestamp: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportPreviewed {
    pub item: ImportItem,
    pub timestamp: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportEnabled {
    pub item: ImportItem,
    pub decision: ImportDecision,
    pub timestamp: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportDisabled {
    pub item_id: String,
    pub decision: ImportDecision,
    pub timestamp: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportStale {
    pub item: ImportItem,
    pub previous_hash: String,
    pub timestamp: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportFailed {
    pub item_id: Option<String>,
    pub error: ImportError,
    pub timestamp: String,
}

/// The names of what is reported of imports.
pub mod name {
    /// Carries an [`ImportsDetected`](super::ImportsDetected).
    pub const DETECTED: &str = "workflow/importsDetected";
    /// Carries an [`ImportPreviewed`](super::ImportPreviewed).
    pub const PREVIEWED: &str = "workflow/importPreviewed";
    /// Carries an [`ImportEnabled`](super::ImportEnabled).
    pub const ENABLED: &str = "workflow/importEnabled";
    /// Carries an [`ImportDisabled`](super::ImportDisabled).
    pub const DISABLED: &str = "workflow/importDisabled";
    /// Carries an [`ImportStale`](super::ImportStale).
    pub const STALE: &str = "workflow/importStale";
    /// Carries an [`ImportFailed`](super::ImportFailed).
    pub const FAILED: &str = "workflow/importFailed";
}
