//! Options as the original reads them: `--key value` or a bare `--flag`, the last one wins, other
//! words are ignored. `--key=value` is read too.

use std::collections::HashMap;

/// What was given.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options(HashMap<String, String>);

impl Options {
    pub(super) fn read(words: &[String]) -> Self {
        let mut given = HashMap::new();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let Some(name) = word.strip_prefix("--") else { continue };
            if let Some((name, value)) = name.split_once('=') {
                given.insert(name.to_owned(), value.to_owned());
                continue;
            }
            let value = words.next_if(|next| !next.starts_with("--"));
            given.insert(name.to_owned(), value.map_or_else(|| "true".to_owned(), String::clone));
        }
        Self(given)
    }

    /// A value that is not empty.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// Whether a flag was given.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| rookery_idx0::values::is_true(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Options {
        Options::read(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_take_the_next_word_unless_it_is_an_option() {
        let options = read(&["x", "--a", "1", "--flag", "--b", "two words", "--c=--d", "--a", "2"]);
        assert_eq!(options.text("a").as_deref(), Some("2"));
        assert!(options.is_set("flag"));
        assert_eq!(options.text("b").as_deref(), Some("two words"));
        assert_eq!(options.text("c").as_deref(), Some("--d"));
        assert_eq!(options.text("x"), None);
        assert_eq!(read(&["--a", ""]).text("a"), None);
    }
}
