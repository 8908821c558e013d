//! What can go wrong with a plugin, in the words that clients see.

use std::fmt;

use crate::limits::Limit;
use crate::manifest::Permission;

/// The longest message of a plugin that is passed on, in bytes.
const MAX_MESSAGE: usize = 4096;

/// Why a plugin cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The manifest, a path or a file is wrong.
    #[error("config error: {0}")]
    Config(String),
    /// The code is wrong.
    #[error("lua plugin error: {0}")]
    Lua(String),
}

/// A call into a plugin failed; the instance can be called again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lua plugin `{plugin}` failed: {failure}")]
pub struct PluginError {
    plugin: String,
    failure: Failure,
}

impl PluginError {
    pub(crate) fn new(plugin: &str, failure: Failure) -> Self {
        Self { plugin: plugin.to_owned(), failure }
    }

    /// The limit that was exceeded, if that is what happened.
    pub fn limit(&self) -> Option<Limit> {
        match self.failure {
            Failure::Limit(limit) => Some(limit),
            _ => None,
        }
    }

    /// The permission that a returned action needs and the manifest does not give, if that is what happened.
    pub fn denied(&self) -> Option<Permission> {
        match self.failure {
            Failure::Denied { permission, .. } => Some(permission),
            _ => None,
        }
    }
}

/// What went wrong in a call, before it is known in which plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Limit(Limit),
    Denied { action: String, permission: Permission },
    Message(String),
}

impl Failure {
    pub(crate) fn message(text: impl Into<String>) -> Self {
        Self::Message(text.into())
    }

    /// The same words that a decoder of the result would use.
    pub(crate) fn decode(error: impl fmt::Display) -> Self {
        Self::Message(format!("deserialize error: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => limit.fmt(f),
            Self::Denied { action, permission } => {
                write!(f, "action `{action}` requires permission `{permission}`")
            }
            Self::Message(text) => f.write_str(text),
        }
    }
}

impl From<mlua::Error> for Failure {
    fn from(error: mlua::Error) -> Self {
        match root(&error) {
            mlua::Error::MemoryError(_) => Self::Limit(Limit::Memory),
            other => Self::Message(plain_text(other)),
        }
    }
}

/// The error under the layers that callbacks put around it.
fn root(mut error: &mlua::Error) -> &mlua::Error {
    while let mlua::Error::CallbackError { cause, .. } | mlua::Error::WithContext { cause, .. } = error {
        error = cause;
    }
    error
}

/// The message of an error without its traceback, and of bounded length.
pub(crate) fn plain_text(error: &mlua::Error) -> String {
    let text = match root(error) {
        mlua::Error::RuntimeError(text) => text.clone(),
        other => other.to_string(),
    };
    let text = text.rsplit_once("\nstack traceback:").map_or(text.as_str(), |(message, _)| message);
    text[..text.floor_char_boundary(MAX_MESSAGE)].to_owned()
}
