//! Threads that are kept and at rest: what they take in memory, and how long it takes to list them.

use std::time::Instant;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{MILLI, SILENCE_LIMIT, or_leave, row, run_turns, start, start_threads};
use crate::client::Client;
use crate::measure::Bench;
use crate::memory::Memory;
use crate::peers::SessionServer as _;
use crate::peers::roder::Kind;
use crate::peers::rookery::Rookery;
use crate::report::{Better, Report};
use crate::stats::{Figure, SHARES, Times};

/// Threads at first, which the peer gets too, and in the end.
const SOME: usize = 1_000;
const MANY: usize = 10_000;
/// Threads that are made at once.
const WAVE: usize = 100;
/// What the daemon may hold with some threads, in MiB.
const RESIDENT_LIMIT: f64 = 60.0;
/// What a page of the list may take, in ms.
const PAGE_LIMIT: f64 = 50.0;
/// Threads on a page, unless a client says otherwise, and at most.
const PAGE: usize = 50;
const LARGEST_PAGE: usize = 500;
/// KiB in a MiB.
const KIB: f64 = 1_024.0;

/// What was measured with some threads.
struct Stage {
    /// Resident, in KiB: without threads, and with them.
    empty: f64,
    full: f64,
    page: Times,
}

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let (some, many) = (bench.count(SOME, 50), bench.count(MANY, 200));
    let theirs = match &bench.roder {
        Some((binary, _)) => {
            let measured = start(Kind::Theirs, binary).and_then(|mut server| {
                let params = server.new_thread("mock", "mock")?;
                let processes = [server.id()];
                measure_some(bench, server.client()?, &params, &processes, some)
            });
            or_leave(report, Kind::Theirs, measured)?
        }
        None => None,
    };
    let mut rookery = bench.rookery()?;
    let processes = rookery.processes()?;
    let params = json!({"cwd": bench.dir(), "modelProvider": "mock", "model": "mock"});
    let mut client = connect(&rookery)?;
    let own = measure_some(bench, &mut client, &params, &processes, some)?;
    push_some(report, &own, theirs.as_ref(), some);
    fill(&mut client, &params, many - some)?;
    let full = Memory::steady(&processes)?.rss;
    let each = (full - own.full) / (many - some) as f64;
    let what = format!("each thread from {some} to {many}, resident");
    report.push(row(what, "KiB", Better::Lower, (Some(Figure::once(each)), None)));
    lists(bench, report, &mut client, many)?;
    drop(client);
    again(report, &mut rookery, many)
}

fn connect(rookery: &Rookery) -> anyhow::Result<Client> {
    let mut client = Client::connect(&rookery.endpoint("roder")?)?;
    client.limit(SILENCE_LIMIT)?;
    Ok(client)
}

/// Makes threads with one turn each.
fn fill(client: &mut Client, params: &Value, count: usize) -> anyhow::Result<()> {
    for begin in (0..count).step_by(WAVE) {
        let threads = start_threads(client, params, WAVE.min(count - begin))?;
        run_turns(client, &threads, "hi")?;
    }
    Ok(())
}

fn measure_some(
    bench: &Bench,
    client: &mut Client,
    params: &Value,
    processes: &[u32],
    count: usize,
) -> anyhow::Result<Stage> {
    // The first turns bring what all share.
    fill(client, params, 1)?;
    let empty = Memory::steady(processes)?.rss;
    fill(client, params, count)?;
    let full = Memory::steady(processes)?.rss;
    let page = pages(bench, client, PAGE)?;
    Ok(Stage { empty, full, page })
}

fn push_some(report: &mut Report, own: &Stage, theirs: Option<&Stage>, count: usize) {
    let pair = |of: &dyn Fn(&Stage) -> f64| {
        (Some(Figure::once(of(own))), theirs.map(|theirs| Figure::once(of(theirs))))
    };
    let resident = row(
        format!("{count} threads at rest, resident"),
        "MiB",
        Better::Lower,
        pair(&|some| some.full / KIB),
    );
    report.push(resident.target("at most 60 MiB", |value| value <= RESIDENT_LIMIT));
    let each = pair(&|some| (some.full - some.empty) / count as f64);
    report.push(row(format!("each of {count} threads, resident"), "KiB", Better::Lower, each));
    for (which, figure) in SHARES {
        let millis = |some: &Stage| Some(figure(&some.page)?.divided_by(MILLI));
        let what = format!("thread/list, {PAGE} of {count}, {which}");
        report.push(row(what, "ms", Better::Lower, (millis(own), theirs.and_then(millis))));
    }
}

