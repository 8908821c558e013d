//! `rookery attach` in a real terminal: the screen, sizes, the key that detaches, and a daemon
//! that is replaced meanwhile.

use rookery_testkit::{Caller, PATIENCE, TestDaemon, TestPty, rookery_binary, wait_until};
use rustix::termios::LocalModes;
use serde_json::json;

const SIZE: (u16, u16) = (24, 80);
const CTRL_BACKSLASH: &[u8] = b"\x1c";

fn attach(daemon: &TestDaemon, id: u64) -> TestPty {
    TestPty::spawn(daemon.home(), rookery_binary(), &["attach", &id.to_string()], SIZE)
}

fn wait_size(client: &Caller, id: u64, rows: u16, cols: u16) {
    let wanted = json!({ "rows": rows, "cols": cols });
    wait_until("the terminal has the size", PATIENCE, || client.terminal(id)["size"] == wanted);
}

#[test]
fn a_terminal_is_shown_typed_into_resized_and_left() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo hello there; exec cat");
    client.wait_text(id, "hello there");
    let mut pty = attach(&daemon, id);
    pty.wait_text("hello there");
    assert!(!pty.settings().local_modes.contains(LocalModes::ICANON), "typing goes out as it is");

    pty.send(b"typed\r");
    pty.wait_text("typed\ntyped");
    client.wait_text(id, "typed\ntyped");

    pty.resize((30, 100));
    wait_size(&client, id, 30, 100);

    pty.send(CTRL_BACKSLASH);
    assert!(pty.wait_ended().success());
    pty.wait_text("detached");
    assert!(pty.settings().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO));
    assert_eq!(client.terminal(id)["state"], "running");

    let mut pty = attach(&daemon, id);
    pty.wait_text("hello there");
    wait_size(&client, id, 24, 80);
    pty.send(b"\x04");
    assert_eq!(pty.wait_ended().code(), Some(0));
    assert_eq!(client.terminal(id)["exit"], json!({ "code": 0 }));
}

#[test]
fn an_attachment_outlives_the_daemon() {
    let mut daemon = TestDaemon::start();
    let client = daemon.client();
    let id =
        client.open_sh("printf '\\033[?1049h\\033[5;10Hon the other screen'; stty -echo; exec cat");
    client.wait_text(id, "on the other screen");
    let mut pty = attach(&daemon, id);
    pty.wait_text("on the other screen");
    daemon.kill9();
    daemon.restart();
    // What is typed while no daemon is there has nowhere to go; afterwards it has.
    let client = daemon.client();
    wait_until("typing arrives again", PATIENCE, || {
        pty.send(b"back\r");
        client.screen(id).contains("back")
    });
    pty.wait_text("back");
    assert!(pty.text().contains("on the other screen"), "{}", pty.text());
    pty.resize((20, 70));
    wait_size(&client, id, 20, 70);
    pty.send(CTRL_BACKSLASH);
    assert!(pty.wait_ended().success());
}

#[test]
fn the_end_of_the_program_ends_the_attachment_with_its_code() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo ready; read line; exit 7");
    let mut pty = attach(&daemon, id);
    pty.wait_text("ready");
    pty.send(b"\r");
    assert_eq!(pty.wait_ended().code(), Some(7));
}

#[test]
fn open_and_attach_at_once() {
    let daemon = TestDaemon::start();
    let args =
        ["open", "--attach", "--", "/bin/sh", "-c", "stty size; read line; echo got $line; exit 3"];
    let mut pty = TestPty::spawn(daemon.home(), rookery_binary(), &args, (33, 101));
    pty.wait_text("33 101");
    pty.send(b"a line\r");
    assert_eq!(pty.wait_ended().code(), Some(3));
    pty.wait_text("got a line");
}

#[test]
fn attaching_without_a_terminal_is_refused() {
    let daemon = TestDaemon::start();
    let id = daemon.client().open_sh("exec cat");
    let said = daemon.rookery(&["attach", &id.to_string()]).failure(1);
    assert!(said.contains("must be a terminal"), "{said}");
}
