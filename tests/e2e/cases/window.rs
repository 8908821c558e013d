//! `rookery window` on a display without a screen: keys and mouse by XTest, what other clients see of
//! it, and what happens when the daemon dies. Waits for the lines of `--trace` and for the daemon.

use std::{
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
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A display without a screen, and a window manager on it.
struct Display {
    name: String,
    _manager: Running,
    _server: Running,
}

impl Display {
    /// None where what is needed is not installed; that is said.
    fn start(home: &Home) -> Option<Display> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there =
            |program: &str| std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
        let missing: Vec<&str> =
            NEEDS.iter().filter(|(it, _)| !is_there(it)).map(|(_, package)| *package).collect();
        if !missing.is_empty() {
            eprintln!("the window is not tested: missing packages {}", missing.join(" "));
            return None;
        }
        let mut server = home.command("Xvfb");
        server.args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "2600x1600x24"]);
        server.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = Running(server.spawn().unwrap());
        let mut number = String::new();
        BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let name = format!(":{}", number.trim());
        let mut manager = home.command("openbox");
        manager.env("DISPLAY", &name).stdout(Stdio::null()).stderr(Stdio::null());
        let manager = Running(manager.spawn().unwrap());
        let display = Display { name, _manager: manager, _server: server };
        // Only a window manager says which windows there are.
        wait_until("the window manager is there", PATIENCE, || {
            display.run(home, "xdotool", &["get_num_desktops"]).status.success()
        });
        Some(display)
    }

    fn command(&self, home: &Home, program: impl AsRef<Path>) -> Command {
        let mut command = home.command(program.as_ref());
        command.env("DISPLAY", &self.name);
        command
    }

    fn run(&self, home: &Home, program: &str, args: &[&str]) -> Finished {
        let mut command = self.command(home, program);
        command.args(args);
        Finished::of(command)
    }
}

/// A window of a daemon.
struct Window<'a> {
    home: &'a Home,
    display: &'a Display,
    child: Running,
    trace: PathBuf,
    id: String,
}

impl<'a> Window<'a> {
    fn open(daemon: &'a TestDaemon, display: &'a Display) -> Window<'a> {
        Window::open_with(daemon, display, &[], &[])
    }

    fn open_with(
        daemon: &'a TestDaemon,
        display: &'a Display,
        args: &[&str],
        env: &[(&str, &str)],
    ) -> Window<'a> {
        let home = daemon.home();
        let trace = home.join("trace.jsonl");
        let _ = fs::remove_file(&trace);
        let mut command = display.command(home, rookery_binary());
        command.arg("window").arg("--trace").arg(&trace).args(args).envs(env.iter().copied());
        let child = Running(command.spawn().unwrap());
        let mut window = Window { home, display, child, trace, id: String::new() };
        window.wait("a first picture", |_| true);
        let found = window.xdotool(&["search", "--sync", "--onlyvisible", "--class", "rookery"]);
        window.id = found.lines().last().unwrap().trim().to_owned();
        window.xdotool(&["windowactivate", "--sync", &window.id]);
        window
    }

    fn xdotool(&self, args: &[&str]) -> String {
        self.display.run(self.home, "xdotool", args).success()
    }

    /// What the trace says of the newest picture.
    fn seen(&self) -> Option<Value> {
        let text = fs::read_to_string(&self.trace).ok()?;
        let whole = &text[..text.rfind('\n')?];
        serde_json::from_str(whole.rsplit('\n').next()?).ok()
    }

    #[track_caller]
    fn wait(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        eventually(what, PATIENCE, || self.seen().filter(|seen| fits(seen)))
    }

    fn keys(&self, keys: &[&str]) {
        let mut args = vec!["key", "--clearmodifiers", "--delay", "4"];
        args.extend(keys);
        self.xdotool(&args);
    }

    fn types(&self, text: &str) {
        self.xdotool(&["type", "--clearmodifiers", "--delay", "4", text]);
    }

    fn moves(&self, x: i32, y: i32) {
        let (x, y) = (x.to_string(), y.to_string());
        self.xdotool(&["mousemove", "--sync", "--window", &self.id, &x, &y]);
    }

    fn clicks(&self, x: i32, y: i32, button: &str) {
        self.moves(x, y);
        self.xdotool(&["click", button]);
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

/// Pixels of a picture: red, green and blue.
#[derive(PartialEq)]
struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<[u8; 3]>,
}

