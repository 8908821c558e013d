//! The screen as a whole: replay, checkpoints, history, waits, redraw.

mod attack_replies;
mod checkpoints;
mod dialogs;
mod emulation;
mod places;
mod reflow;
mod rows;
mod streams;
mod waits;

use std::time::Duration;

use crate::{FeedResult, MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize};

fn config(rows: u16, cols: u16) -> ScreenConfig {
    ScreenConfig { size: ScreenSize::new(rows, cols), scrollback: 500, palette: Palette::default() }
}

fn screen(rows: u16, cols: u16) -> Screen {
    Screen::new(config(rows, cols), Box::new(MemoryBlocks::default()))
}

fn feed(screen: &mut Screen, text: impl AsRef<[u8]>) -> FeedResult {
    screen.feed(text.as_ref(), &NoTranscript, Duration::ZERO)
}

fn replies(bytes: &str) -> String {
    let mut screen = screen(24, 80);
    let fed = feed(&mut screen, bytes);
    String::from_utf8(fed.replies).unwrap().replace('\x1b', "ESC")
}

/// Everything a screen is, except how many chunks its bytes came in.
fn fingerprint(screen: &mut Screen) -> Vec<u8> {
    screen.emulator.sequence = 0;
    screen.checkpoint()
}
