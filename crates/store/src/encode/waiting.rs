//! The JSON twins of what waits in a thread or a turn: messages and names of artifacts. What cannot be
//! read in a list is left out.

use std::borrow::Cow;

use rookery_model as model;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
struct QueuedJson<'a> {
    id: Cow<'a, str>,
    at: i64,
    text: Cow<'a, str>,
    #[serde(default)]
    images: Cow<'a, [String]>,
}

#[derive(Serialize, Deserialize)]
struct SteerJson<'a> {
    #[serde(default)]
    text: Cow<'a, str>,
    #[serde(default)]
    images: Cow<'a, [String]>,
    #[serde(default)]
    context: Cow<'a, [String]>,
}

fn list<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let list: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    list.into_iter().filter_map(|value| serde_json::from_value(value).ok()).collect()
}

/// The stored form of messages that wait in a thread.
pub(crate) fn queued_to_json(messages: &[model::QueuedMessage]) -> String {
    let twin = |model::QueuedMessage { id, at, text, images }: &model::QueuedMessage| QueuedJson {
        id: format!("{id:032x}").into(),
        at: at.as_micros(),
        text: text.clone().into(),
        images: images.clone().into(),
    };
    super::to_json(&messages.iter().map(twin).collect::<Vec<_>>())
}

/// Reads [`queued_to_json`] back.
pub(crate) fn queued_from_json(text: &str) -> Vec<model::QueuedMessage> {
    let message = |twin: QueuedJson<'static>| {
        Some(model::QueuedMessage {
            id: u128::from_str_radix(&twin.id, 16).ok()?,
            at: model::Timestamp::from_micros(twin.at),
            text: twin.text.into_owned(),
            images: twin.images.into_owned(),
        })
    };
    list(text).into_iter().filter_map(message).collect()
}

/// The stored form of what was said to a turn.
pub(crate) fn steers_to_json(steers: &[model::Steer]) -> String {
    let twin = |model::Steer { text, images, context }: &model::Steer| SteerJson {
        text: text.clone().into(),
        images: images.clone().into(),
        context: context.clone().into(),
    };
    super::to_json(&steers.iter().map(twin).collect::<Vec<_>>())
}

/// Reads [`steers_to_json`] back.
pub(crate) fn steers_from_json(text: &str) -> Vec<model::Steer> {
    let steer = |twin: SteerJson<'static>| model::Steer {
        text: twin.text.into_owned(),
        images: twin.images.into_owned(),
        context: twin.context.into_owned(),
    };
    list(text).into_iter().map(steer).collect()
}

/// The stored form of names.
pub(crate) fn texts_to_json(texts: &[String]) -> String {
    super::to_json(&texts)
}

/// Reads [`texts_to_json`] back.
pub(crate) fn texts_from_json(text: &str) -> Vec<String> {
    list(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_left_out() {
        let text = r#"[{"id":"0a","at":5,"text":"one"},{"id":"x","at":5,"text":"two"},7]"#;
        let [message] = &queued_from_json(text)[..] else { panic!("one message") };
        assert_eq!((message.id, message.text.as_str()), (10, "one"));
        let one = std::slice::from_ref(message);
        assert_eq!(queued_from_json(&queued_to_json(one)), one);
        assert_eq!(steers_from_json(r#"[{"text":"hi"},"x"]"#).len(), 1);
        assert_eq!(texts_from_json(r#"["a",1]"#), ["a"]);
        assert!(texts_from_json("{").is_empty());
    }
}
