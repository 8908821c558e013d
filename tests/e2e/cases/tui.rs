//! `rookery tui` in a real terminal against a real daemon: the workspace, keys, panes, what happens
//! when the daemon dies, and what is left of the outer terminal afterwards.

use std::{fs, path::PathBuf};

use rookery_testkit::{Caller, PATIENCE, TestDaemon, TestPty, rookery_binary, wait_until};
use rustix::termios::LocalModes;
use serde_json::json;

use crate::roder_link::{Peer, script};

const SIZE: (u16, u16) = (30, 100);
const PREFIX: &[u8] = b"\x1c";

fn tui_with(daemon: &TestDaemon, args: &[&str], size: (u16, u16)) -> TestPty {
    let args: Vec<&str> = ["tui"].iter().chain(args).copied().collect();
    TestPty::spawn(daemon.home(), rookery_binary(), &args, size)
}

fn tui(daemon: &TestDaemon) -> TestPty {
    let pty = tui_with(daemon, &[], SIZE);
    pty.wait_text("ctrl+\\ keys");
    pty
}

fn after_prefix(pty: &TestPty, key: &[u8]) {
    pty.send(PREFIX);
    pty.wait_text("q leave");
    pty.send(key);
}

fn leave(mut pty: TestPty) {
    after_prefix(&pty, b"q");
    assert!(pty.wait_ended().success());
}

fn terminals(client: &Caller) -> Vec<u64> {
    client.terminals().iter().filter_map(|terminal| terminal["id"].as_u64()).collect()
}

/// Opens a shell by the empty page's key and waits for its prompt.
fn with_shell(daemon: &TestDaemon) -> (TestPty, u64) {
    let pty = tui(daemon);
    pty.wait_text("Nothing runs here yet.");
    // What is typed right after it is meant for the shell, and gets there.
    pty.send(b"c");
    let client = daemon.client();
    pty.send(b"PS1='$ '; echo rea''dy\r");
    pty.wait_text("ready");
    let id = terminals(&client)[0];
    (pty, id)
}

#[test]
fn a_fresh_home_shows_the_empty_page_and_c_gives_a_shell() {
    let daemon = TestDaemon::start();
    let (pty, _) = with_shell(&daemon);
    pty.send(b"echo hi-''there\r");
    pty.wait_text("hi-there");
    leave(pty);
    assert_eq!(terminals(&daemon.client()).len(), 1, "everything runs on");
}

#[test]
fn keys_that_are_not_bound_reach_the_program_and_the_prefix_twice_once() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("stty raw -echo; echo go; exec od -An -tx1 -w7 -v");
    client.wait_text(id, "go");
    let pty = tui(&daemon);
    pty.wait_text("go");
    pty.send(b"a\x03\x1bx\x1b[A\x1b[1;5C\x7f\t\r\xc3\xa9\x1bOP\x1b[15~");
    pty.send(PREFIX);
    pty.wait_text("q leave");
    pty.send(PREFIX);
    pty.send(b"z");
    let wanted =
        "61 03 1b 78 1b 5b 41 1b 5b 31 3b 35 43 7f 09 0d c3 a9 1b 4f 50 1b 5b 31 35 7e 1c 7a";
    let seen = || client.screen(id).split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    wait_until("every byte arrived", PATIENCE, || seen().ends_with("1c 7a"));
    assert_eq!(seen(), wanted);
}

#[test]
fn slow_bytes_are_read_as_the_same_keys() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("stty raw -echo; echo go; exec od -An -tx1 -w1 -v");
    client.wait_text(id, "go");
    let pty = tui(&daemon);
    pty.wait_text("go");
    let count = |client: &Caller| client.screen(id).split_whitespace().count() - 1;
    // A sequence is cut after each byte; whole keys are waited for, so that nothing runs ahead.
    for (keys, bytes) in [(&b"\x1b[1;5C"[..], 6), (b"\x1b[A", 9), (b"x", 10)] {
        for byte in keys {
            pty.send(&[*byte]);
        }
        wait_until("the key arrived", PATIENCE, || count(&client) == bytes);
    }
    let seen = client.screen(id).split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    assert_eq!(seen, "1b 5b 31 3b 35 43 1b 5b 41 78");
}

