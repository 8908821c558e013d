//! `rookery inbox --watch` on a terminal: the inbox page of the face, and nothing around it.

use std::fs;

use rookery_testkit::{PATIENCE, TestDaemon, TestPty, git, rookery_binary, wait_until};
use serde_json::{Value, json};

use super::{agent, write_steps};

/// The list in a terminal.
fn watch(daemon: &TestDaemon) -> TestPty {
    let args = ["inbox", "--watch"];
    let pty = TestPty::spawn(daemon.home(), rookery_binary(), &args, (24, 100));
    pty.wait_text("Inbox  0 wait");
    pty
}

fn press_until(pty: &TestPty, key: &[u8], done: impl Fn() -> bool) {
    wait_until("the key is taken", PATIENCE, || {
        if !done() {
            pty.send(key);
        }
        done()
    });
}

#[test]
fn the_list_decides_what_waits_and_every_decision_is_on_record() {
    let daemon = TestDaemon::start();
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let mut shown = watch(&daemon);
    shown.wait_text("nothing waits");

    let turn = roder.turn(&thread, &write_steps("yes", "x\n"));
    shown.wait_text("write_file");
    shown.send(b"g\r");
    shown.wait_text("yes  +1 -0");
    press_until(&shown, b"a", || dir.join("yes").exists());
    roder.until_over(&turn);
    shown.wait_text("Inbox  0 wait");

    let turn = roder.turn(&thread, &write_steps("no", "x\n"));
    shown.wait_text("Inbox  1 wait");
    shown.send(b"\r");
    shown.wait_text("no  +1 -0");
    press_until(&shown, b"d", || shown.text().contains("deny, because:"));
    shown.send(b"\r");
    roder.until_over(&turn);
    assert!(!dir.join("no").exists());
    shown.wait_text("Inbox  0 wait");

    let turn = roder.turn(&thread, &write_steps("late", "x\n"));
    shown.wait_text("Inbox  1 wait");
    shown.send(b"g");
    shown.wait_text("late  +1 -0");
    let inbox = daemon.rookery(&["inbox"]).success();
    assert!(inbox.contains("approval") && inbox.contains("+++ b/late"), "{inbox}");
    let waiting = daemon.rookery(&["inbox", "--json"]).json();
    let request = waiting["requests"][0]["id"].as_str().unwrap();
    assert_eq!(waiting["queue"][0]["related"], json!({ "kind": "request", "id": request }));
    daemon.rookery(&["approve", request]).success();
    roder.until_over(&turn);
    shown.wait_text("approved by");
    shown.send(b"q");
    assert_eq!(shown.wait_ended().code(), Some(0));
    wait_until("the screen is given back", PATIENCE, || !shown.text().contains("Inbox"));

    let lines = daemon.rookery(&["audit", "--json"]).success();
    let decisions: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    let decisions: Vec<Value> = decisions.into_iter().filter(|one| one["by"] != "policy").collect();
    let verdicts: Vec<&str> =
        decisions.iter().map(|one| one["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["approved", "denied", "approved"]);
    assert_eq!(decisions[2]["request"], request);
    let table = daemon.rookery(&["audit", "--thread", &thread, "--since", "1h"]).success();
    assert!(table.contains("asked") && table.contains("policy"), "{table}");
    assert_eq!(daemon.rookery(&["audit", "--since", "soon"]).failure(2).lines().count(), 2);
}

#[test]
fn reviews_and_handoffs_are_looked_after_and_a_signal_gives_the_screen_back() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let repo = daemon.home().join("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q"]);
    fs::write(repo.join("a"), "one\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    fs::write(repo.join("a"), "two\n").unwrap();
    let run = |args: &[&str]| -> String {
        let mut command = daemon.home().command(rookery_binary());
        command.current_dir(&repo).args(args);
        rookery_testkit::Finished::of(command).success()
    };
    let review = run(&["review", "request", "look", "at", "it"]);
    let review = review.trim();
    let args = ["inbox", "--watch"];
    let mut shown = TestPty::spawn(daemon.home(), rookery_binary(), &args, (24, 100));
    shown.wait_text("look at it");
    shown.wait_text("enter show");
    shown.send(b"\r");
    shown.wait_text("+ two");
    let status = || client.call("rookery/reviews/get", json!({ "id": review }))["status"].clone();
    press_until(&shown, b"a", || status() == "approved");
    shown.send(b"q");
    shown.wait_text("Inbox  0 wait");
    let handoff = run(&["handoff", "create", "--next", "test it", "go", "on"]);
    let handoff = handoff.trim();
    shown.wait_text("Handoff");
    shown.send(b"g");
    shown.wait_text("next: test it");
    let accepted = || {
        let list = client.call("rookery/handoffs/list", json!({}));
        let all = list["handoffs"].as_array().cloned().unwrap_or_default();
        all.iter().any(|one| one["id"] == handoff && one["status"] == "accepted")
    };
    press_until(&shown, b"a", accepted);
    shown.signal_program("TERM");
    assert_eq!(shown.wait_ended().code(), Some(143));
    wait_until("the screen is given back", PATIENCE, || !shown.text().contains("Inbox"));
}

#[test]
fn a_list_in_a_corner_changes_no_size() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open(json!({ "argv": ["cat"], "rows": 30, "cols": 90 }));
    let shown = watch(&daemon);
    let status = client.status();
    assert_eq!(status["viewers"][0]["isDesk"], false, "{status}");
    assert_eq!(client.terminal(id)["size"], json!({ "rows": 30, "cols": 90 }));
    shown.send(b"\x03");
    let mut shown = shown;
    assert_eq!(shown.wait_ended().code(), Some(0));
}
