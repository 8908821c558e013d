//! A conversation as APIs want it: every call with its result, every result with its call, and the
//! pieces of one model call together.

use std::collections::HashSet;

use serde_json::Value;

use crate::provider::{Entry, EntryBody};

/// What a model reads where a result got lost.
pub(crate) const NO_RESULT: &str = "(no tool result was recorded for this call)";

/// How an API spells the names of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallIds {
    /// As they come.
    Verbatim,
    /// Only letters, digits, `_` and `-`.
    Plain,
}

/// One exchange of a conversation.
#[derive(Debug, PartialEq)]
pub(crate) enum Exchange<'a> {
    /// The user spoke.
    User { text: &'a str, images: &'a [String] },
    /// The model did, and its tools answered.
    Model(Step<'a>),
}

/// What came of one model call.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Step<'a> {
    pub(crate) parts: Vec<Part<'a>>,
}

/// A piece of what the model said.
#[derive(Debug, PartialEq)]
pub(crate) enum Part<'a> {
    Text { text: &'a str, opaque: Option<&'a Value> },
    Reasoning { text: &'a str, opaque: Option<&'a Value> },
    Call(Call<'a>),
}

/// A call with what it came to.
#[derive(Debug, PartialEq)]
pub(crate) struct Call<'a> {
    /// The call's name, made unique within the conversation.
    pub(crate) id: String,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) opaque: Option<&'a Value>,
    pub(crate) result: CallResult<'a>,
}

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CallResult<'a> {
    pub(crate) text: &'a str,
    pub(crate) is_error: bool,
    pub(crate) images: &'a [String],
}

const LOST: CallResult<'static> = CallResult { text: NO_RESULT, is_error: true, images: &[] };

impl<'a> Step<'a> {
    /// The step's calls.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call<'a>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }
}

/// The names of all tools that were called.
pub(crate) fn call_names(entries: &[Entry]) -> impl Iterator<Item = &str> {
    entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::ToolCall { name, .. } => Some(name.as_str()),
        _ => None,
    })
}

/// Puts a conversation in order.
pub(crate) fn exchanges(entries: &[Entry], ids: CallIds) -> Vec<Exchange<'_>> {
    let results = results(entries);
    let mut used = HashSet::new();
    let mut all: Vec<(u64, Exchange<'_>)> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let opaque = entry.opaque.as_ref();
        let part = match &entry.body {
            EntryBody::User { text, images } => {
                all.push((entry.step, Exchange::User { text, images }));
                continue;
            }
            EntryBody::ToolResult { .. } => continue,
            EntryBody::Agent { text } => Part::Text { text, opaque },
            EntryBody::Reasoning { text } => Part::Reasoning { text, opaque },
            EntryBody::ToolCall { id, name, arguments } => {
                let result = results[index].unwrap_or(LOST);
                Part::Call(Call { id: unique(id, ids, &mut used), name, arguments, opaque, result })
            }
        };
        match all.last_mut() {
            Some((step, Exchange::Model(last))) if *step == entry.step => last.parts.push(part),
            _ => all.push((entry.step, Exchange::Model(Step { parts: vec![part] }))),
        }
    }
    all.into_iter().map(|(_, exchange)| exchange).collect()
}

/// For each entry that is a call, its result: the first one behind it of the same name that no later
/// call of that name claims.
fn results(entries: &[Entry]) -> Vec<Option<CallResult<'_>>> {
    let mut found: Vec<Option<CallResult<'_>>> = vec![None; entries.len()];
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match &entry.body {
            EntryBody::ToolCall { id, .. } => open.push((index, id)),
            EntryBody::ToolResult { id, text, is_error, images } => {
                if let Some(place) = open.iter().rposition(|(_, name)| name == id) {
                    let (call, _) = open.remove(place);
                    found[call] = Some(CallResult { text, is_error: *is_error, images });
                }
            }
            _ => {}
        }
    }
    found
}

