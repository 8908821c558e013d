//! `kill -9` of the daemon: from the start of a new one until the window is current.

use std::time::{Duration, Instant};

use super::super::{Bench, faces};
use super::{FIRST, SOON, Stage, Window, row, with_block};
use crate::report::{Better, Report};
use crate::stats::Figure;
use crate::x11::is_like;

/// Terminals that live on.
const TERMINALS: usize = 20;

pub(super) fn run(bench: &Bench, stage: &mut Stage, report: &mut Report) -> anyhow::Result<()> {
    let count = bench.count(TERMINALS, 5);
    let (mut rookery, mut client, _) = with_block(bench)?;
    for _ in 1..count {
        faces::open(&mut client, &["cat"])?;
    }
    rookery.note_keeper()?;
    let window = Window::open(stage.own_command(&rookery))?;
    let at = stage.find(FIRST, SOON)?;
    let mut times = Vec::new();
    for _ in 0..bench.rounds {
        // Not between the kill and the start: a face starts a daemon by itself after half a second.
        bench.await_quiet();
        rookery.kill()?;
        // The picture is dimmed while the daemon is away.
        let end = Instant::now() + SOON;
        while is_like(stage.display.pixel(at)?, FIRST) {
            anyhow::ensure!(
                Instant::now() < end,
                "the window does not say that the daemon is away"
            );
            stage.display.await_drawing(Duration::from_secs(1))?;
        }
        let start = Instant::now();
        rookery.start_again()?;
        stage.await_color(at, FIRST, SOON)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        stage.display.settle(Duration::from_millis(600))?;
    }
    drop(window);
    let name = format!("kill -9 and a new daemon, {count} terminals, until the window is current");
    let mut made = row(name, "ms", Better::Lower);
    made.rookery = Figure::best(&times, Better::Lower);
    report.push(made.target("at most 300", |millis| millis <= 300.0));
    Ok(())
}
