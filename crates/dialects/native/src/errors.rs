//! Domain errors in this dialect's codes. A new kind of error does not compile until it has one.

use rookery_model as model;
use rookery_wire::rpc::RpcError;
use serde_json::json;

use crate::wire::LandConflict;

/// The codes of this dialect, besides those of the envelope.
pub mod code {
    /// The time allowed ran out.
    pub const TIMEOUT: i64 = -32001;
    /// The terminal has ended.
    pub const CLOSED: i64 = -32002;
    /// The thing named by the request does not exist.
    pub const NOT_FOUND: i64 = -32010;
    /// The request contradicts the present state.
    pub const CONFLICT: i64 = -32011;
    /// The caller may not do this.
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

    /// Files that both sides changed, as `data.conflicts`.
    pub(crate) fn in_conflict(into: &str, conflicts: &[LandConflict]) -> Self {
        let message = format!("{} file(s) are in conflict with {into}", conflicts.len());
        let answer = RpcError::new(code::CONFLICT, message);
        Self(answer.with_data(json!({ "conflicts": conflicts })))
    }
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

#[cfg(test)]
mod tests {
    use model::ErrorKind;

    use super::*;

    #[test]
    fn every_kind_has_its_code() {
        for (kind, code) in [
            (ErrorKind::NotFound, -32010),
            (ErrorKind::Invalid, -32602),
            (ErrorKind::Conflict, -32011),
            (ErrorKind::Denied, -32012),
            (ErrorKind::Timeout, -32001),
            (ErrorKind::Closed, -32002),
            (ErrorKind::Busy, -32013),
            (ErrorKind::Failed, -32014),
            (ErrorKind::Internal, -32603),
        ] {
            let answer = RpcError::from(Error::from(model::Error::new(kind, "no")));
            assert_eq!(answer, RpcError::new(code, "no"));
        }
    }

    #[test]
    fn the_field_at_fault_is_named() {
        let answer = RpcError::from(Error::invalid("rows", "too many"));
        assert_eq!(answer.data, Some(json!({"field": "rows"})));
    }
}
