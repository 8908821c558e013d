//! The settings page: what is chosen there is in force at once, and in the user's file.

use std::{fs, path::PathBuf};

use rookery_testkit::{Outer, PATIENCE, TestDaemon, wait_until};

use super::{Face, wait_page};

fn file(daemon: &TestDaemon) -> PathBuf {
    daemon.home().join("config/roost/config.conf")
}

fn lines(daemon: &TestDaemon) -> String {
    fs::read_to_string(file(daemon)).unwrap_or_default()
}

#[track_caller]
fn wait_line(daemon: &TestDaemon, line: &str) {
    let what = format!("the file says {line:?}");
    wait_until(&what, PATIENCE, || lines(daemon).lines().any(|found| found == line));
}

/// Goes to a row of the page by its name.
fn to_row(face: &Face, name: &str) {
    let is_there = || {
        let text = face.pty.text();
        text.lines().any(|line| line.contains(&format!("› {name}")))
    };
    face.send("g");
    face.wait("› Theme");
    face.step_until("j", is_there);
}

fn open(daemon: &TestDaemon) -> Face {
    let face = Face::open_in(daemon, &["--page", "settings"], &Outer::default());
    face.wait("config.conf");
    face
}

#[test]
fn words_and_numbers_are_written_and_in_force() {
    let daemon = TestDaemon::start();
    fs::create_dir_all(file(&daemon).parent().unwrap()).unwrap();
    fs::write(file(&daemon), "# mine\n").unwrap();
    let face = open(&daemon);
    face.wait("Web");
    assert!(face.pty.text().contains("off"));
    to_row(&face, "Confirm close");
    face.send("\r");
    wait_line(&daemon, "confirm-close = always");
    face.wait("confirm-close = always");
    to_row(&face, "Guard");
    face.send("\r");
    face.send("\x15700\r");
    wait_line(&daemon, "answer-guard-ms = 700");
    face.wait("700 ms");
    face.send("\r\x15many\r");
    face.wait("not a whole number");
    to_row(&face, "Mouse");
    assert!(face.pty.modes().mouse_drag);
    face.send("\r");
    wait_line(&daemon, "tui-mouse = off");
    wait_until("the mouse is the outer terminal's", PATIENCE, || !face.pty.modes().mouse_drag);
    assert!(lines(&daemon).starts_with("# mine\n"));

    // It asks now before a quiet tab is closed.
    let client = daemon.client();
    face.send("q");
    wait_page(&client, "workspace");
    face.wait("Nothing runs here yet.");
    face.send("c");
    wait_until("there is a shell", PATIENCE, || super::terminals(&client).len() == 1);
    face.send("PS1='ready> '\r");
    face.wait("ready> ");
    face.prefix("x");
    face.wait("Close this tab?");
    face.send("\x1b");
    face.wait_gone("Close this tab?");
    assert_eq!(super::terminals(&client).len(), 1);
    face.prefix("x");
    face.wait("Close this tab?");
    face.send("\r");
    wait_until("it is closed", PATIENCE, || super::terminals(&client).is_empty());
    face.leave();
}

#[test]
fn a_theme_is_previewed_and_chosen() {
    let daemon = TestDaemon::start();
    let face = open(&daemon);
    to_row(&face, "Theme");
    face.send("\r");
    face.wait("high-contrast");
    face.send("nord");
    face.wait_gone("high-contrast");
    face.send("\r");
    wait_line(&daemon, "theme = nord");
    face.wait_gone("┌");
    face.wait("nord");
    face.leave();
}

#[test]
fn the_prefix_is_set_by_pressing_it() {
    let daemon = TestDaemon::start();
    let face = open(&daemon);
    to_row(&face, "Prefix");
    face.send("\r");
    face.wait("press the new prefix");
    face.send("x");
    face.wait("is text and cannot be the prefix");
    face.send("\r");
    face.wait("press the new prefix");
    face.send("\x01");
    wait_line(&daemon, "prefix = ctrl+a");
    face.wait("ctrl+a keys");
    face.send("q");
    let client = daemon.client();
    wait_page(&client, "workspace");
    face.send("\x01");
    face.wait("q leave");
    face.send("q");
    let mut pty = face.pty;
    assert!(pty.wait_ended().success());
}

#[test]
fn keys_are_rebound_freed_and_given_back() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let face = open(&daemon);
    to_row(&face, "Keys");
    face.send("\r");
    face.wait("Settings · Keys");
    face.send("/split right\r");
    face.wait("ctrl+alt+v");
    face.wait_gone("Split Below");
    // The first row is the chord.
    face.send("\r");
    face.wait("press the keys for Split Right");
    face.send("\x07");
    wait_line(&daemon, "keybind = tui:ctrl+g = split_right");
    wait_line(&daemon, "keybind = tui:ctrl+alt+v = unbind");
    face.wait("ctrl+g");
    face.wait_gone("ctrl+alt+v");
    face.send("q");
    wait_page(&client, "workspace");
    face.wait("Nothing runs here yet.");
    face.send("c");
    wait_until("there is a shell", PATIENCE, || super::terminals(&client).len() == 1);
    face.send("PS1='ready> '\r");
    face.wait("ready> ");
    face.send("\x07");
    wait_until("it is split", PATIENCE, || super::terminals(&client).len() == 2);

    face.prefix(",");
    wait_page(&client, "settings");
    to_row(&face, "Keys");
    face.wait("2 changed");
    face.send("\r/split right\r");
    face.wait_gone("Split Below");
    face.wait("ctrl+g");
    face.send("g\x1b[3~");
    wait_until("the line is gone", PATIENCE, || !lines(&daemon).contains("ctrl+g"));
    face.send("r");
    wait_until("both are gone", PATIENCE, || !lines(&daemon).contains("keybind"));
    face.wait("ctrl+alt+v");
    face.send("q");
    wait_page(&client, "workspace");
    face.leave();
}

#[test]
fn a_face_that_only_looks_changes_no_setting() {
    let daemon = TestDaemon::start();
    let face = Face::open_in(&daemon, &["--look", "--page", "settings"], &Outer::default());
    face.wait("config.conf");
    face.send("\r");
    face.wait("read-only: nothing is sent or decided here");
    assert_eq!(lines(&daemon), "");
    face.leave();
}
