//! The executable is gone, descriptors are used up, the keeper is stopped: what is said, and what goes on.

use std::fs;
use std::path::PathBuf;

use rookery_native::wire::{GetStatus, TerminalOpen};
use rookery_testkit::{
    Caller, Finished, Home, PATIENCE, TestDaemon, children_of, eventually, is_alive,
    rookery_binary, wait_until,
};
use rookery_wire::Call as _;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

fn runs(pid: &serde_json::Value) -> String {
    fs::read_link(format!("/proc/{pid}/exe")).unwrap().display().to_string()
}

#[test]
fn the_executable_may_be_removed_or_replaced_while_we_run() {
    let home = Home::new();
    let program = home.join("installed");
    fs::copy(rookery_binary(), &program).unwrap();
    home.run(&program, &["up"]).success();
    fs::remove_file(&program).unwrap();
    // Nothing is there to be started, and yet the first terminal gets its keeper.
    home.rookery(&["open", "--", "/bin/cat"]).success();
    let before = home.rookery(&["ls", "--json"]).json();
    // What is put in its place is not what we are: it must not be started by the old daemon.
    fs::write(&program, "#!/bin/false\n").unwrap();
    let keeper = home.rookery(&["status", "--json"]).json()["keeper"]["pid"].as_u64().unwrap();
    signal(u32::try_from(keeper).unwrap(), Signal::KILL);
    wait_until("there is another keeper", PATIENCE, || {
        let now = home.rookery(&["status", "--json"]).json()["keeper"]["pid"].as_u64();
        now.is_some_and(|pid| pid != keeper)
    });
    fs::remove_file(&program).unwrap();
    fs::copy(rookery_binary(), &program).unwrap();
    let after = home.run(&program, &["restart", "--json"]).json();
    assert_eq!(runs(&after["pid"]), program.display().to_string());
    let pid = |listed: &serde_json::Value| listed["terminals"][0]["pid"].clone();
    assert_eq!(pid(&home.rookery(&["ls", "--json"]).json()), pid(&before));
    home.rookery(&["down", "--all"]).success();
    home.assert_no_processes_left();
}

/// Starts a daemon in the background that may open few files.
fn up_with(home: &Home, soft: u32, hard: u32) {
    let mut command = home.command("sh");
    let script = format!("ulimit -Sn {soft}; ulimit -Hn {hard}; exec \"$0\" up");
    command.args(["-c", &script]).arg(rookery_binary());
    Finished::of(command).success();
}

#[test]
fn children_get_the_limits_that_the_daemon_came_with() {
    let home = Home::new();
    up_with(&home, 200, 300);
    let id = home.rookery(&["open", "--", "/bin/sh", "-c", "ulimit -Sn; ulimit -Hn; exec cat"]);
    let id = id.success();
    home.rookery(&["wait", id.trim(), "--regex", "200\\s+300"]).success();
    home.rookery(&["down", "--all"]).success();
}

fn socket(home: &Home) -> PathBuf {
    home.join("run/rookery/rookery.sock")
}

#[test]
fn at_the_limit_of_open_files_clients_are_answered_and_nothing_is_left_of_what_failed() {
    let home = Home::new();
    fs::write(home.join("limit"), "").unwrap();
    up_with(&home, 160, 160);
    let client = Caller::connect(&socket(&home)).unwrap();
    let cat =
        json!({ "argv": ["/bin/sh", "-c", "trap '' HUP; exec cat limit -"], "cwd": home.path() });
    let mut opened = 0;
    let error = loop {
        match client.try_call(TerminalOpen::METHOD, cat.clone()) {
            Ok(_) => opened += 1,
            Err(error) => break error.to_string(),
        }
        assert!(opened < 160, "the limit was never reached");
    };
    assert!(error.contains("descriptors left") || error.contains("Too many open files"), "{error}");
    let living = || home.processes().iter().filter(|one| one.command == "cat limit -").count();
    wait_until("only what was opened runs", PATIENCE, || living() == opened);
    // New clients are served all the same, one after the other and several at once.
    let several: Vec<_> = (0..8).map(|_| Caller::connect(&socket(&home)).unwrap()).collect();
    for client in &several {
        assert_eq!(client.status()["terminals"]["running"], opened);
    }
    // Far too many are turned away with a word, and those who were there go on.
    let crowd: Vec<_> = (0..60).map(|_| Caller::connect(&socket(&home)).unwrap()).collect();
    let told = crowd.iter().filter_map(|one| one.try_call(GetStatus::METHOD, json!({})).err());
    let told: Vec<_> = told.map(|error| error.to_string()).collect();
    assert!(!told.is_empty() && told.iter().all(|one| one.contains("open files")), "{told:?}");
    drop(crowd);
    assert_eq!(several[0].status()["terminals"]["running"], opened);
    wait_until("there is room again", PATIENCE, || home.rookery(&["status"]).status.success());
    home.rookery(&["down", "--all"]).success();
    home.assert_no_processes_left();
}

#[test]
fn a_stopped_keeper_is_named_instead_of_waited_for_in_silence() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo kept; exec cat");
    client.wait_text(id, "kept");
    let (pid, keeper) = (client.pid(id), daemon.keeper_pid());
    daemon.kill9();
    signal(keeper, Signal::STOP);
    let said = daemon.rookery(&["up"]).failure(1);
    assert!(said.contains(&format!("kill -CONT {keeper}")), "{said}");
    signal(keeper, Signal::CONT);
    assert!(is_alive(pid));
    daemon.restart();
    assert_eq!(daemon.client().pid(id), pid);
}

#[test]
fn a_keeper_that_is_stopped_meanwhile_fails_what_needs_it_and_leaves_nothing() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo kept; exec cat");
    client.wait_text(id, "kept");
    let keeper = daemon.keeper_pid();
    let late = daemon.home().join("late");
    signal(keeper, Signal::STOP);
    let script = format!("trap '' HUP; touch {}; while :; do sleep 1; done", late.display());
    for _ in 0..3 {
        let said = daemon.rookery(&["open", "--", "sh", "-c", &script]).failure(1);
        assert!(said.contains(&format!("kill -CONT {keeper}")), "{said}");
    }
    // What needs no keeper goes on.
    client.write(id, "still here\n");
    client.wait_text(id, "still here");
    signal(keeper, Signal::CONT);
    let next = eventually("the keeper is at work", PATIENCE, || {
        let opened = client.try_call(TerminalOpen::METHOD, json!({"argv": ["cat"]})).ok()?;
        Some(opened["id"].clone())
    });
    assert!(!next.is_null());
    wait_until("what started too late is gone", PATIENCE, || children_of(keeper).len() == 2);
    assert_eq!(client.status()["terminals"]["running"], 2);
}
