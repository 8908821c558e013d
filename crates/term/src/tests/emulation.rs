//! What programs see and what readers get.

use expect_test::expect;
use proptest::prelude::*;

use super::{feed, replies, screen, streams::stream};
use crate::osc::{Clipboard, Osc, ShellMark};
use crate::{Color, NoTranscript, Place, ScreenEvent, ScreenSize, Selection, SelectionKind, Width};

#[test]
fn plain_text_follows_the_contract() {
    for (input, expected) in [
        ("\x1b[3;5Hx", "\n\n    x"),
        ("1234567890ABCDE", "1234567890ABCDE"),
        ("1234567890\r\nABCDE", "1234567890\nABCDE"),
        ("a  ", "a  "),
        ("a\tb", "a       b"),
        ("a\x1b[5Cb", "a     b"),
        ("abc\x1b[2K", ""),
        ("abcdef\x1b[3G\x1b[99P", "ab"),
        ("日x", "日x"),
        ("e\u{301}", "e\u{301}"),
        ("main\x1b[?1049hother\x1b[?1049l", "main"),
        ("main\x1b[?47h\x1b[Hother", "other"),
    ] {
        let mut live = screen(5, 10);
        feed(&mut live, input);
        assert_eq!(live.plain_text(), expected, "{input:?}");
    }
}

#[test]
fn cells_tell_written_from_untouched() {
    let mut live = screen(1, 4);
    feed(&mut live, "\x1b[1;32mA\x1b[m日");
    let snapshot = live.snapshot();
    let cells: Vec<_> = snapshot.row(0).collect();
    let texts: Vec<String> = cells.iter().map(|cell| cell.text()).collect();
    assert_eq!(texts, ["A", "日", "", ""]);
    assert_eq!(cells[0].style().fg, Color::Indexed(2));
    assert!(cells[0].style().bold);
    assert_eq!(cells[1].width(), Width::Wide);
    assert_eq!(cells[2].width(), Width::Continuation);
    feed(&mut live, "\r \x1b[C");
    assert_eq!(live.snapshot().row(0).next().unwrap().text(), " ");
}

/// Which cells of the first row have a line above them, and which one below.
fn lines(live: &crate::Screen) -> String {
    let mark = |cell: crate::CellRef<'_>| match (cell.style().overline, cell.style().underline) {
        (true, crate::Underline::None) => '^',
        (true, _) => '=',
        (false, crate::Underline::None) => '.',
        (false, _) => '_',
    };
    live.snapshot().row(0).map(mark).collect()
}

#[test]
fn lines_above_text_come_and_go_beside_those_below_it() {
    let told = "\x1b[53ma\x1b[4mb\x1b[24mc\x1b[1;31md\x1b[55me\x1b[4;53mf\x1b[0mg\x1b[38;5;53mh";
    for cut in [1, 3, 1000] {
        let mut live = screen(2, 8);
        for chunk in told.as_bytes().chunks(cut) {
            feed(&mut live, chunk);
        }
        assert_eq!(lines(&live), "^=^^.=..", "in pieces of {cut}");
        assert!(live.snapshot().row(0).nth(3).unwrap().style().bold);
    }
    // In output that is held back they keep their place.
    let mut live = screen(2, 8);
    feed(&mut live, "\x1b[?2026ha\x1b[53mb\x1b[55mc\x1b[?2026l");
    assert_eq!(lines(&live), ".^......");
}

#[test]
fn a_pending_wrap_shows_as_a_column_past_the_end() {
    let mut live = screen(2, 10);
    feed(&mut live, "1234567890");
    assert_eq!((live.cursor().row, live.cursor().col), (0, 10));
    feed(&mut live, "x");
    assert_eq!((live.cursor().row, live.cursor().col), (1, 1));
}

#[test]
fn queries_are_answered() {
    assert_eq!(replies("\x1b[c\x1b[0c"), "ESC[?62;22cESC[?62;22c");
    assert_eq!(replies("\x1b[=c"), "ESCP!|00000000ESC\\");
    assert_eq!(replies("\x1b[>c"), "ESC[>0;100;1c");
    assert_eq!(replies("\x1b[5n\x1b[2;3H\x1b[6n"), "ESC[0nESC[2;3R");
    assert_eq!(
        replies("\x1b[?2004h\x1b[?2004$p\x1b[?7727$p\x1b[4$p"),
        "ESC[?2004;1$yESC[?7727;0$yESC[4;2$y"
    );
    assert_eq!(replies("\x1b[>q"), concat!("ESCP>|rookery ", env!("CARGO_PKG_VERSION"), "ESC\\"));
    assert_eq!(replies("\x1b[18t\x1b[14t\x1b[16t"), "ESC[8;24;80tESC[4;384;640tESC[6;16;8t");
    assert_eq!(replies("\x1b[>5u\x1b[?u\x1b[<u\x1b[?u"), "ESC[?5uESC[?0u");
}

