//! What the server says about itself.

use schemars::JsonSchema;
use serde::Serialize;

/// What a client may call and expect.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Capabilities {
    /// Framings a server can be asked to speak.
    pub framing: Vec<&'static str>,
    /// Methods that exist.
    pub methods: Vec<&'static str>,
    /// The protocol's name.
    pub name: &'static str,
    /// Notifications that a client can turn on.
    pub notifications: Vec<&'static str>,
    /// The version of the protocol.
    pub version: &'static str,
    /// Who speaks it; an addition of ours.
    pub implementation: &'static str,
}
