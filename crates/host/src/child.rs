//! The one way in which this room starts a program.
//!
//! Every program gets a session of its own without a terminal, so that what opens `/dev/tty` to ask for
//! a password fails at once instead of waiting where no one types; the limits that we came with; and a
//! tag by which everything that it starts is found.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;

use tokio::process::{Child, Command};

use crate::{ProcessTag, supervise};

/// A program as it is started. Its outputs are pipes.
#[derive(Clone, Debug)]
pub(crate) struct Start<'a> {
    /// The program and its arguments. A program without a slash is looked up in its `PATH`.
    pub(crate) argv: &'a [OsString],
    /// Variables that are set.
    pub(crate) env: &'a [(OsString, OsString)],
    /// Where the other variables come from.
    pub(crate) inherits: Inherits<'a>,
    /// Where it runs; our own directory if none is named.
    pub(crate) cwd: Option<&'a Path>,
    /// Whether its input is a pipe; otherwise it reads from `/dev/null`.
    pub(crate) has_input: bool,
    /// Whether it may start what outlives it, and so needs a supervisor.
    pub(crate) is_supervised: bool,
    /// How large a file may become that it writes; as we may ourselves if none is named.
    pub(crate) file_limit: Option<u64>,
}

/// What a program finds in its environment besides what is set for it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inherits<'a> {
    /// Everything of ours but these.
    AllBut(&'a [OsString]),
    Nothing,
}

impl Start<'_> {
    /// Starts it; killed if the child is dropped. May block: an executable can lie on a slow disk.
    pub(crate) fn start(&self) -> io::Result<Child> {
        let mut command = match self.is_supervised {
            true => {
                self.check()?;
                command(&supervise::supervised(self.argv))
            }
            false => command(self.argv),
        };
        match self.inherits {
            Inherits::AllBut(names) => {
                for name in names {
                    command.env_remove(name);
                }
            }
            Inherits::Nothing => {
                command.env_clear();
            }
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.env(ProcessTag::VARIABLE, ProcessTag::fresh().value());
        if let Some(cwd) = self.cwd {
            command.current_dir(cwd);
        }
        command.stdin(if self.has_input { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        leave_session(&mut command);
        crate::limits::give_back(&mut command);
        if let Some(bytes) = self.file_limit {
            crate::limits::bound_files(&mut command, bytes);
        }
        crate::processes::start_child(&mut command)
    }

    fn check(&self) -> io::Result<()> {
        let own = self.env.iter().rfind(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        let path = match self.inherits {
            Inherits::AllBut(_) => own.or_else(|| std::env::var_os("PATH")),
            Inherits::Nothing => own,
        };
        supervise::check_program(self.argv, path.as_deref(), self.cwd)
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where this room starts programs")]
fn command(argv: &[OsString]) -> Command {
    let (program, arguments) = argv.split_first().unwrap_or((const { &OsString::new() }, &[]));
    let mut command = std::process::Command::new(program);
    command.args(arguments);
    command.into()
}

/// Gives a program a session of its own, and with it a group that can be signaled as a whole.
#[expect(unsafe_code, reason = "a session can only be made between fork and exec")]
fn leave_session(command: &mut Command) {
    // SAFETY: the closure makes one system call, and neither allocates nor takes a lock.
    unsafe { command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?)) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PipeCommand, PipeStream, Pipes, Script};

    const ASKS: [&str; 3] = ["sh", "-c", "read x </dev/tty && echo asked || echo none"];

    #[tokio::test]
    async fn no_program_has_a_terminal_to_ask_at() {
        assert_eq!(Script::new(ASKS).run().await.stdout, b"none\n");
        let argv = ASKS.map(OsString::from).to_vec();
        let pipes = Pipes::start(PipeCommand { argv, ..PipeCommand::default() }).await.unwrap();
        assert_eq!(pipes.wait().await, 0);
        assert_eq!(pipes.read(PipeStream::Stdout, 0).bytes, b"none\n");
    }

    #[tokio::test]
    async fn every_program_leads_a_session_and_a_group() {
        let script = "read -r line </proc/self/stat; echo $$ $line";
        let said = Script::new(["sh", "-c", script]).run().await.stdout;
        let said = String::from_utf8(said).unwrap();
        let words: Vec<&str> = said.split_whitespace().collect();
        // Pid; then the line of the shell itself: pid, name, state, parent, group, session.
        assert_eq!((words[5], words[6]), (words[0], words[0]), "{said}");
    }
}