impl Pixels {
    /// What a window shows.
    fn of_window(window: &Window<'_>) -> Pixels {
        let mut command = window.display.command(window.home, "xwd");
        command.args(["-silent", "-id", &window.id]).stdout(Stdio::piped());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Pixels::of_xwd(&output.stdout)
    }

    /// A dump of X: a head of big-endian words, a table of colors, and rows of pixels.
    fn of_xwd(dump: &[u8]) -> Pixels {
        let word = |index: usize| {
            let bytes = &dump[index * 4..index * 4 + 4];
            u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize
        };
        let (width, height, stride) = (word(4), word(5), word(12));
        assert_eq!((word(7), word(11)), (0, 32), "least byte first, four bytes a pixel");
        let data = &dump[word(0) + word(19) * 12..];
        let pixel = |at: usize| [data[at + 2], data[at + 1], data[at]];
        let at = |index: usize| index / width * stride + index % width * 4;
        Pixels { width, height, rgb: (0..width * height).map(|it| pixel(at(it))).collect() }
    }

    /// The picture that the daemon draws of the desk.
    fn of_daemon(daemon: &TestDaemon, scale: &str) -> Pixels {
        let file = daemon.home().join("picture.png");
        let path = file.to_str().unwrap();
        daemon.rookery(&["roostctl", "screenshot", "--scale", scale, "--out", path]).success();
        let decoder = png::Decoder::new(BufReader::new(fs::File::open(&file).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        let rgb = bytes[..info.buffer_size()].chunks_exact(3).map(|it| [it[0], it[1], it[2]]);
        Pixels { width: info.width as usize, height: info.height as usize, rgb: rgb.collect() }
    }

    /// How many pixels differ, and where the first of them is.
    fn difference(&self, other: &Pixels) -> Option<(usize, (usize, usize))> {
        assert_eq!((self.width, self.height), (other.width, other.height));
        let differ = || self.rgb.iter().zip(&other.rgb).enumerate().filter(|(_, (a, b))| a != b);
        let (first, _) = differ().next()?;
        Some((differ().count(), (first % self.width, first / self.width)))
    }
}

/// Prints what is hard to draw: boxes, colors, wide and combining characters.
const SIGHTS: &str = r"printf '\033[31mred\033[0m \033[1;4mbold\033[0m \033[7minverse\033[0m\n'
printf '┌──┬──┐\n│  │  │\n└──┴──┘\n日本 e\314\201 ▁▂▃ ⣿\nsights\n'; exec cat";

fn pictures_are_equal(scale: &str) {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start(daemon.home()) else { return };
    let client = daemon.client();
    let id = client.open_sh(SIGHTS);
    client.wait_text(id, "sights");
    let window = Window::open_with(&daemon, &display, &[], &[("WINIT_X11_SCALE_FACTOR", scale)]);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    // Beside the window nothing is under the mouse.
    window.xdotool(&["mousemove", "2590", "1590"]);
    // Frames come in pieces; what counts is what remains.
    let mut last = None;
    let shown = eventually("the pictures are equal", PATIENCE, || {
        let (shown, drawn) = (Pixels::of_window(&window), Pixels::of_daemon(&daemon, scale));
        last = shown.difference(&drawn);
        last.is_none().then_some(shown)
    });
    // A part that is drawn anew is as a whole picture would have it.
    window.types("some more text");
    client.wait_text(id, "some more text");
    eventually("they are equal again", PATIENCE, || {
        let (now, drawn) = (Pixels::of_window(&window), Pixels::of_daemon(&daemon, scale));
        (now.difference(&drawn).is_none() && now != shown).then_some(())
    });
}

#[test]
fn it_shows_what_the_daemon_draws() {
    pictures_are_equal("1");
}

#[test]
fn it_shows_what_the_daemon_draws_at_twice_the_size() {
    pictures_are_equal("2");
}

#[test]
fn at_a_broken_scale_cells_meet() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start(daemon.home()) else { return };
    let client = daemon.client();
    // A block of full cells, ten by five, in one color that nothing else has.
    let id = client.open_sh(
        r"printf '\033[38;2;250;10;200m'; for row in 1 2 3 4 5; do printf '██████████\n'; done
printf '\033[0mblock\n'; exec cat",
    );
    client.wait_text(id, "block");
    let env = [("WINIT_X11_SCALE_FACTOR", "1.25")];
    let window = Window::open_with(&daemon, &display, &[], &env);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    eventually("the block is whole", PATIENCE, || {
        let shown = Pixels::of_window(&window);
        let ink = [250, 10, 200];
        let at = |index: &usize| (*index % shown.width, *index / shown.width);
        let found: Vec<(usize, usize)> =
            (0..shown.rgb.len()).filter(|it| shown.rgb[*it] == ink).map(|it| at(&it)).collect();
        let left = found.iter().map(|it| it.0).min()?;
        let right = found.iter().map(|it| it.0).max()? + 1;
        let top = found.iter().map(|it| it.1).min()?;
        let bottom = found.iter().map(|it| it.1).max()? + 1;
        let (width, height) = (right - left, bottom - top);
        // No gap, no blurred edge, and every cell as wide as the next.
        (found.len() == width * height && width % 10 == 0 && height % 5 == 0).then_some(())
    });
}

/// Runs `xdotool` where no [`Window`] can be borrowed, because the daemon is killed meanwhile.
fn xdotool(display: &Display, home: &Home, args: &[&str]) -> String {
    display.run(home, "xdotool", args).success()
}

fn terminals(client: &Caller) -> Vec<u64> {
    client.terminals().iter().filter_map(|terminal| terminal["id"].as_u64()).collect()
}

fn is_over(seen: &Value, word: &str) -> bool {
    seen["over"] == word
}

#[test]
fn it_has_its_class_and_title_and_a_second_start_raises_it() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start(daemon.home()) else { return };
    let client = daemon.client();
    client.open_sh("echo here; exec cat");
    let window = Window::open(&daemon, &display);
    let class = display.run(daemon.home(), "xprop", &["-id", &window.id, "WM_CLASS"]).success();
    assert_eq!(class.trim(), r#"WM_CLASS(STRING) = "rookery", "rookery""#);
    wait_until("the title names the project", PATIENCE, || {
        window.xdotool(&["getwindowname", &window.id]).contains(" – ")
    });
    let viewers = client.status()["viewers"].clone();
    assert_eq!(viewers[0]["face"], "window", "{viewers}");
    for args in [&["window"][..], &[]] {
        let mut again = display.command(daemon.home(), rookery_binary());
        again.args(args);
        Finished::of(again).success();
    }
    let found = window.xdotool(&["search", "--onlyvisible", "--class", "rookery"]);
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn bound_keys_stay_here_and_all_others_reach_the_program() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start(daemon.home()) else { return };
    let client = daemon.client();
    let id = client.open_sh("stty raw -echo; echo go; exec od -An -tx1 -w1 -v");
    client.wait_text(id, "go");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let before = client.terminal(id)["size"]["cols"].as_u64().unwrap();
    window.keys(&["alt+b"]);
    let cols = || client.terminal(id)["size"]["cols"].as_u64().unwrap();
    wait_until("the sidebar is gone", PATIENCE, || cols() > before);
    window.keys(&["a", "ctrl+c", "alt+x", "Up", "ctrl+Right", "BackSpace", "Tab", "Return"]);
    window.keys(&["ctrl+backslash", "shift+z", "F5"]);
    let wanted = "61 03 1b 78 1b 5b 41 1b 5b 31 3b 35 43 7f 09 0d 1c 5a 1b 5b 31 35 7e";
    let seen = || client.screen(id).split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    wait_until("every byte arrived", PATIENCE, || seen().ends_with("35 7e"));
    assert_eq!(seen(), wanted);
}

#[test]
fn composed_letters_and_those_of_other_layouts_arrive_once() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start(daemon.home()) else { return };
    let client = daemon.client();
    let id = client.open_sh("stty raw -echo; echo go; exec od -An -tx1 -w1 -v");
    client.wait_text(id, "go");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let seen = || client.screen(id).split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    let layout = |args: &[&str]| {
        display.run(daemon.home(), "setxkbmap", args).success();
    };
    layout(&["-layout", "us", "-variant", "intl"]);
    window.xdotool(&["key", "--delay", "50", "dead_acute", "e"]);
    wait_until("a letter of two keys", PATIENCE, || seen() == "c3 a9");
    layout(&["-layout", "de"]);
    window.xdotool(&["key", "--delay", "50", "udiaeresis"]);
    wait_until("a letter of its own key", PATIENCE, || seen() == "c3 a9 c3 bc");
    window.xdotool(&["keydown", "ISO_Level3_Shift", "key", "q", "keyup", "ISO_Level3_Shift"]);
    wait_until("a sign of the third level", PATIENCE, || seen() == "c3 a9 c3 bc 40");
}

