//! The Roo Code dialect: events at many clients, a message that grows, single commands, and a long history.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::{Bench, Section};
use crate::gate::WORK_LIMIT;
use crate::memory::Memory;
use crate::peers::SessionServer as _;
use crate::peers::rookery::Rookery;
use crate::process;
use crate::report::{Better, Report, Row};
use crate::stats::{Figure, Times};

/// Clients that hear of every task.
const OBSERVERS: usize = 20;
/// Tool calls of each task that they hear of.
const CALLS: usize = 10;
/// Pieces that the growing message comes in.
const PARTIALS: usize = 5_000;
/// What ends a frame.
const FORM_FEED: u8 = 0x0c;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    commands(bench, report)?;
    fan_out(bench, report)?;
    partials(bench, report)?;
    history(bench, report)
}

fn row(name: impl Into<String>, unit: &'static str, better: Better) -> Row {
    Row::new(Section::Roo.name(), name, unit, better)
}

/// Median and p99 as two rows.
fn push(report: &mut Report, name: &str, unit: &'static str, divisor: f64, times: &Times) {
    for (which, figure) in [("p50", times.p50()), ("p99", times.p99())] {
        let figure = figure.map(|figure| figure.divided_by(divisor));
        report
            .push(Row { rookery: figure, ..row(format!("{name}, {which}"), unit, Better::Lower) });
    }
}

/// Single commands over one connection.
fn commands(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let rookery = bench.rookery()?;
    let mut client = Roo::connect(&rookery)?;
    let task = client.complete(&json!([{"text": "Done."}]))?;
    for (name, data) in [("IsReady", Value::Null), ("GetTokenUsage", json!(task))] {
        let times = repeat(bench, bench.count(2_000, 100), &mut client, name, &data)?;
        push(report, name, "µs", 1.0, &times);
    }
    Ok(())
}

fn repeat(
    bench: &Bench,
    count: usize,
    client: &mut Roo,
    name: &str,
    data: &Value,
) -> anyhow::Result<Times> {
    let mut times = Times::default();
    let request = encoded(name, data, Some("r"));
    for _ in 0..bench.rounds {
        bench.await_quiet();
        times.begin();
        for _ in 0..count {
            let start = Instant::now();
            client.round_trip(&request)?;
            times.push(start.elapsed());
        }
    }
    Ok(times)
}

/// When each frame came to one client.
struct Heard(Vec<Instant>);

/// Tasks of one client at many others that observe them.
fn fan_out(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let tasks = bench.count(50, 4);
    let mut steps: Vec<Value> =
        (0..CALLS).map(|_| json!({"tool": "list_files", "args": {}})).collect();
    steps.push(json!({"text": "Done."}));
    let steps = Value::from(steps);
    let mut rates = Vec::new();
    let mut delays = Times::default();
    for _ in 0..bench.rounds {
        let rookery = bench.rookery()?;
        let mut client = Roo::connect(&rookery)?;
        let observers: Vec<_> = (0..OBSERVERS)
            .map(|_| Ok(Observer { roo: Roo::connect(&rookery)?, tasks }))
            .collect::<anyhow::Result<_>>()?;
        bench.await_quiet();
        let start = Instant::now();
        let observing: Vec<_> =
            observers.into_iter().map(|one| thread::spawn(move || one.listen())).collect();
        for _ in 0..tasks {
            client.complete(&steps)?;
        }
        let mut heard = Vec::new();
        for one in observing {
            heard.push(one.join().map_err(|_| anyhow::anyhow!("an observer died"))??);
        }
        delays.begin();
        rates.push(judge(&heard, start, &mut delays)?);
    }
    let name = format!("events of {tasks} tasks at {OBSERVERS} clients");
    let figure = Figure::best(&rates, Better::Higher);
    report
        .push(Row { rookery: figure, ..row(format!("{name}, delivered"), "1/s", Better::Higher) });
    push(
        report,
        &format!("one event from the first to the last of {OBSERVERS} clients"),
        "µs",
        1.0,
        &delays,
    );
    Ok(())
}

/// Frames per second at all clients together; how far apart each frame came is noted. Everyone hears the same, in the
/// same order.
fn judge(heard: &[Heard], start: Instant, delays: &mut Times) -> anyhow::Result<f64> {
    let count = heard.first().map_or(0, |one| one.0.len());
    if heard.iter().any(|one| one.0.len() != count) {
        let counts: Vec<usize> = heard.iter().map(|one| one.0.len()).collect();
        bail!("observers heard different numbers of events: {counts:?}");
    }
    let mut end = start;
    for at in 0..count {
        let times = heard.iter().map(|one| one.0[at]);
        let (Some(first), Some(last)) = (times.clone().min(), times.max()) else { continue };
        delays.push(last - first);
        end = end.max(last);
    }
    Ok((count * heard.len()) as f64 / (end - start).as_secs_f64())
}

/// A client that only listens, until this number of tasks is completed.
struct Observer {
    roo: Roo,
    tasks: usize,
}

