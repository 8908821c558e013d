//! Notifications of the ptywright dialect: asynchronous, coalesced, bounded, without secrets.

use std::cell::RefCell;

use rookery_testkit::{Caller, Lines, PATIENCE, TestDaemon, memory_of};
use serde_json::{Value, json};

fn ptywright(daemon: &TestDaemon) -> Caller {
    Caller::connect(&daemon.ptywright_socket()).unwrap()
}

fn create(client: &Caller, script: &str) -> String {
    let params = json!({"program": "/bin/sh", "args": ["-c", script]});
    client.call("session.create", params)["session"].as_str().unwrap().to_owned()
}

fn type_line(client: &Caller, session: &str, line: &str) {
    let action = json!({"type": "text", "value": format!("{line}\n")});
    client.call("session.input", json!({"session": session, "action": action}));
}

/// Notifications until `is_enough` says so, all of them.
fn listen(client: &Caller, is_enough: impl Fn(&[(String, Value)]) -> bool) -> Vec<(String, Value)> {
    let mut heard = Vec::new();
    while !is_enough(&heard) {
        match client.notification(PATIENCE) {
            Some(told) => heard.push(told),
            None => panic!("silence after {heard:?}"),
        }
    }
    heard
}

/// What was printed in a session, piece by piece.
fn printed(heard: &[(String, Value)], session: &str) -> String {
    heard
        .iter()
        .filter(|(name, told)| name == "session.output" && told["session"] == session)
        .map(|(_, told)| told["output"].as_str().unwrap())
        .collect()
}

#[test]
fn news_comes_without_being_asked_for() {
    let daemon = TestDaemon::start();
    let (listener, worker) = (ptywright(&daemon), ptywright(&daemon));
    let old = create(&worker, "printf before; exec cat");
    let matcher = json!({"type": "contains_text", "value": "before"});
    worker.call("session.wait", json!({"session": old, "matcher": matcher, "cells": false}));
    assert_eq!(
        listener.call("server.set_notifications", json!({"enabled": true}))["enabled"],
        true
    );
    // What exists is announced, without its past.
    let heard = listen(&listener, |heard| !heard.is_empty());
    assert_eq!((heard[0].0.as_str(), &heard[0].1["session"]), ("session.changed", &json!(old)));
    let new =
        create(&worker, "stty -echo; printf 'ready\n'; read x; printf 'got %s\n' \"$x\"; exit 3");
    let heard = listen(&listener, |heard| printed(heard, &new).contains("ready"));
    assert_eq!(heard[0].0, "session.changed", "a change is told before what was printed");
    type_line(&worker, &new, "it");
    let heard = listen(&listener, |heard| heard.iter().any(|(name, _)| name == "session.exited"));
    assert_eq!(printed(&heard, &new), "got it\r\n");
    let (_, exited) = heard.last().unwrap();
    assert_eq!((&exited["session"], &exited["exit_code"]), (&json!(new), &json!(3)));
    assert_eq!(printed(&heard, &old), "");
    // A closed session is forgotten in silence; the next news is that of another.
    worker.call("session.close", json!({"session": new}));
    type_line(&worker, &old, "echo");
    let heard = listen(&listener, |heard| printed(heard, &old).contains("echo"));
    assert!(heard.iter().all(|(_, told)| told["session"] == old), "{heard:?}");
    // Other clients get no notification.
    assert_eq!(worker.notification(std::time::Duration::ZERO), None);
}

#[test]
fn a_filter_is_by_session_and_by_adapter() {
    let daemon = TestDaemon::start();
    let (listener, worker) = (ptywright(&daemon), ptywright(&daemon));
    // The first session brings a project, which has the number between.
    let filter = json!({"enabled": true, "sessions": ["s3"], "adapters": ["e1"]});
    listener.call("server.set_notifications", filter);
    let unwanted = create(&worker, "printf 'one\n'; exec cat");
    let wanted = create(&worker, "printf 'two\n'; exec cat");
    assert_eq!((unwanted.as_str(), wanted.as_str()), ("s1", "s3"));
    let start = json!({"plugin": "shell", "program": "/bin/sh", "args": ["-c", "printf 'three\n'; exec cat"]});
    let started = worker.call("adapter.start", start);
    assert_eq!((&started["adapter"], &started["session"]), (&json!("e1"), &json!("s4")));
    type_line(&worker, &unwanted, "more");
    let heard = listen(&listener, |heard| {
        printed(heard, "s3").contains("two") && printed(heard, "s4").contains("three")
    });
    assert!(heard.iter().all(|(_, told)| told["session"] != "s1"), "{heard:?}");
}

#[test]
fn a_secret_in_pieces_is_hidden_in_all_of_them() {
    let daemon = TestDaemon::start();
    let (listener, worker) = (ptywright(&daemon), ptywright(&daemon));
    listener.call("server.set_notifications", json!({"enabled": true}));
    let script = "stty -echo; printf 'token=abcd'; read x; printf 'efgh'; read x; printf 'ijkl end\n'; exec cat";
    let session = create(&worker, script);
    let mut all = listen(&listener, |heard| !printed(heard, &session).is_empty());
    type_line(&worker, &session, "");
    // The second piece was told by itself when nothing more came for a while.
    let stable = json!({"type": "screen_stable", "value": {"min_ms": 100}});
    worker.call("session.wait", json!({"session": session, "matcher": stable, "cells": false}));
    type_line(&worker, &session, "");
    all.extend(listen(&listener, |heard| printed(heard, &session).contains("end")));
    let said = printed(&all, &session);
    for part in ["abcd", "efgh", "ijkl"] {
        assert!(!said.contains(part), "{said:?}");
    }
    assert!(said.starts_with("token=[REDACTED]") && said.ends_with(" end\r\n"), "{said:?}");
}

