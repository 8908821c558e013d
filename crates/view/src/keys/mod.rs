//! Key bindings: which trigger runs which action.
//!
//! Defaults come from the table of actions, the user's lines are laid over them. Nothing here knows
//! what an action does.

mod action;
mod trigger;

pub use action::{ACTIONS, Action, ActionRow};
pub use trigger::{Platform, Trigger, TriggerError};

use std::collections::HashMap;

use rookery_term::keys::{Key, KeyPress, Mods};

/// One `keybind` line: what a trigger shall do from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keybind {
    /// The trigger.
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

impl Keybind {
    /// Reads `trigger = action`, the value of a `keybind` line.
    pub fn parse(value: &str) -> Result<Self, KeybindError> {
        // The last `=`, so that the equals key itself can be part of the trigger.
        let (trigger, action) = value.rsplit_once('=').ok_or(KeybindError::NoAction)?;
        let trigger = Trigger::parse(trigger)?;
        let id = action.trim();
        if id == UNBIND {
            return Ok(Self { trigger, action: None });
        }
        let action =
            Action::from_id(id).ok_or_else(|| KeybindError::UnknownAction(trigger::shorten(id)))?;
        Ok(Self { trigger, action: Some(action) })
    }
}

/// All bindings in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    bound: HashMap<Trigger, Action>,
}

impl Keymap {
    /// The defaults of a platform with the user's lines over them; the last line of a trigger wins.
    pub fn new(platform: Platform, lines: &[Keybind]) -> Self {
        let mut bound = HashMap::new();
        for row in ACTIONS {
            bound.extend(row.triggers(platform).into_iter().map(|trigger| (trigger, row.action)));
        }
        for line in lines {
            match line.action {
                Some(action) => bound.insert(line.trigger, action),
                None => bound.remove(&line.trigger),
            };
        }
        Self { bound }
    }

    /// The action of a key held with modifiers.
    pub fn lookup(&self, mods: Mods, key: Key) -> Option<Action> {
        self.bound.get(&Trigger::new(mods, key)).copied()
    }

    /// The action of a key press, also tried as the key of a US layout, so that `alt+shift+[` works
    /// where brackets need other fingers.
    pub fn lookup_press(&self, press: &KeyPress) -> Option<Action> {
        let shifted = press.shifted.filter(|_| press.mods.contains(Mods::SHIFT));
        self.lookup(press.mods, press.key)
            .or_else(|| self.lookup(press.mods.without(Mods::SHIFT), Key::Char(shifted?)))
            .or_else(|| self.lookup(press.mods, Key::Char(press.base_layout?)))
    }

    /// Every binding, in the order of the table of actions.
    pub fn bindings(&self) -> Vec<(Trigger, Action)> {
        let of_row = |row: &ActionRow| {
            let action = row.action;
            self.triggers_of(action).into_iter().map(move |trigger| (trigger, action))
        };
        ACTIONS.iter().flat_map(of_row).collect()
    }

    /// The triggers of one action by name, for showing them beside its title.
    pub fn triggers_of(&self, action: Action) -> Vec<Trigger> {
        let of_action = self.bound.iter().filter(|(_, bound)| **bound == action);
        let mut triggers: Vec<Trigger> = of_action.map(|(trigger, _)| *trigger).collect();
        triggers.sort_by_cached_key(Trigger::to_string);
        triggers
    }
}

#[cfg(test)]
mod tests;
