//! `kill -9` of the daemon with the face open, in every state: it is back by itself at the same place,
//! keys that may be lost are told and only those, drafts are kept, and nothing is decided by accident.

use rookery_testkit::{PATIENCE, TestDaemon, wait_until};
use serde_json::{Value, json};

use super::{Face, agent, size, terminals, wait_page, write_steps};

/// Waits until the face has found the next daemon, which it starts itself.
#[track_caller]
fn wait_back(face: &Face) {
    wait_until("the face is back", PATIENCE, || {
        let text = face.pty.text();
        !text.contains("The daemon is away") && text.contains("keys")
    });
}

fn dump(daemon: &TestDaemon, id: u64) -> String {
    daemon.home().rookery(&["dump", &id.to_string()]).success()
}

/// Ends what the face started, which is no child of the test.
fn end(daemon: &TestDaemon, face: Face) {
    face.leave();
    daemon.home().rookery(&["down", "--all"]).success();
}

#[test]
fn idle_in_a_split_that_is_scrolled() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let script = "i=0; while [ $i -lt 200 ]; do echo row-$i; i=$((i+1)); done; echo end; exec cat";
    let id = client.open_sh(script);
    client.wait_text(id, "end");
    let face = Face::open(&daemon);
    face.wait("end");
    face.send("\r");
    face.prefix("v");
    wait_until("there are two", PATIENCE, || terminals(&client).len() == 2);
    face.prefix("\x1b[D");
    face.prefix("\x1b[5~");
    face.prefix("\x1b[5~");
    face.wait("row-140");
    face.wait_gone("row-199");
    let before: Vec<(u64, u64)> = terminals(&client).iter().map(|id| size(&client, *id)).collect();
    let shown: Vec<String> = rows_of(&face);
    drop(client);
    daemon.kill9();
    face.wait("The daemon is away");
    wait_back(&face);
    wait_until("it is scrolled to where it was", PATIENCE, || rows_of(&face) == shown);
    let client = daemon.client();
    let after: Vec<(u64, u64)> = terminals(&client).iter().map(|id| size(&client, *id)).collect();
    assert_eq!(before, after, "both panes are there");
    end(&daemon, face);
}

/// Rows of the first pane that a test printed.
fn rows_of(face: &Face) -> Vec<String> {
    let text = face.pty.text();
    text.lines()
        .filter_map(|line| line.split("row-").nth(1))
        .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect())
        .collect()
}

#[test]
fn keys_that_may_not_have_arrived_are_named() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    // It reads nothing, so that the kernel's buffer fills up and keys wait in the daemon.
    let id = client.open_sh("stty raw -echo; echo go; while :; do sleep 60; done");
    client.wait_text(id, "go");
    let face = Face::open(&daemon);
    face.wait("go");
    // More than any terminal holds that no program has read.
    face.send("\x1b[200~");
    for _ in 0..300 {
        face.send("x".repeat(1000));
    }
    face.send("\x1b[201~");
    face.send("last-words");
    face.prefix("Q");
    face.wait("does nothing after the prefix");
    daemon.kill9();
    face.wait("may not have arrived");
    wait_back(&face);
    face.wait("may not have arrived");
    end(&daemon, face);
}

/// What the face names as keys that may not have arrived.
fn named(face: &Face) -> Option<String> {
    let text = face.pty.text();
    let (_, rest) = text.split_once("may not have arrived: \"")?;
    Some(rest.split('"').next()?.to_owned())
}

/// Letters of which none comes twice and none has a capital.
fn letter(n: u32) -> char {
    char::from_u32(0x4e00 + n).unwrap()
}

#[test]
fn letters_that_are_typed_arrive_once_or_are_named_or_refused() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let file = daemon.home().join("typed");
    let script = format!("stty raw -echo; echo go; exec cat > {}", file.display());
    let id = client.open_sh(&script);
    client.wait_text(id, "go");
    drop(client);
    let outer = rookery_testkit::Outer { keeps_bytes: true, ..Default::default() };
    let face = Face::open_in(&daemon, &[], &outer);
    face.wait("go");
    let arrived = || std::fs::read_to_string(&file).unwrap_or_default();
    // Nothing is ever sent there: it gives the pace of about thirty keys in a second.
    let (_kept, never) = std::sync::mpsc::channel::<()>();
    let (mut told, mut was_away, mut after) = (String::new(), false, 0);
    let mut typed = String::new();
    for n in 0..900 {
        typed.push(letter(n));
        face.send(letter(n).to_string());
        let _ = never.recv_timeout(std::time::Duration::from_millis(33));
        if n == 15 {
            wait_until("some have arrived", PATIENCE, || !arrived().is_empty());
            daemon.kill9();
        }
        let is_away = face.pty.text().contains("The daemon is away");
        was_away |= is_away;
        told = named(&face).unwrap_or(told);
        after += u32::from(was_away && !is_away);
        if after > 20 {
            break;
        }
    }
    assert!(after > 20, "the face is back while keys are typed: {}", face.pty.text());
    let last = typed.chars().next_back().unwrap();
    wait_until("the last one has arrived", PATIENCE, || arrived().contains(last));
    let arrived = arrived();
    let places: Vec<usize> = arrived.chars().map(|c| typed.find(c).unwrap()).collect();
    assert!(places.is_sorted_by(|a, b| a < b), "in order, and none twice: {arrived}");
    let is_missing = |c: &char| !arrived.contains(*c) && !told.contains(*c);
    let missing: String = typed.chars().filter(is_missing).collect();
    assert!(typed.contains(&missing), "only while it was away: {missing}");
    // Each of these was refused aloud.
    let bells = face.pty.written().iter().filter(|byte| **byte == 0x07).count();
    assert_eq!(bells, missing.chars().count(), "typed {typed}, arrived {arrived}, told {told}");
    end(&daemon, face);
}

