//! The key that detaches, in every form a terminal may send it.

use std::str::FromStr;

use rookery_term::keys::{self, KeyModes, KeyNameError, parse_chord};

/// A key to look for in what is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DetachKey {
    /// Programs can ask for other encodings, and then this terminal uses them as well.
    forms: Vec<Vec<u8>>,
}

impl Default for DetachKey {
    fn default() -> Self {
        "ctrl+\\".parse().expect("the default key has a name")
    }
}

impl FromStr for DetachKey {
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
        Ok(Self { forms })
    }
}

impl DetachKey {
    /// Where the key begins in `typed`, if it is there.
    pub(crate) fn find(&self, typed: &[u8]) -> Option<usize> {
        (0..typed.len())
            .find(|at| self.forms.iter().any(|form| typed[*at..].starts_with(form.as_slice())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_found_however_it_is_sent() {
        let key = DetachKey::default();
        assert_eq!(key.find(b"ab\x1ccd"), Some(2));
        assert_eq!(key.find(b"\x1b[92;5u"), Some(0));
        assert_eq!(key.find(b"x\x1b[27;5;92~"), Some(1));
        assert_eq!(key.find(b"\\ \x1b[92;6u"), None);
        assert_eq!(key.find(b""), None);
    }

    #[test]
    fn other_keys_can_be_chosen() {
        assert_eq!("C-a".parse::<DetachKey>().unwrap().find(b"x\x01"), Some(1));
        assert_eq!("F12".parse::<DetachKey>().unwrap().find(b"\x1b[24~"), Some(0));
        assert!("ctrl+nothing".parse::<DetachKey>().is_err());
    }
}
