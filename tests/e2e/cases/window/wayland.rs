//! The window under Wayland, by a compositor that needs no screen.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Stdio};

use rookery_testkit::{PATIENCE, TestDaemon, rookery_binary, wait_until};

use super::{Running, Trace, has};

#[test]
fn it_opens_and_paints_under_wayland() {
    if !has(&[("weston", "weston libwayland-client0 libxkbcommon0")]) {
        return;
    }
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    client.wait_text(id, "go");
    let home = daemon.home();
    let runtime = home.join("xdg");
    fs::create_dir(&runtime).unwrap();
    fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).unwrap();
    let mut server = home.command("weston");
    server.args(["--backend=headless-backend.so", "--socket=roost-0", "--idle-time=0"]);
    server.args(["--width=1400", "--height=900", "--no-config"]);
    server.env("XDG_RUNTIME_DIR", &runtime).stdout(Stdio::null()).stderr(Stdio::null());
    let _server = Running(server.spawn().unwrap());
    wait_until("the compositor is there", PATIENCE, || runtime.join("roost-0").exists());
    let trace = Trace(home.join("trace.jsonl"));
    let mut window = home.command(rookery_binary());
    window.env("XDG_RUNTIME_DIR", &runtime).env("WAYLAND_DISPLAY", "roost-0");
    window.arg("window").arg("--trace").arg(&trace.0);
    let mut window = Running(window.spawn().unwrap());
    trace.wait("the terminal is shown", |seen| seen["terminal"] == id);
    // It goes on: what comes is painted.
    let before = trace.lines().len();
    client.write(id, "more\r");
    client.wait_text(id, "more");
    wait_until("it is painted", PATIENCE, || trace.lines().len() > before);
    let viewers = client.status()["viewers"].clone();
    assert_eq!(viewers[0]["face"], "window", "{viewers}");
    assert!(!window.has_ended());
}
