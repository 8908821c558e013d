//! Exact bytes of both encodings, from xterm's ctlseqs and the kitty protocol's document.

use super::*;
use proptest::prelude::*;

fn bytes(chord: &str, modes: KeyModes) -> String {
    let press = parse_chord(chord).unwrap_or_else(|error| panic!("{error}"));
    readable(&encode(&press, &modes))
}

fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn check(modes: KeyModes, table: &[(&str, &str)]) {
    for (chord, expected) in table {
        assert_eq!(bytes(chord, modes), *expected, "{chord} under {modes:?}");
    }
}

fn kitty(flags: u8) -> KeyModes {
    KeyModes { kitty_flags: flags, ..KeyModes::default() }
}

fn other_keys(level: u8) -> KeyModes {
    KeyModes { modify_other_keys: level, ..KeyModes::default() }
}

#[test]
fn legacy_text_keys() {
    check(
        KeyModes::default(),
        &[
            ("i", "i"),
            ("shift+i", "I"),
            ("alt+i", "\x1bi"),
            ("ctrl+i", "\t"),
            ("shift+alt+i", "\x1bI"),
            ("alt+ctrl+i", "\x1b\t"),
            ("ctrl+shift+i", "\t"),
            ("shift+3", "#"),
            ("alt+3", "\x1b3"),
            ("ctrl+3", "\x1b"),
            ("shift+alt+3", "\x1b#"),
            ("shift+;", ":"),
            ("ctrl+;", ";"),
            ("alt+ctrl+;", "\x1b;"),
            ("ctrl+1", "1"),
            ("ctrl+9", "9"),
            ("ctrl+space", "\0"),
            ("ctrl+shift+space", "\0"),
            ("ctrl+alt+space", "\x1b\0"),
            ("ctrl+@", "\0"),
            ("ctrl+2", "\0"),
            ("ctrl+shift+2", "\0"),
            ("ctrl+[", "\x1b"),
            ("ctrl+\\", "\x1c"),
            ("ctrl+]", "\x1d"),
            ("ctrl+^", "\x1e"),
            ("ctrl+_", "\x1f"),
            ("ctrl+shift+-", "\x1f"),
            ("ctrl+/", "\x1f"),
            ("ctrl+?", "\x7f"),
            ("ctrl+8", "\x7f"),
            ("ctrl+shift+8", "*"),
            ("ctrl+~", "\x1e"),
            ("ctrl+a", "\x01"),
            ("ctrl+z", "\x1a"),
            ("alt+é", "\x1bé"),
            ("日", "日"),
            ("meta+x", "\x1bx"),
            ("super+a", ""),
            ("hyper+a", ""),
        ],
    );
}

#[test]
fn legacy_control_keys() {
    check(
        KeyModes::default(),
        &[
            ("enter", "\r"),
            ("ctrl+enter", "\r"),
            ("alt+enter", "\x1b\r"),
            ("shift+enter", "\r"),
            ("escape", "\x1b"),
            ("alt+escape", "\x1b\x1b"),
            ("backspace", "\x7f"),
            ("ctrl+backspace", "\x08"),
            ("alt+backspace", "\x1b\x7f"),
            ("ctrl+alt+backspace", "\x1b\x08"),
            ("tab", "\t"),
            ("shift+tab", "\x1b[Z"),
            ("ctrl+shift+tab", "\x1b[Z"),
            ("alt+shift+tab", "\x1b\x1b[Z"),
            ("alt+tab", "\x1b\t"),
        ],
    );
    let swapped = KeyModes { backarrow_sends_bs: true, ..KeyModes::default() };
    check(swapped, &[("backspace", "\x08"), ("ctrl+backspace", "\x7f")]);
}

#[test]
fn legacy_functional_keys() {
    check(
        KeyModes::default(),
        &[
            ("up", "\x1b[A"),
            ("shift+up", "\x1b[1;2A"),
            ("alt+down", "\x1b[1;3B"),
            ("shift+alt+right", "\x1b[1;4C"),
            ("ctrl+left", "\x1b[1;5D"),
            ("ctrl+shift+home", "\x1b[1;6H"),
            ("ctrl+alt+end", "\x1b[1;7F"),
            ("ctrl+alt+shift+up", "\x1b[1;8A"),
            ("meta+up", "\x1b[1;9A"),
            ("kp_begin", "\x1b[E"),
            ("insert", "\x1b[2~"),
            ("shift+delete", "\x1b[3;2~"),
            ("ctrl+page_up", "\x1b[5;5~"),
            ("f1", "\x1bOP"),
            ("shift+f1", "\x1b[1;2P"),
            ("f3", "\x1bOR"),
            ("ctrl+f3", "\x1b[1;5R"),
            ("ctrl+f5", "\x1b[15;5~"),
            ("f12", "\x1b[24~"),
            ("f13", "\x1b[25~"),
            ("f16", "\x1b[29~"),
            ("f20", "\x1b[34~"),
            ("f21", "\x1b[42~"),
            ("f35", "\x1b[56~"),
            ("menu", "\x1b[29~"),
            ("media_play", ""),
            ("left_shift", ""),
            ("pause", ""),
        ],
    );
    let application = KeyModes { application_cursor: true, ..KeyModes::default() };
    check(
        application,
        &[
            ("up", "\x1bOA"),
            ("home", "\x1bOH"),
            ("end", "\x1bOF"),
            ("shift+up", "\x1b[1;2A"),
            ("insert", "\x1b[2~"),
            ("f1", "\x1bOP"),
            ("kp_left", "\x1bOD"),
        ],
    );
}

