//! What programs ask, set and are told: exact bytes.

use std::time::Duration;

use proptest::prelude::*;

use super::{config, feed, replies, screen, streams::stream};
use crate::osc::Osc;
use crate::{MemoryBlocks, NoTranscript, Palette, Screen, ScreenEvent, ScreenSize};

fn asked(live: &mut Screen, bytes: &str) -> String {
    String::from_utf8(feed(live, bytes).replies).unwrap().replace('\x1b', "ESC")
}

#[test]
fn colors_are_reported_as_they_were_before_the_chunk() {
    let mut live = screen(2, 10);
    let first = asked(&mut live, "\x1b]11;rgb:00/11/22\x07\x1b]11;?\x07");
    assert_eq!(first, "ESC]11;rgb:1616/1818/1d1d\x07");
    assert_eq!(asked(&mut live, "\x1b]11;?\x1b\\"), "ESC]11;rgb:0000/1111/2222\x07");
    assert_eq!(asked(&mut live, "\x1b]111\x07\x1b]11;?\x07"), "ESC]11;rgb:0000/1111/2222\x07");
    assert_eq!(asked(&mut live, "\x1b]11;?\x07"), "ESC]11;rgb:1616/1818/1d1d\x07");
}

#[test]
fn a_question_cut_between_chunks_sees_what_was_set_before_its_last_chunk() {
    let mut live = screen(2, 10);
    assert_eq!(asked(&mut live, "\x1b]12;#010203\x07\x1b]12"), "");
    assert_eq!(asked(&mut live, ";?\x07"), "ESC]12;rgb:0101/0202/0303\x07");
}

#[test]
fn several_palette_entries_are_reported_one_after_the_other() {
    assert_eq!(
        replies("\x1b]4;1;?;300;?;232;?;2\x07"),
        "ESC]4;1;rgb:e0e0/6c6c/7575\x07ESC]4;232;rgb:0808/0808/0808\x07"
    );
    assert_eq!(replies("\x1b]10;?;?\x07").matches("rgb:").count(), 2);
    let many: String = (0..=255).map(|index| format!(";{index};?")).collect();
    assert_eq!(replies(&format!("\x1b]4{many}\x07")).matches("rgb:").count(), 256);
}

#[test]
fn resets_give_colors_back_to_the_theme() {
    let mut live = screen(2, 10);
    feed(&mut live, "\x1b]4;1;#111111;2;#222222;3;red\x07\x1b]10;#333333\x07\x1b]12;#444444\x07");
    let theme = Palette::default();
    assert_eq!(live.colors().indexed(1), (0x11, 0x11, 0x11));
    assert_eq!(live.colors().indexed(3), theme.named[3], "no color, no change");
    assert_eq!(live.snapshot().colors().cursor(), (0x44, 0x44, 0x44));
    feed(&mut live, "\x1b]104;x\x07\x1b]104;1\x07\x1b]112\x07");
    assert_eq!(live.colors().indexed(1), theme.named[1]);
    assert_eq!(live.colors().indexed(2), (0x22, 0x22, 0x22));
    assert_eq!(live.colors().cursor(), theme.cursor);
    feed(&mut live, "\x1b]104\x07");
    assert_eq!(live.colors().indexed(2), theme.named[2]);
    assert_eq!(live.colors().foreground(), (0x33, 0x33, 0x33));
}

#[test]
fn a_theme_moves_what_the_program_left_alone_and_is_told_where_wanted() {
    let light = Palette { background: (255, 255, 255), ..Palette::default() };
    let mut live = screen(2, 10);
    feed(&mut live, "\x1b]10;#010101\x07");
    assert_eq!(live.set_palette(light.clone()), b"");
    assert_eq!(live.colors().background(), (255, 255, 255));
    assert_eq!(live.colors().foreground(), (1, 1, 1));
    assert_eq!(asked(&mut live, "\x1b[?2031h\x1b[?2031$p"), "ESC[?2031;1$y");
    assert!(live.modes().theme_reports);
    assert_eq!(live.set_palette(light.clone()), b"", "the same again is no change");
    assert_eq!(live.set_palette(Palette::default()), b"\x1b[?997;1n");
    assert_eq!(live.set_palette(light), b"\x1b[?997;2n");
    assert_eq!(asked(&mut live, "\x1b[?2031l\x1b[?2031$p"), "ESC[?2031;2$y");
    assert_eq!(live.set_palette(Palette::default()), b"");
}

#[test]
fn sizes_are_reported_in_band_where_wanted() {
    let mut live = screen(24, 80);
    let resize = |live: &mut Screen, rows, cols| {
        live.resize(ScreenSize::new(rows, cols), &NoTranscript, Duration::ZERO);
        String::from_utf8(live.take_replies()).unwrap().replace('\x1b', "ESC")
    };
    assert_eq!(resize(&mut live, 24, 81), "");
    assert_eq!(asked(&mut live, "\x1b[?2048h"), "ESC[48;24;81;384;648t");
    assert_eq!(resize(&mut live, 30, 100), "ESC[48;30;100;480;800t");
    assert_eq!(resize(&mut live, 30, 100), "", "nothing changed");
    assert_eq!(
        asked(&mut live, "\x1b[?2048$p\x1b[?2048l\x1b[?2048$p"),
        "ESC[?2048;1$yESC[?2048;2$y"
    );
    assert_eq!(resize(&mut live, 24, 80), "");
}

#[test]
fn what_the_contract_leaves_unanswered_stays_so() {
    assert_eq!(replies("\x05\x1b[?996n\x1b]52;c;?\x07\x1b]4;x;?\x07\x1b]110;?\x07"), "");
}

