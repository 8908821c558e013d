//! How long it takes until a server answers at all, and then until it answers again.

use std::time::Instant;

use serde_json::json;

use super::{Group, MILLI, OWN, kinds, name, or_leave, row};
use crate::measure::Bench;
use crate::peers::roder::{AppServer, Kind, start_thread};
use crate::report::{Better, Report};
use crate::stats::{SHARES, Times};

/// What a cold start may take, in ms.
const COLD_LIMIT: f64 = 60.0;
/// What half of the requests may take, and 99 percent of them, in µs.
const P50_LIMIT: f64 = 1_000.0;
const P99_LIMIT: f64 = 5_000.0;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    cold(bench, report)?;
    warm(bench, report)
}

fn cold(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let kinds = kinds(bench);
    let count = bench.count(10, 1);
    let mut times: Vec<Times> = kinds.iter().map(|_| Times::default()).collect();
    // The first round warms the caches of files and does not count.
    for round in 0..=bench.rounds {
        for ((kind, binary), times) in kinds.iter().zip(&mut times) {
            bench.await_quiet();
            if round > 0 {
                times.begin();
            }
            for _ in 0..count {
                let start = Instant::now();
                let answered = AppServer::start(*kind, binary, "").and_then(|mut server| {
                    server.client()?.call("initialize", &json!({}))?;
                    Ok(start.elapsed())
                });
                if let Some(time) = or_leave(report, *kind, answered)? {
                    times.push(time);
                }
            }
        }
    }
    let of = |kind| {
        let place = kinds.iter().position(|(other, _)| *other == kind)?;
        times.get(place)
    };
    for kind in OWN {
        for (which, figure) in SHARES {
            let figure = |kind| Some(figure(of(kind)?)?.divided_by(MILLI));
            let what = format!("cold start to the reply to initialize, {}, {which}", name(kind));
            let row = row(what, "ms", Better::Lower, (figure(kind), figure(Kind::Theirs)));
            report.push(match which {
                "p50" => row.target("at most 60 ms", |value| value <= COLD_LIMIT),
                _ => row,
            });
        }
    }
    let rounds = bench.rounds;
    report
        .note(format!("roder: {rounds} rounds of {count} cold starts each, after one to warm up"));
    Ok(())
}

/// The times of one kind of request.
type Which = fn(&Both) -> &Times;

/// Times of the two requests.
#[derive(Default)]
struct Both {
    initialize: Times,
    state: Times,
}

fn warm(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let mut group = Group::<Both>::start(bench, report)?;
    let (count, warm_up) = (bench.count(2_000, 100), bench.count(200, 10));
    for _ in 0..bench.rounds {
        group.each(bench, report, |member| {
            let client = member.server.client()?;
            let thread = start_thread(client, &member.thread)?;
            let initialize = client.encode("initialize", &json!({}));
            // The newer name of session/get, which is the only one that both know.
            let state = client.encode("thread/state", &json!({"threadId": thread}));
            for (request, times) in
                [(initialize, &mut member.figures.initialize), (state, &mut member.figures.state)]
            {
                for _ in 0..warm_up {
                    client.ask(&request)?;
                }
                times.begin();
                for _ in 0..count {
                    let start = Instant::now();
                    client.ask(&request)?;
                    times.push(start.elapsed());
                }
            }
            Ok(())
        })?;
    }
    let requests: [(&str, Which); 2] =
        [("initialize", |both| &both.initialize), ("session/get", |both| &both.state)];
    for (request, of) in requests {
        for kind in OWN {
            for (which, figure) in SHARES {
                let pair = group.pair(kind, |both| figure(of(both)));
                let row =
                    row(format!("{request}, {}, {which}", name(kind)), "µs", Better::Lower, pair);
                report.push(match which {
                    "p50" => row.target("at most 1 ms", |value| value <= P50_LIMIT),
                    _ => row.target("at most 5 ms", |value| value <= P99_LIMIT),
                });
            }
        }
    }
    let rounds = bench.rounds;
    report.note(format!(
        "roder: {rounds} rounds of {count} requests of each kind, after {warm_up} to warm up"
    ));
    Ok(())
}
