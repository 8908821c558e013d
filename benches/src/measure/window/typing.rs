//! From a key to the pixel: at rest, and while something else floods.

use std::time::{Duration, Instant};

use anyhow::bail;
use serde_json::json;

use super::super::Bench;
use super::super::faces::{Meanwhile, open, tile};
use super::{FIRST, Figures, SOON, Stage, Whose, Window, open_block, role};
use crate::child::BLOCK;
use crate::peers::SessionServer as _;
use crate::peers::rookery::Rookery;
use crate::peers::x_terminals::Kind;
use crate::report::{Better, Report};
use crate::stats::{SHARES, Times};
use crate::x11::{Keysym, is_like};

/// The key that is pressed.
const KEY: Keysym = 'q' as Keysym;
/// What prints more than anyone reads.
const FLOOD: &str = "__flood";

/// What has to be there while keys are pressed.
enum Shown {
    Own(Window, Rookery),
    Peer(Window, Option<Window>),
}

pub(super) fn run(bench: &Bench, stage: &mut Stage, report: &mut Report) -> anyhow::Result<()> {
    let mut at_rest: Option<Times> = None;
    for meanwhile in Meanwhile::ALL {
        let measured = stage.each(bench, report, |stage, whose| {
            let shown = match whose {
                Whose::Ours => Some(own(bench, stage, meanwhile)?),
                // They have no tabs.
                Whose::Peer(_) if meanwhile == Meanwhile::OtherTab => None,
                Whose::Peer(kind) => Some(peer(bench, stage, kind, meanwhile)?),
            };
            let Some((at, shown)) = shown else { return Ok(Times::default()) };
            let times = press(bench, stage, at, meanwhile)?;
            match shown {
                Shown::Own(window, rookery) => drop((window, rookery)),
                Shown::Peer(window, beside) => drop((window, beside)),
            }
            Ok(times)
        })?;
        for (which, share) in SHARES {
            let mut figures = Figures::default();
            measured.iter().for_each(|(whose, times)| figures.set(*whose, share(times)));
            let (xterm, alacritty) = (figures.xterm, figures.alacritty);
            let name = format!("key to paint{}, {which}", meanwhile.words());
            let made = figures.into_row(name, "µs", Better::Lower);
            report.push(match meanwhile.times_at_rest() {
                None => made
                    .target_against(xterm, "at most 1.3 × xterm", |own, peer| own <= peer * 1.3)
                    .target_against(alacritty, "at most alacritty", |own, peer| own <= peer),
                Some(times) => {
                    let rest = at_rest.as_ref().and_then(share);
                    let text = format!("at most {times} × at rest");
                    made.target_against(rest, text, move |own, rest| own <= rest * times)
                }
            });
        }
        let own = measured.into_iter().find(|(whose, _)| *whose == Whose::Ours);
        at_rest = at_rest.or(own.map(|(_, times)| times));
    }
    Ok(())
}

/// Our window, with the flood in another terminal of the same daemon.
fn own(
    bench: &Bench,
    stage: &mut Stage,
    meanwhile: Meanwhile,
) -> anyhow::Result<((u16, u16), Shown)> {
    let rookery = bench.rookery()?;
    let mut client = rookery.connect()?;
    let flood = match meanwhile {
        Meanwhile::Nothing => None,
        Meanwhile::OtherTab | Meanwhile::OtherPane => {
            let flood = role(bench, &[FLOOD]);
            let argv: Vec<&str> = flood.iter().map(String::as_str).collect();
            Some(open(&mut client, &argv)?)
        }
    };
    let block = open_block(bench, &mut client)?;
    if let Some(flood) = flood.filter(|_| meanwhile == Meanwhile::OtherPane) {
        tile(&rookery, flood, block)?;
        client.call("rookery/terminals/activate", &json!({"terminal": block}))?;
    }
    let window = Window::open(stage.own_command(&rookery))?;
    let at = stage.find(FIRST, SOON)?;
    Ok((at, Shown::Own(window, rookery)))
}

/// A peer's window, with the flood in a second window beside it.
fn peer(
    bench: &Bench,
    stage: &mut Stage,
    kind: Kind,
    meanwhile: Meanwhile,
) -> anyhow::Result<((u16, u16), Shown)> {
    let block = stage.peer_command(kind, &role(bench, &["__block"]), 0);
    let window = Window::open(block)?;
    let at = stage.find(FIRST, SOON)?;
    let half = stage.display.size().0 / 2;
    let flood = stage.peer_command(kind, &role(bench, &[FLOOD]), half);
    let beside = (meanwhile == Meanwhile::OtherPane).then(|| Window::open(flood)).transpose()?;
    if beside.is_some() {
        stage.display.settle(Duration::from_secs(2))?;
    }
    Ok((at, Shown::Peer(window, beside)))
}

/// Presses the key again and again, and waits each time until the block has its other color.
fn press(
    bench: &Bench,
    stage: &mut Stage,
    at: (u16, u16),
    meanwhile: Meanwhile,
) -> anyhow::Result<Times> {
    let display = &mut stage.display;
    display.enter(at)?;
    let keycode = display.keycode(KEY)?;
    display.settle(Duration::from_millis(500))?;
    let mut times = Times::default();
    let count = bench.count(300, 30);
    let mut pressed = 0_usize;
    for _ in 0..bench.rounds {
        if meanwhile == Meanwhile::Nothing {
            bench.await_quiet();
        }
        times.begin();
        for _ in 0..count / bench.rounds.min(count) {
            pressed += 1;
            // At all phases of a frame, and slower than anyone types.
            display.settle(Duration::from_micros(20_000 + pressed as u64 * 7_919 % 15_000))?;
            let color = BLOCK[pressed % BLOCK.len()];
            let start = Instant::now();
            display.press(keycode)?;
            while !is_like(display.pixel(at)?, color) {
                if start.elapsed() > SOON {
                    bail!("a key was not painted within {SOON:?}");
                }
                display.await_drawing(SOON)?;
            }
            times.push(start.elapsed());
            display.release(keycode)?;
        }
    }
    Ok(times)
}
