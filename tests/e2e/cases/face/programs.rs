//! Programs that people use, in a pane: an editor, a pager, a monitor, and an agent's screen.

use std::fs;

use rookery_testkit::{Outer, PATIENCE, TestDaemon, wait_until};
use serde_json::json;

use super::{Face, terminals};

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    if !is_there {
        eprintln!("{program} is missing; `cargo xtask test` installs it");
    }
    is_there
}

/// A face with a shell that has a prompt of its own.
fn with_shell(daemon: &TestDaemon) -> Face {
    let face = Face::open(daemon);
    face.wait("Nothing runs here yet.");
    face.send("c");
    face.send("PS1='ready> '; cd /\r");
    face.wait("ready> ");
    face
}

#[test]
fn a_pager_is_walked_by_keys_and_wheel() {
    if !has("less") {
        return;
    }
    let daemon = TestDaemon::start();
    let face = with_shell(&daemon);
    let file = daemon.home().join("text");
    let text: String = (1..=200).map(|n| format!("line {n:03}\n")).collect();
    fs::write(&file, text).unwrap();
    face.send(format!("clear; less {}\r", file.display()));
    face.wait("line 001");
    face.send(" ");
    face.wait("line 050");
    face.send("G");
    face.wait("line 200");
    face.send("g");
    face.wait("line 001");
    face.send("/line 15\r");
    face.wait("line 150");
    face.send("g");
    face.wait("line 001");
    // On the alternate screen the wheel is arrows.
    for _ in 0..5 {
        face.send("\x1b[<65;40;10M");
    }
    face.wait("line 040");
    face.wait_gone("line 001");
    face.send("q");
    face.wait("ready> ");
    face.leave();
}

#[test]
fn an_editor_gets_keys_and_the_mouse() {
    if !has("vim") {
        return;
    }
    let daemon = TestDaemon::start();
    let face = with_shell(&daemon);
    let file = daemon.home().join("edited");
    face.send(format!(
        "clear; vim -u NONE -N -n -c 'set mouse=a ttymouse=sgr' {}\r",
        file.display()
    ));
    face.wait("[New]");
    face.send("ione\rtwo\rthree\x1b");
    face.wait("three");
    // Which letter is clicked: the pane begins at column 23 and row 2.
    face.send("\x1b[<0;24;3M\x1b[<0;24;3m");
    face.send("x");
    wait_until("the letter is gone", PATIENCE, || {
        let text = face.pty.text();
        text.lines().any(|line| line.split('│').nth(1).is_some_and(|row| row.trim() == "to"))
    });
    // Up and down, and a change that is taken back.
    face.send("\x1b[Aix\x1b[B");
    face.wait("-- INSERT --");
    // ESC with a letter right behind it is that letter with Alt.
    face.send("\x1b");
    face.wait_gone("-- INSERT --");
    face.send("u");
    face.send(":wq\r");
    face.wait("ready> ");
    face.wait_gone("three");
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\nto\nthree\n");
    face.leave();
}

#[test]
fn a_monitor_is_left_by_a_click() {
    if !has("htop") {
        return;
    }
    let daemon = TestDaemon::start();
    let face = with_shell(&daemon);
    face.send("clear; htop\r");
    face.wait("PID");
    face.wait("F10");
    let text = face.pty.text();
    let (row, line) = text.lines().enumerate().find(|(_, line)| line.contains("F10")).unwrap();
    let col = line[..line.find("F10").unwrap()].chars().count() + 5;
    face.send(format!("\x1b[<0;{col};{}M\x1b[<0;{col};{}m", row + 1, row + 1));
    face.wait("ready> ");
    face.wait_gone("F10");
    face.leave();
}

/// What stands for an agent's screen: it asks for the kitty keyboard protocol, draws a prompt, and
/// shows every byte that it gets.
const AGENT: &str = "stty raw -echo; printf '\\033[?1049h\\033[>1u\\033[?2004h> agent waits'; \
                     exec od -An -tx1 -w1 -v";

