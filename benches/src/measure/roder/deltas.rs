//! Deltas of the mock in great numbers: to one client, and to many clients of one daemon. Nothing may be lost.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::{
    COMPLETED, DELTA, Group, OWN, SILENCE_LIMIT, check_completed, name, row, script, turn_request,
};
use crate::client::{Client, is_notification};
use crate::measure::Bench;
use crate::peers::roder::{Kind, start_thread};
use crate::report::{Better, Report};
use crate::stats::Figure;

/// Deltas to one client, and how many of them it should get in a second.
const TO_ONE: usize = 50_000;
const RATE: f64 = 50_000.0;
/// Clients that watch one turn, and its deltas.
const WATCHERS: usize = 20;
const TO_MANY: usize = 5_000;
/// Characters in a delta.
const LETTERS: usize = 4;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    to_one(bench, report)?;
    to_many(bench, report)
}

/// A text of that many deltas in which a missing or repeated one shows.
fn text(deltas: usize) -> String {
    (0..deltas)
        .map(|number| format!("{number:0LETTERS$x}"))
        .map(|word| word[word.len() - LETTERS..].to_owned())
        .collect()
}

/// What a client received of one turn, kept as it came and decoded when the time is taken.
#[derive(Default)]
pub(super) struct Told {
    messages: Vec<u8>,
    deltas: usize,
}

impl Told {
    /// Reads until the turn is completed, and says how long that was since `start`.
    pub(super) fn follow(
        &mut self,
        client: &mut Client,
        start: Instant,
    ) -> anyhow::Result<Duration> {
        loop {
            let message =
                client.receive_line().with_context(|| format!("after {} deltas", self.deltas))?;
            if is_notification(message, DELTA) {
                self.deltas += 1;
                self.messages.extend_from_slice(message);
            } else if is_notification(message, COMPLETED) {
                let time = start.elapsed();
                check_completed(message)?;
                return Ok(time);
            }
        }
    }

    /// How many notifications of text there were.
    pub(super) fn deltas(&self) -> usize {
        self.deltas
    }

    /// Bytes of all of those.
    fn bytes(&self) -> usize {
        self.messages.len()
    }

    /// Whether the deltas, joined, are this text.
    pub(super) fn check(&self, text: &str) -> anyhow::Result<()> {
        let mut joined = String::with_capacity(text.len());
        for message in serde_json::Deserializer::from_slice(&self.messages).into_iter::<Value>() {
            let params = &message?["params"];
            let delta = params["delta"].as_str();
            // The published server tells the typed form alone.
            let delta = delta.or_else(|| params["event"]["delta"]["delta"].as_str());
            joined.push_str(delta.context("a delta without text")?);
        }
        if joined != text {
            bail!(
                "{} of {} bytes of text came in {} deltas",
                joined.len(),
                text.len(),
                self.deltas
            );
        }
        Ok(())
    }
}

fn to_one(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let deltas = bench.count(TO_ONE, 1_000);
    let text = text(deltas);
    let mut group = Group::<(Vec<f64>, usize)>::start(bench, report)?;
    // The mock of the published server says three words, whatever it is asked.
    group.members.retain(|member| member.kind != Kind::Theirs);
    for round in 0..=bench.rounds {
        group.each(bench, report, |member| {
            let client = member.server.client()?;
            let thread = start_thread(client, &member.thread)?;
            let request = turn_request(client, &thread, &script(&text, deltas));
            let mut told = Told::default();
            let start = Instant::now();
            client.send_bytes(&request)?;
            let time = told.follow(client, start)?;
            told.check(&text)?;
            if round > 0 {
                let (rates, bytes) = &mut member.figures;
                rates.push(told.deltas() as f64 / time.as_secs_f64());
                *bytes = told.bytes() / told.deltas().max(1);
            }
            Ok(())
        })?;
    }
    for kind in OWN {
        let pair = group.pair(kind, |(rates, _)| Figure::best(rates, Better::Higher));
        let what = format!("{deltas} deltas of {LETTERS} bytes to one client, {}", name(kind));
        let row = row(what, "deltas/s", Better::Higher, pair);
        report.push(row.target("at least 50,000/s", |value| value >= RATE));
    }
    if let Some((_, bytes)) = group.of(Kind::Daemon) {
        report.note(format!("roder: a delta of {LETTERS} bytes is a notification of {bytes} bytes; none were joined or lost"));
    }
    Ok(())
}

fn to_many(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let deltas = bench.count(TO_MANY, 200);
    let text = text(deltas);
    let rookery = bench.rookery()?;
    let socket = rookery.endpoint("roder")?;
    let mut times = Vec::new();
    for round in 0..=bench.rounds {
        bench.await_quiet();
        let mut first = Client::connect(&socket)?;
        let new = json!({"cwd": bench.dir(), "modelProvider": "mock", "model": "mock"});
        let thread = start_thread(&mut first, &new)?;
        let request = turn_request(&mut first, &thread, &script(&text, deltas));
        let mut watchers = vec![first];
        for _ in 1..WATCHERS {
            let mut watcher = Client::connect(&socket)?;
            watcher.limit(SILENCE_LIMIT)?;
            // A client that never sends a request gets no notifications.
            watcher.call("initialize", &json!({}))?;
            watchers.push(watcher);
        }
        let last = watch(watchers, &request, &text)?;
        if round > 0 {
            times.push(last.as_secs_f64());
        }
    }
    let best = Figure::best(&times, Better::Lower);
    let what = format!("{deltas} deltas at each of {WATCHERS} clients on sockets");
    let millis = best.map(|best| best.divided_by(1e-3));
    report.push(row(
        format!("{what}, until the last has all"),
        "ms",
        Better::Lower,
        (millis, None),
    ));
    let in_all = (WATCHERS * deltas) as f64;
    let rates: Vec<f64> = times.iter().map(|time| in_all / time).collect();
    let rate = Figure::best(&rates, Better::Higher);
    report.push(row(format!("{what}, all together"), "deltas/s", Better::Higher, (rate, None)));
    Ok(())
}

/// Lets all of them follow the turn that the first one starts, and says when the last had everything.
fn watch(watchers: Vec<Client>, request: &[u8], text: &str) -> anyhow::Result<Duration> {
    let ready = Barrier::new(watchers.len());
    let follow = |number: usize, mut client: Client| -> anyhow::Result<(Duration, Told)> {
        let mut told = Told::default();
        ready.wait();
        let start = Instant::now();
        if number == 0 {
            client.send_bytes(request)?;
        }
        let time = told.follow(&mut client, start)?;
        Ok((time, told))
    };
    let ended: Vec<_> = thread::scope(|scope| {
        let followers = watchers.into_iter().enumerate();
        let followers: Vec<_> =
            followers.map(|(number, client)| scope.spawn(move || follow(number, client))).collect();
        followers.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let mut last = Duration::ZERO;
    for outcome in ended {
        let (time, told) = outcome.map_err(|_| anyhow::anyhow!("a client died"))??;
        told.check(text)?;
        last = last.max(time);
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_word_for_each_delta() {
        assert_eq!(text(3), "000000010002");
        assert_eq!(text(0x1_0001).len(), 0x1_0001 * LETTERS);
    }

    #[test]
    fn what_is_missing_is_seen() {
        let flat = json!({"params": {"delta": "ab"}}).to_string();
        let typed = json!({"params": {"event": {"delta": {"delta": "c"}}}}).to_string();
        let messages = format!("{flat}\n{typed}\n").into_bytes();
        let told = Told { messages, deltas: 2 };
        assert!(told.check("abc").is_ok());
        assert!(told.check("abcd").is_err());
    }
}
