//! Key bindings: which trigger runs which action.
//!
//! Defaults come from the table of actions, the user's lines are laid over them. Nothing here knows
//! what an action does.

mod action;
pub mod page;
mod preset;
mod trigger;

pub use action::{ACTIONS, Action, ActionRow};
pub use preset::{FaceKind, KeyPreset, Prefix};
pub use trigger::{Platform, Trigger, TriggerError};

use std::collections::HashMap;

use rookery_term::keys::{Key, KeyPress, Mods};

/// One `keybind` line: what a trigger shall do from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keybind {
    /// Where it holds; everywhere if absent.
    pub face: Option<FaceKind>,
    /// Whether the prefix comes first.
    pub is_prefixed: bool,
    pub trigger: Trigger,
    /// Its action; none means that the trigger is free again.
    pub action: Option<Action>,
}

/// Why a `keybind` line could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeybindError {
    /// There is no `=` between trigger and action.
    #[error("a keybind is written `trigger = action`")]
    NoAction,
    /// The trigger is bad.
    #[error(transparent)]
    Trigger(#[from] TriggerError),
    /// No action has this id.
    #[error("unknown action `{0}`")]
    UnknownAction(String),
}

/// The word that frees a trigger instead of naming an action.
const UNBIND: &str = "unbind";
/// What stands before a key that comes after the prefix.
const PREFIX: &str = "prefix";

impl Keybind {
    /// Reads `trigger = action`, the value of a `keybind` line.
    pub fn parse(value: &str) -> Result<Self, KeybindError> {
        // The last `=`, so that the equals key itself can be part of the trigger.
        let (chord, action) = value.rsplit_once('=').ok_or(KeybindError::NoAction)?;
        let (face, chord) = FaceKind::split(chord.trim());
        let (is_prefixed, trigger) = read_chord(chord)?;
        let id = action.trim();
        if id == UNBIND {
            return Ok(Self { face, is_prefixed, trigger, action: None });
        }
        let action =
            Action::from_id(id).ok_or_else(|| KeybindError::UnknownAction(trigger::shorten(id)))?;
        Ok(Self { face, is_prefixed, trigger, action: Some(action) })
    }
}

/// `prefix>key`, or a trigger alone. After the prefix the case of a letter counts.
fn read_chord(chord: &str) -> Result<(bool, Trigger), TriggerError> {
    let chord = chord.trim();
    let after = chord.strip_prefix(PREFIX).and_then(|rest| rest.trim_start().strip_prefix('>'));
    let Some(key) = after.map(str::trim) else { return Ok((false, Trigger::parse(chord)?)) };
    let trigger = Trigger::parse(key)?;
    let is_capital = key.chars().next_back().is_some_and(char::is_uppercase)
        && key.rsplit('+').next().is_some_and(|name| name.chars().count() == 1);
    let shift = if is_capital { Mods::SHIFT } else { Mods::NONE };
    Ok((true, Trigger::new(trigger.mods() | shift, trigger.key())))
}

/// All bindings in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    bound: HashMap<Trigger, Action>,
    /// Those after the prefix.
    prefixed: HashMap<Trigger, Action>,
    prefix: Option<Trigger>,
}

impl Keymap {
    /// The defaults of a platform's window with the user's lines over them; the last line of a trigger
    /// wins.
    pub fn new(platform: Platform, lines: &[Keybind]) -> Self {
        Self::for_face(FaceKind::Window, platform, KeyPreset::Default, None, lines)
    }

    /// The defaults of a face with the user's lines over them. `prefix` is what the user set, if
    /// anything; the window has none.
    pub fn for_face(
        face: FaceKind,
        platform: Platform,
        preset: KeyPreset,
        prefix: Option<Prefix>,
        lines: &[Keybind],
    ) -> Self {
        let (mut bound, mut prefixed) = (HashMap::new(), HashMap::new());
        for row in ACTIONS {
            let direct = match (face, preset) {
                (FaceKind::Window, _) => row.triggers(platform),
                (_, KeyPreset::Default) => row.direct(),
                (_, KeyPreset::Tmux) => Vec::new(),
            };
            bound.extend(direct.into_iter().map(|trigger| (trigger, row.action)));
            if face != FaceKind::Window {
                prefixed.extend(row.prefixed().into_iter().map(|trigger| (trigger, row.action)));
            }
        }
        if face != FaceKind::Window && preset == KeyPreset::Tmux {
            preset::lay_tmux(&mut prefixed);
        }
        for line in lines.iter().filter(|line| line.face.is_none_or(|named| named == face)) {
            let map = if line.is_prefixed { &mut prefixed } else { &mut bound };
            match line.action {
                Some(action) => map.insert(line.trigger, action),
                None => map.remove(&line.trigger),
            };
        }
        let prefix = match (face, prefix) {
            (FaceKind::Window, _) | (_, Some(Prefix::Off)) => None,
            (_, Some(Prefix::On(trigger))) => Some(trigger),
            (_, None) => Some(preset.prefix()),
        };
        Self { bound, prefixed, prefix }
    }