#[test]
fn a_broken_off_osc_changes_nothing() {
    let mut live = screen(2, 20);
    feed(&mut live, "\x1b]2;first\x07");
    let fed = feed(&mut live, "\x1b]2;lost\x1b[1mx\x1b]2;lost\x18y\x1b]8;;http://lost/\x1bDz");
    assert_eq!(fed.events, []);
    assert_eq!(live.title(), Some("first"));
    assert_eq!(live.plain_text(), "xy\n  z");
    let snapshot = live.snapshot();
    assert!(snapshot.row(0).next().unwrap().style().bold);
    assert!(snapshot.row(1).nth(2).unwrap().style().link.is_none());
}

#[test]
fn titles_are_taken_whole_and_saved_ones_come_back() {
    let mut live = screen(2, 20);
    let many = (0..40).map(|part| part.to_string()).collect::<Vec<_>>().join(";");
    feed(&mut live, format!("\x1b]0;{many}\x07"));
    assert_eq!(live.title(), Some(many.as_str()));
    let fed = feed(&mut live, "\x1b[22;0t\x1b]2;other\x07\x1b]1;icon\x07\x1b[23;0t\x1b[23t");
    assert_eq!(
        fed.events,
        [
            ScreenEvent::Title(Some("other".to_owned())),
            ScreenEvent::Osc(Osc::IconName("icon".to_owned())),
            ScreenEvent::Title(Some(many)),
        ]
    );
}

#[test]
fn the_pointers_shape_is_known_until_it_is_given_back() {
    let mut live = screen(2, 20);
    assert_eq!(live.pointer().name(), "default");
    feed(&mut live, "\x1b]22;col-resize\x07");
    assert_eq!(
        (live.pointer().name(), live.snapshot().pointer.name()),
        ("col-resize", "col-resize")
    );
    feed(&mut live, "\x1b]22;\x07");
    assert_eq!(live.pointer().name(), "default");
}

#[test]
fn links_and_shapes_work_outside_and_inside_synchronized_output() {
    for (before, after) in [("", ""), ("\x1b[?2026h", "\x1b[?2026l")] {
        let mut live = screen(2, 20);
        feed(
            &mut live,
            format!(
                "{before}a\x1b]8;id=x;http://e/;q\x1b\\b\x1b]8;;\x07c\x1b]50;CursorShape=1\x07{after}"
            ),
        );
        let snapshot = live.snapshot();
        let links: Vec<_> = snapshot.row(0).map(|cell| cell.style().link).take(3).collect();
        assert_eq!(links, [None, Some("http://e/;q".into()), None]);
        assert_eq!(snapshot.cursor.shape, crate::CursorShape::Beam);
    }
}

#[test]
fn synchronized_output_may_end_in_the_middle_of_an_osc() {
    let mut live = screen(2, 20);
    feed(&mut live, "\x1b[?2026hab\x1b]2;ti");
    live.stop_sync(&NoTranscript, Duration::ZERO);
    let fed = feed(&mut live, "tle\x1b\\c");
    assert_eq!(fed.events, [ScreenEvent::Title(Some("title".to_owned()))]);
    assert_eq!(live.plain_text(), "abc");
    assert!(live.can_checkpoint());
}

#[test]
fn an_endless_osc_is_passed_over_and_what_follows_is_not() {
    let mut live = screen(2, 20);
    feed(&mut live, "a\x1b]52;c;");
    for _ in 0..40 {
        feed(&mut live, "QUFB".repeat(16 * 1024));
    }
    let fed = feed(&mut live, "\x07b\x1b]52;p;eA==\x07");
    assert_eq!(fed.events.len(), 1, "the one that was not cut off");
    assert_eq!(live.plain_text(), "ab");
}

#[test]
fn requests_and_colors_survive_a_checkpoint_and_older_ones_load() {
    let mut first = screen(2, 20);
    feed(
        &mut first,
        "\x1b]22;wait\x07\x1b[?2031h\x1b[?2048h\x1b]4;200;#010203\x07\x1b]11;#0a0b0c\x07",
    );
    let saved = first.checkpoint();
    let restore = |saved: &[u8]| {
        Screen::restore(saved, config(2, 20), Box::new(MemoryBlocks::default())).unwrap()
    };
    let mut second = restore(&saved);
    assert_eq!(second.checkpoint(), saved);
    assert_eq!(second.pointer().name(), "wait");
    assert_eq!(second.colors(), first.colors());
    let other = Palette { cursor: (1, 2, 3), ..Palette::default() };
    assert_eq!(second.set_palette(other), b"\x1b[?997;1n");
    assert_eq!(asked(&mut second, "\x1b]11;?\x07"), "ESC]11;rgb:0a0a/0b0b/0c0c\x07");
    // Without row numbers, and without these requests, as older versions wrote them.
    let older = restore(&saved[..saved.len() - 2]);
    assert_eq!(older.pointer().name(), "wait");
    let old = restore(&saved[..saved.len() - 5]);
    assert_eq!(old.pointer().name(), "default");
    assert_eq!(old.colors(), first.colors());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Bells in a row count once within a chunk.
    #[test]
    fn any_split_of_the_bytes_gives_the_same_events(bytes in stream(60), piece in 1usize..50) {
        let mut whole = screen(6, 20);
        let mut told = feed(&mut whole, &bytes).events;
        let mut parts = screen(6, 20);
        let mut retold: Vec<ScreenEvent> =
            bytes.chunks(piece).flat_map(|chunk| feed(&mut parts, chunk).events).collect();
        for events in [&mut told, &mut retold] {
            events.dedup_by(|next, last| *last == ScreenEvent::Bell && next == last);
        }
        prop_assert_eq!(told, retold);
        prop_assert_eq!(whole.colors(), parts.colors());
        prop_assert_eq!(whole.pointer(), parts.pointer());
    }
}
