//! What a face costs while nothing changes.

use std::time::Duration;

use super::super::Bench;
use super::{READY, open, program_of, row, tmux_client, tui};
use crate::gate::pause;
use crate::outer::Outer;
use crate::peers::SessionServer as _;
use crate::report::{Better, Report};
use crate::rest::{Rest, rest};
use crate::stats::Figure;

/// Terminals that are there.
const TERMINALS: usize = 50;

/// What some processes did in a while.
struct Idle {
    rest: Rest,
    /// Bytes that came out of the client.
    bytes: f64,
}

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let seconds = if bench.is_quick { 3 } else { 30 };
    let count = bench.count(TERMINALS, 5);
    let rookery = bench.rookery()?;
    let mut client = rookery.connect()?;
    for _ in 0..count {
        open(&mut client, &["cat"])?;
    }
    let mut outer = tui(&rookery, READY)?;
    let processes = [rookery.processes()?, vec![program_of(&outer)]].concat();
    let own = at_rest(&mut outer, &processes, seconds)?;
    drop(outer);
    let tmux = bench.with_tmux(report, |tmux| {
        for _ in 1..count {
            tmux.run(&["new-window", "-d", "cat"])?;
        }
        let mut outer = tmux_client(tmux, "[bench]")?;
        let processes = [tmux.pid(), program_of(&outer)];
        at_rest(&mut outer, &processes, seconds)
    });
    let figures = |of: fn(&Idle) -> f64| {
        (Some(Figure::once(of(&own))), tmux.as_ref().map(of).map(Figure::once))
    };
    let name = |what: &str| format!("{count} terminals at rest for {seconds} s, {what}");
    let mut made = row(name("processor of the busiest process"), "%", Better::Lower);
    (made.rookery, made.tmux) = figures(|idle| idle.rest.processor);
    report.push(made.target("at most 0.1", |percent| percent <= 0.1));
    let mut made = row(name("wakeups of the busiest process"), "/s", Better::Lower);
    (made.rookery, made.tmux) = figures(|idle| idle.rest.wakeups);
    report.push(made.target("at most 1", |wakeups| wakeups <= 1.0));
    let mut made = row(name("bytes to the outer terminal"), "B", Better::Lower);
    (made.rookery, made.tmux) = figures(|idle| idle.bytes);
    report.push(made.target("none", |bytes| bytes == 0.0));
    Ok(())
}

/// Looks at processes before and after a while in which nothing happens.
fn at_rest(outer: &mut Outer, processes: &[u32], seconds: u64) -> anyhow::Result<Idle> {
    // What a start leaves to be done is done.
    pause(Duration::from_secs(2))?;
    outer.drain(Duration::from_millis(300), super::SOON)?;
    outer.forget();
    let time = Duration::from_secs(seconds);
    let rest = rest(processes, time, || pause(time))?;
    outer.drain(Duration::from_millis(10), super::SOON)?;
    Ok(Idle { rest, bytes: outer.counts().bytes as f64 })
}
