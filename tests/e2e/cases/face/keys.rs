//! Every row of the table of keys does its action, by its chord and by its key after the prefix.

use rookery_testkit::{Caller, Outer, PATIENCE, TestDaemon, wait_until};
use serde_json::json;

use super::{Face, active, agent, pages, size, terminals, wait_page, write_steps};

/// A chord with Control and Alt, as a terminal without a modern protocol sends it.
fn ctrl_alt(letter: u8) -> [u8; 2] {
    [0x1b, letter & 0x1f]
}

#[track_caller]
fn wait_count(client: &Caller, count: usize) {
    wait_until("that many terminals", PATIENCE, || terminals(client).len() == count);
}

#[track_caller]
fn wait_active(client: &Caller, id: u64) {
    wait_until("it is active", PATIENCE, || active(client) == Some(id));
}

/// A face before tabs of one project, each a `cat`; the first is shown.
fn with_tabs(daemon: &TestDaemon, client: &Caller, count: usize) -> (Face, Vec<u64>) {
    let ids: Vec<u64> = (0..count)
        .map(|n| {
            let id = client.open_sh(&format!("echo tab-{n}; exec cat"));
            client.wait_text(id, &format!("tab-{n}"));
            id
        })
        .collect();
    client.call("rookery/terminals/activate", json!({ "terminal": ids[0] }));
    let face = Face::open(daemon);
    face.wait("tab-0");
    // The first key makes it the desk.
    face.send("x");
    client.wait_text(ids[0], "x");
    (face, ids)
}

#[test]
fn palettes() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (face, _) = with_tabs(&daemon, &client, 1);
    face.send(ctrl_alt(b'p'));
    face.wait("Type a command");
    face.send("\x1b");
    face.wait_gone("Type a command");
    for (key, words) in [
        (" ", "Type a command"),
        (":", "Type a command"),
        ("g", "Go to an agent"),
        ("f", "Launch in a new tab"),
        ("e", "Custom commands"),
    ] {
        face.prefix(key);
        face.wait(words);
        face.send("\x1b");
        face.wait_gone(words);
    }
    face.leave();
}

#[test]
fn pages_and_what_waits() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (face, ids) = with_tabs(&daemon, &client, 1);
    let pages_of = [
        ("i", "inbox", "Inbox  0 wait"),
        ("T", "threads", "enter open  n new"),
        ("V", "reviews", "enter open  / filter"),
        ("K", "checkpoints", "enter diff  n new"),
        ("W", "worktrees", "l land"),
        ("L", "audit", " Audit"),
        (",", "settings", "enter change"),
        ("?", "help", "typing filters"),
    ];
    for (key, page, shown) in pages_of {
        face.prefix(key);
        wait_page(&client, page);
        face.wait(shown);
        if page == "help" {
            // Its letters filter; Esc leaves.
            face.send("\x1b");
        } else {
            face.send("q");
        }
        wait_page(&client, "workspace");
    }
    face.send(ctrl_alt(b'o'));
    wait_page(&client, "inbox");
    face.wait("Inbox  0 wait");
    face.send("q");
    wait_page(&client, "workspace");
    face.wait_gone("Inbox  0 wait");
    face.prefix("t");
    face.wait("What should the agent do?");
    face.send("\x1b");
    face.wait_gone("What should the agent do?");

    let (mut roder, first, _) = agent(&daemon, "one");
    let (_second_peer, second, _) = {
        let (mut peer, thread, dir) = agent(&daemon, "two");
        peer.turn(&thread, &write_steps("b", "x\n"));
        (peer, thread, dir)
    };
    roder.turn(&first, &write_steps("a", "x\n"));
    face.wait("2 wait");
    face.send(ctrl_alt(b'n'));
    wait_page(&client, "thread");
    face.wait("waits: tab");
    face.prefix("u");
    wait_until("it is the other thread", PATIENCE, || pages(&client) == [json!("thread")]);
    face.wait("waits: tab");
    assert_ne!(first, second);
    face.send("\x1b");
    face.wait("esc again stops");
    face.prefix("1");
    wait_page(&client, "workspace");
    assert_eq!(active(&client), Some(ids[0]));
    daemon.rookery(&["deny", "--all"]);
    face.leave();
}

