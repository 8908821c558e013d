//! `rookery dump`: what a terminal shows, as text.

use rookery_native::wire::{Dump, Dumped};

use crate::{
    args,
    commands::done,
    failure::Outcome,
    link::{self, call},
    output, resolve,
};

pub(super) async fn run(args: args::Dump) -> Outcome {
    let client = link::connect().await?;
    let terminal = resolve::terminal(&client, &args.target.id).await?;
    let params = Dump { terminal, history: args.history, redact: !args.no_redact };
    let dumped: Dumped = call(&client, params).await?;
    if args.json {
        output::json(&dumped)?;
    } else if !dumped.text.is_empty() {
        output::line(dumped.text.trim_end_matches('\n'))?;
    }
    done()
}
