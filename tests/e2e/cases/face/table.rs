//! The other rows of the table of keys: tabs, projects, scrolling, finding, copying, names, the sidebar,
//! and the letters of tmux.

use std::fs;

use rookery_testkit::{Caller, Home, Outer, PATIENCE, TestDaemon, wait_until};
use serde_json::{Value, json};

use super::{Face, active, size, terminals, wait_page};

/// A chord with Control and Alt, as a terminal without a modern protocol sends it.
fn ctrl_alt(letter: u8) -> [u8; 2] {
    [0x1b, letter & 0x1f]
}

#[track_caller]
fn wait_active(client: &Caller, id: u64) {
    wait_until("it is active", PATIENCE, || active(client) == Some(id));
}

/// A terminal of a project, which has to be shown by keys.
fn tab_of(client: &Caller, project: Option<u64>, text: &str) -> u64 {
    let script = format!("echo {text}; exec cat");
    let mut params = json!({ "argv": ["/bin/sh", "-c", script] });
    if let Some(project) = project {
        params["project"] = json!(project);
    }
    let id = client.open(params);
    client.wait_text(id, text);
    id
}

/// Whether a name is being edited: its cursor is shown besides the mark of the active project.
fn is_edited(face: &Face) -> bool {
    face.pty.text().matches('▌').count() > 1
}

fn projects(client: &Caller) -> Vec<Value> {
    client.call("rookery/projects/list", json!({}))["projects"].as_array().unwrap().clone()
}

/// A face before these tabs; the first has the keyboard.
fn before(daemon: &TestDaemon, client: &Caller, first: u64) -> Face {
    client.call("rookery/terminals/activate", json!({ "terminal": first }));
    let face = Face::open(daemon);
    // The first key makes it the desk.
    face.send("x");
    client.wait_text(first, "x");
    face
}

#[test]
fn tabs() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let ids: Vec<u64> = (0..9).map(|n| tab_of(&client, None, &format!("tab-{n}"))).collect();
    let face = before(&daemon, &client, ids[0]);
    face.send(ctrl_alt(b'f'));
    wait_active(&client, ids[1]);
    face.prefix("n");
    wait_active(&client, ids[2]);
    face.prefix("p");
    wait_active(&client, ids[1]);
    face.send(ctrl_alt(b'r'));
    wait_active(&client, ids[0]);
    face.prefix("\t");
    wait_active(&client, ids[1]);
    for (index, id) in ids.iter().enumerate() {
        face.prefix((index + 1).to_string());
        wait_active(&client, *id);
        face.wait(&format!("tab-{index}"));
    }
    let is_new = |id: Option<u64>| id.is_some_and(|id| !ids.contains(&id));
    for by_chord in [true, false] {
        match by_chord {
            true => face.send(ctrl_alt(b'c')),
            false => face.prefix("c"),
        }
        wait_until("a new tab is shown", PATIENCE, || is_new(active(&client)));
        let new = active(&client).unwrap();
        match by_chord {
            true => face.send(ctrl_alt(b'w')),
            false => face.prefix("x"),
        }
        wait_until("it is closed", PATIENCE, || !terminals(&client).contains(&new));
    }
    assert_eq!(terminals(&client), ids);
    face.leave();
}

#[test]
fn projects_and_names_and_the_sidebar() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let root = daemon.home().path();
    let first = tab_of(&client, None, "here");
    let other =
        client.call("rookery/projects/create", json!({ "name": "other", "root": root }))["id"]
            .as_u64()
            .unwrap();
    let second = tab_of(&client, Some(other), "there");
    let face = before(&daemon, &client, first);
    for (digit, id) in [("2", second), ("1", first)] {
        face.prefix("w");
        face.send(digit);
        wait_active(&client, id);
    }
    // By moving and Enter as well, whatever rows lie between.
    face.prefix("w");
    face.send("G");
    face.send("\r");
    wait_active(&client, second);

    face.prefix("b");
    face.wait_gone("+ new project");
    wait_until("the room is larger", PATIENCE, || size(&client, second) == (100, 28));
    face.prefix("b");
    face.wait("+ new project");

    face.prefix("r");
    wait_until("it is edited", PATIENCE, || is_edited(&face));
    face.send("\x15my tab\r");
    wait_until("it is named", PATIENCE, || client.terminal(second)["title"] == "my tab");
    face.prefix("R");
    face.wait("other▌");
    face.send("\x15mine\r");
    wait_until("it is named", PATIENCE, || projects(&client)[1]["name"] == "mine");
    face.wait_gone("mine▌");
    face.prefix("N");
    wait_until("there is another", PATIENCE, || projects(&client).len() == 3);
    face.leave();
}