#[test]
fn panes_are_split_zoomed_and_closed() {
    let daemon = TestDaemon::start();
    let (pty, first) = with_shell(&daemon);
    let client = daemon.client();
    after_prefix(&pty, b"v");
    wait_until("there are two", PATIENCE, || terminals(&client).len() == 2);
    let second = terminals(&client).into_iter().find(|id| *id != first).unwrap();
    let cols = |id: u64| client.terminal(id)["size"]["cols"].as_u64().unwrap();
    let room = 100 - 22;
    wait_until("both have their half", PATIENCE, || cols(first) + cols(second) + 1 == room);
    pty.wait_text("+1");
    pty.send(b"echo sec''ond\r");
    client.wait_text(second, "second");
    pty.wait_text("second");
    after_prefix(&pty, b"z");
    wait_until("it has the whole room", PATIENCE, || cols(second) == room);
    pty.wait_text("78x28");
    after_prefix(&pty, b"z");
    wait_until("it has its half again", PATIENCE, || cols(second) < room);
    after_prefix(&pty, b"x");
    wait_until("it is closed", PATIENCE, || terminals(&client) == [first]);
    wait_until("the room is the first one's", PATIENCE, || cols(first) == room);
    leave(pty);
}

#[test]
fn help_lists_what_it_runs_and_settings_show_their_file() {
    let daemon = TestDaemon::start();
    let pty = tui(&daemon);
    after_prefix(&pty, b"?");
    pty.wait_text("typing filters");
    pty.send(b"split");
    pty.wait_text("Split Right");
    pty.wait_text("ctrl+alt+v");
    pty.send(b"\x1b");
    pty.wait_text("Close Tab");
    pty.send(b"\x1b");
    pty.wait_text("Nothing runs here yet.");
    after_prefix(&pty, b",");
    pty.wait_text("config.conf");
    pty.send(b"q");
    pty.wait_text("Nothing runs here yet.");
    leave(pty);
}

#[test]
fn leaving_and_signals_restore_the_outer_terminal() {
    let daemon = TestDaemon::start();
    for signal in [None, Some("TERM"), Some("HUP"), Some("INT")] {
        let mut pty = tui(&daemon);
        let before = pty.modes();
        assert!(before.alternate_screen && before.bracketed_paste, "{signal:?}");
        assert!(!pty.settings().local_modes.contains(LocalModes::ICANON));
        match signal {
            None => {
                after_prefix(&pty, b"q");
            }
            Some(signal) => pty.signal_program(signal),
        }
        assert_eq!(pty.wait_ended().code(), Some(0), "{signal:?}");
        assert!(pty.settings().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO));
        let is_back = || !pty.modes().alternate_screen && pty.shows_cursor();
        wait_until("the screen is given back", PATIENCE, is_back);
        let after = pty.modes();
        assert!(!after.bracketed_paste && !after.focus_events);
        assert!(!after.mouse_clicks && !after.mouse_drag && !after.mouse_motion);
        assert_eq!(after.kitty_keyboard, 0);
    }
}

#[test]
fn the_daemon_dies_and_the_face_comes_back_by_itself() {
    let mut daemon = TestDaemon::start();
    let (pty, id) = with_shell(&daemon);
    daemon.kill9();
    pty.wait_text("The daemon is away");
    pty.send(b"lost");
    pty.wait_text("not sent");
    // The face itself starts the next one.
    wait_until("the face is back", PATIENCE, || !pty.text().contains("The daemon is away"));
    pty.send(b"echo ba''ck\r");
    pty.wait_text("back");
    let text = daemon.home().rookery(&["dump", &id.to_string()]).success();
    assert!(!text.contains("lost"), "{text}");
    leave(pty);
    daemon.home().rookery(&["down", "--all"]).success();
}

#[test]
fn nested_is_refused() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let program = rookery_binary().display().to_string();
    let id = client.open(json!({"argv": [program, "tui"]}));
    client.wait_text(id, "this terminal belongs to Rookery");
    wait_until("it ended", PATIENCE, || client.terminal(id)["exit"] == json!({"code": 2}));
}

#[test]
fn a_face_that_only_looks_sends_no_key() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    client.wait_text(id, "go");
    let pty = tui_with(&daemon, &["--look"], SIZE);
    pty.wait_text("go");
    pty.wait_text("look");
    pty.send(b"typed");
    pty.wait_text("read-only: nothing is sent or decided here");
    client.write(id, "after\n");
    client.wait_text(id, "after");
    assert!(!client.screen(id).contains("typed"));
}

#[test]
fn every_size_is_drawn_and_the_last_one_counts() {
    let daemon = TestDaemon::start();
    let (pty, id) = with_shell(&daemon);
    let client = daemon.client();
    for size in [(6, 20), (5, 19), (100, 300), (12, 40), (24, 80), (2, 3), (24, 80)] {
        pty.resize(size);
    }
    let wanted = json!({"rows": 22, "cols": 58});
    wait_until("it has the last size", PATIENCE, || client.terminal(id)["size"] == wanted);
    pty.send(b"echo still-''here\r");
    pty.wait_text("still-here");
    pty.resize((5, 19));
    pty.wait_text("larger");
    leave_small(pty);
}

