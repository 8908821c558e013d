//! What hiding secrets costs: the same read with and without it, where there is nothing to hide.

use std::time::Instant;

use serde_json::{Value, json};

use super::{Bench, Section};
use crate::client::Client;
use crate::gate::Gate;
use crate::peers::{self, SessionServer};
use crate::report::{Better, Report, Row};
use crate::stats::Figure;
use crate::streams::Stream;

/// A large terminal.
const LARGE: peers::Size = (60, 200);

/// Enough for a transcript of full length.
const FILL_BYTES: u64 = 400_000;

/// What is read, with the time that redaction may add, in microseconds.
struct Read {
    name: &'static str,
    method: &'static str,
    counts: (usize, usize),
    allowed: f64,
}

const READS: &[Read] = &[
    Read {
        name: "text of 60x200",
        method: "session.snapshot",
        counts: (4_000, 100),
        allowed: 150.0,
    },
    Read {
        name: "transcript",
        method: "session.transcript",
        counts: (1_000, 50),
        allowed: 1_500.0,
    },
];

const STREAMS: [Stream; 3] = [Stream::Ascii, Stream::Sgr, Stream::Unicode];

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let own = measure(bench, &bench.rookery()?)?;
    // The peer always sends the cells with the text, so only its transcripts can be compared.
    let peer = bench.with_ptywright(report, |server| measure(bench, server)).unwrap_or_default();
    for (index, (name, allowed, cost)) in own.into_iter().enumerate() {
        let is_comparable = name.starts_with("transcript");
        let peer = peer.get(index).filter(|_| is_comparable).and_then(|(_, _, cost)| *cost);
        let row = Row {
            rookery: cost,
            ptywright: peer,
            ..Row::new(Section::Redaction.name(), name, "µs", Better::Lower)
        };
        report.push(row.target(format!("at most {allowed} µs"), |own| own <= allowed));
    }
    Ok(())
}

/// What redaction adds to each read, and what it may add.
type Costs = Vec<(String, f64, Option<Figure>)>;

fn measure(bench: &Bench, server: &dyn SessionServer) -> anyhow::Result<Costs> {
    let mut client = server.connect()?;
    let mut costs = Costs::new();
    for stream in STREAMS {
        let gate = Gate::new(bench.dir())?;
        let fill = (stream, FILL_BYTES);
        let mut session = peers::open_writer(&mut client, &bench.exe, &gate, fill, LARGE)?;
        session.child.release()?;
        client.call("session.wait", &peers::wait_for_marker(&session.id))?;
        for read in READS {
            let cost = cost(bench, &mut client, read, &session.id)?;
            costs.push((format!("{}, {}", read.name, stream.title()), read.allowed, cost));
        }
    }
    Ok(costs)
}

fn cost(
    bench: &Bench,
    client: &mut Client,
    read: &Read,
    session: &str,
) -> anyhow::Result<Option<Figure>> {
    let params =
        |redact: bool| -> Value { json!({"session": session, "redact": redact, "cells": false}) };
    let plain = client.encode(read.method, &params(false));
    let redacted = client.encode(read.method, &params(true));
    let count = bench.count(read.counts.0, read.counts.1);
    let mut medians = Vec::new();
    for _ in 0..bench.rounds {
        bench.await_quiet();
        // In turns, so that both see the same machine.
        let mut added = Vec::new();
        for _ in 0..count / bench.rounds {
            let without = micros(client, &plain)?;
            added.push(micros(client, &redacted)? - without);
        }
        medians.extend(Figure::quantile(&added, 0.5).map(|median| median.value));
    }
    Ok(Figure::quantile(&medians, 0.5))
}

fn micros(client: &mut Client, request: &[u8]) -> anyhow::Result<f64> {
    let start = Instant::now();
    client.round_trip(request)?;
    Ok(start.elapsed().as_secs_f64() * 1e6)
}
