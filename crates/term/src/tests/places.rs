//! Views, selections, words, lines and links.

use proptest::prelude::*;

use super::{feed, screen, streams::stream};
use crate::{Detail, Place, Screen, Selection, SelectionKind, Snapshot, Span, WORD_CHARS, row};

fn place(row: u64, col: u16) -> Place {
    Place { row, col }
}

fn select(anchor: (u64, u16), head: (u64, u16)) -> Selection {
    let (anchor, head) = (place(anchor.0, anchor.1), place(head.0, head.1));
    Selection { anchor, head, kind: SelectionKind::Text }
}

fn filled(rows: u16, cols: u16, text: &str) -> Screen {
    let mut live = screen(rows, cols);
    feed(&mut live, text);
    live
}

fn cols(span: Option<Span>) -> Option<(u16, u16, String)> {
    span.map(|span| (span.start.col, span.end.col, span.text))
}

#[test]
fn rows_are_dumped_cell_by_cell() {
    let live = filled(4, 10, "\x1b[44m你好\x1b[m x  \r\na\tb\r\n  e\u{301}\u{a0}");
    assert_eq!(live.snapshot().row_texts(), ["你 好  x", "a       b", "  e\u{301}\u{a0}", ""]);
    let cells: Vec<String> = live.snapshot().row(0).map(|cell| cell.shown()).collect();
    assert_eq!(cells, ["你", " ", "好", " ", " ", "x", " ", " ", " ", " "]);
}

#[test]
fn a_view_scrolls_back_over_history_and_knows_its_cursor() {
    let live = filled(3, 10, "1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[1A");
    assert_eq!((live.history_len(), live.first_row(), live.oldest_row()), (3, 3, 0));
    let rows = |offset| live.view_at(offset, Detail::Cells).row_texts();
    assert_eq!(rows(0), ["4", "5", "6"]);
    assert_eq!(rows(1), ["3", "4", "5"]);
    assert_eq!(rows(3), ["1", "2", "3"]);
    assert_eq!(rows(99), ["1", "2", "3"]);
    let cursor =
        |offset| live.view_at(offset, Detail::Text).cursor_in_view().map(|it| (it.row, it.col));
    assert_eq!([cursor(0), cursor(1), cursor(2)], [Some((1, 1)), Some((2, 1)), None]);
    let view = live.view_at(99, Detail::Text);
    assert_eq!((view.offset, view.first_row, view.history_len), (3, 0, 3));
    assert_eq!((view.plain_text(), view.detail()), ("1\n2\n3", Detail::Text));
    assert_eq!(live.view_at(2, Detail::Text).plain_text(), "2\n3\n4");
}

#[test]
fn a_view_stays_on_its_text_while_output_scrolls() {
    let mut live = filled(2, 10, "1\r\n2\r\n3\r\n4");
    let top = live.view_at(1, Detail::Text).first_row;
    for number in 5..20 {
        feed(&mut live, format!("\r\n{number}"));
        let view = live.view_at(live.offset_of(top), Detail::Text);
        assert_eq!(view.plain_text(), "2\n3");
    }
    assert_eq!((live.offset_of(u64::MAX), live.offset_of(0)), (0, live.history_len()));
}

#[test]
fn the_alternate_screen_has_nothing_to_scroll_back_to() {
    let live = filled(2, 10, "1\r\n2\r\n3\x1b[?1049h\x1b[Hother");
    let view = live.view_at(5, Detail::Text);
    assert_eq!((view.plain_text(), view.offset, view.history_len), ("other", 0, 0));
    assert_eq!(live.offset_of(0), 0);
}

#[test]
fn a_view_over_a_resized_history_keeps_its_shape() {
    let mut live = filled(2, 10, "0123456789\r\nab\r\ncd\r\nef");
    live.resize(crate::ScreenSize::new(2, 4), &crate::NoTranscript, std::time::Duration::ZERO);
    for offset in 0..5 {
        assert_eq!(live.view_at(offset, Detail::Cells).cells.len(), 8);
    }
}

