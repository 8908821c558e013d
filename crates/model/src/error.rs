//! The one error type of the domain. Each dialect maps its kinds to its own codes.

use std::fmt;

/// Shorthand for results of domain operations.
pub type Result<T> = std::result::Result<T, Error>;

/// What sort of failure it is. Few on purpose: every dialect must answer each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The thing named by the request does not exist.
    NotFound,
    /// The request itself is wrong.
    Invalid,
    /// The request contradicts the present state, for example a second answer.
    Conflict,
    /// The caller may not do this.
    Denied,
    /// The time allowed ran out.
    Timeout,
    /// The terminal or connection in question has ended.
    Closed,
    /// A bound was reached; the same request may succeed later.
    Busy,
    /// The world outside failed us (a program could not start, a disk is full).
    Failed,
    /// A fault of ours.
    Internal,
}

/// A domain error: a kind that decides codes, a message for people, and the field at fault if one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    field: Option<&'static str>,
}

impl Error {
    /// An error of this kind. Messages are lower case, without a full stop, and name the thing that failed.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), field: None }
    }

    /// The thing does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// The request is wrong in this field.
    pub fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Invalid, message: message.into(), field: Some(field) }
    }

    /// The request contradicts the present state.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// The thing has ended.
    pub fn closed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Closed, message)
    }

    /// The world outside failed us.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// A bound was reached.
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Busy, message)
    }

    /// What sort of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The text for people.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The request field at fault, if one is.
    pub fn field(&self) -> Option<&'static str> {
        self.field
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<crate::SizeError> for Error {
    fn from(error: crate::SizeError) -> Self {
        Error::invalid(error.field, error.to_string())
    }
}
