//! What is known of the process in a session: our addition, the original says nothing of it.

use rookery_model::{ExitStatus, Terminal, TerminalState};
use schemars::JsonSchema;
use serde::Serialize;

/// How a process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ending {
    /// Its exit code, if it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Self {
        match status {
            ExitStatus::Code(code) => Self { exit_code: Some(code), signal: None },
            ExitStatus::Signal(signal) => Self { exit_code: None, signal: Some(signal) },
            ExitStatus::Unknown => Self::default(),
        }
    }
}

/// The process in a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Whether it still runs.
    pub running: bool,
    /// When it was started, RFC 3339.
    pub started_at: String,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exited_at: Option<String>,
    /// How it ended.
    #[serde(flatten)]
    pub ending: Ending,
}

impl From<&Terminal> for Process {
    fn from(terminal: &Terminal) -> Self {
        let ending = match terminal.state {
            TerminalState::Exited(status) => status.into(),
            _ => Ending::default(),
        };
        Self {
            pid: terminal.pid,
            running: terminal.is_alive(),
            started_at: terminal.created_at.to_string(),
            exited_at: terminal.exited_at.map(|at| at.to_string()),
            ending,
        }
    }
}
