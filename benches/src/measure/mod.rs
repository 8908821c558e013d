//! The sections of a run. Each measures one thing for everyone who can do it, and adds rows to the report.

mod browser;
mod create;
mod faces;
mod footprint;
mod ingest;
mod memories;
mod ptywright;
mod redaction;
mod requests;
mod restart;
mod roder;
mod roo;
mod roost;
mod scale;
mod supervision;
mod wake;
mod window;
mod work;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::ValueEnum;
use tempfile::TempDir;

use crate::args::{Args, source_dir};
use crate::chromium;
use crate::machine::{self, Machine, Turn};
use crate::peers::ptywright::Ptywright;
use crate::peers::rookery::Rookery;
use crate::peers::tmux::Tmux;
use crate::peers::x_terminals::{self, Kind};
use crate::peers::{self, SessionServer, pexpect, tmux, tui_test, xterm_js};
use crate::process;
use crate::report::Report;
use crate::streams::Stream;

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// How fast output is taken in.
    Ingest,
    /// The same while fifty clients wait for something else.
    Waiters,
    /// How long a request takes.
    Requests,
    /// How long it takes from a child's write to the reply of a wait.
    Wake,
    /// How fast terminals are created.
    Create,
    /// How much memory a terminal takes.
    Memory,
    /// How long it takes to come back after a crash.
    Restart,
    /// What hiding secrets adds to a read.
    Redaction,
    /// Pictures, requests beside them and events of the Roost protocol.
    Roost,
    /// The ptywright protocol beside the real one and other ways to wait for a program.
    Ptywright,
    /// The Roder protocol beside the published server: turns, deltas, threads.
    Roder,
    /// Events, growing messages, commands and the history of the Roo Code protocol.
    Roo,
    /// Checkpoints beside git by hand, approvals and the queue.
    Supervision,
    /// Lists, commits and turns in a world that is full.
    Scale,
    /// The TUI beside a tmux client in the same outer terminal, and the link itself.
    Faces,
    /// The window beside xterm and alacritty on one display; with `faces` too.
    Window,
    /// The page in a browser beside xterm.js with an echo server; with `faces` too.
    Browser,
    /// Many child agents of a workflow and many tasks, beside a plain loop of turns.
    Work,
}

impl Section {
    /// All of them, in order.
    pub(crate) const ALL: [Section; 18] = [
        Section::Ingest,
        Section::Waiters,
        Section::Requests,
        Section::Wake,
        Section::Create,
        Section::Memory,
        Section::Restart,
        Section::Redaction,
        Section::Roost,
        Section::Ptywright,
        Section::Roder,
        Section::Roo,
        Section::Supervision,
        Section::Scale,
        Section::Faces,
        Section::Window,
        Section::Browser,
        Section::Work,
    ];

    /// As the command line and the report spell it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Section::Ingest => "ingest",
            Section::Waiters => "waiters",
            Section::Requests => "requests",
            Section::Wake => "wake",
            Section::Create => "create",
            Section::Memory => "memory",
            Section::Restart => "restart",
            Section::Redaction => "redaction",
            Section::Roost => "roost",
            Section::Ptywright => "ptywright",
            Section::Roder => "roder",
            Section::Roo => "roo",
            Section::Supervision => "supervision",
            Section::Scale => "scale",
            Section::Faces => "faces",
            Section::Window => "window",
            Section::Browser => "browser",
            Section::Work => "work",
        }
    }

    /// Measures it.
    pub(crate) fn run(self, bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
        match self {
            Section::Ingest => ingest::alone(bench, report),
            Section::Waiters => ingest::with_waiters(bench, report),
            Section::Requests => requests::run(bench, report),
            Section::Wake => wake::run(bench, report),
            Section::Create => create::run(bench, report),
            Section::Memory => footprint::run(bench, report),
            Section::Restart => restart::run(bench, report),
            Section::Redaction => redaction::run(bench, report),
            Section::Roost => roost::run(bench, report),
            Section::Ptywright => ptywright::run(bench, report),
            Section::Roder => roder::run(bench, report),
            Section::Roo => roo::run(bench, report),
            Section::Supervision => supervision::run(bench, report),
            Section::Scale => scale::run(bench, report),
            Section::Faces => faces::run(bench, report),
            Section::Window => window::run(bench, report),
            Section::Browser => browser::run(bench, report),
            Section::Work => work::run(bench, report),
        }
    }
}

