//! Settings of faces: chosen here, written into the user's file by the daemon, and in force at once.

mod press;

use rookery_term::keys::{Key, KeyPress, Mods, Special};
use rookery_view::keys::{self, ACTIONS, Action, FaceKind, KeyPreset, Platform, Trigger};
use rookery_view::link::{Done, SettingsCall, method};

use super::list::Row;
use super::text::Tint;
use crate::app::{App, Ask, Cx, Field, is, plain_char};
use crate::daemon;
use crate::words::line;

/// What is being changed on the page.
#[derive(Debug, Default)]
pub struct SettingsPage {
    /// The list of keys is open.
    pub keys: bool,
    /// The next chord is taken, whatever it does otherwise.
    capture: Option<Capture>,
    /// A number is being written.
    field: Option<(&'static str, Field)>,
}

impl SettingsPage {
    /// The words that a setting is one of, if it is.
    pub fn words(key: &str) -> Option<&'static [&'static str]> {
        ROWS.iter().find(|(known, ..)| *known == key).and_then(|(_, _, kind)| match kind {
            Kind::Words(words) => Some(*words),
            _ => None,
        })
    }

    /// The setting that is being written, and what is written of it.
    pub fn written(&self) -> Option<(&'static str, &Field)> {
        self.field.as_ref().map(|(key, field)| (*key, field))
    }

    /// The field that takes letters.
    pub fn field(&mut self) -> Option<&mut Field> {
        self.field.as_mut().map(|(_, field)| field)
    }

    /// Whether something is written into a field.
    pub fn has_field(&self) -> bool {
        self.field.is_some()
    }

    /// Whether a setting is a number.
    pub fn is_number(key: &str) -> bool {
        let known = ROWS.iter().find(|(known, ..)| *known == key);
        known.is_some_and(|(_, _, kind)| matches!(kind, Kind::Number))
    }

    /// Whether the next chord is taken, whatever it does otherwise.
    pub(crate) fn is_capturing(&self) -> bool {
        self.capture.is_some()
    }
}

/// What the next chord is for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Capture {
    /// It becomes the prefix.
    Prefix,
    /// It does an action, in place of another chord.
    Key { action: String, old: Option<String>, is_prefixed: bool },
}

/// How a setting is changed.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Enter takes the next of these words.
    Words(&'static [&'static str]),
    /// Enter writes a whole number.
    Number,
    /// In the palette, previewed while one moves.
    Theme,
    /// The same, of a window's fonts.
    Font,
    /// By pressing the chord.
    Prefix,
    /// In a list of its own.
    Keys,
    /// In a browser.
    Web,
}

/// One row: the key in the file, its name, how it is changed.
const ROWS: &[(&str, &str, Kind)] = &[
    ("theme", "Theme", Kind::Theme),
    ("font-family", "Font", Kind::Font),
    ("font-size", "Font size", Kind::Number),
    ("tui-colors", "Colors", Kind::Words(&["auto", "theme", "terminal", "none"])),
    ("prefix", "Prefix", Kind::Prefix),
    ("key-preset", "Key preset", Kind::Words(&["default", "tmux"])),
    ("keybind", "Keys", Kind::Keys),
    ("tui-mouse", "Mouse", Kind::Words(&["on", "off"])),
    ("wheel-rows", "Wheel rows", Kind::Number),
    ("tui-notify", "Notices", Kind::Words(&["osc", "bell", "off"])),
    ("answer-guard-ms", "Guard", Kind::Number),
    ("confirm-close", "Confirm close", Kind::Words(&["busy", "always", "never"])),
    ("paste-warning", "Paste warning", Kind::Words(&["multiline", "always", "never"])),
    ("copy-on-select", "Copy on select", Kind::Words(&["off", "true", "clipboard"])),
    ("link-modifier", "Link modifier", Kind::Words(&["ctrl", "alt", "super"])),
    ("web", "Web", Kind::Web),
];

fn row(id: impl Into<String>, cells: [(String, Tint); 3]) -> Row {
    Row { id: id.into(), cells: cells.into() }
}

