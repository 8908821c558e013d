//! What is left of the outer terminal on every way out, what a face does that has nothing to do, and
//! a face inside of itself.

use rookery_testkit::{Home, Outer, PATIENCE, TestDaemon, TestPty, rookery_binary, wait_until};
use rustix::termios::LocalModes;
use serde_json::json;

use super::{Face, terminals};
use crate::viewers::idle::wait_asleep;

/// A program of ours in a shell, in a terminal with a title and a cursor of its own.
fn in_a_shell(daemon: &TestDaemon, env: &[(&str, &str)]) -> TestPty {
    let program = rookery_binary().display().to_string();
    // The shell tells when it has the terminal again, and shows what it is.
    let script = format!(
        "printf '\\033]2;before\\007outside\\n'; sh -c 'echo $$ > {}; exec {program} tui'; \
         echo left with $?; exec cat",
        daemon.home().join("face").display()
    );
    let outer = Outer { keeps_bytes: true, env, ..Outer::default() };
    let pty =
        TestPty::spawn_in(daemon.home(), std::path::Path::new("sh"), &["-c", &script], &outer);
    pty.wait_text("ctrl+\\ keys");
    pty
}

/// The face inside of that shell.
fn face_of(daemon: &TestDaemon) -> i32 {
    std::fs::read_to_string(daemon.home().join("face")).unwrap().trim().parse().unwrap()
}

fn signal(process: i32, signal: rustix::process::Signal) {
    let process = rustix::process::Pid::from_raw(process).unwrap();
    rustix::process::kill_process(process, signal).unwrap();
}

#[track_caller]
fn assert_given_back(pty: &TestPty) {
    wait_until("the screen is given back", PATIENCE, || pty.text().contains("outside"));
    let is_back = || {
        let settings = pty.settings();
        settings.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    };
    wait_until("so are its settings", PATIENCE, is_back);
    let modes = pty.modes();
    assert!(!modes.alternate_screen && !modes.bracketed_paste && !modes.focus_events);
    assert!(!modes.mouse_clicks && !modes.mouse_drag && !modes.mouse_motion && !modes.mouse_sgr);
    assert!(modes.line_wrap);
    assert_eq!(modes.kitty_keyboard, 0);
    let now = pty.snapshot();
    assert!(now.cursor.visible);
    assert_eq!(now.title.as_deref(), Some("before"));
}

#[test]
fn every_way_out_gives_the_terminal_back() {
    use rustix::process::Signal;
    let daemon = TestDaemon::start();
    for way in [None, Some(Signal::TERM), Some(Signal::HUP), Some(Signal::INT)] {
        for keys in ["legacy", "kitty"] {
            let pty = in_a_shell(&daemon, &[("ROOKERY_TUI_KEYS", keys), ("LANG", "C.UTF-8")]);
            let titled = || pty.snapshot().title.is_some_and(|title| title.starts_with("Rookery"));
            wait_until("it has a title of its own", PATIENCE, titled);
            assert!(pty.modes().alternate_screen && pty.modes().mouse_drag);
            match way {
                Some(by) => signal(face_of(&daemon), by),
                None => {
                    pty.send(b"\x1c");
                    pty.wait_text("q leave");
                    pty.send(b"q");
                }
            }
            pty.wait_text("left with 0");
            assert_given_back(&pty);
            pty.send(b"as before\n");
            pty.wait_text("as before\nas before");
        }
    }
}

#[test]
fn while_it_is_stopped_the_terminal_is_given_back() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    client.wait_text(id, "go");
    let pty = in_a_shell(&daemon, &[]);
    pty.wait_text("go");
    let face = face_of(&daemon);
    signal(face, rustix::process::Signal::TSTP);
    assert_given_back(&pty);
    signal(face, rustix::process::Signal::CONT);
    pty.wait_text("ctrl+\\ keys");
    pty.wait_text("go");
    wait_until("it has the terminal again", PATIENCE, || {
        pty.modes().alternate_screen && pty.modes().mouse_drag && pty.modes().bracketed_paste
    });
    pty.send(b"typed\r");
    client.wait_text(id, "typed\ntyped");
    pty.send(b"\x1c");
    pty.wait_text("q leave");
    pty.send(b"q");
    pty.wait_text("left with 0");
    assert_given_back(&pty);
}

