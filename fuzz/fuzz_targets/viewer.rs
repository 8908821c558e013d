//! What a viewer sends, as far as it goes without a daemon: whatever numbers it names, the half of the
//! link that knows what it was sent never panics, never holds more rows than are shown, never sends more
//! than the bounds, and the mirror at the other end takes every frame.
//!
//! A line of the input that is JSON is a call; every other line is printed by the program. Params of every
//! method of the link are read, and what is read of them is read the same again.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use rookery_face::Mirror;
use rookery_term::find::{Case, Finder};
use rookery_term::{
    Expand, MemoryBlocks, NoTranscript, Palette, Place, Screen, ScreenConfig, ScreenSize,
    Selection, SelectionKind,
};
use rookery_view::link::differ::{Differ, TermNow};
use rookery_view::link::{self, Frame, Scene, bound};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Calls that need nothing but a screen and what was sent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Call {
    Ack(link::Ack),
    Resync(link::Resync),
    Scroll(link::Scroll),
    Rows(link::Rows),
    Find(link::Find),
    Select(link::Select),
    Resize(link::Resize),
    Key(link::Key),
    Paste(link::Paste),
    LinkAt(link::LinkAt),
}

/// A call of any method, as a daemon gets it.
#[derive(Deserialize)]
struct Named<'a> {
    method: String,
    #[serde(borrow)]
    params: &'a RawValue,
}

fn check_params(Named { method, params }: &Named<'_>) {
    let Some(Ok(read)) = link::reread(method, params.get().as_bytes()) else { return };
    let again = link::reread(method, &read).expect("it is a method of the link");
    assert_eq!(again.expect("what was read is read again"), read, "{method}");
}

struct World {
    screen: Screen,
    differ: Differ,
    mirror: Mirror,
    top: Option<u64>,
}

impl World {
    fn call(&mut self, call: Call) {
        let screen = &self.screen;
        match call {
            Call::Ack(ack) => drop(self.differ.acknowledge(ack.n)),
            Call::Resync(lost) => self.differ.resync(&lost),
            Call::Scroll(scroll) => {
                let now = i128::from(self.top.unwrap_or_else(|| screen.first_row()));
                let top = scroll.row.map(i128::from).or(scroll.by.map(|by| now + i128::from(by)));
                self.top = top.map(|top| u64::try_from(top.max(0)).unwrap_or(u64::MAX));
            }
            Call::Rows(rows) => {
                let now = TermNow::new(3, screen);
                let found = self.differ.rows(&now, rows.epoch, rows.from, rows.count);
                assert!(found.rows.len() as u64 <= bound::ROWS);
                self.mirror.take_rows(3, &found);
            }
            Call::Find(find) => {
                let made = Finder::new(&find.text, find.regex, Case::Smart, 100);
                let Ok(mut finder) = made else { return };
                if find.limit.is_some() {
                    finder = finder.without_secrets();
                }
                while !finder.is_done() {
                    finder.step(screen);
                }
            }
            Call::Select(select) => {
                let place = |(row, col)| Place { row, col };
                let Some(anchor) = select.anchor.map(place) else { return };
                let head = select.head.map_or(anchor, place);
                let range = Selection { anchor, head, kind: SelectionKind::Text };
                let settled = screen.settle(&range, Expand::Word, "-");
                screen.selected_text_within(&settled, 1 << 16);
            }
            Call::Resize(resize) => {
                let Some(size) = resize.size else { return };
                let size = ScreenSize::new(size.rows.clamp(1, 60), size.cols.clamp(1, 120));
                self.screen.resize(size, &NoTranscript, Duration::ZERO);
            }
            Call::Key(key) => {
                let _ = rookery_term::keys::parse_chord(&key.k);
            }
            Call::Paste(paste) => drop(rookery_term::paste::without_markers(&paste.text)),
            Call::LinkAt(link::LinkAt { at: (row, col), .. }) => {
                drop(screen.link_at(Place { row, col }))
            }
        }
    }

    fn frame(&mut self) {
        if !self.differ.may_send() {
            return;
        }
        self.differ.term(&TermNow { top: self.top, ..TermNow::new(3, &self.screen) });
        let rows = usize::from(self.screen.size().rows);
        assert!(self.differ.rows_held() <= rows, "no more is held than is shown");
        if let Some(frame) = self.differ.finish(0, Frame::default()) {
            let changed = self.mirror.apply(frame);
            assert!(changed.resync.is_empty(), "nothing was lost: {changed:?}");
        }
    }
}

fn screen() -> Screen {
    let size = ScreenSize::new(8, 20);
    let config = ScreenConfig { size, scrollback: 200, palette: Palette::default() };
    Screen::new(config, Box::new(MemoryBlocks::default()))
}

fuzz_target!(|input: &[u8]| {
    let mut world = World {
        screen: screen(),
        differ: Differ::new(Scene::default(), true),
        mirror: Mirror::default(),
        top: None,
    };
    for line in input.split(|byte| *byte == b'\n').take(200) {
        if let Ok(named) = serde_json::from_slice::<Named<'_>>(line) {
            check_params(&named);
            continue;
        }
        match serde_json::from_slice::<Call>(line) {
            Ok(call) => world.call(call),
            Err(_) => {
                world.screen.feed(line, &NoTranscript, Duration::ZERO);
                world.screen.feed(b"\r\n", &NoTranscript, Duration::ZERO);
            }
        }
        world.frame();
    }
    world.differ.acknowledge(world.differ.last());
    world.frame();
});
