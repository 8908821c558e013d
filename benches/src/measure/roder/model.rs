//! What a model says over HTTP: how long until the client has the first of it, and how fast the rest comes.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::deltas::Told;
use super::{
    COMPLETED, DELTA, OWN, SILENCE_LIMIT, check_completed, kinds, name, or_leave, row, turn_request,
};
use crate::client::Client;
use crate::measure::Bench;
use crate::model_server::{ModelServer, PIECE};
use crate::peers::roder::{AppServer, Kind, start_thread};
use crate::report::{Better, Report};
use crate::stats::{Figure, SHARES, Times};

/// A provider that both can be asked to find elsewhere, and a model of it that both know.
const PROVIDER: &str = "deepseek";
const MODEL: &str = "deepseek-chat";

/// Pieces of a short answer, and of a long one.
const SHORT: usize = 3;
const LONG: usize = 5_000;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    first(bench, report)?;
    all(bench, report)
}

/// Settings that send everything to the local model.
fn config(kind: Kind, model: &ModelServer) -> String {
    let own = "kind = \"openai_chat\"\nmodels = [\"deepseek-chat\"]\n";
    let more = if kind == Kind::Theirs { "" } else { own };
    format!("[providers.{PROVIDER}]\nbase_url = \"{}\"\napi_key = \"none\"\n{more}", model.base_url)
}

fn first(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let (count, warm_up) = (bench.count(100, 5), bench.count(10, 2));
    let mut measured = Vec::new();
    for (kind, binary) in kinds(bench) {
        let model = ModelServer::start(SHORT)?;
        let mut times = Times::default();
        let done = AppServer::start(kind, binary, &config(kind, &model)).and_then(|mut server| {
            let params = server.new_thread(PROVIDER, MODEL)?;
            let client = server.client()?;
            client.limit(SILENCE_LIMIT)?;
            for _ in 0..bench.rounds {
                bench.await_quiet();
                let thread = start_thread(client, &params)?;
                times.begin();
                for number in 0..warm_up + count {
                    let time = first_delta(client, &model, &thread)?;
                    if number >= warm_up {
                        times.push(time);
                    }
                }
            }
            Ok(())
        });
        if or_leave(report, kind, done)?.is_some() {
            measured.push((kind, times));
        }
    }
    let of = |kind| measured.iter().find(|(other, _)| *other == kind).map(|(_, times)| times);
    for kind in OWN {
        for (which, figure) in SHARES {
            let pair = (of(kind).and_then(figure), of(Kind::Theirs).and_then(figure));
            let what = format!("first delta after the model's first byte, {}, {which}", name(kind));
            report.push(row(what, "µs", Better::Lower, pair));
        }
    }
    Ok(())
}

fn first_delta(client: &mut Client, model: &ModelServer, thread: &str) -> anyhow::Result<Duration> {
    // A server may ask for more than the answer, a title for instance.
    model.forget();
    let request = turn_request(client, thread, "hi");
    client.send_bytes(&request)?;
    client.receive_notification(DELTA)?;
    let arrived = Instant::now();
    let begun = model.begun(SILENCE_LIMIT)?;
    check_completed(client.receive_notification(COMPLETED)?)?;
    client.receive_notification("thread/status/changed")?;
    Ok(arrived.saturating_duration_since(begun))
}

/// The same with a long answer: how many deltas come in a second, and whether all of them do.
fn all(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let pieces = bench.count(LONG, 100);
    let mut measured = Vec::new();
    for (kind, binary) in kinds(bench) {
        let model = ModelServer::start(pieces)?;
        let done = AppServer::start(kind, binary, &config(kind, &model)).and_then(|mut server| {
            let params = server.new_thread(PROVIDER, MODEL)?;
            let client = server.client()?;
            client.limit(SILENCE_LIMIT / 6)?;
            let mut rates = Vec::new();
            for _ in 0..bench.rounds {
                bench.await_quiet();
                rates.push(long_answer(client, &params, pieces)?);
            }
            Ok(rates)
        });
        measured.extend(or_leave(report, kind, done)?.map(|rates| (kind, rates)));
    }
    let best = |kind| {
        let (_, rates) = measured.iter().find(|(other, _)| *other == kind)?;
        Figure::best(rates, Better::Higher)
    };
    for kind in OWN {
        let what = format!("{pieces} deltas of a model over HTTP, {}", name(kind));
        report.push(row(what, "deltas/s", Better::Higher, (best(kind), best(Kind::Theirs))));
    }
    Ok(())
}

fn long_answer(client: &mut Client, params: &Value, pieces: usize) -> anyhow::Result<f64> {
    let thread = start_thread(client, params)?;
    let request = turn_request(client, &thread, "hi");
    let mut told = Told::default();
    let start = Instant::now();
    client.send_bytes(&request)?;
    let time = told.follow(client, start)?;
    told.check(&PIECE.repeat(pieces))?;
    Ok(told.deltas() as f64 / time.as_secs_f64())
}
