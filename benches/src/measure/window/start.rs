//! From starting a window until its picture is there, and what it is resident with.

use std::time::{Duration, Instant};

use serde_json::json;

use super::super::Bench;
use super::{FIRST, Figures, SOON, Stage, Whose, Window, role, with_block};
use crate::client::Client;
use crate::memory::Memory;
use crate::peers::x_terminals::Kind;
use crate::report::{Better, Report};
use crate::stats::Figure;

/// What our window may be resident with, in KiB.
const RESIDENT: f64 = 45.0 * 1024.0;

/// What the starts of one came to.
#[derive(Default)]
struct Starts {
    millis: Vec<f64>,
    resident: Vec<f64>,
}

pub(super) fn run(bench: &Bench, stage: &mut Stage, report: &mut Report) -> anyhow::Result<()> {
    let measured = stage.each(bench, report, |stage, whose| match whose {
        Whose::Ours => own(bench, stage),
        Whose::Peer(kind) => peer(bench, stage, kind),
    })?;
    let (mut time, mut resident) = (Figures::default(), Figures::default());
    for (whose, starts) in &measured {
        time.set(*whose, Figure::quantile(&starts.millis, 0.5));
        resident.set(*whose, Figure::quantile(&starts.resident, 0.5));
    }
    let peer = time.alacritty;
    report.push(
        time.into_row("start to first paint, the daemon runs", "ms", Better::Lower).target_against(
            peer,
            "at most 1.5 × alacritty",
            |own, peer| own <= peer * 1.5,
        ),
    );
    report.push(
        resident
            .into_row("the window itself, resident", "KiB", Better::Lower)
            .target("at most 45 MiB", |resident| resident <= RESIDENT),
    );
    Ok(())
}

fn own(bench: &Bench, stage: &mut Stage) -> anyhow::Result<Starts> {
    let (rookery, mut client, terminal) = with_block(bench)?;
    // A home in which no window was is measured as little as one that was never drawn in.
    let window = Window::open(stage.own_command(&rookery))?;
    let at = stage.find(FIRST, SOON)?;
    stage.places.push((Whose::Ours, at));
    stage.size = size_of(&mut client, terminal)?;
    drop(window);
    let mut starts = Starts::default();
    for _ in 0..bench.count(15, 3) {
        once(bench, stage, &mut starts, at, |stage| Window::open(stage.own_command(&rookery)))?;
    }
    Ok(starts)
}

fn peer(bench: &Bench, stage: &mut Stage, kind: Kind) -> anyhow::Result<Starts> {
    let program = role(bench, &["__block"]);
    let open = |stage: &mut Stage| Window::open(stage.peer_command(kind, &program, 0));
    let window = open(stage)?;
    let at = stage.find(FIRST, SOON)?;
    stage.places.push((Whose::Peer(kind), at));
    drop(window);
    let mut starts = Starts::default();
    for _ in 0..bench.count(15, 3) {
        once(bench, stage, &mut starts, at, open)?;
    }
    Ok(starts)
}

/// One start, from the word until the block is there.
fn once(
    bench: &Bench,
    stage: &mut Stage,
    starts: &mut Starts,
    at: (u16, u16),
    open: impl Fn(&mut Stage) -> anyhow::Result<Window>,
) -> anyhow::Result<()> {
    // What the last one left is gone.
    stage.await_color(at, [0, 0, 0], SOON)?;
    bench.await_quiet();
    stage.display.settle(Duration::from_millis(100))?;
    let start = Instant::now();
    let window = open(stage)?;
    stage.await_color(at, FIRST, SOON)?;
    starts.millis.push(start.elapsed().as_secs_f64() * 1e3);
    stage.display.settle(Duration::from_millis(500))?;
    starts.resident.push(Memory::of(&[window.pid()])?.rss);
    Ok(())
}

/// Rows and columns of a terminal.
fn size_of(client: &mut Client, terminal: u64) -> anyhow::Result<crate::peers::Size> {
    let listed = client.call("rookery/terminals/list", &json!({}))?;
    let terminals = listed["terminals"].as_array().cloned().unwrap_or_default();
    let found = terminals.iter().find(|one| one["id"] == json!(terminal));
    let size = found.map(|one| one["size"].clone()).unwrap_or_default();
    let part = |name: &str| size[name].as_u64().and_then(|part| u16::try_from(part).ok());
    part("rows")
        .zip(part("cols"))
        .ok_or_else(|| anyhow::anyhow!("a terminal without a size: {listed}"))
}
