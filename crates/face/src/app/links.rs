//! Links that were clicked: in a terminal an address is copied rather than opened, since the browser
//! may be on another machine; a file is pasted as its path.

use rookery_view::link::{Copied, LinkAt, LinkFound, Paste, method};

use super::{App, Ask, Effect, Question, Then, exact};
use crate::words::line;

/// Schemes that are copied without a question.
const KNOWN: [&str; 3] = ["http://", "https://", "mailto:"];

/// A terminal, and the row and the column of one of its cells.
type Spot = (u64, (u64, u16));

/// A link that the pointer is over while the link modifier is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hover {
    /// The terminal and the cell that the pointer is over.
    at: Option<Spot>,
    /// What lies there is being asked; one question at a time.
    is_asked: bool,
    /// The first cell of the link, and its last one.
    found: Option<(Spot, (u64, u16))>,
}

impl Hover {
    /// Whether the pointer is over a link.
    pub fn is_link(&self) -> bool {
        self.found.is_some()
    }

    /// The columns of a row that belong to the link.
    pub fn columns(&self, terminal: u64, row: u64) -> Option<std::ops::Range<u16>> {
        let ((_, from), to) = self.found.filter(|((of, _), _)| *of == terminal)?;
        let start = if row == from.0 { from.1 } else { 0 };
        let end = if row == to.0 { to.1.saturating_add(1) } else { u16::MAX };
        (from.0..=to.0).contains(&row).then_some(start..end)
    }

    fn covers(&self, (terminal, (row, col)): Spot) -> bool {
        self.columns(terminal, row).is_some_and(|columns| columns.contains(&col))
    }
}

impl App {
    /// The pointer is over a cell of a terminal and the link modifier is held, or not any more. Whether
    /// something looks different now.
    pub fn point_at_link(&mut self, over: Option<Spot>) -> bool {
        if std::mem::replace(&mut self.hover.at, over) == over {
            return false;
        }
        let stays = over.is_some_and(|over| self.hover.covers(over));
        let is_news = !stays && self.hover.found.take().is_some();
        if !stays {
            self.ask_hovered();
        }
        is_news
    }

    fn ask_hovered(&mut self) {
        let Some((t, at)) = self.hover.at.filter(|_| !self.hover.is_asked) else { return };
        self.hover.is_asked = true;
        self.call(Ask::Hovered(t, at), method::LINK_AT, LinkAt { t, at });
    }

    pub(super) fn link_hovered(&mut self, asked: Spot, found: &LinkFound) {
        self.hover.is_asked = false;
        if self.hover.at != Some(asked) {
            return self.ask_hovered();
        }
        let ends = found.from.zip(found.to).filter(|_| found.uri.is_some());
        self.hover.found = ends.map(|(from, to)| ((asked.0, from), to));
    }

    /// What lies under the pointer is known.
    pub(super) fn link_found(&mut self, terminal: u64, found: &LinkFound) {
        let Some(uri) = &found.uri else { return self.warn("there is no link") };
        self.open_link(Some(terminal), uri);
    }

    /// What everyone opens is opened by a window and copied by a terminal; a file is pasted as its path, and the
    /// rest is asked about.
    pub fn open_link(&mut self, terminal: Option<u64>, uri: &str) {
        let is_window = self.around.is_window;
        if KNOWN.iter().any(|scheme| uri.starts_with(scheme)) {
            return match is_window {
                true => self.push(Effect::Open(uri.to_owned())),
                false => self.copy_address(uri),
            };
        }
        let path = path_of(uri);
        if let (Some(path), None) = (&path, terminal) {
            // It is on the daemon's machine, and no terminal is here to paste it into.
            return self.copy_address(path);
        }
        let question = match path.zip(terminal) {
            Some((path, terminal)) => {
                let then = Then::Paste(terminal, quoted(&path));
                Question::new("Paste this path?", vec![exact(&path)], then)
            }
            None if is_window => {
                let then = Then::Open(uri.to_owned());
                Question::new("Open this address?", vec![exact(uri)], then)
            }
            None => {
                let then = Then::Copy(uri.to_owned());
                Question::new("Copy this address? Its scheme is unusual.", vec![exact(uri)], then)
            }
        };
        self.question = Some(question);
    }

    pub(super) fn copy_address(&mut self, uri: &str) {
        self.copying = Some(line(uri));
        self.copied(&Copied { text: uri.to_owned(), cut: false });
    }

    pub(super) fn paste_surely(&mut self, t: u64, text: String) {
        self.pasting.push(text.clone());
        let paste = Paste { t, text, sure: true, ..Paste::default() };
        self.call(Ask::Pasted, method::PASTE, paste);
    }
}

/// The path of a `file:` address; whatever machine it names is left out.
fn path_of(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file:")?;
    let path = match rest.strip_prefix("//") {
        Some(with_host) => &with_host[with_host.find('/')?..],
        None => rest,
    };
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.as_bytes();
    while let Some((first, rest)) = left.split_first() {
        let code = rest.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                left = &rest[2..];
            }
            None => {
                bytes.push(*first);
                left = rest;
            }
        }
    }
    let path = String::from_utf8(bytes).ok()?;
    (path.starts_with('/') && !path.contains(char::is_control)).then_some(path)
}

/// A path as one word of a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    if path.chars().all(is_plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_asked_for_once_and_stays_while_the_pointer_is_over_it() {
        let mut app = App::new((80, 24), crate::app::Environment::default());
        let over = |col| Some((3, (7, col)));
        assert!(!app.point_at_link(over(4)));
        app.point_at_link(over(5));
        assert_eq!(app.take_effects().len(), 1, "one question at a time");
        let link = LinkFound {
            uri: Some("https://a.example".to_owned()),
            from: Some((7, 2)),
            to: Some((8, 3)),
        };
        // The answer is about another cell by now: that is asked about.
        app.link_hovered((3, (7, 4)), &link);
        assert!(!app.hover.is_link());
        assert_eq!(app.take_effects().len(), 1);
        app.link_hovered((3, (7, 5)), &link);
        assert_eq!(app.hover.columns(3, 7), Some(2..u16::MAX));
        assert_eq!(app.hover.columns(3, 8), Some(0..4));
        assert_eq!((app.hover.columns(3, 9), app.hover.columns(4, 7)), (None, None));
        assert!(!app.point_at_link(over(9)));
        assert_eq!(app.take_effects(), [], "it is still the same");
        assert!(app.point_at_link(None));
        assert!(!app.hover.is_link());
    }

    #[test]
    fn file_addresses_are_paths() {
        assert_eq!(path_of("file:///a/b%20c").as_deref(), Some("/a/b c"));
        assert_eq!(path_of("file://host/a").as_deref(), Some("/a"));
        assert_eq!(path_of("file:/a").as_deref(), Some("/a"));
        for bad in ["file://host", "file:a", "file:///a%0ab", "file:///%ff", "http://x"] {
            assert_eq!(path_of(bad), None, "{bad}");
        }
        assert_eq!(path_of("file:///a%2").as_deref(), Some("/a%2"));
    }

    #[test]
    fn a_path_is_one_word() {
        assert_eq!(quoted("/a/b.rs"), "/a/b.rs");
        assert_eq!(quoted("/a b"), "'/a b'");
        assert_eq!(quoted("/it's;rm"), "'/it'\\''s;rm'");
    }
}