#[test]
fn what_is_unread_is_jumped_to() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let first = tab_of(&client, None, "here");
    let second = tab_of(&client, None, "there");
    let face = before(&daemon, &client, first);
    let tab = second.to_string();
    let args = ["roostctl", "notify", "--tab", &tab, "--title", "look", "--body", "here"];
    daemon.rookery(&args).success();
    let has_badge = || face.pty.text().lines().next().is_some_and(|line| line.contains('!'));
    wait_until("it has its badge", PATIENCE, has_badge);
    face.prefix("U");
    wait_active(&client, second);
    face.leave();
}

/// Rows from 000 to 199, and a program that shows what it gets.
const ROWS: &str = "i=0; while [ $i -lt 200 ]; do printf 'row-%03d\\n' $i; i=$((i+1)); done; \
                    echo end; exec cat";

#[test]
fn scrolling_by_pages_and_to_the_ends() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh(ROWS);
    client.wait_text(id, "end");
    let face = before(&daemon, &client, id);
    for (older, newer, top, bottom) in [
        ("\x1b[5;2~", "\x1b[6;2~", "\x1b[1;2H", "\x1b[1;2F"),
        ("\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"),
    ] {
        let press = |key: &str| match key.contains(";2") {
            true => face.send(key),
            false => face.prefix(key),
        };
        press(older);
        face.wait("row-160");
        face.wait_gone("row-199");
        press(older);
        face.wait("row-130");
        press(newer);
        face.wait("row-170");
        face.wait_gone("row-130");
        press(top);
        face.wait("row-000");
        press(bottom);
        face.wait("row-199");
        face.wait_gone("row-000");
    }
    face.leave();
}

#[test]
fn prompts_are_gone_to() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let script = "for p in 1 2 3; do printf '\\033]133;A\\007prompt-'$p'\\n'; \
                  i=0; while [ $i -lt 40 ]; do echo out; i=$((i+1)); done; done; echo end; exec cat";
    let id = client.open_sh(script);
    client.wait_text(id, "end");
    let face = before(&daemon, &client, id);
    for (key, shown) in [("(", "prompt-3"), ("(", "prompt-2"), ("(", "prompt-1"), (")", "prompt-2")]
    {
        face.prefix(key);
        face.wait(shown);
    }
    face.wait_gone("prompt-1");
    face.leave();
}

#[test]
fn finding_copying_and_pasting() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh(ROWS);
    client.wait_text(id, "end");
    let face = before(&daemon, &client, id);
    // The chord arrives only from a terminal that speaks the kitty protocol.
    for open in [&b"\x1b[102;6u"[..], b"\x1c/"] {
        face.send(open);
        face.wait("0 of 0");
        face.send("row-05");
        face.wait("1 of 10");
        face.wait("row-059");
        face.send("\r");
        face.wait("2 of 10");
        face.send("\x1b[A");
        face.wait("3 of 10");
        face.send("\x1b[B");
        face.wait("2 of 10");
        face.send("\x1b");
        face.wait_gone("2 of 10");
        face.prefix("\x1b[F");
        face.wait("row-199");
    }
    // Copy mode by its key, copied by the key of the table.
    face.prefix("[");
    face.wait("copy mode");
    face.send("?row-190\r");
    // The cursor is there once the search has answered.
    wait_until("the row is found", PATIENCE, || {
        let row = usize::from(face.pty.snapshot().cursor.row);
        face.pty.text().lines().nth(row).is_some_and(|line| line.contains("row-190"))
    });
    face.send("v$");
    face.prefix("y");
    face.wait("sent to your terminal");
    // Off with the selection, and out of the mode.
    face.send("qq");
    face.wait_gone("copy mode");
    for (count, paste) in [&b"\x1c]"[..], b"\x1b[118;6u", b"\x1b[2;2~"].iter().enumerate() {
        face.send(paste);
        client.wait_text(id, &format!("x{}", "row-190".repeat(count + 1)));
    }
    face.leave();
}