impl App {
    /// The rows of the page, or of the list of keys.
    pub(super) fn settings_rows(&self) -> Vec<Row> {
        match self.pages.settings.keys {
            true => self.key_rows(),
            false => {
                let ours = ROWS.iter().filter(|(key, ..)| self.is_ours(key));
                ours.map(|(key, name, kind)| self.setting_row(key, name, *kind)).collect()
            }
        }
    }

    /// A terminal has its own font, and a window neither its prefix nor its colors.
    fn is_ours(&self, key: &str) -> bool {
        let is_window = self.around.is_window;
        match key {
            "font-family" | "font-size" => is_window,
            "prefix" => !is_window,
            key => !(is_window && key.starts_with("tui-")),
        }
    }

    fn setting_row(&self, key: &'static str, name: &str, kind: Kind) -> Row {
        let field = self.pages.settings.field.as_ref().filter(|(of, _)| *of == key);
        let value = match field {
            Some((_, field)) => format!("{}▌", field.text()),
            None => match self.setting(key) {
                value if key == "answer-guard-ms" => format!("{value} ms"),
                value => value,
            },
        };
        let hint = match kind {
            Kind::Theme | Kind::Font => "enter chooses, previewed while you move".to_owned(),
            Kind::Prefix => "enter, then press the chord; del turns it off".to_owned(),
            Kind::Keys => "enter lists, enter on a row rebinds, del frees".to_owned(),
            Kind::Number => "enter, then a number".to_owned(),
            Kind::Web if value == "off" => "enter turns it on and pairs a device".to_owned(),
            Kind::Web => "enter pairs a device".to_owned(),
            Kind::Words(words) => words.join(" · "),
        };
        row(key, [(name.to_owned(), Tint::Text), (line(&value), Tint::Bold), (hint, Tint::Dim)])
    }

    /// What a setting is now, as the file spells it.
    fn setting(&self, key: &str) -> String {
        let settings = &self.settings;
        let on = |on: bool| if on { "on" } else { "off" }.to_owned();
        match key {
            "theme" => settings.theme.clone(),
            "font-family" if settings.font.family.is_empty() => "built in".to_owned(),
            "font-family" => settings.font.family.clone(),
            "font-size" => settings.font.size.to_string(),
            "tui-colors" => settings.colors.clone(),
            "prefix" => self.keymap.prefix().unwrap_or_else(|| "off".to_owned()),
            "key-preset" => settings.key_preset.clone(),
            "keybind" => match self.changed_keys() {
                0 => "as they come".to_owned(),
                count => format!("{count} changed"),
            },
            "tui-mouse" => on(settings.mouse),
            "wheel-rows" => settings.wheel_rows.to_string(),
            "tui-notify" => settings.notify.clone(),
            "answer-guard-ms" => settings.guard.to_string(),
            "confirm-close" => settings.confirm_close.clone(),
            "paste-warning" => settings.paste_warning.clone(),
            // The file says `true` where faces say what that means.
            "copy-on-select" if settings.copy_on_select == "selection" => "true".to_owned(),
            "copy-on-select" => settings.copy_on_select.clone(),
            "link-modifier" => settings.link_modifier.clone(),
            _ => self.pages.web.clone().unwrap_or_else(|| "off".to_owned()),
        }
    }

    /// The bindings without the user's lines.
    fn default_keys(&self) -> Vec<(String, String, String)> {
        let preset = match self.settings.key_preset.as_str() {
            "tmux" => KeyPreset::Tmux,
            _ => KeyPreset::Default,
        };
        let face = if self.around.is_window { FaceKind::Window } else { FaceKind::Tui };
        keys::Keymap::for_face(face, Platform::current(), preset, None, &[]).entries()
    }

    /// How many bindings differ from those that come with the preset.
    fn changed_keys(&self) -> usize {
        let usual = self.default_keys();
        let mine = &self.sent_keys;
        let is_in = |keys: &[(String, String, String)], (chord, action): (&str, &str)| {
            keys.iter().any(|(other, does, _)| other == chord && does == action)
        };
        let new = mine.iter().filter(|(chord, action, _)| !is_in(&usual, (chord, action))).count();
        let has = |chord: &str| mine.iter().any(|(other, ..)| other == chord);
        // A chord that does something else now is one change, not two.
        new + usual.iter().filter(|(chord, ..)| !has(chord)).count()
    }

