//! Pixels: what the window shows is what the daemon draws, and cells meet at every scale.

use std::{fs, io::BufReader, process::Stdio};

use rookery_testkit::{PATIENCE, TestDaemon, eventually, wait_until};
use serde_json::json;
use x11rb::{
    COPY_FROM_PARENT,
    connection::Connection as _,
    protocol::xproto::{ConnectionExt as _, CreateWindowAux, WindowClass},
};

use super::{Display, Window};
use crate::{
    face::{agent, write_steps},
    roost_link::Link,
};

/// Pixels of a picture: red, green and blue.
#[derive(PartialEq)]
pub(super) struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<[u8; 3]>,
}

impl Pixels {
    /// What a window shows.
    pub(super) fn of_window(window: &Window<'_>) -> Pixels {
        // One that is just coming back cannot be read yet.
        eventually("the window can be read", PATIENCE, || {
            let mut command = window.display.command("xwd");
            command.args(["-silent", "-id", &window.id]).stdout(Stdio::piped());
            let output = command.output().unwrap();
            output.status.success().then(|| Pixels::of_xwd(&output.stdout))
        })
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

    /// A picture in one of the simplest formats: a line with its kind, its size, the highest number, and bytes.
    pub(super) fn of_ppm(file: &[u8]) -> Pixels {
        let mut parts = file.splitn(4, |byte| byte.is_ascii_whitespace());
        assert_eq!(parts.next().unwrap(), b"P6");
        let mut number =
            || -> usize { std::str::from_utf8(parts.next().unwrap()).unwrap().parse().unwrap() };
        let (width, height) = (number(), number());
        let rgb = parts.next().unwrap().strip_prefix(b"255\n").unwrap();
        let rgb: Vec<_> = rgb.chunks_exact(3).map(|it| [it[0], it[1], it[2]]).collect();
        assert_eq!(rgb.len(), width * height);
        Pixels { width, height, rgb }
    }

    /// Whether both are the same; where a picture is drawn in parts, the pixels of one rounded corner may have
    /// another shade.
    pub(super) fn is_like(&self, other: &Pixels) -> bool {
        (self.width, self.height) == (other.width, other.height)
            && self.difference(other).is_none_or(|(count, _)| count <= CORNER)
    }

    /// The picture that the daemon draws of the desk.
    pub(super) fn of_daemon(daemon: &TestDaemon, scale: &str) -> Pixels {
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
pub(super) const SIGHTS: &str = r"printf '\033[31mred\033[0m \033[1;4mbold\033[0m \033[7minverse\033[0m\n'
printf '┌──┬──┐\n│  │  │\n└──┴──┘\n日本 e\314\201 ▁▂▃ ⣿\nsights\n'; exec cat";

fn pictures_are_equal(scale: &str) {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
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
    let Some(display) = Display::start() else { return };
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

#[test]
fn what_was_covered_is_shown_again() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh(SIGHTS);
    client.wait_text(id, "sights");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    window.xdotool(&["mousemove", "2590", "1590"]);
    // Another window over it that takes no keyboard, as menus of other programs.
    let (x, screen) = x11rb::connect(Some(&display.name)).unwrap();
    let root = x.setup().roots[screen].root;
    let place = window.xdotool(&["getwindowgeometry", "--shell", &window.id]);
    let corner = |name: &str| -> i16 {
        let line = place.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().parse().unwrap()
    };
    let (left, top) = (corner("X="), corner("Y="));
    let before = agree(&window, &daemon, "the workspace");
    let other = x.generate_id().unwrap();
    let aux = CreateWindowAux::new().override_redirect(1).background_pixel(0x00c8_0a64);
    let (depth, class) = (COPY_FROM_PARENT as u8, WindowClass::INPUT_OUTPUT);
    x.create_window(depth, other, root, left + 240, top + 40, 300, 200, 0, class, 0, &aux)
        .unwrap()
        .check()
        .unwrap();
    x.map_window(other).unwrap().check().unwrap();
    let ink = [0xc8, 0x0a, 0x64];
    let covered = || {
        let output = display.command("xwd").args(["-silent", "-root"]).output().unwrap();
        Pixels::of_xwd(&output.stdout).rgb.iter().filter(|it| **it == ink).count()
    };
    wait_until("it is covered", PATIENCE, || covered() >= 60_000);
    x.unmap_window(other).unwrap().check().unwrap();
    wait_until("nothing is left of it", PATIENCE, || covered() == 0);
    assert!(agree(&window, &daemon, "what was covered") == before);
}

/// Waits until the daemon's picture is what the window shows; gives it.
#[track_caller]
fn agree(window: &Window<'_>, daemon: &TestDaemon, what: &str) -> Pixels {
    let mut last = None;
    eventually(&format!("the pictures of {what} are equal"), PATIENCE, || {
        let (shown, drawn) = (Pixels::of_window(window), Pixels::of_daemon(daemon, "1"));
        // One that is just coming back may be read while its window manager still unfolds it.
        if (shown.width, shown.height) != (drawn.width, drawn.height) {
            return None;
        }
        let differs = shown.difference(&drawn);
        if differs != last {
            // Shown if it fails.
            eprintln!("{what}: {differs:?}");
            last = differs;
        }
        // Where a picture is drawn in parts, the pixels of one rounded corner may have another shade.
        last.is_none_or(|(count, _)| count <= CORNER).then_some(shown)
    })
}

/// Pixels of a rounded corner.
const CORNER: usize = 100;

#[test]
fn pages_and_what_lies_over_them_are_in_the_daemons_picture() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    client.wait_text(id, "go");
    let (mut roder, thread, _) = agent(&daemon, "work");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    window.xdotool(&["mousemove", "2590", "1590"]);
    let workspace = agree(&window, &daemon, "the workspace");
    let typed = |key: &str, page: &str, text: &str| {
        window.keys(&[key]);
        window.wait("it is shown", |seen| seen["page"] == page || seen["over"] == page);
        window.types(text);
        assert!(agree(&window, &daemon, page) != workspace, "{page} is another picture");
    };
    typed("alt+shift+slash", "help", "split");
    window.press_until("Escape", || {
        window.trace.last().is_some_and(|seen| seen["page"] == "workspace")
    });
    typed("alt+shift+comma", "settings", "jj");
    window.keys(&["q"]);
    typed("alt+shift+n", "new", "half a prompt");
    window.keys(&["Escape"]);
    window.wait_over(None);
    typed("alt+shift+p", "palette", "spl");
    window.keys(&["Escape"]);
    window.wait_over(None);
    typed("ctrl+shift+f", "find", "go");
    window.keys(&["Escape"]);
    window.wait_over(None);
    typed("alt+r", "rename", "more");
    window.keys(&["Escape"]);
    window.wait_over(None);
    roder.turn(&thread, &write_steps("one", "x\n"));
    window.wait("one waits", |seen| seen["waiting"] == 1);
    window.keys(&["alt+shift+i"]);
    window.wait("its card is there", |seen| seen["places"]["Button(Approve)"].is_array());
    let mut roost = Link::to(daemon.home());
    let focused = roost.call("app.active_terminal_focused", json!({}));
    assert_eq!(focused["focused"], false, "keys go to the page");
    let card = agree(&window, &daemon, "a card");
    assert!(card != workspace);

    // Minimized, it is told of nothing, and looks when it is asked.
    window.xdotool(&["windowminimize", "--sync", &window.id]);
    let (mut more, second, _) = agent(&daemon, "more");
    more.turn(&second, &write_steps("two", "x\n"));
    wait_until("two wait", PATIENCE, || {
        let list = client.call("rookery/requests/list", json!({}));
        list["requests"].as_array().is_some_and(|list| list.len() == 2)
    });
    let hidden = Pixels::of_daemon(&daemon, "1");
    assert!(hidden != card, "the second request is in it");
    window.xdotool(&["windowactivate", "--sync", &window.id]);
    agree(&window, &daemon, "what came meanwhile");
    window.keys(&["q"]);
    window.wait_page("workspace");

    // A menu, which is only this window's.
    window.clicks(700, 500, "3");
    window.wait_over(Some("menu"));
    agree(&window, &daemon, "a menu");
}

/// The window with a graphics card, or a driver that needs none.
#[cfg(feature = "gpu")]
mod gpu {
    use super::*;

    impl Pixels {
        /// The mean difference of a channel.
        fn mean_difference(&self, other: &Pixels) -> Option<f64> {
            if (self.width, self.height) != (other.width, other.height) {
                return None;
            }
            let both = self.rgb.iter().flatten().zip(other.rgb.iter().flatten());
            let sum: u64 = both.map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
            Some(sum as f64 / (self.rgb.len() * 3) as f64)
        }
    }

    /// Round corners are smoothed otherwise; a letter that is missing or elsewhere is more.
    fn agree(window: &Window<'_>, daemon: &TestDaemon, scale: &str) -> Pixels {
        eventually("the pictures are alike", PATIENCE, || {
            let (shown, drawn) = (Pixels::of_window(window), Pixels::of_daemon(daemon, scale));
            let mean = shown.mean_difference(&drawn)?;
            eprintln!("mean difference {mean}");
            (mean < 0.05).then_some(shown)
        })
    }

    fn shows_what_the_daemon_draws(scale: &str) {
        let daemon = TestDaemon::start();
        let Some(display) = Display::start() else { return };
        let client = daemon.client();
        let id = client.open_sh(SIGHTS);
        client.wait_text(id, "sights");
        let env = [("WINIT_X11_SCALE_FACTOR", scale), ("ICED_BACKEND", "wgpu")];
        let window = Window::open_with(&daemon, &display, &[], &env);
        let seen = window.wait("the terminal is shown", |seen| seen["terminal"] == id);
        if seen["drawn_by"] != "wgpu" {
            eprintln!(
                "not tested: no Vulkan driver; the Debian package mesa-vulkan-drivers has one"
            );
            return;
        }
        window.xdotool(&["mousemove", "2590", "1590"]);
        let first = agree(&window, &daemon, scale);
        window.types("some more text");
        client.wait_text(id, "some more text");
        assert!(agree(&window, &daemon, scale) != first);
        // Surfaces follow the window.
        window.xdotool(&["windowsize", "--sync", &window.id, "900", "640"]);
        let smaller = agree(&window, &daemon, scale);
        assert!(smaller.width < first.width);
    }

    #[test]
    fn on_a_graphics_card_it_shows_what_the_daemon_draws() {
        shows_what_the_daemon_draws("1");
    }

    #[test]
    fn on_a_graphics_card_it_shows_what_the_daemon_draws_at_twice_the_size() {
        shows_what_the_daemon_draws("2");
    }
}
