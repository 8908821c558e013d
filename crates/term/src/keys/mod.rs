//! Keys to bytes: the key model, its legacy (xterm) and kitty encodings, and the names people type.
//!
//! [`NamedKey`] is the closed list of the ptywright dialect. Everything else speaks [`KeyPress`],
//! which [`encode`] turns into bytes under the modes the application has set. This module keeps no
//! state: the owner of the screen passes its [`KeyModes`].

mod chord;
pub mod decode;
mod kitty;
mod legacy;
mod named;
mod special;

pub use chord::{KeyNameError, parse_chord};
pub use named::NamedKey;
pub use special::Special;

use std::ops::{BitOr, BitOrAssign};

/// Which key it is, independent of modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A key that types a character, named by its unshifted character (`a`, not `A`).
    Char(char),
    /// Any other key.
    Special(Special),
}

/// A set of modifiers, with the bit values of the kitty protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mods(u8);

impl Mods {
    /// No modifier.
    pub const NONE: Self = Self(0);
    pub const SHIFT: Self = Self(1);
    /// Alt or Option.
    pub const ALT: Self = Self(2);
    /// Control.
    pub const CTRL: Self = Self(4);
    /// Super, Windows or Command.
    pub const SUPER: Self = Self(8);
    pub const HYPER: Self = Self(16);
    /// Meta, where it is a key of its own.
    pub const META: Self = Self(32);
    /// Caps lock is on.
    pub const CAPS: Self = Self(64);
    /// Num lock is on.
    pub const NUM: Self = Self(128);

    /// The modifiers that turn typing into a command.
    const COMMAND: Self = Self(2 | 4 | 8 | 16 | 32);
    const LOCKS: Self = Self(64 | 128);

    /// The raw bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set with these raw bits.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` are in the set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is in the set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The set without `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Mods {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Mods {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// What happened to the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// Pressed.
    #[default]
    Press,
    /// Held down long enough to repeat.
    Repeat,
    /// Let go.
    Release,
}

/// One key event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPress {
    pub key: Key,
    /// Modifiers held, and locks that are on. A modifier that the keyboard layout used up to make
    /// `text` (Option on a Mac, AltGr) does not belong here.
    pub mods: Mods,
    /// Press, repeat or release.
    pub kind: KeyKind,
    /// The text the layout produced; when absent it is derived from the key, assuming a US layout.
    pub text: Option<String>,
    /// The character of the key with shift; derived like `text` when absent.
    pub shifted: Option<char>,
    /// The character of the same physical key on a US layout, if it differs.
    pub base_layout: Option<char>,
}

impl KeyPress {
    /// A plain press of `key`.
    pub const fn new(key: Key) -> Self {
        Self {
            key,
            mods: Mods::NONE,
            kind: KeyKind::Press,
            text: None,
            shifted: None,
            base_layout: None,
        }
    }

    /// The same event with exactly these modifiers.
    #[must_use]
    pub fn with_mods(mut self, mods: Mods) -> Self {
        self.mods = mods;
        self
    }

    /// The same event of another kind.
    #[must_use]
    pub fn with_kind(mut self, kind: KeyKind) -> Self {
        self.kind = kind;
        self
    }

    /// The text this event types, if it types any: none while a command modifier is held.
    fn typed_text(&self) -> Option<String> {
        if self.mods.intersects(Mods::COMMAND) {
            return None;
        }
        if let Some(text) = &self.text
            && !text.is_empty()
            && !text.chars().any(char::is_control)
        {
            return Some(text.clone());
        }
        self.typed_char().filter(|typed| !typed.is_control()).map(String::from)
    }

    /// The character of the key under shift and caps lock.
    fn typed_char(&self) -> Option<char> {
        let Key::Char(key) = self.key else { return None };
        let shift = self.mods.contains(Mods::SHIFT);
        let caps = self.mods.contains(Mods::CAPS) && unshifted(key).is_alphabetic();
        Some(if shift != caps { self.shifted_char(key) } else { key })
    }

    fn shifted_char(&self, key: char) -> char {
        self.shifted.unwrap_or_else(|| us_shifted(key))
    }
}

/// Everything the application has set that changes how keys are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyModes {
    /// DECCKM: unmodified cursor keys as SS3.
    pub application_cursor: bool,
    /// DECKPAM: keypad keys as SS3, unless num lock is on.
    pub application_keypad: bool,
    /// DECBKM: backspace sends BS instead of DEL.
    pub backarrow_sends_bs: bool,
    /// xterm's modifyOtherKeys: 0, 1 or 2; more counts as 2.
    pub modify_other_keys: u8,
    /// Flags of the kitty keyboard protocol, see [`kitty_flag`].
    pub kitty_flags: u8,
}

/// Flag values of the kitty keyboard protocol.
pub mod kitty_flag {
    /// Keys that would be ambiguous are sent as escape codes.
    pub const DISAMBIGUATE: u8 = 1;
    /// Repeat and release are reported.
    pub const EVENT_TYPES: u8 = 2;
    /// Shifted and base layout keys are reported.
    pub const ALTERNATE_KEYS: u8 = 4;
    /// Every key is sent as an escape code.
    pub const ALL_AS_ESCAPES: u8 = 8;
    /// The typed text rides in the escape code.
    pub const ASSOCIATED_TEXT: u8 = 16;
}

/// The bytes to write to the child for `press`; empty when the modes have no encoding for it.
pub fn encode(press: &KeyPress, modes: &KeyModes) -> Vec<u8> {
    use kitty_flag::{ALL_AS_ESCAPES, DISAMBIGUATE, EVENT_TYPES};
    // The other two flags only decorate sequences that one of these three causes.
    if modes.kitty_flags & (DISAMBIGUATE | EVENT_TYPES | ALL_AS_ESCAPES) != 0 {
        kitty::encode(press, modes)
    } else if press.kind == KeyKind::Release {
        Vec::new()
    } else {
        legacy::encode(press, modes)
    }
}

/// The lower-case form of a letter, if the pair maps one to one.
fn unshifted(key: char) -> char {
    single(key.to_lowercase())
        .filter(|lower| single(lower.to_uppercase()) == Some(key))
        .unwrap_or(key)
}

/// Keys of a US layout that type a sign, and what they type with shift.
const US_SIGNS: &[(char, char)] = &[
    ('1', '!'),
    ('2', '@'),
    ('3', '#'),
    ('4', '$'),
    ('5', '%'),
    ('6', '^'),
    ('7', '&'),
    ('8', '*'),
    ('9', '('),
    ('0', ')'),
    ('`', '~'),
    ('-', '_'),
    ('=', '+'),
    ('[', '{'),
    (']', '}'),
    ('\\', '|'),
    (';', ':'),
    ('\'', '"'),
    (',', '<'),
    ('.', '>'),
    ('/', '?'),
];

/// The sign that a key of a US layout types with shift; none for letters.
pub fn us_sign_of(key: char) -> Option<char> {
    US_SIGNS.iter().find(|(plain, _)| *plain == key).map(|(_, sign)| *sign)
}

/// The key of a US layout that types a sign with shift.
pub fn us_key_of(sign: char) -> Option<char> {
    US_SIGNS.iter().find(|(_, shifted)| *shifted == sign).map(|(plain, _)| *plain)
}

/// What shift makes of a key on a US layout.
fn us_shifted(key: char) -> char {
    match us_sign_of(key) {
        Some(sign) => sign,
        None => single(key.to_uppercase())
            .filter(|upper| single(upper.to_lowercase()) == Some(key))
            .unwrap_or(key),
    }
}

fn single(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests;
