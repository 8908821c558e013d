//! Keys as the window system gives them, as the engine wants them.

use rookery_term::keys::{Key, KeyKind, KeyPress, Mods, Special};
use winit::event::{ElementState, KeyEvent};
use winit::keyboard::{
    Key as Logical, KeyCode, KeyLocation, ModifiersState, NamedKey, PhysicalKey,
};
use winit::platform::modifier_supplement::KeyEventExtModifierSupplement as _;

/// Modifiers that make a command of a key: what it types with them is no text.
const COMMAND: Mods = Mods::from_bits(Mods::CTRL.bits() | Mods::ALT.bits() | Mods::SUPER.bits());

/// Modifiers that are held.
pub(crate) fn mods(state: ModifiersState) -> Mods {
    let bits = [
        (state.shift_key(), Mods::SHIFT),
        (state.alt_key(), Mods::ALT),
        (state.control_key(), Mods::CTRL),
        (state.super_key(), Mods::SUPER),
    ];
    bits.into_iter().filter(|(held, _)| *held).fold(Mods::NONE, |all, (_, one)| all | one)
}

/// A key event; none if the engine has no such key.
pub(crate) fn press(event: &KeyEvent, held: ModifiersState) -> Option<KeyPress> {
    let mods = mods(held);
    let kind = match event.state {
        ElementState::Released => KeyKind::Release,
        ElementState::Pressed if event.repeat => KeyKind::Repeat,
        ElementState::Pressed => KeyKind::Press,
    };
    let is_keypad = event.location == KeyLocation::Numpad;
    let typed = event.text.as_ref().map(ToString::to_string);
    let typed = typed.filter(|text| {
        !text.is_empty() && !text.chars().any(char::is_control) && !mods.intersects(COMMAND)
    });
    let physical = match event.physical_key {
        PhysicalKey::Code(code) => us_key(code),
        PhysicalKey::Unidentified(_) => None,
    };
    match &event.logical_key {
        Logical::Named(NamedKey::Space) => {
            let text = typed.or_else(|| (!mods.intersects(COMMAND)).then(|| " ".to_owned()));
            Some(KeyPress { kind, mods, text, ..KeyPress::new(Key::Char(' ')) })
        }
        Logical::Named(named) => {
            let special = special(*named, event.location, is_keypad)?;
            Some(KeyPress { kind, mods, ..KeyPress::new(Key::Special(special)) })
        }
        Logical::Character(_) | Logical::Dead(_) | Logical::Unidentified(_) => {
            if is_keypad && let Some(special) = physical_keypad(event.physical_key) {
                return Some(KeyPress {
                    kind,
                    mods,
                    text: typed,
                    ..KeyPress::new(Key::Special(special))
                });
            }
            let plain = match event.key_without_modifiers() {
                Logical::Character(text) => one(&text),
                _ => None,
            };
            let shown = match &event.logical_key {
                Logical::Character(text) => one(text),
                _ => None,
            };
            // A dead key types nothing by itself: the input method says what came of it.
            if matches!(event.logical_key, Logical::Dead(_)) && !mods.intersects(COMMAND) {
                return None;
            }
            let key = plain.or(shown).or(physical)?;
            let shifted = shown.filter(|c| mods.contains(Mods::SHIFT) && *c != key);
            let base_layout = physical.filter(|c| *c != key);
            Some(KeyPress { key: Key::Char(key), mods, kind, text: typed, shifted, base_layout })
        }
    }
}

/// The only character of a text.
fn one(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let first = chars.next().filter(|c| !c.is_control())?;
    chars.next().is_none().then_some(first)
}

