//! `rookery close`: ends programs and forgets their terminals.

use rookery_native::wire::{TerminalEnd, TerminalEnded};

use crate::{
    args,
    commands::done,
    failure::Outcome,
    link::{self, call},
    output, resolve,
    talk::safe,
};

pub(super) async fn run(args: args::Close) -> Outcome {
    let client = link::connect().await?;
    // All names are looked up first: closing one terminal must not change what the next name means.
    let mut terminals = Vec::new();
    for id in &args.ids {
        terminals.push(resolve::terminal(&client, id).await?);
    }
    for terminal in terminals {
        let params = TerminalEnd { terminal, all_processes: args.all_processes };
        let ended: TerminalEnded = call(&client, "rookery/terminals/close", params).await?;
        say_left(&ended);
    }
    done()
}

/// Says which processes outlive their terminal, and how to end them.
pub(super) fn say_left(ended: &TerminalEnded) {
    for process in &ended.left {
        let name = safe::line(&process.name);
        output::note(format_args!(
            "still running: {} {name} (left the terminal; end it with --all-processes, or kill {0})",
            process.pid
        ));
    }
}
