//! What a face costs while nothing changes.

use std::time::Duration;

use super::super::Bench;
use super::{open, program_of, row, tmux_client, tui};
use crate::gate::pause;
use crate::outer::Outer;
use crate::peers::SessionServer as _;
use crate::process::processor_seconds;
use crate::report::{Better, Report};
use crate::stats::Figure;

/// Terminals that are there.
const TERMINALS: usize = 50;

/// What some processes did in a while.
struct Idle {
    /// Share of a core that the busiest took, in percent.
    processor: f64,
    /// How often the busiest woke, in a second.
    wakeups: f64,
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
    let mut outer = tui(&rookery, "ctrl+\\ keys")?;
    let processes = [rookery.processes()?, vec![program_of(&outer)]].concat();
    let own = rest(&mut outer, &processes, seconds)?;
    drop(outer);
    let tmux = bench.with_tmux(report, |tmux| {
        for _ in 1..count {
            tmux.run(&["new-window", "-d", "cat"])?;
        }
        let mut outer = tmux_client(tmux, "[bench]")?;
        let processes = [tmux.pid(), program_of(&outer)];
        rest(&mut outer, &processes, seconds)
    });
    let figures = |of: fn(&Idle) -> f64| {
        (Some(Figure::once(of(&own))), tmux.as_ref().map(of).map(Figure::once))
    };
    let name = |what: &str| format!("{count} terminals at rest for {seconds} s, {what}");
    let mut made = row(name("processor of the busiest process"), "%", Better::Lower);
    (made.rookery, made.tmux) = figures(|idle| idle.processor);
    report.push(made.target("at most 0.1", |percent| percent <= 0.1));
    let mut made = row(name("wakeups of the busiest process"), "/s", Better::Lower);
    (made.rookery, made.tmux) = figures(|idle| idle.wakeups);
    report.push(made.target("at most 1", |wakeups| wakeups <= 1.0));
    let mut made = row(name("bytes to the outer terminal"), "B", Better::Lower);
    (made.rookery, made.tmux) = figures(|idle| idle.bytes);
    report.push(made.target("none", |bytes| bytes == 0.0));
    Ok(())
}

/// Looks at processes before and after a while in which nothing happens.
fn rest(outer: &mut Outer, processes: &[u32], seconds: u64) -> anyhow::Result<Idle> {
    // What a start leaves to be done is done.
    pause(Duration::from_secs(2))?;
    outer.drain(Duration::from_millis(300))?;
    outer.forget();
    let read = || -> anyhow::Result<Vec<(f64, f64)>> {
        processes.iter().map(|pid| Ok((processor_seconds(*pid)?, wakeups(*pid)))).collect()
    };
    let before = read()?;
    pause(Duration::from_secs(seconds))?;
    let after = read()?;
    while outer.read(Duration::from_millis(10))? {}
    let busiest = |of: fn(&(f64, f64)) -> f64| {
        let pairs = before.iter().zip(&after);
        pairs.map(|(before, after)| of(after) - of(before)).fold(0.0, f64::max) / seconds as f64
    };
    Ok(Idle {
        processor: busiest(|read| read.0) * 100.0,
        wakeups: busiest(|read| read.1),
        bytes: outer.counts().bytes as f64,
    })
}

/// How often the threads of a process were put back to work so far.
fn wakeups(pid: u32) -> f64 {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let count = |path: std::path::PathBuf| {
        let status = std::fs::read_to_string(path.join("status")).ok()?;
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?;
        line.split_whitespace().last()?.parse::<f64>().ok()
    };
    threads.filter_map(|thread| count(thread.path())).sum()
}