impl Observer {
    fn listen(mut self) -> anyhow::Result<Heard> {
        let mut times = Vec::new();
        let mut completed = 0;
        while completed < self.tasks {
            let frame = self.roo.receive()?;
            times.push(Instant::now());
            completed += usize::from(is_event(frame, "taskCompleted"));
        }
        Ok(Heard(times))
    }
}

/// One message that grows, at a client that reads: as fast as the model can, and as a fast one does.
fn partials(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let pieces = bench.count(PARTIALS, 500);
    for (pause, name) in [(0, "without a pause"), (1, "1 ms apart")] {
        let text = "Twenty letters here. ".repeat(pieces);
        let steps = json!([{"text": text, "chunks": pieces, "delayMs": pause}]);
        let (mut times, mut work, mut frames) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..bench.rounds.min(3) {
            let grown = grow(bench, &steps)?;
            times.push(grown.time * 1e3);
            work.push(grown.work);
            frames.push(grown.frames as f64);
        }
        let name = format!("one message of {pieces} partials {name}");
        for (what, unit, figures) in [
            ("until its last frame is here", "ms", times),
            ("processor time of the daemon", "s", work),
            ("frames that are sent of it", "1", frames),
        ] {
            let figure = Figure::best(&figures, Better::Lower);
            let row = row(format!("{name}, {what}"), unit, Better::Lower);
            report.push(Row { rookery: figure, ..row });
        }
    }
    Ok(())
}

/// What a message cost.
struct Grown {
    /// Seconds until it was whole.
    time: f64,
    /// Seconds of the daemon's processor.
    work: f64,
    frames: usize,
}

fn grow(bench: &Bench, steps: &Value) -> anyhow::Result<Grown> {
    let rookery = bench.rookery()?;
    let daemon = *rookery.processes()?.first().context("there is no daemon")?;
    let mut client = Roo::connect(&rookery)?;
    bench.await_quiet();
    let before = process::processor_seconds(daemon)?;
    let start = Instant::now();
    client.send(&started(steps))?;
    let mut frames = 1;
    loop {
        match grown(client.receive()?) {
            None => {}
            Some(true) => frames += 1,
            Some(false) => break,
        }
    }
    let time = start.elapsed().as_secs_f64();
    client.until("taskCompleted")?;
    let work = process::processor_seconds(daemon)? - before;
    Ok(Grown { time, work, frames })
}