#[test]
fn while_a_flood_runs() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let script =
        "i=0; while [ $i -lt 300000 ]; do echo flood-$i; i=$((i+1)); done; echo flooded; exec cat";
    let id = client.open_sh(script);
    let face = Face::open(&daemon);
    face.wait("flood-");
    drop(client);
    daemon.kill9();
    wait_back(&face);
    face.wait("flooded");
    let tail: Vec<String> = face
        .pty
        .text()
        .lines()
        .filter_map(|line| line.split("flood-").nth(1).map(|rest| rest.trim().to_owned()))
        .collect();
    assert!(tail.len() > 20, "{tail:?}");
    let dumped = dump(&daemon, id);
    for number in &tail {
        assert!(dumped.contains(&format!("flood-{number}\n")), "{number} is no row of the dump");
    }
    face.send("after\r");
    face.wait("after");
    end(&daemon, face);
}

#[test]
fn with_a_card_open() {
    let mut daemon = TestDaemon::start();
    let (mut roder, thread, dir) = agent(&daemon, "work");
    roder.turn(&thread, &write_steps("made", "x\n"));
    let face = Face::open_in(&daemon, &["--page", "inbox"], &rookery_testkit::Outer::default());
    face.wait("a approve  d deny…");
    daemon.kill9();
    face.wait("The daemon is away");
    // Pressed in the gap: not sent, then or later.
    face.send("aaaa");
    face.wait("not sent");
    wait_back(&face);
    let client = daemon.client();
    wait_page(&client, "inbox");
    face.wait("write_file");
    assert!(!dir.join("made").exists());
    let waiting = client.call("rookery/requests/list", json!({}));
    assert_eq!(waiting["requests"].as_array().unwrap().len(), 1, "{waiting}");
    face.wait("a approve  d deny…");
    face.press_until("a", || dir.join("made").exists());
    face.wait("Inbox  0 wait");
    let lines = daemon.home().rookery(&["audit", "--json"]).success();
    let approved = lines
        .lines()
        .filter(|line| serde_json::from_str::<Value>(line).unwrap()["verdict"] == "approved")
        .count();
    assert_eq!(approved, 1, "{lines}");
    face.send("q");
    end(&daemon, face);
}

#[test]
fn with_a_message_half_written() {
    let mut daemon = TestDaemon::start();
    let (mut roder, thread, _) = agent(&daemon, "work");
    let turn =
        roder.turn(&thread, &crate::roder_link::script(&json!([{ "text": "first answer" }])));
    roder.until_over(&turn);
    let face = Face::open(&daemon);
    face.prefix("T");
    face.wait("Threads");
    let client = daemon.client();
    face.press_until("\r", || super::pages(&client) == [json!("thread")]);
    face.wait("first answer");
    face.send("half a mess");
    face.wait("> half a mess");
    drop(client);
    daemon.kill9();
    face.wait("The daemon is away");
    wait_back(&face);
    face.wait("> half a mess");
    face.wait("first answer");
    face.send("age\r");
    face.wait("half a message");
    wait_until("it was sent", PATIENCE, || {
        face.pty.text().lines().any(|line| line.contains("you") && line.contains("half a message"))
    });
    end(&daemon, face);
}

#[test]
fn with_a_comment_half_written() {
    let mut daemon = TestDaemon::start();
    let repo = daemon.home().join("repo");
    std::fs::create_dir(&repo).unwrap();
    rookery_testkit::git(&repo, &["init", "-q", "-b", "main"]);
    std::fs::write(repo.join("a"), "one\n").unwrap();
    rookery_testkit::git(&repo, &["add", "."]);
    rookery_testkit::git(&repo, &["commit", "-qm", "first"]);
    std::fs::write(repo.join("a"), "two\n").unwrap();
    let mut command = daemon.home().command(rookery_testkit::rookery_binary());
    command.current_dir(&repo).args(["review", "request", "look"]);
    rookery_testkit::Finished::of(command).success();
    let face = Face::open_in(&daemon, &["--page", "reviews"], &rookery_testkit::Outer::default());
    face.wait("look");
    face.send("\r");
    face.wait("+ two");
    face.send("c");
    face.wait("enter comment");
    face.send("half a com");
    face.wait("half a com");
    daemon.kill9();
    face.wait("The daemon is away");
    wait_back(&face);
    wait_page(&daemon.client(), "review");
    face.wait("half a com");
    face.send("ment\r");
    face.wait("you: half a comment");
    end(&daemon, face);
}

#[test]
fn after_a_clean_stop_none_is_started_unasked() {
    let mut daemon = TestDaemon::start();
    let face = Face::open(&daemon);
    daemon.rookery(&["down"]).success();
    daemon.wait_ended();
    face.wait("it was stopped");
    // No letter: a `u` right behind one may belong to a word.
    face.send("\r");
    face.wait("not sent");
    face.send("u");
    wait_back(&face);
    end(&daemon, face);
}
