//! What a client asks to be run, and what can be wrong with that.

use std::path::PathBuf;
use std::time::Duration;

use rookery_model::{Error, Result, Size, ThreadId};

/// How long the name of a process may be, in bytes.
const MAX_ID: usize = 1024;

/// A command to be run.
#[derive(Clone)]
pub struct ExecRequest {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it runs; where threads work if not said.
    pub cwd: Option<PathBuf>,
    /// Variables laid over the daemon's environment; none removes one.
    pub env: Vec<(String, Option<String>)>,
    /// How long it may take; none for as long as it wants.
    pub timeout: Option<Duration>,
    /// How many bytes of each output are handed on; none for all of them. What is not streamed has
    /// a bound all the same, beyond which it is kept on disk.
    pub cap: Option<usize>,
    /// What it is called; it gets a name if it has none.
    pub process_id: Option<String>,
    /// Whether output is handed on as it comes, instead of at the end.
    pub streams: bool,
    /// Whether it runs in a terminal, which always streams and takes input.
    pub tty: bool,
    /// Whether it takes input.
    pub stdin: bool,
    /// The size of its terminal.
    pub size: Option<Size>,
    /// The connection that asks.
    pub owner: u64,
    /// The thread that it is run for: its mode holds then, and it keeps what was seen to change.
    pub thread: Option<ThreadId>,
    /// The runner that it is to run at, if policy has to know: nothing here starts it there.
    pub runner: Option<ExecRunner>,
    /// How much of its two outputs can be shown at the end; what is cut is kept on disk. All of
    /// what is within the cap if not said.
    pub shows: Option<Shows>,
    /// What the client's protocol calls this where it is shown, remembered and judged.
    pub words: ExecWords,
}

/// A runner, as far as policy has to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecRunner {
    pub destination: String,
    /// Whether no sandbox of ours holds what runs there.
    pub is_elsewhere: bool,
}

impl ExecRunner {
    /// The variable that names the destination to what runs there.
    pub const VARIABLE: &str = "ROOKERY_RUNNER";
}

/// The words of a client's protocol for a command that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecWords {
    /// The command, where tools are named.
    pub tool: &'static str,
    /// The name of its process, in the input that is approved.
    pub process_id: &'static str,
}

impl Default for ExecWords {
    fn default() -> Self {
        Self { tool: "exec", process_id: "process_id" }
    }
}

/// Says how many bytes of both outputs can be shown together.
pub type Shows = fn(&[u8], &[u8]) -> (usize, usize);

impl Default for ExecRequest {
    fn default() -> Self {
        ExecRequest {
            command: Vec::new(),
            cwd: None,
            env: Vec::new(),
            timeout: Some(Self::USUAL_TIMEOUT),
            cap: Some(Self::USUAL_CAP),
            process_id: None,
            streams: false,
            tty: false,
            stdin: false,
            size: None,
            owner: 0,
            thread: None,
            runner: None,
            shows: None,
            words: ExecWords::default(),
        }
    }
}

impl std::fmt::Debug for ExecRequest {
    // Arguments and values of variables may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExecRequest")
            .field("program", &self.command.first())
            .field("process_id", &self.process_id)
            .finish_non_exhaustive()
    }
}

impl ExecRequest {
    /// How long a command may take that asks for nothing else.
    pub const USUAL_TIMEOUT: Duration = Duration::from_secs(30);
    /// How many bytes of each output are handed on of a command that asks for nothing else.
    pub const USUAL_CAP: usize = 1 << 20;

    /// The timeout that was asked for, the usual one, or none.
    ///
    /// # Errors
    /// If one is asked for and switched off at once.
    pub fn timeout_of(asked: Option<Duration>, is_disabled: bool) -> Result<Option<Duration>> {
        match (asked, is_disabled) {
            (Some(_), true) => {
                Err(Error::invalid("timeout_ms", "disable_timeout excludes timeout_ms"))
            }
            (None, true) => Ok(None),
            (asked, false) => Ok(Some(asked.unwrap_or(Self::USUAL_TIMEOUT))),
        }
    }

    /// The cap that was asked for, the usual one, or none.
    ///
    /// # Errors
    /// If one is asked for and switched off at once.
    pub fn cap_of(asked: Option<usize>, is_disabled: bool) -> Result<Option<usize>> {
        match (asked, is_disabled) {
            (Some(_), true) => Err(Error::invalid(
                "output_bytes_cap",
                "disable_output_cap excludes output_bytes_cap",
            )),
            (None, true) => Ok(None),
            (asked, false) => Ok(Some(asked.unwrap_or(Self::USUAL_CAP))),
        }
    }

