//! What a plugin wants done to a terminal, in the language of plugins.

use std::{borrow::Cow, sync::LazyLock};

use rookery_model::{Size, SizeError};
use rookery_term::keys::NamedKey;
use serde::{Deserialize, Deserializer, de};

/// One action.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Action {
    Text(String),
    /// The same bytes as `text`.
    Paste(String),
    /// The text between paste markers.
    BracketedPaste(String),
    /// A key by its name.
    Key(Key),
    /// Another size.
    Resize(FullSize),
    /// The byte of control C.
    Interrupt,
    /// The byte of control D.
    Eof,
    /// Ends the child.
    Kill,
    /// A signal for the child itself.
    Signal(SignalName),
    /// A label for the present end of the transcript.
    MarkTranscript(Mark),
}

impl Action {
    /// What a plugin wants done. All or nothing: everything must make sense before anything is done.
    ///
    /// # Errors
    /// If one of them makes no sense.
    pub fn all(actions: Vec<serde_json::Value>) -> serde_json::Result<Vec<Action>> {
        actions.into_iter().map(serde_json::from_value).collect()
    }
}

/// A size of which every part is given.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct FullSize {
    pub rows: u16,
    /// Columns.
    pub cols: u16,
    pub pixel_width: u16,
    pub pixel_height: u16,
}

impl FullSize {
    /// The size.
    ///
    /// # Errors
    /// If a part is out of bounds.
    pub fn size(&self) -> Result<Size, SizeError> {
        Ok(Size::new(self.rows, self.cols)?.with_pixels(self.pixel_width, self.pixel_height))
    }
}

/// A label for a place in the transcript.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct Mark {
    pub label: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalName {
    /// SIGTERM.
    Term,
    /// SIGHUP.
    Hup,
    /// SIGQUIT.
    Quit,
    /// Not a signal: the byte of control C.
    Int,
    /// Not only a signal: as the action `kill`.
    Kill,
    /// SIGUSR1.
    User1,
    /// SIGUSR2.
    User2,
}

/// A key by its exact name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub NamedKey);

static KEY_NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| NamedKey::ALL.iter().map(|key| key.name()).collect());

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        let key = NamedKey::from_name(&name);
        key.map(Self).ok_or_else(|| de::Error::unknown_variant(&name, &KEY_NAMES))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plugins_know_the_same_keys() {
        assert_eq!(*KEY_NAMES, rookery_plugins::KEY_NAMES);
    }

    #[test]
    fn one_action_without_sense_and_nothing_is_done() {
        let text = json!({"type": "text", "value": "y"});
        let key = json!({"type": "key", "value": "enter"});
        let typed = Action::all(vec![text.clone(), key]).unwrap();
        assert_eq!(typed, [Action::Text("y".into()), Action::Key(Key(NamedKey::Enter))]);
        let error = Action::all(vec![text, json!({"type": "key", "value": "Enter"})]).unwrap_err();
        assert!(error.to_string().starts_with("unknown variant `Enter`, expected one of `enter`"));
    }

    #[test]
    fn a_size_of_nothing_is_refused() {
        let size = FullSize { rows: 1, cols: 0, pixel_width: 0, pixel_height: 0 };
        assert_eq!(size.size().unwrap_err().field, "cols");
    }
}
