//! Runners: places where tools and tasks run. Results and notifications are written in both spellings,
//! see [`Dual`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dual::Dual;

/// Where a destination stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct RunnerStatus {
    pub destination_id: String,
    pub provider_id: String,
    /// `configured`, `active`, `paused`, `detached`, `failed`; `deleted` in notifications only.
    pub state: String,
    pub session_id: Option<String>,
}

/// One provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct RunnerProvider {
    pub provider_id: String,
    pub capabilities: Dual<RunnerCapabilities>,
    /// What is missing before it can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_hint: Option<String>,
}

/// What a provider can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct RunnerCapabilities {
    pub command_exec: bool,
    pub file_read: bool,
    pub file_write: bool,
    pub port_preview: bool,
    pub snapshots: bool,
    pub cancellation: bool,
    pub artifact_export: bool,
    pub pausable: bool,
    pub detachable: bool,
    pub mounts: Dual<RunnerMounts>,
}

/// Which storage a provider mounts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct RunnerMounts {
    pub s3: bool,
    pub gcs: bool,
    pub r2: bool,
    pub azure_blob: bool,
    pub box_storage: bool,
    pub provider_native: bool,
}

/// Result of `runners/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunnersListResult {
    /// The selected destination.
    pub active: Option<Dual<RunnerStatus>>,
    /// All of them, usable or not.
    pub providers: Vec<Dual<RunnerProvider>>,
    /// Destinations with a session.
    pub sessions: Vec<Dual<RunnerStatus>>,
}

/// Params of `runners/select`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnersSelectParams {
    pub destination_id: String,
    /// Its provider; called like the destination if it is not named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// What the provider wants to know. Secrets in it are kept in memory and never shown.
    #[serde(default)]
    pub config: Value,
    /// What its session is to have in it.
    #[serde(default)]
    pub manifest: Value,
}

/// Result of `runners/select`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunnersActiveResult {
    pub active: Option<Dual<RunnerStatus>>,
}

/// Params of `runners/session`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnersSessionParams {
    /// That of this thread instead of the selected one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Open it now.
    #[serde(default, deserialize_with = "super::or_default")]
    pub ensure: bool,
}

/// Result of `runners/session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunnersSessionResult {
    pub active: Option<Dual<RunnerStatus>>,
    pub session: Option<Dual<RunnerSessionState>>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct RunnerSessionState {
    pub provider_id: String,
    pub session_id: String,
    pub destination_id: String,
    /// The last one that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Dual<RunnerSnapshot>>,
    pub metadata: Value,
}

/// A snapshot that a provider keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct RunnerSnapshot {
    pub provider_id: String,
    pub snapshot_id: String,
    pub metadata: Value,
}

/// Params of `runners/snapshot`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnersSnapshotParams {
    /// That of this thread instead of the selected one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Result of `runners/snapshot`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunnersSnapshotResult {
    /// None if there is no session, or its provider keeps none.
    pub snapshot: Option<Dual<RunnerSnapshot>>,
}

/// Params of `runners/export`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnersExportParams {
    /// The file or directory, below the root of the session.
    pub path: String,
    /// Whether a directory is handed out with all its files.
    #[serde(default, deserialize_with = "super::or_default")]
    pub recursive: bool,
    /// From the runner of this thread instead of the selected one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}

/// Result of `runners/export`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunnersExportResult {
    pub artifact: Dual<RunnerArtifact>,
}

/// Files that are had without the session they come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct RunnerArtifact {
    pub path: String,
    pub artifact_id: String,
    /// Where it is: a file of this machine, or an address of the provider.
    pub url: Option<String>,
    pub metadata: Value,
}

/// Params of `runners/delete`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnersDeleteParams {
    /// This one instead of the selected one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_id: Option<String>,
    /// Destroy uncommitted work as well.
    #[serde(default, deserialize_with = "super::or_default")]
    pub force: bool,
}

/// Result of `runners/delete`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunnersDeleteResult {
    pub deleted: bool,
    /// Where work is that was not destroyed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// What `runners/ports` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortsAction {
    #[default]
    List,
    Expose,
    Close,
}

/// Params of `runners/ports`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnersPortsParams {
    /// Those of this thread's runner instead of the selected one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    #[serde(default, deserialize_with = "super::or_default")]
    pub action: PortsAction,
    /// Which one to expose or to close.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Result of `runners/ports`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunnersPortsResult {
    pub ports: Vec<Dual<RunnerPort>>,
}

/// A port of a runner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct RunnerPort {
    pub port: u16,
    /// Where it is reached.
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The port of this machine that leads there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_port: Option<u16>,
}

/// Params of `runners/pause`, `runners/resume` and `runners/detach`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnersThreadParams {
    pub thread_id: String,
}

/// Params of `runners/rejoin`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnersRejoinParams {
    pub thread_id: String,
    /// The session that is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
}

/// Result of `runners/pause` and its kin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct RunnersActionResult {
    pub action: String,
    pub provider_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub paused: bool,
    pub detached: bool,
}

/// Params of `runner/lifecycle`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct RunnerLifecycle {
    pub destination_id: String,
    pub provider_id: String,
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub timestamp: String,
}

/// Where the tools of a new thread run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadRunnerParams {
    pub provider_id: String,
    /// As for `runners/select`.
    #[serde(default)]
    pub config: Value,
    /// The directory that tools work in, on the runner; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Further directories that tools read; they lie in the workspace.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "super::or_default"
    )]
    pub read_roots: Vec<String>,
}

/// Where the tools of a thread run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadRunner {
    pub destination_id: String,
    pub provider_id: String,
    /// The directory that tools work in, on the runner.
    pub workspace: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_roots: Vec<String>,
    /// Where the destination stands; `deleted` if it is gone.
    pub state: String,
    pub session_id: Option<String>,
}
