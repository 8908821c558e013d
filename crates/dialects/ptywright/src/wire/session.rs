//! Params and results of the `session.*` methods that have no file of their own.

use std::collections::BTreeMap;

use rookery_model::{Size, SizeError, Terminal};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{action::Action, process::Process, redaction::Look};
use crate::ids;

/// Params of `session.create`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Create {
    /// With a slash relative to `cwd`, else searched in the child's `PATH`.
    pub program: String,
    /// Arguments after the program's name.
    #[serde(default)]
    pub args: Vec<String>,
    /// Working directory; the user's home if absent or not a directory.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Variables laid over the server's environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Rows, 24 if absent.
    #[serde(default)]
    pub rows: Option<u16>,
    /// Columns, 80 if absent.
    #[serde(default)]
    pub cols: Option<u16>,
    /// Width in pixels, 0 if absent.
    #[serde(default)]
    pub pixel_width: Option<u16>,
    /// Height in pixels, 0 if absent.
    #[serde(default)]
    pub pixel_height: Option<u16>,
    /// Characters of the transcript to keep, 131072 if absent.
    #[serde(default)]
    pub transcript_max_chars: Option<usize>,
    /// A file that gets every byte of output as it is.
    #[serde(default)]
    pub raw_transcript_path: Option<String>,
    /// Whether that file may exist already.
    #[serde(default)]
    pub raw_transcript_append: Option<bool>,
}

impl Create {
    /// The size asked for.
    pub(crate) fn size(&self) -> Result<Size, SizeError> {
        let rows = self.rows.unwrap_or(Size::DEFAULT.rows());
        let cols = self.cols.unwrap_or(Size::DEFAULT.cols());
        let pixels = (self.pixel_width.unwrap_or(0), self.pixel_height.unwrap_or(0));
        Ok(Size::new(rows, cols)?.with_pixels(pixels.0, pixels.1))
    }
}

/// Result of `session.create`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Created {
    /// The id of the new session.
    pub session: String,
}

/// Params of `session.list`. The original takes none, so whatever else is sent is ignored.
#[derive(Debug, Default)]
pub struct List {
    /// Whether to describe each session; an addition of ours.
    pub details: bool,
}

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let params = Value::deserialize(deserializer)?;
        Ok(Self { details: params.get("details") == Some(&Value::Bool(true)) })
    }
}

impl JsonSchema for List {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "List".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "properties": { "details": { "type": "boolean" } } })
    }
}

/// Result of `session.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sessions {
    /// Ids in the order of their text, so `s10` before `s2`.
    pub sessions: Vec<String>,
    /// The same sessions described, in the same order, if that was asked for; an addition of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Vec<Described>>,
}

/// A session in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Described {
    /// Its id.
    pub session: String,
    /// What was started.
    pub program: String,
    pub title: String,
    pub rows: u16,
    /// Columns.
    pub cols: u16,
    #[serde(flatten)]
    pub process: Process,
}

impl From<&Terminal> for Described {
    fn from(terminal: &Terminal) -> Self {
        Self {
            session: ids::spell(terminal.id),
            program: terminal.launch.argv.first().cloned().unwrap_or_default(),
            title: terminal.title().into_owned(),
            rows: terminal.size.rows(),
            cols: terminal.size.cols(),
            process: Process::from(terminal),
        }
    }
}

/// Params of methods that need only the session.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Named {
    /// The session's id.
    pub session: String,
}

/// Params of `session.input`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The session's id.
    pub session: String,
    /// What to do to it.
    pub action: Action,
}

/// Params of `session.resize`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Resize {
    /// The session's id.
    pub session: String,
    pub rows: u16,
    /// Columns.
    pub cols: u16,
    /// Width in pixels; 0 if absent, not what it was.
    #[serde(default)]
    pub pixel_width: Option<u16>,
    /// Height in pixels; 0 if absent, not what it was.
    #[serde(default)]
    pub pixel_height: Option<u16>,
}

impl Resize {
    /// The size asked for.
    pub(crate) fn size(&self) -> Result<Size, SizeError> {
        let pixels = (self.pixel_width.unwrap_or(0), self.pixel_height.unwrap_or(0));
        Ok(Size::new(self.rows, self.cols)?.with_pixels(pixels.0, pixels.1))
    }
}

/// Params of `session.snapshot`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReadScreen {
    /// The session's id.
    pub session: String,
    /// How to see it.
    #[serde(flatten)]
    pub look: Look,
}

/// Params of `session.transcript`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReadTranscript {
    /// The session's id.
    pub session: String,
    /// How to see it.
    #[serde(flatten)]
    pub look: Look,
}

/// Result of `session.transcript`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Transcript {
    /// Everything the terminal printed, as far as it is kept.
    pub text: String,
}

