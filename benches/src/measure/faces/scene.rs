//! A large workspace: from one changed mood until the viewer has it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::{Bench, scale};
use super::{Viewer, row};
use crate::client::Client;
use crate::gate::pause;
use crate::peers::rookery::Rookery;
use crate::report::{Better, Report};
use crate::stats::{Figure, Times};

/// Tabs, agents among them, and items of the queue.
const TABS: usize = 300;
const AGENTS: usize = 50;
const ITEMS: usize = 10_000;
/// Longer than a frame takes.
const QUIET: Duration = Duration::from_millis(25);
/// What one change may take, in microseconds, and be, in KiB.
const TIME_LIMIT: f64 = 10_000.0;
const BYTES_LIMIT: f64 = 64.0;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let (tabs, agents) = (bench.count(TABS, 30), bench.count(AGENTS, 5));
    let items = bench.count(ITEMS, 100);
    let rookery = bench.rookery()?;
    let mut tab_ids = Vec::new();
    for number in 0..tabs {
        let opened = roost(&rookery, "tab.open", &json!({"argv": ["cat"]}))?;
        let id = opened["tab"]["id"].as_str().unwrap_or_default().to_owned();
        if number < agents {
            report_mood(&rookery, &id, "working")?;
        }
        tab_ids.push(id);
    }
    (0..items).try_for_each(|number| scale::notify(&rookery, number))?;
    let mut viewer = Viewer::open(&rookery, super::SIZE, json!({"wants": []}))?;
    viewer.frame()?;
    let mut times = Times::default();
    let mut bytes = Vec::new();
    for _ in 0..bench.rounds {
        bench.await_quiet();
        times.begin();
        for number in 0..bench.count(100, 10) / bench.rounds.min(10) {
            let mood = if number % 2 == 0 { "waiting" } else { "working" };
            // A quiet viewer gets it at once; one that just got a frame waits for its next.
            pause(QUIET)?;
            let before = viewer.bytes;
            let start = Instant::now();
            report_mood(&rookery, &tab_ids[0], mood)?;
            let is_it = |frame: &Value| {
                let text = frame["scene"]["sidebar"].to_string();
                text.contains(&format!("\"mood\":\"{mood}\""))
            };
            viewer.wait(is_it)?;
            times.push(start.elapsed());
            bytes.push((viewer.bytes - before) as f64 / 1024.0);
        }
    }
    let what = format!("{tabs} tabs, {agents} agents, {items} queue items: one changed mood");
    for (which, share) in [("p50", Times::p50 as fn(&Times) -> _), ("p99", Times::p99)] {
        let mut made =
            row(format!("{what}, until the viewer has it, {which}"), "µs", Better::Lower);
        made.rookery = share(&times);
        report.push(made.target("at most 10 ms", |micros| micros <= TIME_LIMIT));
    }
    let mut made = row(format!("{what}, sent"), "KiB", Better::Lower);
    made.rookery = Figure::quantile(&bytes, 0.5);
    report.push(made.target("at most 64", |kib| kib <= BYTES_LIMIT));
    Ok(())
}

/// An operation of Roost.
fn roost(rookery: &Rookery, op: &str, params: &Value) -> anyhow::Result<Value> {
    let mut client = Client::connect(&rookery.endpoint("roost")?)?;
    let request = json!({"id": "1", "op": op, "params": params});
    client.send_bytes(format!("{request}\n").as_bytes())?;
    let reply: Value = serde_json::from_slice(client.receive_line()?)?;
    anyhow::ensure!(reply["ok"] == true, "{op}: {reply}");
    Ok(reply["result"].clone())
}

/// An agent in a tab says how it fares.
fn report_mood(rookery: &Rookery, tab: &str, mood: &str) -> anyhow::Result<()> {
    let params = json!({"tab_id": tab, "source": "bench", "ownership_action": "claim",
        "lifecycle": mood});
    roost(rookery, "tab.agent_report", &params).map(drop)
}
