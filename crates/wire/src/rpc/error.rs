//! The JSON-RPC error object and its standard codes.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Error codes that belong to the envelope rather than to a method.
pub mod code {
    /// The frame is no request.
    pub const PARSE: i64 = -32700;
    /// The request breaks the envelope's rules.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method.
    pub const UNKNOWN_METHOD: i64 = -32601;
    /// The params do not decode, or name something that does not exist.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The server failed.
    pub const INTERNAL: i64 = -32603;
    /// Too many requests of this connection are at work.
    pub const OVERLOADED: i64 = -32000;
}

/// An error as it goes over the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// What went wrong, for programs.
    pub code: i64,
    /// What went wrong, for people.
    pub message: String,
    /// Details that some codes carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same error with data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// The frame is no request: `parse error: CAUSE`.
    pub fn parse(cause: impl fmt::Display) -> Self {
        Self::new(code::PARSE, format!("parse error: {cause}"))
    }

    /// The request breaks the envelope's rules.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    /// No such method: `unknown method: NAME`.
    pub fn unknown_method(name: impl fmt::Display) -> Self {
        Self::new(code::UNKNOWN_METHOD, format!("unknown method: {name}"))
    }

    /// The params do not decode, or name something that does not exist.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// The server failed.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL, message)
    }

    pub(super) fn filtered(mut self, filter: Option<fn(&str) -> String>) -> Self {
        if let Some(filter) = filter {
            self.message = filter(&self.message);
        }
        self
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(out, self)
    }
}
