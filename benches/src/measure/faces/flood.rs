//! A hundred megabytes of lines in a pane that is shown: how long they take, and what the viewer gets meanwhile.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::Bench;
use super::{READY, SIZE, Viewer, row, shows, tmux_client, tui};
use crate::gate::Gate;
use crate::outer::{Counts, Outer};
use crate::peers::{self, SessionServer as _};
use crate::report::{Better, Report};
use crate::stats::Figure;
use crate::streams::{MARKER, Stream};

/// How long the picture may be the same while it changes.
const GAP_LIMIT: f64 = 2_000.0;

/// How long one run may take.
const LIMIT: Duration = Duration::from_secs(120);

/// What one run came to.
struct Run {
    time: Duration,
    counts: Counts,
}

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let bytes = bench.bytes;
    let megabytes = bytes / 1_000_000;
    let (mut alone, mut shown, mut linked, mut dense, mut tmux) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut is_beside = true;
    for _ in 0..bench.rounds {
        alone.push(through(bench, Watcher::None, Stream::Ascii)?);
        shown.push(through(bench, Watcher::Tui, Stream::Ascii)?);
        linked.push(through(bench, Watcher::Link((24, 80)), Stream::Ascii)?);
        dense.push(through(bench, Watcher::Link((40, 120)), Stream::Sgr)?);
        if is_beside {
            let run = bench.with_tmux(report, |tmux| through_tmux(bench, tmux, bytes));
            // What failed once is not waited for again.
            is_beside = run.is_some();
            tmux.extend(run);
        }
    }
    let best = |runs: &[Run], of: fn(&Run) -> f64, better| {
        Figure::best(&runs.iter().map(of).collect::<Vec<_>>(), better)
    };
    let millis = |run: &Run| run.time.as_secs_f64() * 1e3;
    let (unseen, beside) =
        (best(&alone, millis, Better::Lower), best(&tmux, millis, Better::Lower));
    let mut made = row(format!("{megabytes} MB of lines in a shown pane"), "ms", Better::Lower);
    (made.rookery, made.tmux) = (best(&shown, millis, Better::Lower), beside);
    report.push(
        made.target_against(unseen, "at most 1.1 × with no viewer", |own, alone| {
            own <= alone * 1.1
        })
        .target_against(beside, "at most 0.8 × tmux", |own, tmux| own <= tmux * 0.8),
    );
    let mut made = row(format!("{megabytes} MB of lines, no viewer"), "ms", Better::Lower);
    made.rookery = unseen;
    report.push(made);
    let per_second = |run: &Run| run.counts.frames as f64 / run.time.as_secs_f64();
    let mut made = row("frames of the TUI meanwhile", "/s", Better::Higher);
    made.rookery = best(&shown, per_second, Better::Higher);
    report.push(made.target("at least 30", |frames| frames >= 30.0));
    let gap = |run: &Run| run.counts.gap.as_secs_f64() * 1e3;
    let mut made = row("longest time without a frame meanwhile", "ms", Better::Lower);
    (made.rookery, made.tmux) = (best(&shown, gap, Better::Lower), best(&tmux, gap, Better::Lower));
    report.push(made.target("never two seconds", |gap| gap < GAP_LIMIT));
    let rate = |run: &Run| run.counts.bytes as f64 / 1024.0 / run.time.as_secs_f64();
    for (name, runs, limit) in [
        ("bytes of the link meanwhile, 24x80", &linked, 256.0),
        ("bytes of the link meanwhile, 40x120, dense color", &dense, 1024.0),
    ] {
        let mut made = row(name, "KiB/s", Better::Lower);
        made.rookery = best(runs, rate, Better::Lower);
        report.push(made.target(format!("at most {limit}"), move |rate| rate <= limit));
    }
    let mut made = row("bytes to the outer terminal meanwhile", "KiB/s", Better::Lower);
    (made.rookery, made.tmux) =
        (best(&shown, rate, Better::Lower), best(&tmux, rate, Better::Lower));
    report.push(made);
    Ok(())
}

/// Who looks.
#[derive(Clone, Copy)]
enum Watcher {
    None,
    Tui,
    Link((u16, u16)),
}

/// The marker is on the screen of the terminal, and the viewer was looked after meanwhile.
fn through(bench: &Bench, watcher: Watcher, stream: Stream) -> anyhow::Result<Run> {
    let rookery = bench.rookery()?;
    let gate = Gate::new(bench.dir())?;
    let mut client = rookery.connect()?;
    let output = (stream, bench.bytes);
    let mut session = peers::open_writer(&mut client, &bench.exe, &gate, output, (24, 80))?;
    let terminal: u64 = session.id.trim_start_matches('s').parse()?;
    client.call("rookery/terminals/activate", &json!({"terminal": terminal}))?;
    let mut outer = match watcher {
        Watcher::Tui => Some(tui(&rookery, READY)?),
        Watcher::None | Watcher::Link(_) => None,
    };
    let mut viewer = match watcher {
        Watcher::Link(size) => {
            let place = json!({"page": "workspace", "terminal": terminal});
            Some(Viewer::open(&rookery, size, json!({"place": place}))?)
        }
        Watcher::None | Watcher::Tui => None,
    };
    session.child.limit(LIMIT)?;
    let mut reader = rookery.connect()?;
    reader.limit(LIMIT)?;
    reader.send("session.wait", &peers::wait_for_marker(&session.id))?;
    peers::await_pending(&rookery, &mut client, 1)?;
    bench.await_quiet();
    outer.iter_mut().for_each(Outer::forget);
    let start = Instant::now();
    session.child.release()?;
    let run = thread::scope(|scope| {
        let done = scope.spawn(move || reader.receive_line().map(|_| start.elapsed()));
        let mut counts = Counts::default();
        if let Some(outer) = &mut outer {
            while !done.is_finished() {
                outer.read(Duration::from_millis(20))?;
            }
            counts = outer.counts();
        }
        if let Some(viewer) = &mut viewer {
            viewer.wait(|frame| shows(frame, MARKER))?;
            (counts.bytes, counts.frames) = (viewer.bytes, viewer.frames);
        }
        let time = done.join().map_err(|_| anyhow::anyhow!("a reader panicked"))??;
        anyhow::Ok(Run { time, counts })
    })?;
    session.child.done()?;
    Ok(run)
}

/// tmux has answered a report that was asked for after the marker, and its client was looked after meanwhile.
fn through_tmux(bench: &Bench, tmux: &crate::peers::tmux::Tmux, bytes: u64) -> anyhow::Result<Run> {
    let gate = Gate::new(bench.dir())?;
    let name = Stream::Ascii.name();
    tmux.open(&bench.exe, &gate, &["__write", name, &bytes.to_string(), "--confirm"])?;
    let mut child = gate.accept()?;
    child.limit(LIMIT)?;
    tmux.run(&["select-window", "-t", "bench:1"])?;
    let mut outer = tmux_client_of(tmux)?;
    bench.await_quiet();
    outer.forget();
    let start = Instant::now();
    child.release()?;
    let time = thread::scope(|scope| {
        let done = scope.spawn(move || child.done().map(|()| start.elapsed()));
        while !done.is_finished() {
            outer.read(Duration::from_millis(20))?;
        }
        done.join().map_err(|_| anyhow::anyhow!("a reader panicked"))?
    })?;
    Ok(Run { time, counts: outer.counts() })
}

fn tmux_client_of(tmux: &crate::peers::tmux::Tmux) -> anyhow::Result<Outer> {
    debug_assert!(SIZE.0 > 24);
    tmux_client(tmux, "[bench]")
}
