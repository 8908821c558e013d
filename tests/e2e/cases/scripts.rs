//! What scripts rely on: output and exit codes, waits for several terminals, and commands that fail
//! when they did nothing.

use std::fs;

use rookery_native::wire::SessionCreate;
use rookery_testkit::{PATIENCE, TestDaemon, wait_until};
use rookery_wire::Call as _;
use serde_json::{Value, json};

use crate::roost_link::Link;

fn open(daemon: &TestDaemon, script: &str) -> String {
    daemon.rookery(&["open", "--", "sh", "-c", script]).success().trim().to_owned()
}

#[test]
fn run_gives_output_and_exit_code_and_leaves_no_terminal() {
    let daemon = TestDaemon::start();
    let script = "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo line $i; done; exit 7";
    let ran = daemon.rookery(&["run", "--", "sh", "-c", script]);
    assert_eq!(ran.status.code(), Some(7));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[99]), (100, "line 1", "line 100"), "{}", ran.stdout);
    assert_eq!(daemon.client().status()["terminals"]["exited"], 0);
    let killed = daemon.rookery(&["run", "--keep", "--json", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.status.code(), Some(137));
    let told: Value = serde_json::from_str(&killed.stdout).unwrap();
    assert_eq!((&told["exit"], &told["exitCode"]), (&json!({"signal": 9}), &json!(137)));
    assert_eq!(daemon.client().status()["terminals"]["exited"], 1, "it is kept");
    let slow = daemon.rookery(&["run", "--timeout", "0.2", "--", "cat"]);
    assert_eq!(slow.status.code(), Some(124));
    assert!(slow.stderr.contains("rookery attach"), "{}", slow.stderr);
    assert_eq!(daemon.client().status()["terminals"]["running"], 1, "it goes on");
    let missing = daemon.rookery(&["run", "--", "/no/such/program"]).failure(1);
    assert!(missing.contains("/no/such/program"), "{missing}");
}

#[test]
fn several_terminals_are_waited_for() {
    let daemon = TestDaemon::start();
    let first = open(&daemon, "read l; echo one; exec cat");
    let second = open(&daemon, "echo early; seq 500; exec cat");
    let any = daemon.rookery(&["wait", &first, &second, "--any", "--transcript", "early"]);
    assert_eq!(any.success().trim(), second, "although it scrolled off");
    daemon.rookery(&["send", &first, "--enter", ""]).success();
    let both = ["wait", &first, &second, "--regex", "one|500", "--json"];
    let both = daemon.rookery(&both).json();
    let ids: Vec<String> =
        both.as_array().unwrap().iter().map(|one| one["terminal"].to_string()).collect();
    assert_eq!(ids, [first.as_str(), second.as_str()]);
    let timed_out = daemon.rookery(&["wait", &first, &second, "--text", "never", "-T", "0.1"]);
    timed_out.failure(124);
    let why = daemon.rookery(&["wait", &first, "--regex", "("]).failure(1);
    assert!(why.contains("unclosed group"), "{why}");
}

#[test]
fn what_needs_input_is_waited_for() {
    let daemon = TestDaemon::start();
    let id = open(&daemon, "read l; printf '\\033]9;look here\\007'; exec cat");
    let early = daemon.rookery(&["wait", &id, "--needs-input", "-T", "0.1"]);
    early.failure(124);
    let mut roost = Link::to(daemon.home());
    roost.call("tab.set_state", json!({ "tab_id": id, "state": "needs_input" }));
    let told = daemon.rookery(&["wait", &id, "--needs-input", "--json"]).json();
    assert_eq!(told["matched"], "needsInput");
    let ended = open(&daemon, "exit 0");
    daemon.rookery(&["wait", &ended, "--exit"]).success();
    daemon.rookery(&["wait", &ended, "--needs-input"]).failure(3);
}

#[test]
fn what_has_ended_is_reported_and_swept_up() {
    let daemon = TestDaemon::start();
    let id = open(&daemon, "exit 0");
    daemon.rookery(&["wait", &id, "--exit"]).success();
    wait_until("its end is known", PATIENCE, || {
        daemon.client().status()["terminals"]["exited"] == 1
    });
    for command in [
        &["send", &id, "--enter", "x"][..],
        &["send", &id, "--key", "enter"],
        &["send", &id, "--paste", "x"],
        &["kill", &id],
        &["kill", &id, "--signal", "TERM"],
    ] {
        let said = daemon.rookery(command).failure(3);
        assert!(said.contains("has ended"), "{command:?}: {said}");
    }
    let living = open(&daemon, "exec cat");
    let closed = daemon.rookery(&["close", "--exited", "--json"]).json();
    assert_eq!(closed.as_array().unwrap().len(), 1, "{closed}");
    let left = daemon.rookery(&["ls", "--json"]).json();
    assert_eq!(left["terminals"][0]["id"].to_string(), living);
}

#[test]
fn what_was_asked_for_is_no_error_in_the_inbox() {
    let daemon = TestDaemon::start();
    let killed = open(&daemon, "exec cat");
    daemon.rookery(&["kill", &killed]).success();
    let signalled = open(&daemon, "exec cat");
    daemon.rookery(&["kill", &signalled, "--signal", "TERM"]).success();
    let failed = open(&daemon, "exit 3");
    let also = open(&daemon, "exit 4");
    for id in [&killed, &signalled, &failed, &also] {
        daemon.rookery(&["wait", id, "--exit"]).success();
    }
    wait_until("all ends are known", PATIENCE, || {
        daemon.client().status()["terminals"]["exited"] == 4
    });
    let queue = |daemon: &TestDaemon| {
        let inbox = daemon.rookery(&["inbox", "--json"]).json();
        let queue = inbox["queue"].as_array().unwrap().clone();
        let said = queue.iter().filter_map(|item| item["subtitle"].as_str());
        let mut said: Vec<String> = said.map(str::to_owned).collect();
        said.sort();
        said
    };
    assert_eq!(queue(&daemon), ["Process exited with code 3", "Process exited with code 4"]);
    daemon.rookery(&["close", &failed]).success();
    assert_eq!(queue(&daemon), ["Process exited with code 4"]);
    daemon.rookery(&["inbox", "resolve", "--all"]).success();
    assert_eq!(queue(&daemon), Vec::<String>::new());
}

#[test]
fn an_unknown_agent_is_refused_before_anything_is_made() {
    let daemon = TestDaemon::start();
    let create = json!({ "title": "x", "tool": "clawd" });
    let said = daemon.client().try_call(SessionCreate::METHOD, create).unwrap_err();
    assert!(said.to_string().contains("known are"), "{said}");
    assert_eq!(daemon.client().status()["terminals"]["running"], 0);
}

#[test]
fn a_broken_config_is_told_wherever_the_daemon_is_seen() {
    let mut daemon = TestDaemon::start();
    let config = daemon.home().join("config/rookery/config.toml");
    let found = daemon.rookery(&["doctor", "--json"]).stdout;
    assert!(found.contains("config.toml"), "{found}");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "[policy_modes]\ndenny = [\"shell\"]\n[terminal]\nscrolback = 5\n").unwrap();
    let restarted = daemon.rookery(&["restart"]).success();
    daemon.has_ended();
    let status = daemon.rookery(&["status"]).success();
    for text in [restarted, status] {
        assert!(text.contains("did you mean `deny`") && text.contains("needs approval"), "{text}");
        assert!(text.contains("did you mean `scrollback`"), "{text}");
    }
    daemon.rookery(&["down", "--all"]).success();
}
