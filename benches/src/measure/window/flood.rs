//! Many lines in a window: how long they take, and what is painted and sent meanwhile.

use std::thread;
use std::time::{Duration, Instant};

use super::super::Bench;
use super::{Figures, REST, Stage, Whose, Window, role};
use crate::gate::{Gate, Waiting, pause};
use crate::peers::SessionServer as _;
use crate::peers::rookery::Rookery;
use crate::relay::Relay;
use crate::report::{Better, Report};
use crate::stats::Figure;
use crate::streams::Stream;
use crate::x11::Display;

/// How long the picture may be the same while it changes, in milliseconds.
const GAP_LIMIT: f64 = 2_000.0;
/// Between two looks at the pixels.
const LOOK_EVERY: Duration = Duration::from_millis(4);
/// Size of the part that is looked at.
const PART: (u16, u16) = (120, 60);

/// What one run came to.
#[derive(Clone, Copy, Debug)]
struct Run {
    time: Duration,
    /// Pictures that differed from the one before.
    pictures: u64,
    gap: Duration,
    /// Bytes over the link, where there is one.
    bytes: u64,
}

pub(super) fn run(bench: &Bench, stage: &mut Stage, report: &mut Report) -> anyhow::Result<()> {
    let megabytes = bench.bytes / 1_000_000;
    let measured = stage.each(bench, report, |stage, whose| {
        let rounds = 0..bench.rounds.min(3);
        rounds.map(|_| through(bench, stage, whose)).collect::<anyhow::Result<Vec<Run>>>()
    })?;
    let best = |of: fn(&Run) -> f64, better| {
        let mut figures = Figures::default();
        for (whose, runs) in &measured {
            let values: Vec<f64> = runs.iter().map(of).collect();
            figures.set(*whose, Figure::best(&values, better));
        }
        figures
    };
    let name = format!("{megabytes} MB of lines, until all are read");
    let time = best(|run| run.time.as_secs_f64() * 1e3, Better::Lower);
    report.push(time.into_row(name, "ms", Better::Lower));
    let pictures = best(|run| run.pictures as f64 / run.time.as_secs_f64(), Better::Higher);
    report.push(
        pictures
            .into_row("pictures that differ meanwhile", "/s", Better::Higher)
            .target("at least 30", |pictures| pictures >= 30.0),
    );
    let gap = best(|run| run.gap.as_secs_f64() * 1e3, Better::Lower);
    report.push(
        gap.into_row("longest time without another picture meanwhile", "ms", Better::Lower)
            .target("never two seconds", |gap| gap < GAP_LIMIT),
    );
    let mut bytes = best(|run| run.bytes as f64 / 1024.0 / run.time.as_secs_f64(), Better::Lower);
    (bytes.xterm, bytes.alacritty) = (None, None);
    report.push(
        bytes
            .into_row("bytes to the window meanwhile", "KiB/s", Better::Lower)
            .target("at most 1024", |rate| rate <= 1024.0),
    );
    Ok(())
}

/// Lets a program in a window write, and looks at the window until it is done.
fn through(bench: &Bench, stage: &mut Stage, whose: Whose) -> anyhow::Result<Run> {
    let at = stage.place(whose)?;
    let gate = Gate::new(bench.dir())?;
    let bytes = bench.bytes.to_string();
    let words = ["__write", Stream::Ascii.name(), &bytes, "--confirm", "--gate", &gate.path()];
    let program = role(bench, &words);
    let mut own: Option<(Rookery, Relay)> = None;
    let window = match whose {
        Whose::Ours => {
            let rookery = bench.rookery()?;
            let mut client = rookery.connect()?;
            let argv: Vec<&str> = program.iter().map(String::as_str).collect();
            super::super::faces::open(&mut client, &argv)?;
            let relay = Relay::before(&rookery.endpoint("rookery")?)?;
            let command = stage.own_command(&rookery);
            own = Some((rookery, relay));
            Window::open(command)?
        }
        Whose::Peer(kind) => Window::open(stage.peer_command(kind, &program, 0))?,
    };
    let child = gate.accept()?;
    // The picture is finished once it rests.
    stage.display.await_drawing(super::SOON)?;
    let end = Instant::now() + super::SOON;
    while stage.display.settle(REST)? > 0 {
        anyhow::ensure!(Instant::now() < end, "the picture does not rest");
    }
    bench.await_quiet();
    let sent = own.as_ref().map_or(0, |(_, relay)| relay.bytes());
    let mut run = watch(&mut stage.display, at, child)?;
    run.bytes = own.as_ref().map_or(0, |(_, relay)| relay.bytes()) - sent;
    drop((window, own));
    Ok(run)
}

fn watch(display: &mut Display, at: (u16, u16), mut child: Waiting) -> anyhow::Result<Run> {
    let corner = (at.0.saturating_sub(PART.0 / 2), at.1.saturating_sub(PART.1 / 2));
    let mut before = display.pixels(corner, PART)?;
    let start = Instant::now();
    child.release()?;
    thread::scope(|scope| {
        let done = scope.spawn(move || child.done().map(|()| start.elapsed()));
        let (mut pictures, mut gap, mut last) = (0, Duration::ZERO, start);
        while !done.is_finished() {
            display.await_drawing(Duration::from_millis(20))?;
            let now = display.pixels(corner, PART)?;
            if now != before {
                pictures += 1;
                gap = gap.max(last.elapsed());
                last = Instant::now();
                before = now;
            }
            pause(LOOK_EVERY)?;
        }
        gap = gap.max(last.elapsed());
        let time = done.join().map_err(|_| anyhow::anyhow!("a reader panicked"))??;
        Ok(Run { time, pictures, gap, bytes: 0 })
    })
}
