//! The stream of the Messages API, read frame by frame. Pure.

use std::collections::BTreeMap;

use rookery_host::http::sse::Frame;
use rookery_model::Usage;
use serde_json::{Value, json};

use crate::provider::{ModelEvent, Stop};
use crate::providers::call::{Decoder, Progress, StreamError};
use crate::providers::names::Names;

/// Reported errors that another attempt may not meet.
const TRANSIENT: [&str; 2] = ["overloaded_error", "api_error"];

/// Reads one answer.
pub(super) struct Messages {
    names: Names,
    blocks: BTreeMap<u64, Block>,
    tokens: Tokens,
    stop: Option<String>,
    has_calls: bool,
}

/// A block that is still being written.
enum Block {
    Text,
    Thinking { text: String, signature: String },
    Redacted(Value),
    Call { id: String, name: String, input: Value, json: String },
    Other,
}

/// Counts as they come: a later one replaces an earlier one, nothing replaces neither.
#[derive(Default)]
struct Tokens {
    input: u64,
    output: u64,
    cache_creation: u64,
    cache_read: u64,
}

impl Tokens {
    fn learn(&mut self, usage: &Value) {
        let slots = [
            ("input_tokens", &mut self.input),
            ("output_tokens", &mut self.output),
            ("cache_creation_input_tokens", &mut self.cache_creation),
            ("cache_read_input_tokens", &mut self.cache_read),
        ];
        for (key, slot) in slots {
            if let Some(count) = usage.get(key).and_then(Value::as_u64) {
                *slot = count;
            }
        }
    }

    fn usage(&self) -> Usage {
        Usage {
            prompt: self.input.saturating_add(self.cache_creation).saturating_add(self.cache_read),
            completion: self.output,
            cached: self.cache_read,
            cache_creation: self.cache_creation,
        }
    }
}

impl Messages {
    pub(super) fn new(names: Names) -> Self {
        Self {
            names,
            blocks: BTreeMap::new(),
            tokens: Tokens::default(),
            stop: None,
            has_calls: false,
        }
    }

    fn count(&mut self, usage: Option<&Value>, events: &mut Vec<ModelEvent>) {
        if let Some(usage) = usage.filter(|usage| usage.is_object()) {
            self.tokens.learn(usage);
            events.push(ModelEvent::Usage(self.tokens.usage()));
        }
    }

    fn start(&mut self, event: &Value, events: &mut Vec<ModelEvent>) {
        let given = event.get("content_block").unwrap_or(&Value::Null);
        let block = match text(given, "type") {
            "text" => {
                push_text(text(given, "text"), events);
                Block::Text
            }
            "thinking" => {
                think(text(given, "thinking"), events);
                let (text, signature) =
                    (text(given, "thinking").to_owned(), text(given, "signature").to_owned());
                Block::Thinking { text, signature }
            }
            "redacted_thinking" => Block::Redacted(given.clone()),
            "tool_use" => Block::Call {
                id: text(given, "id").to_owned(),
                name: text(given, "name").to_owned(),
                input: given.get("input").cloned().unwrap_or(Value::Null),
                json: String::new(),
            },
            _ => Block::Other,
        };
        self.blocks.insert(index(event), block);
    }

    fn delta(&mut self, event: &Value, events: &mut Vec<ModelEvent>) {
        let delta = event.get("delta").unwrap_or(&Value::Null);
        match (text(delta, "type"), self.blocks.get_mut(&index(event))) {
            ("text_delta", _) => push_text(text(delta, "text"), events),
            ("thinking_delta", Some(Block::Thinking { text: all, .. })) => {
                all.push_str(text(delta, "thinking"));
                think(text(delta, "thinking"), events);
            }
            ("signature_delta", Some(Block::Thinking { signature, .. })) => {
                signature.push_str(text(delta, "signature"));
            }
            ("input_json_delta", Some(Block::Call { json, .. })) => {
                json.push_str(text(delta, "partial_json"))
            }
            _ => {}
        }
    }

    fn end_block(&mut self, index: u64, events: &mut Vec<ModelEvent>) {
        match self.blocks.remove(&index) {
            Some(Block::Text) => events.push(ModelEvent::TextDone { opaque: None }),
            Some(Block::Thinking { text, signature }) => {
                let block = json!({ "type": "thinking", "thinking": text, "signature": signature });
                events.push(ModelEvent::ReasoningDone { opaque: Some(block) });
            }
            Some(Block::Redacted(block)) => {
                events.push(ModelEvent::ReasoningDone { opaque: Some(block) })
            }
            Some(Block::Call { id, name, input, json }) => {
                self.has_calls = true;
                let arguments = match (json.trim().is_empty(), input) {
                    (false, _) => json,
                    (true, input @ Value::Object(_)) => input.to_string(),
                    (true, _) => "{}".to_owned(),
                };
                events.push(ModelEvent::ToolCall {
                    id,
                    name: self.names.ours(&name),
                    arguments,
                    opaque: None,
                });
            }
            Some(Block::Other) | None => {}
        }
    }

    fn end(&mut self, events: &mut Vec<ModelEvent>) {
        while let Some(index) = self.blocks.keys().next().copied() {
            self.end_block(index, events);
        }
        let stop = match self.stop.as_deref() {
            Some("tool_use") => Stop::ToolUse,
            Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
            Some("refusal") => Stop::Refusal,
            Some("pause_turn") => Stop::Pause,
            None if self.has_calls => Stop::ToolUse,
            Some("end_turn" | "stop_sequence") | None => Stop::Stop,
            Some(other) => Stop::Other(other.to_owned()),
        };
        events.push(ModelEvent::Done { stop });
    }
}

impl Decoder for Messages {
    fn frame(
        &mut self,
        frame: &Frame,
        events: &mut Vec<ModelEvent>,
    ) -> Result<Progress, StreamError> {
        let event: Value = serde_json::from_str(&frame.data)
            .map_err(|error| StreamError::nonsense(&error.to_string()))?;
        let named = frame.event.as_deref().unwrap_or_default();
        let kind = Some(text(&event, "type")).filter(|kind| !kind.is_empty()).unwrap_or(named);
        match kind {
            "message_start" => {
                self.count(event.get("message").and_then(|message| message.get("usage")), events);
            }
            "content_block_start" => self.start(&event, events),
            "content_block_delta" => self.delta(&event, events),
            "content_block_stop" => self.end_block(index(&event), events),
            "message_delta" => {
                let reason = event.get("delta").map_or("", |delta| text(delta, "stop_reason"));
                if !reason.is_empty() {
                    self.stop = Some(reason.to_owned());
                }
                self.count(event.get("usage"), events);
            }
            "message_stop" => {
                self.end(events);
                return Ok(Progress::Over);
            }
            "error" => {
                let error = event.get("error").unwrap_or(&event);
                return Err(StreamError::reported(error, Some(&TRANSIENT)));
            }
            _ => {}
        }
        Ok(Progress::More)
    }
}

fn push_text(words: &str, events: &mut Vec<ModelEvent>) {
    if !words.is_empty() {
        events.push(ModelEvent::Text { text: words.to_owned(), phase: None });
    }
}

fn think(words: &str, events: &mut Vec<ModelEvent>) {
    if !words.is_empty() {
        events.push(ModelEvent::Reasoning { text: words.to_owned(), summary: None });
    }
}

fn index(event: &Value) -> u64 {
    event.get("index").and_then(Value::as_u64).unwrap_or(0)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
