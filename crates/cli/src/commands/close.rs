//! `rookery close`: ends programs and forgets their terminals.

use rookery_native::wire::{Empty, TerminalOnly};

use crate::{
    args,
    commands::done,
    failure::Outcome,
    link::{self, call},
    resolve,
};

pub(super) async fn run(args: args::Close) -> Outcome {
    let client = link::connect().await?;
    // All names are looked up first: closing one terminal must not change what the next name means.
    let mut terminals = Vec::new();
    for id in &args.ids {
        terminals.push(resolve::terminal(&client, id).await?);
    }
    for terminal in terminals {
        call::<Empty>(&client, "rookery/terminals/close", TerminalOnly { terminal }).await?;
    }
    done()
}