/// The prefix of tmux, and then a key.
#[track_caller]
fn after(face: &Face, key: impl AsRef<[u8]>) {
    face.send("\x02");
    face.wait("q leave");
    face.send(key);
}

#[test]
fn the_letters_of_tmux() {
    let home = Home::new();
    let dir = home.join("config/roost");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.conf"), "key-preset = tmux\n").unwrap();
    let daemon = TestDaemon::start_in(home);
    let client = daemon.client();
    let ids: Vec<u64> = (0..10).map(|n| tab_of(&client, None, &format!("tab-{n}"))).collect();
    client.call("rookery/terminals/activate", json!({ "terminal": ids[0] }));
    let face = Face::open_in(&daemon, &[], &Outer::default());
    face.wait("ctrl+b keys");
    // There are no chords: the program gets them, and the other prefix as well.
    face.send(ctrl_alt(b'f'));
    client.wait_text(ids[0], "^[^F");
    for (index, id) in ids.iter().enumerate() {
        after(&face, ((index + 1) % 10).to_string());
        wait_active(&client, *id);
    }
    after(&face, "1");
    wait_active(&client, ids[0]);
    after(&face, "l");
    wait_active(&client, ids[9]);
    after(&face, "p");
    wait_active(&client, ids[8]);
    after(&face, "n");
    wait_active(&client, ids[9]);

    after(&face, ",");
    wait_until("it is edited", PATIENCE, || is_edited(&face));
    face.send("\x15renamed\r");
    wait_until("it is named", PATIENCE, || client.terminal(ids[9])["title"] == "renamed");
    after(&face, "$");
    wait_until("it is edited", PATIENCE, || is_edited(&face));
    face.send("\x15mine\r");
    wait_until("it is named", PATIENCE, || projects(&client)[0]["name"] == "mine");

    // Panes by arrows and `o` only.
    let split = |key: &str| -> u64 {
        let known = terminals(&client);
        after(&face, key);
        wait_until("it is split", PATIENCE, || terminals(&client).len() == known.len() + 1);
        let new = terminals(&client).into_iter().find(|id| !known.contains(id)).unwrap();
        wait_active(&client, new);
        new
    };
    let right = split("%");
    let below = split("\"");
    after(&face, "\x1b[A");
    wait_active(&client, right);
    after(&face, "\x1b[D");
    wait_active(&client, ids[9]);
    after(&face, "o");
    wait_until("another has the keys", PATIENCE, || active(&client) != Some(ids[9]));
    for key in ["h", "j", "k"] {
        after(&face, key);
        face.wait("does nothing after the prefix");
        face.send("\x1b");
        face.wait_gone("does nothing after the prefix");
    }
    // They change places, and back.
    after(&face, "\x1b[D");
    wait_active(&client, ids[9]);
    for key in ["{", "}"] {
        let before = size(&client, ids[9]);
        after(&face, key);
        wait_until("its place is another", PATIENCE, || size(&client, ids[9]) != before);
    }
    after(&face, "z");
    wait_until("it has all the room", PATIENCE, || size(&client, ids[9]) == (78, 28));
    after(&face, "z");
    after(&face, "&");
    wait_until("it is closed", PATIENCE, || !terminals(&client).contains(&ids[9]));
    assert!(terminals(&client).contains(&right) && terminals(&client).contains(&below));

    // What stays ours.
    for (key, page) in [
        ("i", "inbox"),
        ("T", "threads"),
        ("V", "reviews"),
        ("K", "checkpoints"),
        ("W", "worktrees"),
        ("L", "audit"),
    ] {
        after(&face, key);
        wait_page(&client, page);
        face.send("q");
        wait_page(&client, "workspace");
    }
    after(&face, "t");
    face.wait("What should the agent do?");
    face.send("\x1b");
    face.wait_gone("What should the agent do?");
    for (key, count) in [("s", 2), ("w", 3)] {
        after(&face, key);
        face.send("n");
        wait_until("the sidebar made one", PATIENCE, || projects(&client).len() == count);
    }
    after(&face, "d");
    let mut pty = face.pty;
    assert!(pty.wait_ended().success());
}
