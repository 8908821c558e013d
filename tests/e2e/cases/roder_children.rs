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

/// Steps that ask before they write a file, and say so.
fn writes(path: &str) -> Value {
    let write = json!({ "path": path, "content": "x" });
    json!([{ "tool": "write_file", "args": write }, { "text": "written" }])
}

fn approve(peer: &mut Peer, asked: &Value) -> bool {
    let answer = json!({ "approvalId": asked["approvalId"], "approved": true });
    peer.call("session/resolve_approval", answer)["resolved"] == true
}

fn pending(peer: &mut Peer) -> Value {
    peer.call("session/get", json!({}))["pendingApprovals"].take()
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

#[test]
fn a_child_of_a_task_that_waits_ends_with_a_kill_and_does_nothing_later() {
    let mut daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let input = json!({ "description": "write", "prompt": script(&writes("made")) });
    let params = json!({
        "executorId": "subagent", "input": input, "lifetime": "server",
        "workspace": daemon.home().path(),
    });
    let task = peer.call("tasks/submit", params)["task"]["task_id"].take();
    let asked = peer.wait_told("session/approvalRequested");
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    let task = peer.call("tasks/get", json!({ "taskId": task }))["task"].take();
    assert_eq!(task["state"], "failed", "{task}");
    assert!(task["error"].as_str().unwrap().contains("daemon restarted"), "{task}");
    assert_eq!(pending(&mut peer), json!([]));
    assert!(!approve(&mut peer, &asked));
    let child = asked["threadId"].as_str().unwrap();
    assert_eq!(peer.stored(child)["status"]["type"], "idle");
    let ended = last_turn(&mut peer, child);
    assert_eq!(ended["error"]["kind"], "runtime_restart", "{ended}");
    assert!(!daemon.home().join("made").exists());
    // The thread goes on as any other does, and what waits in it then waits on.
    peer.turn(child, &script(&writes("later")));
    let asked = peer.wait_told("session/approvalRequested");
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    assert_eq!(pending(&mut peer)[0]["approvalId"], asked["approvalId"]);
    assert!(approve(&mut peer, &asked));
    peer.until_over(asked["turnId"].as_str().unwrap());
    assert!(daemon.home().join("later").exists() && !daemon.home().join("made").exists());
}

#[test]
fn an_agent_of_a_run_that_waits_ends_with_a_kill_and_is_asked_once_more_when_it_goes_on() {
    let mut daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let thread = peer.thread(daemon.home().path());
    let turn = peer.turn(&thread, &script(&json!([{ "text": "planned" }])));
    peer.until_over(&turn);
    let text = format!(
        "export const meta = {{ name: 'test', description: 'd' }}\nreturn await agent({})",
        json!(script(&writes("made")))
    );
    let plan = json!({ "prompt": "p", "script": text, "threadId": thread, "turnId": turn });
    let run = peer.call("workflows/plan", plan)["run"]["runId"].take();
    peer.call("workflows/approve", json!({ "runId": run, "decision": "runOnce" }));
    let is_agents = |name: &str, told: &Value| {
        name == "session/approvalRequested" && told["toolName"] == "write_file"
    };
    let (_, asked) = peer.until(is_agents).pop().unwrap();
    assert_eq!(asked["parents"][0]["threadId"], *thread);
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    assert_eq!(pending(&mut peer), json!([]));
    assert!(!approve(&mut peer, &asked));
    let lost = traces(&mut peer, &thread, &turn);
    assert_eq!(
        (lost.len(), &lost[0]["status"], &lost[0]["errorSummary"]),
        (1, &json!("failed"), &json!("runtime_restart"))
    );
    assert!(!daemon.home().join("made").exists());
    peer.call("workflows/resume", json!({ "runId": run }));
    let (_, again) = peer.until(is_agents).pop().unwrap();
    assert_ne!(again["threadId"], asked["threadId"]);
    assert!(approve(&mut peer, &again));
    let (_, done) = peer.until(|name, _| name == "workflows/agentCompleted").pop().unwrap();
    assert_eq!(done["agent"]["threadId"], again["threadId"], "{done}");
    assert!(daemon.home().join("made").exists());
    let all = traces(&mut peer, &thread, &turn);
    assert_eq!((all.len(), &all[1]["status"]), (2, &json!("completed")));
}
