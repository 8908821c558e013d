//! Pictures of the whole view, drawn by a daemon that has no display, no bus and no settings.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::os::unix::net::UnixListener;
use std::process::{Child, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rookery_testkit::{Finished, Home, PATIENCE, TestDaemon, eventually, rookery_binary};
use serde_json::{Value, json};

use crate::roost_link::{Link, decoded, socket};

/// A picture that was decoded to its last byte.
struct Picture {
    size: (u32, u32),
    /// Red, green and blue, or with alpha.
    pixels: Vec<u8>,
}

impl Picture {
    /// From the reply to `app.screenshot`, which must agree with the picture in it.
    #[track_caller]
    fn from_reply(reply: &Value) -> Picture {
        let file = decoded(&reply["png"]);
        let end = b"\0\0\0\0IEND\xaeB\x60\x82";
        assert!(file.ends_with(end), "the file does not end as it must");
        let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        reader.finish().unwrap();
        assert_eq!(frame.bit_depth, png::BitDepth::Eight);
        assert_eq!(
            (&reply["width"], &reply["height"]),
            (&json!(frame.width), &json!(frame.height))
        );
        pixels.truncate(frame.buffer_size());
        Picture { size: (frame.width, frame.height), pixels }
    }

    /// Whether it shows more than plain areas: text has many shades.
    fn is_drawn(&self) -> bool {
        let per_pixel = self.pixels.len() / (self.size.0 * self.size.1) as usize;
        let mut colors = BTreeSet::new();
        self.pixels.chunks(per_pixel).any(|color| colors.insert(color) && colors.len() > 16)
    }
}

fn screenshot(link: &mut Link, scale: u32) -> Picture {
    let reply = link.call("app.screenshot", json!({ "scale": scale }));
    assert_eq!(reply["scale"], scale);
    Picture::from_reply(&reply)
}

#[test]
fn eight_pictures_at_once_are_whole_while_twenty_terminals_print() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let mut link = Link::to(home);
    let script = "i=0; while :; do i=$((i+1)); echo \"line $i of many\"; done";
    let tabs: Vec<String> = (0..20).map(|_| link.open_sh(script)).collect();
    tabs.iter().for_each(|tab| drop(link.wait_row(tab, "line ")));
    let (start, left) = (Barrier::new(9), AtomicUsize::new(8));
    let (worst, asked) = thread::scope(|scope| {
        for number in 0..8 {
            let (start, left) = (&start, &left);
            scope.spawn(move || {
                let mut link = Link::to(home);
                let scale = 1 + number % 2;
                start.wait();
                let picture = screenshot(&mut link, scale);
                left.fetch_sub(1, Ordering::SeqCst);
                assert_eq!(picture.size, (1100 * scale, 720 * scale));
                assert!(picture.is_drawn(), "nothing is drawn");
            });
        }
        start.wait();
        let (mut worst, mut asked) = (Duration::ZERO, 0);
        while left.load(Ordering::SeqCst) > 0 {
            let began = Instant::now();
            link.call("identify", json!({}));
            worst = worst.max(began.elapsed());
            asked += 1;
        }
        (worst, asked)
    });
    eprintln!("identify was answered {asked} times, after {worst:?} at most");
    assert!(asked > 1, "nothing else was answered meanwhile");
    assert!(worst < Duration::from_secs(2), "identify took {worst:?}");
}