#[test]
fn selected_text_follows_the_contract() {
    let text = "one  \r\nlong line wraps\r\n\r\n你好x\r\n   ";
    let live = filled(8, 10, text);
    for (anchor, head, expected) in [
        ((0, 0), (0, 2), "one"),
        ((0, 2), (0, 0), "one"),
        ((0, 0), (0, 9), "one"),
        ((0, 1), (2, 4), "ne\nlong line wraps"),
        ((1, 0), (1, 9), "long line"),
        ((1, 5), (2, 0), "line w"),
        ((0, 0), (4, 9), "one\nlong line wraps\n\n你好x"),
        ((4, 0), (7, 9), "你好x"),
        ((4, 1), (4, 2), "你好"),
        ((4, 1), (4, 1), "你"),
        ((4, 2), (4, 2), "好"),
        ((3, 0), (3, 9), ""),
        ((3, 0), (4, 0), "\n你"),
        ((7, 0), (99, 9), ""),
        ((50, 0), (99, 9), ""),
    ] {
        assert_eq!(live.selected_text(&select(anchor, head)), expected, "{anchor:?} {head:?}");
        assert_eq!(live.selected_text(&select(head, anchor)), expected, "{head:?} {anchor:?}");
    }
}

#[test]
fn blanks_are_trimmed_once_a_line_not_once_a_row() {
    let live = filled(4, 5, "ab            x");
    assert_eq!(live.selected_text(&select((0, 0), (2, 4))), "ab            x");
    assert_eq!(live.selected_text(&select((0, 0), (2, 3))), "ab");
}

#[test]
fn a_long_selection_runs_from_history_into_the_screen() {
    let mut live = screen(3, 10);
    let expected: Vec<String> = (0..400).map(|number| format!("line {number}")).collect();
    feed(&mut live, expected.join("\r\n"));
    let all = select((0, 0), (live.first_row() + 2, 9));
    assert_eq!(live.selected_text(&all), expected.join("\n"));
    let text = live.selected_text(&select((5, 5), (300, 6)));
    assert!(text.starts_with("5\nline 6\n") && text.ends_with("\nline 299\nline 30"));
}

#[test]
fn the_ends_of_a_selection_are_seen_or_not() {
    let live = filled(3, 10, "1\r\n2\r\n3\r\n4\r\n5\r\n6");
    let selection = select((1, 0), (4, 3));
    let seen = |view: &Snapshot| (selection.anchor.is_in(view), selection.head.is_in(view));
    assert_eq!(seen(&live.view_at(0, Detail::Text)), (false, true));
    assert_eq!(seen(&live.view_at(3, Detail::Text)), (true, false));
    assert_eq!(live.view_at(3, Detail::Text).place(1, 0), place(1, 0));
    assert_eq!(selection.columns_on(0, 10), None);
    assert_eq!(selection.columns_on(1, 10), Some(0..10));
    assert_eq!(selection.columns_on(4, 10), Some(0..4));
    assert_eq!(selection.columns_on(4, 2), Some(0..2));
    assert_eq!(select((1, 8), (1, 9)).columns_on(1, 4), None);
}

#[test]
fn words_are_letters_digits_and_what_the_user_adds() {
    let live = filled(3, 40, "see /tmp/foo.txt (naïve) 日本 ١٢٣");
    let word = |col| cols(live.word_at(place(0, col), WORD_CHARS));
    assert_eq!(word(0), Some((0, 2, "see".to_owned())));
    assert_eq!(word(2), Some((0, 2, "see".to_owned())));
    assert_eq!(word(7), Some((4, 15, "/tmp/foo.txt".to_owned())));
    assert_eq!(word(18), Some((18, 22, "naïve".to_owned())));
    assert_eq!(word(26), Some((25, 28, "日本".to_owned())));
    assert_eq!(word(30), Some((30, 32, "١٢٣".to_owned())));
    assert_eq!(word(17), Some((17, 17, "(".to_owned())), "a sign is a word of its own");
    for nothing in [3, 39, 40, u16::MAX] {
        assert_eq!(word(nothing), None, "{nothing}");
    }
    let narrow = cols(live.word_at(place(0, 7), ""));
    assert_eq!(narrow, Some((5, 7, "tmp".to_owned())));
    assert_eq!(live.word_at(place(9, 0), WORD_CHARS), None);
    assert_eq!(live.word_at(place(u64::MAX, 0), WORD_CHARS), None);
}

