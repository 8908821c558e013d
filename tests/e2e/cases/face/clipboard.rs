//! Copying tells the truth: what is known to be in the clipboard, and what is only sent.

use rookery_testkit::{Outer, PATIENCE, TestDaemon, wait_until};

use super::Face;

fn copied(daemon: &TestDaemon, outer: &Outer<'_>) -> Face {
    let client = daemon.client();
    let id = client.open_sh("echo copy-this; exec cat");
    client.wait_text(id, "copy-this");
    let face = Face::open_in(daemon, &[], outer);
    face.wait("copy-this");
    face.prefix("[");
    face.wait("copy mode");
    face.send("gVy");
    face.wait_gone("copy mode");
    face
}

/// `copy-this` and its line end, as OSC 52 has it.
const COPIED: &str = "\x1b]52;c;Y29weS10aGlz";

#[test]
fn a_terminal_that_takes_a_clipboard_has_it() {
    let daemon = TestDaemon::start();
    let outer = Outer { has_clipboard: true, keeps_bytes: true, ..Outer::default() };
    let face = copied(&daemon, &outer);
    face.wait("copied");
    let bytes = String::from_utf8_lossy(&face.pty.written()).into_owned();
    assert!(bytes.contains(COPIED), "{bytes:?}");
    assert!(!face.pty.text().contains("did not say"));
    face.leave();
}

#[test]
fn a_terminal_that_says_nothing_is_not_believed() {
    let daemon = TestDaemon::start();
    let outer = Outer { keeps_bytes: true, ..Outer::default() };
    let face = copied(&daemon, &outer);
    face.wait("sent to your terminal (it did not say whether it takes it)");
    let bytes = String::from_utf8_lossy(&face.pty.written()).into_owned();
    assert!(bytes.contains(COPIED), "{bytes:?}");
    face.leave();
}

#[test]
fn a_local_console_leaves_it_to_the_daemon() {
    let daemon = TestDaemon::start();
    let outer = Outer { env: &[("TERM", "linux")], keeps_bytes: true, ..Outer::default() };
    let face = copied(&daemon, &outer);
    face.wait("copied");
    let bytes = String::from_utf8_lossy(&face.pty.written()).into_owned();
    assert!(!bytes.contains("\x1b]52"), "{bytes:?}");
    face.prefix("]");
    face.send("\r");
    let client = daemon.client();
    let id = super::terminals(&client)[0];
    wait_until("it was pasted", PATIENCE, || client.screen(id).matches("copy-this").count() >= 2);
    face.leave();
}

#[test]
fn what_a_program_copies_reaches_the_outer_terminal_once() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id =
        client.open_sh("echo go; read x; printf '\\033]52;c;c2VjcmV0\\007'; echo done; exec cat");
    client.wait_text(id, "go");
    let outer = Outer { keeps_bytes: true, ..Outer::default() };
    let face = Face::open_in(&daemon, &[], &outer);
    face.wait("go");
    face.send("\r");
    face.wait("done");
    let count = || {
        let bytes = String::from_utf8_lossy(&face.pty.written()).into_owned();
        bytes.matches("\x1b]52;c;c2VjcmV0").count()
    };
    wait_until("it came", PATIENCE, || count() == 1);
    face.send("x\r");
    client.wait_text(id, "x");
    assert_eq!(count(), 1);
    face.leave();
}
