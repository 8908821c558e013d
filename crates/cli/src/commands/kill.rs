//! `rookery kill`: ends the program in a terminal, or sends it a signal.

use rookery_native::wire::{Empty, Signal, TerminalEnd, TerminalEnded, TerminalSignal};

use super::close::say_left;
use crate::{
    args,
    commands::done,
    failure::Outcome,
    link::{self, call},
    output, resolve,
};

pub(super) async fn run(args: args::Kill) -> Outcome {
    let client = link::connect().await?;
    let terminal = resolve::terminal(&client, &args.target.id).await?;
    match args.signal {
        None => {
            let params = TerminalEnd { terminal, all_processes: args.all_processes };
            let ended: TerminalEnded = call(&client, "rookery/terminals/kill", params).await?;
            say_left(&ended);
            if args.json {
                output::json(&ended)?;
            }
        }
        Some(signal) => {
            let params = TerminalSignal { terminal, signal: Signal::Name(signal), group: true };
            call::<Empty>(&client, "rookery/terminals/signal", params).await?;
            if args.json {
                output::json(&serde_json::json!({}))?;
            }
        }
    }
    done()
}