#[test]
fn a_face_with_nothing_to_do_writes_nothing() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let quiet = client.open_sh("echo go; exec cat");
    client.wait_text(quiet, "go");
    let hidden = client.open_sh("stty -echo; echo elsewhere; exec cat");
    client.wait_text(hidden, "elsewhere");
    client.call("rookery/terminals/activate", json!({ "terminal": quiet }));
    let outer = Outer { keeps_bytes: true, ..Outer::default() };
    let face = Face::open_in(&daemon, &[], &outer);
    face.wait("go");
    face.send("x");
    client.wait_text(quiet, "x");
    wait_until("it is shown", PATIENCE, || face.pty.text().contains('x'));
    let program = face.pty.program();
    wait_asleep(program);
    let before = face.pty.written().len();
    // What a tab prints that is not shown is nothing to it.
    for line in 0..50 {
        client.write(hidden, &format!("line {line}\n"));
    }
    client.wait_text(hidden, "line 49");
    wait_asleep(program);
    let written = face.pty.written();
    let more = String::from_utf8_lossy(&written[before..]).into_owned();
    assert_eq!(more, "", "nothing was there to be written");
    face.leave();
}

#[test]
fn inside_of_itself_it_shows_its_own_terminal_as_that() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let program = rookery_binary().display().to_string();
    let argv = [program.as_str(), "tui", "--nested"];
    let id = client.open(json!({ "argv": argv, "rows": 30, "cols": 100 }));
    client.wait_text(id, "ctrl+\\ keys");
    client.wait_text(id, "this terminal");
    client.write(id, "x");
    client.wait_text(id, "this is the terminal that Rookery itself runs in");
    client.write(id, "\x1cq");
    wait_until("it ended", PATIENCE, || {
        client.terminals().iter().all(|it| it["id"] != json!(id) || it["exit"]["code"] == 0)
    });
}

#[test]
fn without_a_daemon_that_can_be_had_it_fails_and_says_so() {
    let home = Home::new();
    // Where the socket's directory would be lies a file.
    std::fs::write(home.join("run"), "in the way").unwrap();
    let outer = Outer::default();
    let mut pty = TestPty::spawn_in(&home, rookery_binary(), &["tui"], &outer);
    assert_eq!(pty.wait_ended().code(), Some(1));
    assert!(!pty.modes().alternate_screen);
}

#[test]
fn what_leads_on_is_on_the_first_screen() {
    let daemon = TestDaemon::start();
    let face = Face::open(&daemon);
    for words in ["Nothing runs here yet.", "every key", "palette", "ctrl+\\ keys", "+ new project"]
    {
        face.wait(words);
    }
    face.send("\x1c");
    for words in ["i inbox", "? help", "palette", "q leave"] {
        face.wait(words);
    }
    face.send("\x1b");
    face.wait_gone("q leave");
    // Hints can be clicked: the prefix, and then help.
    face.send("\x1b[<0;4;30M\x1b[<0;4;30m");
    face.wait("? help");
    let text = face.pty.text();
    let (row, line) = text.lines().enumerate().find(|(_, line)| line.contains("? help")).unwrap();
    let col = line[..line.find("? help").unwrap()].chars().count() + 1;
    face.send(format!("\x1b[<0;{col};{}M\x1b[<0;{col};{}m", row + 1, row + 1));
    face.wait("typing filters");
    face.send("\x1b");
    face.wait("Nothing runs here yet.");
    assert_eq!(terminals(&daemon.client()), Vec::<u64>::new());
    face.leave();
}
