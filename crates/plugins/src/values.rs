//! What goes into a plugin and what comes out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// How many text lines at the end of a screen are its status.
const STATUS_LINES: usize = 3;

/// A screen with at most this many lines has no status.
const ALL_BODY: usize = 6;

/// The input of a classifier.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The text of the whole screen.
    pub screen: &'a str,
    /// The screen without its status; see [`split_screen`].
    pub body_text: &'a str,
    /// The last lines of the screen.
    pub status_text: &'a str,
    /// What the program wrote, as far as it is kept.
    pub transcript: &'a str,
    /// The number of the screen's last change.
    pub sequence: u64,
    /// For how long a screen must not change before a turn counts as completed.
    pub completed_turn_stable_ms: u64,
    /// Labels that were set in the transcript, with the characters written before each.
    pub markers: &'a BTreeMap<String, u64>,
    /// How many characters were ever written.
    pub cursor: u64,
    /// What the last intent said it did.
    pub last_intent: Option<&'a str>,
    /// For how long the screen has not changed, if it was measured.
    pub stable_ms: Option<u64>,
    /// Whether the program has ended.
    pub exited: bool,
    /// The last event that the caller has seen.
    pub last_event_seq: Option<u64>,
    /// The marks that a shell sets around its prompts, oldest first.
    pub blocks: &'a [Block],
}

/// A mark that a shell set with OSC 133.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// What begins at the mark.
    pub kind: BlockKind,
    /// What the command returned; known at its end.
    pub exit_code: Option<i32>,
}

/// What begins at a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    Prompt,
    /// What the user types.
    Input,
    /// What the command prints.
    Output,
    /// Nothing: the command has ended.
    End,
}

impl BlockKind {
    /// The name that plugins see.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Input => "input",
            Self::Output => "output",
            Self::End => "end",
        }
    }
}

/// Splits a screen's text into body and status: the last three lines are the status if there are more than six.
pub fn split_screen(plain_text: &str) -> (&str, &str) {
    let text = plain_text.strip_suffix('\n').unwrap_or(plain_text);
    let breaks = text.bytes().filter(|byte| *byte == b'\n').count();
    if breaks < ALL_BODY {
        return (plain_text, "");
    }
    match text.rmatch_indices('\n').nth(STATUS_LINES - 1) {
        Some((at, _)) => (&text[..at], &text[at + 1..]),
        None => (plain_text, ""),
    }
}

/// What a classifier says: what the program is doing, and how that is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// The name of the state.
    pub state: String,
    /// How sure the plugin is; usually between 0 and 1.
    #[serde(serialize_with = "rounded")]
    pub confidence: f64,
    /// Why, for people.
    pub evidence: String,
    /// The number of the change of the screen that was looked at.
    pub sequence: u64,
    /// What else it could be.
    #[serde(default, deserialize_with = "list")]
    pub candidates: Vec<Candidate>,
    /// What else was read from the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// Labels for the host to set in the transcript.
    #[serde(default, deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub host_marks: Vec<HostMark>,
    /// What happened since the last classification.
    #[serde(default, deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Value>,
}

/// A state that was considered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// The name of the state.
    pub state: String,
    /// How sure the plugin is.
    #[serde(serialize_with = "rounded")]
    pub confidence: f64,
}

/// A label for the current place in the transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostMark {
    /// The label.
    pub label: String,
}

/// What an intent wants done.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Intent {
    /// What to do, in order. What it needs was compared with the manifest.
    #[serde(deserialize_with = "list")]
    pub actions: Vec<Value>,
    /// What to remember: nothing keeps what there is, an empty string forgets it.
    #[serde(default)]
    pub last_intent: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct PredicateInput<'a> {
    /// The text of the whole screen.
    pub screen: &'a str,
    /// What the program wrote.
    pub transcript: &'a str,
    /// The number of the screen's last change.
    pub sequence: u64,
    /// For how long the screen has not changed.
    pub stable_ms: u64,
    /// Whether the program has ended.
    pub process_exited: bool,
    /// Labels in the transcript.
    pub markers: &'a BTreeMap<String, u64>,
    /// How many characters were ever written.
    pub cursor: u64,
    /// What the matcher passes on.
    pub params: &'a Value,
}

/// What a predicate says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Verdict {
    /// Whether it holds.
    pub matched: bool,
    /// Why.
    #[serde(default)]
    pub evidence: Option<String>,
    /// What was found.
    #[serde(default)]
    pub capture: Option<String>,
}

/// What a plugin offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Its intents, each with at least a `name`.
    #[serde(default, deserialize_with = "list")]
    pub intents: Vec<Value>,
    /// Its functions that say what to wait for.
    #[serde(default, deserialize_with = "list")]
    pub wait_matchers: Vec<Value>,
    /// The states it tells apart.
    #[serde(default, deserialize_with = "list")]
    pub states: Vec<Value>,
}

/// Three decimals are enough for a guess.
fn rounded<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    let rounded = (value * 1000.0).round() / 1000.0;
    serializer.serialize_f64(if rounded.is_finite() { rounded } else { *value })
}

/// A list; an empty Lua table looks like an object and is an empty list here.
fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Object(map) if map.is_empty() => Ok(Vec::new()),
        value => serde_json::from_value(value).map_err(D::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_three_of_more_than_six_lines_are_the_status() {
        assert_eq!(split_screen(""), ("", ""));
        assert_eq!(split_screen("1\n2\n3\n4\n5\n6"), ("1\n2\n3\n4\n5\n6", ""));
        assert_eq!(split_screen("1\n2\n3\n4\n5\n6\n7"), ("1\n2\n3\n4", "5\n6\n7"));
        assert_eq!(split_screen("1\n2\n3\n4\n5\n6\n7\n"), ("1\n2\n3\n4", "5\n6\n7"));
        assert_eq!(split_screen("\n\n\n\n\n\n\n"), ("\n\n\n", "\n\n"));
    }

    #[test]
    fn a_state_is_shown_with_three_decimals_and_without_what_it_lacks() {
        let state: State = serde_json::from_value(json!({
            "state": "ready", "confidence": 0.123456, "evidence": "", "sequence": 3,
            "candidates": {}, "host_marks": {}, "events": {},
        }))
        .unwrap();
        let shown = serde_json::to_value(&state).unwrap();
        let expected = json!({"state": "ready", "confidence": 0.123, "evidence": "", "sequence": 3, "candidates": []});
        assert_eq!(shown, expected);
        let huge = State { confidence: f64::MAX, ..state };
        assert_eq!(serde_json::to_value(&huge).unwrap()["confidence"], json!(f64::MAX));
    }
}
