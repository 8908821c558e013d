//! `rookery close`: ends programs and forgets their terminals.

use rookery_native::{
    TerminalRef,
    wire::{Terminal, TerminalClose, TerminalEnded, TerminalFilter, TerminalList, TerminalState},
};
use rookery_view::safe;
use rookery_wire::Client;
use serde::Serialize;

use crate::{
    args,
    commands::done,
    failure::Outcome,
    link::{self, call},
    output, resolve,
};

pub(super) async fn run(args: args::Close) -> Outcome {
    let client = link::connect().await?;
    // All names are looked up first: closing one terminal must not change what the next name means.
    let mut terminals = Vec::new();
    for id in &args.ids {
        terminals.push(resolve::terminal(&client, id).await?);
    }
    if args.exited {
        terminals = exited(&client).await?;
    }
    let mut closed = Vec::new();
    for terminal in terminals {
        let params = TerminalClose { terminal, all_processes: args.all_processes };
        let ended: TerminalEnded = call(&client, params).await?;
        print_left(&ended);
        closed.push(Closed { terminal: terminal.to_string(), ended });
    }
    if args.json {
        output::json(&closed)?;
    } else if args.exited {
        let word = if closed.len() == 1 { "terminal" } else { "terminals" };
        output::note(format_args!("{} {word} closed", closed.len()));
    }
    done()
}

/// A terminal that was closed, and what outlives it.
#[derive(Debug, Serialize)]
struct Closed {
    terminal: String,
    #[serde(flatten)]
    ended: TerminalEnded,
}

/// The terminals whose programs have ended.
async fn exited(client: &Client) -> Outcome<Vec<TerminalRef>> {
    let list: TerminalList = call(client, TerminalFilter::default()).await?;
    let ended = list.terminals.iter().filter(|it| it.state != TerminalState::Running);
    let number = |it: &Terminal| TerminalRef::Number(rookery_model::TerminalId::new(it.id));
    Ok(ended.map(number).collect())
}

/// Says which processes outlive their terminal, and how to end them.
pub(super) fn print_left(ended: &TerminalEnded) {
    for process in &ended.left {
        let name = safe::line(&process.name);
        output::note(format_args!(
            "still running: {} {name} (left the terminal; end it with --all-processes, or kill {0})",
            process.pid
        ));
    }
}
