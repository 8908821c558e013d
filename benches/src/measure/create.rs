//! How fast terminals are created: many `cat`s, some of them in flight at a time.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Bench, Section};
use crate::client::Client;
use crate::peers::tmux::Tmux;
use crate::peers::{SessionServer, session_id};
use crate::report::{Better, Report, Row};
use crate::stats::Figure;

/// Requests that may be unanswered.
const IN_FLIGHT: usize = 32;

/// How many a full run creates, and how many seconds that may take.
const COUNT: usize = 500;
const ALLOWED_SECONDS: f64 = 3.0;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let count = bench.count(COUNT, 50);
    let rookery = bench.rookery()?;
    let rate = |time: Duration| Figure::once(count as f64 / time.as_secs_f64());
    let time = time_to_create(bench, &rookery, count)?;
    let row = Row {
        rookery: Some(rate(time)),
        tmux: bench
            .with_tmux(report, |tmux| {
                bench.await_quiet();
                create_in_tmux(tmux, count)
            })
            .map(rate),
        ptywright: bench
            .with_ptywright(report, |server| time_to_create(bench, server, count))
            .map(rate),
        ..Row::new(Section::Create.name(), format!("{count} terminals"), "1/s", Better::Higher)
    };
    report.push(row.target("500 in 3 s", |own| own >= COUNT as f64 / ALLOWED_SECONDS));
    Ok(())
}

fn time_to_create(
    bench: &Bench,
    server: &dyn SessionServer,
    count: usize,
) -> anyhow::Result<Duration> {
    let mut client = server.connect()?;
    bench.await_quiet();
    let start = Instant::now();
    create_many(&mut client, count)?;
    Ok(start.elapsed())
}

/// Creates terminals that run `cat`, and gives their ids.
pub(super) fn create_many(client: &mut Client, count: usize) -> anyhow::Result<Vec<String>> {
    let cat = json!({"program": "/bin/cat"});
    let mut ids = Vec::with_capacity(count);
    for _ in 0..count.min(IN_FLIGHT) {
        client.send("session.create", &cat)?;
    }
    while ids.len() < count {
        ids.push(session_id(&client.receive()?)?);
        if ids.len() + IN_FLIGHT <= count {
            client.send("session.create", &cat)?;
        }
    }
    Ok(ids)
}

/// The same over control mode.
pub(super) fn create_in_tmux(tmux: &Tmux, count: usize) -> anyhow::Result<Duration> {
    // Two arguments, so that tmux starts it without a shell, as the others do.
    let cat = "new-window -d /bin/cat -";
    let mut control = tmux.control()?;
    let start = Instant::now();
    for _ in 0..count.min(IN_FLIGHT) {
        control.send(cat)?;
    }
    for answered in 1..=count {
        control.answered()?;
        if answered + IN_FLIGHT <= count {
            control.send(cat)?;
        }
    }
    Ok(start.elapsed())
}