#[test]
fn legacy_keypad() {
    check(KeyModes::default(), &[("kp_5", "5"), ("kp_enter", "\r"), ("kp_up", "\x1b[A")]);
    let application = KeyModes { application_keypad: true, ..KeyModes::default() };
    check(
        application,
        &[
            ("kp_0", "\x1bOp"),
            ("kp_9", "\x1bOy"),
            ("kp_enter", "\x1bOM"),
            ("kp_multiply", "\x1bOj"),
            ("kp_add", "\x1bOk"),
            ("kp_subtract", "\x1bOm"),
            ("kp_decimal", "\x1bOn"),
            ("kp_divide", "\x1bOo"),
            ("kp_equal", "\x1bOX"),
            ("kp_page_up", "\x1b[5~"),
            ("enter", "\r"),
        ],
    );
    let num = KeyPress::new(Key::Special(Special::Kp5)).with_mods(Mods::NUM);
    assert_eq!(encode(&num, &application), b"5");
}

#[test]
fn modify_other_keys_1() {
    check(
        other_keys(1),
        &[
            ("a", "a"),
            ("shift+a", "A"),
            ("ctrl+a", "\x01"),
            ("alt+a", "\x1ba"),
            ("ctrl+alt+a", "\x1b\x01"),
            ("ctrl+shift+a", "\x1b[27;6;65~"),
            ("ctrl+,", "\x1b[27;5;44~"),
            ("ctrl+1", "\x1b[27;5;49~"),
            ("ctrl+3", "\x1b"),
            ("ctrl+space", "\0"),
            ("shift+enter", "\x1b[27;2;13~"),
            ("ctrl+tab", "\x1b[27;5;9~"),
            ("shift+tab", "\x1b[Z"),
            ("ctrl+shift+tab", "\x1b[27;6;9~"),
            ("ctrl+backspace", "\x08"),
            ("shift+up", "\x1b[1;2A"),
        ],
    );
}

#[test]
fn modify_other_keys_2() {
    check(
        other_keys(2),
        &[
            ("a", "a"),
            ("enter", "\r"),
            ("shift+a", "\x1b[27;2;65~"),
            ("shift+1", "!"),
            ("shift+space", "\x1b[27;2;32~"),
            ("ctrl+a", "\x1b[27;5;97~"),
            ("ctrl+i", "\x1b[27;5;105~"),
            ("alt+a", "\x1b[27;3;97~"),
            ("ctrl+3", "\x1b[27;5;51~"),
            ("alt+enter", "\x1b[27;3;13~"),
            ("shift+escape", "\x1b[27;2;27~"),
            ("shift+backspace", "\x1b[27;2;127~"),
            ("ctrl+backspace", "\x08"),
            ("shift+tab", "\x1b[Z"),
        ],
    );
    assert_eq!(bytes("ctrl+a", other_keys(9)), "\x1b[27;5;97~");
}

#[test]
fn kitty_disambiguate() {
    check(
        kitty(1),
        &[
            ("a", "a"),
            ("shift+a", "A"),
            ("escape", "\x1b[27u"),
            ("alt+escape", "\x1b[27;3u"),
            ("alt+a", "\x1b[97;3u"),
            ("ctrl+c", "\x1b[99;5u"),
            ("ctrl+shift+a", "\x1b[97;6u"),
            ("shift+alt+a", "\x1b[97;4u"),
            ("ctrl+space", "\x1b[32;5u"),
            ("shift+space", " "),
            ("super+a", "\x1b[97;9u"),
            ("hyper+a", "\x1b[97;17u"),
            ("meta+a", "\x1b[97;33u"),
            ("ctrl+é", "\x1b[233;5u"),
            ("enter", "\r"),
            ("tab", "\t"),
            ("backspace", "\x7f"),
            ("shift+enter", "\x1b[13;2u"),
            ("shift+tab", "\x1b[9;2u"),
            ("ctrl+shift+tab", "\x1b[9;6u"),
            ("ctrl+backspace", "\x1b[127;5u"),
            ("up", "\x1b[A"),
            ("ctrl+up", "\x1b[1;5A"),
            ("f1", "\x1b[P"),
            ("f3", "\x1b[13~"),
            ("shift+f3", "\x1b[13;2~"),
            ("f5", "\x1b[15~"),
            ("delete", "\x1b[3~"),
            ("ctrl+delete", "\x1b[3;5~"),
            ("f13", "\x1b[57376u"),
            ("kp_5", "\x1b[57404u"),
            ("kp_enter", "\x1b[57414u"),
            ("ctrl+kp_left", "\x1b[57417;5u"),
            ("kp_begin", "\x1b[E"),
            ("media_play", "\x1b[57428u"),
            ("caps_lock", ""),
            ("left_ctrl", ""),
        ],
    );
    let cursor = KeyModes { application_cursor: true, ..kitty(1) };
    check(cursor, &[("up", "\x1b[A"), ("home", "\x1b[H")]);
}

