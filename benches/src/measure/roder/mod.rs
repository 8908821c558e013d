//! The Roder protocol, ours and the published server: starts, requests, turns, deltas and threads, the same requests on
//! standard input and output as far as both can do the same.
//!
//! Everyone takes a turn in every round, and every client does the same work: it looks at the heads of messages.

mod deltas;
mod model;
mod reads;
mod requests;
mod stored;
mod turns;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use serde_json::{Value, json};

use super::{Bench, Section, keep_going};
use crate::client::Client;
use crate::peers::roder::{AppServer, Kind, start_thread};
use crate::report::{Better, Report, Row};
use crate::stats::Figure;

/// How long a server may be silent while something is to come.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);

/// The last thing that a turn says.
const COMPLETED: &str = "turn/completed";

/// Text of an agent.
const DELTA: &str = "item/agentMessage/delta";

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    requests::run(bench, report)?;
    turns::run(bench, report)?;
    model::run(bench, report)?;
    deltas::run(bench, report)?;
    stored::run(bench, report)?;
    reads::run(bench, report)
}

/// Ours, each a row of its own.
const OWN: [Kind; 2] = [Kind::Daemon, Kind::Standalone];

/// As the report spells it.
fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Daemon => "daemon",
        Kind::Standalone => "standalone",
        Kind::Theirs => "roder",
    }
}

/// Which servers are here.
fn kinds(bench: &Bench) -> Vec<(Kind, &Path)> {
    let own = OWN.map(|kind| (kind, bench.rookery.as_path()));
    let theirs = bench.roder.as_ref().map(|(binary, _)| (Kind::Theirs, binary.as_path()));
    own.into_iter().chain(theirs).collect()
}

/// A server with nothing in it.
fn start(kind: Kind, binary: &Path) -> anyhow::Result<AppServer> {
    let mut server = AppServer::start(kind, binary, "")?;
    server.client()?.limit(SILENCE_LIMIT)?;
    Ok(server)
}

/// Servers that are all here at once, with what was measured of each. A peer that fails leaves.
struct Group<T> {
    members: Vec<Member<T>>,
}

struct Member<T> {
    kind: Kind,
    server: AppServer,
    /// Params of a new thread that the mock answers.
    thread: Value,
    figures: T,
}

impl<T: Default> Group<T> {
    /// Starts everyone.
    fn start(bench: &Bench, report: &mut Report) -> anyhow::Result<Group<T>> {
        let mut members = Vec::new();
        for (kind, binary) in kinds(bench) {
            let started = start(kind, binary).and_then(|mut server| {
                let thread = server.new_thread("mock", "mock")?;
                Ok(Member { kind, server, thread, figures: T::default() })
            });
            members.extend(or_leave(report, kind, started)?);
        }
        Ok(Group { members })
    }

    /// Lets everyone take a turn.
    fn each(
        &mut self,
        bench: &Bench,
        report: &mut Report,
        mut work: impl FnMut(&mut Member<T>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut failed = Vec::new();
        for member in &mut self.members {
            bench.await_quiet();
            if or_leave(report, member.kind, work(member))?.is_none() {
                failed.push(member.kind);
            }
        }
        self.members.retain(|member| !failed.contains(&member.kind));
        Ok(())
    }

    /// What was measured of one.
    fn of(&self, kind: Kind) -> Option<&T> {
        self.members.iter().find(|member| member.kind == kind).map(|member| &member.figures)
    }

    /// A figure of one of ours beside the peer's.
    fn pair(&self, own: Kind, figure: impl Fn(&T) -> Option<Figure>) -> Pair {
        (self.of(own).and_then(&figure), self.of(Kind::Theirs).and_then(&figure))
    }
}

/// Ours and theirs.
type Pair = (Option<Figure>, Option<Figure>);

/// A failure of ours is the end; one of the peer is a remark.
fn or_leave<T>(
    report: &mut Report,
    kind: Kind,
    outcome: anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    match kind {
        Kind::Theirs => Ok(keep_going(report, name(kind), outcome)),
        Kind::Daemon | Kind::Standalone => outcome.map(Some),
    }
}

/// A row with our figure and theirs.
fn row(what: impl Into<String>, unit: &'static str, better: Better, (rookery, roder): Pair) -> Row {
    Row { rookery, roder, ..Row::new(Section::Roder.name(), what, unit, better) }
}

/// Microseconds in a millisecond.
const MILLI: f64 = 1_000.0;

/// A text that makes the mock say `characters` in that many pieces.
fn script(characters: &str, pieces: usize) -> String {
    format!("MOCK_SCRIPT:{}", json!([{"text": characters, "chunks": pieces}]))
}

/// A request that starts a turn.
fn turn_request(client: &mut Client, thread: &str, text: &str) -> Vec<u8> {
    let input = json!([{"type": "text", "text": text}]);
    client.encode("turn/start", &json!({"threadId": thread, "input": input}))
}

/// How long the published server is left alone after a turn: one that is started as soon as the turn
/// before it is completed goes to that one, and never ends. Nothing says when it is ready.
const PEER_PAUSE: Duration = Duration::from_millis(50);

/// Runs a turn to its end, and says how long that took. The thread is idle when this returns.
fn run_turn(client: &mut Client, kind: Kind, thread: &str, text: &str) -> anyhow::Result<Duration> {
    let request = turn_request(client, thread, text);
    let start = Instant::now();
    client.send_bytes(&request)?;
    let end = client.receive_notification(COMPLETED)?;
    let time = start.elapsed();
    check_completed(end)?;
    client.receive_notification("thread/status/changed")?;
    if kind == Kind::Theirs {
        std::thread::park_timeout(PEER_PAUSE);
    }
    Ok(time)
}

/// Whether a turn ended well.
fn check_completed(end: &[u8]) -> anyhow::Result<()> {
    let status = b"\"status\":\"completed\"";
    if !end.windows(status.len()).any(|window| window == status) {
        bail!("a turn did not complete: {}", String::from_utf8_lossy(&end[..end.len().min(1_000)]));
    }
    Ok(())
}

/// Starts that many threads.
fn start_threads(client: &mut Client, params: &Value, count: usize) -> anyhow::Result<Vec<String>> {
    (0..count).map(|_| start_thread(client, params)).collect()
}

/// Starts a turn in each of some threads at once, and says how long it took until all were completed.
pub(super) fn run_turns(
    client: &mut Client,
    threads: &[String],
    text: &str,
) -> anyhow::Result<Duration> {
    let requests: Vec<Vec<u8>> =
        threads.iter().map(|thread| turn_request(client, thread, text)).collect();
    let start = Instant::now();
    client.send_bytes(&requests.concat())?;
    for _ in threads {
        check_completed(client.receive_notification(COMPLETED)?)?;
    }
    Ok(start.elapsed())
}
