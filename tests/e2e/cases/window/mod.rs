//! `rookery window` on a display without a screen: keys and mouse by XTest, what other clients see of
//! it, its pixels, its pages, its place on the desktop, and what happens when the daemon dies. Waits for
//! the lines of `--trace` and for the daemon.

mod banners;
mod crash;
mod desktop;
mod drop;
mod habits;
mod hands;
mod hostile;
mod ime;
mod keys;
mod mouse;
mod pages;
mod pictures;
mod settings;
mod source;
mod sway;
mod wayland;

use std::{
    cell::Cell,
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rookery_testkit::{
    Caller, Finished, Home, PATIENCE, TestDaemon, eventually, rookery_binary, wait_until,
};
use serde_json::Value;

/// What these tests need, and what it is called in Debian.
const NEEDS: [(&str, &str); 7] = [
    ("setxkbmap", "x11-xkb-utils"),
    ("Xvfb", "xvfb"),
    ("xdotool", "xdotool"),
    ("openbox", "openbox libxkbcommon-x11-0 libx11-xcb1 libxcursor1 libxi6"),
    ("xclip", "xclip"),
    ("xprop", "x11-utils"),
    ("xwd", "x11-apps"),
];

/// A program that ends with the test.
pub(super) struct Running(pub(super) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

/// Whether these programs are installed; what is missing is said.
fn has(needs: &[(&str, &str)]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there =
        |program: &str| std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    let missing: Vec<&str> =
        needs.iter().filter(|(it, _)| !is_there(it)).map(|(_, package)| *package).collect();
    if !missing.is_empty() {
        eprintln!("the window is not tested: missing packages {}", missing.join(" "));
    }
    missing.is_empty()
}

/// A display without a screen, and a window manager on it. Its programs have a home of their own, so
/// that they outlive the daemon of a test.
struct Display {
    home: Home,
    name: String,
    managers: Vec<Running>,
    _server: Running,
}

impl Display {
    /// None where what is needed is not installed; that is said.
    fn start() -> Option<Display> {
        if !has(&NEEDS) {
            return None;
        }
        let home = Home::new();
        let mut server = home.command("Xvfb");
        server.args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "2600x1600x24"]);
        server.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = Running(server.spawn().unwrap());
        let mut number = String::new();
        BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let name = format!(":{}", number.trim());
        let mut display = Display { home, name, managers: Vec::new(), _server: server };
        // Only a window manager says which windows there are. One that gave up is started again.
        wait_until("the window manager is there", PATIENCE, || {
            if display.managers.last_mut().is_none_or(Running::has_ended) {
                let mut manager = display.command("openbox");
                manager.stdout(Stdio::null()).stderr(Stdio::null());
                display.managers.push(Running(manager.spawn().unwrap()));
            }
            display.run("xdotool", &["get_num_desktops"]).status.success()
        });
        Some(display)
    }

    /// A program on this display.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        self.command_of(&self.home, program)
    }

    /// The same in the home of a daemon.
    fn command_of(&self, home: &Home, program: impl AsRef<Path>) -> Command {
        let mut command = home.command(program.as_ref());
        command.env("DISPLAY", &self.name);
        command
    }

    fn run(&self, program: &str, args: &[&str]) -> Finished {
        let mut command = self.command(program);
        command.args(args);
        Finished::of(command)
    }

    fn xdotool(&self, args: &[&str]) -> String {
        self.run("xdotool", args).success()
    }

    /// What a clipboard holds.
    fn clipboard(&self, selection: &str) -> String {
        self.run("xclip", &["-selection", selection, "-out"]).stdout
    }
}

/// The lines that a window writes for its pictures.
struct Trace(PathBuf);

impl Trace {
    /// Everything that was painted so far.
    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What it says of the newest picture.
    fn last(&self) -> Option<Value> {
        let text = fs::read_to_string(&self.0).ok()?;
        let whole = &text[..text.rfind('\n')?];
        serde_json::from_str(whole.rsplit('\n').next()?).ok()
    }

    #[track_caller]
    fn wait(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        eventually(what, PATIENCE, || self.last().filter(|seen| fits(seen)))
    }
}

/// A window of a daemon.
struct Window<'a> {
    display: &'a Display,
    child: Running,
    trace: Trace,
    id: String,
    pointer: Cell<Option<(i32, i32)>>,
}