/// A result that only says that it was done: `{"NAME":true}`.
macro_rules! done {
    ($(#[$doc:meta])* $type:ident, $member:ident) => {
        $(#[$doc])*
        #[derive(Debug, Serialize, JsonSchema)]
        pub struct $type {
            /// Always true.
            pub $member: bool,
        }

        impl $type {
            /// It was done.
            pub(crate) const YES: Self = Self { $member: true };
        }
    };
}

done! {
    /// Result of `session.input`.
    Sent, sent
}
done! {
    /// Result of `session.resize`.
    Resized, resized
}
done! {
    /// Result of `session.kill`.
    Killed, killed
}
done! {
    /// Result of `session.close`.
    Closed, closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::testing::refusal;

    fn create(text: &str) -> Create {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn create_has_defaults_and_takes_null_for_them() {
        let nulls = r#"{"program":"sh","cwd":null,"rows":null,"cols":null,"pixel_width":null,"pixel_height":null,
            "transcript_max_chars":null,"raw_transcript_path":null,"raw_transcript_append":null,"unknown":1}"#;
        for text in [r#"{"program":"sh"}"#, nulls] {
            let create = create(text);
            assert_eq!(create.size().unwrap(), Size::DEFAULT);
            assert_eq!((create.cwd, create.transcript_max_chars), (None, None));
            assert!(create.args.is_empty() && create.env.is_empty());
        }
        let sized =
            create(r#"{"program":"sh","rows":2,"cols":3,"pixel_width":4,"pixel_height":5}"#);
        assert_eq!(sized.size().unwrap(), Size::new(2, 3).unwrap().with_pixels(4, 5));
    }

    #[test]
    fn create_refuses_what_does_not_decode() {
        let table = [
            ("{}", "missing field `program`"),
            (r#"{"program":7}"#, "invalid type: integer `7`, expected a string"),
            (r#"{"program":null}"#, "invalid type: null, expected a string"),
            (r#"{"program":"a","args":null}"#, "invalid type: null, expected a sequence"),
            (
                r#"{"program":"a","args":[1]}"#,
                "invalid type: integer `1`, expected a string, at args[0]",
            ),
            (r#"{"program":"a","env":null}"#, "invalid type: null, expected a map"),
            (r#"{"program":"a","rows":70000}"#, "invalid value: integer `70000`, expected u16"),
            (r#"{"program":"a","rows":-1}"#, "invalid value: integer `-1`, expected u16"),
            (r#"{"program":"a","cols":1.5}"#, "invalid type: floating point `1.5`, expected u16"),
        ];
        for (text, message) in table {
            assert_eq!(refusal::<Create>(text), message, "{text}");
        }
    }

    #[test]
    fn sizes_of_nothing_are_refused_by_name() {
        let error = create(r#"{"program":"a","rows":0}"#).size().unwrap_err();
        assert_eq!(error.to_string(), "rows must be between 1 and 2000, not 0");
        let resize: Resize = serde_json::from_str(r#"{"session":"s1","rows":1,"cols":0}"#).unwrap();
        assert_eq!(resize.size().unwrap_err().field, "cols");
    }

    #[test]
    fn resize_forgets_pixels_that_are_not_named() {
        let resize: Resize = serde_json::from_str(r#"{"session":"s1","rows":1,"cols":2}"#).unwrap();
        assert_eq!(resize.size().unwrap(), Size::new(1, 2).unwrap());
        assert_eq!(refusal::<Resize>(r#"{"session":"s1","rows":1}"#), "missing field `cols`");
    }

    #[test]
    fn reads_and_names_need_a_session() {
        for message in [
            refusal::<Named>("{}"),
            refusal::<Input>(r#"{"action":{"type":"eof"}}"#),
            refusal::<ReadScreen>("{}"),
            refusal::<ReadTranscript>("{}"),
        ] {
            assert_eq!(message, "missing field `session`");
        }
        let text = r#"{"session":"s1","redact":false,"redaction":5,"cells":false}"#;
        let read: ReadScreen = serde_json::from_str(text).unwrap();
        assert_eq!((read.look.redact, read.look.cells), (Some(false), Some(false)));
        assert!(
            refusal::<ReadTranscript>(r#"{"session":"s1","redact":1}"#)
                .contains("expected a boolean")
        );
    }

    #[test]
    fn results_say_what_was_done() {
        let text = |value: serde_json::Result<String>| value.unwrap();
        assert_eq!(text(serde_json::to_string(&Sent::YES)), r#"{"sent":true}"#);
        assert_eq!(text(serde_json::to_string(&Resized::YES)), r#"{"resized":true}"#);
        assert_eq!(text(serde_json::to_string(&Killed::YES)), r#"{"killed":true}"#);
        assert_eq!(text(serde_json::to_string(&Closed::YES)), r#"{"closed":true}"#);
    }
}