#[test]
fn kitty_event_types() {
    let event = |chord: &str, kind, flags| {
        let press = parse_chord(chord).unwrap().with_kind(kind);
        readable(&encode(&press, &kitty(flags)))
    };
    use KeyKind::{Press, Release, Repeat};
    let table = [
        ("ctrl+a", Press, 3, "\x1b[97;5u"),
        ("ctrl+a", Repeat, 3, "\x1b[97;5:2u"),
        ("ctrl+a", Release, 3, "\x1b[97;5:3u"),
        ("up", Repeat, 3, "\x1b[1;1:2A"),
        ("up", Release, 3, "\x1b[1;1:3A"),
        ("delete", Release, 3, "\x1b[3;1:3~"),
        ("escape", Release, 3, "\x1b[27;1:3u"),
        ("a", Repeat, 3, "a"),
        ("a", Release, 3, ""),
        ("enter", Repeat, 3, "\r"),
        ("enter", Release, 3, ""),
        ("shift+tab", Release, 3, ""),
        ("a", Press, 10, "\x1b[97u"),
        ("a", Repeat, 10, "\x1b[97;1:2u"),
        ("a", Release, 10, "\x1b[97;1:3u"),
        ("enter", Release, 10, "\x1b[13;1:3u"),
        ("a", Repeat, 8, "\x1b[97u"),
        ("a", Release, 8, ""),
        ("up", Release, 1, ""),
        ("up", Repeat, 1, "\x1b[A"),
        ("ctrl+a", Press, 2, "\x01"),
        ("ctrl+a", Release, 2, "\x1b[97;5:3u"),
        ("super+a", Press, 2, "\x1b[97;9u"),
        ("escape", Press, 2, "\x1b"),
        ("escape", Release, 2, "\x1b[27;1:3u"),
        ("kp_up", Press, 2, "\x1b[A"),
        ("kp_5", Press, 2, "5"),
    ];
    for (chord, kind, flags, expected) in table {
        assert_eq!(event(chord, kind, flags), expected, "{chord} {kind:?} flags {flags}");
    }
    assert_eq!(
        encode(&parse_chord("up").unwrap().with_kind(Release), &KeyModes::default()),
        b"",
        "legacy has no release"
    );
}

#[test]
fn kitty_all_as_escapes() {
    check(
        kitty(8),
        &[
            ("a", "\x1b[97u"),
            ("shift+a", "\x1b[97;2u"),
            ("enter", "\x1b[13u"),
            ("tab", "\x1b[9u"),
            ("backspace", "\x1b[127u"),
            ("escape", "\x1b[27u"),
            ("space", "\x1b[32u"),
            ("left_shift", "\x1b[57441;2u"),
            ("right_ctrl", "\x1b[57448;5u"),
            ("caps_lock", "\x1b[57358u"),
            ("iso_level3_shift", "\x1b[57453u"),
        ],
    );
    let release = parse_chord("left_shift").unwrap().with_kind(KeyKind::Release);
    assert_eq!(readable(&encode(&release, &kitty(10))), "\x1b[57441;1:3u");
}

#[test]
fn kitty_associated_text() {
    check(
        kitty(24),
        &[
            ("a", "\x1b[97;;97u"),
            ("shift+a", "\x1b[97;2;65u"),
            ("ctrl+a", "\x1b[97;5u"),
            ("enter", "\x1b[13u"),
            ("kp_5", "\x1b[57404;;53u"),
        ],
    );
    let option_a = KeyPress { text: Some("å".into()), ..KeyPress::new(Key::Char('a')) };
    assert_eq!(readable(&encode(&option_a, &kitty(24))), "\x1b[97;;229u");
    let two = KeyPress { text: Some("ab".into()), ..KeyPress::new(Key::Char('a')) };
    assert_eq!(readable(&encode(&two, &kitty(24))), "\x1b[97;;97:98u");
    let release = parse_chord("a").unwrap().with_kind(KeyKind::Release);
    assert_eq!(readable(&encode(&release, &kitty(26))), "\x1b[97;1:3u");
    assert_eq!(bytes("a", kitty(17)), "a", "the text flag means nothing without flag 8");
}