/// What all sections need to know.
pub(crate) struct Bench {
    pub(crate) is_quick: bool,
    pub(crate) rounds: usize,
    /// Size of a throughput measurement.
    pub(crate) bytes: u64,
    /// Streams that are written in one.
    pub(crate) streams: Vec<Stream>,
    /// This program, which is the child in most measurements.
    pub(crate) exe: PathBuf,
    pub(crate) rookery_version: String,
    pub(crate) commit: Option<String>,
    pub(crate) tmux: Option<String>,
    pub(crate) ptywright: Option<(PathBuf, String)>,
    /// A Python that has it.
    pub(crate) pexpect: Option<(PathBuf, String)>,
    /// The folder that it is in.
    pub(crate) tui_test: Option<(PathBuf, String)>,
    pub(crate) roder: Option<(PathBuf, String)>,
    pub(crate) xterm: Option<String>,
    pub(crate) alacritty: Option<String>,
    /// The folder that it is in.
    pub(crate) xterm_js: Option<(PathBuf, String)>,
    /// What the page is looked at with.
    pub(crate) chromium: Option<(PathBuf, String)>,
    /// Whether a window can be shown.
    pub(crate) has_display: bool,
    pub(crate) machine: Machine,
    pub(crate) notes: Vec<String>,
    rookery: PathBuf,
    before: Option<PathBuf>,
    dir: TempDir,
    patience: Duration,
    /// Measurements that began on a quiet machine, and on a busy one.
    begun: Cell<(usize, usize)>,
    _turn: Turn,
}

impl Bench {
    /// Finds everything that is to be measured.
    pub(crate) fn prepare(args: &Args) -> anyhow::Result<Bench> {
        let rookery = process::rookery_binary(args.rookery.as_deref())?;
        let turn = Turn::take()?;
        let rookery_version = Rookery::start(&rookery)?.version().to_owned();
        let machine = Machine::this();
        let mut notes = definitions();
        let mut found = |peer: Result<(PathBuf, String), String>| match peer {
            Ok(found) => Some(found),
            Err(why) => {
                eprintln!("skipped: {why}");
                notes.push(format!("skipped: {why}"));
                None
            }
        };
        let tmux = if args.no_peers { None } else { found(tmux::find().map(of_path)) };
        let tmux = tmux.map(|(_, version)| version);
        let ptywright = if args.no_peers { None } else { found(peers::ptywright::find()) };
        // Installing takes time, so only who needs them looks for these.
        let mut need = |section, find: fn(bool) -> Result<(PathBuf, String), String>| {
            args.wants(section).then(|| found(find(args.install))).flatten()
        };
        let has_display = need(Section::Window, x_terminals::find_display).is_some();
        let chromium = need(Section::Browser, chromium::find);
        let mut find = |section, find| if args.no_peers { None } else { need(section, find) };
        let pexpect = find(Section::Ptywright, pexpect::find);
        let tui_test = find(Section::Ptywright, tui_test::find);
        let roder = find(Section::Roder, peers::roder::find);
        let xterm = find(Section::Window, |install| Kind::Xterm.find(install));
        let alacritty = find(Section::Window, |install| Kind::Alacritty.find(install));
        let xterm_js = find(Section::Browser, xterm_js::find);
        let (rounds, megabytes) = if args.quick { (1, 8) } else { (5, 64) };
        Ok(Bench {
            is_quick: args.quick,
            rounds: args.rounds.unwrap_or(rounds).max(1),
            bytes: args.megabytes.unwrap_or(megabytes).max(1) * 1_000_000,
            streams: if args.streams.is_empty() {
                Stream::ALL.into()
            } else {
                args.streams.clone()
            },
            exe: std::env::current_exe().context("cannot find this executable")?,
            rookery_version,
            commit: machine::commit(&source_dir()),
            tmux,
            ptywright,
            pexpect,
            tui_test,
            roder,
            xterm: xterm.map(|(_, version)| version),
            alacritty: alacritty.map(|(_, version)| version),
            xterm_js,
            chromium,
            has_display,
            machine,
            notes,
            rookery,
            before: args.before.clone(),
            dir: tempfile::Builder::new().prefix("rkb-").tempdir_in("/tmp")?,
            patience: Duration::from_secs(args.patience),
            begun: Cell::default(),
            _turn: turn,
        })
    }

