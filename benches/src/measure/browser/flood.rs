//! Many lines in a page: how long they take, and what is painted and sent meanwhile.

use serde_json::json;

use super::super::Bench;
use super::{END, Page, number, row, with_peer};
use crate::chromium::Chromium;
use crate::gate::{Gate, WORK_LIMIT};
use crate::peers;
use crate::report::{Better, Report};
use crate::stats::Figure;
use crate::streams::{MARKER, Stream};

/// How long the picture may be the same while it changes, in milliseconds.
const GAP_LIMIT: f64 = 2_000.0;

/// What one run came to.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Milliseconds until the end was painted.
    time: f64,
    frames: f64,
    /// Milliseconds.
    gap: f64,
    bytes: f64,
}

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let rounds = 0..bench.rounds.min(3);
    let megabytes = bench.bytes / 1_000_000;
    let mut page = Page::open(bench)?;
    let size = page.size()?;
    let own =
        rounds.clone().map(|_| through(bench, &mut page)).collect::<anyhow::Result<Vec<Run>>>()?;
    drop(page);
    let peer = with_peer(bench, report, size, |browser, _| {
        let bytes = bench.bytes;
        let start =
            |browser: &mut Chromium| browser.js(&format!("socket.send('flood {bytes}')")).map(drop);
        rounds.map(|_| watch(bench, browser, start)).collect::<anyhow::Result<Vec<Run>>>()
    });
    let mut push = |name: &str, unit, better, of: fn(&Run) -> f64, target: Option<Target>| {
        let best = |runs: &Vec<Run>| Figure::best(&runs.iter().map(of).collect::<Vec<_>>(), better);
        let mut made = row(name, unit, better);
        (made.rookery, made.xterm_js) = (best(&own), peer.as_ref().and_then(best));
        report.push(match target {
            Some((text, is_met)) => made.target(text, is_met),
            None => made,
        });
    };
    let name = format!("{megabytes} MB of lines, until the end is painted");
    push(&name, "ms", Better::Lower, |run| run.time, None);
    let frames: Target = ("at least 20", |frames| frames >= 20.0);
    let per_second = |run: &Run| run.frames / run.time * 1e3;
    push("frames meanwhile", "/s", Better::Higher, per_second, Some(frames));
    let gap: Target = ("never two seconds", |gap| gap < GAP_LIMIT);
    push("longest time without a frame meanwhile", "ms", Better::Lower, |run| run.gap, Some(gap));
    let bytes: Target = ("at most 1024", |rate| rate <= 1024.0);
    let rate = |run: &Run| run.bytes / 1024.0 / run.time * 1e3;
    push("bytes to the page meanwhile", "KiB/s", Better::Lower, rate, Some(bytes));
    Ok(())
}

/// What a figure should be.
type Target = (&'static str, fn(f64) -> bool);

/// Lets a program in the terminal that is shown write, until the page has painted the end of it.
fn through(bench: &Bench, page: &mut Page) -> anyhow::Result<Run> {
    let gate = Gate::new(bench.dir())?;
    let output = (Stream::Ascii, bench.bytes);
    let size = page.size()?;
    let mut session = peers::open_writer(&mut page.client, &bench.exe, &gate, output, size)?;
    let terminal: u64 = session.id.trim_start_matches('s').parse()?;
    page.client.call("rookery/terminals/activate", &json!({"terminal": terminal}))?;
    page.await_terminal(terminal)?;
    let run = watch(bench, &mut page.browser, |_| session.child.release())?;
    session.child.done()?;
    page.client.call("session.close", &json!({"session": session.id}))?;
    Ok(run)
}

fn watch(
    bench: &Bench,
    browser: &mut Chromium,
    start: impl FnOnce(&mut Chromium) -> anyhow::Result<()>,
) -> anyhow::Result<Run> {
    bench.await_quiet();
    browser.js(&format!("bench.begin({})", json!(MARKER)))?;
    start(browser)?;
    let time = number(&browser.told(END, WORK_LIMIT)?)?;
    let counts = browser.js("[bench.frames, bench.gap, bench.bytes]")?;
    let count = |index: usize| counts[index].as_f64().unwrap_or_default();
    Ok(Run { time, frames: count(0), gap: count(1), bytes: count(2) })
}
