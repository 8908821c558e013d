//! Latency of waking: from a child's write to the reply of a wait for what it wrote.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use super::{Bench, Section};
use crate::child::{monotonic_nanos, needle, stamped};
use crate::gate::Gate;
use crate::peers::tmux::Tmux;
use crate::peers::{self, SessionServer, USUAL};
use crate::report::{Better, Report, Row};
use crate::stats::Times;

/// How much slower than tmux's control mode the median may be, in microseconds.
const ALLOWED_MICROS: f64 = 300.0;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let rookery = bench.rookery()?;
    let text_only = wake(bench, &rookery, false)?;
    let all_cells = wake(bench, &rookery, true)?;
    let tmux = bench.with_tmux(report, |tmux| wake_tmux(bench, tmux));
    let ptywright = bench.with_ptywright(report, |server| wake(bench, server, true));
    for (name, own) in [("text only", &text_only), ("all cells", &all_cells)] {
        let peer = ptywright.as_ref().filter(|_| name == "all cells");
        let row = Row {
            rookery: own.p50(),
            tmux: tmux.as_ref().and_then(Times::p50),
            ptywright: peer.and_then(Times::p50),
            ..Row::new(
                Section::Wake.name(),
                format!("child write to wait reply, {name}, p50"),
                "µs",
                Better::Lower,
            )
        };
        let tmux_p50 = row.tmux;
        report.push(row.target_against(tmux_p50, "at most tmux + 0.3 ms", |own, tmux| {
            own <= tmux + ALLOWED_MICROS
        }));
        report.push(Row {
            rookery: own.p99(),
            tmux: tmux.as_ref().and_then(Times::p99),
            ptywright: peer.and_then(Times::p99),
            ..Row::new(
                Section::Wake.name(),
                format!("child write to wait reply, {name}, p99"),
                "µs",
                Better::Lower,
            )
        });
    }
    Ok(())
}

/// A batch begins in a quiet moment.
fn begin_batch(bench: &Bench, times: &mut Times, number: u64) {
    if number.is_multiple_of(count(bench).div_ceil(bench.rounds as u64)) {
        bench.await_quiet();
        times.begin();
    }
}

fn count(bench: &Bench) -> u64 {
    bench.count(2_000, 100) as u64
}

fn since(stamp: u64, now: u64) -> Duration {
    Duration::from_nanos(now.saturating_sub(stamp))
}

fn wake(bench: &Bench, server: &dyn SessionServer, has_cells: bool) -> anyhow::Result<Times> {
    let gate = Gate::new(bench.dir())?;
    let mut client = server.connect()?;
    let mut waiter = server.connect()?;
    let mut session = peers::open(&mut client, &bench.exe, &gate, &["__stamp"], USUAL)?;
    let mut times = Times::default();
    for number in 0..count(bench) {
        begin_batch(bench, &mut times, number);
        let mut wait = peers::wait_for(&session.id, &needle(number));
        wait["cells"] = json!(has_cells);
        waiter.send("session.wait", &wait)?;
        peers::await_pending(server, &mut client, 1)?;
        session.child.tell(number)?;
        let reply = waiter.receive_line()?;
        let now = monotonic_nanos();
        let stamp =
            stamped(reply, number).with_context(|| format!("no stamp {number} in a reply"))?;
        times.push(since(stamp, now));
    }
    Ok(times)
}

fn wake_tmux(bench: &Bench, tmux: &Tmux) -> anyhow::Result<Times> {
    let gate = Gate::new(bench.dir())?;
    let mut control = tmux.control()?;
    tmux.open(&bench.exe, &gate, &["__stamp"])?;
    let mut child = gate.accept()?;
    let mut times = Times::default();
    for number in 0..count(bench) {
        begin_batch(bench, &mut times, number);
        child.tell(number)?;
        let (stamp, now) = loop {
            let line = control.receive()?;
            let now = monotonic_nanos();
            if let Some(stamp) = stamped(line, number) {
                break (stamp, now);
            }
        };
        times.push(since(stamp, now));
    }
    Ok(times)
}
