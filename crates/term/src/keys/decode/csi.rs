//! Control sequences: what their parameters and last byte stand for.

use super::super::{Key, KeyKind, KeyPress, Mods, Special, unshifted};
use super::{Input, MAX_SEQUENCE, Parsed, Reply};
use crate::mouse::{MouseButton, MouseEvent, MouseKind, MouseMods};

/// What follows `ESC [`, of which `before` bytes are counted; `mods` are held besides.
pub(super) fn parse(rest: &[u8], mods: Mods, before: usize) -> Parsed {
    match rest {
        // The old form of a mouse report, which is not asked for: three bytes follow.
        [b'M', ..] if rest.len() < 4 => return Parsed::Partial,
        [b'M', ..] => return Parsed::Whole(before + 4, None),
        // Function keys of the Linux console.
        [b'['] => return Parsed::Partial,
        [b'[', last, ..] => {
            let key = match last {
                b'A' => Special::F1,
                b'B' => Special::F2,
                b'C' => Special::F3,
                b'D' => Special::F4,
                b'E' => Special::F5,
                _ => return Parsed::Whole(before + 2, None),
            };
            return Parsed::Whole(before + 2, Some(key_input(Key::Special(key), mods)));
        }
        _ => {}
    }
    let Some(end) = rest.iter().position(|byte| !matches!(byte, 0x20..=0x3f)) else {
        return if rest.len() < MAX_SEQUENCE {
            Parsed::Partial
        } else {
            Parsed::Whole(before + rest.len(), None)
        };
    };
    let last = rest[end];
    if !(0x40..=0x7e).contains(&last) {
        // Broken off: what broke it is read by itself.
        return Parsed::Whole(before + end, None);
    }
    let length = before + end + 1;
    let Ok(fields) = std::str::from_utf8(&rest[..end]) else { return Parsed::Whole(length, None) };
    if last == b'~' && fields == "200" {
        return Parsed::PasteBegins(length);
    }
    Parsed::Whole(length, meaning(fields, char::from(last), mods))
}

/// What follows `ESC O`.
pub(super) fn parse_ss3(rest: &[u8], mods: Mods, before: usize) -> Parsed {
    let Some(last) = rest.first() else { return Parsed::Partial };
    if last.is_ascii_digit() {
        // A modifier, as some terminals put it here.
        return match rest.get(1) {
            None => Parsed::Partial,
            Some(last) => {
                let held = mods_of(u32::from(rest[0] - b'0')) | mods;
                Parsed::Whole(before + 2, ss3(*last).map(|key| key_input(key, held)))
            }
        };
    }
    if !(0x40..=0x7e).contains(last) {
        // Alt+O, and something else after it.
        let typed = super::typed('O', Mods::ALT);
        return Parsed::Whole(before, Some(Input::Key(typed)));
    }
    Parsed::Whole(before + 1, ss3(*last).map(|key| key_input(key, mods)))
}

fn ss3(last: u8) -> Option<Key> {
    let key = match last {
        b'p'..=b'y' => Special::ALL[Special::Kp0 as usize + usize::from(last - b'p')],
        b'j' => Special::KpMultiply,
        b'k' => Special::KpAdd,
        b'l' => Special::KpSeparator,
        b'm' => Special::KpSubtract,
        b'n' => Special::KpDecimal,
        b'o' => Special::KpDivide,
        b'X' => Special::KpEqual,
        b'M' => Special::KpEnter,
        _ => letter(char::from(last))?,
    };
    Some(Key::Special(key))
}

fn key_input(key: Key, mods: Mods) -> Input {
    Input::Key(KeyPress::new(key).with_mods(mods))
}

/// Parameters, each of them with its parts.
struct Fields(Vec<Vec<Option<u32>>>);

impl Fields {
    fn of(text: &str) -> Option<Fields> {
        let part = |part: &str| match part {
            "" => Some(None),
            _ => part.parse().ok().map(Some),
        };
        let field = |field: &str| field.split(':').map(part).collect::<Option<Vec<_>>>();
        text.split(';').map(field).collect::<Option<Vec<_>>>().map(Fields)
    }

