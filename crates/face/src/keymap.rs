//! Which key does what, as the daemon says it for this face: chords, and keys after the prefix.

use std::collections::HashMap;

use rookery_term::keys::{Key, KeyPress, Mods, us_sign_of};
use rookery_view::keys::{self, FaceKind, KeyPreset, Platform, Trigger};

/// What begins a trigger that counts after the prefix only.
const AFTER_PREFIX: &str = "prefix>";

/// One binding as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The keys, such as `ctrl+alt+v` or `prefix v`.
    pub keys: String,
    /// The action's id.
    pub action: String,
    /// The action's words.
    pub title: String,
}

/// Every binding in force.
#[derive(Clone, Debug, Default)]
pub struct Keymap {
    direct: HashMap<Trigger, String>,
    after: HashMap<Trigger, String>,
    prefix: Option<Trigger>,
    listed: Vec<Binding>,
}

/// The letter that is shown of several.
const USUAL: &[(&str, &str)] =
    &[("split_right", "v"), ("split_below", "-"), ("command_palette", "space"), ("leave", "q")];

/// What a key means before any page sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    Action(String),
    Prefix,
    /// Nothing of ours.
    Free,
}

impl Keymap {
    /// The map of an opened viewer: its keys, and its prefix if there is one.
    pub fn new(keys: &[(String, String, String)], prefix: Option<&str>) -> Keymap {
        let fallback = fallback(keys);
        Keymap::exactly(fallback.as_deref().unwrap_or(keys), prefix)
    }

    /// The same with exactly these keys.
    pub fn exactly(keys: &[(String, String, String)], prefix: Option<&str>) -> Keymap {
        let mut map = Keymap {
            prefix: prefix.and_then(|chord| Trigger::parse(chord).ok()),
            ..Keymap::default()
        };
        for (trigger, action, title) in keys {
            let keys = shown(trigger);
            let (table, chord) = match trigger.strip_prefix(AFTER_PREFIX) {
                Some(chord) => (&mut map.after, chord),
                None => (&mut map.direct, trigger.as_str()),
            };
            let Ok(parsed) = Trigger::parse(chord) else { continue };
            table.insert(parsed, action.clone());
            let title = if title.is_empty() { words(action) } else { title.clone() };
            map.listed.push(Binding { keys, action: action.clone(), title });
        }
        map
    }

    /// What a key means when no prefix was pressed.
    pub fn meaning(&self, press: &KeyPress) -> Meaning {
        if self.is_prefix(press) {
            return Meaning::Prefix;
        }
        // A chord that the layout typed as text is text.
        let types = press.text.as_ref().is_some_and(|text| !text.is_empty());
        if types && press.mods.contains(Mods::CTRL | Mods::ALT) {
            return Meaning::Free;
        }
        find(&self.direct, press).map_or(Meaning::Free, Meaning::Action)
    }

    /// The action of a key after the prefix.
    pub fn after_prefix(&self, press: &KeyPress) -> Option<String> {
        find(&self.after, press)
    }

    /// Whether a key is the prefix itself.
    pub fn is_prefix(&self, press: &KeyPress) -> bool {
        let Some(prefix) = self.prefix else { return false };
        Trigger::new(press.mods, press.key) == prefix
            || press.base_layout.is_some_and(|c| Trigger::new(press.mods, Key::Char(c)) == prefix)
    }

    /// The prefix as a person writes it.
    pub fn prefix(&self) -> Option<String> {
        self.prefix.map(|prefix| prefix.to_string())
    }

    /// The keys of an action, shortest first.
    pub fn keys_of(&self, action: &str) -> Vec<&str> {
        let mut keys: Vec<&str> = self
            .listed
            .iter()
            .filter(|binding| binding.action == action)
            .map(|binding| binding.keys.as_str())
            .collect();
        keys.sort_by_key(|keys| (keys.starts_with("prefix "), keys.len()));
        keys
    }

    /// The key after the prefix that does an action.
    pub fn letter(&self, action: &str) -> Option<&str> {
        let letters = || self.keys_of(action).into_iter().filter_map(|k| k.strip_prefix("prefix "));
        let usual = USUAL.iter().find(|(id, _)| *id == action).map(|(_, letter)| *letter);
        letters().find(|letter| Some(*letter) == usual).or_else(|| letters().next())
    }

