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

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let mut at_rest: Option<Times> = None;
    for meanwhile in Meanwhile::ALL {
        let (own, size) = of_page(bench, meanwhile)?;
        let peer = match meanwhile {
            Meanwhile::Nothing => {
                with_peer(bench, report, size, |browser, _| press(bench, browser, meanwhile))
            }
            // It has one terminal.
            Meanwhile::OtherTab | Meanwhile::OtherPane => None,
        };
        for (which, share) in SHARES {
            let name = format!("key to paint{}, {which}", meanwhile.words());
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
fn of_page(bench: &Bench, meanwhile: Meanwhile) -> anyhow::Result<(Times, (u16, u16))> {
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
    Ok((press(bench, &mut page.browser, meanwhile)?, size))
}

/// Presses letters one after another and waits for each.
fn press(bench: &Bench, browser: &mut Chromium, meanwhile: Meanwhile) -> anyhow::Result<Times> {
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
            // At all phases of a frame, and slower than anyone types.
            pause(Duration::from_micros(20_000 + pressed * 7_919 % 15_000))?;
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
