//! Errors of this dialect, and domain errors as it says them.

use rookery_model::{Error, ErrorKind};
use serde_json::{Value, json};

/// What went wrong, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// It has not the shape of a command.
    InvalidCommand,
    /// There is no such command.
    UnknownCommand,
    MissingParameter,
    /// A parameter does not fit.
    InvalidParameter,
    /// There is no such task.
    TaskNotFound,
    /// There is no current task.
    NoActiveTask,
    /// Nothing waits for an answer.
    NoPendingAsk,
    /// It is not allowed.
    PermissionDenied,
    /// There is such a profile already.
    ProfileExists,
    /// There is no such profile.
    ProfileNotFound,
    LastProfile,
    /// It failed for reasons of ours.
    InternalError,
}

impl Code {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Code::InvalidCommand => "invalid_command",
            Code::UnknownCommand => "unknown_command",
            Code::MissingParameter => "missing_parameter",
            Code::InvalidParameter => "invalid_parameter",
            Code::TaskNotFound => "task_not_found",
            Code::NoActiveTask => "no_active_task",
            Code::NoPendingAsk => "no_pending_ask",
            Code::PermissionDenied => "permission_denied",
            Code::ProfileExists => "profile_exists",
            Code::ProfileNotFound => "profile_not_found",
            Code::LastProfile => "last_profile",
            Code::InternalError => "internal_error",
        }
    }
}

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// For programs.
    pub code: Code,
    /// For people.
    pub message: String,
    /// The task that the command named.
    pub task: Option<String>,
}

impl Failure {
    /// A failure that names no task.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), task: None }
    }

    /// A parameter is missing.
    pub fn missing(name: &str, message: impl AsRef<str>) -> Self {
        Self::new(Code::MissingParameter, format!("`{name}` is missing: {}", message.as_ref()))
    }

    /// A parameter does not fit.
    pub fn invalid(name: &str, reason: impl AsRef<str>) -> Self {
        Self::new(Code::InvalidParameter, format!("`{name}` {}", reason.as_ref()))
    }

    /// There is no such task.
    #[must_use]
    pub fn no_task(task: &str) -> Self {
        let message = format!("there is no task {task}");
        Failure { task: Some(task.to_owned()), ..Self::new(Code::TaskNotFound, message) }
    }

    /// There is no current task.
    #[must_use]
    pub fn no_current() -> Self {
        let message = "there is no current task: start one with StartNewTask, or name one";
        Self::new(Code::NoActiveTask, message)
    }

    /// The payload of a reply that says so.
    #[must_use]
    pub fn to_payload(&self) -> Value {
        json!({ "error": { "code": self.code.as_str(), "message": self.message } })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error.kind() {
            ErrorKind::Invalid => Code::InvalidParameter,
            ErrorKind::NotFound => Code::TaskNotFound,
            ErrorKind::Conflict => Code::NoPendingAsk,
            ErrorKind::Denied => Code::PermissionDenied,
            ErrorKind::Busy
            | ErrorKind::Closed
            | ErrorKind::Failed
            | ErrorKind::Timeout
            | ErrorKind::Internal => Code::InternalError,
        };
        Failure::new(code, error.to_string())
    }
}
