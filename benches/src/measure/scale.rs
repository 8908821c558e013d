//! What work costs in a world that is full: many terminals, a long queue, many threads, many turns.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::create::{create_in_tmux, create_many};
use super::{Bench, Section};
use crate::client::Client;
use crate::peers::SessionServer;
use crate::peers::rookery::Rookery;
use crate::peers::tmux::Tmux;
use crate::report::{Better, Report, Row};
use crate::stats::{Figure, Times};

/// Terminals that are listed.
const TERMINALS: usize = 200;
/// Queue items and threads of a full world.
const FULL: usize = 10_000;
/// Turns at once.
const TURNS: usize = 1_000;
/// Requests that may be unanswered.
const IN_FLIGHT: usize = 64;
/// How much a commit may cost more in a full world.
const GROWTH_LIMIT: f64 = 1.5;
/// How long a daemon may be silent while it works.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    lists(bench, report)?;
    commits(bench, report)?;
    reviews(bench, report)?;
    super::memories::run(bench, report)?;
    turns(bench, report)
}

fn row(name: impl Into<String>, unit: &'static str) -> Row {
    Row::new(Section::Scale.name(), name, unit, Better::Lower)
}

fn lists(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let count = bench.count(TERMINALS, 20);
    let own = list(bench, &bench.rookery()?, count)?;
    let ptywright = bench.with_ptywright(report, |server| list(bench, server, count));
    let tmux = bench.with_tmux(report, |tmux| list_tmux(bench, tmux, count));
    for (which, share) in [("p50", Times::p50 as fn(&Times) -> _), ("p99", Times::p99)] {
        report.push(Row {
            rookery: share(&own),
            tmux: tmux.as_ref().and_then(share),
            ptywright: ptywright.as_ref().and_then(share),
            ..row(format!("session.list with {count} terminals, {which}"), "µs")
        });
    }
    Ok(())
}

fn list(bench: &Bench, server: &dyn SessionServer, count: usize) -> anyhow::Result<Times> {
    let mut client = server.connect()?;
    create_many(&mut client, count)?;
    let request = client.encode("session.list", &json!({}));
    let asked = bench.count(1_000, 50);
    repeat(bench, asked, || client.round_trip(&request).map(drop))
}

fn list_tmux(bench: &Bench, tmux: &Tmux, count: usize) -> anyhow::Result<Times> {
    create_in_tmux(tmux, count)?;
    let mut control = tmux.control()?;
    repeat(bench, bench.count(1_000, 50), || control.command("list-windows -a"))
}

