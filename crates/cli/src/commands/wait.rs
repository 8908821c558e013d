//! `rookery wait`: until a terminal shows something, ends or falls silent.

use rookery_native::wire::{Wait, Waited};

use crate::{
    args,
    commands::done,
    failure::Outcome,
    link::{self, call},
    output, resolve,
};

pub(super) async fn run(args: args::Wait) -> Outcome {
    let client = link::connect().await?;
    let terminal = resolve::terminal(&client, &args.target.id).await?;
    let params = Wait {
        text: args.text,
        regex: args.regex,
        exit: args.exit.then_some(true),
        stable_ms: args.stable,
        timeout_ms: Some(u64::try_from(args.timeout.as_millis()).unwrap_or(u64::MAX)),
        ..Wait::new(terminal)
    };
    let waited: Waited = call(&client, "rookery/terminals/wait", params).await?;
    if args.json {
        output::json(&waited)?;
    }
    done()
}
