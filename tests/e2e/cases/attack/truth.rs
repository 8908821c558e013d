//! The record says what happened: a tool that was approved and was at work when the daemon died was
//! neither refused, nor is it known to have failed.

use std::fs;

use rookery_testkit::{PATIENCE, TestDaemon, wait_until};
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};

#[test]
fn a_tool_that_ran_when_the_daemon_died_has_an_unknown_outcome_and_stays_approved() {
    let mut daemon = TestDaemon::start();
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let mut roder = Peer::to(&daemon);
    let thread = roder.thread(&dir);
    let command = json!({ "command": "touch begun && sleep 100000" });
    let steps = script(&json!([{ "tool": "shell", "args": command }, { "text": "done" }]));
    roder.turn(&thread, &steps);
    let asked = roder.wait_told("session/approvalRequested");
    let approve = json!({ "approvalId": asked["approvalId"], "approved": true });
    assert_eq!(roder.call("session/resolve_approval", approve)["resolved"], true);
    wait_until("the tool runs", PATIENCE, || dir.join("begun").exists());
    daemon.kill9();
    daemon.restart();
    let mut roder = Peer::to(&daemon);
    let stored = roder.stored(&thread);
    let turn = stored["turns"].as_array().unwrap().last().unwrap();
    assert_eq!(turn["status"], "failed", "{turn}");
    assert_eq!(turn["error"]["kind"], "runtime_restart", "{turn}");
    let items = turn["items"].as_array().unwrap();
    let tool = items.iter().rfind(|item| item.to_string().contains("sleep 100000")).unwrap();
    assert!(tool.to_string().contains("outcome is unknown"), "{tool}");
    let audit = daemon.rookery(&["audit", "--json"]).success();
    let decisions: Vec<Value> =
        audit.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = decisions.iter().rfind(|one| one["tool"] == "shell").unwrap();
    assert_eq!(last["verdict"], "approved", "{last}");
}
