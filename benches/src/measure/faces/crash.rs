//! `kill -9` of the daemon: from the start of a new one until the picture is current.

use std::time::{Duration, Instant};

use serde_json::json;

use super::super::Bench;
use super::{SIZE, Viewer, open, row, shows, tui};
use crate::peers::SessionServer as _;
use crate::report::{Better, Report};
use crate::stats::Figure;

/// Terminals that live on.
const TERMINALS: usize = 20;
/// What stands on the one that is shown.
const TEXT: &str = "still here";
/// What the TUI says meanwhile.
const AWAY: &[u8] = b"The daemon is away";

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let count = bench.count(TERMINALS, 5);
    let mut rookery = bench.rookery()?;
    let mut client = rookery.connect()?;
    let mut terminal = 0;
    for _ in 0..count {
        let print = format!("seq 1 500; echo '{TEXT}'; exec cat");
        terminal = open(&mut client, &["sh", "-c", &print])?;
    }
    client.call("rookery/terminals/activate", &json!({"terminal": terminal}))?;
    client.call("session.wait", &crate::peers::wait_for(&format!("s{terminal}"), TEXT))?;
    rookery.note_keeper()?;
    let mut outer = tui(&rookery, TEXT)?;
    let (mut linked, mut painted) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        outer.forget();
        // Not between the kill and the start: a face starts a daemon by itself after half a second.
        bench.await_quiet();
        rookery.kill()?;
        outer.wait(AWAY, super::SOON)?;
        outer.forget();
        let start = Instant::now();
        rookery.start_again()?;
        let place = json!({"page": "workspace", "terminal": terminal});
        let mut viewer = Viewer::open(&rookery, SIZE, json!({"place": place, "fit": "follow"}))?;
        viewer.wait(|frame| shows(frame, TEXT))?;
        linked.push(start.elapsed().as_secs_f64() * 1e3);
        // What lay over the picture is gone with the first one that is current.
        outer.wait(b"\x1b[?2026l", super::SOON)?;
        painted.push(start.elapsed().as_secs_f64() * 1e3);
        outer.drain(Duration::from_millis(600), super::SOON)?;
    }
    for (who, times) in [("a viewer of the link", &linked), ("the TUI", &painted)] {
        let name = format!("kill -9 and a new daemon, {count} terminals, until {who} is current");
        let mut made = row(name, "ms", Better::Lower);
        made.rookery = Figure::best(times, Better::Lower);
        report.push(made.target("at most 300", |millis| millis <= 300.0));
    }
    Ok(())
}