fn leave_small(mut pty: TestPty) {
    pty.send(PREFIX);
    pty.send(b"q");
    assert!(pty.wait_ended().success());
}

#[test]
fn an_empty_inbox_is_opened_and_left() {
    let daemon = TestDaemon::start();
    let pty = tui_with(&daemon, &["--page", "inbox"], SIZE);
    pty.wait_text("Inbox  0 wait");
    pty.send(b"ad1\r");
    pty.send(b"q");
    pty.wait_text("Nothing runs here yet.");
    leave(pty);
}

/// A peer of Roder with a thread, and a directory that its tools may write into.
fn agent(daemon: &TestDaemon) -> (Peer, String, PathBuf) {
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let mut roder = Peer::to(daemon);
    let thread = roder.thread(&dir);
    (roder, thread, dir)
}

fn write_steps(path: &str, content: &str) -> String {
    let args = json!({ "path": path, "content": content });
    script(&json!([{ "tool": "write_file", "args": args }, { "text": "done" }]))
}

/// Presses a key until the card takes it: within the guard it says so and does nothing.
fn decide(pty: &TestPty, key: &[u8], until: impl Fn() -> bool) {
    let is_early = || pty.text().contains("read it first");
    for _ in 0..100 {
        if until() {
            return;
        }
        pty.send(key);
        wait_until("the key is answered", PATIENCE, || is_early() || until());
        if !until() {
            // It does nothing but take the message away, so that the next answer is seen.
            pty.send(b"z");
            wait_until("the message is gone", PATIENCE, || !is_early());
        }
    }
    panic!("the card never takes the key: {}", pty.text());
}

#[test]
fn an_approval_is_listed_read_and_given() {
    let daemon = TestDaemon::start();
    let (mut roder, thread, dir) = agent(&daemon);
    let pty = tui(&daemon);
    let turn = roder.turn(&thread, &write_steps("yes", "x\n"));
    pty.wait_text("1 wait");
    assert!(!dir.join("yes").exists(), "nothing opens or decides by itself");
    after_prefix(&pty, b"i");
    pty.wait_text("Inbox  1 wait");
    pty.wait_text("a approve  d deny…");
    decide(&pty, b"a", || dir.join("yes").exists());
    roder.until_over(&turn);
    pty.wait_text("Inbox  0 wait");
    pty.send(b"q");
    leave(pty);
}

#[test]
fn a_long_diff_needs_the_second_a_and_a_denial_takes_a_reason() {
    let daemon = TestDaemon::start();
    let (mut roder, thread, dir) = agent(&daemon);
    let long: String = (0..200).map(|n| format!("line {n}\n")).collect();
    let turn = roder.turn(&thread, &write_steps("long", &long));
    let pty = tui_with(&daemon, &["--page", "inbox"], SIZE);
    pty.wait_text("a approve  d deny…");
    decide(&pty, b"a", || pty.text().contains("a again approves"));
    assert!(!dir.join("long").exists());
    decide(&pty, b"a", || dir.join("long").exists());
    roder.until_over(&turn);
    pty.wait_text("Inbox  0 wait");

    let turn = roder.turn(&thread, &write_steps("no", "x\n"));
    pty.wait_text("Inbox  1 wait");
    pty.send(b"g");
    pty.wait_text("a approve  d deny…");
    decide(&pty, b"d", || pty.text().contains("deny, because:"));
    pty.send(b"not now\r");
    roder.until_over(&turn);
    assert!(!dir.join("no").exists());
    pty.send(b"q");
    leave(pty);
}

#[test]
fn letters_typed_while_a_request_arrives_go_to_the_terminal() {
    let daemon = TestDaemon::start();
    let (mut roder, thread, dir) = agent(&daemon);
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    client.wait_text(id, "go");
    let pty = tui(&daemon);
    pty.wait_text("go");
    let turn = roder.turn(&thread, &write_steps("never", "x\n"));
    for _ in 0..20 {
        pty.send(b"adA1");
    }
    pty.send(b"\r");
    client.wait_text(id, &"adA1".repeat(20));
    pty.wait_text("1 wait");
    assert!(!dir.join("never").exists());
    daemon.rookery(&["deny", "--all"]);
    drop(turn);
    leave(pty);
}

#[test]
fn an_idle_face_writes_nothing() {
    let daemon = TestDaemon::start();
    let (pty, id) = with_shell(&daemon);
    let client = daemon.client();
    // What another viewer does elsewhere changes nothing here.
    let before = pty.sequence();
    for _ in 0..50 {
        client.terminal(id);
    }
    assert_eq!(pty.sequence(), before);
    leave(pty);
}
