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
