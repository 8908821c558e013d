//! Hands at a Wayland compositor: a keyboard, a pointer and an input method, by the protocols that compositors
//! have for programs that stand in for them.

use std::{
    io::Write as _,
    os::{
        fd::AsFd as _,
        unix::{fs::MetadataExt as _, net::UnixStream},
    },
    path::Path,
};

use rookery_testkit::{PATIENCE, eventually};
use wayland_client::{
    Connection, Dispatch, EventQueue, QueueHandle, delegate_noop,
    globals::{GlobalListContents, registry_queue_init},
    protocol::{
        wl_keyboard::KeymapFormat,
        wl_pointer::{Axis, AxisSource, ButtonState},
        wl_registry::{self, WlRegistry},
        wl_seat::WlSeat,
    },
};
use wayland_protocols_misc::{
    zwp_input_method_v2::client::{
        zwp_input_method_manager_v2::ZwpInputMethodManagerV2,
        zwp_input_method_v2::{self, ZwpInputMethodV2},
    },
    zwp_virtual_keyboard_v1::client::{
        zwp_virtual_keyboard_manager_v1::ZwpVirtualKeyboardManagerV1,
        zwp_virtual_keyboard_v1::ZwpVirtualKeyboardV1,
    },
};
use wayland_protocols_wlr::virtual_pointer::v1::client::{
    zwlr_virtual_pointer_manager_v1::ZwlrVirtualPointerManagerV1,
    zwlr_virtual_pointer_v1::ZwlrVirtualPointerV1,
};

/// The usual keyboard, as it is found on every machine with keyboards.
const KEYMAP: &str = r#"xkb_keymap {
xkb_keycodes { include "evdev+aliases(qwerty)" };
xkb_types { include "complete" };
xkb_compat { include "complete" };
xkb_symbols { include "pc+us+inet(evdev)" };
};
"#;
/// The left button, as the kernel names it.
const LEFT: u32 = 0x110;
/// Rows of keys, and the code of the first of each.
const ROWS: [(u32, &str); 4] =
    [(2, "1234567890"), (16, "qwertyuiop"), (30, "asdfghjkl"), (44, "zxcvbnm")];
/// Keys that are held: their names, codes and bits.
const HELD: [(&str, u32, u32); 3] = [("shift", 42, 1), ("ctrl", 29, 4), ("alt", 56, 8)];

/// What an input method hears.
#[derive(Default)]
struct Heard {
    is_active: bool,
    /// How often it was told that all was said.
    serial: u32,
}

/// All of them at one seat.
pub(super) struct Hands {
    queue: EventQueue<Heard>,
    heard: Heard,
    keyboard: ZwpVirtualKeyboardV1,
    pointer: ZwlrVirtualPointerV1,
    method: ZwpInputMethodV2,
    /// The size of the screen, in its own points.
    screen: (u32, u32),
    time: u32,
}

impl Hands {
    pub(super) fn at(socket: &Path, screen: (u32, u32)) -> Hands {
        let stream = UnixStream::connect(socket).unwrap();
        let connection = Connection::from_socket(stream).unwrap();
        let (globals, queue) = registry_queue_init::<Heard>(&connection).unwrap();
        let handle = queue.handle();
        let seat: WlSeat = globals.bind(&handle, 1..=1, ()).unwrap();
        let keyboards: ZwpVirtualKeyboardManagerV1 = globals.bind(&handle, 1..=1, ()).unwrap();
        let pointers: ZwlrVirtualPointerManagerV1 = globals.bind(&handle, 1..=1, ()).unwrap();
        let methods: ZwpInputMethodManagerV2 = globals.bind(&handle, 1..=1, ()).unwrap();
        let keyboard = keyboards.create_virtual_keyboard(&seat, &handle, ());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(KEYMAP.as_bytes()).unwrap();
        file.write_all(&[0]).unwrap();
        let size = file.metadata().unwrap().size() as u32;
        keyboard.keymap(KeymapFormat::XkbV1.into(), file.as_fd(), size);
        let pointer = pointers.create_virtual_pointer(Some(&seat), &handle, ());
        let method = methods.get_input_method(&seat, &handle, ());
        let heard = Heard::default();
        let mut hands = Hands { queue, heard, keyboard, pointer, method, screen, time: 0 };
        hands.done();
        hands
    }

    /// Waits until the compositor has taken everything.
    fn done(&mut self) {
        self.queue.roundtrip(&mut self.heard).unwrap();
    }

    fn time(&mut self) -> u32 {
        self.time += 1;
        self.time
    }

