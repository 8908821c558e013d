//! The Roost dialect: pictures, a request beside them, and one event for many subscribers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::bail;
use serde_json::{Value, json};

use super::{Bench, Section};
use crate::client::Client;
use crate::peers::rookery::Rookery;
use crate::report::{Better, Report, Row};
use crate::stats::Times;

/// Terminals that print while pictures are drawn.
const PRINTERS: usize = 20;
/// Clients that ask for pictures at once.
const PAINTERS: usize = 8;
/// Clients that follow events.
const SUBSCRIBERS: usize = 100;
/// A thousand lines a second, in bursts.
const PRINT: &str = "while :; do seq 50; sleep 0.05; done";

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let rookery = bench.rookery()?;
    let mut client = Roost::connect(&rookery)?;
    let open = json!({"argv": ["sh", "-c", "seq 60; exec sleep 100000"], "cols": 107, "rows": 39});
    client.call("tab.open", &open)?;
    pictures(bench, report, &mut client)?;
    let idle = identify(bench, &mut client)?;
    fan_out(bench, report, &rookery, &mut client)?;
    let loaded = under_load(bench, &rookery, &mut client)?;
    push(report, "identify, nothing else to do", "µs", 1.0, &idle);
    let name =
        format!("identify while {PAINTERS} pictures are drawn and {PRINTERS} terminals print");
    push(report, &name, "µs", 1.0, &loaded);
    Ok(())
}

/// Median and p99 as two rows.
fn push(report: &mut Report, name: &str, unit: &'static str, divisor: f64, times: &Times) {
    for (which, figure) in [("p50", times.p50()), ("p99", times.p99())] {
        let figure = figure.map(|figure| figure.divided_by(divisor));
        let row = Row::new(Section::Roost.name(), format!("{name}, {which}"), unit, Better::Lower);
        report.push(Row { rookery: figure, ..row });
    }
}

fn pictures(bench: &Bench, report: &mut Report, client: &mut Roost) -> anyhow::Result<()> {
    for (name, scale) in [("picture of 1100x720", 1), ("the same at scale 2", 2)] {
        let mut times = Times::default();
        for _ in 0..bench.rounds {
            bench.await_quiet();
            times.begin();
            for _ in 0..bench.count(50, 3) {
                let start = Instant::now();
                client.call("app.screenshot", &json!({"scale": scale}))?;
                times.push(start.elapsed());
            }
        }
        push(report, name, "ms", 1_000.0, &times);
    }
    Ok(())
}

fn identify(bench: &Bench, client: &mut Roost) -> anyhow::Result<Times> {
    let mut times = Times::default();
    for _ in 0..bench.rounds {
        times.begin();
        for _ in 0..bench.count(2_000, 100) {
            let start = Instant::now();
            client.call("identify", &json!({}))?;
            times.push(start.elapsed());
        }
    }
    Ok(times)
}

fn under_load(bench: &Bench, rookery: &Rookery, client: &mut Roost) -> anyhow::Result<Times> {
    for _ in 0..PRINTERS {
        client.call("tab.open", &json!({"argv": ["sh", "-c", PRINT]}))?;
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let painters: Vec<_> = (0..PAINTERS)
        .map(|_| {
            let mut painter = Roost::connect(rookery)?;
            let is_over = Arc::clone(&is_over);
            Ok(thread::spawn(move || -> anyhow::Result<()> {
                while !is_over.load(Ordering::Relaxed) {
                    painter.call("app.screenshot", &json!({}))?;
                }
                Ok(())
            }))
        })
        .collect::<anyhow::Result<_>>()?;
    let times = identify(bench, client);
    is_over.store(true, Ordering::Relaxed);
    for painter in painters {
        painter.join().map_err(|_| anyhow::anyhow!("a client that asks for pictures died"))??;
    }
    times
}

/// From the request that changes a title until the last of many subscribers has its event.
fn fan_out(
    bench: &Bench,
    report: &mut Report,
    rookery: &Rookery,
    client: &mut Roost,
) -> anyhow::Result<()> {
    let tab = client.call("identify", &json!({}))?["active_tab_id"].take();
    let mut subscribers = Vec::new();
    for _ in 0..SUBSCRIBERS {
        let mut subscriber = Roost::connect(rookery)?;
        subscriber.call("events.subscribe", &json!({}))?;
        subscribers.push(subscriber);
    }
    let mut times = Times::default();
    let mut number = 0;
    for _ in 0..bench.rounds {
        bench.await_quiet();
        times.begin();
        for _ in 0..bench.count(200, 5) {
            number += 1;
            let title = format!("title {number}");
            let start = Instant::now();
            client.call("tab.set_title", &json!({"tab_id": tab, "title": title}))?;
            for subscriber in &mut subscribers {
                let event = subscriber.receive()?;
                if event["data"]["title"] != title.as_str() {
                    bail!("expected the event of {title}, got {event}");
                }
            }
            times.push(start.elapsed());
        }
    }
    push(report, &format!("one event at {SUBSCRIBERS} subscribers"), "µs", 1.0, &times);
    Ok(())
}

/// A blocking client of the dialect.
pub(super) struct Roost {
    lines: Client,
    next: u64,
}

impl Roost {
    pub(super) fn connect(rookery: &Rookery) -> anyhow::Result<Roost> {
        Ok(Roost { lines: Client::connect(&rookery.endpoint("roost")?)?, next: 0 })
    }

    pub(super) fn call(&mut self, op: &str, params: &Value) -> anyhow::Result<Value> {
        self.next += 1;
        let mut line = json!({"id": self.next.to_string(), "op": op, "params": params}).to_string();
        line.push('\n');
        self.lines.send_bytes(line.as_bytes())?;
        loop {
            let mut reply = self.receive()?;
            if reply.get("event").is_some() {
                continue;
            }
            if reply["ok"] != true {
                bail!("{op}: {}", reply["error"]);
            }
            return Ok(reply["result"].take());
        }
    }

    pub(super) fn receive(&mut self) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(self.lines.receive_line()?)?)
    }
}
