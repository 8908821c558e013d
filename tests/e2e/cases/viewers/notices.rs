//! The user's command for what waits while no viewer has the keyboard.

use std::fs;
use std::path::Path;

use rookery_testkit::{Home, PATIENCE, TestDaemon, eventually};
use serde_json::{Value, json};

use super::Link;
use crate::roder_link::{Peer, script};

/// A daemon whose user has a command that appends what it gets to a file.
fn daemon(after_ms: u32) -> TestDaemon {
    let home = Home::new();
    let dir = home.join("config/roost");
    fs::create_dir_all(&dir).unwrap();
    let told = home.join("told");
    let settings =
        format!("notify-command = cat >> {}\nnotify-after-ms = {after_ms}\n", told.display());
    fs::write(dir.join("config.conf"), settings).unwrap();
    TestDaemon::start_in(home)
}

fn told(home: &Home) -> Vec<Value> {
    let text = fs::read_to_string(home.join("told")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// An agent asks whether it may write a file; gives the id of what it asks.
fn ask(peer: &mut Peer, cwd: &Path, file: &str) -> String {
    let thread = peer.thread(cwd);
    let write = json!({"path": file, "content": "x"});
    peer.turn(&thread, &script(&json!([{"tool": "write_file", "args": write}])));
    peer.wait_told("session/approvalRequested")["approvalId"].as_str().unwrap().to_owned()
}

#[test]
fn a_request_that_waits_reaches_the_user_elsewhere_once() {
    let daemon = daemon(1);
    let mut peer = Peer::to(&daemon);
    let mut watching = Link::open(&daemon, json!({}));
    watching.call("rookery/view/focus", json!({"n": 1, "has": true}));
    ask(&mut peer, daemon.home().path(), "seen");
    // A viewer has the keyboard, so it is not run; then another takes it away.
    watching.wait_frame(|frame| frame["scene"]["status"]["waiting"] == 1);
    assert_eq!(told(daemon.home()), Vec::<Value>::new());
    watching.call("rookery/view/focus", json!({"n": 2, "has": false}));
    let first = eventually("the command has run", PATIENCE, || told(daemon.home()).pop());
    assert_eq!((&first["urgency"], &first["page"]["page"]), (&json!("high"), &json!("inbox")));
    assert!(first["title"].as_str().unwrap().contains("write_file"), "{first}");
    let item = watching.part("inbox").unwrap()["rows"][0]["item"].clone();
    assert_eq!(first["page"]["item"], item);
    // Another that waits is told of; the first is not told of again.
    ask(&mut peer, daemon.home().path(), "unseen");
    eventually("it has run again", PATIENCE, || (told(daemon.home()).len() >= 2).then_some(()));
    let all = told(daemon.home());
    assert_eq!(all.len(), 2);
    assert_ne!(all[0]["page"]["item"], all[1]["page"]["item"]);
}

#[test]
fn a_request_that_was_told_of_is_not_told_of_again_by_the_next_daemon() {
    let mut daemon = daemon(1);
    let mut peer = Peer::to(&daemon);
    ask(&mut peer, daemon.home().path(), "first");
    eventually("the command has run", PATIENCE, || told(daemon.home()).pop());
    daemon.kill9();
    daemon.restart();
    // It waits still, and another is announced.
    let mut peer = Peer::to(&daemon);
    ask(&mut peer, daemon.home().path(), "second");
    eventually("it has run again", PATIENCE, || (told(daemon.home()).len() >= 2).then_some(()));
    let all = told(daemon.home());
    let items: Vec<&Value> = all.iter().map(|notice| &notice["page"]["item"]).collect();
    assert_eq!(items.len(), 2, "{all:?}");
    assert_ne!(items[0], items[1]);
    let waiting = daemon.client().call("rookery/requests/list", json!({}));
    assert_eq!(waiting["requests"].as_array().unwrap().len(), 2);
}

#[test]
fn a_command_that_hangs_or_fails_is_logged_and_does_no_harm() {
    for (command, logged) in [
        ("echo no route >&2; exit 3", ["notify-command failed", "no route"]),
        ("exec sleep 600", ["notify-command took longer", "5s"]),
    ] {
        let home = Home::new();
        let dir = home.join("config/roost");
        fs::create_dir_all(&dir).unwrap();
        let settings = format!("notify-command = {command}\nnotify-after-ms = 0\n");
        fs::write(dir.join("config.conf"), settings).unwrap();
        let daemon = TestDaemon::start_in(home);
        let mut peer = Peer::to(&daemon);
        let id = ask(&mut peer, daemon.home().path(), "made");
        let log = || fs::read_to_string(daemon.log()).unwrap_or_default();
        eventually("the failure is logged", PATIENCE, || log().contains(logged[0]).then_some(()));
        assert!(log().contains(logged[1]), "{}", log());
        let answer = json!({"approvalId": id, "approved": true});
        assert_eq!(peer.call("session/resolve_approval", answer)["resolved"], true);
    }
}

#[test]
fn a_viewer_reads_what_a_request_would_do() {
    let daemon = TestDaemon::start();
    let mut viewer = Link::open(&daemon, json!({}));
    let mut peer = Peer::to(&daemon);
    ask(&mut peer, daemon.home().path(), "wanted.txt");
    let frame = viewer.wait_frame(|frame| frame["notices"][0]["title"].is_string());
    let notice = &frame["notices"][0];
    assert!(notice["title"].as_str().unwrap().contains("write_file"), "{notice}");
    assert_eq!(notice["body"], "wanted.txt");
}
