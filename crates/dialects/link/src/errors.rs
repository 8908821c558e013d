//! Domain errors in this dialect's codes, which are those of our own methods. A new kind of error does
//! not compile until it has one.

use rookery_model as model;
use rookery_view::link::Supported;
use rookery_wire::rpc::RpcError;
use serde_json::json;

/// The codes of this dialect, besides those of the envelope.
pub mod code {
    /// The time allowed ran out.
    pub const TIMEOUT: i64 = -32001;
    /// The terminal has ended.
    pub const CLOSED: i64 = -32002;
    /// The thing named by the request does not exist.
    pub const NOT_FOUND: i64 = -32010;
    /// The request contradicts the present state; also no common version.
    pub const CONFLICT: i64 = -32011;
    /// The viewer may not do this.
    pub const DENIED: i64 = -32012;
    /// A bound was reached; the same request may succeed later.
    pub const BUSY: i64 = -32013;
    /// The world outside failed.
    pub const FAILED: i64 = -32014;
    /// The request itself is wrong; `data.field` names the member at fault.
    pub const INVALID: i64 = rookery_wire::rpc::code::INVALID_PARAMS;
    /// A fault of the daemon.
    pub const INTERNAL: i64 = rookery_wire::rpc::code::INTERNAL;
}

fn code_of(kind: model::ErrorKind) -> i64 {
    use model::ErrorKind;
    match kind {
        ErrorKind::NotFound => code::NOT_FOUND,
        ErrorKind::Invalid => code::INVALID,
        ErrorKind::Conflict => code::CONFLICT,
        ErrorKind::Denied => code::DENIED,
        ErrorKind::Timeout => code::TIMEOUT,
        ErrorKind::Closed => code::CLOSED,
        ErrorKind::Busy => code::BUSY,
        ErrorKind::Failed => code::FAILED,
        ErrorKind::Internal => code::INTERNAL,
    }
}

/// What a method of this dialect fails with: a domain error on its way to the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Error(RpcError);

impl Error {
    pub(crate) fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        model::Error::invalid(field, message).into()
    }

    pub(crate) fn denied(message: impl Into<String>) -> Self {
        model::Error::new(model::ErrorKind::Denied, message).into()
    }

    /// No version is spoken by both sides.
    pub(crate) fn versions(supported: Vec<u32>) -> Self {
        let message = "this daemon speaks no version of the link that the face does";
        let answer = RpcError::new(code::CONFLICT, message);
        Self(answer.with_data(json!(Supported { supported })))
    }

    /// Its words.
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }
}

/// What a connection is answered that calls more than it is allowed.
#[must_use]
pub fn refused(name: &'static str) -> RpcError {
    RpcError::new(code::DENIED, format!("this viewer may not call {name}"))
}

impl From<model::Error> for Error {
    fn from(error: model::Error) -> Self {
        let answer = RpcError::new(code_of(error.kind()), error.message());
        Self(match error.field() {
            Some(field) => answer.with_data(json!({ "field": field })),
            None => answer,
        })
    }
}

impl From<model::SizeError> for Error {
    fn from(error: model::SizeError) -> Self {
        model::Error::from(error).into()
    }
}

impl From<Error> for RpcError {
    fn from(error: Error) -> Self {
        error.0
    }
}
