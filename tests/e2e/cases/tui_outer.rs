//! `rookery tui` inside other terminals: a terminal of a second daemon, driven through ptywright's
//! dialect, and real tmux.

use std::{path::Path, time::Duration};

use rookery_testkit::{
    Caller, Home, Outer as Terminal, PATIENCE, TestDaemon, TestPty, rookery_binary, wait_until,
};
use serde_json::{Value, json};

/// The TUI of one daemon in a session of another.
struct Outer {
    client: Caller,
    session: Value,
}

impl Outer {
    fn open(outer: &TestDaemon, inner: &TestDaemon, env: Value, size: (u16, u16)) -> Outer {
        let client = Caller::connect(&outer.ptywright_socket()).unwrap();
        let mut all = json!({
            "ROOKERY_HOME": inner.home().path(),
            "HOME": inner.home().path(),
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
        });
        for (name, value) in env.as_object().unwrap() {
            all[name] = value.clone();
        }
        let params = json!({
            "program": rookery_binary(),
            "args": ["tui"],
            "env": all,
            "rows": size.0,
            "cols": size.1,
        });
        let session = client.call("session.create", params)["session"].clone();
        Outer { client, session }
    }

    fn matches(&self, kind: &str, value: &str) -> Value {
        let matcher = json!({ "type": kind, "value": value });
        let params = json!({ "session": self.session, "matcher": matcher, "timeout_ms": 30_000 });
        self.client.call("session.wait", params)
    }

    fn wait(&self, text: &str) -> Value {
        self.matches("contains_text", text)
    }

    fn keys(&self, text: &str) {
        let action = json!({ "type": "text", "value": text });
        self.client.call("session.input", json!({ "session": self.session, "action": action }));
    }

    fn after_prefix(&self, key: &str) {
        self.keys("\u{1c}");
        self.wait("q leave");
        self.keys(key);
    }
}

#[test]
fn a_terminal_of_another_daemon_shows_it() {
    let (outer, inner) = (TestDaemon::start(), TestDaemon::start());
    let tui = Outer::open(&outer, &inner, json!({}), (30, 100));
    tui.wait("Nothing runs here yet.");
    tui.keys("c");
    tui.wait("1 ");
    tui.keys("echo in''ner\r");
    tui.wait("inner");
    tui.after_prefix("v");
    tui.keys("echo ri''ght\r");
    tui.wait("right");
    tui.after_prefix("q");
    let ended = json!({ "session": tui.session, "matcher": { "type": "process_exited" } });
    let ended = tui.client.call("session.wait", ended);
    assert_eq!(ended["process"]["exit_code"], 0, "{ended}");
}

#[test]
fn without_colors_every_mood_has_its_sign() {
    let (outer, inner) = (TestDaemon::start(), TestDaemon::start());
    let client = inner.client();
    let id = client.open_sh("printf '\\033[31mred\\033[m plain'; exec cat");
    client.wait_text(id, "plain");
    let env = json!({ "NO_COLOR": "1", "LANG": "C" });
    let tui = Outer::open(&outer, &inner, env, (24, 80));
    let shown = tui.wait("red plain");
    let cells = shown["snapshot"]["cells"].to_string();
    assert!(!cells.contains("\"fg\":{\"type\":\"indexed\""), "{cells}");
    tui.after_prefix("q");
}

fn tmux(home: &Home, args: &[&str]) -> String {
    let socket = home.join("tmux.sock");
    let all: Vec<&str> = ["-S", socket.to_str().unwrap()].iter().chain(args).copied().collect();
    home.run(std::path::Path::new("tmux"), &all).success()
}

#[test]
fn inside_tmux_text_is_copied_into_its_buffer() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo copy-this; exec cat");
    client.wait_text(id, "copy-this");
    let home = daemon.home();
    let socket = home.join("tmux.sock");
    let program = format!("{} tui", rookery_binary().display());
    let args = ["-S", socket.to_str().unwrap(), "-f", "/dev/null", "new-session", &program];
    let mut pty = TestPty::spawn(home, std::path::Path::new("tmux"), &args, (30, 100));
    pty.wait_text("copy-this");
    pty.send(b"\x1c");
    pty.wait_text("q leave");
    pty.send(b"[");
    pty.wait_text("copy mode");
    pty.send(b"gVy");
    pty.wait_text("copied");
    assert_eq!(tmux(home, &["show-buffer"]).trim(), "copy-this");
    pty.send(b"typed\r");
    client.wait_text(id, "typed\ntyped");
    pty.send(b"\x1c");
    pty.wait_text("q leave");
    pty.send(b"q");
    assert!(pty.wait_ended().success());
}

