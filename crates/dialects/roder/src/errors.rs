//! Errors in this dialect's codes, with the details that clients look at. A new kind of domain
//! error does not compile until it has a code.

use std::{fmt, io};

use rookery_model as model;
use rookery_wire::rpc::{self, Fault, RpcError};
use serde_json::{Map, Value};

use crate::spelling::spelled;

/// The codes of this dialect.
pub mod code {
    /// No JSON.
    pub const PARSE: i64 = super::rpc::code::PARSE;
    /// JSON, but no request.
    pub const INVALID_REQUEST: i64 = super::rpc::code::INVALID_REQUEST;
    /// No such method.
    pub const UNKNOWN_METHOD: i64 = super::rpc::code::UNKNOWN_METHOD;
    /// The params are wrong, or name something that does not exist.
    pub const INVALID_PARAMS: i64 = super::rpc::code::INVALID_PARAMS;
    /// The server, or the world outside, failed.
    pub const RUNTIME: i64 = -32000;
    /// Too many requests are at work.
    pub const OVERLOADED: i64 = -32001;
    /// The policy does not allow it.
    pub const DENIED: i64 = -32004;
    /// An import has to be enabled together with its side effects.
    pub const IMPORT_APPROVAL: i64 = -32040;
}

/// What a method of this dialect fails with.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    code: i64,
    message: String,
    data: Map<String, Value>,
}

/// What the file system says no with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoKind {
    /// There is nothing.
    NotFound,
    /// The user may not.
    PermissionDenied,
    IsADirectory,
    /// It is none.
    NotADirectory,
    /// Something else.
    Other,
}

impl IoKind {
    /// The word for it on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::PermissionDenied => "permission_denied",
            Self::IsADirectory => "is_a_directory",
            Self::NotADirectory => "not_a_directory",
            Self::Other => "other",
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the list of the system is open")]
impl From<io::ErrorKind> for IoKind {
    fn from(kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::PermissionDenied => Self::PermissionDenied,
            io::ErrorKind::IsADirectory => Self::IsADirectory,
            io::ErrorKind::NotADirectory => Self::NotADirectory,
            _ => Self::Other,
        }
    }
}

impl Error {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: Map::new() }
    }

    /// The params are wrong, or name something that does not exist.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// An error of core with its message as details, whatever its code is.
    pub fn with_details(error: model::Error) -> Self {
        let error = Self::from(error);
        let details = error.message.clone();
        error.with("details", details)
    }

    /// The server, or the world outside, failed.
    pub fn runtime(message: impl Into<String>) -> Self {
        let error = Self::new(code::RUNTIME, message);
        let details = error.message.clone();
        error.with("details", details)
    }

    /// The policy does not allow it in this mode.
    pub fn denied(message: impl Into<String>, mode: &str) -> Self {
        Self::new(code::DENIED, message).kind("policy_denied").with("mode", mode)
    }

    /// It was asked for, and not approved.
    pub fn approval_denied(message: impl Into<String>, mode: &str) -> Self {
        Self::new(code::DENIED, message).kind("approval_denied").with("mode", mode)
    }

    /// It needs approval first; `approval` names the open request.
    pub fn approval_required(message: impl Into<String>, mode: &str, approval: &str) -> Self {
        let error = Self::new(code::DENIED, message).kind("approval_required");
        error.with("mode", mode).with("approvalId", approval)
    }

    /// It cannot be done here at all.
    pub fn unsupported(message: impl Into<String>, mode: &str) -> Self {
        Self::new(code::DENIED, message).kind("unsupported").with("mode", mode)
    }

    /// No catalog has the plugin.
    pub fn plugin_not_found(message: impl Into<String>) -> Self {
        Self::new(code::DENIED, message).kind("plugin_not_found")
    }

    /// An import starts programs or contacts servers, which has to be approved.
    pub fn import_needs_approval(item: &str, source: Value, risk: &str) -> Self {
        let message = "workflow import needs approval: set approveSideEffects";
        let error = Self::new(code::IMPORT_APPROVAL, message).with("itemId", item);
        error.with("source", source).with("risk", risk)
    }

    /// Members are not shown in panes here.
    pub fn no_panes() -> Self {
        let message = "only available in a split-pane backend; use team/member/focus";
        Self::new(code::UNKNOWN_METHOD, message).with("supportedAlternative", "team/member/focus")
    }

    /// The turn that was meant does not run; `active` is the one that does.
    pub fn turn_mismatch(message: impl Into<String>, active: Option<model::TurnId>) -> Self {
        let active = active.map(|turn| turn.to_string());
        Self::invalid(message).kind("turn_mismatch").with("activeTurnId", active)
    }

    /// A turn runs already.
    pub fn turn_active(message: impl Into<String>, active: model::TurnId) -> Self {
        Self::invalid(message).kind("turn_active").with("activeTurnId", active.to_string())
    }

    /// The file system said no.
    pub fn io(message: impl Into<String>, kind: IoKind) -> Self {
        Self::runtime(message).with("ioKind", kind.name())
    }

    /// There is more than may be read at once.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::runtime(message).kind("too_large")
    }

    /// A command ran longer than it may; what it wrote until then is kept.
    pub fn command_timed_out(timeout_ms: u64, stdout: &str, stderr: &str) -> Self {
        Self::runtime(format!("command timed out after {timeout_ms}ms"))
            .kind("timeout")
            .with("timeoutMs", timeout_ms)
            .with("stdout", stdout)
            .with("stderr", stderr)
    }

    /// A command could not be started.
    pub fn spawn_failed(message: impl Into<String>) -> Self {
        Self::runtime(message).kind("spawn_failed")
    }

    fn kind(self, kind: &str) -> Self {
        self.with("kind", kind)
    }

    fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.data.insert(member.to_owned(), value.into());
        self
    }

    #[must_use]
    pub fn code(&self) -> i64 {
        self.code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<model::Error> for Error {
    fn from(error: model::Error) -> Self {
        use model::ErrorKind;
        let message = &spelled(error.message());
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::Invalid | ErrorKind::Conflict => {
                Self::invalid(message)
            }
            ErrorKind::Denied => Self::new(code::DENIED, message).kind("policy_denied"),
            ErrorKind::Timeout => Self::runtime(message).kind("timeout"),
            ErrorKind::Closed | ErrorKind::Busy | ErrorKind::Failed | ErrorKind::Internal => {
                Self::runtime(message)
            }
        }
    }
}