impl<'a> Window<'a> {
    fn open(daemon: &TestDaemon, display: &'a Display) -> Window<'a> {
        Window::open_with(daemon, display, &[], &[])
    }

    fn open_with(
        daemon: &TestDaemon,
        display: &'a Display,
        args: &[&str],
        env: &[(&str, &str)],
    ) -> Window<'a> {
        let home = daemon.home();
        let trace = home.join("trace.jsonl");
        let _ = fs::remove_file(&trace);
        let mut command = display.command_of(home, rookery_binary());
        command.arg("window").arg("--trace").arg(&trace).args(args).envs(env.iter().copied());
        let child = Running(command.spawn().unwrap());
        let mut window = Window {
            display,
            child,
            trace: Trace(trace),
            id: String::new(),
            pointer: Cell::new(None),
        };
        window.wait("a first picture", |_| true);
        let found = window.xdotool(&["search", "--sync", "--onlyvisible", "--class", "rookery"]);
        window.id = found.lines().last().unwrap().trim().to_owned();
        window.xdotool(&["windowactivate", "--sync", &window.id]);
        window
    }

    fn xdotool(&self, args: &[&str]) -> String {
        self.display.xdotool(args)
    }

    #[track_caller]
    fn wait(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.trace.wait(what, fits)
    }

    /// Clicks something of the page by what it is called, such as `Button(Send)`, as soon as it is there.
    #[track_caller]
    fn clicks_place(&self, name: &str) {
        let seen = self.wait(&format!("{name} is there"), |seen| seen["places"][name].is_array());
        let at = |index: usize| seen["places"][name][index].as_f64().unwrap() as i32;
        self.clicks(at(0), at(1), "1");
    }

    /// Closes it as a person does, and waits until it has ended well.
    fn closes(&mut self) {
        self.keys(&["alt+F4"]);
        wait_until("the window is closed", PATIENCE, || self.child.has_ended());
        assert!(self.child.0.wait().unwrap().success());
    }

    /// Waits until a page is shown.
    #[track_caller]
    fn wait_page(&self, page: &str) {
        self.wait(&format!("the page is {page}"), |seen| seen["page"] == page);
    }

    /// Waits for what lies over the page, or for nothing.
    #[track_caller]
    fn wait_over(&self, word: Option<&str>) {
        let what = format!("{word:?} lies over the page");
        self.wait(&what, |seen| seen["over"].as_str() == word);
    }

    fn keys(&self, keys: &[&str]) {
        if keys.is_empty() {
            return;
        }
        let mut args = vec!["key", "--clearmodifiers", "--delay", "4"];
        args.extend(keys);
        self.xdotool(&args);
    }

    /// Presses a key until something happened: within the guard a card takes none.
    #[track_caller]
    fn press_until(&self, key: &str, done: impl Fn() -> bool) {
        wait_until("the key is taken", PATIENCE, || {
            if !done() {
                self.keys(&[key]);
            }
            done()
        });
    }

    fn types(&self, text: &str) {
        self.xdotool(&["type", "--clearmodifiers", "--delay", "4", text]);
    }

    fn moves(&self, x: i32, y: i32) {
        // A move to where the pointer is already would be waited for until it gives up.
        if self.pointer.replace(Some((x, y))) == Some((x, y)) {
            return;
        }
        let (x, y) = (x.to_string(), y.to_string());
        self.xdotool(&["mousemove", "--sync", "--window", &self.id, &x, &y]);
    }

    fn clicks(&self, x: i32, y: i32, button: &str) {
        self.moves(x, y);
        self.xdotool(&["click", button]);
    }

    /// Clicks several times at the same place.
    fn clicks_often(&self, (x, y): (i32, i32), times: &str) {
        self.moves(x, y);
        self.xdotool(&["click", "--repeat", times, "--delay", "40", "1"]);
    }

    fn drags(&self, from: (i32, i32), to: (i32, i32)) {
        self.moves(from.0, from.1);
        self.xdotool(&["mousedown", "1"]);
        // Not at once: a window manager may hold the first motion back.
        self.moves((from.0 + to.0) / 2, (from.1 + to.1) / 2);
        self.moves(to.0, to.1);
        self.xdotool(&["mouseup", "1"]);
    }
}

/// The middle of a cell of the only pane, as the window is drawn at first.
fn cell(col: i32, row: i32) -> (i32, i32) {
    (230 + col * 8 + 4, 38 + row * 17 + 8)
}

/// All terminals, in the order of the workspace.
fn terminals(client: &Caller) -> Vec<u64> {
    client.terminals().iter().filter_map(|terminal| terminal["id"].as_u64()).collect()
}

/// A terminal that prints the bytes that it gets, and a window that shows it.
fn bytes_of(client: &Caller, id: u64) -> String {
    client.screen(id).split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
}

/// What prints every byte that it gets.
const BYTES: &str = "stty raw -echo; echo go; exec od -An -tx1 -w1 -v";
