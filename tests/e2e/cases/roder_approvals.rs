//! Approvals in the Roder dialect: the first answer counts, and what was approved happens
//! once.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Barrier};
use std::thread;

use rookery_testkit::{Random, TestDaemon};
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};

const TURNS: usize = 10;
const CALLS: usize = 100;

/// What one of the two said to an approval, and whether it counted.
struct Said {
    approved: bool,
    resolved: bool,
}

/// Answers every approval the moment the other one does.
fn answer_all(mut peer: Peer, votes: &[bool], start: &Barrier) -> (BTreeMap<String, Said>, Peer) {
    let mut said = BTreeMap::new();
    for approved in votes {
        let asked = peer.wait_told("session/approvalRequested");
        let id = asked["approvalId"].as_str().unwrap().to_owned();
        start.wait();
        let answer = json!({ "approvalId": id, "approved": approved });
        let resolved = peer.call("session/resolve_approval", answer)["resolved"] == true;
        said.insert(id, Said { approved: *approved, resolved });
    }
    (said, peer)
}

#[test]
fn of_two_answers_at_once_one_counts() {
    let seed = Random::seed("ROOKERY_ANSWERS_SEED");
    eprintln!("answers: ROOKERY_ANSWERS_SEED={seed}");
    let daemon = TestDaemon::start();
    let log = daemon.home().join("log");
    fs::write(&log, "end\n").unwrap();
    let (mut driver, mut watcher) = (Peer::to(&daemon), Peer::to(&daemon));
    let thread = driver.thread(daemon.home().path());
    let start = Arc::new(Barrier::new(2));
    let answerers: Vec<_> = (0..2)
        .map(|who| {
            let mut random = Random::new(seed.wrapping_add(who));
            let votes: Vec<bool> = (0..TURNS * CALLS).map(|_| random.below(8) > 0).collect();
            let (peer, start) = (Peer::to(&daemon), Arc::clone(&start));
            thread::spawn(move || answer_all(peer, &votes, &start))
        })
        .collect();
    for turn in 0..TURNS {
        // Done twice, it would show twice.
        let edit = |call: usize| {
            let line = format!("{}\nend", turn * CALLS + call);
            let args = json!({ "path": "log", "old_string": "end", "new_string": line });
            json!({ "tool": "edit", "args": args, "id": format!("call-{}", turn * CALLS + call) })
        };
        let turn = driver.turn(&thread, &script(&(0..CALLS).map(edit).collect::<Value>()));
        let told = driver.until_over(&turn);
        assert_eq!(told.last().unwrap().1["turn"]["status"], "completed");
    }
    let (first, second) = {
        let mut said = answerers.into_iter().map(|answerer| answerer.join().unwrap().0);
        (said.next().unwrap(), said.next().unwrap())
    };
    assert_eq!(first.len(), TURNS * CALLS);
    // What the winner of each said.
    let mut verdicts = BTreeMap::new();
    for (id, one) in &first {
        let other = &second[id];
        assert!(one.resolved != other.resolved, "{id}: one of two answers counts");
        verdicts.insert(id.clone(), if one.resolved { one.approved } else { other.approved });
    }
    let mut approved_calls = Vec::new();
    let mut completed = 0;
    for (name, told) in watcher.heard() {
        match name.as_str() {
            "session/approvalResolved" => {
                let verdict = verdicts.remove(told["approvalId"].as_str().unwrap());
                assert_eq!(verdict, told["approved"].as_bool(), "settled once: {told}");
                if verdict == Some(true) {
                    approved_calls
                        .push(told["toolId"].as_str().unwrap()["call-".len()..].to_owned());
                }
            }
            "item/completed" if told["item"]["type"] == "toolExecution" => completed += 1,
            _ => {}
        }
    }
    assert_eq!((verdicts.len(), completed), (0, TURNS * CALLS));
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    approved_calls.push("end".to_owned());
    assert!(lines == approved_calls, "what was approved happened once, in order: {text}");
}

#[test]
fn who_comes_late_finds_what_is_asked_and_may_answer() {
    let daemon = TestDaemon::start();
    let mut early = Peer::to(&daemon);
    let thread = early.thread(daemon.home().path());
    let write = json!({ "path": "made", "content": "x" });
    let steps = json!([{ "tool": "write_file", "args": write }, { "text": "done" }]);
    let turn = early.turn(&thread, &script(&steps));
    let asked = early.wait_told("session/approvalRequested");
    assert_eq!(early.wait_told("thread/approvalRequested"), asked);
    assert_eq!(asked["input"], write);
    // By a server of its own, which was started afterwards.
    let mut late = Peer::stdio(daemon.home(), &[]);
    for params in [json!({}), json!({ "threadId": thread })] {
        let state = late.call("session/get", params);
        assert_eq!(state["pendingApprovals"], json!([asked]));
    }
    let flags = late.stored(&thread)["status"]["activeFlags"].take();
    assert_eq!(flags, json!(["approvalRequired"]));
    let answer = json!({ "approval_id": asked["approvalId"], "approved": true });
    assert_eq!(late.call("thread/resolve_approval", answer)["resolved"], true);
    for peer in [&mut early, &mut late] {
        let told = peer.until_over(&turn);
        assert_eq!(told.last().unwrap().1["turn"]["status"], "completed");
    }
    assert_eq!(late.call("session/get", json!({}))["pendingApprovals"], json!([]));
    assert!(daemon.home().join("made").exists());
}
