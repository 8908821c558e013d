//! From a key to the letter on the outer terminal: at rest, and while something else floods.

use std::time::{Duration, Instant};

use super::super::Bench;
use super::{Failures, Meanwhile, REST, SOON, open, row, tile, tmux_client, tui};
use crate::gate::pause;
use crate::outer::Outer;
use crate::peers::SessionServer as _;
use crate::peers::tmux::Tmux;
use crate::process;
use crate::report::{Better, Report};
use crate::stats::{SHARES, Times};

/// Letters that no escape sequence of ours or tmux's ends with, and that no status line has.
const LETTERS: &[u8] = b"QWY";
/// Letters of one line, after which it is wiped.
const LINE: usize = 30;
/// Takes the letters of a line back.
const WIPE: &[u8] = b"\x15";

/// What prints more than anyone reads, and ends by itself.
const FLOOD: &str = "__flood";

/// What tmux's status line has, and nothing of ours.
const FIRST_WINDOW: &str = "[bench]";

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let mut bare = Outer::start(process::program("cat").arg("-"), super::SIZE)?;
    pause(REST)?;
    let floor = press(bench, &mut bare, Meanwhile::Nothing)?;
    drop(bare);
    let mut idle = None;
    let mut failures = Failures::default();
    for meanwhile in Meanwhile::ALL {
        let name = format!("key to paint{}", meanwhile.words());
        let Some(own) = failures.keep(&name, of_tui(bench, meanwhile)) else { continue };
        let tmux = bench.with_tmux(report, |tmux| of_tmux(bench, tmux, meanwhile));
        for (which, share) in SHARES {
            let beside = tmux.as_ref().and_then(share);
            let name = format!("key to paint{}, {which}", meanwhile.words());
            let mut made = row(name, "µs", Better::Lower);
            (made.rookery, made.tmux) = (share(&own), beside);
            report.push(match meanwhile.times_at_rest() {
                None => {
                    made.floor = share(&floor);
                    made.target_against(beside, "at most 1.5 × tmux", |own, tmux| {
                        own <= tmux * 1.5
                    })
                }
                Some(times) => {
                    let at_rest = idle.as_ref().and_then(share);
                    let text = format!("at most {times} × at rest");
                    made.target_against(at_rest, text, move |own, rest| own <= rest * times)
                        .target_against(beside, "at most tmux", |own, tmux| own <= tmux)
                }
            });
        }
        if meanwhile == Meanwhile::Nothing {
            idle = Some(own);
        }
    }
    failures.into_result()
}

fn of_tmux(bench: &Bench, tmux: &Tmux, meanwhile: Meanwhile) -> anyhow::Result<Times> {
    let exe = bench.exe.display().to_string();
    match meanwhile {
        Meanwhile::Nothing => {}
        Meanwhile::OtherTab => drop(tmux.run(&["new-window", "-d", &exe, FLOOD])?),
        Meanwhile::OtherPane => drop(tmux.run(&["split-window", "-h", "-d", &exe, FLOOD])?),
    }
    let mut client = tmux_client(tmux, FIRST_WINDOW)?;
    press(bench, &mut client, meanwhile)
}

fn of_tui(bench: &Bench, meanwhile: Meanwhile) -> anyhow::Result<Times> {
    let rookery = bench.rookery()?;
    let mut client = rookery.connect()?;
    let flood = match meanwhile {
        Meanwhile::Nothing => None,
        Meanwhile::OtherTab | Meanwhile::OtherPane => {
            Some(open(&mut client, &[&bench.exe.display().to_string(), FLOOD])?)
        }
    };
    let cat = open(&mut client, &["sh", "-c", "echo rea''dy; exec cat"])?;
    if let Some(flood) = flood.filter(|_| meanwhile == Meanwhile::OtherPane) {
        tile(&rookery, flood, cat)?;
    }
    let activate = serde_json::json!({"terminal": cat});
    client.call("rookery/terminals/activate", &activate)?;
    let mut tui = tui_with(&rookery, meanwhile)?;
    press(bench, &mut tui, meanwhile)
}

/// A flood never rests, so its picture is not waited for.
fn tui_with(
    rookery: &crate::peers::rookery::Rookery,
    meanwhile: Meanwhile,
) -> anyhow::Result<Outer> {
    if meanwhile != Meanwhile::OtherPane {
        return tui(rookery, "ready");
    }
    let mut command = process::program(rookery.binary());
    command.arg("tui").env("ROOKERY_HOME", rookery.home());
    let mut outer = Outer::start(&command, super::SIZE)?;
    outer.wait(b"ready", SOON)?;
    Ok(outer)
}

/// Presses letters one after another and waits for each.
fn press(bench: &Bench, outer: &mut Outer, meanwhile: Meanwhile) -> anyhow::Result<Times> {
    let mut times = Times::default();
    let count = bench.count(300, 30);
    let mut pressed = 0_u64;
    for _ in 0..bench.rounds {
        if meanwhile == Meanwhile::Nothing {
            bench.await_quiet();
        }
        wipe(outer)?;
        times.begin();
        for number in 0..count / bench.rounds.min(count) {
            let letter = LETTERS[number % LETTERS.len()];
            pressed += 1;
            // At all phases of a frame, and slower than anyone types.
            settle(outer, Duration::from_micros(20_000 + pressed * 7_919 % 15_000))?;
            outer.forget();
            let start = Instant::now();
            outer.send(&[letter])?;
            outer.wait(&[letter], SOON)?;
            times.push(start.elapsed());
            if number % LINE == LINE - 1 {
                wipe(outer)?;
            }
        }
    }
    Ok(times)
}

/// Takes what was typed back.
fn wipe(outer: &mut Outer) -> anyhow::Result<()> {
    outer.send(WIPE)?;
    settle(outer, REST)
}

/// Reads on for a while, whatever comes.
fn settle(outer: &mut Outer, time: Duration) -> anyhow::Result<()> {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        outer.read(left)?;
    }
}