/// A program that shows every byte that it gets, after it switched on what is asked.
fn listener(client: &Caller, modes: &str) -> u64 {
    let script = format!("stty raw -echo; printf '{modes}go'; exec od -An -tx1 -w1 -v");
    let id = client.open_sh(&script);
    client.wait_text(id, "go");
    id
}

fn bytes(client: &Caller, id: u64) -> Vec<String> {
    let screen = client.screen(id);
    let is_byte = |word: &&str| word.len() == 2 && u8::from_str_radix(word, 16).is_ok();
    screen.split_whitespace().filter(is_byte).map(str::to_owned).collect()
}

/// Keys as outer terminals send them that speak no protocol, modifyOtherKeys 2 and kitty's. Where there
/// are several spellings it is the one of the mode that the face has its terminal in.
const LEGACY: &[&[u8]] = &[
    b"a",
    b"Z",
    b"\x01",
    b"\x1a",
    b"\r",
    b"\t",
    b"\x7f",
    b"\x1bx",
    b"\x1b\x7f",
    b"\x1b[A",
    b"\x1b[1;5C",
    b"\x1b[1;3D",
    b"\x1b[H",
    b"\x1b[F",
    b"\x1b[3~",
    b"\x1b[5~",
    b"\x1bOP",
    b"\x1b[15~",
    b"\x1b[24~",
    b"\x1b[Z",
    b"\xc3\xa9",
    b"\xe6\x97\xa5",
    b" ",
];
const MODIFY: &[&[u8]] =
    &[b"\x1b[27;5;105~", b"\x1b[27;6;65~", b"\x1b[27;2;13~", b"\x1b[27;5;13~", b"\x1b[27;5;9~"];
const KITTY: &[&[u8]] =
    &[b"\x1b[13;2u", b"\x1b[105;5u", b"\x1b[97;3u", b"\x1b[9;5u", b"\x1b[127;5u", b"\x1b[27u"];

/// How keys come to a client of ours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From the outer terminal, each whole.
    Straight,
    /// Every byte 10 ms after the one before.
    Slow,
    /// Through tmux.
    Tmux,
}

/// What a program gets of keys through a client of ours, key by key; they must fit its screen, one row
/// for each byte.
fn through(
    daemon: &TestDaemon,
    args: &[&str],
    modes: &str,
    keys: &[&[u8]],
    way: Way,
) -> Vec<Vec<String>> {
    let client = daemon.client();
    let id = listener(&client, modes);
    client.call("rookery/terminals/activate", json!({ "terminal": id }));
    let number = id.to_string();
    let args: Vec<&str> =
        args.iter().map(|arg| if *arg == "ID" { number.as_str() } else { *arg }).collect();
    let terminal = Terminal { size: (61, 100), ..Terminal::default() };
    let pty = match way {
        Way::Straight | Way::Slow => {
            TestPty::spawn_in(daemon.home(), rookery_binary(), &args, &terminal)
        }
        Way::Tmux => {
            let socket = daemon.home().join(&format!("tmux-{id}.sock"));
            let program = format!("{} {}", rookery_binary().display(), args.join(" "));
            let socket = socket.to_str().unwrap();
            let args = ["-S", socket, "-f", "/dev/null", "new-session", &program];
            TestPty::spawn_in(daemon.home(), Path::new("tmux"), &args, &terminal)
        }
    };
    pty.wait_text("go");
    // Nothing is ever sent there: it gives the pace.
    let (_kept, never) = std::sync::mpsc::channel::<()>();
    let mut got = Vec::new();
    let mut seen = 0;
    for key in keys {
        match way {
            Way::Slow => key.iter().for_each(|byte| {
                pty.send(&[*byte]);
                let _ = never.recv_timeout(Duration::from_millis(10));
            }),
            Way::Straight | Way::Tmux => pty.send(key),
        }
        // A mark after each key tells where its bytes end.
        let ends = || bytes(&client, id).len() > seen;
        wait_until(&format!("{key:x?} arrived"), PATIENCE, ends);
        pty.send(b"#");
        let is_marked = || bytes(&client, id)[seen..].contains(&"23".to_owned());
        wait_until("its end arrived", PATIENCE, is_marked);
        let all = bytes(&client, id);
        let end = seen + all[seen..].iter().position(|byte| byte == "23").unwrap();
        got.push(all[seen..end].to_vec());
        seen = end + 1;
    }
    client.call("rookery/terminals/close", json!({ "terminal": id }));
    got
}

