//! The message and exit code of a command that fails.

use std::{fmt, io, process::ExitCode};

use rookery_native::code;
use rookery_wire::ClientError;

/// A failure for people: what failed, and what to do next.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
    /// Under which name this program failed.
    program: &'static str,
}

/// What a command comes to.
pub(crate) type Outcome<T = ExitCode> = Result<T, Failure>;

impl Failure {
    /// The terminal ended before what was waited for.
    pub(crate) const CLOSED: u8 = 3;
    /// The time ran out, as timeout(1) says it.
    pub(crate) const TIMED_OUT: u8 = 124;

    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: 1, program: "rookery" }
    }

    /// The failure of a persona, which is printed under its name and without secrets.
    #[must_use]
    pub(crate) fn of(self, program: &'static str) -> Self {
        Self { program, message: rookery_ptywright::redact_error(&self.message), ..self }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn code(mut self, code: u8) -> Self {
        self.code = code;
        self
    }

    /// What failed.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// What to do next, if that is known.
    pub(crate) fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Ends the program without a word.
    pub(crate) fn quiet(code: u8) -> Self {
        Self::new("").code(code)
    }

    /// The failure of something that was being done.
    pub(crate) fn doing(what: impl fmt::Display) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::new(format!("{what}: {error}"))
    }

    pub(crate) fn no_daemon() -> Self {
        Self::new("no daemon is running").hint("start one with `rookery up`")
    }

    /// Says it on stderr.
    #[expect(clippy::print_stderr, reason = "failures are printed here")]
    pub(crate) fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            eprintln!("{}: {}", self.program, self.message);
        }
        if let Some(hint) = self.hint {
            eprintln!("  {hint}");
        }
        ExitCode::from(self.code)
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Rpc(error) => {
                let hint = match error.code {
                    code::NOT_FOUND => Some("run `rookery ls` to list terminals"),
                    code::BUSY => Some("try again later"),
                    code::CLOSED => {
                        Some("the program has exited; run `rookery ls` to list terminals")
                    }
                    code::INTERNAL => Some("see the daemon's log; `rookery doctor` shows its path"),
                    rookery_wire::rpc::code::UNKNOWN_METHOD => Some(
                        "the daemon has a different version; replace it with `rookery restart`",
                    ),
                    _ => None,
                };
                let exit = match error.code {
                    code::TIMEOUT => Self::TIMED_OUT,
                    code::CLOSED => Self::CLOSED,
                    _ => 1,
                };
                let failure = Self::new(error.message).code(exit);
                Self { hint: hint.map(str::to_owned), ..failure }
            }
            ClientError::Closed | ClientError::Io(_) => {
                Self::new(format!("lost the connection to the daemon: {error}"))
                    .hint("check it with `rookery status`")
            }
            other => Self::new(format!("unexpected answer from the daemon: {other}"))
                .hint("it may have a different version; replace it with `rookery restart`"),
        }
    }
}