    fn turn(&mut self, code: u32, is_down: bool) {
        let time = self.time();
        self.keyboard.key(time, code, is_down.into());
    }

    /// A chord such as `alt+shift+z`; letters, digits, `\` and Return.
    pub(super) fn keys(&mut self, chord: &str) {
        let mut parts: Vec<&str> = chord.split('+').collect();
        let code = code(parts.pop().unwrap());
        let held: Vec<_> = HELD.iter().filter(|(name, ..)| parts.contains(name)).collect();
        for (_, code, _) in &held {
            self.turn(*code, true);
        }
        self.keyboard.modifiers(held.iter().map(|(_, _, bit)| bit).sum(), 0, 0, 0);
        self.turn(code, true);
        self.turn(code, false);
        for (_, code, _) in held.iter().rev() {
            self.turn(*code, false);
        }
        self.keyboard.modifiers(0, 0, 0, 0);
        self.done();
    }

    pub(super) fn types(&mut self, letters: &str) {
        for letter in letters.chars() {
            self.keys(&letter.to_string());
        }
    }

    pub(super) fn moves(&mut self, (x, y): (u32, u32)) {
        let time = self.time();
        self.pointer.motion_absolute(time, x, y, self.screen.0, self.screen.1);
        self.pointer.frame();
        self.done();
    }

    fn button(&mut self, state: ButtonState) {
        let time = self.time();
        self.pointer.button(time, LEFT, state);
        self.pointer.frame();
        self.done();
    }

    pub(super) fn presses(&mut self) {
        self.button(ButtonState::Pressed);
    }

    pub(super) fn lets_go(&mut self) {
        self.button(ButtonState::Released);
    }

    pub(super) fn clicks(&mut self, at: (u32, u32)) {
        self.moves(at);
        self.presses();
        self.lets_go();
    }

    pub(super) fn drags(&mut self, from: (u32, u32), to: (u32, u32)) {
        self.moves(from);
        self.presses();
        self.moves(((from.0 + to.0) / 2, (from.1 + to.1) / 2));
        self.moves(to);
        self.lets_go();
    }

    /// One notch of the wheel, upward.
    pub(super) fn wheels_up(&mut self) {
        let time = self.time();
        self.pointer.axis_source(AxisSource::Wheel);
        self.pointer.axis_discrete(time, Axis::VerticalScroll, -15.0, -1);
        self.pointer.frame();
        self.done();
    }

    /// Waits until something wants text of an input method.
    pub(super) fn wait_wanted(&mut self) {
        eventually("an input method is wanted", PATIENCE, || {
            self.queue.roundtrip(&mut self.heard).unwrap();
            self.heard.is_active.then_some(())
        });
    }

    /// Shows text that is not entered yet.
    pub(super) fn shows(&mut self, text: &str) {
        let end = text.len() as i32;
        self.method.set_preedit_string(text.to_owned(), end, end);
        self.method.commit(self.heard.serial);
        self.done();
    }

    /// Enters text in place of what was shown.
    pub(super) fn enters(&mut self, text: &str) {
        self.method.set_preedit_string(String::new(), 0, 0);
        self.method.commit_string(text.to_owned());
        self.method.commit(self.heard.serial);
        self.done();
    }
}

fn code(key: &str) -> u32 {
    match key {
        "Escape" => return 1,
        "Return" => return 28,
        "\\" => return 43,
        _ => {}
    }
    let found = ROWS.iter().find_map(|(first, row)| Some(first + row.find(key)? as u32));
    found.unwrap_or_else(|| panic!("there is no key {key}"))
}

impl Dispatch<ZwpInputMethodV2, ()> for Heard {
    fn event(
        heard: &mut Heard,
        _: &ZwpInputMethodV2,
        event: zwp_input_method_v2::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Heard>,
    ) {
        match event {
            zwp_input_method_v2::Event::Activate => heard.is_active = true,
            zwp_input_method_v2::Event::Deactivate => heard.is_active = false,
            zwp_input_method_v2::Event::Done => heard.serial += 1,
            _ => {}
        }
    }
}

impl Dispatch<WlRegistry, GlobalListContents> for Heard {
    fn event(
        _: &mut Heard,
        _: &WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Heard>,
    ) {
    }
}

delegate_noop!(Heard: ignore WlSeat);
delegate_noop!(Heard: ZwpVirtualKeyboardManagerV1);
delegate_noop!(Heard: ZwpVirtualKeyboardV1);
delegate_noop!(Heard: ZwlrVirtualPointerManagerV1);
delegate_noop!(Heard: ZwlrVirtualPointerV1);
delegate_noop!(Heard: ZwpInputMethodManagerV2);
