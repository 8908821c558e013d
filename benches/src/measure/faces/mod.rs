//! Faces: the TUI beside a tmux client in the same outer terminal, and the link itself.
//!
//! Also has what the sections of the other faces share with it.

mod cost;
mod crash;
mod flood;
mod idle;
mod scene;
mod start;
mod typing;

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::bail;
use serde_json::{Value, json};

use super::{Bench, Section};
use crate::client::Client;
use crate::outer::Outer;
use crate::peers::SessionServer as _;
use crate::peers::rookery::Rookery;
use crate::peers::tmux::Tmux;
use crate::process;
use crate::report::{Better, Report, Row};

/// Rows and columns of the outer terminal.
const SIZE: (u16, u16) = (30, 100);
/// How long anything that should happen soon may take.
const SOON: Duration = Duration::from_secs(30);
/// What the status line of the TUI begins with; what follows has a color of its own.
const READY: &str = "ctrl+\\";
/// How long a picture must rest to count as finished.
const REST: Duration = Duration::from_millis(150);
/// How long one that does not rest is waited for.
const RESTLESS: Duration = Duration::from_secs(3);
/// How long all frames until the one that is waited for may take.
const FRAMES_LIMIT: Duration = Duration::from_secs(180);

/// What measures one kind of rows.
type Part = fn(&Bench, &mut Report) -> anyhow::Result<()>;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let parts: [(&str, Part); 7] = [
        ("typing", typing::run),
        ("flood", flood::run),
        ("start", start::run),
        ("cost", cost::run),
        ("idle", idle::run),
        ("crash", crash::run),
        ("scene", scene::run),
    ];
    let mut failures = Failures::default();
    for (name, part) in parts {
        failures.keep(name, part(bench, report));
    }
    failures.into_result()
}

/// Rows that failed, which keep no other from being measured.
#[derive(Default)]
struct Failures(Vec<String>);

impl Failures {
    /// What came out, unless it failed.
    fn keep<T>(&mut self, name: &str, outcome: anyhow::Result<T>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(error) => {
                eprintln!("   {name} failed: {error:#}");
                self.0.push(format!("{name}: {error:#}"));
                None
            }
        }
    }

    fn into_result(self) -> anyhow::Result<()> {
        anyhow::ensure!(self.0.is_empty(), "{}", self.0.join("; "));
        Ok(())
    }
}

/// What goes on while keys are pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meanwhile {
    Nothing,
    OtherTab,
    OtherPane,
}

impl Meanwhile {
    /// All, from the least to the most.
    pub(super) const ALL: [Meanwhile; 3] =
        [Meanwhile::Nothing, Meanwhile::OtherTab, Meanwhile::OtherPane];

    /// For the name of a row.
    pub(super) fn words(self) -> &'static str {
        match self {
            Meanwhile::Nothing => "",
            Meanwhile::OtherTab => " while another tab floods",
            Meanwhile::OtherPane => " while another pane floods",
        }
    }

    /// How many times as long as at rest a key may take.
    pub(super) fn times_at_rest(self) -> Option<f64> {
        match self {
            Meanwhile::Nothing => None,
            Meanwhile::OtherTab => Some(1.2),
            Meanwhile::OtherPane => Some(2.0),
        }
    }
}

fn row(name: impl Into<String>, unit: &'static str, better: Better) -> Row {
    Row::new(Section::Faces.name(), name, unit, better)
}

/// `rookery tui` of a daemon, in an outer terminal, with a terminal before it.
fn tui(rookery: &Rookery, text: &str) -> anyhow::Result<Outer> {
    let mut command = process::program(rookery.binary());
    command.arg("tui").env("ROOKERY_HOME", rookery.home());
    attached(&command, text)
}

/// A tmux client in an outer terminal.
fn tmux_client(tmux: &Tmux, text: &str) -> anyhow::Result<Outer> {
    attached(&tmux.attach(), text)
}

/// Starts a client and waits until it shows what its terminal does.
fn attached(command: &Command, text: &str) -> anyhow::Result<Outer> {
    let mut outer = Outer::start(command, SIZE)?;
    outer.wait(text.as_bytes(), SOON)?;
    outer.drain(REST, RESTLESS)?;
    Ok(outer)
}

/// Opens a terminal with a program; gives its number.
pub(super) fn open(client: &mut Client, argv: &[&str]) -> anyhow::Result<u64> {
    let params = json!({"argv": argv, "rows": 24, "cols": 80});
    let opened = client.call("rookery/terminals/open", &params)?;
    Ok(opened["id"].as_u64().unwrap_or_default())
}

/// A viewer of the link, as small as one can be: it counts what it is sent.
struct Viewer {
    client: Client,
    frames: u64,
    bytes: u64,
}

impl Viewer {
    /// Opens one.
    fn open(rookery: &Rookery, size: (u16, u16), more: Value) -> anyhow::Result<Viewer> {
        let mut client = rookery.connect()?;
        client.limit(SOON)?;
        let (rows, cols) = size;
        let mut params =
            json!({"versions": [1], "name": "bench", "size": {"cols": cols, "rows": rows}});
        if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
            params.extend(more);
        }
        client.call("rookery/view/open", &params)?;
        Ok(Viewer { client, frames: 0, bytes: 0 })
    }

    /// The next frame, painted at once.
    fn frame(&mut self) -> anyhow::Result<Value> {
        loop {
            let line = self.client.receive_line()?;
            let length = line.len() as u64;
            let message: Value = serde_json::from_slice(line)?;
            if message["method"] != "rookery/view/frame" {
                continue;
            }
            (self.frames, self.bytes) = (self.frames + 1, self.bytes + length);
            let params = message["params"].clone();
            self.tell("rookery/view/ack", &json!({"n": params["n"]}))?;
            return Ok(params);
        }
    }

    /// Frames until one fits.
    fn wait(&mut self, is_it: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        let start = Instant::now();
        while start.elapsed() < FRAMES_LIMIT {
            let frame = self.frame()?;
            if is_it(&frame) {
                return Ok(frame);
            }
        }
        bail!("no frame within {FRAMES_LIMIT:?} was the one that is waited for")
    }

    /// Something to which there is no reply.
    fn tell(&mut self, method: &str, params: &Value) -> anyhow::Result<()> {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.client.send_bytes(format!("{message}\n").as_bytes())
    }
}

/// Whether a row of a frame has this text.
fn shows(frame: &Value, text: &str) -> bool {
    let terms = frame["terms"].as_array().into_iter().flatten();
    let mut rows = terms.flat_map(|term| term["rows"].as_array().into_iter().flatten());
    rows.any(|row| row[1].as_str().is_some_and(|shown| shown.contains(text)))
}

/// Puts one terminal beside another, for every viewer.
pub(super) fn tile(rookery: &Rookery, moved: u64, to: u64) -> anyhow::Result<()> {
    let mut viewer = Viewer::open(rookery, SIZE, json!({"wants": []}))?;
    let call = json!({"move": moved, "to": to, "side": "right"});
    viewer.tell("rookery/view/go", &json!({"page": "workspace", "terminal": to}))?;
    viewer.client.send("rookery/view/pane", &call)?;
    viewer.client.receive().map(drop)
}

/// The program that a client started in an outer terminal is.
fn program_of(outer: &Outer) -> u32 {
    crate::outer::below(outer.pid()).first().copied().unwrap_or(outer.pid())
}
