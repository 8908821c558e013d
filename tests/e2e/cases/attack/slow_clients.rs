//! Clients that do not read: they block no other, lose only deltas, and are told how many.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use rookery_testkit::TestDaemon;
use serde_json::json;

use crate::roder_link::{Peer, parse, roder, script};

/// Turns of the others, and deltas of each: far more than may wait for one client.
const TURNS: usize = 20;
const DELTAS: usize = 8000;

#[test]
fn a_stdio_client_that_never_reads_stops_no_turn() {
    let daemon = TestDaemon::start();
    let mut command = roder(daemon.home(), &["app-server"]);
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut to_server = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut read = move || parse(lines.next().unwrap().unwrap().as_bytes());
    to_server.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/get\"}\n").unwrap();
    assert_eq!(read()["id"], 1);
    // From now on it is idle, as a client is that reads only while it waits for a reply.
    let mut other = Peer::to(&daemon);
    let unwanted = json!(["item/agentMessage/delta"]);
    let capabilities = json!({ "optOutNotificationMethods": unwanted });
    other.call("initialize", json!({ "capabilities": capabilities }));
    let steps = json!([{ "text": "to and fro ".repeat(DELTAS), "chunks": DELTAS }]);
    let mut turns = Vec::new();
    for _ in 0..TURNS {
        let thread = other.thread(daemon.home().path());
        let turn = other.turn(&thread, &script(&steps));
        let told = other.until_over(&turn);
        assert_eq!(told.last().unwrap().1["turn"]["status"], "completed");
        turns.push(turn);
    }
    // It wakes up, and asks something.
    to_server.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/get\"}\n").unwrap();
    let (mut started, mut completed) = (Vec::new(), Vec::new());
    // By thread, the number that its items have come to; it counts what was dropped too.
    let mut numbers = HashMap::new();
    let (mut got, mut dropped, mut is_answered) = (0, 0, false);
    while completed.len() < TURNS || !is_answered {
        let message = read();
        is_answered |= message["id"] == 2;
        let Some(name) = message["method"].as_str() else { continue };
        let told = &message["params"];
        if let Some(seq) = told["seq"].as_u64() {
            got += 1;
            let last = numbers.insert(told["threadId"].to_string(), seq);
            assert!(last.is_none_or(|last| last < seq), "out of order: {message}");
        }
        let turn = || told["turn"]["id"].as_str().unwrap().to_owned();
        match name {
            "turn/started" => started.push(turn()),
            "turn/completed" => completed.push(turn()),
            "server/notificationsDropped" => dropped += told["count"].as_u64().unwrap(),
            _ => {}
        }
    }
    assert_eq!((&started, &completed), (&turns, &turns), "every change, in order");
    assert!(dropped > 0, "nothing was dropped: {got} came");
    assert_eq!(got + dropped, numbers.values().sum::<u64>(), "as many as were said to be dropped");
    drop(to_server);
    rookery_testkit::wait_until("the server ends", rookery_testkit::PATIENCE, || {
        server.try_wait().unwrap().is_some()
    });
}
