//! A text that is never shown: keys, and anything that may be one.

use std::fmt;

/// A text that is never shown, neither in logs nor in messages.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Hides a key, if the text has one besides blanks.
    pub fn key(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self::new(text))
    }

    /// The text, for those who send it to where it belongs or store it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_no_blanks_around_it_and_is_not_shown() {
        let key = Secret::key(" sk-secret\n").unwrap();
        assert_eq!(key.expose(), "sk-secret");
        assert_eq!(format!("{key:?}"), "Secret(…)");
        assert_eq!(Secret::key(" \n"), None);
    }
}