#[test]
fn an_empty_window_offers_a_shell_and_what_is_typed_reaches_it() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start(daemon.home()) else { return };
    let client = daemon.client();
    let window = Window::open(&daemon, &display);
    window.keys(&["c"]);
    wait_until("a shell is there", PATIENCE, || terminals(&client).len() == 1);
    let id = terminals(&client)[0];
    window.wait("it is shown", |seen| seen["terminal"] == id);
    window.types("echo wo''rks");
    window.keys(&["Return"]);
    client.wait_text(id, "works");
    let mut window = window;
    window.xdotool(&["windowclose", &window.id]);
    wait_until("the window has gone", PATIENCE, || window.child.0.try_wait().unwrap().is_some());
    assert_eq!(terminals(&client), [id], "everything runs on");
}

#[test]
fn panes_are_split_by_keys_and_by_dragging_a_pill() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start(daemon.home()) else { return };
    let client = daemon.client();
    let first = client.open_sh("echo one; exec cat");
    let window = Window::open(&daemon, &display);
    window.wait("one pane", |seen| seen["panes"] == 1);
    window.keys(&["alt+shift+backslash"]);
    let seen = window.wait("two panes", |seen| seen["panes"] == 2);
    let second = seen["terminal"].as_u64().unwrap();
    assert_ne!(first, second);
    window.keys(&["alt+shift+z"]);
    window.wait("one has all the room", |seen| seen["panes"] == 1);
    window.keys(&["alt+shift+z"]);
    window.wait("both are back", |seen| seen["panes"] == 2);
    window.keys(&["alt+t"]);
    let seen = window.wait("a new tab", |seen| seen["panes"] == 1);
    let third = seen["terminal"].as_u64().unwrap();
    wait_until("it is a third", PATIENCE, || terminals(&client).len() == 3);
    // Its pill is the second of the strip; it goes to the right edge of the pane that is shown.
    window.keys(&["ctrl+1"]);
    window.wait("the first group", |seen| seen["panes"] == 2);
    window.drags((220 + 8 + 170, 16), (1080, 400));
    window.wait("three panes", |seen| seen["panes"] == 3);
    assert!(terminals(&client).contains(&third));
}

