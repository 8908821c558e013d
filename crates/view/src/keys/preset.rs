//! Which face a binding is for, the prefix, and sets of defaults.

use std::collections::HashMap;

use super::{Action, Trigger, TriggerError};

/// A kind of face, as keys tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaceKind {
    /// In a terminal.
    Tui,
    /// A window of its own.
    Window,
    /// In a browser.
    Web,
}

impl FaceKind {
    const WORDS: [(&'static str, FaceKind); 3] =
        [("tui:", FaceKind::Tui), ("window:", FaceKind::Window), ("web:", FaceKind::Web)];

    /// The face that a chord names before it, and the rest.
    pub(super) fn split(chord: &str) -> (Option<FaceKind>, &str) {
        let named =
            Self::WORDS.iter().find_map(|(word, face)| Some((*face, chord.strip_prefix(word)?)));
        match named {
            Some((face, rest)) => (Some(face), rest),
            None => (None, chord),
        }
    }
}

/// The user's choice of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// There is none.
    Off,
    /// This chord.
    On(Trigger),
}

impl Prefix {
    /// Reads `off` or a chord.
    pub fn parse(text: &str) -> Result<Prefix, TriggerError> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("off") {
            return Ok(Prefix::Off);
        }
        Trigger::parse(text).map(Prefix::On)
    }
}

/// A set of default keys for terminal and browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyPreset {
    /// The columns of the table.
    #[default]
    Default,
    /// tmux's prefix and letters, and no chords beside it.
    Tmux,
}

impl KeyPreset {
    /// Its prefix, unless the user sets another.
    pub fn prefix(self) -> Trigger {
        use rookery_term::keys::{Key, Mods};
        let key = match self {
            KeyPreset::Default => '\\',
            KeyPreset::Tmux => 'b',
        };
        Trigger::new(Mods::CTRL, Key::Char(key))
    }
}

/// Letters of tmux that differ from ours.
const TMUX: &[(&str, Option<Action>)] = &[
    (",", Some(Action::RenameTab)),
    ("$", Some(Action::RenameProject)),
    ("&", Some(Action::CloseTab)),
    ("s", Some(Action::FocusSidebar)),
    ("w", Some(Action::FocusSidebar)),
    ("l", Some(Action::LastTab)),
    ("}", Some(Action::SwapPane)),
    // The strip counts from 1, so this is the one after 9.
    ("0", Some(Action::SwitchTab(10))),
    // Panes by arrows and `o` only.
    ("h", None),
    ("j", None),
    ("k", None),
];

/// Lays tmux's letters over ours.
pub(super) fn lay_tmux(prefixed: &mut HashMap<Trigger, Action>) {
    for (key, action) in TMUX {
        // A test reads every row, so nothing is lost here.
        let Ok(trigger) = Trigger::parse(key) else { continue };
        match action {
            Some(action) => prefixed.insert(trigger, *action),
            None => prefixed.remove(&trigger),
        };
    }
}

/// How many rows there are, for the test that reads them.
#[cfg(test)]
pub(super) fn tmux_keys() -> impl Iterator<Item = &'static str> {
    TMUX.iter().map(|(key, _)| *key)
}