impl From<Error> for RpcError {
    fn from(error: Error) -> Self {
        let answer = RpcError::new(error.code, error.message);
        match error.data.is_empty() {
            true => answer,
            false => answer.with_data(Value::Object(error.data)),
        }
    }
}

/// The envelope's own errors in this dialect's words, for
/// [`JsonRpc::reword`](rookery_wire::rpc::JsonRpc::reword).
pub fn reword(fault: Fault, error: RpcError) -> RpcError {
    match fault {
        Fault::Parse => {
            let cause = error.message.strip_prefix("parse error: ").unwrap_or(&error.message);
            RpcError::new(code::PARSE, format!("Parse error: {cause}"))
        }
        Fault::UnknownMethod => RpcError::new(code::UNKNOWN_METHOD, "Method not found"),
        Fault::Overloaded => RpcError::new(code::OVERLOADED, error.message),
        Fault::Internal => Error::runtime(error.message).into(),
    }
}

#[cfg(test)]
mod tests {
    use model::ErrorKind;
    use serde_json::json;

    use super::*;

    fn check(error: Error, code: i64, data: Value) {
        let answer = RpcError::from(error);
        assert_eq!(answer.code, code);
        assert_eq!(answer.data.unwrap_or(Value::Null), data);
    }

    #[test]
    fn every_kind_has_its_code() {
        let details = json!({"details": "no"});
        for (kind, code, data) in [
            (ErrorKind::NotFound, -32602, Value::Null),
            (ErrorKind::Invalid, -32602, Value::Null),
            (ErrorKind::Conflict, -32602, Value::Null),
            (ErrorKind::Denied, -32004, json!({"kind": "policy_denied"})),
            (ErrorKind::Timeout, -32000, json!({"details": "no", "kind": "timeout"})),
            (ErrorKind::Closed, -32000, details.clone()),
            (ErrorKind::Busy, -32000, details.clone()),
            (ErrorKind::Failed, -32000, details.clone()),
            (ErrorKind::Internal, -32000, details.clone()),
        ] {
            check(model::Error::new(kind, "no").into(), code, data);
        }
    }

    #[test]
    fn details_have_their_names() {
        let turn = model::TurnId::new(7);
        let id = turn.to_string();
        check(Error::denied("x", "plan"), -32004, json!({"kind": "policy_denied", "mode": "plan"}));
        check(
            Error::approval_required("x", "ask", "appr_1"),
            -32004,
            json!({"kind": "approval_required", "mode": "ask", "approvalId": "appr_1"}),
        );
        check(
            Error::unsupported("x", "ask"),
            -32004,
            json!({"kind": "unsupported", "mode": "ask"}),
        );
        check(
            Error::turn_mismatch("x", Some(turn)),
            -32602,
            json!({"kind": "turn_mismatch", "activeTurnId": id}),
        );
        check(
            Error::turn_mismatch("x", None),
            -32602,
            json!({"kind": "turn_mismatch", "activeTurnId": null}),
        );
        check(
            Error::turn_active("x", turn),
            -32602,
            json!({"kind": "turn_active", "activeTurnId": id}),
        );
        check(
            Error::io("x", io::ErrorKind::IsADirectory.into()),
            -32000,
            json!({"details": "x", "ioKind": "is_a_directory"}),
        );
        check(Error::too_large("x"), -32000, json!({"details": "x", "kind": "too_large"}));
        check(Error::spawn_failed("x"), -32000, json!({"details": "x", "kind": "spawn_failed"}));
        let timeout = "command timed out after 5ms";
        check(
            Error::command_timed_out(5, "o", "e"),
            -32000,
            json!({"details": timeout, "kind": "timeout", "timeoutMs": 5, "stdout": "o", "stderr": "e"}),
        );
    }

    #[test]
    fn the_envelope_speaks_in_our_words() {
        let parse = reword(Fault::Parse, RpcError::parse("eof"));
        assert_eq!(parse, RpcError::new(-32700, "Parse error: eof"));
        let unknown = reword(Fault::UnknownMethod, RpcError::unknown_method("x"));
        assert_eq!(unknown, RpcError::new(-32601, "Method not found"));
        let full = reword(Fault::Overloaded, RpcError::new(-32000, "full"));
        assert_eq!(full, RpcError::new(-32001, "full"));
        let fault = reword(Fault::Internal, RpcError::internal("oh"));
        assert_eq!(fault, RpcError::new(-32000, "oh").with_data(json!({"details": "oh"})));
    }
}
