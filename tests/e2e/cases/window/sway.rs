//! The window under Wayland with a keyboard, a mouse and an input method: what it gets of them, and its pixels.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::PathBuf,
    process::{Command, Stdio},
};

use rookery_testkit::{
    Finished, Home, PATIENCE, TestDaemon, eventually, rookery_binary, wait_until,
};
use tempfile::TempDir;

use super::{
    BYTES, Running, Trace, bytes_of,
    hands::Hands,
    has,
    pictures::{Pixels, SIGHTS},
    source::{Came, Source},
    terminals,
};

const NEEDS: [(&str, &str); 2] =
    [("sway", "sway libwayland-client0 libxkbcommon0"), ("grim", "grim")];
/// The size of its screen in pixels.
const SCREEN: (u32, u32) = (1400, 900);
const CONFIG: &str = "xwayland disable
output HEADLESS-1 resolution 1400x900 position 0 0
default_border none
seat seat0 hide_cursor 100
";
/// Who it runs as if the tests have all rights: it refuses those.
const UNPRIVILEGED: u32 = 65534;

/// A compositor without a screen.
struct Sway {
    home: Home,
    /// What is its own.
    dir: TempDir,
    _server: Running,
}

impl Sway {
    /// None where what is needed is not installed; that is said.
    fn start() -> Option<Sway> {
        if !has(&NEEDS) {
            return None;
        }
        let home = Home::new();
        let private = fs::Permissions::from_mode(0o700);
        let dir = tempfile::Builder::new().prefix("rs").permissions(private).tempdir_in("/tmp");
        let dir = dir.unwrap();
        let config = dir.path().join("config");
        fs::write(&config, CONFIG).unwrap();
        let mut server = if fs::metadata(dir.path()).unwrap().uid() == 0 {
            chown(dir.path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
            let mut server = home.command("setpriv");
            let (user, group) =
                (format!("--reuid={UNPRIVILEGED}"), format!("--regid={UNPRIVILEGED}"));
            server.args([&user, &group, "--clear-groups", "sway"]);
            server
        } else {
            home.command("sway")
        };
        server.arg("-c").arg(config).env("HOME", dir.path()).env("XDG_RUNTIME_DIR", dir.path());
        server.env("SWAYSOCK", dir.path().join("sway.sock"));
        server.env("WLR_BACKENDS", "headless").env("WLR_RENDERER", "pixman");
        server.env("WLR_LIBINPUT_NO_DEVICES", "1");
        server.stdout(Stdio::null()).stderr(Stdio::null());
        let server = Running(server.spawn().unwrap());
        let sway = Sway { home, dir, _server: server };
        wait_until("the compositor is there", PATIENCE, || {
            sway.socket().exists() && sway.swaymsg(&["-t", "get_version"]).status.success()
        });
        Some(sway)
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("wayland-1")
    }

    /// A program that shows itself there.
    fn command_of(&self, home: &Home, program: &str) -> Command {
        let mut command = home.command(program);
        command.env("WAYLAND_DISPLAY", self.socket());
        command
    }

    fn swaymsg(&self, args: &[&str]) -> Finished {
        let mut command = self.home.command("swaymsg");
        command.arg("-s").arg(self.dir.path().join("sway.sock")).args(args);
        Finished::of(command)
    }

    fn scale(&self, scale: &str) {
        self.swaymsg(&["output", "HEADLESS-1", "scale", scale]).success();
    }

    /// To be there before the window, which else hears of them when something is done with them already.
    fn hands(&self) -> Hands {
        Hands::at(&self.socket(), SCREEN)
    }

    /// A window of a daemon; it has all of the screen.
    fn open(&self, daemon: &TestDaemon) -> (Running, Trace) {
        let trace = Trace(daemon.home().join("trace.jsonl"));
        let mut window = self.command_of(daemon.home(), rookery_binary().to_str().unwrap());
        window.arg("window").arg("--trace").arg(&trace.0);
        (Running(window.spawn().unwrap()), trace)
    }

    /// What is on the screen; the mouse is not drawn while it does nothing.
    fn pixels(&self) -> Pixels {
        let mut grim = self.command_of(&self.home, "grim");
        grim.args(["-t", "ppm", "-"]).stdout(Stdio::piped());
        Pixels::of_ppm(&grim.output().unwrap().stdout)
    }
}

#[test]
fn keys_the_mouse_splits_and_drags_work_under_wayland() {
    let Some(sway) = Sway::start() else { return };
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let mut hands = sway.hands();
    let id = client.open_sh(&format!("printf '\\033[?1049h'; {BYTES}"));
    client.wait_text(id, "go");
    let (_window, trace) = sway.open(&daemon);
    trace.wait("the terminal is shown", |seen| seen["terminal"] == id);
    hands.types("ab");
    hands.keys("shift+a");
    hands.keys("ctrl+c");
    wait_until("keys arrive once", PATIENCE, || bytes_of(&client, id) == "61 62 41 03");
    // On the alternate screen the wheel becomes arrows.
    hands.moves((700, 450));
    hands.wheels_up();
    let up = "1b 5b 41 1b 5b 41 1b 5b 41";
    wait_until("the wheel arrives", PATIENCE, || {
        bytes_of(&client, id) == format!("61 62 41 03 {up}")
    });

    hands.keys("alt+shift+\\");
    let seen = trace.wait("two panes", |seen| seen["panes"] == 2 && seen["terminal"] != id);
    let second = seen["terminal"].as_u64().unwrap();
    hands.clicks((400, 450));
    trace.wait("a click goes to its pane", |seen| seen["terminal"] == id);
    // The line between both is in the middle of the room.
    let cols = || client.terminal(id)["size"]["cols"].as_u64().unwrap();
    let before = eventually("both have a size", PATIENCE, || {
        let other = client.terminal(second)["size"]["cols"].as_u64().unwrap();
        (cols().abs_diff(other) <= 1).then(cols)
    });
    let middle = 220 + (SCREEN.0 - 220) / 2;
    hands.drags((middle, 450), (middle - 200, 450));
    wait_until("the line is moved", PATIENCE, || cols() < before - 15);

    hands.keys("alt+t");
    trace.wait("a new tab", |seen| seen["panes"] == 1);
    wait_until("it is a third", PATIENCE, || terminals(&client).len() == 3);
    hands.keys("ctrl+1");
    trace.wait("the first group", |seen| seen["panes"] == 2);
    // Its pill is the second of the strip; it goes to the right edge of the pane that is shown.
    hands.drags((220 + 8 + 170, 16), (1380, 450));
    trace.wait("three panes", |seen| seen["panes"] == 3);
}

#[test]
fn text_of_an_input_method_arrives_once_under_wayland() {
    let Some(sway) = Sway::start() else { return };
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let mut hands = sway.hands();
    let id = client.open_sh(BYTES);
    client.wait_text(id, "go");
    let (_window, trace) = sway.open(&daemon);
    trace.wait("the terminal is shown", |seen| seen["terminal"] == id);
    hands.wait_wanted();
    let before = trace.lines().len();
    hands.shows("かな");
    wait_until("it is drawn", PATIENCE, || trace.lines().len() > before);
    assert_eq!(bytes_of(&client, id), "", "nothing of it is the program's");
    hands.enters("仮名");
    let entered = "e4 bb ae e5 90 8d";
    wait_until("it arrived", PATIENCE, || bytes_of(&client, id) == entered);
    // In a field as well, and there it is the field's.
    hands.keys("alt+shift+p");
    trace.wait("the palette is open", |seen| seen["over"] == "palette");
    hands.wait_wanted();
    hands.shows("かな");
    hands.enters("仮名");
    trace.wait("it is in the field", |seen| seen["typed"] == "仮名");
    assert_eq!(bytes_of(&client, id), entered, "and it arrived once");
}

#[test]
fn files_that_are_dropped_under_wayland_are_typed_as_quoted_paths() {
    let Some(sway) = Sway::start() else { return };
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let mut hands = sway.hands();
    let id = client.open_sh("stty raw -echo; echo go; exec cat");
    client.wait_text(id, "go");
    let (_window, trace) = sway.open(&daemon);
    trace.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let list = "# two files\r\nfile:///tmp/a%20b\r\nfile:///tmp/c\r\nhttps://example.com/d\r\n";
    let source = Source::at(&sway.socket(), list.to_owned());
    // It is in the middle of the right half of the screen as soon as it is shown.
    wait_until("it is there", PATIENCE, || {
        sway.swaymsg(&["-t", "get_tree"]).stdout.contains("\"app_id\": \"source\"")
    });
    hands.moves((1050, 450));
    source.wait(Came::Entered);
    hands.presses();
    hands.moves((700, 450));
    hands.moves((400, 450));
    source.wait(Came::Wanted);
    hands.lets_go();
    source.wait(Came::Taken);
    wait_until("both paths arrived", PATIENCE, || {
        client.screen(id).contains("'/tmp/a b' /tmp/c") && !client.screen(id).contains("example")
    });
}

#[test]
fn its_pixels_are_the_daemons_at_every_scale_under_wayland() {
    let Some(sway) = Sway::start() else { return };
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let mut hands = sway.hands();
    let id = client.open_sh(SIGHTS);
    client.wait_text(id, "sights");
    let (_window, trace) = sway.open(&daemon);
    trace.wait("the terminal is shown", |seen| seen["terminal"] == id);
    // The daemon's picture is of the window that was worked in. The mouse is over nothing that shows it.
    hands.moves((100, 700));
    hands.keys("x");
    client.wait_text(id, "x");
    let agree = |scale: &str| {
        eventually(&format!("the pictures are equal at {scale}"), PATIENCE, || {
            let (shown, drawn) = (sway.pixels(), Pixels::of_daemon(&daemon, scale));
            shown.is_like(&drawn).then_some(())
        });
    };
    agree("1");
    sway.scale("2");
    agree("2");
    // This compositor shrinks a picture of scale 2, as all did before broken scales had a protocol; what
    // counts is that there is as much room as it says.
    let cols = || client.terminal(id)["size"]["cols"].as_u64().unwrap();
    let twice = cols();
    sway.scale("1.25");
    wait_until("it has the room of 1120 points", PATIENCE, || cols() > twice + 40);
    sway.scale("1");
    agree("1");
}
