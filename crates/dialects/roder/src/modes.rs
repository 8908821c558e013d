//! Spellings of policy modes. A mode has several, and clients see the one that was last used.

use rookery_agent::policy;
use rookery_model::Mode;

/// The mode that a text spells.
#[must_use]
pub fn read(text: &str) -> Option<Mode> {
    policy::parse_mode(text).filter(|_| text != policy::FLAG_ONLY)
}

/// The same with what only the command line understands.
#[must_use]
pub fn read_argument(text: &str) -> Option<Mode> {
    policy::parse_mode(text)
}

/// The error for a text that is not a mode.
#[must_use]
pub fn spellings() -> String {
    let names = policy::mode_names().filter(|name| *name != policy::FLAG_ONLY);
    names.collect::<Vec<_>>().join(", ")
}

/// What the command line lists when a text spells no mode.
#[must_use]
pub fn accepted() -> String {
    policy::mode_names().collect::<Vec<_>>().join(", ")
}

/// The spelling that every client knows.
#[must_use]
pub fn canonical(mode: Mode) -> &'static str {
    policy::mode_name(mode)
}

/// Which of its two names the mode that asks goes by: the one that was used last. Published
/// clients refuse names they do not know, and those that never say `ask` must never see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asking {
    #[default]
    Default,
    Ask,
}

impl Asking {
    /// The mode that is in effect after this spelling was used.
    #[must_use]
    pub fn after(self, spelling: &str) -> Self {
        match spelling {
            "ask" => Self::Ask,
            "default" => Self::Default,
            _ => self,
        }
    }

    /// The mode in words.
    #[must_use]
    pub fn spell(self, mode: Mode) -> &'static str {
        match (self, mode) {
            (Self::Ask, Mode::Default) => "ask",
            (_, mode) => canonical(mode),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every spelling that is understood, and what it means.
    const SPELLINGS: &[(&str, Mode)] = &[
        ("default", Mode::Default),
        ("ask", Mode::Default),
        ("accept_all", Mode::AcceptAll),
        ("accept-all", Mode::AcceptAll),
        ("accept_edits", Mode::AcceptAll),
        ("accept-edits", Mode::AcceptAll),
        ("plan", Mode::Plan),
        ("bypass", Mode::Bypass),
    ];

    #[test]
    fn every_spelling_of_the_contract_is_understood() {
        for (spelling, mode) in SPELLINGS {
            assert_eq!(read(spelling), Some(*mode));
            assert_eq!(read(canonical(*mode)), Some(*mode));
            assert!(accepted().contains(spelling));
        }
        for wrong in ["", "Ask", "yolo", " plan", "auto"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(read_argument("yolo"), Some(Mode::Bypass));
        assert_eq!(read_argument("plan"), Some(Mode::Plan));
    }

    #[test]
    fn the_last_spelling_is_remembered() {
        let never = Asking::default();
        assert_eq!(never.spell(Mode::Default), "default");
        let ask = never.after("ask").after("plan");
        assert_eq!(ask.spell(Mode::Default), "ask");
        assert_eq!(ask.spell(Mode::Plan), "plan");
        assert_eq!(ask.after("default").spell(Mode::Default), "default");
    }
}
