//! A field to write in: one line, or several.

use rookery_term::keys::{Key, KeyKind, KeyPress, Mods, Special, us_sign_of};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::cells::text_width;

/// Text with a cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    text: String,
    /// In bytes, at a boundary of characters.
    at: usize,
}

/// What a key did to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    /// It was the field's.
    Yes,
    /// It was not.
    No,
}

impl Field {
    /// A field with a text, the cursor behind it.
    pub fn new(text: impl Into<String>) -> Field {
        let text = text.into();
        Field { at: text.len(), text }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the next letter goes, in bytes.
    pub fn cursor(&self) -> usize {
        self.at
    }

    /// Puts the cursor before the character that a byte belongs to.
    pub fn put_cursor(&mut self, at: usize) {
        self.at = self.text.floor_char_boundary(at);
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Takes the text out.
    pub fn take(&mut self) -> String {
        self.at = 0;
        std::mem::take(&mut self.text)
    }

    /// Line and cells before the cursor, if lines were as they are.
    pub fn caret(&self) -> (usize, u16) {
        let before = &self.text[..self.at];
        let line = before.matches('\n').count();
        let last = before.rsplit('\n').next().unwrap_or_default();
        (line, text_width(last))
    }

    /// Puts a text in at the cursor; controls but line ends are left out.
    pub fn insert(&mut self, text: &str) {
        let text: String = text
            .replace("\r\n", "\n")
            .replace('\r', "\n")
            .chars()
            .filter(|c| matches!(c, '\n' | '\t') || !c.is_control())
            .collect();
        self.text.insert_str(self.at, &text);
        self.at += text.len();
    }

    fn before(&self) -> usize {
        self.text[..self.at].grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        let next = self.text[self.at..].graphemes(true).next().map_or(0, str::len);
        self.at + next
    }

    fn word_before(&self) -> usize {
        let trimmed = self.text[..self.at].trim_end();
        trimmed.rfind(char::is_whitespace).map_or(0, |at| at + 1)
    }

    fn line_start(&self) -> usize {
        self.text[..self.at].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.at..].find('\n').map_or(self.text.len(), |at| self.at + at)
    }

    fn vertical(&mut self, up: bool) -> bool {
        let (line, cells) = self.caret();
        let lines: Vec<&str> = self.text.split('\n').collect();
        let Some(to) = (if up { line.checked_sub(1) } else { Some(line + 1) }) else {
            return false;
        };
        let Some(target) = lines.get(to) else { return false };
        let start: usize = lines[..to].iter().map(|line| line.len() + 1).sum();
        let mut used = 0;
        let mut at = start;
        for cluster in target.graphemes(true) {
            if used >= cells {
                break;
            }
            used += text_width(cluster);
            at += cluster.len();
        }
        self.at = at;
        true
    }

    /// Lets a key edit the text.
    pub fn key(&mut self, press: &KeyPress) -> Edited {
        if press.kind == KeyKind::Release {
            return Edited::No;
        }
        let mods = press.mods.without(Mods::SHIFT | Mods::CAPS | Mods::NUM);
        match (press.key, mods) {
            (Key::Special(special), Mods::NONE) => return self.special(special),
            (Key::Char(c), Mods::CTRL) => return self.control(c),
            (Key::Special(Special::Left), Mods::CTRL | Mods::ALT) => self.at = self.word_before(),
            (Key::Special(Special::Backspace), Mods::CTRL | Mods::ALT) => {
                let from = self.word_before();
                self.text.drain(from..self.at);
                self.at = from;
            }
            _ => match typed(press) {
                Some(text) => self.insert(&text),
                None => return Edited::No,
            },
        }
        Edited::Yes
    }

    fn special(&mut self, special: Special) -> Edited {
        match special {
            Special::Left => self.at = self.before(),
            Special::Right => self.at = self.after(),
            Special::Home => self.at = self.line_start(),
            Special::End => self.at = self.line_end(),
            Special::Backspace => {
                let from = self.before();
                self.text.drain(from..self.at);
                self.at = from;
            }
            Special::Delete => {
                let to = self.after();
                self.text.drain(self.at..to);
            }
            Special::Up if self.vertical(true) => {}
            Special::Down if self.vertical(false) => {}
            _ => return Edited::No,
        }
        Edited::Yes
    }

    fn control(&mut self, c: char) -> Edited {
        match c {
            'a' => self.at = self.line_start(),
            'e' => self.at = self.line_end(),
            'b' => self.at = self.before(),
            'f' => self.at = self.after(),
            'u' => {
                let from = self.line_start();
                self.text.drain(from..self.at);
                self.at = from;
            }
            'k' => {
                let to = self.line_end();
                self.text.drain(self.at..to);
            }
            'w' => {
                let from = self.word_before();
                self.text.drain(from..self.at);
                self.at = from;
            }
            'h' => return self.special(Special::Backspace),
            _ => return Edited::No,
        }
        Edited::Yes
    }
}

/// The text that a key types, if it types any.
pub fn typed(press: &KeyPress) -> Option<String> {
    let command = Mods::CTRL | Mods::ALT | Mods::SUPER | Mods::HYPER | Mods::META;
    let has_text = press.text.as_ref().is_some_and(|text| !text.is_empty());
    if press.kind == KeyKind::Release || (press.mods.intersects(command) && !has_text) {
        return None;
    }
    if let Some(text) = &press.text
        && has_text
    {
        return (!text.chars().any(char::is_control)).then(|| text.clone());
    }
    plain_char(press).map(String::from)
}

/// The character of a key without command modifiers, as a letter of a list: `A` for shift and `a`.
pub fn plain_char(press: &KeyPress) -> Option<char> {
    let Key::Char(c) = press.key else { return None };
    if press.mods.intersects(Mods::CTRL | Mods::ALT | Mods::SUPER | Mods::HYPER | Mods::META) {
        return None;
    }
    if !press.mods.contains(Mods::SHIFT) {
        return Some(c);
    }
    if let Some(shifted) = press.shifted {
        return Some(shifted);
    }
    if let Some(text) = press.text.as_ref().and_then(|text| text.chars().next()) {
        return Some(text);
    }
    us_sign_of(c).or_else(|| c.to_uppercase().next())
}

#[cfg(test)]
mod tests {
    use rookery_term::keys::parse_chord;

