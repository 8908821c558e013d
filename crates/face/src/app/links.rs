//! Links that were clicked: in a terminal an address is copied rather than opened, since the browser
//! may be on another machine; a file is pasted as its path.

use rookery_view::link::{Copied, LinkFound, Paste, method};

use super::{App, Ask, Effect, Question, Then, exact};
use crate::words::line;

/// Schemes that are copied without a question.
const KNOWN: [&str; 3] = ["http://", "https://", "mailto:"];

impl App {
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
