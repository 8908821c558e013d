//! Background work: many child agents of one workflow, and many queued tasks, each beside a plain loop that does
//! the same one after the other.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::{Bench, Section};
use crate::client::{Client, is_notification};
use crate::memory::{self, Memory};
use crate::peers::SessionServer as _;
use crate::peers::rookery::Rookery;
use crate::report::{Better, Report, Row};
use crate::stats::Figure;

/// Agents of the workflow, and how many work at the same time.
const AGENTS: usize = 1_000;
const AT_ONCE: usize = 16;
/// Tasks that are queued.
const TASKS: usize = 200;
/// How long a daemon may be silent while it works.
const SILENCE_LIMIT: Duration = Duration::from_secs(120);

/// What some work cost.
#[derive(Clone, Copy)]
struct Cost {
    /// Milliseconds until all of it was done.
    time: f64,
    /// KiB that daemon and keeper hold more than before, once they are steady.
    kept: f64,
    /// KiB that the daemon held at most.
    peak: f64,
}

/// A part of a cost: what it is, its unit, and itself.
type Part = (&'static str, &'static str, fn(&Cost) -> f64);

/// What is reported of each piece of work.
const PARTS: &[Part] = &[
    ("until the last is over", "ms", |cost| cost.time),
    ("memory that stays", "KiB", |cost| cost.kept),
    ("memory of the daemon at its highest", "KiB", |cost| cost.peak),
];

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let agents = bench.count(AGENTS, 48);
    let name = format!("{agents} subagents in one workflow, {AT_ONCE} at a time");
    compare(bench, report, &name, |work| workflow(work, agents), |work| turns(work, agents))?;
    let tasks = bench.count(TASKS, 24);
    let name = format!("{tasks} tasks queued, a subagent each");
    compare(bench, report, &name, |work| subagents(work, tasks), |work| turns(work, tasks))?;
    let name = format!("{tasks} tasks queued, a program each");
    compare(bench, report, &name, |work| programs(work, tasks), |work| commands(work, tasks))
}

