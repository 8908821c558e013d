//! Coming back: the daemon is killed with many live terminals and started again. No peer can do this at all.

use std::time::Instant;

use anyhow::bail;
use serde_json::json;

use super::{Bench, Section};
use crate::gate::Gate;
use crate::peers::{self, Session, SessionServer, USUAL};
use crate::report::{Better, Report, Row};
use crate::stats::Figure;
use crate::streams::{MARKER, Stream};

/// Output of each terminal before the crash.
const OUTPUT_BYTES: u64 = 300_000;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let count = bench.count(100, 10);
    let mut rookery = bench.rookery()?;
    let sessions = fill(bench, &rookery, count)?;
    rookery.note_keeper()?;
    let (mut ready, mut first, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        rookery.kill()?;
        bench.await_quiet();
        let start = Instant::now();
        let (time, terminals) = rookery.start_again()?;
        if terminals != count as u64 {
            bail!("{terminals} of {count} terminals came back");
        }
        ready.push(time.as_secs_f64() * 1e3);
        let mut client = rookery.connect()?;
        for (index, session) in sessions.iter().enumerate() {
            let snapshot =
                client.call("session.snapshot", &json!({"session": session.id, "cells": false}))?;
            if !snapshot["plain_text"].as_str().is_some_and(|text| text.contains(MARKER)) {
                bail!("the screen of {} did not come back", session.id);
            }
            if index == 0 {
                first.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        all.push(start.elapsed().as_secs_f64() * 1e3);
    }
    for (name, times) in [("ready", ready), ("first screen", first), ("every screen", all)] {
        let name = format!("{count} terminals, kill -9 to {name}");
        let row = Row::new(Section::Restart.name(), name, "ms", Better::Lower);
        report.push(Row { rookery: Figure::best(&times, Better::Lower), ..row });
    }
    report.note(
        "restart: the peers have no figure, because their terminals die with them".to_owned(),
    );
    Ok(())
}

/// Terminals with some output, whose children stay.
fn fill(bench: &Bench, rookery: &dyn SessionServer, count: usize) -> anyhow::Result<Vec<Session>> {
    let gate = Gate::new(bench.dir())?;
    let mut client = rookery.connect()?;
    let mut sessions = Vec::with_capacity(count);
    for _ in 0..count {
        sessions.push(peers::open_writer(
            &mut client,
            &bench.exe,
            &gate,
            (Stream::Sgr, OUTPUT_BYTES),
            USUAL,
        )?);
    }
    for session in &mut sessions {
        session.child.release()?;
    }
    for session in &sessions {
        client.call("session.wait", &peers::wait_for_marker(&session.id))?;
    }
    Ok(sessions)
}
