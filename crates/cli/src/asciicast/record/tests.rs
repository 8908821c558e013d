//! What gets into a recording, and what does not.

use proptest::prelude::*;

use super::super::{EntryKind, Reader};
use super::*;

const SIZE: Size = Size { cols: 20, rows: 4 };

fn recorder(policy: Option<Policy>) -> Recorder {
    let about = About { size: SIZE, timestamp: 0, idle_limit: None, command: None, title: None };
    Recorder::new(about, policy)
}

fn strict() -> Recorder {
    recorder(Some(Policy::strict()))
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Everything that the recording would show.
fn shown(recorder: &mut Recorder) -> String {
    recorder.end();
    let lines = recorder.take();
    let (_, mut reader) = Reader::open(&*lines).unwrap();
    let mut shown = String::new();
    while let Some(event) = reader.next().unwrap() {
        if let EntryKind::Output(text) = event.what {
            shown.push_str(&text);
        }
    }
    shown
}

fn redraw_of(text: &str) -> Vec<u8> {
    let config = ScreenConfig {
        size: ScreenSize::new(SIZE.rows, SIZE.cols),
        scrollback: 0,
        palette: Palette::default(),
    };
    let mut screen = Screen::new(config, Box::new(MemoryBlocks::default()));
    screen.feed(text.as_bytes(), &NoTranscript, Duration::ZERO);
    screen.redraw()
}

#[test]
fn a_secret_in_pieces_is_not_recorded() {
    for silence in [false, true] {
        let mut recorder = strict();
        for (piece, at) in ["to", "ken", "=ab", "cd", "ef next"].iter().zip(1..) {
            recorder.output(ms(at * 100), piece.as_bytes());
            if silence {
                recorder.flush();
            }
        }
        assert_eq!(shown(&mut recorder), "token=[REDACTED] next");
    }
    let mut open = recorder(None);
    open.output(ms(1), b"token=ab");
    open.output(ms(2), b"cd");
    assert_eq!(shown(&mut open), "token=abcd");
}

#[test]
fn held_text_keeps_its_time() {
    let mut recorder = strict();
    recorder.output(ms(100), b"hello wor");
    assert_eq!(recorder.held_since(), Some(ms(100)));
    recorder.flush();
    assert_eq!(recorder.held_since(), None);
    recorder.output(ms(400), b"ld\r\n");
    let lines = String::from_utf8(recorder.take()).unwrap();
    let events: Vec<_> = lines.lines().skip(1).collect();
    assert_eq!(
        events,
        [r#"[0.100, "o", "hello "]"#, r#"[0.000, "o", "wor"]"#, r#"[0.300, "o", "ld\r\n"]"#]
    );
    assert_eq!(recorder.events(), 3);
}

#[test]
fn characters_are_joined_and_nothing_is_lost_at_the_end() {
    for policy in [None, Some(Policy::strict())] {
        let mut recorder = recorder(policy);
        for byte in "日本 ü€😀".bytes() {
            recorder.output(ms(1), &[byte]);
            recorder.flush();
        }
        recorder.output(ms(2), b" \xff \xe6\x97");
        assert_eq!(shown(&mut recorder), "日本 ü€😀 \u{fffd} \u{fffd}");
    }
}

#[test]
fn what_does_not_draw_is_not_recorded_unless_everything_is() {
    let output = b"a\x1b]52;c;c2VjcmV0\x07\x1b[?1000h\x1b]0;t\x07\x1b[1mb";
    let mut clean = strict();
    clean.output(ms(1), output);
    assert_eq!(shown(&mut clean), "a\x1b[1mb");
    let mut all = recorder(None);
    all.output(ms(1), output);
    assert_eq!(shown(&mut all).as_bytes(), output);
}

#[test]
fn a_screen_is_painted_without_its_secrets() {
    let mut recorder = strict();
    recorder.repaint(ms(0), &redraw_of("sk-abcdefgh\r\nijklmnopq\r\ntoken=abcdef"), SIZE);
    recorder.output(ms(10), b"xyz");
    recorder.flush();
    recorder.output(ms(200), b"uvw\r\n");
    let shown = shown(&mut recorder);
    let snapshot = painted(&shown, SIZE);
    assert_eq!(snapshot.plain_text(), "sk-abcdefgh\nijklmnopq\ntoken=[REDACTED]");
    assert!(!shown.contains("xyz") && !shown.contains("uvw"), "{shown:?}");
}

#[test]
fn a_secret_over_two_rows_in_the_last_corner_is_hidden_in_place() {
    let mut recorder = strict();
    recorder.repaint(ms(0), &redraw_of("one\r\ntwo\r\nthe token=abcdefghijklmnop"), SIZE);
    let shown = shown(&mut recorder);
    let screen = painted(&shown, SIZE);
    let text = screen.plain_text();
    assert!(text.starts_with("one\ntwo\nthe token=[REDACTED"), "{text}");
    assert!(!text.contains("klmn"), "{text}");
}

#[test]
fn a_new_size_and_a_resync_are_events() {
    let mut recorder = strict();
    recorder.output(ms(1), b"held");
    recorder.repaint(ms(5), &redraw_of("new"), Size { cols: 30, rows: 5 });
    recorder.resize(ms(6), Size { cols: 30, rows: 5 });
    recorder.exit(ms(7), Some(7));
    let lines = String::from_utf8(recorder.take()).unwrap();
    let starts: Vec<_> = lines.lines().skip(1).map(|line| &line[..16.min(line.len())]).collect();
    assert_eq!(starts[..2], [r#"[0.001, "o", "he"#, r#"[0.004, "r", "30"#]);
    assert!(starts[2].starts_with("[0.000, \"o\""), "{starts:?}");
    assert_eq!(starts[3], r#"[0.002, "x", "7""#);
}

proptest! {
    #[test]
    fn arbitrary_output_never_panics_and_is_always_readable(
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..10),
        redacted: bool,
        repaint_at in 0..10usize,
    ) {
        let mut recorder = recorder(redacted.then(Policy::strict));
        for (at, chunk) in chunks.iter().enumerate() {
            if at == repaint_at {
                recorder.repaint(ms(at as u64), chunk, Size { cols: 3, rows: 2 });
            } else {
                recorder.output(ms(at as u64), chunk);
            }
        }
        shown(&mut recorder);
    }

    #[test]
    fn cuts_do_not_change_text(bytes in prop::collection::vec(any::<u8>(), 0..60), cut in any::<prop::sample::Index>()) {
        let (before, after) = bytes.split_at(cut.index(bytes.len() + 1));
        let mut partial = Vec::new();
        let mut text = join(&mut partial, before);
        text += &join(&mut partial, after);
        text += &String::from_utf8_lossy(&partial);
        prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
    }
}
