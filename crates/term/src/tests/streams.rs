//! Random terminal streams that look like what programs send.

use proptest::prelude::*;

/// One piece of a stream: text, a control, or a sequence.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let small = 0u16..12;
    prop_oneof![
        6 => "[ -~]{0,30}".prop_map(String::into_bytes),
        2 => prop_oneof![Just("日本語"), Just("e\u{301}"), Just("👩\u{200d}"), Just("é"), Just("█")]
            .prop_map(|text| text.as_bytes().to_vec()),
        6 => prop_oneof![Just("\r\n"), Just("\n"), Just("\r"), Just("\t"), Just("\x08"), Just("\x07")]
            .prop_map(|text| text.as_bytes().to_vec()),
        8 => (small.clone(), small.clone(), prop::sample::select("@ABCDEFGHIJKLMPSTXZ`abdefgrsu".as_bytes()))
            .prop_map(|(a, b, last)| format!("\x1b[{a};{b}{}", last as char).into_bytes()),
        4 => (0u16..110).prop_map(|code| format!("\x1b[{code}m").into_bytes()),
        1 => any::<[u8; 3]>().prop_map(|[r, g, b]| format!("\x1b[38;2;{r};{g};{b}m").into_bytes()),
        4 => (
            prop::sample::select(&[1u16, 3, 6, 7, 12, 25, 47, 1000, 1002, 1006, 1047, 1048, 1049, 2004, 2026, 2031, 2048][..]),
            prop::bool::ANY,
        )
            .prop_map(|(mode, on)| format!("\x1b[?{mode}{}", if on { 'h' } else { 'l' }).into_bytes()),
        2 => prop::sample::select(&[
            "\x1b7", "\x1b8", "\x1bM", "\x1bD", "\x1bE", "\x1bH", "\x1bc", "\x1b(0", "\x1b(B", "\x0e", "\x0f",
            "\x1b#8", "\x1b=", "\x1b>", "\x1b[!p", "\x1b[4h", "\x1b[4l", "\x1b[20h", "\x1b[>1u", "\x1b[<u",
            "\x1b[=5;1u", "\x1b[22t", "\x1b[23t", "\x1b[3J", "\x1b[3g", "\x1b[2 q", "\x1b]104\x07",
        ][..])
        .prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::sample::select(&[
            "\x1b]0;title\x07", "\x1b]2;other\x1b\\", "\x1b]8;;http://x/\x07", "\x1b]8;;\x07",
            "\x1b]11;rgb:00/11/22\x07", "\x1b]133;A\x07", "\x1b]7;file:///tmp\x07", "\x1b[c", "\x1b[6n",
            "\x1b]11;?\x07", "\x1bPxyz\x1b\\", "\x1b]9;hey\x1b\\", "\x1b]777;notify;a;b\x07", "\x1b]22;wait\x07",
            "\x1b]4;1;#123456;2;?\x07", "\x1b]104;1\x07", "\x1b]110\x07", "\x1b]52;c;aGk=\x07", "\x1b]2;broken\x1b]1;off\x07",
            "\x1b]0;broken\x1b[1m", "\x1b]50;CursorShape=1\x07", "\x1b]2;cut",
        ][..])
        .prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ]
}

pub(super) fn pieces(max: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(piece(), 0..max)
}

pub(super) fn stream(max: usize) -> impl Strategy<Value = Vec<u8>> {
    pieces(max).prop_map(|pieces| pieces.concat())
}