    /// A directory with a short name.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Waits for a quiet moment to measure in.
    pub(crate) fn await_quiet(&self) {
        let (quiet, busy) = self.begun.get();
        let is_quiet = machine::await_quiet(self.patience);
        self.begun.set(if is_quiet { (quiet + 1, busy) } else { (quiet, busy + 1) });
    }

    /// How many measurements began on a quiet machine, and on a busy one.
    pub(crate) fn begun(&self) -> (usize, usize) {
        self.begun.get()
    }

    /// A fresh daemon.
    pub(crate) fn rookery(&self) -> anyhow::Result<Rookery> {
        Rookery::start(&self.rookery)
    }

    /// A fresh daemon of another build, if one was named.
    pub(crate) fn before(&self) -> anyhow::Result<Option<Rookery>> {
        self.before.as_deref().map(Rookery::start).transpose()
    }

    /// What to do with tmux, if it is here. A failure is a remark, not the end.
    pub(crate) fn with_tmux<T>(
        &self,
        report: &mut Report,
        work: impl FnOnce(&Tmux) -> anyhow::Result<T>,
    ) -> Option<T> {
        self.tmux.as_ref()?;
        keep_going(report, "tmux", Tmux::start().and_then(|tmux| work(&tmux)))
    }

    /// The same for ptywright.
    pub(crate) fn with_ptywright<T>(
        &self,
        report: &mut Report,
        work: impl FnOnce(&dyn SessionServer) -> anyhow::Result<T>,
    ) -> Option<T> {
        let (binary, _) = self.ptywright.as_ref()?;
        keep_going(report, "ptywright", Ptywright::start(binary).and_then(|peer| work(&peer)))
    }

    /// The larger number, or the smaller one in a quick run.
    pub(crate) fn count(&self, usual: usize, quick: usize) -> usize {
        if self.is_quick { quick } else { usual }
    }
}

/// A peer that is found on the path.
fn of_path(version: String) -> (PathBuf, String) {
    (PathBuf::new(), version)
}

fn keep_going<T>(report: &mut Report, peer: &str, outcome: anyhow::Result<T>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(error) => {
            eprintln!("   {peer} failed: {error:#}");
            report.note(format!("{peer} failed: {error:#}"));
            None
        }
    }
}