    /// Every binding, in the daemon's order.
    pub fn listed(&self) -> &[Binding] {
        &self.listed
    }
}

/// The usual keys, for a daemon that names none for faces in a terminal.
fn fallback(keys: &[(String, String, String)]) -> Option<Vec<(String, String, String)>> {
    let is_listed = keys.iter().any(|(trigger, ..)| trigger.starts_with(AFTER_PREFIX));
    let usual = || {
        keys::Keymap::for_face(FaceKind::Tui, Platform::current(), KeyPreset::Default, None, &[])
    };
    (!is_listed).then(|| usual().entries())
}

fn find(table: &HashMap<Trigger, String>, press: &KeyPress) -> Option<String> {
    // A letter's capital is the letter with shift, not the letter alone.
    let shifted = press.shifted.filter(|c| press.mods.contains(Mods::SHIFT) && !c.is_alphabetic());
    let tries = [
        Some(Trigger::new(press.mods, press.key)),
        shifted.map(|c| Trigger::new(press.mods.without(Mods::SHIFT), Key::Char(c))),
        press.base_layout.map(|c| Trigger::new(press.mods, Key::Char(c))),
    ];
    tries.into_iter().flatten().find_map(|trigger| table.get(&trigger).cloned())
}

/// Keys as a person writes them: `prefix V` for `prefix>shift+v`.
pub fn shown(trigger: &str) -> String {
    match trigger.strip_prefix(AFTER_PREFIX) {
        Some(chord) => format!("prefix {}", spoken(chord)),
        None => trigger.to_owned(),
    }
}

/// A key after the prefix as people write it: `V` for `shift+v`, `%` for `shift+5`.
fn spoken(chord: &str) -> String {
    let Some(key) = chord.strip_prefix("shift+") else { return chord.to_owned() };
    let mut chars = key.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if c.is_alphabetic() => c.to_uppercase().collect(),
        (Some(c), None) => us_sign_of(c).map_or_else(|| chord.to_owned(), String::from),
        _ => chord.to_owned(),
    }
}

/// `split_right` as `Split Right`.
fn words(id: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
        first + chars.as_str()
    };
    id.split('_').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use rookery_term::keys::parse_chord;

    use super::*;
    use crate::picture::fixed::default_keys;

    fn map() -> Keymap {
        Keymap::new(&default_keys(), Some("ctrl+\\"))
    }

    fn press(chord: &str) -> KeyPress {
        parse_chord(chord).unwrap()
    }

    #[test]
    fn chords_and_keys_after_the_prefix_are_apart() {
        let map = map();
        assert_eq!(map.meaning(&press("ctrl+\\")), Meaning::Prefix);
        assert_eq!(map.meaning(&press("ctrl+alt+v")), Meaning::Action("split_right".to_owned()));
        assert_eq!(map.meaning(&press("v")), Meaning::Free);
        assert_eq!(map.after_prefix(&press("v")).as_deref(), Some("split_right"));
        assert_eq!(map.after_prefix(&press("V")).as_deref(), Some("open_reviews"));
        assert_eq!(map.after_prefix(&press("%")).as_deref(), Some("split_right"));
        assert_eq!(map.after_prefix(&press("?")).as_deref(), Some("help"));
        assert_eq!(map.after_prefix(&press("ctrl+alt+v")), None);
        assert_eq!(map.after_prefix(&press("y")), None);
        // A capital that is not bound is not its letter.
        let capital = KeyPress { shifted: Some('Q'), ..press("Q") };
        assert_eq!(map.after_prefix(&capital), None);
        assert_eq!(map.after_prefix(&press("q")).as_deref(), Some("leave"));
    }

    #[test]
    fn what_a_layout_types_with_both_modifiers_is_text() {
        let mut typed = press("ctrl+alt+p");
        typed.text = Some("€".to_owned());
        assert_eq!(map().meaning(&typed), Meaning::Free);
    }

    #[test]
    fn keys_are_shown_as_people_write_them() {
        let map = map();
        assert_eq!(map.keys_of("split_right"), ["ctrl+alt+v", "prefix v", "prefix %"]);
        assert_eq!(map.letter("open_reviews"), Some("V"));
        assert_eq!(map.letter("help"), Some("?"));
        assert_eq!(map.prefix().as_deref(), Some("ctrl+\\"));
        assert_eq!(map.listed()[2].title, "Split Right");
    }
}
