//! A clipboard of the daemon's machine that takes its time.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use rookery_testkit::{Home, TestDaemon, rookery_binary};
use serde_json::json;

use super::Link;

/// The port of the display with the number 0.
const DISPLAYS: u16 = 6000;

#[test]
fn keys_behind_a_paste_from_a_clipboard_wait_for_it() {
    // A display that takes connections and never says a word: each question to its clipboard takes a second.
    let display = TcpListener::bind("127.0.0.1:0").unwrap();
    let number = display.local_addr().unwrap().port() - DISPLAYS;
    let home = Home::new();
    let program = home.join("on-display");
    let script = format!(
        "#!/bin/sh\nDISPLAY=127.0.0.1:{number} exec '{}' \"$@\"\n",
        rookery_binary().display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let daemon = TestDaemon::start_by(home, program);
    let client = daemon.client();
    let t = client.open_sh("printf '\\033]52;c;cGFzdGVk\\007'; echo up; exec cat");
    client.wait_text(t, "up");
    let mut link = Link::open(&daemon, json!({}));
    link.call("rookery/view/key", json!({"n": 1, "t": t, "k": "("}));
    let params = json!({"n": 2, "t": t, "text": "", "from": "clipboard"});
    let paste =
        json!({"jsonrpc": "2.0", "id": "p", "method": "rookery/view/paste", "params": params});
    link.lines.send_json(&paste).unwrap();
    link.tell("rookery/view/key", json!({"n": 3, "t": t, "k": ")"}));
    link.wait_frame(|frame| frame["input"] == 3);
    client.wait_text(t, "(pasted)");
}
