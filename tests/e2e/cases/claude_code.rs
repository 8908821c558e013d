//! The shipped adapter for Claude Code, on a program that shows its screens: a whole turn.

use rookery_testkit::{Caller, TestDaemon};
use serde_json::{Value, json};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins/claude-code/fixtures");

/// Shows one screen after another, each when a line was entered.
fn start(client: &Caller, screens: &[&str]) -> Value {
    let shows: Vec<String> = screens
        .iter()
        .map(|screen| format!("printf '\\033[H\\033[2J'; cat {FIXTURES}/{screen}.txt"))
        .collect();
    let script = format!("stty -echo; {}; exec cat > /dev/null", shows.join("; read line; "));
    let params = json!({"plugin": "claude-code", "program": "/bin/sh", "args": ["-c", script]});
    client.call("adapter.start", params)
}

fn wait_text(client: &Caller, session: &Value, text: &str) {
    let matcher = json!({"type": "contains_text", "value": text});
    client.call("session.wait", json!({"session": session, "matcher": matcher, "cells": false}));
}

#[test]
fn a_turn_is_sent_waited_for_and_marked() {
    let daemon = TestDaemon::start();
    let client = Caller::connect(&daemon.ptywright_socket()).unwrap();
    let started = start(&client, &["ready", "completed"]);
    wait_text(&client, &started["session"], "❯");
    let size =
        client.call("adapter.snapshot", json!({"adapter": "e1", "cells": false}))["size"].clone();
    assert_eq!((&size["rows"], &size["cols"]), (&json!(60), &json!(200)));
    let state = client.call("adapter.state", json!({"adapter": "e1"}))["state"].clone();
    assert_eq!(
        (&state["state"], &state["confidence"]),
        (&json!("waiting_for_user_input"), &json!(0.62))
    );
    let send = json!({"intent": "send_prompt", "params": {"prompt": "do something"}});
    let turn = client.call("adapter.turn", json!({"adapter": "e1", "send": send}));
    let state = &turn["state"];
    assert_eq!(
        (&state["state"], &state["confidence"]),
        (&json!("completed_turn"), &json!(0.78)),
        "{turn}"
    );
    assert_eq!(state["host_marks"], json!([{"label": "turn_end"}]));
    let marks = &state["metadata"]["transcript"];
    assert!(marks["turn_start"].as_u64() < marks["turn_end"].as_u64(), "{marks}");
    assert_eq!(turn["matched"]["kind"], "all");
    // The same screen without a measured silence is a little less sure, and is marked once.
    let state = client.call("adapter.state", json!({"adapter": "e1"}))["state"].clone();
    assert_eq!((&state["state"], &state["confidence"]), (&json!("completed_turn"), &json!(0.7)));
    assert_eq!(state.get("host_marks"), None);
}

#[test]
fn a_permission_is_asked_for_and_an_answer_to_another_is_refused() {
    let daemon = TestDaemon::start();
    let client = Caller::connect(&daemon.ptywright_socket()).unwrap();
    let started = start(&client, &["permission_bash", "thinking"]);
    wait_text(&client, &started["session"], "❯");
    let state = client.call("adapter.state", json!({"adapter": "e1"}))["state"].clone();
    assert_eq!(
        (&state["state"], &state["confidence"]),
        (&json!("waiting_for_permission"), &json!(0.84))
    );
    let asked = &state["metadata"]["permission"];
    assert!(asked["tool"].is_string() && asked["summary"].is_string(), "{asked}");
    let dialog = state["metadata"]["dialog_id"].clone();
    assert!(dialog.as_str().is_some_and(|id| id.len() == 8), "{state}");
    let answer =
        |id: Value| json!({"adapter": "e1", "intent": "approve", "params": {"dialog_id": id}});
    let refused = client.refused("adapter.send", answer(json!("zz")));
    assert!(refused.message.contains("stale_dialog"), "{}", refused.message);
    client.call("adapter.send", answer(dialog));
    wait_text(&client, &started["session"], "esc to interrupt");
    let state = client.call("adapter.state", json!({"adapter": "e1"}))["state"].clone();
    assert_eq!((&state["state"], &state["confidence"]), (&json!("thinking"), &json!(0.76)));
}

#[test]
fn a_program_that_ended_is_exited() {
    let daemon = TestDaemon::start();
    let client = Caller::connect(&daemon.ptywright_socket()).unwrap();
    let params = json!({"plugin": "claude-code", "program": "/bin/sh", "args": ["-c", "exit 3"]});
    let started = client.call("adapter.start", params);
    let exited = json!({"type": "process_exited"});
    client.call(
        "session.wait",
        json!({"session": started["session"], "matcher": exited, "cells": false}),
    );
    let state = client.call("adapter.state", json!({"adapter": "e1"}))["state"].clone();
    assert_eq!((&state["state"], &state["confidence"]), (&json!("exited"), &json!(1.0)));
}
