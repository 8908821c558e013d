//! `rookery attach` in a real terminal: the screen, sizes, the key that detaches, and a daemon
//! that is replaced meanwhile.

use rookery_native::wire::TerminalWrite;
use rookery_testkit::{Caller, PATIENCE, TestDaemon, TestPty, rookery_binary, wait_until};
use rookery_wire::Call as _;
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
    pty.wait_text("the daemon has stopped");
    // What is typed while no daemon is there waits for the next one.
    pty.send(b"back\r");
    pty.wait_text("5 typed bytes buffered");
    daemon.restart();
    let client = daemon.client();
    client.wait_text(id, "back");
    pty.wait_text("back");
    assert!(!pty.text().contains("the daemon has stopped"), "{}", pty.text());
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
    assert!(said.contains("needs a terminal"), "{said}");
}

#[test]
fn the_terminal_one_is_in_is_refused() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("exec /bin/sh");
    let program = rookery_binary().display();
    let attach = format!("{program} attach $ROOKERY_TERMINAL_ID; echo code=$?");
    client.call(TerminalWrite::METHOD, json!({"terminal": id, "text": format!("{attach}\n")}));
    client.wait_text(id, "code=1");
    assert!(client.screen(id).contains("itself"), "{}", client.screen(id));
    // Known by its session as well, whatever became of the environment.
    let attach = format!("env -u IDX0_SESSION_ID {program} attach {id}; echo again=$?");
    client.call(TerminalWrite::METHOD, json!({"terminal": id, "text": format!("{attach}\n")}));
    client.wait_text(id, "again=1");
}

#[test]
fn a_terminal_that_shows_this_one_is_refused() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let program = rookery_binary().display();
    let (first, second) = (client.open_sh("exec /bin/sh"), client.open_sh("exec /bin/sh"));
    let run = |id: u64, line: String| {
        client.call(TerminalWrite::METHOD, json!({"terminal": id, "text": format!("{line}\n")}));
    };
    run(second, "echo number two | tr a-z A-Z".to_owned());
    client.wait_text(second, "NUMBER TWO");
    run(first, format!("{program} attach {second}"));
    client.wait_text(first, "NUMBER TWO");
    run(second, format!("{program} attach {first}; echo code=$?"));
    client.wait_text(second, "code=1");
    assert!(client.screen(second).contains("would show itself"), "{}", client.screen(second));
    // Once it is not shown any more, it may be.
    client.call(TerminalWrite::METHOD, json!({"terminal": first, "text": "\u{1c}"}));
    client.wait_text(first, "detached");
    run(second, format!("{program} attach {first}"));
    client.wait_text(second, "detached");
}

#[test]
fn without_a_name_the_only_terminal_is_meant_and_several_are_offered() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let attach = || TestPty::spawn(daemon.home(), rookery_binary(), &["attach"], SIZE);
    let mut pty = attach();
    pty.wait_text("no other terminal is running");
    assert_eq!(pty.wait_ended().code(), Some(1));

    let first = client.open_sh("echo number one | tr a-z A-Z; exec cat");
    let mut pty = attach();
    pty.wait_text("NUMBER ONE");
    pty.send(CTRL_BACKSLASH);
    assert!(pty.wait_ended().success());

    let second = client.open_sh("echo number two | tr a-z A-Z; exec cat");
    let mut pty = attach();
    pty.wait_text("attach to (id");
    assert!(pty.text().contains(&first.to_string()), "{}", pty.text());
    pty.send(format!("{second}\r").as_bytes());
    pty.wait_text("NUMBER TWO");
    pty.send(CTRL_BACKSLASH);
    assert!(pty.wait_ended().success());
}

#[test]
fn history_is_looked_through_while_attached() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("seq -f 'row %g' 200; exec cat");
    client.wait_text(id, "row 200");
    let mut pty = attach(&daemon, id);
    pty.wait_text("row 200");
    pty.send(b"\x1b[5;3~");
    pty.wait_text("history");
    pty.wait_text("q returns");
    pty.send(b"g");
    pty.wait_text("history 1-23 of 200");
    assert!(pty.text().starts_with("row 1\nrow 2\n"), "{}", pty.text());
    // Nothing of that reached the program.
    pty.send(b"q");
    pty.wait_text("row 200");
    pty.send(b"typed\r");
    pty.wait_text("typed\ntyped");
    assert!(!client.screen(id).contains('g'), "{}", client.screen(id));
    pty.send(b"\x1b[5;3~");
    pty.wait_text("history");
    pty.send(CTRL_BACKSLASH);
    assert!(pty.wait_ended().success());
}

#[test]
fn the_size_is_that_of_the_client_that_types() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo ready; exec cat");
    client.wait_text(id, "ready");
    let mut large =
        TestPty::spawn(daemon.home(), rookery_binary(), &["attach", &id.to_string()], (40, 120));
    large.wait_text("ready");
    wait_size(&client, id, 40, 120);
    let mut small = attach(&daemon, id);
    small.wait_text("ready");
    wait_size(&client, id, 24, 80);
    large.send(b"large\r");
    wait_size(&client, id, 40, 120);
    small.send(b"small\r");
    wait_size(&client, id, 24, 80);
    client.wait_text(id, "small");
    for pty in [&mut large, &mut small] {
        pty.send(CTRL_BACKSLASH);
        assert!(pty.wait_ended().success());
    }
}
