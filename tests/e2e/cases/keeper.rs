//! The keeper dies: the daemon holds the terminals and hands them to a new keeper.

use rookery_native::wire::{Shutdown, TerminalClose};
use rookery_testkit::{PATIENCE, TestDaemon, is_alive, wait_until};
use rookery_wire::Call as _;
use serde_json::json;

#[test]
fn a_dead_keeper_costs_exit_codes_and_nothing_else() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let first = client.open_sh("echo before; exec cat");
    client.wait_text(first, "before");
    let (pid, keeper) = (client.pid(first), daemon.keeper_pid());
    daemon.kill_process(keeper);

    wait_until("the loss is noticed", PATIENCE, || client.terminal(first)["state"] == "lost");
    assert!(!daemon.has_ended());
    client.write(first, "after\n");
    client.wait_text(first, "after\nafter");
    wait_until("there is another keeper", PATIENCE, || {
        client.status()["keeper"]["pid"].as_u64().is_some_and(|pid| pid != u64::from(keeper))
    });
    let second = client.open_sh("echo new; exec cat");
    client.wait_text(second, "new");
    assert_eq!(client.terminal(second)["state"], "running");

    daemon.kill9();
    daemon.restart();
    let client = daemon.client();
    assert_eq!(client.pid(first), pid);
    assert!(is_alive(pid));
    client.write(first, "again\n");
    client.wait_text(first, "again\nagain");
    assert!(client.screen(first).contains("before"), "{}", client.screen(first));
    client.write(second, "both\n");
    client.wait_text(second, "both\nboth");

    client.call(TerminalClose::METHOD, json!({ "terminal": first }));
    wait_until("the adopted child is gone", PATIENCE, || !is_alive(pid));
}

#[test]
fn the_end_of_an_adopted_child_is_noticed() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo ready; read line; exit 5");
    client.wait_text(id, "ready");
    daemon.kill_process(daemon.keeper_pid());
    wait_until("the loss is noticed", PATIENCE, || client.terminal(id)["state"] == "lost");
    client.write(id, "\n");
    client.wait(json!({ "terminal": id, "exit": true }));
    let described = client.terminal(id);
    assert_eq!(
        (&described["state"], &described["exit"]),
        (&json!("exited"), &json!({ "unknown": true }))
    );
}

#[test]
fn daemon_and_keeper_killed_together_leave_an_honest_daemon() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo ready; exec cat");
    client.wait_text(id, "ready");
    let keeper = daemon.keeper_pid();
    daemon.kill9();
    daemon.kill_process(keeper);
    daemon.restart();
    let client = daemon.client();
    // Its PTY went with both; what is gone is said to be gone.
    assert_eq!(client.terminals(), Vec::<serde_json::Value>::new());
    let events = client.events(0);
    let is_told =
        |kind: &str| events.iter().any(|event| event["type"] == kind && event["terminal"] == id);
    assert!(is_told("terminal.exited") && is_told("terminal.closed"), "{events:?}");
    let next = client.open_sh("echo next; exec cat");
    assert!(next > id, "ids are never used twice");
    client.wait_text(next, "next");
}

#[test]
fn the_keeper_comes_with_the_first_terminal_and_goes_with_the_last() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    assert_eq!(client.status().get("keeper"), None);
    let id = client.open_sh("exec cat");
    let keeper = daemon.keeper_pid();
    client.call(TerminalClose::METHOD, json!({ "terminal": id }));
    client.send(Shutdown::default());
    assert!(daemon.wait_ended().success());
    wait_until("the keeper has nothing to keep and ends", PATIENCE, || !is_alive(keeper));
    daemon.home().assert_no_processes_left();
}