fn repeat(
    bench: &Bench,
    count: usize,
    mut work: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<Times> {
    let mut times = Times::default();
    for _ in 0..bench.rounds {
        bench.await_quiet();
        for _ in 0..count / 20 {
            work()?;
        }
        times.begin();
        for _ in 0..count / bench.rounds {
            let start = Instant::now();
            work()?;
            times.push(start.elapsed());
        }
    }
    Ok(times)
}

/// A small change, until it is on disk, in an empty world and in a full one.
fn commits(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let rookery = bench.rookery()?;
    let mut client = rookery.connect()?;
    let opened = client.call("session.create", &json!({"program": "/bin/cat"}))?;
    let session = crate::peers::session_id(&opened)?;
    let renames = ["one", "two"].map(|title| {
        let terminal = session.trim_start_matches('s').parse::<u64>().unwrap_or_default();
        client.encode("rookery/terminals/rename", &json!({"terminal": terminal, "title": title}))
    });
    let mut number = 0;
    let mut commit = |client: &mut Client| {
        number += 1;
        client.round_trip(&renames[number % 2]).map(drop)
    };
    let asked = bench.count(1_000, 50);
    let empty = repeat(bench, asked, || commit(&mut client))?;
    let filed_in_empty = repeat(bench, asked, || notify(&rookery, 0))?;
    let count = bench.count(FULL, 100);
    fill(&rookery, count)?;
    let full = repeat(bench, asked, || commit(&mut client))?;
    let filed = repeat(bench, asked, || notify(&rookery, 0))?;
    let name = format!("a commit with {count} queue items and {count} threads");
    report.push(Row { rookery: full.p50(), ..row(format!("{name}, p50"), "µs") });
    report.push(Row { rookery: full.p99(), ..row(format!("{name}, p99"), "µs") });
    let item = format!("a queue item filed with {count} others and {count} threads");
    report.push(Row { rookery: filed.p50(), ..row(format!("{item}, p50"), "µs") });
    for (name, full, empty) in [(name, full, empty), (item, filed, filed_in_empty)] {
        let (Some(full), Some(empty)) = (full.p50(), empty.p50()) else { continue };
        let growth = Figure::once(full.value / empty.value);
        let row =
            Row { rookery: Some(growth), ..row(format!("{name} ÷ in an empty world"), "×") };
        report.push(row.target("at most 1.5", |value| value <= GROWTH_LIMIT));
    }
    Ok(())
}

/// A turn in one thread, until it is over, in an empty world and in one with many reviews.
fn reviews(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let rookery = bench.rookery()?;
    let mut client = Client::connect(&rookery.endpoint("roder")?)?;
    client.limit(SILENCE_LIMIT)?;
    let params = thread(&mut client)?;
    let asked = bench.count(200, 10);
    let mut measure = || -> anyhow::Result<Times> {
        let started = client.call("thread/start", &params)?;
        let thread = started["thread"]["id"].as_str().unwrap_or_default().to_owned();
        repeat(bench, asked, || {
            super::roder::run_turns(&mut client, std::slice::from_ref(&thread), "hi").map(drop)
        })
    };
    let empty = measure()?;
    let count = bench.count(FULL, 100);
    let socket = rookery.endpoint("idx0")?;
    let wanted = json!({"title": "reviewed", "wait": "true"});
    let session = super::supervision::call(&socket, "newSession", &wanted)?;
    let payload = json!({"session": session["sessionID"], "summary": "please look"});
    (0..count)
        .try_for_each(|_| super::supervision::call(&socket, "requestReview", &payload).map(drop))?;
    let full = measure()?;
    let name = format!("a turn begun with {count} reviews");
    report.push(Row { rookery: full.p50(), ..row(format!("{name}, p50"), "µs") });
    if let (Some(full), Some(empty)) = (full.p50(), empty.p50()) {
        let growth = Figure::once(full.value / empty.value);
        let row =
            Row { rookery: Some(growth), ..row(format!("{name} ÷ in an empty world"), "×") };
        report.push(row.target("at most 1.5", |value| value <= GROWTH_LIMIT));
    }
    Ok(())
}

/// Files an item for one of a hundred sessions.
pub(super) fn notify(rookery: &Rookery, number: usize) -> anyhow::Result<()> {
    let session = format!("11111111-1111-1111-1111-{:012x}", number % 100);
    let payload = json!({"sessionID": session, "title": format!("item {number}")});
    super::supervision::call(&rookery.endpoint("idx0")?, "notify", &payload).map(drop)
}

/// Fills a world: that many open items in the queue, and that many threads.
fn fill(rookery: &Rookery, count: usize) -> anyhow::Result<()> {
    let mut client = Client::connect(&rookery.endpoint("roder")?)?;
    client.limit(SILENCE_LIMIT)?;
    let params = thread(&mut client)?;
    pipeline(&mut client, "thread/start", &params, count)?;
    (0..count).try_for_each(|number| notify(rookery, number))
}

/// Params of a thread that the mock answers.
fn thread(client: &mut Client) -> anyhow::Result<Value> {
    let roots = json!({"roots": [{"path": std::env::temp_dir()}]});
    let created = client.call("workspace/create", &roots)?;
    let workspace = &created["workspace"];
    Ok(json!({
        "workspaceId": workspace["id"], "rootId": workspace["defaultRootId"],
        "modelProvider": "mock", "model": "mock",
    }))
}

/// The same request that often, some of them in flight at a time; gives the results.
fn pipeline(
    client: &mut Client,
    method: &str,
    params: &Value,
    count: usize,
) -> anyhow::Result<Vec<Value>> {
    let mut results = Vec::with_capacity(count);
    for _ in 0..count.min(IN_FLIGHT) {
        client.send(method, params)?;
    }
    while results.len() < count {
        results.push(client.receive()?);
        if results.len() + IN_FLIGHT <= count {
            client.send(method, params)?;
        }
    }
    Ok(results)
}

/// A turn in each of many threads, all started at once, until the last one is over.
fn turns(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let count = bench.count(TURNS, 20);
    let mut best: Option<f64> = None;
    for _ in 0..bench.rounds.min(3) {
        let rookery = bench.rookery()?;
        let mut client = Client::connect(&rookery.endpoint("roder")?)?;
        client.limit(SILENCE_LIMIT)?;
        let params = thread(&mut client)?;
        let started = pipeline(&mut client, "thread/start", &params, count)?;
        let threads: Vec<String> = started
            .iter()
            .filter_map(|one| one["thread"]["id"].as_str().map(str::to_owned))
            .collect();
        bench.await_quiet();
        let time = super::roder::run_turns(&mut client, &threads, "hi")?.as_secs_f64() * 1e3;
        best = Some(best.map_or(time, |known| known.min(time)));
    }
    let name = format!("{count} turns at once, until the last one is over");
    report.push(Row { rookery: best.map(Figure::once), ..row(name, "ms") });
    Ok(())
}