    /// Every binding, and every action without one. The id is `action` or `action chord`.
    fn key_rows(&self) -> Vec<Row> {
        let usual = self.default_keys();
        let is_usual = |chord: &str, action: &str| {
            usual.iter().any(|(other, does, _)| other == chord && does == action)
        };
        let mut rows = Vec::new();
        for known in ACTIONS {
            let words = known.action.words();
            let of_action = |key: &&(String, String, String)| key.1 == known.id;
            let mut chords: Vec<&str> =
                self.sent_keys.iter().filter(of_action).map(|key| key.0.as_str()).collect();
            chords.sort_by_key(|chord| (chord.starts_with("prefix>"), chord.len()));
            for chord in &chords {
                let note = if is_usual(chord, known.id) { "" } else { "yours" };
                rows.push(row(
                    format!("{} {chord}", known.id),
                    [
                        (words.clone(), Tint::Text),
                        (crate::keymap::shown(chord), Tint::Accent),
                        (note.to_owned(), Tint::Dim),
                    ],
                ));
            }
            if chords.is_empty() {
                let none =
                    [(words, Tint::Text), (String::new(), Tint::Text), (String::new(), Tint::Dim)];
                rows.push(row(known.id, none));
            }
        }
        rows
    }

    /// A key of the page; whether it was one.
    pub(super) fn settings_key(&mut self, cx: &Cx<'_>, press: &KeyPress) -> bool {
        if self.settings_field_key(press) {
            return true;
        }
        if self.pages.settings.keys {
            return self.keys_key(cx, press);
        }
        let Some(selected) = self.selected_row(cx, &rookery_view::link::Page::Settings) else {
            return false;
        };
        let Some((key, _, kind)) = ROWS.iter().find(|(key, ..)| *key == selected.id) else {
            return false;
        };
        match press.key {
            _ if is(press, Special::Enter) || plain_char(press) == Some(' ') => {
                self.change(key, *kind, 1);
            }
            _ if is(press, Special::Right) => self.change(key, *kind, 1),
            _ if is(press, Special::Left) => self.change(key, *kind, -1),
            _ if is(press, Special::Delete) && matches!(kind, Kind::Prefix) => {
                self.choose(key, "off");
            }
            _ => return false,
        }
        true
    }

    fn change(&mut self, key: &'static str, kind: Kind, step: isize) {
        if !self.may_type() {
            return self.warn("read-only: nothing is sent or decided here");
        }
        match kind {
            Kind::Theme => self.open_palette("themes"),
            Kind::Font => self.open_palette("fonts"),
            Kind::Words(words) => {
                let now = self.setting(key);
                let at = words.iter().position(|word| *word == now).unwrap_or(0);
                let next = at.checked_add_signed(step).unwrap_or(words.len() - 1) % words.len();
                self.choose(key, words[next]);
            }
            Kind::Number => {
                self.pages.settings.field = Some((key, Field::new(self.setting(key))));
                self.say("type a number; enter saves, esc cancels");
            }
            Kind::Prefix => {
                self.pages.settings.capture = Some(Capture::Prefix);
                self.say("press the new prefix; esc cancels");
            }
            Kind::Keys => {
                self.pages.settings.keys = true;
                self.pages.list.selected = 0;
            }
            Kind::Web if !self.may_type() => self.warn(crate::app::READ_ONLY),
            // On already, it says where.
            Kind::Web => self.call(Ask::WebOn, daemon::WEB_START, Done {}),
        }
    }

    /// Writes a setting; what it changes comes back from the daemon.
    fn choose(&mut self, key: &str, value: &str) {
        let call = SettingsCall::Set { set: key.to_owned(), value: value.to_owned() };
        self.call(Ask::Say(format!("{key} = {value}")), method::SETTINGS, call);
    }