/// How long the first page takes.
fn pages(bench: &Bench, client: &mut Client, limit: usize) -> anyhow::Result<Times> {
    let request = client.encode("thread/list", &json!({"limit": limit}));
    let mut times = Times::default();
    for _ in 0..bench.rounds {
        bench.await_quiet();
        client.ask(&request)?;
        times.begin();
        for _ in 0..bench.count(50, 3) {
            let start = Instant::now();
            client.ask(&request)?;
            times.push(start.elapsed());
        }
    }
    Ok(times)
}

fn lists(
    bench: &Bench,
    report: &mut Report,
    client: &mut Client,
    count: usize,
) -> anyhow::Result<()> {
    for limit in [PAGE, LARGEST_PAGE] {
        let times = pages(bench, client, limit)?;
        for (which, figure) in SHARES {
            let figure = figure(&times).map(|figure| figure.divided_by(MILLI));
            let what = format!("thread/list, {limit} of {count}, {which}");
            let row = row(what, "ms", Better::Lower, (figure, None));
            report.push(row.target("below 50 ms", |value| value < PAGE_LIMIT));
        }
    }
    let mut walks = Vec::new();
    for _ in 0..bench.rounds {
        bench.await_quiet();
        let start = Instant::now();
        let seen = walk(client)?;
        walks.push(start.elapsed().as_secs_f64() * 1e3);
        anyhow::ensure!(seen > count, "{seen} of {count} threads were listed");
    }
    let what = format!("thread/list, all of {count} by {LARGEST_PAGE}");
    report.push(row(what, "ms", Better::Lower, (Figure::best(&walks, Better::Lower), None)));
    Ok(())
}

/// Lists all threads, and says how many there are.
fn walk(client: &mut Client) -> anyhow::Result<usize> {
    let mut cursor = Value::Null;
    let mut seen = 0;
    loop {
        let request =
            client.encode("thread/list", &json!({"limit": LARGEST_PAGE, "cursor": cursor}));
        let page = client.ask(&request)?;
        seen += occurrences(page, b"\"sessionId\":");
        cursor = next_cursor(page).context("a page without a cursor")?;
        if cursor.is_null() {
            return Ok(seen);
        }
    }
}

fn occurrences(text: &[u8], word: &[u8]) -> usize {
    text.windows(word.len()).filter(|window| *window == word).count()
}

/// Where the next page begins. It stands near the end, so that little has to be looked at.
fn next_cursor(page: &[u8]) -> Option<Value> {
    let word = b"\"nextCursor\":";
    let at = page.windows(word.len()).rposition(|window| window == word)?;
    let mut values = serde_json::Deserializer::from_slice(&page[at + word.len()..]).into_iter();
    values.next()?.ok()
}

/// What the next daemon holds that finds all of them on disk, and how long until it serves.
fn again(report: &mut Report, rookery: &mut Rookery, count: usize) -> anyhow::Result<()> {
    rookery.note_keeper()?;
    rookery.kill()?;
    let (time, _) = rookery.start_again()?;
    let what = format!("a new daemon with {count} stored threads");
    let millis = Figure::once(time.as_secs_f64() * 1e3);
    report.push(row(
        format!("{what}, until it is ready"),
        "ms",
        Better::Lower,
        (Some(millis), None),
    ));
    let held = Figure::once(Memory::steady(&rookery.processes()?)?.rss / KIB);
    report.push(row(format!("{what}, resident"), "MiB", Better::Lower, (Some(held), None)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_found() {
        let page = br#"{"result":{"data":[{"sessionId":"a"}],"nextCursor":"x\"y","backwardsCursor":null}}"#;
        assert_eq!(next_cursor(page), Some(json!("x\"y")));
        assert_eq!(next_cursor(br#"{"nextCursor":null}"#), Some(Value::Null));
        assert_eq!(next_cursor(b"{}"), None);
        assert_eq!(occurrences(page, b"\"sessionId\":"), 1);
    }
}