    /// The chord after which keys are commands.
    pub fn prefix(&self) -> Option<Trigger> {
        self.prefix
    }

    /// Whether a key press is the prefix.
    pub fn is_prefix(&self, press: &KeyPress) -> bool {
        self.prefix.is_some_and(|prefix| candidates(press).any(|trigger| trigger == prefix))
    }

    /// The action of a key held with modifiers.
    pub fn lookup(&self, mods: Mods, key: Key) -> Option<Action> {
        self.bound.get(&Trigger::new(mods, key)).copied()
    }

    /// The action of a key press, also tried as the key of a US layout, so that `alt+shift+[` works
    /// where brackets need other fingers.
    pub fn lookup_press(&self, press: &KeyPress) -> Option<Action> {
        candidates(press).find_map(|trigger| self.bound.get(&trigger).copied())
    }

    /// The action of a key press after the prefix.
    pub fn lookup_prefixed(&self, press: &KeyPress) -> Option<Action> {
        candidates(press).find_map(|trigger| self.prefixed.get(&trigger).copied())
    }

    /// Every binding without the prefix, in the order of the table of actions.
    pub fn bindings(&self) -> Vec<(Trigger, Action)> {
        let of_row = |row: &ActionRow| {
            let action = row.action;
            self.triggers_of(action).into_iter().map(move |trigger| (trigger, action))
        };
        ACTIONS.iter().flat_map(of_row).collect()
    }

    /// The triggers of one action by name, for showing them beside its title.
    pub fn triggers_of(&self, action: Action) -> Vec<Trigger> {
        sorted(&self.bound, action)
    }

    /// The keys of one action after the prefix, by name.
    pub fn prefixed_of(&self, action: Action) -> Vec<Trigger> {
        sorted(&self.prefixed, action)
    }

    /// Every binding as faces are told: trigger, id and title, in the order of the table. One after the
    /// prefix is spelled `prefix>key`.
    pub fn entries(&self) -> Vec<(String, String, String)> {
        let of_row = |row: &ActionRow| {
            let direct = self.triggers_of(row.action).into_iter().map(|key| key.to_string());
            let after = self.prefixed_of(row.action);
            let after = after.into_iter().map(|key| format!("{PREFIX}>{key}"));
            let (id, title) = (row.id.to_owned(), row.action.words());
            let entry = move |key| (key, id.clone(), title.clone());
            direct.chain(after).map(entry).collect::<Vec<_>>()
        };
        ACTIONS.iter().flat_map(of_row).collect()
    }
}

fn sorted(map: &HashMap<Trigger, Action>, action: Action) -> Vec<Trigger> {
    let of_action = map.iter().filter(|(_, bound)| **bound == action);
    let mut triggers: Vec<Trigger> = of_action.map(|(trigger, _)| *trigger).collect();
    triggers.sort_by_cached_key(Trigger::to_string);
    triggers
}

/// What a key press may be meant as: itself, the sign that shift makes of it, the key of a US layout.
fn candidates(press: &KeyPress) -> impl Iterator<Item = Trigger> + use<> {
    let own = Trigger::new(press.mods, press.key);
    let shifted = press.shifted.filter(|_| press.mods.contains(Mods::SHIFT));
    let shifted = shifted.map(|c| Trigger::new(press.mods.without(Mods::SHIFT), Key::Char(c)));
    // A letter's capital is the letter with shift, not the letter alone.
    let shifted =
        shifted.filter(|trigger| trigger.key() != own.key() || own.mods() == trigger.mods());
    let base = press.base_layout.map(|c| Trigger::new(press.mods, Key::Char(c)));
    [Some(own), shifted, base].into_iter().flatten()
}

#[cfg(test)]
mod tests;
