//! Many waits: none is missed, and pending ones cost nothing.

use std::fs;

use rookery_testkit::{Begun, Caller, PATIENCE, TestDaemon, wait_until};
use serde_json::{Value, json};

/// Rounds of a hundred texts that are shown and wiped within one chunk of output.
const ROUNDS: usize = 100;
const TEXTS: usize = 100;

fn create(client: &Caller, script: &str) -> Value {
    let params = json!({"program": "/bin/sh", "args": ["-c", script]});
    client.call("session.create", params)["session"].clone()
}

#[test]
fn ten_thousand_texts_that_are_wiped_at_once_are_all_matched() {
    let daemon = TestDaemon::start();
    // On our own socket requests overtake each other, so one connection can have many waits.
    let client = daemon.client();
    let flash = "stty -echo; printf ready; while read round; do i=0; out=; \
                 while [ $i -lt 100 ]; do out=\"$out<$round.$i>\\r\\033[2K\"; i=$((i+1)); done; \
                 printf \"$out\"; done";
    let session = create(&client, flash);
    let ready = json!({"type": "contains_text", "value": "ready"});
    client.call("session.wait", json!({"session": session, "matcher": ready, "cells": false}));
    for round in 0..ROUNDS {
        let wait = |text| {
            let matcher = json!({"type": "contains_text", "value": format!("<{round}.{text}>")});
            let wait = json!({"session": session, "matcher": matcher, "cells": false, "timeout_ms": 20000});
            client.begin("session.wait", wait)
        };
        let waits: Vec<Begun> = (0..TEXTS).map(wait).collect();
        // All are pending before the first text is shown.
        wait_until("all waits to be pending", PATIENCE, || pending(&client) == TEXTS);
        let action = json!({"type": "text", "value": format!("{round}\n")});
        client.call("session.input", json!({"session": session, "action": action}));
        for (text, wait) in waits.into_iter().enumerate() {
            let matched = wait.end().unwrap();
            let shown = matched["snapshot"]["plain_text"].as_str().unwrap();
            assert!(shown.contains(&format!("<{round}.{text}>")), "{shown:?}");
        }
    }
}

fn pending(client: &Caller) -> usize {
    client.status()["pendingWaits"].as_u64().unwrap() as usize
}

#[test]
fn a_wait_is_cancelled_by_its_name() {
    let daemon = TestDaemon::start();
    let waiting = Caller::connect(&daemon.ptywright_socket()).unwrap();
    let other = daemon.client();
    let session = create(&other, "exec cat");
    let matcher = json!({"type": "contains_text", "value": "never"});
    let wait = json!({"session": session, "matcher": matcher, "wait_id": "w"});
    let begun = waiting.begin("session.wait", wait.clone());
    wait_until("the wait to be pending", PATIENCE, || pending(&other) == 1);
    assert_eq!(other.refused("session.wait", wait).code, -32602);
    let cancelled = other.call("adapter.cancel_wait", json!({"wait_id": "w"}));
    assert_eq!(cancelled, json!({"cancelled": true, "session": session, "wait_id": "w"}));
    assert!(begun.end().unwrap_err().to_string().contains("wait cancelled"));
    // The connection goes on, and nothing is pending any more.
    waiting.call("session.list", json!({}));
    wait_until("nothing to be pending", PATIENCE, || pending(&other) == 0);
}

#[test]
fn expressions_that_take_long_to_compile_block_no_other() {
    let daemon = TestDaemon::start();
    let (client, other) = (daemon.client(), daemon.client());
    let session = create(&client, "exec cat");
    let many = |count: usize| {
        let pattern =
            |number| json!({"type": "screen_regex", "value": format!("\\w{{40}}{number}")});
        let branches: Vec<Value> = (0..count).map(pattern).collect();
        json!({"session": session, "matcher": {"type": "any", "value": branches}, "timeout_ms": 1})
    };
    assert_eq!(client.refused("session.wait", many(1000)).code, -32602);
    let slow = client.begin("session.wait", many(200));
    // Answered while the other is at work, not after it.
    other.call("session.list", json!({}));
    assert!(slow.end().is_err());
}

#[test]
fn a_secret_that_was_cut_is_still_hidden() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let secret = "hunter2SECRETvalue99";
    let print = |filler: usize| {
        format!(
            "stty raw; printf 'password={secret} '; head -c {filler} /dev/zero | tr '\\0' z; printf END; exec cat"
        )
    };
    let seen = |session: &Value| {
        let matcher = json!({"type": "transcript_contains", "value": "END"});
        let wait = json!({"session": session, "matcher": matcher, "cells": false});
        let waited = client.call("session.wait", wait);
        let transcript = client.call("session.transcript", json!({"session": session}));
        format!("{}{}", waited["transcript_tail"], transcript["text"])
    };
    let long = create(&client, &print(16_360));
    assert!(!seen(&long).contains("SECRET"), "the tail of a wait");
    let script = print(30);
    let params = json!({"program": "/bin/sh", "args": ["-c", script], "transcript_max_chars": 50});
    let short = client.call("session.create", params)["session"].clone();
    let shown = client.call("session.transcript", json!({"session": short, "redact": false}));
    assert!(!seen(&short).contains("value99"), "a short transcript: {shown}");
}

/// Processor time a process has used, in ticks.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn a_thousand_pending_waits_cost_nothing() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let sessions: Vec<Value> =
        (0..100).map(|_| create(&client, "printf ready; exec cat")).collect();
    let clients: Vec<Caller> = (0..10).map(|_| daemon.client()).collect();
    for (number, session) in sessions.iter().enumerate() {
        for wait in 0..10 {
            let matcher = match wait % 3 {
                0 => json!({"type": "contains_text", "value": format!("never {number}.{wait}")}),
                1 => json!({"type": "screen_regex", "value": "(?m)^never$"}),
                _ => json!({"type": "transcript_regex", "value": "never \\d+"}),
            };
            let params = json!({"session": session, "matcher": matcher, "cells": false, "timeout_ms": 600_000});
            clients[number % 10].post("session.wait", params);
        }
    }
    wait_until("all waits to be pending", PATIENCE, || pending(&client) == 1000);
    // Screens give memory back after two seconds of silence; that is over before the measuring.
    let clock = |seconds: u32| {
        let session = create(&client, &format!("sleep {seconds}"));
        let exited = json!({"type": "process_exited"});
        client.call("session.wait", json!({"session": session, "matcher": exited, "cells": false}));
    };
    clock(3);
    let before = ticks(daemon.pid());
    clock(2);
    let used = ticks(daemon.pid()) - before;
    assert!(used <= 5, "{used} ticks within two seconds");
}
