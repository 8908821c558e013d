//! The end of a text, with what stands right before it.
//!
//! A text that was cut may begin in the middle of a secret. Redaction needs to see where
//! that began, though it is not shown.

use std::sync::Arc;

/// Characters before a cut that are kept to know a secret that goes on behind it.
pub const CONTEXT: usize = 4096;

/// The end of a text. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    whole: Arc<str>,
    start: usize,
}

impl Tail {
    /// The last `chars` characters of a text; the rest of it is their context.
    pub fn new(whole: impl Into<Arc<str>>, chars: usize) -> Self {
        let whole = whole.into();
        Self { start: 0, whole }.last_chars(chars)
    }

    /// The end itself.
    pub fn text(&self) -> &str {
        &self.whole[self.start..]
    }

    /// What stands right before it.
    pub fn context(&self) -> &str {
        &self.whole[..self.start]
    }

    /// A shorter end, of this number of characters.
    #[must_use]
    pub fn last_chars(&self, chars: usize) -> Self {
        let text = self.text();
        // No text has more characters than bytes.
        let place = if chars >= text.len() { None } else { nth_back(text, chars) };
        Self { whole: Arc::clone(&self.whole), start: self.start + place.unwrap_or(0) }
    }

    /// A shorter end, of at most this number of bytes, beginning with a whole character.
    #[must_use]
    pub fn last_bytes(&self, bytes: usize) -> Self {
        let text = self.text();
        let place = text.ceil_char_boundary(text.len().saturating_sub(bytes));
        Self { whole: Arc::clone(&self.whole), start: self.start + place }
    }
}

/// Where the last `chars` characters begin.
fn nth_back(text: &str, chars: usize) -> Option<usize> {
    match chars {
        0 => Some(text.len()),
        _ => text.char_indices().rev().nth(chars - 1).map(|(at, _)| at),
    }
}

/// A whole text, before which there is nothing.
impl From<&str> for Tail {
    fn from(text: &str) -> Self {
        Self { whole: text.into(), start: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_knows_what_stands_before_it() {
        let tail = Tail::new("aé日b", 2);
        assert_eq!((tail.context(), tail.text()), ("aé", "日b"));
        assert_eq!(tail.last_chars(1).text(), "b");
        assert_eq!(tail.last_chars(0).text(), "");
        assert_eq!(tail.last_chars(9).text(), "日b", "a tail does not grow");
        let short = tail.last_bytes(3);
        assert_eq!((short.context(), short.text()), ("aé日", "b"));
        assert_eq!(Tail::from("x"), Tail::new("x", 5));
    }
}
