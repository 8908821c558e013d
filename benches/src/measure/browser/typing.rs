//! From a key to the letter in the page: at rest, and while something else floods.

use std::time::Duration;

use serde_json::json;

use super::super::Bench;
use super::super::faces::{Meanwhile, open, tile};
use super::{KEY, Page, SOON, number, row, with_peer};
use crate::child::PROMPT;
use crate::chromium::Chromium;
use crate::gate::pause;
use crate::report::{Better, Report};
use crate::stats::{SHARES, Times};

/// Letters that are typed, and how many are on one line.
const LETTERS: &[u8] = b"qwy";
const LINE: usize = 30;

/// How soon a key follows the letter of the one before.
#[derive(Clone, Copy, Debug)]
struct Pace {
    words: &'static str,
    /// The shortest pause, and how much longer one may be: whole frames, so that keys come at all phases of one.
    micros: (u64, u64),
}

/// As people who type fast: the browser has come to rest by then.
const TYPED: Pace = Pace { words: "", micros: (60_000, 50_000) };
/// As a key that is held down repeats. A browser that drew a picture draws the next one a whole frame later or more,
/// so what is measured is mostly which phase of a frame the key came at, for each page in its own way.
const HELD: Pace = Pace { words: " at the pace of a held key", micros: (20_000, 16_667) };

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let mut at_rest: Option<Times> = None;
    for (meanwhile, pace) in
        Meanwhile::ALL.map(|it| (it, TYPED)).into_iter().chain([(Meanwhile::Nothing, HELD)])
    {
        let (own, size) = of_page(bench, meanwhile, pace)?;
        let peer = match meanwhile {
            Meanwhile::Nothing => {
                with_peer(bench, report, size, |browser, _| press(bench, browser, meanwhile, pace))
            }
            // It has one terminal.
            Meanwhile::OtherTab | Meanwhile::OtherPane => None,
        };
        for (which, share) in SHARES {
            let name = format!("key to paint{}{}, {which}", meanwhile.words(), pace.words);
            let mut made = row(name, "µs", Better::Lower);
            (made.rookery, made.xterm_js) = (share(&own), peer.as_ref().and_then(share));
            let beside = made.xterm_js;
            report.push(match meanwhile.times_at_rest() {
                None => made.target_against(beside, "at most 1.2 × xterm.js", |own, peer| {
                    own <= peer * 1.2
                }),
                Some(times) => {
                    let rest = at_rest.as_ref().and_then(share);
                    let text = format!("at most {times} × at rest");
                    made.target_against(rest, text, move |own, rest| own <= rest * times)
                }
            });
        }
        at_rest = at_rest.or(Some(own));
    }
    Ok(())
}

/// Our page, with the flood in another terminal of the same daemon.
fn of_page(bench: &Bench, meanwhile: Meanwhile, pace: Pace) -> anyhow::Result<(Times, (u16, u16))> {
    let mut page = Page::open(bench)?;
    let size = page.size()?;
    if meanwhile != Meanwhile::Nothing {
        let exe = bench.exe.display().to_string();
        let flood = open(&mut page.client, &[&exe, "__flood"])?;
        let echo = page.echo(bench)?;
        if meanwhile == Meanwhile::OtherPane {
            tile(&page.rookery, flood, echo)?;
            page.client.call("rookery/terminals/activate", &json!({"terminal": echo}))?;
        }
        page.await_terminal(echo)?;
        page.browser.until("bench.text().includes('ready')")?;
    }
    Ok((press(bench, &mut page.browser, meanwhile, pace)?, size))
}

/// Presses letters one after another and waits for each.
fn press(
    bench: &Bench,
    browser: &mut Chromium,
    meanwhile: Meanwhile,
    pace: Pace,
) -> anyhow::Result<Times> {
    let mut times = Times::default();
    let count = bench.count(300, 30);
    let mut pressed = 0_u64;
    let mut line = PROMPT.to_owned();
    pause(Duration::from_millis(500))?;
    for _ in 0..bench.rounds {
        if meanwhile == Meanwhile::Nothing {
            bench.await_quiet();
        }
        times.begin();
        for _ in 0..count / bench.rounds.min(count) {
            if line.len() > LINE {
                browser.press('\r')?;
                browser.until(&format!("!bench.text().includes({})", json!(line)))?;
                PROMPT.clone_into(&mut line);
            }
            pressed += 1;
            let (shortest, more) = pace.micros;
            pause(Duration::from_micros(shortest + pressed * 7_919 % more))?;
            let letter = char::from(LETTERS[pressed as usize % LETTERS.len()]);
            line.push(letter);
            browser.js(&format!("bench.await({})", json!(line)))?;
            browser.press(letter)?;
            let millis = number(&browser.told(KEY, SOON)?)?;
            times.push(Duration::from_secs_f64(millis.max(0.0) / 1e3));
        }
    }
    Ok(times)
}
