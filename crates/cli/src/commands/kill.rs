//! `rookery kill`: ends the program in a terminal, or sends it a signal.

use rookery_native::wire::{Empty, Signal, TerminalOnly, TerminalSignal};

use crate::{
    args,
    commands::done,
    failure::Outcome,
    link::{self, call},
    resolve,
};

pub(super) async fn run(args: args::Kill) -> Outcome {
    let client = link::connect().await?;
    let terminal = resolve::terminal(&client, &args.target.id).await?;
    match args.signal {
        None => call::<Empty>(&client, "rookery/terminals/kill", TerminalOnly { terminal }).await?,
        Some(signal) => {
            let params = TerminalSignal { terminal, signal: Signal::Name(signal), group: true };
            call::<Empty>(&client, "rookery/terminals/signal", params).await?
        }
    };
    done()
}
