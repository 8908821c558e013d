//! Closing terminals: nothing is left behind unseen, and many at once cost few threads.

use std::fs;

use rookery_native::wire::TerminalClose;
use rookery_testkit::{PATIENCE, TestDaemon, children_of, eventually, is_alive, wait_until};
use rookery_wire::Call as _;
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};

/// A shell that leaves a process behind which left its session, and writes its id into a file.
fn leave(file: &std::path::Path, how: &str) -> String {
    let file = file.display();
    format!("{how} sh -c 'echo $$ >{file}.new; mv {file}.new {file}; exec sleep 1000' & ")
}

fn written_pid(file: &std::path::Path) -> u32 {
    eventually("a process tells its id", PATIENCE, || {
        fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok())
    })
}

/// The same once it is what it becomes: before that, what it runs is there as well.
fn settled_pid(file: &std::path::Path) -> u32 {
    let pid = written_pid(file);
    wait_until("it sleeps", PATIENCE, || {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n")
    });
    pid
}

#[test]
fn attack_what_left_a_closed_terminal_is_named_and_ends_if_wanted() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let other_file = daemon.home().join("other");
    let other = client.open_sh(&(leave(&other_file, "setsid") + "cat"));
    let bystander = settled_pid(&other_file);
    for (number, how) in ["setsid", "env -i setsid", "nohup setsid -f"].into_iter().enumerate() {
        let file = daemon.home().join(&format!("left-{number}"));
        let id = client.open_sh(&(leave(&file, how) + "cat"));
        let pid = settled_pid(&file);
        let closed = client.call(TerminalClose::METHOD, json!({ "terminal": id }));
        let left = closed["left"].as_array().unwrap_or_else(|| panic!("{how}: {closed}"));
        assert_eq!(left.iter().map(|one| &one["pid"]).collect::<Vec<_>>(), [pid], "{how}");
        assert_eq!(left[0]["name"], "sleep");
        assert!(is_alive(pid), "it is the person's: {how}");
        let log = fs::read_to_string(daemon.log()).unwrap();
        assert!(log.contains(&format!("{pid} (sleep)")), "{log}");
        daemon.kill_process(pid);
    }
    for method in ["rookery/terminals/close", "rookery/terminals/kill"] {
        let file = daemon.home().join("ended");
        let _ = fs::remove_file(&file);
        let id = client.open_sh(&(leave(&file, "setsid") + "cat"));
        let pid = written_pid(&file);
        let ended = client.call(method, json!({ "terminal": id, "allProcesses": true }));
        assert_eq!(ended, json!({}), "nothing is left");
        wait_until("it ends with its terminal", PATIENCE, || !is_alive(pid));
    }
    assert!(is_alive(bystander), "another terminal's processes are left alone");
    let said = daemon.rookery(&["close", &other.to_string()]);
    assert!(said.stderr.contains(&format!("still running: {bystander} sleep")), "{said:?}");
    daemon.kill_process(bystander);
    let nothing = client.open_sh("cat");
    let closed = client.call(TerminalClose::METHOD, json!({ "terminal": nothing }));
    assert_eq!(closed, json!({}), "as before if nothing is left");
}

#[test]
fn attack_what_a_tool_left_ends_with_its_terminal() {
    let daemon = TestDaemon::start();
    let file = daemon.home().join("left");
    let mut peer = Peer::to(&daemon);
    let thread = peer.thread(daemon.home().path());
    peer.set_mode("bypass");
    // The command ends once what it leaves has told its id, and not before.
    let told = format!("until test -e {}; do sleep 0.01; done", file.display());
    let args = json!({ "command": leave(&file, "setsid") + &told });
    let steps = json!([{ "tool": "shell", "args": args }, { "text": "done" }]);
    let turn = peer.turn(&thread, &script(&steps));
    peer.until_over(&turn);
    let pid = written_pid(&file);
    wait_until("it ends with its terminal", PATIENCE, || !is_alive(pid));
}

/// What `/proc` shows of the daemon.
fn count(daemon: &TestDaemon, what: &str) -> usize {
    fs::read_dir(format!("/proc/{}/{what}", daemon.pid())).unwrap().count()
}

#[test]
fn attack_many_terminals_are_closed_with_few_threads_and_leave_nothing() {
    const MANY: usize = 150;
    let daemon = TestDaemon::start();
    let client = daemon.client();
    // The first one starts what stays: the keeper's threads.
    let first = client.open_sh("cat");
    let descriptors = count(&daemon, "fd");
    let ids: Vec<u64> = (0..MANY).map(|_| client.open_sh("exec cat")).collect();
    assert!(count(&daemon, "fd") >= descriptors + MANY);
    let threads = count(&daemon, "task");
    let close = |id: &u64| client.begin(TerminalClose::METHOD, json!({ "terminal": id }));
    let closing: Vec<_> = ids.iter().map(close).collect();
    let mut most = 0;
    wait_until("all are closed", PATIENCE, || {
        most = most.max(count(&daemon, "task"));
        client.terminals().len() == 1 && count(&daemon, "fd") <= descriptors + 4
    });
    for closed in closing {
        assert_eq!(closed.end().unwrap(), json!({}));
    }
    // One thread looks for all of them; a few more may serve the store and the sockets.
    assert!(most <= threads + 16, "{most} threads, {threads} before");
    let keeper = daemon.keeper_pid();
    wait_until("no child is left", PATIENCE, || children_of(keeper).len() <= 1);
    assert_eq!(client.terminals()[0]["id"], Value::from(first));
}