#[test]
fn kitty_alternate_keys() {
    check(
        kitty(5),
        &[
            ("ctrl+shift+a", "\x1b[97:65;6u"),
            ("ctrl+a", "\x1b[97;5u"),
            ("ctrl+shift+=", "\x1b[61:43;6u"),
            ("shift+a", "A"),
        ],
    );
    let cyrillic = KeyPress { base_layout: Some('c'), ..KeyPress::new(Key::Char('с')) };
    let held = cyrillic.clone().with_mods(Mods::CTRL);
    assert_eq!(readable(&encode(&held, &kitty(5))), "\x1b[1089::99;5u");
    let shifted = cyrillic.with_mods(Mods::CTRL | Mods::SHIFT);
    assert_eq!(readable(&encode(&shifted, &kitty(5))), "\x1b[1089:1057:99;6u");
    assert_eq!(encode(&held, &KeyModes::default()), b"\x03");
}

#[test]
fn locks() {
    let press = |chord: &str, locks| {
        let press = parse_chord(chord).unwrap();
        let mods = press.mods | locks;
        press.with_mods(mods)
    };
    let caps = |chord: &str, flags| readable(&encode(&press(chord, Mods::CAPS), &kitty(flags)));
    assert_eq!(caps("a", 0), "A");
    assert_eq!(caps("shift+a", 0), "a");
    assert_eq!(caps("1", 0), "1");
    assert_eq!(caps("a", 1), "A");
    assert_eq!(caps("ctrl+a", 0), "\x01");
    assert_eq!(caps("ctrl+a", 1), "\x1b[97;5u");
    assert_eq!(caps("enter", 1), "\r");
    assert_eq!(caps("shift+enter", 1), "\x1b[13;2u");
    assert_eq!(caps("up", 1), "\x1b[1;65A");
    assert_eq!(caps("a", 8), "\x1b[97;65u");
    let num = press("up", Mods::NUM);
    assert_eq!(readable(&encode(&num, &kitty(0))), "\x1b[A");
}

#[test]
fn given_text_wins_over_the_us_layout() {
    let german = KeyPress { text: Some("§".into()), ..KeyPress::new(Key::Char('3')) };
    let german = german.with_mods(Mods::SHIFT);
    assert_eq!(readable(&encode(&german, &KeyModes::default())), "§");
    assert_eq!(readable(&encode(&german, &kitty(1))), "§");
    let control = KeyPress { text: Some("\x01".into()), ..KeyPress::new(Key::Char('a')) };
    assert_eq!(encode(&control.with_mods(Mods::CTRL), &KeyModes::default()), b"\x01");
}

fn any_press() -> impl Strategy<Value = KeyPress> {
    let key = prop_oneof![
        any::<char>().prop_map(Key::Char),
        proptest::sample::select(Special::ALL).prop_map(Key::Special),
    ];
    let kind = proptest::sample::select(vec![KeyKind::Press, KeyKind::Repeat, KeyKind::Release]);
    let text = proptest::option::of(".{0,3}");
    let alternates = (any::<Option<char>>(), any::<Option<char>>());
    (key, any::<u8>(), kind, text, alternates).prop_map(|(key, bits, kind, text, alternates)| {
        KeyPress {
            key,
            mods: Mods::from_bits(bits),
            kind,
            text,
            shifted: alternates.0,
            base_layout: alternates.1,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn any_event_encodes_to_text_or_one_sequence(
        press in any_press(),
        switches in any::<[bool; 3]>(),
        modify_other_keys in 0u8..4,
        kitty_flags in any::<u8>(),
    ) {
        let modes = KeyModes {
            application_cursor: switches[0],
            application_keypad: switches[1],
            backarrow_sends_bs: switches[2],
            modify_other_keys,
            kitty_flags,
        };
        let bytes = encode(&press, &modes);
        let text = String::from_utf8(bytes);
        prop_assert!(text.is_ok());
        if kitty_flags & 8 != 0 && (press.kind != KeyKind::Release || kitty_flags & 2 != 0) {
            let text = text.unwrap();
            let inner = text.strip_prefix("\x1b[").and_then(|rest| {
                rest.strip_suffix(|last: char| last == '~' || last.is_ascii_alphabetic())
            });
            prop_assert!(inner.is_some_and(|inner| {
                inner.bytes().all(|byte| byte.is_ascii_digit() || byte == b';' || byte == b':')
            }), "{:?}", text);
        }
    }
}
