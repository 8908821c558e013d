//! What the server says by itself, and how a client asks for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::process::Ending;

/// The names, in the order in which they are sent for one session.
pub const NAMES: [&str; 3] = ["session.changed", "session.output", "session.exited"];

/// Params of `server.set_notifications`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SetNotifications {
    /// Whether to send any.
    pub enabled: bool,
    /// Only for the sessions of these adapters, and those named in `sessions`.
    #[serde(default)]
    pub adapters: Option<Vec<String>>,
    /// Only for these sessions, and those of `adapters`. An unknown id counts once it exists.
    #[serde(default)]
    pub sessions: Option<Vec<String>>,
}

/// Result of `server.set_notifications`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotificationsSet {
    /// Whether any are sent.
    pub enabled: bool,
    /// The filter by adapter, if there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adapters: Vec<String>,
    /// The filter by session, if there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<String>,
}

/// `session.changed`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Changed<'a> {
    pub session: &'a str,
    /// Its new number.
    pub sequence: u64,
}

/// `session.output`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output<'a> {
    pub session: &'a str,
    /// Its number.
    pub sequence: u64,
    /// What it printed since the last time, secrets hidden.
    pub output: &'a str,
    /// Whether something before it is lost.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
}

/// `session.exited`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Exited<'a> {
    pub session: &'a str,
    /// Its number.
    pub sequence: u64,
    /// How the child ended; an addition of ours.
    #[serde(flatten)]
    pub ending: Ending,
}