/// Whether more will come of the model's text that a frame holds; none if it holds something else. Only its head and
/// its end are looked at.
fn grown(frame: &[u8]) -> Option<bool> {
    const SIDE_BYTES: usize = 256;
    let (head, end) =
        (&frame[..frame.len().min(SIDE_BYTES)], &frame[frame.len().saturating_sub(SIDE_BYTES)..]);
    let is_text = is_event(head, "message") && contains(head, b"\"say\":\"text\"");
    let is = |word: &[u8]| is_text && contains(end, word);
    match (is(b"\"partial\":true"), is(b"\"partial\":false")) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// Tasks that are over: what they take, also after a restart, and how long a list of them takes.
fn history(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let count = bench.count(1_000, 50);
    let mut rookery = bench.rookery()?;
    let fresh = resident(&rookery)?;
    let mut client = Roo::connect(&rookery)?;
    for _ in 0..count {
        client.complete(&json!([{"text": "Done."}]))?;
    }
    let times = repeat(bench, bench.count(200, 10), &mut client, "GetTaskHistory", &Value::Null)?;
    drop(client);
    let full = resident(&rookery)?;
    rookery.kill()?;
    rookery.start_again()?;
    let mut client = Roo::connect(&rookery)?;
    let listed = client.ask("GetTaskHistory", &Value::Null)?;
    let listed = listed.as_array().map_or(0, Vec::len);
    if listed != count {
        bail!("{listed} of {count} tasks came back");
    }
    let again = resident(&rookery)?;
    let names = [
        ("the daemon without any task".to_owned(), fresh),
        (format!("the daemon with {count} tasks in its history"), full),
        (format!("the daemon with {count} tasks in its history, after a restart"), again),
    ];
    for (name, memory) in names {
        let figure = Some(Figure::once(memory.rss / 1024.0));
        report.push(Row {
            rookery: figure,
            ..row(format!("{name}, resident"), "MiB", Better::Lower)
        });
    }
    push(report, &format!("GetTaskHistory with {count} tasks"), "ms", 1_000.0, &times);
    Ok(())
}

fn resident(rookery: &Rookery) -> anyhow::Result<Memory> {
    Memory::steady(&rookery.processes()?)
}

/// A blocking client of the dialect, in the shape of the published one.
struct Roo {
    output: BufReader<UnixStream>,
    input: UnixStream,
    frame: Vec<u8>,
}

impl Roo {
    fn connect(rookery: &Rookery) -> anyhow::Result<Roo> {
        let path = rookery.endpoint("roo-code")?;
        let input = UnixStream::connect(&path)
            .with_context(|| format!("cannot connect to {}", path.display()))?;
        input.set_read_timeout(Some(WORK_LIMIT))?;
        let output = BufReader::with_capacity(64 << 10, input.try_clone()?);
        let mut roo = Roo { output, input, frame: Vec::new() };
        if !contains(roo.receive()?, b"\"Ack\"") {
            bail!("the server did not introduce itself");
        }
        Ok(roo)
    }

    fn send(&mut self, frame: &[u8]) -> anyhow::Result<()> {
        self.input.write_all(frame).context("cannot send")
    }

    /// The next frame as it comes, without its end.
    fn receive(&mut self) -> anyhow::Result<&[u8]> {
        self.frame.clear();
        self.output.read_until(FORM_FEED, &mut self.frame).context("nothing was said")?;
        match self.frame.pop() {
            Some(FORM_FEED) => Ok(&self.frame),
            _ => bail!("the server closed the connection"),
        }
    }

    /// Sends a command and waits for its reply, which is not decoded. The way to measure a round trip.
    fn round_trip(&mut self, request: &[u8]) -> anyhow::Result<()> {
        self.send(request)?;
        self.until("commandResponse")
    }

    /// Goes past events up to one of this name.
    fn until(&mut self, event: &str) -> anyhow::Result<()> {
        while !is_event(self.receive()?, event) {}
        Ok(())
    }

    /// What a command is answered with.
    fn ask(&mut self, name: &str, data: &Value) -> anyhow::Result<Value> {
        self.round_trip(&encoded(name, data, Some("r")))?;
        let mut reply: Value = serde_json::from_slice(&self.frame).context("a reply is no JSON")?;
        let payload = reply["data"]["data"]["payload"][0]["payload"].take();
        match payload.get("error") {
            Some(error) => bail!("{name}: {error}"),
            None => Ok(payload),
        }
    }

    /// Runs a task to its result, and gives its id.
    fn complete(&mut self, steps: &Value) -> anyhow::Result<String> {
        self.send(&started(steps))?;
        loop {
            let frame = self.receive()?;
            if is_event(frame, "taskCompleted") {
                break;
            }
            if contains(frame, b"\"ask\":\"api_req_failed\"")
                || contains(frame, b"\"say\":\"error\"")
            {
                bail!("a task failed: {}", String::from_utf8_lossy(frame));
            }
        }
        let event: Value = serde_json::from_slice(&self.frame).context("an event is no JSON")?;
        let id = event["data"]["data"]["payload"][0].as_str();
        Ok(id.context("an event without the id of its task")?.to_owned())
    }
}

/// A command as it is sent.
fn encoded(name: &str, data: &Value, request: Option<&str>) -> Vec<u8> {
    let mut command = json!({"commandName": name});
    if !data.is_null() {
        command["data"] = data.clone();
    }
    if let Some(request) = request {
        command["requestId"] = request.into();
    }
    let message =
        json!({"type": "TaskCommand", "origin": "client", "clientId": "bench", "data": command});
    let mut bytes = json!({"type": "message", "data": message}).to_string().into_bytes();
    bytes.push(FORM_FEED);
    bytes
}

/// The start of a task that the mock answers; reading is approved.
fn started(steps: &Value) -> Vec<u8> {
    let configuration = json!({
        "apiProvider": "fake-ai", "autoApprovalEnabled": true, "alwaysAllowReadOnly": true,
        "alwaysAllowReadOnlyOutsideWorkspace": true,
    });
    let data = json!({"configuration": configuration, "text": format!("MOCK_SCRIPT:{steps}")});
    encoded("StartNewTask", &data, None)
}

/// Whether a frame is an event of this name. Only its head is looked at.
fn is_event(frame: &[u8], name: &str) -> bool {
    const HEAD_BYTES: usize = 192;
    let head = &frame[..frame.len().min(HEAD_BYTES)];
    contains(head, format!("\"eventName\":\"{name}\"").as_bytes())
}

fn contains(frame: &[u8], word: &[u8]) -> bool {
    frame.windows(word.len()).any(|window| window == word)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn events_are_known_by_their_heads() {
        let frame = br#"{"type":"message","data":{"type":"TaskEvent","origin":"server","data":{"eventName":"taskCompleted","payload":["x"]}}}"#;
        assert!(is_event(frame, "taskCompleted"));
        assert!(!is_event(frame, "task") && !is_event(frame, "message") && !is_event(b"", "task"));
    }

    #[test]
    fn a_frame_counts_once_for_every_client() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let heard = [Heard(vec![at(10), at(500)]), Heard(vec![at(40), at(400)])];
        let mut delays = Times::default();
        delays.begin();
        let rate = judge(&heard, start, &mut delays).unwrap();
        assert!((rate - 8.0).abs() < 1e-9, "{rate}");
        assert_eq!(delays.p99().map(|figure| figure.value.round()), Some(100_000.0));
        let uneven = [Heard(vec![at(1)]), Heard(Vec::new())];
        assert!(judge(&uneven, start, &mut delays).is_err());
    }
}