#[test]
fn words_and_lines_go_on_where_a_row_wraps() {
    let mut live = filled(4, 10, "a path/that/wraps/twice end  \r\nnext");
    let word = live.word_at(place(1, 3), WORD_CHARS).unwrap();
    assert_eq!((word.start, word.end), (place(0, 2), place(2, 2)));
    assert_eq!(word.text, "path/that/wraps/twice");
    let line = live.line_at(1).unwrap();
    assert_eq!((line.start, line.end), (place(0, 0), place(2, 6)));
    assert_eq!(line.text, "a path/that/wraps/twice end");
    assert_eq!(cols(live.line_at(3)), Some((0, 3, "next".to_owned())));
    feed(&mut live, "\r\n\r\n\r\n");
    assert_eq!(live.word_at(place(2, 0), WORD_CHARS), Some(word), "half of it scrolled off");
    assert_eq!(live.line_at(2), Some(line));
    assert_eq!(live.line_at(live.first_row() + 3), None, "blank");
    assert_eq!(live.line_at(u64::MAX), None);
}

#[test]
fn addresses_are_found_at_their_place_also_across_a_wrap() {
    let live = filled(4, 12, "see http://e.x/a_(b)?日. ok");
    for at in [place(0, 4), place(0, 11), place(1, 0), place(1, 9), place(1, 10)] {
        let link = live.link_at(at).unwrap();
        assert_eq!(link.uri, "http://e.x/a_(b)?日", "{at:?}");
        assert_eq!((link.start, link.end), (place(0, 4), place(1, 10)));
    }
    for at in [place(0, 3), place(1, 11), place(2, 1), place(3, 0)] {
        assert_eq!(live.link_at(at), None, "{at:?}");
    }
}

#[test]
fn links_that_a_program_made_come_before_addresses() {
    let live = filled(
        2,
        40,
        "\x1b]8;id=1;http://target/\x07http://shown/\x1b]8;id=2;http://b/\x07x\x1b]8;;\x07 y",
    );
    let link = live.link_at(place(0, 3)).unwrap();
    assert_eq!((link.uri.as_str(), link.start.col, link.end.col), ("http://target/", 0, 12));
    let link = live.link_at(place(0, 13)).unwrap();
    assert_eq!((link.uri.as_str(), link.start.col, link.end.col), ("http://b/", 13, 13));
    assert_eq!(live.link_at(place(0, 15)), None);
}

#[test]
fn an_accent_on_a_cell_that_nothing_was_written_to_is_shown() {
    // Repeated after a step back, the accent lands on the untouched cell before its letter.
    let live = filled(2, 10, "\x1b[ae\u{301}\x08\x1b[b");
    assert_eq!(live.snapshot().row_texts()[0], " \u{301}e\u{301}");
    assert_eq!(live.snapshot().plain_text(), " \u{301}e\u{301}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_place_of_any_screen_can_be_looked_at(bytes in stream(60), at in 0u64..80, col in 0u16..25, back in 0usize..60) {
        let mut live = screen(6, 20);
        feed(&mut live, &bytes);
        let view = live.view_at(back, Detail::Cells);
        prop_assert_eq!(view.cells.len(), 120);
        prop_assert_eq!(view.row_texts().len(), 6);
        for found in [live.word_at(place(at, col), WORD_CHARS), live.line_at(at)].into_iter().flatten() {
            prop_assert!(found.start <= found.end && !found.text.is_empty());
        }
        live.link_at(place(at, col));
        let selection = select((at, col), (at + 20, 3));
        let text = live.selected_text(&selection);
        prop_assert!(!text.ends_with([' ', '\n']));
        prop_assert!(text.lines().all(|line| !line.ends_with(' ')));
    }

    #[test]
    fn a_row_that_is_shown_is_the_row_of_the_screen(bytes in stream(40)) {
        let mut live = screen(6, 20);
        feed(&mut live, &bytes);
        for (number, text) in live.snapshot().row_texts().iter().enumerate() {
            let mut joined = String::new();
            row::push_text(live.emulator.row(number), &mut joined);
            let strip = |text: &str| text.replace(' ', "");
            prop_assert_eq!(strip(text), strip(&joined));
        }
    }
}
