//! Throughput: how fast a stream of output is read, parsed and shown, alone and while fifty clients wait.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Bench, Section};
use crate::gate::Gate;
use crate::peers::rookery::Rookery;
use crate::peers::tmux::Tmux;
use crate::peers::{self, SessionServer, USUAL, floor};
use crate::process::processor_seconds;
use crate::report::{Better, Report, Row};
use crate::stats::Figure;
use crate::streams::Stream;

/// Clients that wait for something that never comes.
const WAITERS: usize = 50;

/// How much slower than the floor Rookery may be, and how much fifty waiters may cost.
const ALLOWED: f64 = 1.3;

/// Throughputs of one stream, round by round.
#[derive(Default)]
struct Rounds {
    rookery: Vec<f64>,
    floor: Vec<f64>,
    tmux: Vec<f64>,
    ptywright: Vec<f64>,
    /// Another build of Rookery.
    before: Vec<f64>,
    /// Processor seconds per 100 MB, of Rookery and of tmux.
    rookery_cpu: Vec<f64>,
    tmux_cpu: Vec<f64>,
}

/// Every stream, everyone.
pub(super) fn alone(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let rookery = bench.rookery()?;
    let before = bench.before()?;
    for &stream in &bench.streams {
        let mut rounds = Rounds::default();
        for _ in 0..bench.rounds {
            round(bench, report, &rookery, stream, &mut rounds)?;
            if let Some(before) = &before {
                bench.await_quiet();
                let time = ingest(bench, before, (stream, bench.bytes), 0)?;
                rounds.before.push(bench.bytes as f64 / 1e6 / time.as_secs_f64());
            }
        }
        if let (Some(now), Some(then)) = (
            Figure::best(&rounds.rookery, Better::Higher),
            Figure::best(&rounds.before, Better::Higher),
        ) {
            let name = format!("{}, time ÷ that of the build before", stream.title());
            let mut row = Row::new(Section::Ingest.name(), name, "×", Better::Lower);
            row.rookery = Some(Figure::once(then.value / now.value));
            report.push(row.target("at most 1.05", |ratio| ratio <= 1.05));
        }
        let floor = Figure::best(&rounds.floor, Better::Higher);
        let tmux = Figure::best(&rounds.tmux, Better::Higher);
        let row = Row {
            rookery: Figure::best(&rounds.rookery, Better::Higher),
            floor,
            tmux,
            ptywright: Figure::best(&rounds.ptywright, Better::Higher),
            ..Row::new(Section::Ingest.name(), stream.title(), "MB/s", Better::Higher)
        };
        report.push(
            row.target_against(floor, "at most 1.3 × the floor's time", |own, floor| {
                floor <= own * ALLOWED
            })
            .target_against(tmux, "faster than tmux", |own, tmux| own > tmux),
        );
        report.push(Row {
            rookery: Figure::best(&rounds.rookery_cpu, Better::Lower),
            tmux: Figure::best(&rounds.tmux_cpu, Better::Lower),
            ..Row::new(
                Section::Ingest.name(),
                format!("{}, processor time for 100 MB", stream.title()),
                "s",
                Better::Lower,
            )
        });
    }
    Ok(())
}

/// Everyone takes a turn, so that a disturbance of the machine does not hit one alone.
fn round(
    bench: &Bench,
    report: &mut Report,
    rookery: &Rookery,
    stream: Stream,
    rounds: &mut Rounds,
) -> anyhow::Result<()> {
    let rate = |time: Duration| bench.bytes as f64 / 1e6 / time.as_secs_f64();
    let per_100_mb = |seconds: f64| seconds * 100e6 / bench.bytes as f64;
    bench.await_quiet();
    rounds.floor.push(rate(floor::ingest(&bench.exe, bench.dir(), stream, bench.bytes)?));
    let before = processor_time(&rookery.processes()?)?;
    rounds.rookery.push(rate(ingest(bench, rookery, (stream, bench.bytes), 0)?));
    rounds.rookery_cpu.push(per_100_mb(processor_time(&rookery.processes()?)? - before));
    if let Some((time, seconds)) = bench.with_tmux(report, |tmux| ingest_tmux(bench, tmux, stream))
    {
        rounds.tmux.push(rate(time));
        rounds.tmux_cpu.push(per_100_mb(seconds));
    }
    let ptywright =
        bench.with_ptywright(report, |server| ingest(bench, server, (stream, bench.bytes), 0));
    rounds.ptywright.extend(ptywright.map(rate));
    Ok(())
}