#[test]
fn keys_reach_programs_as_attach_sends_them() {
    let daemon = TestDaemon::start();
    for key in LEGACY.chunks(6) {
        let attached = through(&daemon, &["attach", "ID"], "", key, Way::Straight);
        assert_eq!(through(&daemon, &["tui"], "", key, Way::Straight), attached, "{key:x?}");
        assert_eq!(through(&daemon, &["tui"], "", key, Way::Slow), attached, "slowly: {key:x?}");
    }
}

#[test]
fn keys_reach_programs_through_tmux_as_they_do_without_it() {
    let daemon = TestDaemon::start();
    for key in LEGACY.chunks(8) {
        // tmux spells some keys as its own terminal has them; programs here get them as theirs has.
        let attached = through(&daemon, &["attach", "ID"], "", key, Way::Straight);
        assert_eq!(through(&daemon, &["tui"], "", key, Way::Tmux), attached, "{key:x?}");
    }
}

#[test]
fn keys_of_modern_terminals_reach_programs_that_asked_for_them() {
    let daemon = TestDaemon::start();
    let hex = |key: &[u8]| -> Vec<String> { key.iter().map(|b| format!("{b:02x}")).collect() };
    // A program that asked for the kitty protocol gets it, whatever the outer terminal speaks.
    for keys in [KITTY, MODIFY] {
        for key in keys.chunks(3) {
            let got = through(&daemon, &["tui"], "\\033[>1u", key, Way::Straight);
            for (key, got) in key.iter().zip(got) {
                match key.ends_with(b"u") {
                    true => assert_eq!(got, hex(key), "{key:x?}"),
                    // The same key in the other spelling.
                    false => {
                        assert_eq!(got.last().map(String::as_str), Some("75"), "{key:x?}: {got:?}")
                    }
                }
            }
        }
    }
}

#[test]
fn inside_tmux_keys_are_the_same_and_frames_do_not_queue_up() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo go; read x; i=0; while [ $i -lt 200000 ]; do echo flood-$i; i=$((i+1)); done; echo flooded; exec cat");
    client.wait_text(id, "go");
    let home = daemon.home();
    let socket = home.join("tmux.sock");
    let program = format!("{} tui", rookery_binary().display());
    let args = ["-S", socket.to_str().unwrap(), "-f", "/dev/null", "new-session", &program];
    let terminal = Terminal { keeps_bytes: true, ..Terminal::default() };
    let pty = TestPty::spawn_in(home, Path::new("tmux"), &args, &terminal);
    pty.wait_text("go");
    pty.send(b"\r");
    client.wait_text(id, "flooded");
    // The newest state is the next frame, not the last of many.
    let before = pty.written().len();
    pty.wait_text("flooded");
    assert!(pty.written().len() - before < 200_000, "{}", pty.written().len() - before);
    pty.send(b"typed-after\r");
    pty.wait_text("typed-after");
    pty.send(b"\x1c");
    pty.wait_text("q leave");
    pty.send(b"q");
    let mut pty = pty;
    assert!(pty.wait_ended().success());
}

#[test]
fn over_a_slow_line_there_is_no_queue_of_old_frames() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo go; read x; i=0; while [ $i -lt 200000 ]; do echo flood-$i; i=$((i+1)); done; echo flooded; exec cat");
    client.wait_text(id, "go");
    // 1 KiB every 20 ms, which is 50 KB/s.
    let line = Some((1024, Duration::from_millis(20)));
    let terminal = Terminal { line, keeps_bytes: true, ..Terminal::default() };
    let pty = TestPty::spawn_in(daemon.home(), rookery_binary(), &["tui"], &terminal);
    pty.wait_text("go");
    pty.send(b"\r");
    client.wait_text(id, "flooded");
    let before = pty.written().len();
    pty.wait_text("flooded");
    // What lay in the terminal and at most two frames more: far less than what was printed.
    let late = pty.written().len() - before;
    assert!(late < 64 * 1024, "{late} bytes of old frames");
    pty.send(b"typed-after\r");
    pty.wait_text("typed-after");
    pty.send(b"\x1c");
    pty.wait_text("q leave");
    pty.send(b"q");
    let mut pty = pty;
    assert!(pty.wait_ended().success());
}