#[test]
fn a_listener_that_does_not_read_slows_no_other_and_costs_little() {
    let daemon = TestDaemon::start();
    let worker = ptywright(&daemon);
    let mut deaf = Lines::connect(&daemon.ptywright_socket()).unwrap();
    let ask = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server.set_notifications\",\"params\":{\"enabled\":true}}\n";
    deaf.send(ask.as_bytes()).unwrap();
    let before = memory_of(daemon.pid());
    let session = create(
        &worker,
        "head -c 12000000 /dev/zero | tr '\\0' 'x' | fold; printf 'the last\n'; exec cat",
    );
    let matcher = json!({"type": "contains_text", "value": "the last"});
    let wait = json!({"session": session, "matcher": matcher, "cells": false});
    worker.call("session.wait", wait);
    assert!(memory_of(daemon.pid()) < before + (64 << 20));
    // When it reads again it learns what is left, and that something is lost.
    let mut was_dropped = false;
    loop {
        let told = deaf.next_json().unwrap();
        was_dropped |= told["params"]["dropped"] == true;
        if told["params"]["output"].as_str().is_some_and(|output| output.contains("the last")) {
            break;
        }
    }
    assert!(was_dropped);
}

#[test]
fn every_listener_hears_of_every_session() {
    let daemon = TestDaemon::start();
    let listeners: Vec<Caller> = (0..8).map(|_| ptywright(&daemon)).collect();
    for listener in &listeners {
        listener.call("server.set_notifications", json!({"enabled": true}));
    }
    let worker = ptywright(&daemon);
    for round in 0..20 {
        let session = create(&worker, &format!("printf 'round {round}\n'; exec cat"));
        for listener in &listeners {
            let said = format!("round {round}");
            listen(listener, |heard| printed(heard, &session).contains(&said));
        }
    }
}

#[test]
fn a_reply_comes_before_the_news_of_what_was_asked() {
    let daemon = TestDaemon::start();
    let lines = RefCell::new(Lines::connect(&daemon.ptywright_socket()).unwrap());
    let ask = |id: u64, method: &str, params: Value| {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        lines.borrow().send_json(&request).unwrap();
    };
    // What is told of a session before the reply that names it, or ends it.
    let before = |id: u64, is_about: &dyn Fn(&Value) -> bool| loop {
        let line = lines.borrow_mut().next_json().unwrap();
        if line["id"] == id {
            return line["result"].clone();
        }
        assert!(!is_about(&line), "{line} came before the reply");
    };
    ask(1, "server.set_notifications", json!({"enabled": true}));
    before(1, &|_| true);
    let mut named: Vec<Value> = Vec::new();
    for round in 1..=20_u64 {
        ask(round * 10, "session.create", json!({"program": "/bin/cat"}));
        let is_unknown = |line: &Value| !named.contains(&line["params"]["session"]);
        let session = before(round * 10, &is_unknown)["session"].clone();
        assert!(session.is_string() && !named.contains(&session), "{session}");
        named.push(session.clone());
        ask(round * 10 + 1, "session.kill", json!({"session": session}));
        before(round * 10 + 1, &|line| {
            line["method"] == "session.exited" && line["params"]["session"] == session
        });
    }
}

#[test]
fn what_was_told_is_not_told_again() {
    let daemon = TestDaemon::start();
    let (listener, worker) = (ptywright(&daemon), ptywright(&daemon));
    let gone = create(&worker, "exit 0");
    let exited = json!({"type": "process_exited"});
    worker.call("session.wait", json!({"session": gone, "matcher": exited, "cells": false}));
    listener.call("server.set_notifications", json!({"enabled": true}));
    listen(&listener, |heard| heard.iter().any(|(name, _)| name == "session.exited"));
    for params in [
        json!({"enabled": false}),
        json!({"enabled": true}),
        json!({"enabled": true, "sessions": ["s9"]}),
        json!({"enabled": true}),
    ] {
        listener.call("server.set_notifications", params);
    }
    // The next news is of something new.
    let new = create(&worker, "exec cat");
    let heard = listen(&listener, |heard| !heard.is_empty());
    assert_eq!(heard[0].1["session"], new.as_str(), "{heard:?}");
}

#[test]
fn the_last_news_goes_out_before_the_connection_ends() {
    let daemon = TestDaemon::start();
    let mut lines = Lines::connect(&daemon.ptywright_socket()).unwrap();
    let requests = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "server.set_notifications", "params": {"enabled": true}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "session.create",
               "params": {"program": "/bin/sh", "args": ["-c", "printf ready; exec cat"]}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "session.wait",
               "params": {"session": "s1", "matcher": {"type": "contains_text", "value": "ready"}, "cells": false}}),
    ];
    for request in requests {
        lines.send_json(&request).unwrap();
    }
    lines.stop_talking();
    let lines: Vec<Value> = std::iter::from_fn(|| lines.next_json()).collect();
    let ids: Vec<u64> = lines.iter().filter_map(|line| line["id"].as_u64()).collect();
    assert_eq!(ids, [1, 2, 3]);
    let output: String =
        lines.iter().filter_map(|line| line["params"]["output"].as_str()).collect();
    assert_eq!(output, "ready");
}