    /// Checks everything that can be checked without looking at the world.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<()> {
        self.check_command()?;
        self.check_env()?;
        let id = self.process_id.as_deref().unwrap_or_default();
        let needs_id = [
            (self.streams, "stream_stdout_stderr"),
            (self.tty, "tty"),
            (self.stdin, "stream_stdin"),
        ];
        if let Some((_, what)) = needs_id.iter().find(|(is_asked, _)| *is_asked && id.is_empty()) {
            return Err(Error::invalid(
                "process_id",
                format!("{what} requires a non-empty process_id"),
            ));
        }
        if id.len() > MAX_ID {
            let message = format!("process_id must not be longer than {MAX_ID} bytes");
            return Err(Error::invalid("process_id", message));
        }
        if self.size.is_some() && !self.tty {
            return Err(Error::invalid("size", "size requires tty"));
        }
        Ok(())
    }

    fn check_command(&self) -> Result<()> {
        if self.command.first().is_none_or(String::is_empty) {
            return Err(Error::invalid("command", "command must not be empty"));
        }
        if self.command.iter().any(|word| word.contains('\0')) {
            return Err(Error::invalid("command", "command must not contain NUL"));
        }
        let Some(cwd) = &self.cwd else { return Ok(()) };
        if !cwd.is_absolute() {
            return Err(Error::invalid("cwd", "cwd must be absolute"));
        }
        if cwd.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(Error::invalid("cwd", "cwd must not contain NUL"));
        }
        Ok(())
    }

    fn check_env(&self) -> Result<()> {
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(Error::invalid("env", format!("{name:?} is not a name of a variable")));
            }
            if value.as_ref().is_some_and(|value| value.contains('\0')) {
                return Err(Error::invalid("env", format!("the value of {name} contains NUL")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut ExecRequest)) -> String {
        let command = vec!["true".to_owned()];
        let mut request = ExecRequest { command, ..ExecRequest::default() };
        change(&mut request);
        request.check().map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn what_is_wrong_is_said() {
        let size = Some(Size::DEFAULT);
        assert_eq!(refusal(|_| ()), "");
        assert_eq!(refusal(|r| r.command.clear()), "command must not be empty");
        assert_eq!(refusal(|r| r.command[0].clear()), "command must not be empty");
        assert_eq!(refusal(|r| r.command[0].push('\0')), "command must not contain NUL");
        assert_eq!(refusal(|r| r.cwd = Some("here".into())), "cwd must be absolute");
        assert_eq!(
            refusal(|r| r.streams = true),
            "stream_stdout_stderr requires a non-empty process_id"
        );
        assert_eq!(refusal(|r| r.tty = true), "tty requires a non-empty process_id");
        assert_eq!(refusal(|r| r.size = size), "size requires tty");
        assert_eq!(
            refusal(|r| {
                r.streams = true;
                r.process_id = Some(String::new());
            }),
            "stream_stdout_stderr requires a non-empty process_id"
        );
        assert_eq!(
            refusal(|r| {
                (r.tty, r.streams, r.size) = (true, true, size);
                r.process_id = Some("p".into());
            }),
            ""
        );
        for name in ["", "A=B", "A\0"] {
            let message = refusal(|r| r.env.push((name.into(), None)));
            assert_eq!(message, format!("{name:?} is not a name of a variable"));
        }
        let message = refusal(|r| r.env.push(("A".into(), Some("secret\0".into()))));
        assert_eq!(message, "the value of A contains NUL");
    }

    #[test]
    fn limits_are_usual_asked_for_or_off() {
        let second = Duration::from_secs(1);
        assert_eq!(ExecRequest::timeout_of(None, false).unwrap(), Some(Duration::from_secs(30)));
        assert_eq!(ExecRequest::timeout_of(Some(second), false).unwrap(), Some(second));
        assert_eq!(ExecRequest::timeout_of(None, true).unwrap(), None);
        assert!(ExecRequest::timeout_of(Some(second), true).is_err());
        assert_eq!(ExecRequest::cap_of(None, false).unwrap(), Some(1_048_576));
        assert_eq!(ExecRequest::cap_of(Some(7), false).unwrap(), Some(7));
        assert_eq!(ExecRequest::cap_of(None, true).unwrap(), None);
        assert!(ExecRequest::cap_of(Some(7), true).is_err());
    }

    #[test]
    fn secrets_are_not_printed() {
        let request = ExecRequest {
            command: vec!["curl".into(), "token".into()],
            env: vec![("KEY".into(), Some("hidden".into()))],
            ..ExecRequest::default()
        };
        let printed = format!("{request:?}");
        assert!(!printed.contains("token") && !printed.contains("hidden"), "{printed}");
    }
}
