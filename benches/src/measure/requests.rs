//! Latency of requests: one blocking client, one request at a time.

use std::time::Instant;

use serde_json::{Value, json};

use super::{Bench, Section};
use crate::client::Client;
use crate::gate::Gate;
use crate::peers::tmux::Tmux;
use crate::peers::{self, LARGE, Session, SessionServer, USUAL};
use crate::report::{Better, Report, Row};
use crate::stats::Times;
use crate::streams::Stream;

/// Enough to fill a large screen.
const FILL_BYTES: u64 = 64_000;

/// The median that a trivial request may have, in microseconds.
const ALLOWED_MICROS: f64 = 25.0;

/// What is asked, how often, and of whom.
struct Question {
    name: &'static str,
    method: &'static str,
    params: fn(&Screens) -> Value,
    /// Times in a full run and in a quick one.
    counts: (usize, usize),
    is_ours: bool,
    has_target: bool,
}

const QUESTIONS: &[Question] = &[
    Question {
        name: "session.list",
        method: "session.list",
        params: |_| json!({}),
        counts: (20_000, 1_000),
        is_ours: false,
        has_target: true,
    },
    Question {
        name: "rookery/status",
        method: "rookery/status",
        params: |_| json!({}),
        counts: (20_000, 1_000),
        is_ours: true,
        has_target: true,
    },
    Question {
        name: "snapshot 24x80, text only",
        method: "session.snapshot",
        params: |screens| json!({"session": screens.usual.id, "cells": false}),
        counts: (10_000, 500),
        is_ours: true,
        has_target: false,
    },
    Question {
        name: "snapshot 24x80, all cells",
        method: "session.snapshot",
        params: |screens| json!({"session": screens.usual.id}),
        counts: (2_000, 50),
        is_ours: false,
        has_target: false,
    },
    Question {
        name: "snapshot 60x200, all cells",
        method: "session.snapshot",
        params: |screens| json!({"session": screens.large.id}),
        counts: (500, 10),
        is_ours: false,
        has_target: false,
    },
];

/// Terminals with something to see, and one whose child writes when told.
struct Screens {
    usual: Session,
    large: Session,
    changing: Session,
}

impl Screens {
    fn open(bench: &Bench, client: &mut Client) -> anyhow::Result<Screens> {
        let gate = Gate::new(bench.dir())?;
        let fill = (Stream::Sgr, FILL_BYTES);
        let mut usual = peers::open_writer(client, &bench.exe, &gate, fill, USUAL)?;
        let mut large = peers::open_writer(client, &bench.exe, &gate, fill, LARGE)?;
        for session in [&mut usual, &mut large] {
            session.child.release()?;
            client.call("session.wait", &peers::wait_for_marker(&session.id))?;
        }
        Ok(Screens {
            usual,
            large,
            changing: peers::open(client, &bench.exe, &gate, &["__stamp"], USUAL)?,
        })
    }
}

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let rookery = bench.rookery()?;
    let own = ask_all(bench, &rookery, true)?;
    let ptywright =
        bench.with_ptywright(report, |server| ask_all(bench, server, false)).unwrap_or_default();
    let tmux = bench.with_tmux(report, |tmux| ask_tmux(bench, tmux)).unwrap_or_default();
    for (name, times) in &own {
        let find = |peer: &Answers| peer.iter().position(|(other, _)| other == name);
        let ptywright = find(&ptywright).map(|index| &ptywright[index].1);
        let tmux = find(&tmux).map(|index| &tmux[index].1);
        let row = Row {
            rookery: times.p50(),
            tmux: tmux.and_then(Times::p50),
            ptywright: ptywright.and_then(Times::p50),
            ..Row::new(Section::Requests.name(), format!("{name}, p50"), "µs", Better::Lower)
        };
        let peer = row.ptywright.map_or(0.0, |figure| figure.value);
        let has_target =
            QUESTIONS.iter().any(|question| question.name == *name && question.has_target);
        report.push(match has_target {
            true => {
                row.target("at most 25 µs or ptywright's", |own| own <= ALLOWED_MICROS.max(peer))
            }
            false => row,
        });
        report.push(Row {
            rookery: times.p99(),
            tmux: tmux.and_then(Times::p99),
            ptywright: ptywright.and_then(Times::p99),
            ..Row::new(Section::Requests.name(), format!("{name}, p99"), "µs", Better::Lower)
        });
    }
    Ok(())
}

/// Times by the name of the question.
type Answers = Vec<(&'static str, Times)>;

const AFTER_A_CHANGE: &str = "snapshot 24x80, all cells, after a change";

fn ask_all(bench: &Bench, server: &dyn SessionServer, is_ours: bool) -> anyhow::Result<Answers> {
    let mut client = server.connect()?;
    let mut screens = Screens::open(bench, &mut client)?;
    let mut answers = Answers::new();
    for question in QUESTIONS.iter().filter(|question| is_ours || !question.is_ours) {
        let request = client.encode(question.method, &(question.params)(&screens));
        let count = bench.count(question.counts.0, question.counts.1);
        answers.push((question.name, ask(bench, &mut client, &request, count)?));
    }
    answers.push((AFTER_A_CHANGE, ask_after_changes(bench, &mut client, &mut screens.changing)?));
    Ok(answers)
}

fn ask(bench: &Bench, client: &mut Client, request: &[u8], count: usize) -> anyhow::Result<Times> {
    let mut times = Times::default();
    for _ in 0..bench.rounds {
        bench.await_quiet();
        // The first ones find cold caches.
        for _ in 0..count / 20 {
            client.round_trip(request)?;
        }
        times.begin();
        for _ in 0..count / bench.rounds {
            let start = Instant::now();
            client.round_trip(request)?;
            times.push(start.elapsed());
        }
    }
    Ok(times)
}

/// Snapshots that cannot come from a cache, because the screen has changed.
fn ask_after_changes(
    bench: &Bench,
    client: &mut Client,
    session: &mut Session,
) -> anyhow::Result<Times> {
    let request = client.encode("session.snapshot", &json!({"session": session.id}));
    let mut times = Times::default();
    let count = bench.count(500, 20) as u64;
    for number in 0..count {
        if number % count.div_ceil(bench.rounds as u64) == 0 {
            bench.await_quiet();
            times.begin();
        }
        session.child.tell(number)?;
        client
            .call("session.wait", &peers::wait_for(&session.id, &crate::child::needle(number)))?;
        let start = Instant::now();
        client.round_trip(&request)?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// What control mode has to offer for the same purposes.
fn ask_tmux(bench: &Bench, tmux: &Tmux) -> anyhow::Result<Answers> {
    let mut control = tmux.control()?;
    let mut answers = Answers::new();
    let commands = [
        ("session.list", "list-sessions", bench.count(20_000, 1_000)),
        ("snapshot 24x80, text only", "capture-pane -p -t bench:0", bench.count(10_000, 500)),
    ];
    for (name, command, count) in commands {
        let mut times = Times::default();
        for _ in 0..bench.rounds {
            bench.await_quiet();
            times.begin();
            for _ in 0..count / bench.rounds {
                let start = Instant::now();
                control.command(command)?;
                times.push(start.elapsed());
            }
        }
        answers.push((name, times));
    }
    Ok(answers)
}