    fn get(&self, field: usize, part: usize) -> Option<u32> {
        self.0.get(field)?.get(part).copied().flatten()
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}

fn meaning(fields: &str, last: char, mods: Mods) -> Option<Input> {
    if let Some(report) = fields.strip_prefix('<') {
        return mouse(&Fields::of(report)?, last).map(Input::Mouse);
    }
    if let Some(answer) = fields.strip_prefix('?') {
        return reply(&Fields::of(answer)?, last).map(Input::Reply);
    }
    match (fields, last) {
        ("", 'I') => return Some(Input::Focus(true)),
        ("", 'O') => return Some(Input::Focus(false)),
        _ => {}
    }
    let fields = Fields::of(fields)?;
    let press = match last {
        '~' => tilde(&fields)?,
        'u' => unicode(&fields)?,
        'Z' => KeyPress::new(Key::Special(Special::Tab)).with_mods(Mods::SHIFT | held(&fields)),
        // A report of the cursor's place looks like this key; it is not asked for.
        'R' if fields.get(0, 0).unwrap_or(1) != 1 => return None,
        _ => event(KeyPress::new(Key::Special(letter(last)?)), &fields),
    };
    let mods = press.mods | mods;
    Some(Input::Key(press.with_mods(mods)))
}

/// Modifiers as a parameter has them.
fn mods_of(parameter: u32) -> Mods {
    Mods::from_bits(u8::try_from(parameter.saturating_sub(1)).unwrap_or(0))
}

fn held(fields: &Fields) -> Mods {
    mods_of(fields.get(1, 0).unwrap_or(1))
}

/// Modifiers and kind, which stand in the second parameter.
fn event(press: KeyPress, fields: &Fields) -> KeyPress {
    let kind = match fields.get(1, 1) {
        Some(2) => KeyKind::Repeat,
        Some(3) => KeyKind::Release,
        _ => KeyKind::Press,
    };
    press.with_mods(held(fields)).with_kind(kind)
}

/// Keys whose sequence ends with a letter of their own.
fn letter(last: char) -> Option<Special> {
    let is_it = |key: &&Special| key.kitty_code() == (1, last);
    if last == 'R' { Some(Special::F3) } else { Special::ALL.iter().find(is_it).copied() }
}

fn tilde(fields: &Fields) -> Option<KeyPress> {
    let number = fields.get(0, 0)?;
    if number == 27 && fields.count() == 3 {
        return other_key(fields.get(2, 0)?, other_mods(held(fields)));
    }
    let key = match number {
        1 | 7 => Special::Home,
        4 | 8 => Special::End,
        11 => Special::F1,
        12 => Special::F2,
        14 => Special::F4,
        25 => Special::F13,
        26 => Special::F14,
        28 => Special::F15,
        29 => Special::Menu,
        31 => Special::F17,
        32 => Special::F18,
        33 => Special::F19,
        34 => Special::F20,
        42..=56 => Special::ALL[Special::F21 as usize + (number - 42) as usize],
        _ => *Special::ALL.iter().find(|key| key.kitty_code() == (number, '~'))?,
    };
    Some(event(KeyPress::new(Key::Special(key)), fields))
}

/// xterm's fourth modifier is meta.
fn other_mods(mods: Mods) -> Mods {
    if mods.contains(Mods::SUPER) { mods.without(Mods::SUPER) | Mods::META } else { mods }
}

/// A key of modifyOtherKeys, which names the character that it would type.
fn other_key(code: u32, mods: Mods) -> Option<KeyPress> {
    let c = char::from_u32(code)?;
    let press = match control_key(code) {
        Some(key) => KeyPress::new(Key::Special(key)),
        None => shifted_char(c, mods),
    };
    Some(press.with_mods(mods))
}

fn control_key(code: u32) -> Option<Special> {
    Some(match code {
        13 => Special::Enter,
        9 => Special::Tab,
        127 => Special::Backspace,
        27 => Special::Escape,
        _ => return None,
    })
}

/// A key by a character that may be the shifted one.
fn shifted_char(c: char, mods: Mods) -> KeyPress {
    let plain = unshifted(c);
    let shifted = mods.contains(Mods::SHIFT).then_some(c);
    KeyPress { shifted, ..KeyPress::new(Key::Char(plain)) }
}

/// `code:shifted:base ; mods:event ; text`.
fn unicode(fields: &Fields) -> Option<KeyPress> {
    let code = fields.get(0, 0)?;
    let special = Special::ALL.iter().find(|key| key.kitty_code() == (code, 'u'));
    let mut press = match special {
        Some(key) => KeyPress::new(Key::Special(*key)),
        None => {
            let c = char::from_u32(code)?;
            let is_shifted = unshifted(c) != c;
            let press = if is_shifted {
                shifted_char(c, held(fields))
            } else {
                KeyPress::new(Key::Char(c))
            };
            KeyPress {
                shifted: fields.get(0, 1).and_then(char::from_u32).or(press.shifted),
                base_layout: fields.get(0, 2).and_then(char::from_u32),
                ..press
            }
        }
    };
    let text = fields.0.get(2).map(|codes| {
        codes.iter().flatten().filter_map(|code| char::from_u32(*code)).collect::<String>()
    });
    press.text = text.filter(|text| !text.is_empty() && !text.chars().any(char::is_control));
    Some(event(press, fields))
}

fn reply(fields: &Fields, last: char) -> Option<Reply> {
    match last {
        'c' => {
            let number = |field: &Vec<Option<u32>>| {
                field.first().copied().flatten().and_then(|number| u16::try_from(number).ok())
            };
            Some(Reply::Attributes(fields.0.iter().filter_map(number).collect()))
        }
        'u' => Some(Reply::KeyboardFlags(u8::try_from(fields.get(0, 0)?).ok()?)),
        _ => None,
    }
}

fn mouse(fields: &Fields, last: char) -> Option<MouseEvent> {
    let code = fields.get(0, 0)?;
    let cell = |field| u16::try_from(fields.get(field, 0)?.checked_sub(1)?).ok();
    let (col, row) = (cell(1)?, cell(2)?);
    let has = |bit| code & bit != 0;
    let button = match code & !(4 | 8 | 16 | 32) {
        0 => MouseButton::Left,
        1 => MouseButton::Middle,
        2 => MouseButton::Right,
        3 => MouseButton::None,
        64 => MouseButton::WheelUp,
        65 => MouseButton::WheelDown,
        _ => return None,
    };
    let kind = match last {
        'M' if has(32) => MouseKind::Motion,
        'M' => MouseKind::Press,
        'm' => MouseKind::Release,
        _ => return None,
    };
    let mods = MouseMods { shift: has(4), alt: has(8), ctrl: has(16) };
    Some(MouseEvent { kind, button, col, row, mods })
}