fn unique(id: &str, ids: CallIds, used: &mut HashSet<String>) -> String {
    let plain = |character: char| match character {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' => character,
        _ => '_',
    };
    let mut base = match ids {
        CallIds::Verbatim => id.to_owned(),
        CallIds::Plain => id.chars().map(plain).collect(),
    };
    if base.is_empty() {
        base.push_str("call");
    }
    let mut candidate = base.clone();
    let mut number = 2_usize;
    while !used.insert(candidate.clone()) {
        candidate = format!("{base}_{number}");
        number += 1;
    }
    candidate
}

/// Whether arguments are a whole JSON object, and which.
pub(crate) fn arguments_object(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(map)) => Value::Object(map),
        // What the model wrote was answered with an error; it should see what it wrote.
        _ => serde_json::json!({ "arguments": arguments }),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn user(text: &str) -> Entry {
        Entry {
            step: 0,
            body: EntryBody::User { text: text.into(), images: Vec::new() },
            opaque: None,
        }
    }

    pub(crate) fn agent(step: u64, text: &str) -> Entry {
        Entry { step, body: EntryBody::Agent { text: text.into() }, opaque: None }
    }

    pub(crate) fn thought(step: u64, text: &str, opaque: Option<Value>) -> Entry {
        Entry { step, body: EntryBody::Reasoning { text: text.into() }, opaque }
    }

    pub(crate) fn call(step: u64, id: &str, name: &str, arguments: &str) -> Entry {
        let body =
            EntryBody::ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() };
        Entry { step, body, opaque: None }
    }

    pub(crate) fn result(step: u64, id: &str, text: &str) -> Entry {
        let body = EntryBody::ToolResult {
            id: id.into(),
            text: text.into(),
            is_error: false,
            images: Vec::new(),
        };
        Entry { step, body, opaque: None }
    }

    fn shape(entries: &[Entry]) -> Vec<String> {
        let part = |part: &Part<'_>| match part {
            Part::Text { text, .. } => format!("text {text}"),
            Part::Reasoning { text, .. } => format!("thought {text}"),
            Part::Call(call) => format!("{} -> {}", call.id, call.result.text),
        };
        let exchange = |exchange: &Exchange<'_>| match exchange {
            Exchange::User { text, .. } => format!("user {text}"),
            Exchange::Model(step) => step.parts.iter().map(part).collect::<Vec<_>>().join(" | "),
        };
        exchanges(entries, CallIds::Plain).iter().map(exchange).collect()
    }

    #[test]
    fn pieces_of_one_step_stay_together() {
        let entries = [
            user("go"),
            thought(1, "hm", None),
            agent(1, "look"),
            call(1, "a", "t", "{}"),
            result(1, "a", "A"),
            call(1, "b", "t", "{}"),
            user("steer"),
            result(1, "b", "B"),
            agent(2, "done"),
        ];
        assert_eq!(
            shape(&entries),
            ["user go", "thought hm | text look | a -> A | b -> B", "user steer", "text done"]
        );
    }

    #[test]
    fn orphans_are_dropped_and_gaps_filled() {
        let entries = [
            result(1, "x", "X"),
            call(1, "a", "t", "{}"),
            result(1, "a", "A"),
            result(1, "a", "again"),
            call(2, "b", "t", ""),
        ];
        assert_eq!(shape(&entries), ["a -> A", &format!("b -> {NO_RESULT}")]);
    }

    #[test]
    fn names_that_come_again_are_distinguished() {
        let entries = [
            call(1, "a b", "t", ""),
            result(1, "a b", "1"),
            call(2, "a b", "t", ""),
            result(2, "a b", "2"),
            call(3, "", "t", ""),
        ];
        assert_eq!(shape(&entries), ["a_b -> 1", "a_b_2 -> 2", &format!("call -> {NO_RESULT}")]);
    }

    #[test]
    fn arguments_become_an_object() {
        assert_eq!(arguments_object(" "), serde_json::json!({}));
        assert_eq!(arguments_object(r#"{"a":1}"#), serde_json::json!({"a": 1}));
        assert_eq!(arguments_object(r#"{"a":"#), serde_json::json!({"arguments": "{\"a\":"}));
    }
}
