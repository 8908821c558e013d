//! `app-server --yolo` and `--mode` over the daemon's world: they hold for what their own clients start,
//! and for nothing else.

use std::fs;

use rookery_testkit::TestDaemon;
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};

/// A turn that changes a file.
fn writes(name: &str) -> String {
    let args = json!({ "path": name, "content": "x" });
    script(&json!([{ "tool": "write_file", "args": args }, { "text": "ok" }]))
}

fn waiting(peer: &mut Peer) -> usize {
    peer.call("session/get", json!({}))["pendingApprovals"].as_array().unwrap().len()
}

fn mode(peer: &mut Peer) -> Value {
    peer.call("session/get", json!({}))["mode"].take()
}

#[test]
fn yolo_holds_for_the_turns_of_its_own_clients_and_ends_with_them() {
    let mut daemon = TestDaemon::start();
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let mut boss = Peer::to(&daemon);
    let waits = boss.thread(&dir);
    boss.turn(&waits, &writes("waits"));
    boss.wait_told("session/approvalRequested");

    let mut yolo = Peer::stdio(daemon.home(), &["--yolo"]);
    assert_eq!(yolo.call("initialize", json!({}))["policyMode"], "bypass");
    let own = yolo.thread(&dir);
    let turn = yolo.turn(&own, &writes("own"));
    yolo.until_over(&turn);
    assert!(dir.join("own").exists());
    // What waited waits, and the world's mode is what it was.
    assert!(!dir.join("waits").exists());
    assert_eq!((waiting(&mut boss), mode(&mut boss)), (1, json!("default")));

    // Another client's turn in the very same thread asks.
    let turn = boss.turn(&own, &writes("theirs"));
    boss.wait_told("session/approvalRequested");
    assert_eq!(waiting(&mut boss), 2);
    boss.call("turn/interrupt", json!({ "threadId": own, "turnId": turn }));
    boss.until_over(&turn);
    // A thread of another client is continued.
    let theirs = boss.thread(&dir);
    let turn = yolo.turn(&theirs, &writes("taken-up"));
    yolo.until_over(&turn);
    assert!(dir.join("taken-up").exists());

    // The server ends while one of its turns waits for the person: from then on it asks.
    let question = json!({ "questions": [{ "header": "h", "id": "q", "question": "?", "options": [
        { "label": "a", "description": "a" }, { "label": "b", "description": "b" }] }] });
    let late = json!({ "path": "late", "content": "x" });
    let steps = json!([
        { "tool": "request_user_input", "args": question },
        { "tool": "write_file", "args": late },
        { "text": "ok" },
    ]);
    yolo.turn(&own, &script(&steps));
    let asked = boss.wait_told("session/userInputRequested");
    drop(yolo);
    boss.wait_told("session/modeChanged");
    let answer =
        json!({ "requestId": asked["requestId"], "answers": { "q": { "answers": ["a"] } } });
    assert_eq!(boss.call("session/resolve_user_input", answer)["resolved"], true);
    boss.wait_told("session/approvalRequested");
    assert!(!dir.join("late").exists());
    assert_eq!(mode(&mut boss), "default");
    daemon.kill9();
    daemon.restart();
    assert_eq!(mode(&mut Peer::to(&daemon)), "default");
}

#[test]
fn plan_of_a_server_holds_for_its_own_clients_only() {
    let daemon = TestDaemon::start();
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let mut boss = Peer::to(&daemon);
    boss.set_mode("accept_all");
    let mut plan = Peer::stdio(daemon.home(), &["--mode", "plan"]);
    assert_eq!(plan.call("initialize", json!({}))["policyMode"], "plan");
    let thread = plan.thread(&dir);
    let turn = plan.turn(&thread, &writes("planned"));
    plan.until_over(&turn);
    assert!(!dir.join("planned").exists());
    let refused = plan.refused("command/exec", json!({ "command": ["touch", "made"], "cwd": dir }));
    assert_eq!(refused["data"]["mode"], "plan");
    let turn = boss.turn(&thread, &writes("done"));
    boss.until_over(&turn);
    assert!(dir.join("done").exists());
    // What its own client sets for all counts for it as well.
    plan.set_mode("default");
    assert_eq!((mode(&mut plan), mode(&mut boss)), (json!("default"), json!("default")));
}

