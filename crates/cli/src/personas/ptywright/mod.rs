//! The ptywright tool: its command line, its words and its exit codes.

mod child;
mod input;
mod logs;
mod repl;
mod run;
mod serve;

use std::{ffi::OsString, io::Write as _, process::ExitCode};

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};
use rookery_daemon::serve::FramingKind;
use rookery_ptywright::PROTOCOL_VERSION;

pub(crate) use serve::{Serve, serve};

use crate::{
    commands::done,
    failure::{Failure, Outcome},
    output,
};

/// The name of the tool.
pub(crate) const NAME: &str = "ptywright";

/// Whose program this is.
const PROVIDER: &str = concat!(
    "This is rookery ",
    env!("CARGO_PKG_VERSION"),
    ", which speaks the protocol of ptywright."
);

/// Drive terminal programs: start them, send input, wait for output, read the screen.
#[derive(Debug, Parser)]
#[command(name = NAME, version = PROTOCOL_VERSION, after_help = PROVIDER, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a program in its own terminal, connected to stdin and stdout
    Run(run::Run),
    /// Serve JSON-RPC on stdio or a socket
    Serve(Serve),
    /// Start a Lua console connected to a server
    Repl(repl::Repl),
    /// Print the last lines of the newest log and follow it
    Logs(logs::Logs),
    /// Print a completion script for a shell
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: String,
    },
}

/// Message framing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Framing {
    /// One message per line
    Ndjson,
    /// Content-Length headers, as in the Language Server Protocol
    Lsp,
}

impl From<Framing> for FramingKind {
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::Ndjson => FramingKind::Ndjson,
            Framing::Lsp => FramingKind::Lsp,
        }
    }
}

/// The whole tool.
pub(crate) fn main(args: Vec<OsString>) -> ExitCode {
    let words = std::iter::once(OsString::from(NAME)).chain(args);
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    run(cli).unwrap_or_else(|failure| failure.of(NAME).report())
}

fn run(cli: Cli) -> Outcome {
    match cli.command {
        None => {
            output::write(Cli::command().render_help().to_string().as_bytes())?;
            done()
        }
        Some(Command::Run(args)) => run::run(args),
        Some(Command::Serve(args)) => serve::run(args),
        Some(Command::Repl(args)) => repl::run(args),
        Some(Command::Logs(args)) => logs::run(&args),
        Some(Command::Completions { shell }) => completions(&shell),
    }
}

/// Help and version on stdout; mistakes on stderr, where nothing of what was typed may give a secret away.
pub(crate) fn explain(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    if error.use_stderr() {
        let text = rookery_ptywright::redact_error(&text);
        // If stderr is gone, the failure cannot be reported.
        let _ = std::io::stderr().write_all(text.as_bytes());
        return code;
    }
    output::write(text.as_bytes()).map_or_else(|failure| failure.of(NAME).report(), |()| code)
}

fn completions(shell: &str) -> Outcome {
    let shell = clap_complete::Shell::from_str(shell, true).map_err(|_| {
        let known = "bash, elvish, fish, powershell, zsh";
        Failure::new(format!("rpc error: unknown shell '{shell}', expected one of: {known}"))
    })?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    output::write(&script)?;
    done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_program_to_run_may_have_flags_of_its_own() {
        let read = |line: &str| {
            let words = std::iter::once(NAME).chain(line.split_whitespace());
            Cli::try_parse_from(words).map(|cli| cli.command)
        };
        for line in ["run --rows 3 -- ls --rows 5", "run --rows 3 ls --rows 5"] {
            let Ok(Some(Command::Run(run))) = read(line) else { panic!("{line}") };
            assert_eq!((run.rows, run.cols), (Some(3), None));
            assert_eq!(run.command, ["ls", "--rows", "5"]);
        }
        for line in ["run", "run --rows 0 -- ls", "serve --framing xx", "nothing"] {
            assert_eq!(read(line).unwrap_err().exit_code(), 2, "{line}");
        }
        assert!(read("serve --shared --plugin x.toml").is_err());
        assert!(read("repl --stdio").is_err() && read("repl --socket s --stdio -- x").is_err());
    }
}