    fn settings_field_key(&mut self, press: &KeyPress) -> bool {
        let Some((key, field)) = &mut self.pages.settings.field else { return false };
        if is(press, Special::Escape) {
            self.pages.settings.field = None;
        } else if is(press, Special::Enter) {
            let (key, value) = (*key, field.take());
            self.pages.settings.field = None;
            self.choose(key, value.trim());
        } else {
            field.key(press);
        }
        true
    }

    /// Keys of the list of keys.
    fn keys_key(&mut self, cx: &Cx<'_>, press: &KeyPress) -> bool {
        if is(press, Special::Escape) && self.pages.list.filter_text().is_empty() {
            self.pages.settings.keys = false;
            self.pages.list.filter = None;
            self.pages.list.selected = ROWS
                .iter()
                .filter(|(key, ..)| self.is_ours(key))
                .position(|(key, ..)| *key == "keybind")
                .unwrap_or(0);
            return true;
        }
        let Some(selected) = self.selected_row(cx, &rookery_view::link::Page::Settings) else {
            return false;
        };
        let (action, chord) = match selected.id.split_once(' ') {
            Some((action, chord)) => (action.to_owned(), Some(chord.to_owned())),
            None => (selected.id, None),
        };
        let is_changing = is(press, Special::Enter)
            || is(press, Special::Delete)
            || matches!(plain_char(press), Some('n' | 'r'));
        if !is_changing {
            return false;
        }
        if !self.may_type() {
            self.warn("read-only: nothing is sent or decided here");
            return true;
        }
        match plain_char(press) {
            Some('r') => self.give_back(&action),
            None if is(press, Special::Delete) => match chord {
                Some(chord) => self.free(&chord, &action),
                None => self.warn("it has no key"),
            },
            // Enter puts a chord in the place of this one, `n` beside it.
            letter => {
                let old = chord.filter(|_| letter.is_none());
                let words = Action::from_id(&action).map(Action::words).unwrap_or_default();
                self.pages.settings.capture =
                    Some(Capture::Key { action, old, is_prefixed: false });
                self.say(format!(
                    "press the keys for {words}, with the prefix first if wanted; esc cancels"
                ));
            }
        }
        true
    }

    /// Takes the chord that was asked for, before it can mean anything else.
    pub(crate) fn capture_key(&mut self, press: &KeyPress) -> bool {
        let Some(capture) = self.pages.settings.capture.take() else { return false };
        let is_prefixed = matches!(capture, Capture::Key { is_prefixed: true, .. });
        if is(press, Special::Escape) && !is_prefixed {
            self.say("nothing was changed");
            return true;
        }
        match capture {
            Capture::Key { action, old, is_prefixed: false } if self.keymap.is_prefix(press) => {
                self.pages.settings.capture = Some(Capture::Key { action, old, is_prefixed: true });
                self.say("and the key after the prefix");
            }
            Capture::Key { action, old, is_prefixed } => {
                let chord = trigger(press).to_string();
                match is_prefixed {
                    true => self.rebind(&action, old, &format!("prefix>{chord}")),
                    false if is_text(press) => self.warn(format!(
                        "{press} is text: hold ctrl or alt, or press the prefix before it"
                    )),
                    false => self.rebind(&action, old, &chord),
                }
            }
            Capture::Prefix if is_text(press) => {
                self.warn(format!("{press} is text and cannot be the prefix: hold ctrl or alt"));
            }
            Capture::Prefix => self.choose("prefix", &trigger(press).to_string()),
        }
        true
    }

    fn bind(&mut self, chord: &str, action: Option<&str>, say: Ask) {
        let call = SettingsCall::Bind { bind: chord.to_owned(), action: action.map(str::to_owned) };
        self.call(say, method::SETTINGS, call);
    }

    fn is_usual(&self, chord: &str, action: &str) -> bool {
        self.default_keys().iter().any(|(other, does, _)| other == chord && does == action)
    }

    /// What a chord does by default, if anything.
    fn usual(&self, chord: &str) -> Option<String> {
        self.default_keys().into_iter().find(|(other, ..)| other == chord).map(|key| key.1)
    }