/// What the figures mean, for the foot of the report.
fn definitions() -> Vec<String> {
    [
        "ingest: from the word to a child that has started until the consumer has processed the marker behind the last \
         byte. Rookery and ptywright: the reply of a wait for the marker is here. tmux: it has answered a cursor \
         report that was asked for after the marker; no client is attached. Floor: read(2) into 16 KiB has returned \
         the marker; nothing is parsed, so this is the limit of the kernel. All terminals are 24x80 with 10 000 lines \
         of history, as far as they have one. The best \
         of some rounds in which everyone takes a turn: whatever else a machine does makes a round worse. The JSON has \
         medians and extremes too.",
        "wake: the child writes the time of the monotonic clock; the figure is the time at which the client has \
         received the reply or the %output line, less that time. Of the batches, the best median and the best p99.",
        "memory: daemon and keeper together; what each terminal adds to resident sets, to proportional set sizes, \
         and to everything including unmapped pages of memory files. Children are not counted.",
        "requests: one blocking client, one request at a time, over the Unix socket; tmux in control mode. Of \
         the batches, the best median and the best p99.",
        "redaction: the same read with and without it, of a terminal that shows no secret, in turns; the \
         figure is the median of the medians of the differences. The transcript is the last 131,072 characters.",
        "ptywright: one blocking client, one request at a time; ours over the daemon's socket and over `ptywright serve \
         --stdio`, the real one over `serve --stdio`, tmux in control mode (its %output line is here), pexpect (`expect` \
         has returned), tui-test (`toBeVisible` has returned; it looks every 50 ms, and writes come at all phases of \
         that). There is no signal that a wait is pending, so 2 ms pass between a wait and the write that ends it. Clients \
         look for the end of a reply and at its head; nothing is decoded. Everyone takes a turn in every round, but \
         for tui-test; of the batches, the best median and the best p99.",
        "roost: one blocking client, one request at a time. Pictures show a terminal full of text; the time is from the \
         request to the PNG. Under load eight clients ask for pictures without a pause while twenty terminals print a \
         thousand lines a second each. One event: from the request that changes a title until the last of 100 \
         subscribers has its line. The original has a window and cannot run beside us here.",
        "roder: one blocking client; `daemon` is `rookery app-server`, which hands its client through to the daemon, \
         `standalone` has its world in memory, as the published server has none to hand through to; that one writes \
         its threads to files, as our daemon does. Cold start: a fresh home, from starting the process until the reply \
         to `initialize` is here; with the daemon, that is started too. A turn: from `turn/start` to `turn/completed`, \
         answered by the provider `mock`, which says the same in both. First delta: from the first byte of the first \
         event that a local server of chat completions writes until the client has the delta. Deltas are counted as \
         notifications, each with the whole of what clients of both generations want, and joined and compared with \
         the text afterwards. Clients look at the heads of messages; nothing is decoded while time runs. Everyone \
         takes a turn in every round; of the batches, the best median and the best p99; of whole runs, the best.",
        "roo: blocking clients on `roo-code.sock`; all tasks are answered by the scripted mock. Commands: one connection, \
         one request at a time, until the reply is here. Events: one client runs tasks one after the other, each with \
         ten tool calls, while twenty others hear of them, each on a thread of its own in this process; delivered are \
         the frames at all of them together, from the start of the first task until the last frame is here. Partials: \
         the model says one text in that many pieces; frames hold all of the text so far, so fewer are sent. History: \
         tasks that are over; resident sets of daemon and keeper once they are steady. Of whole runs, the best. The \
         original runs inside an editor and was measured for what it says, not for how fast: it has no figures here.",
        "supervision: over idx0's socket, one connection a request. A checkpoint: from the request until the reply that \
         says it is kept, with its differences; the floor is git by hand: everything into a copy of the index, \
         `write-tree`, `commit-tree`, `update-ref` and `diff-tree --numstat`. The original runs on macOS only, has \
         no content in its checkpoints and does not report decisions.",
        "faces: `rookery tui` and a tmux client, each in an outer terminal of 30x100 that this program is: a key is \
         pressed and the letter waited for among the bytes that come out, with pauses of 20 to 35 ms between keys; the \
         floor is `cat` in that terminal without anything between. Viewers of the link are blocking clients that \
         acknowledge every frame at once. Frames of the TUI are counted by the marks of synchronized output around \
         them; tmux has no such marks. What floods beside a key writes lines at 16 MB/s, the same for everyone. Of the \
         batches, the best median and the best p99. While a program floods, what a client is sent is what it shows, so \
         bytes are compared with tmux's.",
        "work: one blocking client over the Roder socket of a fresh daemon in mode bypass; every turn is answered by the \
         provider `mock`. The floor is a plain loop by the same client at another fresh daemon: a thread and a turn, or \
         a command, one after the other, each until it is over. Memory that stays: resident sets of daemon and keeper \
         once they are steady, less those before. Of whole runs, the best.",
        "waiters: ptywright was given a thirty-second of the data, because it looks at the whole screen for every \
         waiter.",
    ]
    .map(str::to_owned)
    .into()
}
