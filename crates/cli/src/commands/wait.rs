//! `rookery wait`: until terminals show something, need input, end or fall silent.

use futures_util::future::{FutureExt as _, select_all, try_join_all};
use rookery_native::{
    TerminalRef,
    wire::{Terminal, TerminalGet, Wait, Waited},
};
use rookery_wire::Client;
use serde::Serialize;

use crate::{
    args,
    commands::done,
    failure::Outcome,
    link::{self, call},
    output, resolve,
};

/// One of several terminals, and what came true there.
#[derive(Debug, Serialize)]
struct One {
    terminal: u64,
    #[serde(flatten)]
    waited: Waited,
}

pub(super) async fn run(args: args::Wait) -> Outcome {
    let client = link::connect().await?;
    let mut terminals = Vec::new();
    for id in &args.ids {
        let terminal = resolve::terminal(&client, id).await?;
        terminals.push(number(&client, terminal).await?);
    }
    let waits = terminals.iter().map(|&terminal| wait(&client, terminal, &args).boxed_local());
    let found = match args.any {
        // The others are forgotten with the connection.
        true => vec![select_all(waits).await.0?],
        false => try_join_all(waits).await?,
    };
    match (&*found, args.json) {
        ([one], true) if terminals.len() == 1 => output::json(&one.waited)?,
        ([one], true) if args.any => output::json(one)?,
        (all, true) => output::json(&all)?,
        ([one], false) if args.any => output::line(one.terminal)?,
        (_, false) => {}
    }
    done()
}

/// The number of a terminal, by which the caller knows it again.
async fn number(client: &Client, terminal: TerminalRef) -> Outcome<u64> {
    let found: Terminal = call(client, TerminalGet { terminal }).await?;
    Ok(found.id)
}

async fn wait(client: &Client, terminal: u64, args: &args::Wait) -> Outcome<One> {
    let params = Wait {
        text: args.text.clone(),
        regex: args.regex.clone(),
        transcript_text: args.transcript.clone(),
        exit: args.exit.then_some(true),
        stable_ms: args.stable,
        needs_input: args.needs_input.then_some(true),
        timeout_ms: Some(u64::try_from(args.timeout.as_millis()).unwrap_or(u64::MAX)),
        ..Wait::new(TerminalRef::Number(rookery_model::TerminalId::new(terminal)))
    };
    let waited: Waited = call(client, params).await?;
    Ok(One { terminal, waited })
}
