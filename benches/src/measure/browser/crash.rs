//! `kill -9` of the daemon: from the start of a new one until the page is current.

use std::time::{Duration, Instant};

use super::super::{Bench, faces};
use super::{FIRST, Page, SOON, row};
use crate::gate::pause;
use crate::report::{Better, Report};
use crate::stats::Figure;

/// Terminals that live on.
const TERMINALS: usize = 20;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let count = bench.count(TERMINALS, 5);
    let mut page = Page::open(bench)?;
    for _ in 1..count {
        faces::open(&mut page.client, &["cat"])?;
    }
    let echo = page.echo(bench)?;
    page.await_terminal(echo)?;
    page.rookery.note_keeper()?;
    let mut times = Vec::new();
    for _ in 0..bench.rounds {
        page.rookery.kill()?;
        page.browser.until("document.documentElement.dataset.state === 'lost'")?;
        page.browser.js("bench.first = 'ready'")?;
        bench.await_quiet();
        let start = Instant::now();
        page.rookery.start_again()?;
        page.browser.told(FIRST, SOON)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        pause(Duration::from_secs(1))?;
    }
    let name = format!("kill -9 and a new daemon, {count} terminals, until the page is current");
    let mut made = row(name, "ms", Better::Lower);
    made.rookery = Figure::best(&times, Better::Lower);
    report.push(made.target("at most 300", |millis| millis <= 300.0));
    Ok(())
}