/// Rows for work in the background, beside the same in a loop. Each round has two daemons of its own.
fn compare(
    bench: &Bench,
    report: &mut Report,
    name: &str,
    background: impl Fn(&mut Work) -> anyhow::Result<()>,
    plain: impl Fn(&mut Work) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (mut own, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds.min(3) {
        own.push(measure(bench, &background)?);
        floor.push(measure(bench, &plain)?);
    }
    let best = |costs: &[Cost], part: fn(&Cost) -> f64| {
        let parts: Vec<f64> = costs.iter().map(part).collect();
        Figure::best(&parts, Better::Lower)
    };
    for (what, unit, part) in PARTS {
        let row = Row::new(Section::Work.name(), format!("{name}, {what}"), unit, Better::Lower);
        report.push(Row { rookery: best(&own, *part), floor: best(&floor, *part), ..row });
    }
    Ok(())
}

/// A daemon to give work to.
struct Work {
    client: Client,
}

fn measure(bench: &Bench, work: &impl Fn(&mut Work) -> anyhow::Result<()>) -> anyhow::Result<Cost> {
    let rookery = bench.rookery()?;
    let mut at_work = Work::at(&rookery)?;
    let processes = rookery.processes()?;
    let daemon = *processes.first().context("there is no daemon")?;
    bench.await_quiet();
    let before = Memory::steady(&processes)?;
    let start = Instant::now();
    work(&mut at_work)?;
    let time = start.elapsed().as_secs_f64() * 1e3;
    let kept = Memory::steady(&rookery.processes()?)?.rss - before.rss;
    Ok(Cost { time, kept, peak: memory::peak(daemon)? })
}

impl Work {
    fn at(rookery: &Rookery) -> anyhow::Result<Work> {
        let mut client = Client::connect(&rookery.endpoint("roder")?)?;
        client.limit(SILENCE_LIMIT)?;
        // What every client of such work hears; the words of each child are for those who look at it.
        let unheard = [
            "thread/started",
            "thread/status/changed",
            "turn/started",
            "turn/lifecycleUpdated",
            "item/started",
            "item/completed",
            "item/agentMessage/delta",
            "workflows/agentQueued",
            "workflows/agentStarted",
            "workflows/agentCompleted",
        ];
        let capabilities = json!({"optOutNotificationMethods": unheard});
        client.call("initialize", &json!({"capabilities": capabilities}))?;
        client.call("session/set_mode", &json!({"mode": "bypass"}))?;
        // Whom agents ask that nothing else is said of; without keys there is no provider otherwise.
        client.call("providers/select", &json!({"provider": "mock", "model": "mock"}))?;
        Ok(Work { client })
    }
}

/// All agents of one script.
fn workflow(work: &mut Work, count: usize) -> anyhow::Result<()> {
    let script = format!(
        "export const meta = {{ name: 'bench', description: 'Asks many.' }}\n\
         const all = await parallel(Array.from({{ length: {count} }}, (_, i) => () => agent('hi ' + i)))\n\
         return all.filter((answer) => answer !== null).length"
    );
    let params = json!({"prompt": "bench", "script": script, "workspace": std::env::temp_dir()});
    let planned = work.client.call("workflows/plan", &params)?;
    let run = &planned["run"]["runId"];
    work.client.call("workflows/approve", &json!({"runId": run, "decision": "runOnce"}))?;
    let told = await_end(&mut work.client, "workflows/completed", "workflows/failed")?;
    let told: Value = serde_json::from_slice(told)?;
    let summary = &told["params"]["summary"];
    ensure!(summary["completedAgentCount"] == json!(count), "agents failed: {summary}");
    let peak = summary["concurrencyPeak"].as_u64().unwrap_or_default();
    ensure!(peak <= AT_ONCE as u64, "{peak} agents worked at the same time");
    Ok(())
}

/// A turn in a thread of its own, one after the other.
fn turns(work: &mut Work, count: usize) -> anyhow::Result<()> {
    let thread = json!({"cwd": std::env::temp_dir(), "modelProvider": "mock", "model": "mock"});
    for number in 0..count {
        let started = work.client.call("thread/start", &thread)?;
        let id = started["thread"]["id"].as_str().context("a thread without an id")?.to_owned();
        let text = format!("hi {number}");
        super::roder::run_turns(&mut work.client, &[id], &text)?;
    }
    Ok(())
}

fn subagents(work: &mut Work, count: usize) -> anyhow::Result<()> {
    tasks(work, count, |number| {
        let input =
            json!({"description": format!("part {number}"), "prompt": format!("hi {number}")});
        json!({"executorId": "subagent", "input": input, "workspace": std::env::temp_dir()})
    })
}

fn programs(work: &mut Work, count: usize) -> anyhow::Result<()> {
    tasks(
        work,
        count,
        |_| json!({"executorId": "process", "input": {"command": "true"}, "workspace": std::env::temp_dir()}),
    )
}

/// Submits tasks without a pause, and waits for the end of all.
fn tasks(work: &mut Work, count: usize, params: impl Fn(usize) -> Value) -> anyhow::Result<()> {
    let client = &mut work.client;
    let kinds = json!({"eventKinds": ["task.completed", "task.failed"]});
    client.call("tasks/subscribe", &kinds)?;
    let requests: Vec<Vec<u8>> =
        (0..count).map(|number| client.encode("tasks/submit", &params(number))).collect();
    client.send_bytes(&requests.concat())?;
    for _ in 0..count {
        await_end(client, "task.completed", "task.failed")?;
    }
    Ok(())
}

/// The next notification that something is done; one that it failed, or any error, is a failure.
fn await_end<'a>(client: &'a mut Client, done: &str, failed: &str) -> anyhow::Result<&'a [u8]> {
    let is_error = |line: &[u8]| line.windows(9).take(64).any(|part| part == b",\"error\":");
    loop {
        let line = client.receive_line()?;
        let is_failed = is_notification(line, failed) || is_error(line);
        ensure!(!is_failed, "refused or failed: {}", String::from_utf8_lossy(line));
        if is_notification(line, done) {
            break;
        }
    }
    Ok(client.line())
}

/// The same programs as commands of a client, one after the other.
fn commands(work: &mut Work, count: usize) -> anyhow::Result<()> {
    let params = json!({"command": ["true"], "cwd": std::env::temp_dir()});
    for _ in 0..count {
        work.client.call("command/exec", &params)?;
    }
    Ok(())
}
