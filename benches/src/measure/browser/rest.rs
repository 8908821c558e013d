//! What a page costs while nothing changes, beside the browser with an empty one.

use std::time::Duration;

use super::super::{Bench, faces};
use super::{Page, browser, row};
use crate::gate::pause;
use crate::peers::SessionServer as _;
use crate::report::{Better, Report};
use crate::rest::rest;
use crate::stats::Figure;

/// Terminals that are there.
const TERMINALS: usize = 50;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let time = Duration::from_secs(if bench.is_quick { 3 } else { 30 });
    let count = bench.count(TERMINALS, 5);
    let empty = browser(bench)?;
    pause(Duration::from_secs(5))?;
    let floor = rest(&empty.processes(), time, || pause(time))?;
    drop(empty);
    let mut page = Page::open(bench)?;
    for _ in 1..count {
        faces::open(&mut page.client, &["cat"])?;
    }
    let echo = page.echo(bench)?;
    page.await_terminal(echo)?;
    pause(Duration::from_secs(5))?;
    page.browser.js("bench.begin(null)")?;
    let processes = [page.rookery.processes()?, page.browser.processes()].concat();
    let own = rest(&processes, time, || pause(time))?;
    let frames = page.browser.js("bench.frames")?.as_f64().unwrap_or_default();
    let seconds = time.as_secs();
    let name = |what: &str| format!("{count} terminals at rest for {seconds} s, {what}");
    let mut made = row(name("processor of the busiest process"), "%", Better::Lower);
    made.rookery = Some(Figure::once(own.processor));
    made.floor = Some(Figure::once(floor.processor));
    report.push(made.target("at most 0.1", |percent| percent <= 0.1));
    let mut made = row(name("wakeups of the busiest process"), "/s", Better::Lower);
    made.rookery = Some(Figure::once(own.wakeups));
    made.floor = Some(Figure::once(floor.wakeups));
    let beside = made.floor;
    report.push(made.target_against(beside, "at most 1 more than an empty page", |own, empty| {
        own <= empty + 1.0
    }));
    let mut made = row(name("frames"), "", Better::Lower);
    made.rookery = Some(Figure::once(frames));
    report.push(made.target("none", |frames| frames == 0.0));
    Ok(())
}
