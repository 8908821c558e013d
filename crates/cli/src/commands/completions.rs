//! `rookery completions`.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{args::Cli, commands::done, failure::Outcome, output};

pub(super) fn run(shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rookery", &mut script);
    output::write(&script)?;
    done()
}
