//! `rookery completions`.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{args::Cli, commands::done, failure::Outcome, output};

pub(super) fn run(shell: Shell) -> Outcome {
    output::write(&script(shell))?;
    done()
}

/// The script for a shell.
pub(super) fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rookery", &mut script);
    script
}
