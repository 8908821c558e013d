//! From starting a client until its picture is there.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::json;

use super::super::Bench;
use super::{SIZE, SOON, open, program_of, row};
use crate::memory::Memory;
use crate::outer::Outer;
use crate::peers::SessionServer as _;
use crate::process;
use crate::report::{Better, Report};
use crate::stats::Figure;

/// What the terminal shows.
const TEXT: &str = "a picture";
/// What the TUI may be resident with, in KiB.
const RESIDENT: f64 = 15.0 * 1024.0;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let count = bench.count(20, 3);
    let rookery = bench.rookery()?;
    let mut client = rookery.connect()?;
    let print = format!("echo '{TEXT}'; exec cat");
    let terminal = open(&mut client, &["sh", "-c", &print])?;
    client.call("rookery/terminals/activate", &json!({"terminal": terminal}))?;
    client.call("session.wait", &crate::peers::wait_for(&format!("s{terminal}"), TEXT))?;
    let mut command = process::program(rookery.binary());
    command.arg("tui").env("ROOKERY_HOME", rookery.home());
    let (mut own, mut resident) = (Vec::new(), Vec::new());
    for _ in 0..count {
        bench.await_quiet();
        let (time, outer) = first_picture(&command)?;
        own.push(time.as_secs_f64() * 1e3);
        resident.push(Memory::of(&[program_of(&outer)])?.rss);
    }
    let tmux = bench.with_tmux(report, |tmux| {
        tmux.run(&["respawn-window", "-k", "-t", "bench:0", &print])?;
        let (mut times, mut resident) = (Vec::new(), Vec::new());
        for _ in 0..count {
            bench.await_quiet();
            let (time, outer) = first_picture(&tmux.attach())?;
            times.push(time.as_secs_f64() * 1e3);
            resident.push(Memory::of(&[program_of(&outer)])?.rss);
        }
        Ok((times, resident))
    });
    let (beside, beside_resident) = tmux.unzip();
    let median = |times: &Vec<f64>| Figure::quantile(times, 0.5);
    let mut made = row("start to first paint, the daemon runs", "ms", Better::Lower);
    (made.rookery, made.tmux) = (median(&own), beside.as_ref().and_then(median));
    let peer = made.tmux;
    report.push(made.target_against(peer, "at most 1.5 × tmux", |own, tmux| own <= tmux * 1.5));
    let mut made = row("the client itself, resident", "KiB", Better::Lower);
    (made.rookery, made.tmux) = (median(&resident), beside_resident.as_ref().and_then(median));
    report.push(made.target("at most 15 MiB", |resident| resident <= RESIDENT));
    Ok(())
}

/// Starts a client and waits until the terminal's text is on the outer one.
fn first_picture(command: &std::process::Command) -> anyhow::Result<(Duration, Outer)> {
    let start = Instant::now();
    let mut outer = Outer::start(command, SIZE)?;
    outer.wait(TEXT.as_bytes(), SOON).context("the first picture")?;
    Ok((start.elapsed(), outer))
}
