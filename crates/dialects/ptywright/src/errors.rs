//! Core errors in this dialect's codes and words. The one place that knows both.

#![deny(clippy::wildcard_enum_match_arm)]

use rookery_model::{Error, ErrorKind};
use rookery_plugins::{Permission, PluginError};
use rookery_term::redact::Policy;
use rookery_watch::AdapterError;
use rookery_wire::rpc::{RpcError, code};
use serde_json::json;

/// A matcher did not come true in time.
pub(crate) const TIMEOUT: i64 = -32001;
/// The session has ended.
pub(crate) const CLOSED: i64 = -32002;
/// The caller may not do this.
pub(crate) const DENIED: i64 = -32004;
/// The wait was given up on demand.
pub(crate) const CANCELLED: i64 = -32005;

/// The policy that applies wherever a request does not bring its own.
pub(crate) fn default_policy() -> &'static Policy {
    Policy::usual()
}

/// An error message without secrets, for [`JsonRpc::error_filter`](rookery_wire::rpc::JsonRpc::error_filter).
pub fn redact_error(message: &str) -> String {
    default_policy().redact(message).into_owned()
}

/// Which part of the machine failed; it shows as the prefix of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Starting a program on a terminal.
    Pty,
    /// Files, signals and everything else.
    Io,
}

impl Origin {
    fn prefix(self) -> &'static str {
        match self {
            Self::Pty => "pty backend error: ",
            Self::Io => "io error: ",
        }
    }
}

/// A core error as this dialect says it.
pub(crate) fn rpc(origin: Origin, error: &Error) -> RpcError {
    let message = error.message();
    match error.kind() {
        ErrorKind::Invalid | ErrorKind::NotFound => RpcError::invalid_params(message),
        ErrorKind::Timeout => timed_out(),
        ErrorKind::Closed => RpcError::new(CLOSED, "session is closed"),
        ErrorKind::Denied => RpcError::new(DENIED, message),
        ErrorKind::Failed => failed(origin, message),
        ErrorKind::Busy => failed(Origin::Io, message),
        ErrorKind::Conflict | ErrorKind::Internal => RpcError::internal(message),
    }
}

/// A failure of the machine. One that says already where it comes from keeps its prefix.
pub(crate) fn failed(origin: Origin, message: &str) -> RpcError {
    let is_io = message.starts_with(Origin::Io.prefix());
    let prefix = if is_io { "" } else { origin.prefix() };
    RpcError::internal(format!("{prefix}{message}"))
}

/// No terminal has this id, or the text is no id at all.
pub(crate) fn unknown_session(name: &str) -> RpcError {
    unknown("session", name)
}

/// Nothing of this kind has this name.
pub(crate) fn unknown(kind: &str, name: &str) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, format!("unknown {kind}: {name}"))
}

/// An error of the machine.
pub(crate) fn io(error: Error) -> RpcError {
    rpc(Origin::Io, &error)
}

/// A call into the plugin of an adapter failed.
pub(crate) fn adapter(error: AdapterError) -> RpcError {
    match error {
        AdapterError::Plugin(error) => lua(&error),
        AdapterError::Stopped(error) => RpcError::internal(error.to_string()),
    }
}

/// A plugin failed, or wanted to do what its manifest does not permit.
pub(crate) fn lua(error: &PluginError) -> RpcError {
    if let Some(permission) = error.denied() {
        return denied("adapter.send", permission);
    }
    RpcError::internal(format!("lua plugin error: {error}"))
}

/// A plugin said something that makes no sense.
pub(crate) fn lua_error(plugin: &str, what: &str) -> RpcError {
    RpcError::internal(format!(
        "lua plugin error: lua plugin `{plugin}` failed: deserialize error: {what}"
    ))
}

/// The manifest of the plugin does not permit this.
pub(crate) fn denied(method: &str, permission: Permission) -> RpcError {
    RpcError::new(DENIED, format!("method `{method}` requires permission `{permission}`"))
        .with_data(json!({"method": method, "required_permission": permission.name()}))
}

/// The server was started without permission for clients to load plugins.
pub(crate) fn loading_disabled(method: &str) -> RpcError {
    let message =
        format!("method `{method}` is disabled; restart ptywright serve with --allow-plugin-load");
    let data = json!({"method": method, "reason": "server_did_not_grant_plugin_load"});
    RpcError::new(DENIED, message).with_data(data)
}

/// The time to wait ran out.
pub(crate) fn timed_out() -> RpcError {
    RpcError::new(TIMEOUT, "timed out waiting for matcher")
}

/// The wait was cancelled.
pub(crate) fn cancelled() -> RpcError {
    RpcError::new(CANCELLED, "wait cancelled")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_codes_and_words_of_the_contract() {
        let table = [
            (ErrorKind::NotFound, -32602, "x"),
            (ErrorKind::Invalid, -32602, "x"),
            (ErrorKind::Conflict, -32603, "x"),
            (ErrorKind::Denied, -32004, "x"),
            (ErrorKind::Timeout, -32001, "timed out waiting for matcher"),
            (ErrorKind::Closed, -32002, "session is closed"),
            (ErrorKind::Busy, -32603, "io error: x"),
            (ErrorKind::Failed, -32603, "io error: x"),
            (ErrorKind::Internal, -32603, "x"),
        ];
        for (kind, code, message) in table {
            assert_eq!(rpc(Origin::Io, &Error::new(kind, "x")), RpcError::new(code, message));
        }
        let spawn = rpc(Origin::Pty, &Error::failed("no such program"));
        assert_eq!(spawn, RpcError::new(-32603, "pty backend error: no such program"));
        let file = rpc(Origin::Pty, &Error::failed("io error: File exists (os error 17)"));
        assert_eq!(file, RpcError::new(-32603, "io error: File exists (os error 17)"));
        assert_eq!(unknown_session("s9"), RpcError::new(-32602, "unknown session: s9"));
    }

    #[test]
    fn a_size_is_refused_by_the_name_of_its_field() {
        let error: Error = rookery_model::Size::new(0, 80).unwrap_err().into();
        let error = rpc(Origin::Pty, &error);
        assert_eq!((error.code, &error.message[..5]), (-32602, "rows "));
    }

    #[test]
    fn messages_lose_their_secrets() {
        assert_eq!(redact_error("unknown session: token=abc"), "unknown session: token=[REDACTED]");
        assert_eq!(redact_error("unknown session: s9"), "unknown session: s9");
    }
}