fn processor_time(processes: &[u32]) -> anyhow::Result<f64> {
    processes.iter().map(|&pid| processor_seconds(pid)).sum()
}

/// The same streams while fifty clients wait, against the same without.
pub(super) fn with_waiters(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let rookery = bench.rookery()?;
    for &stream in &bench.streams {
        let rate = |bytes: u64, time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
        let (mut alone, mut waited) = (Vec::new(), Vec::new());
        for _ in 0..bench.rounds {
            for (waiters, rates) in [(0, &mut alone), (WAITERS, &mut waited)] {
                let time = ingest(bench, &rookery, (stream, bench.bytes), waiters)?;
                rates.push(rate(bench.bytes, time));
            }
        }
        // It looks at the whole screen for every waiter, which would take minutes.
        let fewer = bench.bytes / 32;
        let peer =
            bench.with_ptywright(report, |server| ingest(bench, server, (stream, fewer), WAITERS));
        let alone = Figure::best(&alone, Better::Higher);
        let row = Row {
            rookery: Figure::best(&waited, Better::Higher),
            ptywright: peer.map(|time| Figure::once(rate(fewer, time))),
            ..Row::new(
                Section::Waiters.name(),
                format!("{}, {WAITERS} waits", stream.title()),
                "MB/s",
                Better::Higher,
            )
        };
        let cost = row.rookery.zip(alone).map_or(0.0, |(waited, alone)| alone.value / waited.value);
        let text = format!("less than 1.3 × the time without ({cost:.2} ×)");
        report.push(row.target_against(alone, text, |waited, alone| alone < waited * ALLOWED));
    }
    Ok(())
}

/// How long a server takes for a stream while `waiters` clients wait for what never comes.
fn ingest(
    bench: &Bench,
    server: &dyn SessionServer,
    output: (Stream, u64),
    waiters: usize,
) -> anyhow::Result<Duration> {
    let gate = Gate::new(bench.dir())?;
    let mut client = server.connect()?;
    let mut session = peers::open_writer(&mut client, &bench.exe, &gate, output, USUAL)?;
    let mut waiting = Vec::with_capacity(waiters);
    for number in 0..waiters {
        let mut other = server.connect()?;
        other.send(
            "session.wait",
            &peers::wait_for(&session.id, &format!("never-{number:04}-seen")),
        )?;
        waiting.push(other);
    }
    let mut reader = server.connect()?;
    reader.send("session.wait", &peers::wait_for_marker(&session.id))?;
    peers::await_pending(server, &mut client, waiters + 1)?;
    bench.await_quiet();
    let start = Instant::now();
    session.child.release()?;
    reader.receive_line()?;
    let time = start.elapsed();
    session.child.done()?;
    drop(session.child);
    client.call("session.close", &json!({"session": session.id}))?;
    Ok(time)
}

/// How long tmux takes for a stream, and how much processor time its server.
fn ingest_tmux(bench: &Bench, tmux: &Tmux, stream: Stream) -> anyhow::Result<(Duration, f64)> {
    let gate = Gate::new(bench.dir())?;
    tmux.open(
        &bench.exe,
        &gate,
        &["__write", stream.name(), &bench.bytes.to_string(), "--confirm"],
    )?;
    let mut child = gate.accept()?;
    bench.await_quiet();
    let before = processor_seconds(tmux.pid())?;
    let start = Instant::now();
    child.release()?;
    child.done()?;
    Ok((start.elapsed(), processor_seconds(tmux.pid())? - before))
}
