//! Stopping, upgrading, damage: what stays and what goes.

use std::fs;
use std::path::Path;

use rookery_testkit::{Home, PATIENCE, TestDaemon, rookery_binary, wait_until};
use serde_json::json;

/// Sockets below a directory.
fn sockets(dir: &Path) -> Vec<String> {
    use std::os::unix::fs::FileTypeExt as _;
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(sockets(&entry.path()));
        } else if kind.is_socket() {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

#[test]
fn down_all_leaves_nothing_behind() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open(json!({ "argv": ["/bin/sh"] }));
    client.write(id, "nohup sleep 1001 >/dev/null 2>&1 &\n");
    client.write(
        id,
        "setsid sleep 1002 &\n(setsid sh -c 'trap \"\" HUP TERM; sleep 1003; true' &)\n",
    );
    client.write(id, "echo all $((40+2))\n");
    client.wait_text(id, "all 42");
    let stubborn = client.open_sh("trap '' HUP TERM INT; echo ready; while :; do sleep 1004; done");
    client.wait_text(stubborn, "ready");
    wait_until("all sleepers run", PATIENCE, || {
        let processes = daemon.home().processes();
        let runs = |name: &str| processes.iter().any(|process| process.command == name);
        ["sleep 1001", "sleep 1002", "sleep 1003", "sleep 1004"].into_iter().all(runs)
    });
    daemon.rookery(&["down", "--all"]).success();
    assert!(daemon.wait_ended().success());
    daemon.home().assert_no_processes_left();
    assert_eq!(sockets(&daemon.home().join("run")), Vec::<String>::new());
    daemon.restart();
    assert!(daemon.client().terminals().is_empty());
}

#[test]
fn down_keeps_shells_and_the_next_daemon_finds_them() {
    let home = Home::new();
    home.rookery(&["up"]).success();
    let id = home.rookery(&["open", "--", "/bin/sh", "-c", "echo kept; exec cat"]).success();
    let id = id.trim();
    home.rookery(&["wait", id, "--text", "kept"]).success();
    let before = home.rookery(&["ls", "--json"]).json();
    home.rookery(&["down"]).success();
    assert!(!home.join("run/rookery/rookery.sock").exists());
    assert_eq!(home.rookery(&["ls"]).status.code(), Some(1));
    home.rookery(&["up"]).success();
    let after = home.rookery(&["ls", "--json"]).json();
    assert_eq!(before["terminals"], after["terminals"]);
    home.rookery(&["send", id, "--enter", "and typed"]).success();
    home.rookery(&["wait", id, "--regex", "and typed\\s+and typed"]).success();
    home.rookery(&["down", "--all"]).success();
    home.assert_no_processes_left();
}

#[test]
fn down_all_without_a_daemon_ends_what_a_killed_one_left() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo ready; exec cat");
    client.wait_text(id, "ready");
    daemon.kill9();
    daemon.rookery(&["down", "--all"]).success();
    daemon.home().assert_no_processes_left();
}

#[test]
fn a_signal_stops_the_daemon_cleanly_and_keeps_terminals() {
    let mut daemon = TestDaemon::start();
    let id = daemon.client().open_sh("echo kept; exec cat");
    let pid = daemon.client().pid(id);
    let process = rustix::process::Pid::from_raw(daemon.pid().try_into().unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    assert!(daemon.wait_ended().success());
    daemon.restart();
    assert_eq!(daemon.client().pid(id), pid);
    let events = daemon.client().events(0);
    assert!(events.iter().any(|event| event["type"] == "daemon.stopping"), "{events:?}");
}

#[test]
fn restart_from_another_executable_keeps_every_terminal() {
    let home = Home::new();
    home.rookery(&["up"]).success();
    for number in 0..3 {
        let script = format!("echo number {number}; exec cat");
        home.rookery(&["open", "--", "/bin/sh", "-c", &script]).success();
    }
    let before = home.rookery(&["ls", "--json"]).json();
    let newer = home.join("newer-rookery");
    fs::copy(rookery_binary(), &newer).unwrap();
    let status = home.run(&newer, &["restart", "--json"]).json();
    let exe = fs::read_link(format!("/proc/{}/exe", status["pid"])).unwrap();
    assert_eq!(exe, newer);
    let after = home.rookery(&["ls", "--json"]).json();
    assert_eq!(before["terminals"], after["terminals"]);
    assert_eq!(status["terminals"]["running"], 3);
    let id = after["terminals"][0]["id"].to_string();
    home.rookery(&["send", &id, "-e", "upgraded"]).success();
    home.rookery(&["wait", &id, "--regex", "upgraded\\s+upgraded"]).success();
}

#[test]
fn a_damaged_store_stops_no_daemon() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo kept; exec cat");
    client.wait_text(id, "kept");
    let pid = client.pid(id);
    daemon.kill9();
    let state = daemon.home().join("state/rookery");
    let database = state.join("rookery.db");
    assert!(database.is_file());
    for entry in fs::read_dir(&state).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("rookery.db") {
            fs::write(&path, "this is no database ".repeat(2000)).unwrap();
        }
    }
    daemon.restart();
    let client = daemon.client();
    let status = client.status();
    assert!(status["damage"].is_string(), "{status}");
    let said = daemon.rookery(&["status"]).success();
    assert!(said.contains("damage"), "{said}");
    assert_eq!(client.pid(id), pid);
    client.write(id, "after the damage\n");
    client.wait_text(id, "after the damage\nafter the damage");
    let next = client.open_sh("exec cat");
    assert!(next > id, "ids are never used twice");
    daemon.kill9();
    daemon.restart();
    let client = daemon.client();
    assert_eq!(client.status().get("damage"), None);
    assert_eq!(client.terminals().len(), 2);
}
