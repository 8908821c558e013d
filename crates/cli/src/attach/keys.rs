//! Keys that mean something to `attach` itself, in every form a terminal may send them.

use std::{fmt, ops::Range, str::FromStr};

use rookery_term::keys::{self, KeyModes, KeyNameError, parse_chord};

/// The key that detaches, unless another is chosen.
pub(crate) const DETACH: &str = "ctrl+\\";
/// The key that shows the history, unless another is chosen.
pub(crate) const SCROLL: &str = "alt+PageUp";

/// A key to look for in what is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chord {
    /// As the user spells it.
    name: String,
    /// Programs can ask for other encodings, and then this terminal uses them as well.
    forms: Vec<Vec<u8>>,
}

/// The keys of an attachment.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    pub(crate) detach: Chord,
    pub(crate) scroll: Chord,
}

impl Default for Keys {
    fn default() -> Self {
        let named = |name: &str| name.parse().expect("the default keys have names");
        Self { detach: named(DETACH), scroll: named(SCROLL) }
    }
}

/// What typing means to an attachment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning<'a> {
    /// All of it is for the program.
    Text(&'a [u8]),
    /// Disconnect; what was typed before is for the program.
    Detach(&'a [u8]),
    /// Show the history; what was typed before is for the program, what follows is not.
    Scroll(&'a [u8]),
}

impl Keys {
    /// Reads what was typed: whichever key of ours comes first counts.
    pub(super) fn read<'a>(&self, typed: &'a [u8]) -> Meaning<'a> {
        let at = |key: &Chord| key.find(typed).map(|found| found.start);
        match (at(&self.detach), at(&self.scroll)) {
            (Some(detach), scroll) if scroll.is_none_or(|scroll| detach <= scroll) => {
                Meaning::Detach(&typed[..detach])
            }
            (_, Some(scroll)) => Meaning::Scroll(&typed[..scroll]),
            _ => Meaning::Text(typed),
        }
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl FromStr for Chord {
    type Err = KeyNameError;

    fn from_str(chord: &str) -> Result<Self, KeyNameError> {
        let press = parse_chord(chord)?;
        let plain = KeyModes::default();
        let modes = [
            plain,
            KeyModes { application_cursor: true, application_keypad: true, ..plain },
            KeyModes { modify_other_keys: 1, ..plain },
            KeyModes { modify_other_keys: 2, ..plain },
        ];
        let kitty = (1..32).map(|kitty_flags| KeyModes { kitty_flags, ..plain });
        let mut forms: Vec<Vec<u8>> = Vec::new();
        for modes in modes.into_iter().chain(kitty) {
            let form = keys::encode(&press, &modes);
            if !form.is_empty() && !forms.contains(&form) {
                forms.push(form);
            }
        }
        // Where one form begins another, the whole of the longer one is meant.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        Ok(Self { name: chord.to_owned(), forms })
    }
}

impl Chord {
    /// Where the key is in `typed`, if it is there.
    pub(crate) fn find(&self, typed: &[u8]) -> Option<Range<usize>> {
        let begins = |at: usize| self.forms.iter().find(|form| typed[at..].starts_with(form));
        (0..typed.len()).find_map(|at| begins(at).map(|form| at..at + form.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chord(name: &str) -> Chord {
        name.parse().unwrap()
    }

    #[test]
    fn the_default_is_found_however_it_is_sent() {
        let key = Keys::default().detach;
        assert_eq!(key.find(b"ab\x1ccd"), Some(2..3));
        assert_eq!(key.find(b"\x1b[92;5u"), Some(0..7));
        assert_eq!(key.find(b"x\x1b[27;5;92~"), Some(1..11));
        assert_eq!(key.find(b"\\ \x1b[92;6u"), None);
        assert_eq!(key.find(b""), None);
        assert_eq!(Keys::default().scroll.find(b"\x1b[5;3~"), Some(0..6));
    }

    #[test]
    fn other_keys_can_be_chosen() {
        assert_eq!(chord("C-a").find(b"x\x01"), Some(1..2));
        assert_eq!(chord("F12").find(b"\x1b[24~"), Some(0..5));
        assert!("ctrl+nothing".parse::<Chord>().is_err());
    }

    #[test]
    fn the_first_key_of_ours_counts() {
        let keys = Keys { detach: chord("C-a"), scroll: chord("C-b") };
        assert_eq!(keys.read(b"xy"), Meaning::Text(b"xy"));
        assert_eq!(keys.read(b"x\x01y\x02"), Meaning::Detach(b"x"));
        assert_eq!(keys.read(b"x\x02y\x01"), Meaning::Scroll(b"x"));
    }
}
