//! Child agents over the real socket, with a daemon that is killed while they work.

use rookery_testkit::TestDaemon;
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};

/// A prompt that makes an agent start a child with this script, and say `so` to its answer.
fn delegating(steps: &Value) -> String {
    let args = json!({ "description": "a part of it", "prompt": script(steps) });
    script(&json!([{ "tool": "task", "args": args, "id": "part" }, { "text": "so" }]))
}

fn traces(peer: &mut Peer, thread: &str, turn: &str) -> Vec<Value> {
    let params = json!({ "threadId": thread, "turnId": turn });
    let mut listed = peer.call("turn/subagentTraces/list", params);
    listed["traces"].as_array_mut().map(std::mem::take).unwrap_or_default()
}

fn last_turn(peer: &mut Peer, thread: &str) -> Value {
    peer.stored(thread)["turns"].as_array().unwrap().last().unwrap().clone()
}

#[test]
fn a_child_that_waits_outlives_a_kill_and_its_parent_goes_on_with_its_answer() {
    let mut daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let thread = peer.thread(daemon.home().path());
    let write = json!({ "path": "made", "content": "x" });
    let steps = json!([{ "tool": "write_file", "args": write }, { "text": "written" }]);
    let turn = peer.turn(&thread, &delegating(&steps));
    let asked = peer.wait_told("session/approvalRequested");
    assert_eq!(asked["parents"][0]["threadId"], *thread);
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    assert_eq!(traces(&mut peer, &thread, &turn)[0]["status"], "waiting_for_approval");
    let answer = json!({ "approvalId": asked["approvalId"], "approved": true });
    peer.call("session/resolve_approval", answer);
    peer.until_over(&turn);
    assert!(daemon.home().join("made").exists());
    let ended = last_turn(&mut peer, &thread);
    assert_eq!(ended["status"], "completed");
    let items = ended["items"].as_array().unwrap();
    let task = items.iter().find(|item| item["toolName"] == "task").unwrap();
    assert_eq!((&task["status"], &task["output"]), (&json!("completed"), &json!("written")));
    let trace = &traces(&mut peer, &thread, &turn)[0];
    assert_eq!(
        (&trace["status"], &trace["exitReason"]),
        (&json!("completed"), &json!("completed"))
    );
}

#[test]
fn a_child_that_worked_when_the_daemon_was_killed_has_failed_with_its_parent() {
    let mut daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let thread = peer.thread(daemon.home().path());
    let turn = peer.turn(&thread, &delegating(&json!([{ "text": "so far" }, { "hang": true }])));
    peer.wait_told("item/agentMessage/delta");
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    let ended = last_turn(&mut peer, &thread);
    assert_eq!(ended["status"], "failed");
    assert_eq!(ended["error"]["kind"], "runtime_restart");
    let trace = traces(&mut peer, &thread, &turn).remove(0);
    assert_eq!(
        (&trace["status"], &trace["errorSummary"]),
        (&json!("failed"), &json!("runtime_restart"))
    );
    let child = trace["childThreadId"].as_str().unwrap();
    assert_eq!(peer.stored(child)["status"]["type"], "idle");
    assert_eq!(last_turn(&mut peer, child)["status"], "failed");
    // The next turn begins as usual.
    let turn = peer.turn(&thread, &delegating(&json!([{ "text": "again" }])));
    peer.until_over(&turn);
    assert_eq!(traces(&mut peer, &thread, &turn)[0]["status"], "completed");
}
