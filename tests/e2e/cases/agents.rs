//! Agents are recognised by their programs, however they were started, and say what they do.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rookery_testkit::{Home, PATIENCE, TestDaemon, eventually, wait_until};
use serde_json::{Value, json};

use crate::roost_link::Link;

/// Shows one screen after the other, at each key the next, and ends after the last.
const AGENT: &str = r#"#!/bin/sh
stty -icanon -echo min 1
for screen in "$HOME"/screens/*; do
  printf '\033[2J\033[H'
  cat "$screen"
  dd bs=1 count=1 >/dev/null 2>&1
done
"#;

/// A daemon whose `PATH` has an agent of this name, which shows these screens of Claude Code.
fn daemon_with(agent: &str, screens: &[&str]) -> TestDaemon {
    let home = Home::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/claude-code/fixtures");
    for dir in ["bin", "screens"] {
        fs::create_dir_all(home.join(dir)).unwrap();
    }
    for (at, screen) in screens.iter().enumerate() {
        let to = home.join("screens").join(at.to_string());
        fs::copy(fixtures.join(format!("{screen}.txt")), to).unwrap();
    }
    let program = home.join("bin").join(agent);
    fs::write(&program, AGENT).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    TestDaemon::start_in(home)
}

/// Opens a terminal as a user does, and gives its id.
fn open(daemon: &TestDaemon, argv: &[&str]) -> u64 {
    let words = [&["open", "--json", "--"], argv].concat();
    daemon.rookery(&words).json()["id"].as_u64().unwrap()
}

fn listed(daemon: &TestDaemon, id: u64) -> Value {
    let all = daemon.rookery(&["ls", "--json"]).json();
    all["terminals"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap().clone()
}

fn wait_agent(daemon: &TestDaemon, id: u64, agent: Value) {
    wait_until(&format!("the agent is {agent}"), PATIENCE, || listed(daemon, id)["agent"] == agent);
}

#[test]
fn an_agent_that_is_a_terminals_program_is_recognised_and_its_login_is_in_the_inbox() {
    let daemon = daemon_with("claude", &["real_login_choice", "ready", "permission_bash"]);
    let program = daemon.home().join("bin/claude").display().to_string();
    let id = open(&daemon, &[&program]);
    wait_agent(&daemon, id, json!({ "kind": "claude", "state": "login" }));
    let mut roost = Link::to(daemon.home());
    let tabs = roost.call("tab.list", json!({}))["projects"][0]["tabs"].clone();
    assert_eq!(
        (&tabs[0]["state"], &tabs[0]["agent_lifecycle"]),
        (&json!("needs_input"), &json!("waiting"))
    );
    assert_eq!(tabs[0]["hook_active"], false, "nothing speaks for it: {tabs}");
    let inbox = eventually("an item for the login", PATIENCE, || {
        let inbox = daemon.rookery(&["inbox"]).success();
        inbox.contains("Login needed").then_some(inbox)
    });
    assert_eq!(inbox.matches("Login needed").count(), 1, "{inbox}");
    let shown = daemon.rookery(&["ls"]).success();
    assert!(shown.contains("login") && shown.contains("claude"), "{shown}");

    let client = daemon.client();
    client.write(id, "x");
    wait_agent(&daemon, id, json!({ "kind": "claude", "state": "idle" }));
    client.write(id, "x");
    wait_agent(&daemon, id, json!({ "kind": "claude", "state": "waiting" }));
    client.write(id, "x");
    wait_until("it has ended", PATIENCE, || listed(&daemon, id)["state"] == "exited");
    assert_eq!(listed(&daemon, id)["agent"], Value::Null);
}

#[test]
fn an_agent_below_a_script_comes_and_goes() {
    let mut daemon = daemon_with("codex", &["blank"]);
    let script = "echo before; \"$HOME/bin/codex\"; echo after; exec cat";
    let client = daemon.client();
    let id = open(&daemon, &["sh", "-c", script]);
    wait_agent(&daemon, id, json!({ "kind": "codex", "state": "running" }));
    daemon.kill9();
    daemon.restart();
    wait_agent(&daemon, id, json!({ "kind": "codex", "state": "running" }));
    drop(client);
    daemon.client().write(id, "x");
    daemon.client().wait_text(id, "after");
    wait_agent(&daemon, id, Value::Null);
    let live = daemon.client().call("adapter.live", json!({}));
    wait_until("its adapter is gone", PATIENCE, || {
        let live = daemon.client().call("adapter.live", json!({}));
        live["adapters"].as_array().is_none_or(Vec::is_empty)
    });
    drop(live);
}

#[test]
fn other_programs_are_no_agents() {
    let daemon = daemon_with("clawed", &["real_login_choice"]);
    let program = daemon.home().join("bin/clawed").display().to_string();
    let id = open(&daemon, &[&program]);
    daemon.client().wait_text(id, "login");
    // Another terminal, opened later, is recognised; this one was looked at before.
    let agent = daemon.home().join("bin/opencode");
    fs::copy(&program, &agent).unwrap();
    let second = open(&daemon, &[&agent.display().to_string()]);
    wait_until("the other is recognised", PATIENCE, || {
        listed(&daemon, second)["agent"]["kind"] == "opencode"
    });
    assert_eq!(listed(&daemon, id)["agent"], Value::Null);
}
