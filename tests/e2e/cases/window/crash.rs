//! `kill -9` of the daemon with the window open: the window is back by itself at the same place, keys
//! that may be lost are told, drafts are kept, and nothing is decided by accident.

use rookery_testkit::{PATIENCE, TestDaemon, wait_until};
use serde_json::{Value, json};

use super::{Display, Window};
use crate::{
    face::{agent, pages, wait_page, write_steps},
    roder_link::{Peer, script},
};

/// Waits until the window has found the next daemon, which it starts itself.
#[track_caller]
fn wait_back(window: &Window<'_>) {
    window.wait("the window is back", |seen| seen["over"] != "lost");
}

/// Ends what the window started, which is no child of the test.
fn end(daemon: &TestDaemon, mut window: Window<'_>) {
    window.xdotool(&["windowclose", &window.id]);
    wait_until("the window has gone", PATIENCE, || window.child.has_ended());
    // Also a window that another program takes away ends well.
    assert!(window.child.0.wait().unwrap().success());
    daemon.home().rookery(&["down", "--all"]).success();
}

#[test]
fn idle_in_a_split() {
    let mut daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let id = daemon.client().open_sh("echo before; exec cat");
    daemon.client().wait_text(id, "before");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    window.keys(&["alt+shift+backslash"]);
    window.wait("two panes", |seen| seen["panes"] == 2);
    window.keys(&["ctrl+shift+Left"]);
    window.wait("the first has the keyboard", |seen| seen["terminal"] == id);
    daemon.kill9();
    window.wait_over(Some("lost"));
    wait_back(&window);
    window.wait("it is at the same place", |seen| seen["panes"] == 2 && seen["terminal"] == id);
    window.types("after");
    window.keys(&["Return"]);
    daemon.client().wait_text(id, "after");
    end(&daemon, window);
}

#[test]
fn while_a_person_types() {
    let mut daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("stty -echo; echo go; exec cat");
    client.wait_text(id, "go");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    // Some thirty keys a second, and the daemon dies below them.
    let words: Vec<String> = (0..40).map(|number| format!("w{number}")).collect();
    let mut typing = display.command("xdotool");
    typing.args(["type", "--delay", "30"]).arg(format!("{} ", words.join(" ")));
    let mut typing = super::Running(typing.spawn().unwrap());
    window.wait("some were typed", |seen| seen["input"].as_u64() > Some(20));
    drop(client);
    daemon.kill9();
    wait_until("all were typed", PATIENCE, || typing.has_ended());
    wait_back(&window);
    window.keys(&["Return"]);
    window.types("last");
    window.keys(&["Return"]);
    let client = daemon.client();
    client.wait_text(id, "last");
    // What arrived arrived once and in order; what is missing is missing in one piece.
    let screen = client.screen(id);
    let typed: String = screen.lines().skip(1).collect();
    for word in &words {
        assert!(typed.matches(&format!("{word} ")).count() <= 1, "{word} twice: {screen}");
    }
    assert!(typed.contains("w0 w1 w2"), "{screen}");
    drop(client);
    end(&daemon, window);
}

#[test]
fn while_a_flood_runs() {
    let mut daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let script =
        "i=0; while [ $i -lt 300000 ]; do echo flood-$i; i=$((i+1)); done; echo flooded; exec cat";
    let id = client.open_sh(script);
    let window = Window::open(&daemon, &display);
    client.wait_text(id, "flood-");
    drop(client);
    daemon.kill9();
    window.wait_over(Some("lost"));
    wait_back(&window);
    daemon.client().wait_text(id, "flooded");
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    window.types("after");
    window.keys(&["Return"]);
    daemon.client().wait_text(id, "after");
    end(&daemon, window);
}

#[test]
fn with_a_card_open() {
    let mut daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let (mut roder, thread, dir) = agent(&daemon, "work");
    roder.turn(&thread, &write_steps("made", "x\n"));
    let window = Window::open_with(&daemon, &display, &["--page", "inbox"], &[]);
    window.wait("one waits", |seen| seen["page"] == "inbox" && seen["waiting"] == 1);
    daemon.kill9();
    window.wait_over(Some("lost"));
    // Pressed in the gap: not sent, then or later.
    window.keys(&["a", "a", "a", "a"]);
    wait_back(&window);
    let client = daemon.client();
    wait_page(&client, "inbox");
    window.wait("it waits still", |seen| seen["page"] == "inbox" && seen["waiting"] == 1);
    assert!(!dir.join("made").exists());
    window.press_until("a", || dir.join("made").exists());
    window.wait("none waits", |seen| seen["waiting"] == 0);
    let lines = daemon.home().rookery(&["audit", "--json"]).success();
    let approved = lines
        .lines()
        .filter(|line| serde_json::from_str::<Value>(line).unwrap()["verdict"] == "approved")
        .count();
    assert_eq!(approved, 1, "{lines}");
    drop(client);
    end(&daemon, window);
}

#[test]
fn with_a_message_half_written() {
    let mut daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let (mut roder, thread, _) = agent(&daemon, "work");
    let turn = roder.turn(&thread, &script(&json!([{ "text": "first answer" }])));
    roder.until_over(&turn);
    let window = Window::open_with(&daemon, &display, &["--page", "threads"], &[]);
    let client = daemon.client();
    window.wait_page("threads");
    window.press_until("Return", || pages(&client) == [json!("thread")]);
    window.wait_page("thread");
    window.types("half a mess");
    drop(client);
    daemon.kill9();
    window.wait_over(Some("lost"));
    wait_back(&window);
    window.wait_page("thread");
    window.types("age");
    window.keys(&["Return"]);
    wait_until("the whole of it was sent", PATIENCE, || {
        Peer::to(&daemon).stored(&thread).to_string().contains("half a message")
    });
    end(&daemon, window);
}
