//! `rookery completions`.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{args::Cli, commands::done, complete, failure::Outcome, output};

pub(super) fn run(shell: Shell) -> Outcome {
    output::write(&script(shell))?;
    done()
}

/// The script for a shell: one that asks this program for everything, or one that knows commands and options as they
/// are now.
pub(super) fn script(shell: Shell) -> Vec<u8> {
    let asking = match shell {
        Shell::Bash => Some(complete::BASH),
        Shell::Fish => Some(complete::FISH),
        Shell::Zsh => Some(complete::ZSH),
        _ => None,
    };
    if let Some(script) = asking {
        return script.as_bytes().to_vec();
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rookery", &mut script);
    script
}
