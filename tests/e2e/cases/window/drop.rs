//! Files that are dropped by another program, as the protocol of X11 desktops has it (XDND), and images that are
//! pasted.

use std::fs;

use rookery_testkit::{Finished, PATIENCE, TestDaemon, eventually, wait_until};
use x11rb::{
    COPY_FROM_PARENT,
    connection::Connection as _,
    protocol::{
        Event,
        xproto::{
            AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
            SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Window as Id,
            WindowClass,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use serde_json::json;

use super::{Display, Window};
use crate::{face::agent, roder_link::script};

/// A program from which something is dragged.
struct Source {
    x: RustConnection,
    id: Id,
    uris: String,
}

impl Source {
    fn on(display: &Display, uris: String) -> Source {
        let (x, screen) = x11rb::connect(Some(&display.name)).unwrap();
        let root = x.setup().roots[screen].root;
        let id = x.generate_id().unwrap();
        let (class, depth) = (WindowClass::INPUT_OUTPUT, COPY_FROM_PARENT as u8);
        x.create_window(depth, id, root, 0, 0, 1, 1, 0, class, 0, &CreateWindowAux::new())
            .unwrap()
            .check()
            .unwrap();
        let source = Source { x, id, uris };
        let selection = source.atom("XdndSelection");
        source.x.set_selection_owner(id, selection, 0u32).unwrap().check().unwrap();
        source
    }

    fn atom(&self, name: &str) -> u32 {
        self.x.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom
    }

    fn tell(&self, target: Id, kind: &str, data: [u32; 5]) {
        let message = ClientMessageEvent::new(32, target, self.atom(kind), data);
        self.x.send_event(false, target, EventMask::NO_EVENT, message).unwrap().check().unwrap();
    }

    /// Hands over what is dragged.
    fn give(&self, asked: &SelectionRequestEvent) {
        let bytes = self.uris.as_bytes();
        self.x
            .change_property8(
                PropMode::REPLACE,
                asked.requestor,
                asked.property,
                asked.target,
                bytes,
            )
            .unwrap()
            .check()
            .unwrap();
        let given = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: asked.time,
            requestor: asked.requestor,
            selection: asked.selection,
            target: asked.target,
            property: asked.property,
        };
        let sent = self.x.send_event(false, asked.requestor, EventMask::NO_EVENT, given).unwrap();
        sent.check().unwrap();
    }

    /// Answers whatever is asked until a message of this kind comes.
    fn until(&self, kind: &str) -> ClientMessageEvent {
        let wanted = self.atom(kind);
        eventually(kind, PATIENCE, || match self.x.poll_for_event().unwrap()? {
            Event::ClientMessage(message) if message.type_ == wanted => Some(message),
            Event::SelectionRequest(asked) => {
                self.give(&asked);
                None
            }
            _ => None,
        })
    }

    /// Drags to a point of the screen over a window and lets go there.
    fn drop_on(&self, target: Id, at: (u32, u32)) {
        let list = self.atom("text/uri-list");
        self.tell(target, "XdndEnter", [self.id, 5 << 24, list, 0, 0]);
        let copy = self.atom("XdndActionCopy");
        self.tell(target, "XdndPosition", [self.id, 0, at.0 << 16 | at.1, 0, copy]);
        let status = self.until("XdndStatus");
        assert_eq!(status.data.as_data32()[1] & 1, 1, "it is taken");
        self.tell(target, "XdndDrop", [self.id, 0, 0, 0, 0]);
        self.until("XdndFinished");
    }
}

#[test]
fn files_that_are_dropped_are_typed_as_quoted_paths() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let client = daemon.client();
    let id = client.open_sh("stty raw -echo; echo go; exec cat");
    client.wait_text(id, "go");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    // Only files that are there are dropped.
    let dir = fs::canonicalize(daemon.home().path()).unwrap();
    let dir = dir.to_str().unwrap();
    for name in ["a b", "c"] {
        fs::write(format!("{dir}/{name}"), "").unwrap();
    }
    let source = Source::on(&display, format!("file://{dir}/a%20b\r\nfile://{dir}/c\r\n"));
    let target: Id = window.id.parse().unwrap();
    let aware = source.atom("XdndAware");
    let told = source.x.get_property(false, target, aware, AtomEnum::ATOM, 0, 1).unwrap();
    assert!(told.reply().unwrap().value32().is_some(), "it takes what is dropped");
    source.drop_on(target, (600, 400));
    let wanted = format!("'{dir}/a b' {dir}/c");
    wait_until("both paths arrived", PATIENCE, || client.screen(id).contains(&wanted));
}

/// A picture of one pixel.
fn pixel() -> Vec<u8> {
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, 1, 1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&[1, 2, 3]).unwrap();
    png
}

#[test]
fn an_image_that_is_pasted_into_a_thread_goes_with_the_next_message() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let (mut roder, thread, _) = agent(&daemon, "work");
    let turn = roder.turn(&thread, &script(&json!([{ "text": "first answer" }])));
    roder.until_over(&turn);
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    client.wait_text(id, "go");
    let window = Window::open(&daemon, &display);
    window.wait("the terminal is shown", |seen| seen["terminal"] == id);
    let file = daemon.home().join("shot.png");
    fs::write(&file, pixel()).unwrap();
    let mut command = display.command("sh");
    let script = "xclip -selection clipboard -t image/png -in \"$1\" >/dev/null 2>&1";
    command.args(["-c", script, "sh"]).arg(&file);
    Finished::of(command).success();
    // A terminal takes text only.
    window.keys(&["ctrl+shift+v"]);
    window.wait("it says so", |seen| seen["message"] == "the clipboard has no text");
    window.keys(&["alt+shift+h"]);
    window.wait_page("threads");
    window
        .press_until("Return", || window.trace.last().is_some_and(|seen| seen["page"] == "thread"));
    window.types("look at this");
    window.keys(&["ctrl+shift+v"]);
    window.wait("it is attached", |seen| {
        seen["message"].as_str().is_some_and(|it| it.starts_with("pasted image goes with"))
    });
    window.keys(&["Return"]);
    wait_until("both are in the thread", PATIENCE, || {
        let stored = roder.stored(&thread).to_string();
        stored.contains("look at this") && stored.contains("image/png")
    });
}

#[test]
fn an_image_that_is_dropped_on_a_thread_goes_with_the_next_message() {
    let daemon = TestDaemon::start();
    let Some(display) = Display::start() else { return };
    let (mut roder, thread, _) = agent(&daemon, "work");
    let turn = roder.turn(&thread, &script(&json!([{ "text": "first answer" }])));
    roder.until_over(&turn);
    let window = Window::open_with(&daemon, &display, &["--page", "threads"], &[]);
    window.wait_page("threads");
    window
        .press_until("Return", || window.trace.last().is_some_and(|seen| seen["page"] == "thread"));
    let dir = fs::canonicalize(daemon.home().path()).unwrap();
    let dir = dir.to_str().unwrap();
    fs::write(format!("{dir}/shot.png"), pixel()).unwrap();
    let source = Source::on(&display, format!("file://{dir}/shot.png\r\n"));
    source.drop_on(window.id.parse().unwrap(), (600, 400));
    window.wait("it is attached", |seen| {
        seen["message"].as_str().is_some_and(|it| it.starts_with("shot.png goes with"))
    });
    window.types("look at this");
    window.keys(&["Return"]);
    wait_until("both are in the thread", PATIENCE, || {
        let stored = roder.stored(&thread).to_string();
        stored.contains("look at this") && stored.contains("image/png")
    });
}