#[test]
fn pictures_of_a_still_view_are_the_same_for_every_client() {
    let daemon = TestDaemon::start();
    let mut link = Link::to(daemon.home());
    let tab = link.open_sh("printf 'still \\033[31mred\\033[0m ä漢🙂'; exec cat");
    link.wait_row(&tab, "still red");
    let first = screenshot(&mut link, 1);
    let home = daemon.home();
    let others: Vec<Picture> = thread::scope(|scope| {
        let ask = || screenshot(&mut Link::to(home), 1);
        let asked: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for other in others {
        assert!(first.size == other.size && first.pixels == other.pixels);
    }
    link.write(&tab, b"more\n");
    link.wait_row(&tab, "more");
    assert!(screenshot(&mut link, 1).pixels != first.pixels, "the picture does not follow");
}

/// A daemon whose environment is ours to choose. Its home ends it.
struct Bare {
    child: Child,
    home: Home,
}

impl Bare {
    /// Starts with nothing but these variables, the path and where its files are.
    #[track_caller]
    fn start(home: Home, variables: &[(&str, &str)]) -> Bare {
        let mut command = home.command(rookery_binary());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("ROOKERY_HOME", home.path()).env("HOME", home.path());
        command.envs(variables.iter().copied());
        command.arg("daemon").stdout(Stdio::null()).stderr(Stdio::null());
        let bare = Bare { child: command.spawn().unwrap(), home };
        Link::soon(&socket(&bare.home));
        bare
    }

    /// Everything that could look for a display, a bus or a font.
    #[track_caller]
    fn works(&mut self) {
        let mut link = Link::to(&self.home);
        let tab = link.open_sh("printf '\\033]52;c;aGVsbG8=\\007shown'; exec cat");
        link.wait_row(&tab, "shown");
        let picture = screenshot(&mut link, 2);
        assert_eq!(picture.size, (2200, 1440));
        assert!(picture.is_drawn(), "nothing is drawn");
        let dump = |link: &mut Link, target: &str| {
            link.call("clipboard.dump", json!({ "target": target }))["text"].clone()
        };
        let heard = eventually("the program's text is in the clipboard", PATIENCE, || {
            Some(dump(&mut link, "system")).filter(|text| !text.is_null())
        });
        assert_eq!(heard, "hello");
        assert_eq!(dump(&mut link, "selection"), Value::Null);
        for target in ["system", "selection"] {
            for text in ["one ä漢", "two"] {
                link.call("clipboard.write", json!({ "target": target, "text": text }));
                assert_eq!(dump(&mut Link::to(&self.home), target), text);
            }
        }
        let notes: Vec<String> = (0..50)
            .map(|number| {
                let title = format!("note {number}");
                link.post("notification.create", json!({ "tab_id": tab, "title": title }))
            })
            .collect();
        notes.iter().for_each(|id| assert_eq!(link.reply(id)["ok"], true));
        assert_eq!(link.tab(&tab).unwrap()["has_notification"], true);
        link.call("palette.open", json!({}));
        let fonts = link.call("palette.activate", json!({ "id": "select_font" }));
        assert_eq!(fonts["frame"], "fonts");
        link.call("palette.dismiss", json!({}));
        // It also goes when it is told to, and takes everything along.
        let mut down = self.home.command(rookery_binary());
        down.args(["down", "--all"]);
        Finished::of(down).success();
        let status = eventually("the daemon ends", PATIENCE, || self.child.try_wait().unwrap());
        assert!(status.success(), "{status}");
        self.home.assert_no_processes_left();
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn nothing_of_a_desktop_is_needed() {
    Bare::start(Home::new(), &[]).works();
}

#[test]
fn a_desktop_that_is_not_there_stops_nothing() {
    let variables = [
        ("DISPLAY", ":99999"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/no/such/bus"),
        ("FONTCONFIG_FILE", "/dev/null"),
    ];
    Bare::start(Home::new(), &variables).works();
    let nonsense = [
        ("DISPLAY", "no display at all"),
        ("WAYLAND_DISPLAY", "wayland-none"),
        ("DBUS_SESSION_BUS_ADDRESS", "what:is=this"),
        ("XDG_RUNTIME_DIR", "/no/such/folder"),
    ];
    Bare::start(Home::new(), &nonsense).works();
}

#[test]
fn a_desktop_that_never_answers_stops_nothing() {
    let home = Home::new();
    let silent = home.join("silent.sock");
    // Connections are made and never read.
    let _listener = UnixListener::bind(&silent).unwrap();
    let silent = silent.to_str().unwrap();
    let bus = format!("unix:path={silent}");
    let variables = [("WAYLAND_DISPLAY", silent), ("DBUS_SESSION_BUS_ADDRESS", &bus)];
    Bare::start(home, &variables).works();
}
