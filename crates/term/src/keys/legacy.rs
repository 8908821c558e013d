//! The xterm encoding: control bytes, ESC for alt, `CSI 1 ; m X`, SS3 in application modes, and
//! modifyOtherKeys on top of it.

use super::{Key, KeyModes, KeyPress, Mods, Special};

const ESC: u8 = 0x1b;

pub(super) fn encode(press: &KeyPress, modes: &KeyModes) -> Vec<u8> {
    match press.key {
        Key::Char(key) => encode_char(press, key, modes),
        Key::Special(key) => encode_special(press, key, modes),
    }
}

fn encode_char(press: &KeyPress, key: char, modes: &KeyModes) -> Vec<u8> {
    // Super and hyper have no legacy form, and the bare letter would be a different command.
    if press.mods.intersects(Mods::SUPER | Mods::HYPER) {
        return Vec::new();
    }
    let shift = press.mods.contains(Mods::SHIFT);
    let visible = if shift { press.shifted_char(key) } else { key };
    if other_keys_wants_char(visible, press.mods, modes.modify_other_keys) {
        return other_key(visible as u32, press.mods);
    }
    let mut bytes = Vec::new();
    if press.mods.intersects(Mods::ALT | Mods::META) {
        bytes.push(ESC);
    }
    if press.mods.contains(Mods::CTRL) {
        let control = control_byte(visible).or_else(|| press.base_layout.and_then(control_byte));
        match control {
            Some(byte) => bytes.push(byte),
            None => push_char(&mut bytes, visible),
        }
    } else if let Some(text) = press.typed_text() {
        bytes.extend_from_slice(text.as_bytes());
    } else {
        push_char(&mut bytes, press.typed_char().unwrap_or(visible));
    }
    bytes
}

fn push_char(bytes: &mut Vec<u8>, c: char) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// What control makes of a key; `None` leaves the key as it is.
fn control_byte(key: char) -> Option<u8> {
    Some(match key {
        'a'..='z' => key as u8 - b'a' + 1,
        'A'..='Z' => key as u8 - b'A' + 1,
        ' ' | '@' | '2' => 0,
        '[' | '3' | '{' => 0x1b,
        '\\' | '4' | '|' => 0x1c,
        ']' | '5' | '}' => 0x1d,
        '^' | '6' | '~' => 0x1e,
        '_' | '7' | '/' => 0x1f,
        '?' | '8' => 0x7f,
        _ => return None,
    })
}

/// Whether modifyOtherKeys takes a character key away from the plain encoding.
fn other_keys_wants_char(visible: char, mods: Mods, level: u8) -> bool {
    let held = mods.without(Mods::LOCKS);
    let shift_only = held == Mods::SHIFT;
    // Characters that control can turn into a C0 byte by masking.
    let control_input = ('@'..='\x7f').contains(&visible);
    match level {
        0 => false,
        // Level 1 leaves alone what has a well-known meaning: ESC for alt and the C0 bytes.
        1 => {
            held.contains(Mods::CTRL)
                && (held.contains(Mods::SHIFT) || control_byte(visible).is_none())
        }
        _ if held.is_empty() => false,
        _ => control_input || !shift_only || visible == ' ',
    }
}

fn other_key(code: u32, mods: Mods) -> Vec<u8> {
    format!("\x1b[27;{};{code}~", modifier_parameter(mods)).into_bytes()
}

/// xterm's parameter: it knows shift, alt, control and one further modifier.
fn modifier_parameter(mods: Mods) -> u8 {
    let low = mods.bits() & 7;
    let further = if mods.intersects(Mods::SUPER | Mods::META) { 8 } else { 0 };
    1 + low + further
}

fn encode_special(press: &KeyPress, key: Special, modes: &KeyModes) -> Vec<u8> {
    let held = press.mods.without(Mods::LOCKS);
    if modes.application_keypad
        && held.is_empty()
        && !press.mods.contains(Mods::NUM)
        && let Some(last) = application_keypad(key)
    {
        return vec![ESC, b'O', last];
    }
    if let Some(plain) = key.without_keypad() {
        return encode(&KeyPress { key: plain, ..press.clone() }, modes);
    }
    match key {
        Special::Enter | Special::Tab | Special::Backspace | Special::Escape => {
            control_key(key, held, modes)
        }
        _ => match form(key) {
            Some(Form::Letter(last)) => letter_form(key, last, held, modes),
            Some(Form::Tilde(number)) if modifier_parameter(held) == 1 => {
                format!("\x1b[{number}~").into_bytes()
            }
            Some(Form::Tilde(number)) => {
                format!("\x1b[{number};{}~", modifier_parameter(held)).into_bytes()
            }
            None => Vec::new(),
        },
    }
}

