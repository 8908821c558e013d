//! Triggers: modifiers and a key, as written in settings and as they come from a keyboard.

use std::fmt;

use rookery_term::keys::{Key, KeyPress, Mods, parse_chord, us_key_of, us_sign_of};

/// Which habits apply: the default modifier is Alt on Linux and Command on macOS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux and everything like it.
    Linux,
    /// macOS.
    MacOs,
}

impl Platform {
    /// The platform this was built for.
    pub const fn current() -> Self {
        if cfg!(target_os = "macos") { Self::MacOs } else { Self::Linux }
    }

    /// The modifier of most default bindings.
    pub const fn primary(self) -> Mods {
        match self {
            Self::Linux => Mods::ALT,
            Self::MacOs => Mods::SUPER,
        }
    }
}

/// Why a trigger could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TriggerError {
    /// Nothing was given.
    #[error("the trigger names no key")]
    Empty,
    /// A part before the key is no modifier.
    #[error("unknown modifier `{0}`")]
    UnknownModifier(String),
    /// The last part is no key.
    #[error("unknown key `{0}`")]
    UnknownKey(String),
}

const MODIFIERS: &[(&str, Mods)] = &[
    ("shift", Mods::SHIFT),
    ("ctrl", Mods::CTRL),
    ("control", Mods::CTRL),
    ("alt", Mods::ALT),
    ("opt", Mods::ALT),
    ("option", Mods::ALT),
    ("super", Mods::SUPER),
    ("cmd", Mods::SUPER),
    ("command", Mods::SUPER),
    ("meta", Mods::SUPER),
];

/// Words for keys that type a sign; other words are the terminal engine's key names.
const SIGNS: &[(&str, char)] = &[
    ("plus", '+'),
    ("equal", '='),
    ("equals", '='),
    ("minus", '-'),
    ("underscore", '_'),
    ("space", ' '),
    ("bracketleft", '['),
    ("bracketright", ']'),
    ("left_bracket", '['),
    ("right_bracket", ']'),
    ("braceleft", '{'),
    ("braceright", '}'),
    ("comma", ','),
    ("period", '.'),
    ("slash", '/'),
    ("backslash", '\\'),
    ("semicolon", ';'),
    ("apostrophe", '\''),
    ("quote", '\''),
    ("grave", '`'),
    ("backquote", '`'),
];

/// Modifiers and a key in one canonical form: `alt+plus`, `alt+shift+equal` and an Alt press that
/// typed `+` are all the same trigger.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Trigger {
    mods: Mods,
    key: Key,
}

impl Trigger {
    /// The trigger of a key held with modifiers. Locks do not count.
    pub fn new(mods: Mods, key: Key) -> Self {
        let mut mods = mods.without(Mods::CAPS | Mods::NUM);
        if mods.contains(Mods::META) {
            mods = mods.without(Mods::META) | Mods::SUPER;
        }
        let key = match key {
            Key::Char(typed) => match us_key_of(typed) {
                Some(plain) => {
                    mods |= Mods::SHIFT;
                    Key::Char(plain)
                }
                None => Key::Char(lower(typed)),
            },
            special => special,
        };
        Self { mods, key }
    }

    /// Its modifiers.
    pub const fn mods(self) -> Mods {
        self.mods
    }

    pub const fn key(self) -> Key {
        self.key
    }

    /// Its spelling for people: a sign of a US keyboard by itself, not by its key and shift.
    pub fn shown(self) -> String {
        let sign = match self.key {
            Key::Char(key) => us_sign_of(key),
            Key::Special(_) => None,
        };
        match sign {
            Some(sign) if self.mods == Mods::SHIFT => sign.to_string(),
            _ => self.to_string(),
        }
    }

    /// Reads `mod+mod+key`, in any case.
    pub fn parse(text: &str) -> Result<Self, TriggerError> {
        Self::parse_with(text, |_| None)
    }

    /// Reads a default of the table, where `primary` is the platform's own modifier.
    pub(super) fn parse_default(text: &str, platform: Platform) -> Result<Self, TriggerError> {
        Self::parse_with(text, |word| (word == "primary").then(|| platform.primary()))
    }

    fn parse_with(text: &str, extra: impl Fn(&str) -> Option<Mods>) -> Result<Self, TriggerError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(TriggerError::Empty);
        }
        // `ctrl++` means the plus key, so the last separator is not a key's own sign.
        let (before, name) = match text.strip_suffix('+') {
            Some("") => ("", "+"),
            Some(rest) => (rest.strip_suffix('+').ok_or(TriggerError::Empty)?, "+"),
            None => text.rsplit_once('+').unwrap_or(("", text)),
        };
        let mut mods = Mods::NONE;
        for part in before.split('+').map(str::trim).filter(|_| !before.is_empty()) {
            let word = part.to_ascii_lowercase();
            let known = MODIFIERS.iter().find(|(name, _)| *name == word).map(|(_, mods)| *mods);
            mods |= extra(&word)
                .or(known)
                .ok_or_else(|| TriggerError::UnknownModifier(shorten(part)))?;
        }
        let key = parse_key(name.trim())?;
        Ok(Self::new(mods, key))
    }
}

fn parse_key(name: &str) -> Result<Key, TriggerError> {
    let unknown = || TriggerError::UnknownKey(shorten(name));
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (None, _) => return Err(TriggerError::Empty),
        (Some(only), None) if !only.is_control() => return Ok(Key::Char(only)),
        _ => {}
    }
    let word = name.to_ascii_lowercase();
    if let Some((_, sign)) = SIGNS.iter().find(|(sign_name, _)| *sign_name == word) {
        return Ok(Key::Char(*sign));
    }
    let press = parse_chord(&word).map_err(|_| unknown())?;
    // The engine's names may hide modifiers (`ctrl-c`); a trigger spells them out with `+`.
    if press.mods.is_empty() { Ok(press.key) } else { Err(unknown()) }
}

fn lower(typed: char) -> char {
    let mut lowered = typed.to_lowercase();
    match (lowered.next(), lowered.next()) {
        (Some(single), None) => single,
        _ => typed,
    }
}

/// Bounded and printable, since it goes into a message.
pub(super) fn shorten(part: &str) -> String {
    part.chars().take(40).flat_map(char::escape_debug).collect()
}

/// The canonical spelling, which [`Trigger::parse`] reads back.
impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        KeyPress::new(self.key).with_mods(self.mods).fmt(f)
    }
}

impl fmt::Debug for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trigger({self})")
    }
}
