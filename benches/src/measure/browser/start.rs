//! From the start of a page until its first picture, and what is on its heap after much scrolling.

use std::time::{Duration, Instant};

use anyhow::ensure;

use super::super::{Bench, faces};
use super::{FIRST, Page, SOON, number, row, with_peer};
use crate::child::GREETING;
use crate::chromium::Chromium;
use crate::gate::pause;
use crate::peers;
use crate::report::{Better, Report};
use crate::stats::Figure;

/// Rows that are scrolled through.
const ROWS: usize = 10_000;
/// Pixels of one turn of the wheel.
const TURN: i64 = 1_200;
/// What may be on the heap then, in KiB.
const HEAP: f64 = 25.0 * 1024.0;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let count = bench.count(15, 3);
    let rows = bench.count(ROWS, 1_000);
    let mut page = Page::open(bench)?;
    let size = page.size()?;
    let url = page.url.clone();
    let own = starts(bench, &mut page.browser, &url, count)?;
    let heap = own_heap(&mut page, rows)?;
    drop(page);
    let peer = with_peer(bench, report, size, |browser, url| {
        let starts = starts(bench, browser, url, count)?;
        Ok((starts, peer_heap(browser, rows)?))
    });
    let (peer, peer_heap) = peer.unzip();
    let mut made = row("page start to first paint, the daemon runs", "ms", Better::Lower);
    made.rookery = Figure::quantile(&own, 0.5);
    made.xterm_js = peer.as_ref().and_then(|times| Figure::quantile(times, 0.5));
    let beside = made.xterm_js;
    report
        .push(made.target_against(beside, "at most 0.5 × xterm.js", |own, peer| own <= peer * 0.5));
    let name = format!("heap of the page after {rows} rows were scrolled");
    let mut made = row(name, "KiB", Better::Lower);
    (made.rookery, made.xterm_js) = (Some(Figure::once(heap)), peer_heap.map(Figure::once));
    report.push(made.target("at most 25 MiB", |heap| heap <= HEAP));
    Ok(())
}

/// Milliseconds from the start of the navigation until the text is there, each time.
fn starts(
    bench: &Bench,
    browser: &mut Chromium,
    url: &str,
    count: usize,
) -> anyhow::Result<Vec<f64>> {
    let mut times = Vec::new();
    for _ in 0..=count {
        browser.go("about:blank")?;
        bench.await_quiet();
        browser.go(url)?;
        times.push(number(&browser.told(FIRST, SOON)?)?);
    }
    // The first one brings what the browser keeps.
    Ok(times.split_off(1))
}

fn own_heap(page: &mut Page, rows: usize) -> anyhow::Result<f64> {
    let print = format!("seq 1 {rows}; printf '{}'; exec cat", GREETING.escape_default());
    let terminal = faces::open(&mut page.client, &["sh", "-c", &print])?;
    page.client.call(
        "session.wait",
        &peers::wait_for(&format!("s{terminal}"), GREETING.split('\r').next().unwrap_or_default()),
    )?;
    let activate = serde_json::json!({"terminal": terminal});
    page.client.call("rookery/terminals/activate", &activate)?;
    page.await_terminal(terminal)?;
    page.browser.until("bench.text().includes('ready')")?;
    let top = "document.querySelector('.pane[data-focused] .scroller').scrollTop";
    scroll(&mut page.browser, top)?;
    page.browser.until("/^1\\D?/.test(bench.text().trim())")?;
    page.browser.heap()
}

fn peer_heap(browser: &mut Chromium, rows: usize) -> anyhow::Result<f64> {
    browser.js("bench.first = null")?;
    browser.js(&format!("socket.send('lines {rows}')"))?;
    browser.until(&format!("bench.text().includes('{rows}\\nready')"))?;
    scroll(browser, "term.buffer.active.viewportY")?;
    browser.heap()
}

/// Turns the wheel until the top is reached.
fn scroll(browser: &mut Chromium, top: &str) -> anyhow::Result<()> {
    let at_first = browser.js(top)?.as_f64().unwrap_or_default();
    ensure!(at_first > 0.0, "there is nothing to scroll");
    let end = Instant::now() + SOON;
    while browser.js(top)?.as_f64() != Some(0.0) {
        ensure!(Instant::now() < end, "the top was not reached from {at_first}");
        browser.wheel(-TURN)?;
        // As fast as a wheel is turned; what comes into view is painted.
        pause(Duration::from_millis(16))?;
    }
    Ok(())
}