fn letter_form(key: Special, last: char, held: Mods, modes: &KeyModes) -> Vec<u8> {
    let parameter = modifier_parameter(held);
    let function_key = matches!(key, Special::F1 | Special::F2 | Special::F3 | Special::F4);
    if parameter != 1 {
        format!("\x1b[1;{parameter}{last}").into_bytes()
    } else if function_key || modes.application_cursor {
        format!("\x1bO{last}").into_bytes()
    } else {
        format!("\x1b[{last}").into_bytes()
    }
}

/// Enter, tab, backspace and escape: C0 bytes in every mode but modifyOtherKeys.
fn control_key(key: Special, held: Mods, modes: &KeyModes) -> Vec<u8> {
    if other_keys_wants_control(key, held, modes.modify_other_keys) {
        let code = match key {
            Special::Enter => 13,
            Special::Tab => 9,
            Special::Backspace => 127,
            _ => 27,
        };
        return other_key(code, held);
    }
    let mut bytes = Vec::new();
    if held.intersects(Mods::ALT | Mods::META) {
        bytes.push(ESC);
    }
    match key {
        Special::Enter => bytes.push(b'\r'),
        Special::Tab if held.contains(Mods::SHIFT) => bytes.extend_from_slice(b"\x1b[Z"),
        Special::Tab => bytes.push(b'\t'),
        Special::Backspace => {
            let erase = modes.backarrow_sends_bs != held.contains(Mods::CTRL);
            bytes.push(if erase { 0x08 } else { 0x7f });
        }
        _ => bytes.push(ESC),
    }
    bytes
}

fn other_keys_wants_control(key: Special, held: Mods, level: u8) -> bool {
    if level == 0 || modifier_parameter(held) == 1 {
        return false;
    }
    match key {
        Special::Enter if level == 1 => held.intersects(Mods::SHIFT | Mods::CTRL),
        Special::Enter => true,
        Special::Tab if level == 1 => held.contains(Mods::CTRL),
        Special::Tab => held != Mods::SHIFT,
        Special::Backspace => level > 1 && held != Mods::CTRL,
        _ => level > 1,
    }
}

enum Form {
    Letter(char),
    Tilde(u8),
}

fn form(key: Special) -> Option<Form> {
    let number = match key {
        Special::F3 => return Some(Form::Letter('R')),
        Special::F13 => 25,
        Special::F14 => 26,
        Special::F15 => 28,
        Special::F16 | Special::Menu => 29,
        Special::F17 => 31,
        Special::F18 => 32,
        Special::F19 => 33,
        Special::F20 => 34,
        // xterm numbers F21 to F35 from 42 on, without gaps.
        _ if (Special::F21..=Special::F35).contains(&key) => 42 + (key as u8 - Special::F21 as u8),
        _ => match key.kitty_code() {
            (number, '~') => u8::try_from(number).ok()?,
            (_, 'u') => return None,
            (_, last) => return Some(Form::Letter(last)),
        },
    };
    Some(Form::Tilde(number))
}

/// Last byte of the SS3 form of a keypad key in application mode.
fn application_keypad(key: Special) -> Option<u8> {
    Some(match key {
        Special::Kp0 => b'p',
        Special::Kp1 => b'q',
        Special::Kp2 => b'r',
        Special::Kp3 => b's',
        Special::Kp4 => b't',
        Special::Kp5 => b'u',
        Special::Kp6 => b'v',
        Special::Kp7 => b'w',
        Special::Kp8 => b'x',
        Special::Kp9 => b'y',
        Special::KpMultiply => b'j',
        Special::KpAdd => b'k',
        Special::KpSeparator => b'l',
        Special::KpSubtract => b'm',
        Special::KpDecimal => b'n',
        Special::KpDivide => b'o',
        Special::KpEqual => b'X',
        Special::KpEnter => b'M',
        _ => return None,
    })
}
