//! Why something did not work at a runner. Texts never show a secret.

use std::io;

/// What a runner fails with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunnerError {
    /// A part of the configuration or of a request is wrong.
    #[error("{message}")]
    Invalid {
        /// Which part.
        member: &'static str,
        /// Why, with its name.
        message: String,
    },
    /// The provider cannot be used as things are; says what is missing.
    #[error("{0}")]
    Missing(String),
    /// The path leads out of the session's root.
    #[error("path is outside workspace: {0}")]
    Outside(String),
    /// There is no such file or directory.
    #[error("no such file: {0}")]
    NotFound(String),
    /// The file is larger than asked for.
    #[error("{path} is larger than {limit} bytes")]
    TooLarge {
        /// Which file.
        path: String,
        /// How many bytes are allowed.
        limit: u64,
    },
    /// The provider has no such ability.
    #[error("runner provider {provider} cannot {what}")]
    Unsupported {
        provider: &'static str,
        /// What was asked of it.
        what: &'static str,
    },
    /// The session is over.
    #[error("the runner session is closed; open it again")]
    Closed,
    /// The place failed, for this reason.
    #[error("{0}")]
    Failed(String),
}

impl RunnerError {
    pub(crate) fn invalid(member: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid { member, message: message.into() }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// An error of the file system about a path.
    pub(crate) fn file(path: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::CrossesDevices => Self::Outside(path.to_owned()),
            io::ErrorKind::NotFound => Self::NotFound(path.to_owned()),
            _ => Self::Failed(format!("{path}: {error}")),
        }
    }
}
