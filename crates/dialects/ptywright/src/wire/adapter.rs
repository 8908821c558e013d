//! Params and results of the `adapter.*` methods.

use std::{collections::BTreeMap, time::Duration};

use rookery_plugins::{Manifest, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{evidence::Matched, matcher, process::Process, redaction::Look};

/// What `timeout_ms` is when absent.
const DEFAULT_TIMEOUT_MS: u64 = 120_000;
/// Which function makes the matcher when none is named.
const DEFAULT_WAIT: &str = "wait_turn_matcher";

/// Result of `adapter.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Plugins {
    /// Plugins that can be started, by name.
    pub plugins: Vec<Manifest>,
}

/// Result of `adapter.live`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Live {
    /// Adapters that were started and not closed, in the order of the text of their ids.
    pub adapters: Vec<LiveAdapter>,
}

/// An adapter that was started.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LiveAdapter {
    /// Its id.
    pub adapter: String,
    pub plugin: String,
    pub session: String,
    /// The session's number.
    pub sequence: u64,
    /// Whether its child is gone.
    pub finished: bool,
    /// The child; an addition of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
}

/// Params of `adapter.start`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Start {
    /// The plugin's name.
    pub plugin: String,
    /// What to start instead of what the manifest names.
    #[serde(default)]
    pub program: Option<String>,
    /// Its arguments; an empty list overrides the manifest's.
    #[serde(default)]
    pub args: Option<Vec<String>>,
    /// Working directory.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Variables laid over those of the manifest.
    #[serde(default)]
    pub env: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub rows: Option<u16>,
    /// Columns.
    #[serde(default)]
    pub cols: Option<u16>,
    #[serde(default)]
    pub pixel_width: Option<u16>,
    #[serde(default)]
    pub pixel_height: Option<u16>,
}

/// Params of `adapter.resume`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Resume {
    /// The adapter to close first, if there is one.
    #[serde(default)]
    pub prior_adapter: Option<String>,
    /// As for `adapter.start`.
    #[serde(flatten)]
    pub start: Start,
}

/// Result of `adapter.start` and `adapter.resume`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Started {
    /// The new adapter.
    pub adapter: String,
    pub plugin: String,
    pub session: String,
    /// What the plugin makes of the screen.
    pub state: State,
    /// The child; an addition of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
}

/// Params of methods that need only the adapter.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Named {
    /// The adapter's id.
    pub adapter: String,
    /// `false` shows secrets in the state; an addition of ours.
    #[serde(default)]
    pub redact: Option<bool>,
    /// The last event that the caller knows of; an addition of ours. Without it, events come once
    /// per connection.
    #[serde(default)]
    pub last_event_seq: Option<u64>,
}

/// Params of the methods that read an adapter's session.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Read {
    /// The adapter's id.
    pub adapter: String,
    /// How to see it.
    #[serde(flatten)]
    pub look: Look,
}

/// A state.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Judgement {
    /// What the plugin makes of the screen.
    pub state: State,
}

/// Params of `adapter.send`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Send {
    /// The adapter's id.
    pub adapter: String,
    /// The function of the plugin.
    pub intent: String,
    /// What it is given.
    #[serde(default)]
    pub params: Option<Value>,
    /// `false` shows secrets in the state; an addition of ours.
    #[serde(default)]
    pub redact: Option<bool>,
    /// The last event that the caller knows of; an addition of ours. Without it, events come once
    /// per connection.
    #[serde(default)]
    pub last_event_seq: Option<u64>,
}

/// What to wait for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct WaitFor {
    /// The function that makes the matcher, `wait_turn_matcher` if absent.
    #[serde(default)]
    pub intent: Option<String>,
    /// What it is given: an object.
    #[serde(default)]
    pub params: Option<Value>,
    /// How long at most, 120000 if absent.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// A name by which the wait can be cancelled.
    #[serde(default)]
    pub wait_id: Option<String>,
}

impl WaitFor {
    /// How long to wait at most.
    pub(crate) fn timeout(&self) -> Duration {
        matcher::milliseconds(self.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS))
    }

    /// The function that makes the matcher.
    pub(crate) fn function(&self) -> &str {
        self.intent.as_deref().unwrap_or(DEFAULT_WAIT)
    }
}

/// Params of `adapter.wait`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Wait {
    /// The adapter's id.
    pub adapter: String,
    #[serde(flatten)]
    pub wait: WaitFor,
    /// `false` shows secrets in the result; an addition of ours.
    #[serde(default)]
    pub redact: Option<bool>,
    /// The last event that the caller knows of; an addition of ours. Without it, events come once
    /// per connection.
    #[serde(default)]
    pub last_event_seq: Option<u64>,
}

/// What to send first.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Intent {
    /// The function of the plugin.
    pub intent: String,
    /// What it is given.
    #[serde(default)]
    pub params: Option<Value>,
}

/// Params of `adapter.turn`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Turn {
    /// The adapter's id.
    pub adapter: String,
    pub send: Intent,
    /// What to wait for then.
    #[serde(default)]
    pub wait: Option<WaitFor>,
    /// `false` shows secrets in the result; an addition of ours.
    #[serde(default)]
    pub redact: Option<bool>,
    /// The last event that the caller knows of; an addition of ours. Without it, events come once
    /// per connection.
    #[serde(default)]
    pub last_event_seq: Option<u64>,
}

/// Result of `adapter.wait` and `adapter.turn`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Waited {
    /// What the plugin makes of the screen.
    pub state: State,
    /// Which branch of the matcher held.
    pub matched: Matched,
    /// The name of the wait, if it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_id: Option<String>,
}

/// Params of `adapter.cancel_wait`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CancelWait {
    /// The name of the wait.
    pub wait_id: String,
}

/// Result of `adapter.cancel_wait`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Cancelled {
    /// Whether there was such a wait.
    pub cancelled: bool,
    /// The adapter that waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// The session that was waited on without an adapter; an addition of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The name of the wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_id: Option<String>,
}

/// Result of `adapter.inspect`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Inspected {
    /// The adapter's id.
    pub adapter: String,
    pub plugin: String,
    pub session: String,
    /// What the plugin makes of the screen.
    pub state: State,
    /// The screen as text.
    pub plain_text: String,
    /// All of it but the last three lines.
    pub body_text: String,
    /// The last three lines, if there are more than six.
    pub status_text: String,
    /// The last 4096 bytes of the transcript.
    pub transcript_tail: String,
    /// The screen's number.
    pub sequence: u64,
}
