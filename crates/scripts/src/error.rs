//! Why a script is refused, or ended badly.

use std::fmt;

/// What kind of failure it is, in the words that clients know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text defines no workflow.
    MissingDefinition,
    /// What it says of itself is wrong.
    InvalidMetadata,
    /// It was written for another version of the host's functions.
    UnsupportedHostApiVersion,
    /// It does not compile, threw, or ran too long without waiting.
    ScriptExecution,
    /// It went beyond a limit.
    LimitExceeded,
    /// The run was stopped.
    Aborted,
    /// What has to be kept could not be.
    Store,
}

impl ErrorKind {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::MissingDefinition => "MissingDefinition",
            ErrorKind::InvalidMetadata => "InvalidMetadata",
            ErrorKind::UnsupportedHostApiVersion => "UnsupportedHostApiVersion",
            ErrorKind::ScriptExecution => "ScriptExecution",
            ErrorKind::LimitExceeded => "LimitExceeded",
            ErrorKind::Aborted => "Aborted",
            ErrorKind::Store => "Store",
        }
    }
}

/// A failure of a script, with the line at which it happened where that is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScriptError {
    pub kind: ErrorKind,
    /// The line of the script, counted from 1.
    pub line: Option<u32>,
    /// What is wrong.
    pub message: String,
}

/// Longest message that is kept, in characters; a script may throw anything.
const LONGEST: usize = 2_000;

impl ScriptError {
    /// A failure without a line.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> ScriptError {
        let message = message.into().chars().take(LONGEST).collect();
        ScriptError { kind, line: None, message }
    }

    /// The same at a line.
    #[must_use]
    pub fn at(self, line: Option<u32>) -> ScriptError {
        ScriptError { line, ..self }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.as_str())?;
        if let Some(line) = self.line {
            write!(f, " at line {line}")?;
        }
        write!(f, ": {}", self.message)
    }
}
