//! `rookery tui` inside other terminals: a terminal of a second daemon, driven through ptywright's
//! dialect, and real tmux.

use rookery_testkit::{Caller, Home, TestDaemon, TestPty, rookery_binary};
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