#[test]
fn events_are_typed_and_in_order() {
    let mut live = screen(4, 20);
    let fed = feed(
        &mut live,
        "\x1b]0;one\x07\x07\x1b]7;file:///tmp\x1b\\\x1b]9;done\x07\r\n\x1b]133;D;3\x07\x1b]52;c;aGk=\x07",
    );
    assert_eq!(
        fed.events,
        [
            ScreenEvent::Title(Some("one".to_owned())),
            ScreenEvent::Bell,
            ScreenEvent::Osc(Osc::Cwd("file:///tmp".to_owned())),
            ScreenEvent::Osc(Osc::Notify { title: "done".to_owned(), body: String::new() }),
            ScreenEvent::Mark(ShellMark::CommandEnd { code: Some(3) }, 1),
            ScreenEvent::Osc(Osc::ClipboardStore {
                target: Clipboard::System,
                text: "hi".to_owned()
            }),
        ]
    );
    assert_eq!(live.title(), Some("one"));
    feed(&mut live, "\x1bc");
    assert_eq!(live.title(), Some("one"), "a full reset keeps the title");
}

#[test]
fn synchronized_output_is_shown_whole_or_after_the_timeout() {
    let mut live = screen(2, 20);
    feed(&mut live, "old\x1b[?2026h\rnew");
    assert_eq!(live.plain_text(), "old");
    assert!(live.is_sync_pending());
    assert!(!live.can_checkpoint());
    live.stop_sync(&NoTranscript, std::time::Duration::ZERO);
    assert_eq!(live.plain_text(), "new");
    assert!(!live.is_sync_pending());
}

#[test]
fn hostile_streams_find_no_unbounded_growth() {
    let mut live = screen(2, 1);
    feed(&mut live, "日本");
    feed(&mut live, "\u{301}".repeat(10_000));
    feed(&mut live, "\x1b[>1u".repeat(10_000));
    feed(&mut live, "\x1b[22t".repeat(10_000));
    assert!(live.checkpoint().len() < 4_096);
    let fed = feed(&mut live, "\x1b[c".repeat(100_000));
    assert!(fed.replies.len() <= 64 * 1024);
}

#[test]
fn a_soft_reset_keeps_the_screen() {
    let mut live = screen(3, 20);
    feed(&mut live, "text\x1b[?1h\x1b[?25l\x1b[2;3r\x1b[31m\x1b[!p");
    assert_eq!(live.plain_text(), "text");
    assert!(!live.modes().application_cursor);
    assert!(live.cursor().visible);
}

#[test]
fn selections_stay_on_their_text_while_it_scrolls() {
    let mut live = screen(3, 10);
    feed(&mut live, "alpha\r\nbeta gamma delta\r\n");
    let selection = Selection {
        anchor: Place { row: 0, col: 2 },
        head: Place { row: 2, col: 2 },
        kind: SelectionKind::Text,
    };
    let before = live.selected_text(&selection);
    expect![[r#"
        pha
        beta gamma de"#]]
    .assert_eq(&before);
    for number in 0..20 {
        feed(&mut live, format!("{number}\r\n"));
    }
    assert_eq!(live.selected_text(&selection), before);
    let lines = Selection { kind: SelectionKind::Lines, ..selection };
    assert_eq!(live.selected_text(&lines), "alpha\nbeta gamma delta\n");
}

#[test]
fn a_redraw_switches_modes_off_before_it_switches_modes_on() {
    for mode in ["1000", "1002", "1003", "1006", "2004"] {
        let mut live = screen(2, 10);
        feed(&mut live, format!("\x1b[?{mode}h"));
        let redraw = String::from_utf8(live.redraw()).unwrap();
        let on = redraw.rfind(&format!("\x1b[?{mode}h")).unwrap();
        for other in ["1000", "1002", "1003", "1005", "1006"].iter().filter(|other| **other != mode)
        {
            // To a terminal, any of them switched off may be all of them switched off.
            let off = redraw.rfind(&format!("\x1b[?{other}l")).unwrap();
            assert!(off < on, "{mode} is on, then {other} goes off: {redraw:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// What attach paints on another terminal of the same size looks the same.
    #[test]
    fn a_redraw_gives_the_same_screen(bytes in stream(50)) {
        let mut first = screen(6, 20);
        feed(&mut first, &bytes);
        prop_assume!(first.can_checkpoint());
        let mut second = screen(6, 20);
        feed(&mut second, first.redraw());
        let (a, b) = (first.snapshot(), second.snapshot());
        // Insertion can tear a wide character in two, which no terminal can be made to show again.
        for row in 0..6 {
            let widths: Vec<Width> = a.row(row).map(|cell| cell.width()).collect();
            let wide = widths.iter().filter(|width| **width == Width::Wide).count();
            let pairs = widths.windows(2).filter(|pair| *pair == [Width::Wide, Width::Continuation]).count();
            let continued = widths.iter().filter(|width| **width == Width::Continuation).count();
            prop_assume!(wide == pairs && continued == pairs);
        }
        for row in 0..6 {
            for (left, right) in a.row(row).zip(b.row(row)) {
                prop_assert_eq!(left.text(), right.text());
                if left.text().is_empty() {
                    prop_assert_eq!(left.style().bg, right.style().bg);
                } else {
                    prop_assert_eq!(left.style(), right.style());
                }
            }
        }
        prop_assert_eq!((a.cursor.row, a.cursor.col, a.cursor.visible), (b.cursor.row, b.cursor.col, b.cursor.visible));
        prop_assert_eq!(a.modes.application_cursor, b.modes.application_cursor);
    }

    #[test]
    fn no_byte_stream_panics(bytes: Vec<u8>, rows in 1u16..4, cols in 1u16..4) {
        let mut live = screen(rows, cols);
        feed(&mut live, &bytes);
        live.resize(ScreenSize::new(cols, rows), &NoTranscript, std::time::Duration::ZERO);
        feed(&mut live, &bytes);
    }
}
