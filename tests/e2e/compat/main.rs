//! Published clients: whatever the Roder dialect says is decoded with the types that those clients are
//! built from, the crate `roder-protocol`, and whatever they write with these types is taken.
//!
//! The conversations are the vectors of that dialect, held with the real stack: every method has one.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

mod params;
mod spelling;
mod types;
mod unsaid;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use roder_protocol::methods::app_server_method_specs;
use roder_protocol::{JsonRpcNotification, JsonRpcResponse};
use rookery_testkit::vectors::{Message, Record, Script, record};
use serde_json::Value;

use crate::types::{NOTIFICATIONS, RESULTS, UNSAID, UNTYPED};

/// Methods that are always refused, as the contract says, and so have no result.
const REFUSED: &[&str] = &["team/pane/cleanup", "team/pane/focus"];
/// Methods whose published type reads times as lists of numbers, where the contract has texts.
const OTHERWISE: &[&str] = &["tasks/get"];
/// Conversations that are held at the same time.
const AT_ONCE: usize = 4;

#[test]
fn every_method_with_a_published_type_is_decoded() {
    let published: BTreeSet<&str> =
        app_server_method_specs().into_iter().map(|spec| spec.method).collect();
    let served = rookery_roder::METHODS.iter().map(|method| method.name);
    let is_left_out = |name: &&str| {
        !REFUSED.contains(name)
            && !OTHERWISE.contains(name)
            && !RESULTS.iter().any(|row| row.name == *name)
    };
    let missing: Vec<&str> =
        served.filter(|name| published.contains(name)).filter(is_left_out).collect();
    assert!(missing.is_empty(), "no row in RESULTS: {missing:?}");
}

/// The names of all our notifications, as the modules `name` and `twin` of the wire types have them.
fn notifications() -> BTreeSet<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/dialects/roder/src/wire");
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let begins = |line: &&str| matches!(*line, "pub mod name {" | "pub mod twin {");
        let mut lines = text.lines();
        while lines.by_ref().any(|line| begins(&line)) {
            let inside = lines.by_ref().take_while(|line| *line != "}");
            let inside = inside.filter(|line| !line.trim_start().starts_with("//"));
            // Every other piece between quotes is what they enclose.
            names.extend(
                inside.flat_map(|line| line.split('"').skip(1).step_by(2)).map(str::to_owned),
            );
        }
    }
    names
}

#[test]
fn every_notification_has_a_published_type_or_a_reason_why_not() {
    let ours = notifications();
    // What tells the count of a family apart from a module that is not found.
    assert!(ours.len() > 100, "{ours:?}");
    let has_row = |name: &str| NOTIFICATIONS.iter().any(|row| row.name == name);
    let has_reason = |name: &str| UNTYPED.iter().any(|(untyped, _)| *untyped == name);
    let missing: Vec<&String> =
        ours.iter().filter(|name| has_row(name) == has_reason(name)).collect();
    assert!(missing.is_empty(), "no row in NOTIFICATIONS, or a needless reason: {missing:?}");
    let named =
        NOTIFICATIONS.iter().map(|row| row.name).chain(UNTYPED.iter().map(|(name, _)| *name));
    let unknown: Vec<&str> = named.filter(|name| !ours.contains(*name)).collect();
    assert!(unknown.is_empty(), "nothing of ours: {unknown:?}");
}

#[test]
fn every_reply_and_notification_decodes_with_its_published_type() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/roder");
    let files = Mutex::new(Script::files(&dir));
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(file) = files.lock().unwrap().pop() else { return };
                    let seen = hold(&file);
                    tally.lock().unwrap().add(seen);
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap();
    let missing: Vec<&str> = RESULTS
        .iter()
        .chain(NOTIFICATIONS)
        .map(|row| row.name)
        .filter(|name| !tally.decoded.contains_key(*name) && !UNSAID.contains(name))
        .collect();
    let total: usize = tally.decoded.values().sum::<usize>() + tally.failures.len();
    let report = tally.failures.join("\n");
    let count = tally.failures.len();
    assert!(count == 0, "{count} of {total} replies and notifications do not decode:\n{report}");
    assert!(missing.is_empty(), "never said well by any vector: {missing:?}");
}

#[test]
fn what_does_not_decode_is_named() {
    let mut tally = Tally::default();
    let row = RESULTS.iter().find(|row| row.name == "providers/select");
    let mut reply = serde_json::json!({"provider": "mock", "model": "mock", "reasoning": null});
    tally.judge(row, &reply, "file");
    assert!(tally.failures[0].starts_with("file: providers/select: reasoning: invalid type: null"));
    reply["reasoning"] = "none".into();
    tally.judge(row, &reply, "file");
    assert_eq!((tally.failures.len(), tally.decoded["providers/select"]), (1, 1));
}

/// What was decoded, and what was not.
#[derive(Default)]
struct Tally {
    decoded: BTreeMap<&'static str, usize>,
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        for (name, count) in other.decoded {
            *self.decoded.entry(name).or_default() += count;
        }
        self.failures.extend(other.failures);
    }

    fn judge(&mut self, row: Option<&types::Row>, value: &Value, file: &str) {
        let Some(row) = row else { return };
        match (row.decode)(value) {
            Ok(()) => *self.decoded.entry(row.name).or_default() += 1,
            Err(error) => {
                let shown: String = value.to_string().chars().take(300).collect();
                self.failures.push(format!("{file}: {}: {error} in {shown}", row.name));
            }
        }
    }
}

/// Holds one conversation and decodes what the server said in it.
fn hold(path: &Path) -> Tally {
    let script = Script::read(path).unwrap();
    let Record { said, outcome } = record(&script);
    let file = path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut tally = Tally::default();
    if let Err(error) = outcome {
        tally.failures.push(format!("{file}: the conversation failed: {error}"));
    }
    let is_older = said.iter().any(|one| one.is_sent && spelling::is_of_the_seed(&one.line));
    let mut calls: BTreeMap<(usize, String), String> = BTreeMap::new();
    for one in &said {
        let Ok(mut message) = serde_json::from_str::<Value>(&one.line) else { continue };
        if one.is_sent {
            note_call(&mut calls, one.on, &message);
            continue;
        }
        if is_older {
            spelling::modernize(&mut message);
        }
        decode(&mut tally, &calls, one, message, &file);
    }
    tally
}

fn note_call(calls: &mut BTreeMap<(usize, String), String>, on: usize, message: &Value) {
    let method = message.get("method").and_then(Value::as_str);
    if let (Some(id), Some(method)) = (message.get("id"), method) {
        calls.insert((on, id.to_string()), method.to_owned());
    }
}

fn decode(
    tally: &mut Tally,
    calls: &BTreeMap<(usize, String), String>,
    one: &Message,
    message: Value,
    file: &str,
) {
    if message.get("method").is_some() {
        match serde_json::from_value::<JsonRpcNotification>(message) {
            Ok(told) => {
                let row = NOTIFICATIONS.iter().find(|row| row.name == told.method);
                tally.judge(row, &told.params, file);
            }
            Err(error) => tally.failures.push(format!("{file}: {error} in {}", one.line)),
        }
        return;
    }
    match serde_json::from_value::<JsonRpcResponse>(message) {
        Ok(reply) => {
            let id = reply.id.unwrap_or_default().to_string();
            let method = calls.get(&(one.on, id));
            let row = RESULTS.iter().find(|row| method.is_some_and(|name| name == row.name));
            if let Some(result) = &reply.result {
                tally.judge(row, result, file);
            }
        }
        Err(error) => tally.failures.push(format!("{file}: {error} in {}", one.line)),
    }
}
