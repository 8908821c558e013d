//! State can be rebuilt: by replay however split, and from a checkpoint plus what came after.

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Line;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::{Processor, StdSyncHandler};
use proptest::prelude::*;

use super::{config, feed, fingerprint, screen, streams::stream};
use crate::emulator::Dims;
use crate::{MemoryBlocks, NoTranscript, Screen, ScreenSize, row};

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_split_of_the_bytes_gives_the_same_state(bytes in stream(60), piece in 1usize..50) {
        let mut whole = screen(6, 20);
        feed(&mut whole, &bytes);
        let mut parts = screen(6, 20);
        for chunk in bytes.chunks(piece) {
            feed(&mut parts, chunk);
        }
        prop_assert_eq!(parts.plain_text(), whole.plain_text());
        prop_assert_eq!(fingerprint(&mut parts), fingerprint(&mut whole));
    }

    #[test]
    fn a_checkpoint_and_the_rest_give_the_same_state(before in stream(60), after in stream(40)) {
        let mut first = screen(6, 20);
        feed(&mut first, &before);
        prop_assume!(first.can_checkpoint());
        let saved = first.checkpoint();
        let mut second = Screen::restore(&saved, config(6, 20), Box::new(MemoryBlocks::default())).unwrap();
        prop_assert_eq!(second.checkpoint(), saved);
        let told = feed(&mut first, &after);
        let retold = feed(&mut second, &after);
        prop_assert_eq!(told.replies, retold.replies);
        prop_assert_eq!(told.events, retold.events);
        prop_assert_eq!(second.plain_text(), first.plain_text());
        prop_assert_eq!(fingerprint(&mut second), fingerprint(&mut first));
    }

    #[test]
    fn resizing_and_feeding_never_panics_and_survives_checkpoints(
        steps in prop::collection::vec((stream(10), 1u16..12, 1u16..30), 1..8)
    ) {
        let mut live = screen(5, 10);
        for (bytes, rows, cols) in steps {
            feed(&mut live, &bytes);
            live.resize(ScreenSize::new(rows, cols), &NoTranscript, std::time::Duration::ZERO);
            prop_assert_eq!(live.snapshot().cells.len(), usize::from(rows) * usize::from(cols));
            if live.can_checkpoint() {
                let saved = live.checkpoint();
                let mut again =
                    Screen::restore(&saved, config(1, 1), Box::new(MemoryBlocks::default())).unwrap();
                prop_assert_eq!(again.checkpoint(), saved);
            }
        }
    }

    /// Rows that scroll off are exactly those that the engine would have kept itself.
    #[test]
    fn our_history_is_the_engines(lines in prop::collection::vec("[a-z日]{0,50}", 0..60)) {
        let bytes = lines.join("\r\n").into_bytes();
        let mut ours = screen(6, 20);
        feed(&mut ours, &bytes);
        let settings = Config { scrolling_history: 500, ..Config::default() };
        let mut theirs = Term::new(settings, &Dims { rows: 6, cols: 20 }, VoidListener);
        Processor::<StdSyncHandler>::new().advance(&mut theirs, &bytes);
        let grid = theirs.grid();
        let mut expected = String::new();
        for line in -(grid.history_size() as i32)..6 {
            row::push_text(&grid[Line(line)][..], &mut expected);
            if !row::is_wrapped(&grid[Line(line)][..]) {
                expected.push('\n');
            }
        }
        prop_assert_eq!(ours.history_len(), grid.history_size());
        prop_assert_eq!(ours.text_with_history(500), expected.trim_end_matches('\n'));
    }

    #[test]
    fn damaged_checkpoints_are_refused_without_panic(
        bytes in stream(30), at in any::<prop::sample::Index>(), value: u8, cut in any::<prop::sample::Index>()
    ) {
        let mut first = screen(6, 20);
        feed(&mut first, &bytes);
        let mut saved = first.checkpoint();
        let position = at.index(saved.len());
        saved[position] ^= value;
        let end = cut.index(saved.len() + 1);
        for candidate in [&saved[..], &saved[..end]] {
            if let Ok(mut restored) =
                Screen::restore(candidate, config(6, 20), Box::new(MemoryBlocks::default()))
            {
                feed(&mut restored, "still alive\r\n\x1b[2J日\x1b[?1049h\x1b[?1049l");
                let _ = restored.text_with_history(100);
            }
        }
    }
}

#[test]
fn a_character_cut_between_chunks_takes_nothing_with_it() {
    let bytes = "é\u{e}x日".as_bytes();
    for cut in 1..bytes.len() {
        let mut parts = screen(2, 20);
        feed(&mut parts, &bytes[..cut]);
        feed(&mut parts, &bytes[cut..]);
        assert_eq!(parts.plain_text(), "éx日", "cut at {cut}");
    }
}

#[test]
fn the_alternate_screen_keeps_the_primary_through_a_checkpoint() {
    let mut first = screen(4, 20);
    feed(&mut first, "primary\r\n\x1b[?1049h\x1b[31mother");
    let saved = first.checkpoint();
    assert_eq!(first.plain_text(), "\n       other".replace("       ", "").trim_end_matches('\n'));
    let mut second =
        Screen::restore(&saved, config(4, 20), Box::new(MemoryBlocks::default())).unwrap();
    feed(&mut second, "\x1b[?1049l");
    assert_eq!(second.plain_text(), "primary");
}

#[test]
fn narrowing_and_widening_loses_no_text() {
    let mut live = screen(4, 20);
    for number in 0..30 {
        feed(&mut live, format!("line {number} with words\r\n"));
    }
    let before = live.text_with_history(500);
    for (rows, cols) in [(4, 7), (10, 33), (2, 9), (4, 20)] {
        live.resize(ScreenSize::new(rows, cols), &NoTranscript, std::time::Duration::ZERO);
        assert_eq!(live.text_with_history(500), before, "at {rows}x{cols}");
    }
}

#[test]
fn growing_a_window_pulls_lines_down_again() {
    let mut live = screen(3, 20);
    for number in 0..10 {
        feed(&mut live, format!("{number}\r\n"));
    }
    assert_eq!(live.plain_text(), "8\n9");
    live.resize(ScreenSize::new(6, 20), &NoTranscript, std::time::Duration::ZERO);
    assert_eq!(live.plain_text(), "5\n6\n7\n8\n9");
}
