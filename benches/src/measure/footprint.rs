//! How much memory a terminal takes: idle from the start, and idle after some output.

use serde_json::json;

use super::create::{create_in_tmux, create_many};
use super::{Bench, Section};
use crate::client::Client;
use crate::gate::Gate;
use crate::memory::Memory;
use crate::peers::tmux::Tmux;
use crate::peers::{self, Session, SessionServer, USUAL};
use crate::report::{Better, Report, Row};
use crate::stats::Figure;
use crate::streams::Stream;

/// Output of a terminal that was used for a while.
const OUTPUT_BYTES: u64 = 340_000;

/// Terminals with output.
const USED: usize = 20;

/// What a terminal may take, in KiB.
const ALLOWED_IDLE: f64 = 120.0;
const ALLOWED_USED: f64 = 1536.0;

/// What one terminal adds.
struct Footprint {
    idle: Memory,
    used: Memory,
}

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let own = of_server(bench, &bench.rookery()?)?;
    let tmux = bench.with_tmux(report, |tmux| of_tmux(bench, tmux));
    let ptywright = bench.with_ptywright(report, |server| of_server(bench, server));
    let pick = |of: fn(&Footprint) -> Memory| {
        (of(&own), tmux.as_ref().map(of), ptywright.as_ref().map(of))
    };
    let idle = Limit { kib: ALLOWED_IDLE, text: "at most 120 KiB" };
    push(report, "idle terminal", pick(|footprint| footprint.idle), idle);
    let used = Limit { kib: ALLOWED_USED, text: "at most 1.5 MiB" };
    push(report, "terminal after 340 kB", pick(|footprint| footprint.used), used);
    Ok(())
}

/// What a terminal may take, and how that is said.
#[derive(Clone, Copy)]
struct Limit {
    kib: f64,
    text: &'static str,
}

/// Rows of one state, for the three ways to count.
fn push(
    report: &mut Report,
    state: &str,
    (own, tmux, ptywright): (Memory, Option<Memory>, Option<Memory>),
    limit: Limit,
) {
    let mut push_one = |measure: &str, value: fn(Memory) -> f64| {
        let figure = |memory: Memory| Figure::once(value(memory));
        let row = Row {
            rookery: Some(figure(own)),
            tmux: tmux.map(figure),
            ptywright: ptywright.map(figure),
            ..Row::new(Section::Memory.name(), format!("{state}, {measure}"), "KiB", Better::Lower)
        };
        report.push(row.target(limit.text, |own| own <= limit.kib));
    };
    push_one("resident", |memory| memory.rss);
    push_one("proportional", |memory| memory.pss);
    push_one("with unmapped memory files", |memory| memory.total);
}

fn of_server(bench: &Bench, server: &dyn SessionServer) -> anyhow::Result<Footprint> {
    let count = bench.count(200, 20);
    let mut client = server.connect()?;
    // The first terminal brings what all share.
    let first = create_many(&mut client, 1)?;
    await_silence(&mut client, &first)?;
    let processes = server.processes()?;
    let before = Memory::steady(&processes)?;
    let idle = create_many(&mut client, count)?;
    await_silence(&mut client, &idle)?;
    let with_idle = Memory::steady(&processes)?;
    for session in idle {
        client.call("session.close", &json!({"session": session}))?;
    }
    let used = after_output(bench, server)?;
    Ok(Footprint { idle: with_idle.each_since(before, count), used })
}

/// A server of its own would be fairer still, but what closed terminals left behind is free for new ones.
fn after_output(bench: &Bench, server: &dyn SessionServer) -> anyhow::Result<Memory> {
    let mut client = server.connect()?;
    let gate = Gate::new(bench.dir())?;
    let processes = server.processes()?;
    let before = Memory::steady(&processes)?;
    let mut sessions = Vec::new();
    for _ in 0..USED {
        sessions.push(peers::open_writer(
            &mut client,
            &bench.exe,
            &gate,
            (Stream::Ascii, OUTPUT_BYTES),
            USUAL,
        )?);
    }
    for session in &mut sessions {
        session.child.release()?;
    }
    for Session { id, .. } in &sessions {
        client.call("session.wait", &peers::wait_for_marker(id))?;
    }
    let ids: Vec<_> = sessions.iter().map(|session| session.id.clone()).collect();
    await_silence(&mut client, &ids)?;
    Ok(Memory::steady(&processes)?.each_since(before, USED))
}

/// Waits until the newest of some terminals was silent long enough for everything to settle.
pub(super) fn await_silence(client: &mut Client, sessions: &[String]) -> anyhow::Result<()> {
    if let Some(session) = sessions.last() {
        let stable = json!({"type": "screen_stable", "value": {"min_ms": 5_000}});
        let wait =
            json!({"session": session, "matcher": stable, "timeout_ms": 60_000, "cells": false});
        client.call("session.wait", &wait)?;
    }
    Ok(())
}

fn of_tmux(bench: &Bench, tmux: &Tmux) -> anyhow::Result<Footprint> {
    let count = bench.count(200, 20);
    let server = [tmux.pid()];
    let before = Memory::steady(&server)?;
    create_in_tmux(tmux, count)?;
    let with_idle = Memory::steady(&server)?;
    let gate = Gate::new(bench.dir())?;
    let output = OUTPUT_BYTES.to_string();
    for _ in 0..USED {
        tmux.open(&bench.exe, &gate, &["__write", Stream::Ascii.name(), &output, "--confirm"])?;
    }
    let mut children = gate.accept_all(USED)?;
    for child in &mut children {
        child.release()?;
    }
    for child in &mut children {
        child.done()?;
    }
    let with_used = Memory::steady(&server)?;
    Ok(Footprint {
        idle: with_idle.each_since(before, count),
        used: with_used.each_since(with_idle, USED),
    })
}
