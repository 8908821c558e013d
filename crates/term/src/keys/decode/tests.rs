//! Bytes read as keys, by example and against the encoder.

use proptest::prelude::*;

use super::super::{KeyKind, KeyModes, encode, parse_chord};
use super::*;
use crate::mouse::{self, MouseButton, MouseKind, MouseMods};
use crate::snapshot::Modes;

fn read(bytes: impl AsRef<[u8]>) -> Vec<Input> {
    let mut decoder = Decoder::default();
    let mut found = decoder.feed(bytes.as_ref());
    found.extend(decoder.timeout());
    found
}

fn keys(bytes: &str) -> Vec<(Key, Mods)> {
    let key = |input| match input {
        Input::Key(press) => (press.key, press.mods),
        other => panic!("{other:?}"),
    };
    read(bytes).into_iter().map(key).collect()
}

#[test]
fn keys_are_read_as_people_name_them() {
    for (bytes, chord) in [
        ("a", "a"),
        ("A", "shift+a"),
        ("ü", "ü"),
        ("\x01", "ctrl+a"),
        ("\x1c", "ctrl+\\"),
        ("\x00", "ctrl+space"),
        ("\r", "enter"),
        ("\t", "tab"),
        ("\x7f", "backspace"),
        ("\x1b", "escape"),
        ("\x1b\x1b", "alt+escape"),
        ("\x1ba", "alt+a"),
        ("\x1b\x10", "ctrl+alt+p"),
        ("\x1b\r", "alt+enter"),
        ("\x1b[", "alt+["),
        ("\x1bO", "alt+shift+o"),
        ("\x1b]", "alt+]"),
        ("\x1bP", "alt+shift+p"),
        ("\x1b[A", "up"),
        ("\x1bOA", "up"),
        ("\x1b[1;5D", "ctrl+left"),
        ("\x1b\x1b[C", "alt+right"),
        ("\x1b[Z", "shift+tab"),
        ("\x1b[3~", "delete"),
        ("\x1b[3;5~", "ctrl+delete"),
        ("\x1bOP", "f1"),
        ("\x1b[[A", "f1"),
        ("\x1b[11~", "f1"),
        ("\x1b[1;2R", "shift+f3"),
        ("\x1b[1~", "home"),
        ("\x1b[27;2;13~", "shift+enter"),
        ("\x1b[27;6;70~", "ctrl+shift+f"),
        ("\x1b[13;2u", "shift+enter"),
        ("\x1b[102;6u", "ctrl+shift+f"),
        ("\x1b[70;6u", "ctrl+shift+f"),
        ("\x1b[27u", "escape"),
        ("\x1bOp", "kp_0"),
    ] {
        let press = parse_chord(chord).unwrap();
        assert_eq!(keys(bytes), [(press.key, press.mods)], "{chord}");
    }
    let found = read("\x1b[97:65:99;2:3;65u");
    let press = KeyPress {
        text: Some("A".into()),
        shifted: Some('A'),
        base_layout: Some('c'),
        ..KeyPress::new(Key::Char('a')).with_mods(Mods::SHIFT).with_kind(KeyKind::Release)
    };
    assert_eq!(found, [Input::Key(press)]);
}

#[test]
fn mouse_focus_paste_and_answers_are_distinguished() {
    let event =
        |kind, button, mods| Input::Mouse(MouseEvent { kind, button, col: 4, row: 2, mods });
    let none = MouseMods::default();
    let ctrl = MouseMods { ctrl: true, ..none };
    assert_eq!(read("\x1b[<0;5;3M"), [event(MouseKind::Press, MouseButton::Left, none)]);
    assert_eq!(read("\x1b[<0;5;3m"), [event(MouseKind::Release, MouseButton::Left, none)]);
    assert_eq!(read("\x1b[<35;5;3M"), [event(MouseKind::Motion, MouseButton::None, none)]);
    assert_eq!(read("\x1b[<81;5;3M"), [event(MouseKind::Press, MouseButton::WheelDown, ctrl)]);
    assert_eq!(read("\x1b[I\x1b[O"), [Input::Focus(true), Input::Focus(false)]);
    let pasted = |text: &str| Input::Paste { text: text.into(), is_cut: false };
    assert_eq!(read("\x1b[200~a\x1b[A\nb\x1b[201~"), [pasted("a\x1b[A\nb")]);
    assert_eq!(
        read("\x1b[?62;52;22c\x1b[?5u"),
        [Input::Reply(Reply::Attributes(vec![62, 52, 22])), Input::Reply(Reply::KeyboardFlags(5))]
    );
}