#[test]
fn an_agent_gets_shift_and_enter_where_the_terminal_sends_it() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh(AGENT);
    client.wait_text(id, "agent waits");
    let outer = Outer { env: &[("ROOKERY_TUI_KEYS", "kitty")], ..Outer::default() };
    let face = Face::open_in(&daemon, &[], &outer);
    face.wait("agent waits");
    wait_until("the keyboard is as the program asked", PATIENCE, || {
        face.pty.modes().kitty_keyboard == 31
    });
    face.send("\x1b[13;2u");
    let bytes = || -> Vec<String> {
        let screen = client.screen(id);
        let is_byte = |word: &&str| word.len() == 2 && u8::from_str_radix(word, 16).is_ok();
        screen.split_whitespace().filter(is_byte).map(str::to_owned).collect()
    };
    let wanted: Vec<String> = b"\x1b[13;2u".iter().map(|byte| format!("{byte:02x}")).collect();
    wait_until("it got all of it", PATIENCE, || bytes() == wanted);
    // A paste of several lines comes in brackets, and nothing is asked.
    face.send("\x1b[200~one\ntwo\x1b[201~");
    wait_until("it got the paste", PATIENCE, || bytes().ends_with(&["7e".to_owned()]));
    let all = bytes().join(" ");
    assert!(all.contains("1b 5b 32 30 30 7e 6f 6e 65"), "{all}");
    face.leave();
}

#[test]
fn a_paste_of_lines_into_a_shell_is_asked_for() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    client.wait_text(id, "go");
    let face = Face::open(&daemon);
    face.wait("go");
    face.send("\x1b[200~echo one\necho \u{202e}two\x1b[201~");
    face.wait("Paste 2 lines?");
    // What hides is spelled.
    face.wait("\\u{202e}two");
    face.send("\x1b");
    face.wait_gone("Paste 2 lines?");
    assert!(!client.screen(id).contains("echo one"));
    face.send("\x1b[200~echo one\necho two\x1b[201~");
    face.wait("Paste 2 lines?");
    face.send("\r");
    client.wait_text(id, "echo two");
    // One line is pasted at once.
    face.send("\x1b[200~single\x1b[201~\r");
    client.wait_text(id, "single");
    assert_eq!(terminals(&client), [id]);
    face.leave();
}

#[test]
fn projects_are_dragged_into_another_order() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    for name in ["alpha", "beta"] {
        let root = daemon.home().path();
        client.call("rookery/projects/create", json!({ "name": name, "root": root }));
    }
    let names = || -> Vec<String> {
        let projects = client.call("rookery/projects/list", json!({}))["projects"].clone();
        let names = projects.as_array().unwrap().iter();
        names.map(|project| project["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(), ["alpha", "beta"]);
    let face = Face::open(&daemon);
    face.wait("beta");
    face.send("\x1b[<0;5;3M\x1b[<32;5;2M\x1b[<0;5;2m");
    wait_until("beta is first", PATIENCE, || names() == ["beta", "alpha"]);
    face.leave();
}

#[test]
fn links_are_handed_on_and_copied() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let script = "printf '\\033]8;;https://example.org/x\\033\\\\web\\033]8;;\\033\\\\ \
                  \\033]8;;javascript:alert(1)\\033\\\\evil\\033]8;;\\033\\\\ \
                  \\033]8;;file:///tmp/a%%20b\\033\\\\file\\033]8;;\\033\\\\\\n'; exec cat";
    let id = client.open_sh(script);
    client.wait_text(id, "evil");
    let outer = Outer { keeps_bytes: true, ..Outer::default() };
    let face = Face::open_in(&daemon, &[], &outer);
    face.wait("evil");
    let bytes = String::from_utf8_lossy(&face.pty.written()).into_owned();
    assert!(bytes.contains("\x1b]8;;https://example.org/x\x1b\\"), "{bytes:?}");
    assert!(!bytes.contains("javascript:") && !bytes.contains("file:"), "{bytes:?}");
    // With Alt held, a click copies; the pane begins at column 23.
    let click = |col: u16| face.send(format!("\x1b[<8;{col};2M\x1b[<8;{col};2m"));
    click(24);
    face.wait("https://example.org/x: sent to your terminal");
    click(28);
    face.wait("Copy this address?");
    face.send("\x1b");
    face.wait_gone("Copy this address?");
    click(33);
    face.wait("Paste this path?");
    face.wait("/tmp/a b");
    face.send("\r");
    client.wait_text(id, "'/tmp/a b'");
    face.leave();
}
