//! The daemon itself: its status and its end.

use rookery_wire::{call, empty_calls};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Time, Web};

empty_calls! {
    /// Params of `rookery/status`, which takes none.
    pub GetStatus: "rookery/status" -> Status,
}

/// Result of `rookery/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Version of the daemon.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// When it took charge.
    pub started_at: Time,
    /// Number of projects.
    pub projects: usize,
    /// Numbers of terminals.
    pub terminals: TerminalCounts,
    /// Waits that are not decided yet.
    pub pending_waits: usize,
    /// The keeper; absent while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeper: Option<Keeper>,
    /// Number of the newest event.
    pub last_event: u64,
    /// Changes that wait to be written to the store.
    pub store_queue: usize,
    /// What was wrong with the store when the daemon started, if anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// What is wrong with the settings, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Servers of the Model Context Protocol, and how they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp_servers: Vec<McpServer>,
    /// Who looks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub viewers: Vec<Viewer>,
    /// The server for browsers; absent while it is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<Web>,
    /// Why the server for browsers is off though it should be on, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_problem: Option<String>,
}

/// One who looks: a TUI, a window, a page in a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Viewer {
    pub viewer: u64,
    /// `tui`, `window`, `web` or `other`.
    pub face: String,
    pub name: String,
    /// `look`, `decide` or `full`.
    pub rights: String,
    /// Whether it is the desk: the viewer that was used last.
    pub is_desk: bool,
    /// Its room for panes, in cells.
    pub size: Room,
    /// The page that it is at.
    pub page: String,
}

/// Columns and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Room {
    pub cols: u16,
    pub rows: u16,
}

/// A server of the Model Context Protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McpServer {
    /// Its name in the settings.
    pub name: String,
    /// `starting`, `ready` or `failed`.
    pub state: String,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Number of tools that it offers.
    pub tools: usize,
}

/// Numbers of terminals by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalCounts {
    /// Their child runs.
    pub running: usize,
    /// Their child ended.
    pub exited: usize,
    /// Their keeper died.
    pub lost: usize,
}

/// The process that holds the terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Keeper {
    /// Its process id.
    pub pid: u32,
}

/// Params of `rookery/window/raise`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RaiseWindow {
    /// Page to show: `workspace`, `inbox`, `threads`, `reviews`, `checkpoints`,
    /// `worktrees`, `audit`, `settings` or `help`. Unchanged if omitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

call!("rookery/window/raise" RaiseWindow -> Raised);

/// Result of `rookery/window/raise`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Raised {
    /// Whether there is a window; the newest one was asked to come to the front.
    pub raised: bool,
}

/// Params of `rookery/shutdown`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Shutdown {
    /// End every terminal and the keeper as well.
    #[serde(default)]
    pub all: bool,
    /// Say to those who look that another daemon is about to start.
    #[serde(default, skip_serializing_if = "is_false")]
    pub restart: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

call!("rookery/shutdown" Shutdown -> ShutdownReply);

/// Result of `rookery/shutdown`; it is sent before the daemon stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShutdownReply {
    /// The process that is about to end.
    pub pid: u32,
}
