//! What one more viewer costs the daemon.

use serde_json::json;

use super::super::Bench;
use super::{Viewer, open, row, shows};
use crate::memory::Memory;
use crate::peers::SessionServer as _;
use crate::report::{Better, Report};
use crate::stats::Figure;

/// Viewers that are added.
const VIEWERS: usize = 16;
/// Rows and columns of each.
const SIZE: (u16, u16) = (40, 120);
/// What one may cost, in KiB.
const ALLOWED: f64 = 1024.0;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let rookery = bench.rookery()?;
    let mut client = rookery.connect()?;
    // Every cell in a color of its own, which is the most that a viewer can be informed of.
    let dense = "i=0; while [ $i -lt 4800 ]; do printf '\\033[38;5;%dm\\033[48;5;%dmx' $((i % 255)) $((i / 19 % 255)); \
        i=$((i + 1)); done; printf '\\033[0m dense'; exec cat";
    let terminal = open(&mut client, &["sh", "-c", dense])?;
    let resize = json!({"terminal": terminal, "rows": SIZE.0, "cols": SIZE.1});
    client.call("rookery/terminals/resize", &resize)?;
    client.call("session.wait", &crate::peers::wait_for(&format!("s{terminal}"), "dense"))?;
    let place = json!({"page": "workspace", "terminal": terminal});
    let look = || -> anyhow::Result<Viewer> {
        let mut viewer = Viewer::open(&rookery, SIZE, json!({"place": place, "fit": "follow"}))?;
        viewer.wait(|frame| shows(frame, "dense"))?;
        Ok(viewer)
    };
    // The first brings what all share.
    let first = look()?;
    let before = Memory::steady(&[rookery.pid()])?;
    let count = bench.count(VIEWERS, 4);
    let more = (0..count).map(|_| look()).collect::<anyhow::Result<Vec<_>>>()?;
    let each = Memory::steady(&[rookery.pid()])?.each_since(before, count);
    drop((first, more));
    let mut made = row("one more viewer at 40x120, dense", "KiB", Better::Lower);
    made.rookery = Some(Figure::once(each.rss));
    report.push(made.target("at most 1 MiB", |kib| kib <= ALLOWED));
    Ok(())
}
