//! What is measured: Rookery, and what it is measured against.

pub(crate) mod display;
pub(crate) mod floor;
pub(crate) mod pexpect;
pub(crate) mod ptywright;
pub(crate) mod roder;
pub(crate) mod rookery;
pub(crate) mod stdio;
pub(crate) mod tmux;
pub(crate) mod tui_test;
pub(crate) mod x_terminals;
pub(crate) mod xterm_js;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::client::Client;
use crate::gate::{Gate, Waiting};
use crate::streams::{MARKER, Stream};

/// How long anything that should happen soon may take.
const SOON: Duration = Duration::from_secs(60);

/// A server that speaks `session.*`.
pub(crate) trait SessionServer {
    /// A new connection.
    fn connect(&self) -> anyhow::Result<Client>;

    /// The processes that it consists of.
    fn processes(&self) -> anyhow::Result<Vec<u32>>;

    /// How many waits are pending, if it tells.
    fn pending_waits(&self, client: &mut Client) -> anyhow::Result<Option<usize>>;
}

/// A child of a session that does what this binary does when told so.
pub(crate) struct Session {
    pub(crate) id: String,
    /// The line to its child.
    pub(crate) child: Waiting,
}

/// Rows and columns.
pub(crate) type Size = (u16, u16);

/// The size that terminals have if they name none.
pub(crate) const USUAL: Size = (24, 80);

/// A large terminal.
pub(crate) const LARGE: Size = (60, 200);

/// Opens a session with a child that runs this binary.
pub(crate) fn open(
    client: &mut Client,
    exe: &Path,
    gate: &Gate,
    role: &[&str],
    size: Size,
) -> anyhow::Result<Session> {
    let created = client.call("session.create", &create_own(exe, gate, role, size))?;
    Ok(Session { id: session_id(&created)?, child: gate.accept()? })
}

/// Params to create a session with a child that runs this binary.
pub(crate) fn create_own(exe: &Path, gate: &Gate, role: &[&str], (rows, cols): Size) -> Value {
    let mut args: Vec<String> = role.iter().map(|&arg| arg.to_owned()).collect();
    args.extend(["--gate".to_owned(), gate.path()]);
    json!({"program": exe, "args": args, "rows": rows, "cols": cols})
}

/// The id in a reply to `session.create`.
pub(crate) fn session_id(created: &Value) -> anyhow::Result<String> {
    created["session"].as_str().map(str::to_owned).context("session.create gave no session")
}

/// Opens a session that writes a stream and stays.
pub(crate) fn open_writer(
    client: &mut Client,
    exe: &Path,
    gate: &Gate,
    (stream, bytes): (Stream, u64),
    size: Size,
) -> anyhow::Result<Session> {
    open(client, exe, gate, &["__write", stream.name(), &bytes.to_string()], size)
}

/// Params of a wait for a text, without the cells of the screen where that can be said.
pub(crate) fn wait_for(session: &str, text: &str) -> Value {
    json!({
        "session": session,
        "matcher": {"type": "contains_text", "value": text},
        "timeout_ms": 600_000,
        "cells": false,
    })
}

/// Params of a wait for the marker.
pub(crate) fn wait_for_marker(session: &str) -> Value {
    wait_for(session, MARKER)
}

/// Waits until that many waits are pending. Where the server does not tell, a round trip has to do.
pub(crate) fn await_pending(
    server: &dyn SessionServer,
    client: &mut Client,
    count: usize,
) -> anyhow::Result<()> {
    let start = Instant::now();
    while let Some(pending) = server.pending_waits(client)? {
        if pending >= count {
            return Ok(());
        }
        if start.elapsed() > SOON {
            bail!("only {pending} of {count} waits are pending");
        }
    }
    client.call("session.list", &json!({}))?;
    Ok(())
}