#[test]
fn panes() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (face, ids) = with_tabs(&daemon, &client, 1);
    let a = ids[0];
    let new = |before: &[u64]| -> u64 {
        let is_new = |id: &u64| !before.contains(id);
        wait_until("there is a new one", PATIENCE, || terminals(&client).iter().any(is_new));
        terminals(&client).into_iter().find(is_new).unwrap()
    };
    face.send(ctrl_alt(b'v'));
    let b = new(&[a]);
    wait_until("it is at the right", PATIENCE, || size(&client, a).0 + size(&client, b).0 == 77);
    face.prefix("-");
    let c = new(&[a, b]);
    wait_until("it is below", PATIENCE, || size(&client, b).1 + size(&client, c).1 == 27);
    wait_active(&client, c);
    // c lies below b, both at the right of a.
    let moves: [(&[u8], u64); 8] = [
        (b"\x1b[A", b),
        (b"\x1b[D", a),
        (b"\x1b[C", b),
        (b"\x1b[B", c),
        (b"k", b),
        (b"h", a),
        (b"l", b),
        (b"j", c),
    ];
    for (key, id) in moves {
        face.prefix(key);
        wait_active(&client, id);
    }
    // After the last one comes the first.
    face.prefix("o");
    wait_active(&client, a);
    face.send(ctrl_alt(b'x'));
    wait_active(&client, b);
    face.prefix("\x1b[D");
    wait_active(&client, a);
    face.send(ctrl_alt(b'z'));
    wait_until("it has all the room", PATIENCE, || size(&client, a) == (78, 28));
    face.prefix("z");
    wait_until("it has its part again", PATIENCE, || size(&client, a).0 < 78);

    type Size = (u64, u64);
    type Grows = fn(Size, Size) -> bool;
    let grows: [(&[u8], Grows); 2] = [
        (b"\x1b[1;3C", |now, before| now.0 > before.0),
        (b"\x1b[1;3D", |now, before| now.0 < before.0),
    ];
    for (key, is_done) in grows {
        let before = size(&client, a);
        face.prefix(key);
        wait_until("its edge moved", PATIENCE, || is_done(size(&client, a), before));
    }
    face.prefix("\x1b[C");
    wait_until("another has the keys", PATIENCE, || active(&client) != Some(a));
    let here = active(&client).unwrap();
    for key in [b"\x1b[1;3A", b"\x1b[1;3B", b"\x1b[1;3B"] {
        let before = (size(&client, b), size(&client, c));
        face.prefix(key);
        let moved = || (size(&client, b), size(&client, c)) != before;
        wait_until("the edge between them moved", PATIENCE, moved);
    }
    let before = size(&client, here);
    face.prefix("{");
    // It has the room of the other now.
    wait_until("they changed places", PATIENCE, || size(&client, here) != before);
    face.prefix("!");
    wait_until("it has a tab of its own", PATIENCE, || size(&client, here) == (78, 28));
    face.prefix("%");
    let d = new(&[a, b, c]);
    face.prefix("\"");
    let e = new(&[a, b, c, d]);
    wait_until("it is below", PATIENCE, || size(&client, d).1 + size(&client, e).1 == 27);
    face.send(ctrl_alt(b'b'));
    new(&[a, b, c, d, e]);
    face.leave();
}

#[test]
fn a_size_is_taken() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (face, ids) = with_tabs(&daemon, &client, 1);
    wait_until("it fits here", PATIENCE, || size(&client, ids[0]) == (78, 28));
    let other = Face::open_in(&daemon, &[], &Outer { size: (40, 120), ..Outer::default() });
    other.wait("tab-0");
    other.send("y");
    wait_until("it fits there", PATIENCE, || size(&client, ids[0]) == (98, 38));
    face.wait("prefix S fits it here");
    face.prefix("S");
    wait_until("it fits here again", PATIENCE, || size(&client, ids[0]) == (78, 28));
    other.leave();
    face.prefix("d");
    let mut pty = face.pty;
    assert!(pty.wait_ended().success());
}

#[test]
fn after_the_prefix_an_unknown_key_is_reported_and_sent_nowhere() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (face, ids) = with_tabs(&daemon, &client, 1);
    face.prefix("Q");
    face.wait("does nothing after the prefix");
    face.send("y\r");
    client.wait_text(ids[0], "xy");
    assert!(!client.screen(ids[0]).contains('Q'));
    face.leave();
}

#[test]
fn a_busy_tab_is_closed_after_a_question() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (face, ids) = with_tabs(&daemon, &client, 1);
    let tab = ids[0].to_string();
    let set = |state: &str| {
        let args = ["roostctl", "tab", "set-state", "--tab", &tab, "--state", state];
        daemon.rookery(&args).success();
    };
    set("running");
    face.wait("1 ●");
    face.prefix("x");
    face.wait("Close this tab?");
    face.wait("An agent works there.");
    face.send("\x1b");
    face.wait_gone("Close this tab?");
    assert_eq!(terminals(&client), ids);
    set("needs_input");
    face.wait("1 ◆");
    face.send(ctrl_alt(b'w'));
    face.wait("An agent waits there");
    face.send("\r");
    wait_count(&client, 0);
    face.leave();
}