#[test]
fn the_mouse_selects_copies_pastes_renames_and_opens_menus() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start(daemon.home()) else { return };
    let client = daemon.client();
    let id = client.open_sh("stty -echo; printf 'alpha beta gamma\\n'; exec cat");
    client.wait_text(id, "gamma");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    // The second word of the first row: cells are 8 wide and begin at 230, 38.
    window.moves(230 + 8 * 8, 38 + 8);
    window.xdotool(&["click", "--repeat", "2", "--delay", "40", "1"]);
    window.keys(&["ctrl+shift+c"]);
    window.wait("it says so", |seen| seen["message"] == "copied");
    let mut reads = display.command(daemon.home(), "xclip");
    reads.args(["-selection", "clipboard", "-out"]);
    assert_eq!(Finished::of(reads).success(), "beta");
    window.keys(&["ctrl+shift+v", "Return"]);
    wait_until("it was pasted", PATIENCE, || client.screen(id).contains("\nbeta"));
    window.clicks(500, 300, "3");
    window.wait("a menu", |seen| is_over(seen, "menu"));
    window.keys(&["Escape"]);
    window.wait("no menu", |seen| seen["over"].is_null());
    window.moves(220 + 40, 16);
    window.xdotool(&["click", "--repeat", "2", "--delay", "40", "1"]);
    window.wait("a name is edited", |seen| is_over(seen, "rename"));
    window.keys(&["ctrl+u"]);
    window.types("logs");
    window.keys(&["Return"]);
    wait_until("it has its name", PATIENCE, || client.terminal(id)["title"] == "logs");
}

