//! The screen: the same output, cut anywhere, gives the same screen, and a screen rebuilt from a
//! checkpoint goes on exactly as the first one would have.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use rookery_term::{
    Detail, FeedResult, MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenEvent,
    ScreenSize, Selection, SelectionKind, WORD_CHARS,
};

fuzz_target!(|input: &[u8]| {
    let Some(([rows, cols], input)) = input.split_first_chunk() else { return };
    let size = ScreenSize::new(u16::from(rows % 12), u16::from(cols % 40));
    let (output, pieces) = rookery_fuzz::cut(input);
    check_cuts(size, output, pieces);
    check_checkpoint(size, output);
    check_resize(size, output);
});

fn config(size: ScreenSize) -> ScreenConfig {
    ScreenConfig { size, scrollback: 50, palette: Palette::default() }
}

fn screen(size: ScreenSize) -> Screen {
    Screen::new(config(size), Box::new(MemoryBlocks::default()))
}

fn restore(checkpoint: &[u8], size: ScreenSize) -> Screen {
    Screen::restore(checkpoint, config(size), Box::new(MemoryBlocks::default()))
        .expect("our own checkpoint")
}

fn feed(screen: &mut Screen, output: &[u8]) -> FeedResult {
    screen.feed(output, &NoTranscript, Duration::ZERO)
}

fn check_cuts<'a>(size: ScreenSize, output: &[u8], pieces: impl Iterator<Item = &'a [u8]>) {
    let (mut whole, mut parts) = (screen(size), screen(size));
    let mut said = FeedResult::default();
    let mut count = 0;
    for piece in pieces {
        let fed = feed(&mut parts, piece);
        if parts.is_sync_pending() {
            // The engine's parser looks for the usual spelling of a synchronized block within what it
            // holds back, so for another spelling it depends on the pieces when the block is shown.
            return;
        }
        said.replies.extend(fed.replies);
        said.events.extend(fed.events);
        count += 1;
    }
    let fed = feed(&mut whole, output);
    // Empty chunks bring both to the same number of chunks, which is part of the state.
    (1..count).for_each(|_| drop(feed(&mut whole, b"")));
    if count == 0 {
        feed(&mut parts, b"");
    }
    // A color is told as it was before its chunk, so those answers depend on the cuts.
    assert_eq!(without_colors(&fed.replies), without_colors(&said.replies));
    // Bells that follow each other within one chunk are reported as one.
    said.events.dedup_by(|next, last| *last == ScreenEvent::Bell && next == last);
    assert_eq!(fed.events, said.events);
    same(&mut whole, &mut parts);
}

/// Replies without those that name a color.
fn without_colors(replies: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut rest = replies;
    while let Some(at) = rest.windows(2).position(|pair| pair == b"\x1b]") {
        kept.extend_from_slice(&rest[..at]);
        let is_color = rest[at..].get(2) != Some(&b'l');
        let end =
            rest[at..].iter().position(|byte| *byte == 7).map_or(rest.len(), |end| at + end + 1);
        let next = if is_color { end } else { at + 2 };
        rest = &rest[next..];
    }
    kept.extend_from_slice(rest);
    kept
}

fn check_checkpoint(size: ScreenSize, output: &[u8]) {
    let (before, after) = output.split_at(output.len() / 2);
    let mut first = screen(size);
    feed(&mut first, before);
    if !first.can_checkpoint() {
        return;
    }
    let saved = first.checkpoint();
    let mut second = restore(&saved, size);
    assert_eq!(second.checkpoint(), saved);
    let (told, retold) = (feed(&mut first, after), feed(&mut second, after));
    assert_eq!(told.replies, retold.replies);
    assert_eq!(told.events, retold.events);
    same(&mut first, &mut second);
}

/// Between two halves of the output the screen is turned on its side.
fn check_resize(size: ScreenSize, output: &[u8]) {
    let (before, after) = output.split_at(output.len() / 2);
    let mut screen = screen(size);
    feed(&mut screen, before);
    let turned = ScreenSize::new(size.cols, size.rows);
    screen.resize(turned, &NoTranscript, Duration::ZERO);
    feed(&mut screen, after);
    let snapshot = screen.snapshot();
    assert_eq!((snapshot.rows, snapshot.cols), (turned.rows, turned.cols));
    assert_eq!(snapshot.plain_text(), screen.plain_text());
    assert!(screen.cursor().row < turned.rows && screen.cursor().col <= turned.cols);
    screen.redraw();
    check_places(&screen);
    screen.text_with_history(100);
}

/// Whatever is on the screen can be looked at from anywhere.
fn check_places(screen: &Screen) {
    let size = screen.size();
    for offset in [0, 1, 7, usize::MAX] {
        let view = screen.view_at(offset, Detail::Cells);
        assert_eq!(view.row_texts().len(), usize::from(size.rows));
        for row in 0..size.rows {
            let place = view.place(row, size.cols / 2);
            screen.word_at(place, WORD_CHARS);
            screen.line_at(place.row);
            screen.link_at(place);
            for cell in view.row(row) {
                view.colors().resolve(&cell.style());
            }
        }
        let (anchor, head) = (view.place(size.rows, 3), view.place(0, 1));
        let text = screen.selected_text(&Selection { anchor, head, kind: SelectionKind::Text });
        assert!(!text.ends_with([' ', '\n']));
    }
}

fn same(left: &mut Screen, right: &mut Screen) {
    assert_eq!(left.plain_text(), right.plain_text());
    assert_eq!(left.can_checkpoint(), right.can_checkpoint());
    if left.can_checkpoint() {
        assert!(left.checkpoint() == right.checkpoint(), "the same text but another state");
    }
}
