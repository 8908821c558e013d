//! The kitty keyboard protocol: `CSI code:shifted:base ; mods:event ; text u` and its relatives.
//! Called only when at least one of the flags 1, 2 or 8 is on.

use super::kitty_flag::{
    ALL_AS_ESCAPES, ALTERNATE_KEYS, ASSOCIATED_TEXT, DISAMBIGUATE, EVENT_TYPES,
};
use super::{Key, KeyKind, KeyModes, KeyPress, Mods, Special, legacy, unshifted};
use std::fmt::Write as _;

pub(super) fn encode(press: &KeyPress, modes: &KeyModes) -> Vec<u8> {
    let flags = Flags(modes.kitty_flags);
    if press.kind == KeyKind::Release && !flags.has(EVENT_TYPES) {
        return Vec::new();
    }
    match press.key {
        Key::Char(key) => encode_char(press, key, modes, flags),
        Key::Special(key) => encode_special(press, key, modes, flags),
    }
}

#[derive(Clone, Copy)]
struct Flags(u8);

impl Flags {
    fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

fn encode_char(press: &KeyPress, key: char, modes: &KeyModes, flags: Flags) -> Vec<u8> {
    if !flags.has(ALL_AS_ESCAPES) {
        // A key that types text stays text, and text has no release.
        if let Some(text) = press.typed_text() {
            return if press.kind == KeyKind::Release { Vec::new() } else { text.into_bytes() };
        }
        if !flags.has(DISAMBIGUATE)
            && press.kind == KeyKind::Press
            && !press.mods.intersects(Mods::SUPER | Mods::HYPER | Mods::META)
        {
            return legacy::encode(press, modes);
        }
    }
    sequence(press, u32::from(unshifted(key)), 'u', char_mods(press.mods, flags), flags)
}

/// Locks are reported for keys that type only when everything is an escape code, so that
/// programs which compare modifiers for equality keep working with caps lock on.
fn char_mods(mods: Mods, flags: Flags) -> Mods {
    if flags.has(ALL_AS_ESCAPES) { mods } else { mods.without(Mods::LOCKS) }
}

fn encode_special(press: &KeyPress, key: Special, modes: &KeyModes, flags: Flags) -> Vec<u8> {
    let everything = flags.has(ALL_AS_ESCAPES);
    if key.is_modifier() && !everything {
        return Vec::new();
    }
    if !everything
        && !flags.has(DISAMBIGUATE)
        && let Some(plain) = key.without_keypad()
    {
        return encode(&KeyPress { key: plain, ..press.clone() }, modes);
    }
    let held = press.mods.without(Mods::LOCKS);
    let mut mods = press.mods;
    match key {
        // These three keep working in a shell that inherits the mode from a crashed program.
        Special::Enter | Special::Tab | Special::Backspace if !everything => {
            if press.kind == KeyKind::Release {
                return Vec::new();
            }
            if held.is_empty() {
                return legacy::encode(press, modes);
            }
            mods = held;
        }
        Special::Escape if !everything => {
            if !flags.has(DISAMBIGUATE) && held.is_empty() && press.kind == KeyKind::Press {
                return legacy::encode(press, modes);
            }
            mods = held;
        }
        _ if press.kind != KeyKind::Release => mods |= own_modifier(key),
        _ => {}
    }
    let (number, last) = key.kitty_code();
    sequence(press, number, last, mods, flags)
}

/// The bit that a modifier key itself adds: the report shows the state after the event. On
/// release only the caller knows whether the twin on the other side is still down.
fn own_modifier(key: Special) -> Mods {
    match key {
        Special::LeftShift | Special::RightShift => Mods::SHIFT,
        Special::LeftCtrl | Special::RightCtrl => Mods::CTRL,
        Special::LeftAlt | Special::RightAlt => Mods::ALT,
        Special::LeftSuper | Special::RightSuper => Mods::SUPER,
        Special::LeftHyper | Special::RightHyper => Mods::HYPER,
        Special::LeftMeta | Special::RightMeta => Mods::META,
        _ => Mods::NONE,
    }
}

fn sequence(press: &KeyPress, number: u32, last: char, mods: Mods, flags: Flags) -> Vec<u8> {
    let event = match press.kind {
        KeyKind::Repeat if flags.has(EVENT_TYPES) => Some(2),
        KeyKind::Release => Some(3),
        _ => None,
    };
    let text = associated_text(press, flags);
    let mut fields = String::new();
    let has_second = !mods.is_empty() || event.is_some();
    if last == 'u' || last == '~' || has_second {
        push(&mut fields, format_args!("{number}"));
    }
    if last == 'u' {
        fields.push_str(&alternates(press, flags));
    }
    if has_second {
        push(&mut fields, format_args!(";{}", u16::from(mods.bits()) + 1));
    }
    if let Some(event) = event {
        push(&mut fields, format_args!(":{event}"));
    }
    if let Some(text) = text {
        fields.push_str(if has_second { ";" } else { ";;" });
        for (position, c) in text.chars().enumerate() {
            let separator = if position == 0 { "" } else { ":" };
            push(&mut fields, format_args!("{separator}{}", u32::from(c)));
        }
    }
    format!("\x1b[{fields}{last}").into_bytes()
}

fn push(fields: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = fields.write_fmt(arguments);
}

fn associated_text(press: &KeyPress, flags: Flags) -> Option<String> {
    let wanted =
        flags.has(ASSOCIATED_TEXT) && flags.has(ALL_AS_ESCAPES) && press.kind != KeyKind::Release;
    if !wanted {
        return None;
    }
    let plain = match press.key {
        Key::Special(key) if press.text.is_none() => match key.without_keypad() {
            Some(Key::Char(c)) => Some(c),
            _ => None,
        },
        _ => None,
    };
    match plain {
        Some(c) => KeyPress { key: Key::Char(c), ..press.clone() }.typed_text(),
        None => press.typed_text(),
    }
}

/// `:shifted`, `:shifted:base` or `::base`.
fn alternates(press: &KeyPress, flags: Flags) -> String {
    let Key::Char(key) = press.key else { return String::new() };
    if !flags.has(ALTERNATE_KEYS) {
        return String::new();
    }
    let code = unshifted(key);
    let shifted = press
        .mods
        .contains(Mods::SHIFT)
        .then(|| press.shifted_char(code))
        .filter(|shifted| *shifted != code);
    let base = press.base_layout.filter(|base| *base != code);
    let mut fields = String::new();
    if let Some(shifted) = shifted {
        push(&mut fields, format_args!(":{}", u32::from(shifted)));
    }
    if let Some(base) = base {
        let separator = if shifted.is_some() { ":" } else { "::" };
        push(&mut fields, format_args!("{separator}{}", u32::from(base)));
    }
    fields
}