#[test]
fn it_outlives_the_daemon_and_says_what_was_not_sent() {
    let mut daemon = TestDaemon::start();
    let Some(display) = Display::start(daemon.home()) else { return };
    let id = daemon.client().open_sh("echo before; exec cat");
    daemon.client().wait_text(id, "before");
    let trace = daemon.home().join("trace.jsonl");
    let mut command = display.command(daemon.home(), rookery_binary());
    command.arg("window").arg("--trace").arg(&trace);
    let _child = Running(command.spawn().unwrap());
    let last = || -> Option<Value> {
        let text = fs::read_to_string(&trace).ok()?;
        serde_json::from_str(text[..text.rfind('\n')?].rsplit('\n').next()?).ok()
    };
    let wait = |what: &str, fits: &dyn Fn(&Value) -> bool| {
        eventually(what, PATIENCE, || last().filter(|seen| fits(seen)))
    };
    wait("the terminal is shown", &|seen| seen["terminal"] == id);
    let found = xdotool(
        &display,
        daemon.home(),
        &["search", "--sync", "--onlyvisible", "--class", "rookery"],
    );
    let window = found.lines().last().unwrap().to_owned();
    xdotool(&display, daemon.home(), &["windowactivate", "--sync", &window]);
    daemon.kill9();
    wait("it says that it is away", &|seen| is_over(seen, "lost"));
    // A daemon comes back by itself, at the same place.
    wait("it is back", &|seen| seen["over"].is_null() && seen["terminal"] == id);
    xdotool(&display, daemon.home(), &["type", "--delay", "4", "after"]);
    xdotool(&display, daemon.home(), &["key", "Return"]);
    daemon.client().wait_text(id, "after");
}

#[test]
fn the_entry_of_the_desktop_is_written_and_removed() {
    let home = Home::new();
    let data = home.join("share");
    let run = |arg: &str| {
        let mut command = home.command(rookery_binary());
        command.args(["window", arg]).env("XDG_DATA_HOME", &data);
        Finished::of(command).success()
    };
    run("--install-desktop");
    let entry = fs::read_to_string(data.join("applications/rookery.desktop")).unwrap();
    assert!(entry.contains("StartupWMClass=rookery"), "{entry}");
    let files = [
        "applications/rookery.desktop",
        "icons/hicolor/scalable/apps/rookery.svg",
        "metainfo/rookery.metainfo.xml",
    ];
    assert!(files.iter().all(|file| data.join(file).is_file()));
    run("--remove-desktop");
    assert!(files.iter().all(|file| !data.join(file).exists()));
    run("--remove-desktop");
}
