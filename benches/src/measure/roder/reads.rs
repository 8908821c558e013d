//! Reading a long thread.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::json;

use super::{MILLI, kinds, name, or_leave, row, run_turn, start};
use crate::client::Client;
use crate::measure::Bench;
use crate::peers::roder::{Kind, start_thread};
use crate::report::{Better, Report};
use crate::stats::{SHARES, Times};

/// Items of the threads that are read; each turn of the mock has two.
const ITEMS: [usize; 2] = [500, 5_000];
/// What reading the longest may take, in ms.
const READ_LIMIT: f64 = 150.0;
/// How long a peer may take to fill a thread.
const FILL_LIMIT: Duration = Duration::from_secs(120);

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let sizes = if bench.is_quick { [20, 100] } else { ITEMS };
    let mut measured = Vec::new();
    // The one that writes to files, as the peer does.
    for (kind, binary) in kinds(bench).into_iter().filter(|(kind, _)| *kind != Kind::Standalone) {
        let mut times = Vec::new();
        let done = start(kind, binary).and_then(|mut server| {
            let params = server.new_thread("mock", "mock")?;
            let client = server.client()?;
            let thread = start_thread(client, &params)?;
            let (mut turns, begin) = (0, Instant::now());
            for items in sizes {
                while turns < items / 2 {
                    run_turn(client, kind, &thread, "hi")?;
                    turns += 1;
                    let is_slow = kind == Kind::Theirs && begin.elapsed() > FILL_LIMIT;
                    ensure!(!is_slow, "{turns} turns took {} s", FILL_LIMIT.as_secs());
                }
                times.push((items, read(bench, client, &thread, items)?));
            }
            Ok(())
        });
        or_leave(report, kind, done)?;
        measured.push((kind, times));
    }
    let of = |kind, items| {
        let (_, times) = measured.iter().find(|(other, _)| *other == kind)?;
        times.iter().find(|(other, _)| *other == items).map(|(_, times)| times)
    };
    for items in sizes {
        for (which, figure) in SHARES {
            let millis = |kind| Some(figure(of(kind, items)?)?.divided_by(MILLI));
            let what = format!("thread/read of {items} items, {}, {which}", name(Kind::Daemon));
            let pair = (millis(Kind::Daemon), millis(Kind::Theirs));
            let row = row(what, "ms", Better::Lower, pair);
            report.push(row.target("below 150 ms", |value| value < READ_LIMIT));
        }
    }
    Ok(())
}

fn read(bench: &Bench, client: &mut Client, thread: &str, items: usize) -> anyhow::Result<Times> {
    let params = json!({"threadId": thread, "includeTurns": true});
    let request = client.encode("thread/read", &params);
    let reply: serde_json::Value = serde_json::from_slice(client.ask(&request)?)?;
    let turns = reply["result"]["thread"]["turns"].as_array();
    let turns = turns.map_or(0, Vec::len);
    ensure!(turns >= items / 2, "{turns} of {} turns were read", items / 2);
    let mut times = Times::default();
    for _ in 0..bench.rounds {
        bench.await_quiet();
        times.begin();
        for _ in 0..bench.count(30, 3) {
            let start = Instant::now();
            client.ask(&request)?;
            times.push(start.elapsed());
        }
    }
    Ok(times)
}