#[test]
fn escape_before_what_is_no_key_is_the_escape_key() {
    let escape = Input::Key(KeyPress::new(Key::Special(Special::Escape)));
    for after in ["\x1b[<0;5;6M", "\x1b[I", "\x1b[O", "\x1b[200~pasted\x1b[201~"] {
        let alone = read(after);
        assert_eq!(alone.len(), 1, "{after:?}");
        let both = read(format!("\x1b{after}"));
        assert_eq!(both, [vec![escape.clone()], alone].concat(), "{after:?}");
    }
}

#[test]
fn what_is_not_known_is_dropped_whole() {
    for unknown in [
        "\x1b[?2026;2$y",
        "\x1b[>0;276;0c",
        "\x1b[12;40R",
        "\x1b[8;24;80t",
        "\x1b]11;rgb:0000/0000/0000\x07",
        "\x1b]11;rgb:0000/0000/0000\x1b\\",
        "\x1bP>|xterm(370)\x1b\\",
        "\x1b_Gi=1;OK\x1b\\",
        "\x1b[<66;1;1M",
        "\x1b[M !!",
        "\x1b[201~",
        "\x1b[999~",
        "\x1b[1;5\u{7}",
    ] {
        let found = keys(&format!("{unknown}x"));
        let kept = found.last().copied();
        assert_eq!(kept, Some((Key::Char('x'), Mods::NONE)), "{unknown:?}");
        assert!(found.len() == 1 || unknown.ends_with('\u{7}'), "{unknown:?} {found:?}");
    }
    assert_eq!(keys("\x1b[1;\x1b[A"), [(Key::Special(Special::Up), Mods::NONE)]);
    assert_eq!(read(b"\xff\xc3(\x80"), read("("));
}

#[test]
fn only_what_silence_decides_waits_for_it() {
    let mut decoder = Decoder::default();
    for (bytes, waits) in [("\x1b", true), ("[", true), ("1", false), (";5", false)] {
        assert_eq!(decoder.feed(bytes.as_bytes()), []);
        assert_eq!(decoder.is_waiting(), waits, "{bytes}");
    }
    assert_eq!(decoder.timeout(), []);
    let Some(Input::Key(press)) = decoder.feed(b"C").pop() else { panic!() };
    assert_eq!((press.key, press.mods), (Key::Special(Special::Right), Mods::CTRL));
    // A string that never ends does not take the keyboard away.
    assert_eq!(decoder.feed(b"\x1b]x"), []);
    assert!(decoder.is_waiting());
    assert_eq!(decoder.timeout(), []);
    assert_eq!(decoder.feed(b"y").len(), 1);
}

#[test]
fn a_paste_is_bounded() {
    let mut decoder = Decoder::default();
    decoder.feed(b"\x1b[200~");
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        assert_eq!(decoder.feed(&piece), []);
    }
    let Some(Input::Paste { text, is_cut }) = decoder.feed(PASTE_END).pop() else { panic!() };
    assert_eq!((text.len(), is_cut), (MAX_PASTE, true));
    assert_eq!(decoder.feed(b"x").len(), 1);
}

fn any_press() -> impl Strategy<Value = KeyPress> {
    let key = prop_oneof![
        3 => prop_oneof![proptest::char::range(' ', '~'), Just('ü'), Just('日'), Just('ß')].prop_map(|c| Key::Char(unshifted(c))),
        3 => proptest::sample::select(Special::ALL).prop_map(Key::Special),
    ];
    let kind = prop_oneof![4 => Just(KeyKind::Press), 1 => Just(KeyKind::Repeat), 1 => Just(KeyKind::Release)];
    let base = prop_oneof![4 => Just(None), 1 => Just(Some('q'))];
    (key, any::<u8>(), kind, base).prop_map(|(key, mods, kind, base_layout)| KeyPress {
        base_layout,
        ..KeyPress::new(key).with_mods(Mods::from_bits(mods)).with_kind(kind)
    })
}

