//! Resizing wraps lines anew: downward while there is room, into history when there is none, and back.

use std::time::Duration;

use proptest::prelude::*;

use super::{feed, screen, streams::stream};
use crate::snapshot::join_rows;
use crate::{NoTranscript, Screen, ScreenSize};

const GREEK: &str = "alpha beta gamma delta epsilon zeta eta theta iota kappa";

fn resize(live: &mut Screen, rows: u16, cols: u16) {
    live.resize(ScreenSize::new(rows, cols), &NoTranscript, Duration::ZERO);
}

fn filled(rows: u16, cols: u16, text: &str) -> Screen {
    let mut live = screen(rows, cols);
    feed(&mut live, text);
    live
}

/// What is on each row by itself.
fn rows_of(live: &Screen) -> Vec<String> {
    let mut rows: Vec<String> = (0..live.emulator.rows())
        .map(|row| {
            let mut text = String::new();
            crate::row::push_text(live.emulator.row(row), &mut text);
            text
        })
        .collect();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

/// The text of history and screen up to the cursor.
fn text_before_cursor(live: &Screen) -> String {
    let emulator = &live.emulator;
    let cursor = live.cursor();
    let above = emulator.history.rows(0, emulator.history.next());
    let mut out = String::new();
    join_rows(above.iter().map(Vec::as_slice), &mut out);
    join_rows((0..usize::from(cursor.row)).map(|row| emulator.row(row)), &mut out);
    let row = emulator.row(usize::from(cursor.row));
    crate::row::push_text(&row[..usize::from(cursor.col)], &mut out);
    out
}

fn place(live: &Screen) -> (u16, u16) {
    (live.cursor().row, live.cursor().col)
}

#[test]
fn a_line_wraps_downward_while_rows_are_free() {
    let mut live = filled(12, 80, GREEK);
    resize(&mut live, 12, 20);
    assert_eq!(
        rows_of(&live),
        ["alpha beta gamma del", "ta epsilon zeta eta ", "theta iota kappa"]
    );
    assert_eq!(place(&live), (2, 16));
    assert_eq!(live.history_len(), 0);
    for cols in [15, 9, 100, 56, 55, 57, 2, 80] {
        resize(&mut live, 12, cols);
        assert_eq!(live.text_with_history(500), GREEK, "at {cols} columns");
        assert_eq!(text_before_cursor(&live), GREEK, "at {cols} columns");
    }
    assert_eq!(rows_of(&live), [GREEK]);
    assert_eq!(place(&live), (0, 56));
}

#[test]
fn lines_below_move_down_to_make_room() {
    let mut live = filled(8, 40, "first line of words\r\n\r\nsecond\r\n$ ");
    for cols in [10, 6, 8, 40] {
        resize(&mut live, 8, cols);
        assert_eq!(live.plain_text(), "first line of words\n\nsecond\n$ ", "at {cols} columns");
    }
    assert_eq!(place(&live), (3, 2));
}

#[test]
fn what_does_not_fit_goes_to_scrollback_and_comes_back() {
    let text = "one two three four five\r\nsix seven eight nine ten\r\nlast words\r\n$ ";
    let mut live = filled(4, 30, text);
    let before = live.plain_text();
    resize(&mut live, 4, 10);
    assert_eq!(rows_of(&live), ["eight nine", " ten", "last words", "$ "]);
    assert_eq!(live.text_with_history(500), before);
    for (rows, cols) in [(4, 5), (2, 7), (9, 3), (1, 100), (4, 30)] {
        resize(&mut live, rows, cols);
        assert_eq!(live.text_with_history(500), before, "at {rows}x{cols}");
    }
    assert_eq!(live.plain_text(), before);
    assert_eq!(live.history_len(), 0);
    assert_eq!(place(&live), (3, 2));
}

#[test]
fn a_screen_stays_full_while_there_is_history_to_fill_it() {
    let mut live = screen(4, 10);
    for number in 0..9 {
        feed(&mut live, format!("number {number} wraps\r\n"));
    }
    assert_eq!(rows_of(&live), ["raps", "number 8 w", "raps"]);
    resize(&mut live, 4, 40);
    assert_eq!(rows_of(&live), ["number 6 wraps", "number 7 wraps", "number 8 wraps"]);
    resize(&mut live, 4, 10);
    assert_eq!(rows_of(&live), ["raps", "number 8 w", "raps"]);
    resize(&mut live, 6, 40);
    assert_eq!(rows_of(&live).first().unwrap(), "number 4 wraps");
}

#[test]
fn a_cleared_screen_stays_cleared() {
    let mut live = screen(6, 40);
    for number in 0..20 {
        feed(&mut live, format!("old {number}\r\n"));
    }
    feed(&mut live, "\x1b[H\x1b[2J$ a prompt with a command");
    for (rows, cols) in [(6, 10), (6, 40), (4, 12), (6, 80), (12, 6), (6, 40)] {
        resize(&mut live, rows, cols);
        assert_eq!(live.plain_text(), "$ a prompt with a command", "at {rows}x{cols}");
    }
    assert_eq!(place(&live), (0, 25));
}

#[test]
fn the_cursor_stays_at_its_character() {
    for (back, expected) in [(0, (2, 16)), (16, (2, 0)), (17, (1, 19)), (36, (1, 0)), (56, (0, 0))]
    {
        let mut live = filled(12, 80, GREEK);
        if back > 0 {
            feed(&mut live, format!("\x1b[{back}D"));
        }
        resize(&mut live, 12, 20);
        assert_eq!(place(&live), expected, "{back} before the end");
        resize(&mut live, 12, 80);
        assert_eq!(place(&live), (0, 56 - back), "{back} before the end");
    }
}

#[test]
fn a_pending_wrap_is_no_longer_pending_where_there_is_room() {
    let mut live = filled(3, 10, "1234567890");
    assert_eq!(place(&live), (0, 10));
    resize(&mut live, 3, 12);
    assert_eq!(place(&live), (0, 10));
    resize(&mut live, 3, 5);
    assert_eq!(place(&live), (1, 5));
    feed(&mut live, "x");
    assert_eq!(live.plain_text(), "1234567890x");
    assert_eq!(place(&live), (2, 1));
}

#[test]
fn a_cursor_beyond_the_text_stays_on_the_last_row_of_its_line() {
    let mut live = filled(4, 40, "abc\x1b[30G");
    resize(&mut live, 4, 10);
    assert_eq!(place(&live), (0, 9));
    assert_eq!(live.plain_text(), "abc");
}

#[test]
fn a_saved_cursor_follows_its_text() {
    let mut live = filled(6, 20, "0123456789abcdef\x1b7ghij\r\nmore");
    resize(&mut live, 6, 10);
    feed(&mut live, "\x1b8X");
    assert_eq!(live.plain_text(), "0123456789abcdefXhij\nmore");
}

#[test]
fn text_below_the_cursor_is_not_lost() {
    let mut live = filled(6, 20, "1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[2;1H");
    let before = live.plain_text();
    resize(&mut live, 5, 20);
    assert_eq!((rows_of(&live)[0].as_str(), place(&live)), ("2", (0, 0)));
    resize(&mut live, 2, 20);
    assert_eq!((live.plain_text().as_str(), place(&live)), ("5\n6", (0, 0)));
    resize(&mut live, 6, 20);
    assert_eq!(live.plain_text(), before);
}

#[test]
fn gaps_between_words_are_kept() {
    let mut live = filled(6, 40, "left\x1b[31Gright");
    let before = live.plain_text();
    for cols in [10, 7, 33, 40] {
        resize(&mut live, 6, cols);
        assert_eq!(live.plain_text(), before, "at {cols} columns");
    }
}

#[test]
fn colored_blanks_behind_the_text_are_cut_and_not_wrapped() {
    let mut live = filled(4, 40, "\x1b[44mbar\x1b[K\x1b[m\r\nnext");
    resize(&mut live, 4, 10);
    assert_eq!(rows_of(&live), ["bar", "next"]);
    assert_eq!(live.snapshot().row(0).nth(9).unwrap().style().bg, crate::Color::Indexed(4));
}

#[test]
fn wide_characters_are_never_halved() {
    let mut live = filled(12, 20, "日本語日本語日本語x");
    for cols in [5, 2, 7, 3, 20] {
        resize(&mut live, 12, cols);
        assert_eq!(live.text_with_history(500), "日本語日本語日本語x", "at {cols} columns");
    }
    assert_eq!(place(&live), (0, 19));
}

#[test]
fn the_alternate_screen_is_cut_and_the_primary_below_it_wrapped() {
    let mut live = filled(6, 40, "the primary screen has words\r\n$ ");
    feed(&mut live, "\x1b[?1049h\x1b[Hthe alternate screen has others");
    resize(&mut live, 6, 10);
    assert_eq!(live.plain_text(), "the altern");
    assert_eq!(live.history_len(), 0);
    feed(&mut live, "\x1b[?1049l");
    assert_eq!(rows_of(&live), ["the primar", "y screen h", "as words", "$ "]);
    assert_eq!(place(&live), (3, 2));
    feed(&mut live, "\x1b[?1049h");
    resize(&mut live, 2, 40);
    resize(&mut live, 6, 40);
    feed(&mut live, "\x1b[?1049l");
    assert_eq!(rows_of(&live), ["the primary screen has words", "$ "]);
}

#[test]
fn a_very_long_line_is_rewrapped_in_bounds_and_kept_whole() {
    let mut live = screen(5, 3);
    let long: String = (0..300).map(|number| format!("{number:04}")).collect();
    feed(&mut live, &long);
    for (rows, cols) in [(5, 200), (2, 11), (40, 90), (5, 3)] {
        resize(&mut live, rows, cols);
        assert_eq!(live.text_with_history(500), long, "at {rows}x{cols}");
    }
}

#[test]
fn a_line_that_wraps_on_a_single_row_is_one_line_in_history() {
    for text in ["0123456789abcdefghijklmnop", "日本語日本語日本語", "x日本語日本語日本語"]
    {
        let mut live = filled(1, 8, text);
        assert_eq!(live.text_with_history(500), text);
        resize(&mut live, 1, 60);
        assert_eq!(live.plain_text(), text);
    }
}

#[test]
fn a_snapshot_knows_the_beginning_of_a_line_that_scrolled_off() {
    let mut live = filled(2, 5, "abcdefghijklmnop");
    assert_eq!(live.snapshot().above(), "abcdefghij");
    assert_eq!(live.view(crate::Detail::Text).above(), "abcdefghij");
    feed(&mut live, "\r\nnext");
    assert_eq!(
        (live.plain_text().as_str(), live.snapshot().above()),
        ("p\nnext", "abcdefghijklmno")
    );
    feed(&mut live, "\x1b[?1049h");
    assert_eq!(live.snapshot().above(), "", "the alternate screen has nothing above it");
    feed(&mut live, "\x1b[?1049l\r\nlast");
    assert_eq!((live.plain_text().as_str(), live.snapshot().above()), ("next\nlast", ""));
    let mut fresh = filled(4, 5, "abcdefghij");
    assert_eq!(fresh.snapshot().above(), "", "nothing scrolled off");
    resize(&mut fresh, 1, 5);
    assert_eq!(fresh.snapshot().above(), "abcde");
    feed(&mut fresh, "\x1b[3J");
    assert_eq!(fresh.snapshot().above(), "", "history was cleared");
}

#[test]
fn of_a_long_line_that_scrolled_off_a_snapshot_knows_the_end() {
    let long: String = (0..1250).map(|number| format!("{number:04}")).collect();
    let mut live = filled(1, 20, &long);
    let snapshot = live.snapshot();
    assert_eq!(snapshot.plain_text(), &long[4980..]);
    assert_eq!(snapshot.above(), &long[4980 - 4096..4980]);
    feed(&mut live, "日".repeat(4500));
    assert_eq!(live.snapshot().above(), "日".repeat(4096));
}

#[test]
fn what_scrolled_off_is_known_after_a_checkpoint_too() {
    let mut first = filled(2, 5, "one\r\nabcdefghijklmnop");
    let saved = first.checkpoint();
    let blocks = Box::new(crate::MemoryBlocks::default());
    let second = Screen::restore(&saved, super::config(2, 5), blocks).unwrap();
    assert_eq!(second.snapshot().above(), "abcdefghij");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Seventy-five rows are enough for all of it at five columns.
    #[test]
    fn no_width_changes_a_text_that_fits(
        lines in prop::collection::vec("[a-z日 ]{0,30}", 0..5),
        back in 0usize..40,
        widths in prop::collection::vec(5u16..70, 1..8),
    ) {
        let mut live = screen(75, 40);
        feed(&mut live, lines.join("\r\n"));
        feed(&mut live, "\x08".repeat(back));
        let (text, before) = (live.plain_text(), text_before_cursor(&live));
        for cols in widths {
            resize(&mut live, 75, cols);
            prop_assert_eq!(live.plain_text(), text.as_str());
            prop_assert_eq!(text_before_cursor(&live), before.as_str());
            prop_assert_eq!(live.history_len(), 0);
        }
    }

    #[test]
    fn no_sequence_of_sizes_loses_text(
        bytes in stream(25),
        sizes in prop::collection::vec((1u16..12, 3u16..40), 1..8),
    ) {
        let mut live = screen(6, 20);
        feed(&mut live, &bytes);
        feed(&mut live, "\x18\x1b[?2026l\x1b[?1049l");
        prop_assume!(!live.modes().alternate_screen);
        let before = live.text_with_history(500);
        for (rows, cols) in sizes {
            resize(&mut live, rows, cols);
            prop_assert_eq!(live.text_with_history(500), before.as_str(), "at {}x{}", rows, cols);
        }
    }

    #[test]
    fn a_screen_with_its_history_comes_back_whole(
        lines in prop::collection::vec("[a-z日 ]{0,30}", 0..12),
        sizes in prop::collection::vec((1u16..12, 3u16..40), 1..8),
    ) {
        let mut live = screen(12, 40);
        feed(&mut live, lines.join("\r\n"));
        let (text, before) = (live.plain_text(), text_before_cursor(&live));
        let scrolled_off = live.history_len();
        for (rows, cols) in sizes {
            resize(&mut live, rows, cols);
            prop_assert_eq!(text_before_cursor(&live), before.as_str());
        }
        resize(&mut live, 12, 40);
        prop_assert_eq!(live.plain_text(), text);
        prop_assert_eq!(live.history_len(), scrolled_off);
    }
}