    fn rebind(&mut self, action: &str, old: Option<String>, chord: &str) {
        let before = self.sent_keys.iter().find(|(other, ..)| other == chord).cloned();
        if let Some(old) = old.filter(|old| old != chord) {
            self.free_quietly(&old, action);
        }
        let words = Action::from_id(action).map(Action::words).unwrap_or_default();
        let was = match before {
            Some((_, does, title)) if does != action => format!(", no longer {title}"),
            _ => String::new(),
        };
        let say = Ask::Say(format!("{} is {words}{was}", crate::keymap::shown(chord)));
        let line = if self.is_usual(chord, action) { None } else { Some(action) };
        self.bind(chord, line, say);
    }

    fn free(&mut self, chord: &str, action: &str) {
        self.free_quietly(chord, action);
        self.say(format!("{} now goes to the program", crate::keymap::shown(chord)));
    }

    /// A chord that comes with the preset is freed by a line, any other by taking its line out.
    fn free_quietly(&mut self, chord: &str, _action: &str) {
        let line = self.usual(chord).map(|_| "unbind");
        self.bind(chord, line, Ask::Quiet);
    }

    /// Gives an action the keys that it comes with.
    fn give_back(&mut self, action: &str) {
        let mine: Vec<String> = self
            .sent_keys
            .iter()
            .filter(|(chord, does, _)| does == action && !self.is_usual(chord, action))
            .map(|key| key.0.clone())
            .collect();
        let usual: Vec<String> = self
            .default_keys()
            .into_iter()
            .filter(|(_, does, _)| does == action)
            .map(|key| key.0)
            .collect();
        for chord in mine.iter().chain(&usual) {
            self.bind(chord, None, Ask::Quiet);
        }
        self.say("back to the default");
    }

    /// What can be pressed on the page.
    pub fn settings_hint(&self) -> &'static str {
        let page = &self.pages.settings;
        match () {
            () if page.capture.is_some() => "press the keys  esc back",
            () if page.field.is_some() => "enter take  esc back",
            () if page.keys => "enter rebind  n another  del free  r default  / filter  esc back",
            () => "enter change  esc back",
        }
    }
}

fn trigger(press: &KeyPress) -> Trigger {
    let shifted = press.shifted.filter(|_| press.mods.contains(Mods::SHIFT));
    match shifted {
        // The sign counts, wherever the keyboard has it.
        Some(sign) if !sign.is_alphabetic() => {
            Trigger::new(press.mods.without(Mods::SHIFT), Key::Char(sign))
        }
        _ => Trigger::new(press.mods, press.key),
    }
}

/// Whether a key types something, or edits what was typed: without the prefix it must stay the
/// program's.
fn is_text(press: &KeyPress) -> bool {
    let command = Mods::CTRL | Mods::ALT | Mods::SUPER | Mods::HYPER | Mods::META;
    if press.mods.intersects(command) {
        return false;
    }
    match press.key {
        Key::Char(_) => true,
        Key::Special(special) => {
            matches!(
                special,
                Special::Enter
                    | Special::Tab
                    | Special::Backspace
                    | Special::Escape
                    | Special::Up
                    | Special::Down
                    | Special::Left
                    | Special::Right
                    | Special::Delete
                    | Special::Home
                    | Special::End
            ) && !press.mods.contains(Mods::SHIFT)
        }
    }
}

#[cfg(test)]
mod tests {
    use rookery_term::keys::parse_chord;

    use super::*;

    #[test]
    fn text_is_no_chord() {
        for key in ["a", "A", "?", "enter", "left", "escape"] {
            assert!(is_text(&parse_chord(key).unwrap()), "{key}");
        }
        for key in ["ctrl+a", "alt+enter", "f5", "shift+left", "super+x"] {
            assert!(!is_text(&parse_chord(key).unwrap()), "{key}");
        }
    }

    #[test]
    fn every_word_is_one_that_the_file_knows() {
        for (key, _, kind) in ROWS {
            if let Kind::Words(words) = kind {
                for word in *words {
                    assert_eq!(rookery_view::settings::writable(key, word), Ok(*key), "{word}");
                }
            }
        }
    }
}
