//! What modes are called: one canonical name each, and the other spellings that are understood.

use rookery_model::{Mode, Words as _};

/// Other spellings.
const SPELLINGS: &[(&str, Mode)] = &[
    ("ask", Mode::Default),
    ("accept_edits", Mode::AcceptAll),
    ("accept-edits", Mode::AcceptAll),
    ("accept-all", Mode::AcceptAll),
    (FLAG_ONLY, Mode::Bypass),
];

/// The one spelling that only command lines take.
pub const FLAG_ONLY: &str = "yolo";

/// The mode that a name means. Names are exact: case and blanks count.
pub fn parse_mode(name: &str) -> Option<Mode> {
    let other = || SPELLINGS.iter().find(|(known, _)| *known == name).map(|&(_, mode)| mode);
    Mode::from_word(name).or_else(other)
}

/// The canonical name of a mode.
pub fn mode_name(mode: Mode) -> &'static str {
    mode.word()
}

/// All names that are understood, canonical ones first: for messages about one that is not.
pub fn mode_names() -> impl Iterator<Item = &'static str> {
    let others = SPELLINGS.iter().map(|&(name, _)| name);
    Mode::WORDS.iter().map(|&(_, name)| name).chain(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_understood() {
        for (mode, name) in Mode::WORDS {
            assert_eq!(parse_mode(name), Some(*mode));
            assert_eq!(mode_name(*mode), *name);
        }
        assert_eq!(parse_mode("ask"), Some(Mode::Default));
        assert_eq!(parse_mode("accept-edits"), Some(Mode::AcceptAll));
        assert_eq!(parse_mode("yolo"), Some(Mode::Bypass));
        for name in ["", "Default", " plan", "edits", "acceptEdits", "bypassPermissions"] {
            assert_eq!(parse_mode(name), None, "{name}");
        }
        assert_eq!(mode_names().count(), 9);
    }
}