fn any_modes() -> impl Strategy<Value = KeyModes> {
    (any::<bool>(), any::<bool>(), 0..3u8, 0..32u8).prop_map(
        |(application_cursor, application_keypad, modify_other_keys, kitty_flags)| KeyModes {
            application_cursor,
            application_keypad,
            backarrow_sends_bs: false,
            modify_other_keys,
            // Events without telling keys apart leave some of them ambiguous, so nothing asks for that.
            kitty_flags: if kitty_flags & 0b1011 == 0b10 { kitty_flags | 1 } else { kitty_flags },
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// A key that was read and is sent on under the same modes is the same bytes. Only the kitty protocol tells
    /// a letter under caps lock from one with shift.
    #[test]
    fn reading_undoes_encoding(press in any_press(), modes in any_modes()) {
        let mods = match modes.kitty_flags {
            0 => press.mods.without(Mods::LOCKS),
            _ => press.mods,
        };
        let press = KeyPress { mods, ..press };
        let bytes = encode(&press, &modes);
        let mut again = Vec::new();
        for input in read(&bytes) {
            let Input::Key(read) = input else { panic!("{input:?}") };
            again.extend(encode(&read, &modes));
        }
        prop_assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&bytes));
    }

    /// With everything reported, nothing about a key gets lost.
    #[test]
    fn the_whole_kitty_protocol_loses_nothing(press in any_press()) {
        let modes = KeyModes { kitty_flags: 31, ..KeyModes::default() };
        let bytes = encode(&press, &modes);
        let found = read(&bytes);
        let Some(Input::Key(read)) = found.first() else { panic!("{found:?}") };
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(read.key, press.key);
        prop_assert_eq!(read.kind, press.kind);
        if !matches!(press.key, Key::Special(key) if key.is_modifier()) {
            prop_assert_eq!(read.mods, press.mods);
        }
    }

    #[test]
    fn mouse_reports_are_read_back(col in 0..2000u16, row in 0..2000u16, kind in 0..3u8, button in 0..6u8, bits in 0..8u8) {
        let kind = [MouseKind::Press, MouseKind::Release, MouseKind::Motion][usize::from(kind)];
        let button = [MouseButton::Left, MouseButton::Middle, MouseButton::Right, MouseButton::WheelUp, MouseButton::WheelDown, MouseButton::None][usize::from(button)];
        let mods = MouseMods { shift: bits & 1 != 0, ctrl: bits & 2 != 0, alt: bits & 4 != 0 };
        let event = MouseEvent { kind, button, col, row, mods };
        let modes = Modes { mouse_motion: true, mouse_sgr: true, ..Modes::default() };
        if let Some(bytes) = mouse::encode(&modes, event) {
            prop_assert_eq!(read(bytes), [Input::Mouse(event)]);
        }
    }

    /// However bytes are cut, they are the same input.
    #[test]
    fn cuts_change_nothing(pieces in prop::collection::vec(piece(), 0..12), cuts in prop::collection::vec(1..5usize, 1..20)) {
        let bytes = pieces.concat();
        let mut decoder = Decoder::default();
        let mut found = Vec::new();
        let mut rest = &bytes[..];
        for length in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (now, later) = rest.split_at((*length).min(rest.len()));
            found.extend(decoder.feed(now));
            rest = later;
        }
        found.extend(decoder.timeout());
        prop_assert_eq!(found, read(&bytes));
    }
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        (any_press(), any_modes()).prop_map(|(press, modes)| encode(&press, &modes)),
        prop::collection::vec(any::<u8>(), 0..6),
        Just(b"\x1b[200~x\x1b[201y\x1b[201~".to_vec()),
        Just(b"\x1b]52;c;eA==\x07".to_vec()),
        Just(b"\x1b[<0;5;3M".to_vec()),
        Just(b"\x1b".to_vec()),
        Just(b"\x1b[".to_vec()),
    ]
}
