//! Actions: what a client does to a session.

use std::{borrow::Cow, sync::LazyLock};

use rookery_term::keys::NamedKey;
use rookery_watch as watch;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

/// One action.
#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Action {
    Text(String),
    /// The same bytes as `text`.
    Paste(String),
    /// The text between paste markers.
    BracketedPaste(String),
    /// A key by its name.
    Key(KeyName),
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

impl From<Action> for watch::Action {
    fn from(action: Action) -> Self {
        match action {
            Action::Text(text) => Self::Text(text),
            Action::Paste(text) => Self::Paste(text),
            Action::BracketedPaste(text) => Self::BracketedPaste(text),
            Action::Key(key) => Self::Key(watch::Key(key.0)),
            Action::Resize(FullSize { rows, cols, pixel_width, pixel_height }) => {
                Self::Resize(watch::FullSize { rows, cols, pixel_width, pixel_height })
            }
            Action::Interrupt => Self::Interrupt,
            Action::Eof => Self::Eof,
            Action::Kill => Self::Kill,
            Action::Signal(signal) => Self::Signal(signal.into()),
            Action::MarkTranscript(Mark { label }) => Self::MarkTranscript(watch::Mark { label }),
        }
    }
}

/// A size of which every part is given.
#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct FullSize {
    pub rows: u16,
    /// Columns.
    pub cols: u16,
    pub pixel_width: u16,
    pub pixel_height: u16,
}

/// A label for a place in the transcript.
#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Mark {
    pub label: String,
}

/// A signal by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
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

impl From<SignalName> for watch::SignalName {
    fn from(signal: SignalName) -> Self {
        match signal {
            SignalName::Term => Self::Term,
            SignalName::Hup => Self::Hup,
            SignalName::Quit => Self::Quit,
            SignalName::Int => Self::Int,
            SignalName::Kill => Self::Kill,
            SignalName::User1 => Self::User1,
            SignalName::User2 => Self::User2,
        }
    }
}

/// A key by its exact name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyName(pub NamedKey);

static KEY_NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| NamedKey::ALL.iter().map(|key| key.name()).collect());

impl<'de> Deserialize<'de> for KeyName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        let key = NamedKey::from_name(&name);
        key.map(Self).ok_or_else(|| de::Error::unknown_variant(&name, &KEY_NAMES))
    }
}

impl JsonSchema for KeyName {
    fn schema_name() -> Cow<'static, str> {
        "KeyName".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": *KEY_NAMES })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{session::Input, testing::refusal};

    fn action(text: &str) -> Action {
        serde_json::from_str(text).unwrap()
    }

    fn refused(action: &str) -> String {
        refusal::<Input>(&format!(r#"{{"session":"s1","action":{action}}}"#))
    }

    #[test]
    fn every_type_decodes() {
        let size = FullSize { rows: 2, cols: 3, pixel_width: 0, pixel_height: 9 };
        let table = [
            (r#"{"type":"text","value":"é"}"#, Action::Text("é".into())),
            (r#"{"value":"","type":"paste","x":1}"#, Action::Paste(String::new())),
            (r#"{"type":"bracketed_paste","value":"a"}"#, Action::BracketedPaste("a".into())),
            (r#"{"type":"key","value":"shift_tab"}"#, Action::Key(KeyName(NamedKey::ShiftTab))),
            (
                r#"{"type":"resize","value":{"rows":2,"cols":3,"pixel_width":0,"pixel_height":9}}"#,
                Action::Resize(size),
            ),
            (r#"{"type":"interrupt"}"#, Action::Interrupt),
            (r#"{"type":"eof","value":null}"#, Action::Eof),
            (r#"{"value":null,"type":"kill"}"#, Action::Kill),
            (r#"{"type":"signal","value":"user1"}"#, Action::Signal(SignalName::User1)),
            (
                r#"{"type":"mark_transcript","value":{"label":"l"}}"#,
                Action::MarkTranscript(Mark { label: "l".into() }),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(action(text), expected, "{text}");
            // Plugins speak the same language.
            let of_plugin: watch::Action = serde_json::from_str(text).unwrap();
            assert_eq!(of_plugin, watch::Action::from(expected), "{text}");
        }
    }

    #[test]
    fn every_key_decodes_by_its_name() {
        for key in NamedKey::ALL {
            let text = format!(r#"{{"value":"{}","type":"key"}}"#, key.name());
            assert_eq!(action(&text), Action::Key(KeyName(*key)));
        }
    }

    #[test]
    fn refusals_name_the_fault() {
        let kinds = "expected one of `text`, `paste`, `bracketed_paste`, `key`, `resize`, `interrupt`, `eof`, \
                     `kill`, `signal`, `mark_transcript`";
        assert_eq!(
            refused(r#"{"type":"type"}"#),
            format!("unknown variant `type`, {kinds}, at action.type")
        );
        assert!(refused(r#"{"value":"x"}"#).ends_with("missing field `type`"));
        assert!(refused(r#"{"type":"text"}"#).ends_with("missing field `value`"));
        assert!(refused(r#"{"type":"text","value":5}"#).contains("expected a string"));
        assert!(refused(r#"{"type":"eof","value":5}"#).contains("expected unit"));
        assert!(refused(r#"{"value":"x","type":"kill"}"#).contains("expected unit"));
        for key in ["Enter", "ctrl-c", "a", "ctrl_h"] {
            let message = refused(&format!(r#"{{"type":"key","value":"{key}"}}"#));
            assert!(message.contains(&format!("unknown variant `{key}`, expected one of `enter`")));
        }
        assert!(refused(r#"{"type":"signal","value":"stop"}"#).contains("unknown variant `stop`"));
        assert!(
            refused(r#"{"type":"mark_transcript","value":{}}"#).contains("missing field `label`")
        );
        let partial = r#"{"type":"resize","value":{"rows":2,"cols":3}}"#;
        assert!(refused(partial).contains("missing field `pixel_width`"));
        let large =
            r#"{"type":"resize","value":{"rows":70000,"cols":3,"pixel_width":0,"pixel_height":0}}"#;
        assert!(refused(large).contains("integer `70000`, expected u16"));
    }
}
