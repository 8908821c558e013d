//! What a search costs among many memories: they are brought as the file of lines that the daemon takes in once.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::json;

use super::{Bench, Section};
use crate::client::Client;
use crate::report::{Better, Report, Row};
use crate::stats::Times;

/// Memories that are searched.
const MEMORIES: usize = 100_000;
/// Words that they are made of.
const WORDS: usize = 5_000;
/// Words of each.
const WORDS_OF_ONE: usize = 20;
/// How long the daemon may take to take them in.
const SILENCE_LIMIT: Duration = Duration::from_secs(300);
/// What a search may cost in the middle.
const LIMIT: f64 = 50_000.0;

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let count = bench.count(MEMORIES, 2_000);
    let rookery = bench.rookery()?;
    let dir = rookery.data_dir().join("memory");
    fs::create_dir_all(&dir)?;
    fs::write(dir.join("memories.jsonl"), lines(count))?;
    let mut client = Client::connect(&rookery.endpoint("roder")?)?;
    client.limit(SILENCE_LIMIT)?;
    let taken_in = client.call("memory/list", &json!({"limit": 1}))?;
    ensure!(
        taken_in["memories"].as_array().is_some_and(|list| list.len() == 1),
        "none: {taken_in}"
    );
    let common = json!({"text": word(0), "scope": "project:bench"});
    let found = client.call("memory/query", &common)?;
    ensure!(found["results"].as_array().is_some_and(|list| list.len() == 10), "too few: {found}");
    let mut times = Times::default();
    for _ in 0..bench.rounds {
        bench.await_quiet();
        times.begin();
        for number in 0..bench.count(200, 20) {
            let text = format!("{} {} {}", word(number), word(number * 7), word(number * 131));
            let request =
                client.encode("memory/query", &json!({"text": text, "scope": "project:bench"}));
            let start = Instant::now();
            // The family tells of the query before its reply.
            client.ask(&request)?;
            times.push(start.elapsed());
        }
    }
    let row = |name: String| Row::new(Section::Scale.name(), name, "µs", Better::Lower);
    let p50 =
        Row { rookery: times.p50(), ..row(format!("memory/query among {count} memories, p50")) };
    report.push(p50.target("below 50 ms", |value| value < LIMIT));
    report.push(Row {
        rookery: times.p99(),
        ..row(format!("memory/query among {count} memories, p99"))
    });
    Ok(())
}

/// Memories, one per line, in words of which some are common and most are rare.
fn lines(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        // After all words were first once, the others come in larger steps, so that no text comes again.
        let step = 17 + number / WORDS;
        let words: Vec<String> =
            (0..WORDS_OF_ONE).map(|place| word(number * 31 + place * place * step)).collect();
        let line = json!({
            "id": format!("bench-{number}"), "scope": {"Project": "bench"}, "text": words.join(" "),
            "createdAt": "2026-01-01T00:00:00Z",
        });
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{line}");
    }
    text
}

/// A word: small numbers come up more often than large ones.
fn word(number: usize) -> String {
    let place = number % WORDS;
    format!("word{}", place * place / WORDS)
}
