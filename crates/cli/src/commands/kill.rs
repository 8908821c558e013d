//! `rookery kill`: ends the program in a terminal, or sends it a signal.

use rookery_native::wire::{Signal, TerminalEnded, TerminalKill, TerminalSignal};

use super::close::print_left;
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
            let params = TerminalKill { terminal, all_processes: args.all_processes };
            let ended: TerminalEnded = call(&client, params).await?;
            print_left(&ended);
            if args.json {
                output::json(&ended)?;
            }
        }
        Some(signal) => {
            let params = TerminalSignal { terminal, signal: Signal::Name(signal), group: true };
            call(&client, params).await?;
            if args.json {
                output::json(&serde_json::json!({}))?;
            }
        }
    }
    done()
}