/// Keys that are the same wherever they are.
const NAMED: &[(NamedKey, Special)] = &[
    (NamedKey::Escape, Special::Escape),
    (NamedKey::Tab, Special::Tab),
    (NamedKey::Backspace, Special::Backspace),
    (NamedKey::CapsLock, Special::CapsLock),
    (NamedKey::ScrollLock, Special::ScrollLock),
    (NamedKey::NumLock, Special::NumLock),
    (NamedKey::PrintScreen, Special::PrintScreen),
    (NamedKey::Pause, Special::Pause),
    (NamedKey::ContextMenu, Special::Menu),
    (NamedKey::F1, Special::F1),
    (NamedKey::F2, Special::F2),
    (NamedKey::F3, Special::F3),
    (NamedKey::F4, Special::F4),
    (NamedKey::F5, Special::F5),
    (NamedKey::F6, Special::F6),
    (NamedKey::F7, Special::F7),
    (NamedKey::F8, Special::F8),
    (NamedKey::F9, Special::F9),
    (NamedKey::F10, Special::F10),
    (NamedKey::F11, Special::F11),
    (NamedKey::F12, Special::F12),
    (NamedKey::F13, Special::F13),
    (NamedKey::F14, Special::F14),
    (NamedKey::F15, Special::F15),
    (NamedKey::F16, Special::F16),
    (NamedKey::F17, Special::F17),
    (NamedKey::F18, Special::F18),
    (NamedKey::F19, Special::F19),
    (NamedKey::F20, Special::F20),
    (NamedKey::F21, Special::F21),
    (NamedKey::F22, Special::F22),
    (NamedKey::F23, Special::F23),
    (NamedKey::F24, Special::F24),
    (NamedKey::MediaPlay, Special::MediaPlay),
    (NamedKey::MediaPause, Special::MediaPause),
    (NamedKey::MediaPlayPause, Special::MediaPlayPause),
    (NamedKey::MediaStop, Special::MediaStop),
    (NamedKey::MediaTrackNext, Special::MediaTrackNext),
    (NamedKey::MediaTrackPrevious, Special::MediaTrackPrevious),
    (NamedKey::AudioVolumeDown, Special::LowerVolume),
    (NamedKey::AudioVolumeUp, Special::RaiseVolume),
    (NamedKey::AudioVolumeMute, Special::MuteVolume),
    (NamedKey::AltGraph, Special::IsoLevel3Shift),
];

/// Keys that are in the main block and on the keypad.
const TWICE: &[(NamedKey, Special, Special)] = &[
    (NamedKey::Enter, Special::Enter, Special::KpEnter),
    (NamedKey::ArrowLeft, Special::Left, Special::KpLeft),
    (NamedKey::ArrowRight, Special::Right, Special::KpRight),
    (NamedKey::ArrowUp, Special::Up, Special::KpUp),
    (NamedKey::ArrowDown, Special::Down, Special::KpDown),
    (NamedKey::PageUp, Special::PageUp, Special::KpPageUp),
    (NamedKey::PageDown, Special::PageDown, Special::KpPageDown),
    (NamedKey::Home, Special::Home, Special::KpHome),
    (NamedKey::End, Special::End, Special::KpEnd),
    (NamedKey::Insert, Special::Insert, Special::KpInsert),
    (NamedKey::Delete, Special::Delete, Special::KpDelete),
    (NamedKey::Clear, Special::KpBegin, Special::KpBegin),
];

/// Modifier keys, left and right.
const SIDES: &[(NamedKey, Special, Special)] = &[
    (NamedKey::Shift, Special::LeftShift, Special::RightShift),
    (NamedKey::Control, Special::LeftCtrl, Special::RightCtrl),
    (NamedKey::Alt, Special::LeftAlt, Special::RightAlt),
    (NamedKey::Super, Special::LeftSuper, Special::RightSuper),
    (NamedKey::Hyper, Special::LeftHyper, Special::RightHyper),
    (NamedKey::Meta, Special::LeftMeta, Special::RightMeta),
];

fn special(named: NamedKey, location: KeyLocation, is_keypad: bool) -> Option<Special> {
    let is_right = location == KeyLocation::Right;
    let side = SIDES.iter().find(|(key, ..)| *key == named);
    let twice = TWICE.iter().find(|(key, ..)| *key == named);
    let plain = NAMED.iter().find(|(key, _)| *key == named);
    side.map(|(_, left, right)| if is_right { *right } else { *left })
        .or_else(|| twice.map(|(_, main, keypad)| if is_keypad { *keypad } else { *main }))
        .or_else(|| plain.map(|(_, special)| *special))
}

fn physical_keypad(key: PhysicalKey) -> Option<Special> {
    let PhysicalKey::Code(code) = key else { return None };
    Some(match code {
        KeyCode::Numpad0 => Special::Kp0,
        KeyCode::Numpad1 => Special::Kp1,
        KeyCode::Numpad2 => Special::Kp2,
        KeyCode::Numpad3 => Special::Kp3,
        KeyCode::Numpad4 => Special::Kp4,
        KeyCode::Numpad5 => Special::Kp5,
        KeyCode::Numpad6 => Special::Kp6,
        KeyCode::Numpad7 => Special::Kp7,
        KeyCode::Numpad8 => Special::Kp8,
        KeyCode::Numpad9 => Special::Kp9,
        KeyCode::NumpadDecimal => Special::KpDecimal,
        KeyCode::NumpadDivide => Special::KpDivide,
        KeyCode::NumpadMultiply => Special::KpMultiply,
        KeyCode::NumpadSubtract => Special::KpSubtract,
        KeyCode::NumpadAdd => Special::KpAdd,
        KeyCode::NumpadEqual => Special::KpEqual,
        KeyCode::NumpadComma => Special::KpSeparator,
        _ => return None,
    })
}

