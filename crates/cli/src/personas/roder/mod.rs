//! The roder tool, as far as it is a server: `roder app-server`.

mod serve;
mod token;

use std::{ffi::OsString, process::ExitCode};

use clap::{CommandFactory as _, Parser, Subcommand};

pub(crate) use serve::{AppServer, serve};

use crate::{commands::done, failure::Outcome, output};

/// The name of the tool.
pub(crate) const NAME: &str = "roder";

/// Whose program this is.
const PROVIDER: &str = concat!(
    "This is rookery ",
    env!("CARGO_PKG_VERSION"),
    ", which speaks the protocol of roder's app-server."
);

/// Serve conversations with coding agents.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_help = PROVIDER, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve JSON-RPC on stdio, or to remote clients
    AppServer(AppServer),
}

/// The whole tool.
pub(crate) fn main(args: Vec<OsString>) -> ExitCode {
    let words = std::iter::once(OsString::from(NAME)).chain(args);
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    run(cli).unwrap_or_else(|failure| failure.of(NAME).report())
}

fn run(cli: Cli) -> Outcome {
    match cli.command {
        None => {
            output::write(Cli::command().render_help().to_string().as_bytes())?;
            done()
        }
        Some(Command::AppServer(args)) => serve(args),
    }
}