    use super::*;

    fn keys(field: &mut Field, chords: &[&str]) {
        for chord in chords {
            field.key(&parse_chord(chord).unwrap());
        }
    }

    #[test]
    fn a_field_is_edited_as_people_are_used_to() {
        let mut field = Field::default();
        keys(&mut field, &["a", "B", "é", "space", "c"]);
        assert_eq!(field.text(), "aBé c");
        keys(&mut field, &["left", "left", "backspace"]);
        assert_eq!(field.text(), "aB c");
        keys(&mut field, &["ctrl+a", "x", "ctrl+e", "ctrl+w"]);
        assert_eq!(field.text(), "xaB ");
        keys(&mut field, &["ctrl+u"]);
        assert_eq!(field.text(), "");
    }

    #[test]
    fn lines_are_walked_up_and_down() {
        let mut field = Field::new("one\ntwo\nthree");
        assert_eq!(field.caret(), (2, 5));
        keys(&mut field, &["up", "x"]);
        assert_eq!(field.text(), "one\ntwox\nthree");
        field.insert("a\r\nb\x1b");
        assert_eq!(field.text(), "one\ntwoxa\nb\nthree");
    }

    #[test]
    fn command_keys_type_nothing() {
        for chord in ["ctrl+x", "alt+x", "escape", "f1", "enter", "tab"] {
            assert_eq!(typed(&parse_chord(chord).unwrap()), None, "{chord}");
        }
        assert_eq!(plain_char(&parse_chord("A").unwrap()), Some('A'));
        assert_eq!(plain_char(&parse_chord("?").unwrap()), Some('?'));
        assert_eq!(plain_char(&parse_chord("ctrl+a").unwrap()), None);
    }
}