/// Places of a US keyboard and what they type there.
const US: &[(KeyCode, char)] = &[
    (KeyCode::Backquote, '`'),
    (KeyCode::Backslash, '\\'),
    (KeyCode::BracketLeft, '['),
    (KeyCode::BracketRight, ']'),
    (KeyCode::Comma, ','),
    (KeyCode::Digit0, '0'),
    (KeyCode::Digit1, '1'),
    (KeyCode::Digit2, '2'),
    (KeyCode::Digit3, '3'),
    (KeyCode::Digit4, '4'),
    (KeyCode::Digit5, '5'),
    (KeyCode::Digit6, '6'),
    (KeyCode::Digit7, '7'),
    (KeyCode::Digit8, '8'),
    (KeyCode::Digit9, '9'),
    (KeyCode::Equal, '='),
    (KeyCode::KeyA, 'a'),
    (KeyCode::KeyB, 'b'),
    (KeyCode::KeyC, 'c'),
    (KeyCode::KeyD, 'd'),
    (KeyCode::KeyE, 'e'),
    (KeyCode::KeyF, 'f'),
    (KeyCode::KeyG, 'g'),
    (KeyCode::KeyH, 'h'),
    (KeyCode::KeyI, 'i'),
    (KeyCode::KeyJ, 'j'),
    (KeyCode::KeyK, 'k'),
    (KeyCode::KeyL, 'l'),
    (KeyCode::KeyM, 'm'),
    (KeyCode::KeyN, 'n'),
    (KeyCode::KeyO, 'o'),
    (KeyCode::KeyP, 'p'),
    (KeyCode::KeyQ, 'q'),
    (KeyCode::KeyR, 'r'),
    (KeyCode::KeyS, 's'),
    (KeyCode::KeyT, 't'),
    (KeyCode::KeyU, 'u'),
    (KeyCode::KeyV, 'v'),
    (KeyCode::KeyW, 'w'),
    (KeyCode::KeyX, 'x'),
    (KeyCode::KeyY, 'y'),
    (KeyCode::KeyZ, 'z'),
    (KeyCode::Minus, '-'),
    (KeyCode::Period, '.'),
    (KeyCode::Quote, '\''),
    (KeyCode::Semicolon, ';'),
    (KeyCode::Slash, '/'),
];

fn us_key(code: KeyCode) -> Option<char> {
    US.iter().find(|(key, _)| *key == code).map(|(_, c)| *c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_two_places_are_distinguished() {
        let standard = KeyLocation::Standard;
        assert_eq!(special(NamedKey::Enter, standard, false), Some(Special::Enter));
        assert_eq!(special(NamedKey::Enter, KeyLocation::Numpad, true), Some(Special::KpEnter));
        assert_eq!(special(NamedKey::Shift, KeyLocation::Right, false), Some(Special::RightShift));
        assert_eq!(special(NamedKey::F5, standard, false), Some(Special::F5));
        assert_eq!(special(NamedKey::BrowserBack, standard, false), None);
    }

    #[test]
    fn every_table_names_a_key_once() {
        let named: Vec<NamedKey> = NAMED
            .iter()
            .map(|(key, _)| *key)
            .chain(TWICE.iter().map(|(key, ..)| *key))
            .chain(SIDES.iter().map(|(key, ..)| *key))
            .collect();
        for (index, key) in named.iter().enumerate() {
            assert!(!named[..index].contains(key), "{key:?}");
        }
        for (index, (code, c)) in US.iter().enumerate() {
            assert!(!US[..index].iter().any(|(other, d)| other == code || d == c), "{code:?}");
        }
    }

    #[test]
    fn only_a_single_character_is_a_key() {
        assert_eq!(one("é"), Some('é'));
        assert_eq!(one("ab"), None);
        assert_eq!(one("\u{3}"), None);
    }
}