#[test]
fn plan_of_a_server_holds_for_runs_that_its_clients_go_on_with() {
    let mut daemon = TestDaemon::start();
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let mut boss = Peer::to(&daemon);
    let text = format!(
        "export const meta = {{ name: 'writes', description: 'd' }}\n\
         return await parallel([() => agent({}), () => agent({})])",
        json!(writes("one")),
        json!(writes("two")),
    );
    let plan = json!({ "prompt": "p", "script": text, "workspace": dir });
    let run = boss.call("workflows/plan", plan)["run"]["runId"].take();
    boss.call("workflows/approve", json!({ "runId": run, "decision": "runOnce" }));
    // Both ask, and neither has its answer when the run is paused and the daemon killed.
    boss.wait_told("session/approvalRequested");
    boss.wait_told("session/approvalRequested");
    boss.call("workflows/pause", json!({ "runId": run, "cancelRunningAgents": true }));
    daemon.kill9();
    daemon.restart();
    Peer::to(&daemon).set_mode("accept_all");
    let mut plan = Peer::stdio(daemon.home(), &["--mode", "plan"]);
    plan.call("workflows/resume", json!({ "runId": run }));
    plan.wait_told("workflows/completed");
    assert!(!dir.join("one").exists() && !dir.join("two").exists());
    let again = json!({ "runId": run, "agentId": "agent-1" });
    plan.call("workflows/restartAgent", again.clone());
    plan.wait_told("workflows/completed");
    assert!(!dir.join("one").exists());
    // The same by a client that brought nothing along.
    let mut boss = Peer::to(&daemon);
    boss.call("workflows/restartAgent", again);
    boss.wait_told("workflows/completed");
    assert!(dir.join("one").exists());
}

#[test]
fn a_mode_of_all_is_on_the_record_with_what_it_settled() {
    let mut daemon = TestDaemon::start();
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let mut boss = Peer::to(&daemon);
    let mut turns: Vec<String> = ["one", "two"]
        .iter()
        .map(|name| {
            let thread = boss.thread(&dir);
            let turn = boss.turn(&thread, &writes(name));
            boss.wait_told("session/approvalRequested");
            turn
        })
        .collect();
    turns.sort();
    let mut other = Peer::to(&daemon);
    let set = json!({ "mode": "accept_all", "reason": "lunch" });
    assert_eq!(boss.call("session/set_mode", set)["mode"], "accept_all");
    assert_eq!(other.wait_told("session/modeChanged")["mode"], "accept_all");
    let mut over = Vec::new();
    while over.len() < turns.len() {
        let told = other.wait_told("turn/completed");
        over.push(told["turn"]["id"].as_str().unwrap().to_owned());
    }
    over.sort();
    assert_eq!(over, turns);
    let log = daemon.rookery(&["events", "--since", "0"]).success();
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let changes: Vec<Value> = events.filter(|event| event["type"] == "mode.changed").collect();
    assert_eq!(changes.len(), 1, "{log}");
    assert_eq!((&changes[0]["settled"], &changes[0]["reason"]), (&json!(2), &json!("lunch")));
    // One that allows more than asking ends with the daemon.
    daemon.kill9();
    daemon.restart();
    assert_eq!(mode(&mut Peer::to(&daemon)), "default");
}

#[test]
fn an_agents_program_cannot_bring_a_mode() {
    let daemon = TestDaemon::start();
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let mut boss = Peer::to(&daemon);
    let (agent, victim) = (boss.thread(&dir), boss.thread(&dir));
    let start = json!({
        "jsonrpc": "2.0", "id": 1, "method": "turn/start",
        "params": { "threadId": victim, "prompt": writes("stolen") },
    });
    fs::write(dir.join("request"), format!("{start}\n")).unwrap();
    let server = rookery_testkit::rookery_binary();
    // It stays until it is answered, or cannot be.
    let command = format!(
        "mkfifo in; {} app-server --yolo < in > out & exec 3> in; cat request >&3; \
         timeout 20 sh -c 'until grep -q id out; do sleep 0.1; done'; true",
        server.display()
    );
    let steps = json!([{ "tool": "shell", "args": { "command": command } }, { "text": "ok" }]);
    let turn = boss.turn(&agent, &script(&steps));
    let asked = boss.wait_told("session/approvalRequested");
    let answer = json!({ "approvalId": asked["approvalId"], "approved": true });
    assert_eq!(boss.call("session/resolve_approval", answer)["resolved"], true);
    boss.until_over(&turn);
    assert!(!dir.join("stolen").exists());
    assert_eq!(mode(&mut boss), "default");
    let turns = boss.stored(&victim)["turns"].as_array().map_or(0, Vec::len);
    assert_eq!(turns, 0, "{}", fs::read_to_string(dir.join("out")).unwrap_or_default());
}
