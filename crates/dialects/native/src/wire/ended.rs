//! Terminals that are ended, and what outlives them.

use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::TerminalRef;

/// Params of `rookery/terminals/close`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminalClose {
    pub terminal: TerminalRef,
    /// Whether to end processes that left the terminal's session as well (`setsid`, `nohup`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_processes: bool,
}

call!("rookery/terminals/close" TerminalClose -> TerminalEnded);

/// Params of `rookery/terminals/kill`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminalKill {
    pub terminal: TerminalRef,
    /// Whether to end processes that left the terminal's session as well (`setsid`, `nohup`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_processes: bool,
}

call!("rookery/terminals/kill" TerminalKill -> TerminalEnded);

/// Result of `rookery/terminals/close` and `rookery/terminals/kill`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminalEnded {
    /// Processes that left the terminal's session and live on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftProcess>,
}

/// A process that outlives its terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeftProcess {
    /// Its process id.
    pub pid: u32,
    /// The name of its program, as the kernel cuts it.
    pub name: String,
}
