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
    /// Processor seconds per 100 MB, of Rookery and of tmux.
    rookery_cpu: Vec<f64>,
    tmux_cpu: Vec<f64>,
}

/// Every stream, everyone.
pub(super) fn alone(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let rookery = bench.rookery()?;
    for &stream in &bench.streams {
        let mut rounds = Rounds::default();
        for _ in 0..bench.rounds {
            round(bench, report, &rookery, stream, &mut rounds)?;
        }
        let floor = Figure::median(&rounds.floor);
        let tmux = Figure::median(&rounds.tmux);
        let row = Row {
            rookery: Figure::median(&rounds.rookery),
            floor,
            tmux,
            ptywright: Figure::median(&rounds.ptywright),
            ..Row::new(Section::Ingest.name(), stream.title(), "MB/s", Better::Higher)
        };
        report.push(
            row.target_against(floor, "at most 1.3 × the floor's time", |own, floor| {
                floor <= own * ALLOWED
            })
            .target_against(tmux, "faster than tmux", |own, tmux| own > tmux),
        );
        report.push(Row {
            rookery: Figure::median(&rounds.rookery_cpu),
            tmux: Figure::median(&rounds.tmux_cpu),
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
    rounds.rookery.push(rate(ingest(bench, rookery, stream, 0)?));
    rounds.rookery_cpu.push(per_100_mb(processor_time(&rookery.processes()?)? - before));
    if let Some((time, seconds)) = bench.with_tmux(report, |tmux| ingest_tmux(bench, tmux, stream))
    {
        rounds.tmux.push(rate(time));
        rounds.tmux_cpu.push(per_100_mb(seconds));
    }
    let ptywright = bench.with_ptywright(report, |server| ingest(bench, server, stream, 0));
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
        let (mut alone, mut waited, mut peer) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..bench.rounds {
            alone.push(ingest(bench, &rookery, stream, 0)?.as_secs_f64());
            waited.push(ingest(bench, &rookery, stream, WAITERS)?.as_secs_f64());
            let other =
                bench.with_ptywright(report, |server| ingest(bench, server, stream, WAITERS));
            peer.extend(other.map(|time| time.as_secs_f64()));
        }
        let rate = |seconds: f64| bench.bytes as f64 / 1e6 / seconds;
        let rates = |times: &[f64]| {
            Figure::median(&times.iter().map(|&time| rate(time)).collect::<Vec<_>>())
        };
        let alone = rates(&alone);
        let row = Row {
            rookery: rates(&waited),
            ptywright: rates(&peer),
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
    stream: Stream,
    waiters: usize,
) -> anyhow::Result<Duration> {
    let gate = Gate::new(bench.dir())?;
    let mut client = server.connect()?;
    let mut session =
        peers::open_writer(&mut client, &bench.exe, &gate, (stream, bench.bytes), USUAL)?;
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
