//! The window under Wayland, by a compositor that needs no screen.

use std::{
    fs,
    os::unix::{fs::PermissionsExt as _, net::UnixListener},
    path::PathBuf,
    process::Stdio,
};

use rookery_testkit::{Home, PATIENCE, TestDaemon, rookery_binary, wait_until};

use super::{Display, Running, Trace, has};

/// A directory for a compositor's socket.
fn runtime(home: &Home) -> PathBuf {
    let runtime = home.join("xdg");
    fs::create_dir(&runtime).unwrap();
    fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).unwrap();
    runtime
}

/// A window that finds this compositor, and X11 beside it, opens on X11.
fn opens_on_x11(listener: impl FnOnce(UnixListener)) {
    let Some(display) = Display::start() else { return };
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    client.wait_text(id, "go");
    let runtime = runtime(daemon.home());
    listener(UnixListener::bind(runtime.join("wayland-0")).unwrap());
    let trace = Trace(daemon.home().join("trace.jsonl"));
    let mut window = display.command_of(daemon.home(), rookery_binary());
    window.env("XDG_RUNTIME_DIR", &runtime).env("WAYLAND_DISPLAY", "wayland-0");
    window.arg("window").arg("--trace").arg(&trace.0);
    let _window = Running(window.spawn().unwrap());
    trace.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let found = display.xdotool(&["search", "--sync", "--onlyvisible", "--class", "rookery"]);
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn a_compositor_that_hangs_is_not_waited_for() {
    // Connections wait in its queue for ever.
    opens_on_x11(std::mem::forget);
}

#[test]
fn a_compositor_that_hangs_up_is_left() {
    opens_on_x11(|listener| {
        std::thread::spawn(move || listener.incoming().for_each(drop));
    });
}

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
    let runtime = runtime(home);
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
