//! The stream of the Responses API, read frame by frame. Pure.

use std::collections::{BTreeMap, HashMap, HashSet};

use rookery_host::http::sse::Frame;
use rookery_model::{ToolKind, Usage};
use serde_json::{Value, json};

use crate::provider::{HostedTool, ModelEvent, Stop};
use crate::providers::call::{Decoder, Progress, StreamError};
use crate::providers::names::Names;

/// Reads one answer.
pub(super) struct Responses {
    names: Names,
    /// Items by their place in the answer.
    items: BTreeMap<u64, Item>,
    places: HashMap<String, u64>,
    called: HashSet<String>,
    is_refused: bool,
}

/// What is known of an item so far.
#[derive(Debug, Default)]
struct Item {
    kind: String,
    id: String,
    call_id: String,
    name: String,
    phase: Option<String>,
    arguments: String,
    /// Which parts of it were streamed.
    emitted: HashSet<(&'static str, u64)>,
    is_done: bool,
}

impl Responses {
    pub(super) fn new(names: Names) -> Self {
        Self {
            names,
            items: BTreeMap::new(),
            places: HashMap::new(),
            called: HashSet::new(),
            is_refused: false,
        }
    }

    /// The item that an event is about. Its place counts most: some servers change ids midway.
    fn item(&mut self, event: &Value) -> &mut Item {
        let id = text(event, "item_id").or_else(|| text(event.get("item")?, "id"));
        let by_id = id.and_then(|id| self.places.get(id).copied());
        let newest = self.items.keys().next_back().copied();
        let place = number(event, "output_index").or(by_id).unwrap_or_else(|| match id {
            Some(_) => newest.map_or(0, |last| last.saturating_add(1)),
            None => newest.unwrap_or(0),
        });
        if let Some(id) = id {
            self.places.insert(id.to_owned(), place);
        }
        self.items.entry(place).or_default()
    }

    fn added(&mut self, event: &Value, events: &mut Vec<ModelEvent>) {
        let Some(given) = event.get("item") else { return };
        let item = self.item(event);
        item.learn(given);
        if item.kind == "web_search_call" {
            events.push(hosted(&item.id, given, item.is_done));
        }
    }

    /// The whole item, which counts more than what was streamed.
    fn done(&mut self, event: &Value, events: &mut Vec<ModelEvent>) {
        let Some(given) = event.get("item") else { return };
        let item = self.item(event);
        if std::mem::replace(&mut item.is_done, true) {
            return;
        }
        item.learn(given);
        match item.kind.as_str() {
            "message" => self.is_refused |= item.end_message(given, events),
            "reasoning" => item.end_reasoning(given, events),
            "web_search_call" => events.push(hosted(&item.id, given, true)),
            "function_call" => {
                let (call_id, name) = (item.call_id.clone(), item.name.clone());
                let arguments = std::mem::take(&mut item.arguments);
                self.call(call_id, &name, arguments, events);
            }
            _ => {}
        }
    }

    fn call(&mut self, id: String, name: &str, arguments: String, events: &mut Vec<ModelEvent>) {
        if !self.called.insert(id.clone()) {
            return;
        }
        let arguments = if arguments.trim().is_empty() { "{}".to_owned() } else { arguments };
        let name = self.names.ours(name);
        events.push(ModelEvent::ToolCall { id, name, arguments, opaque: None });
    }

    /// The end: what only the whole answer has, the tokens, and why it stopped.
    fn end(
        &mut self,
        event: &Value,
        events: &mut Vec<ModelEvent>,
    ) -> Result<Progress, StreamError> {
        let response = event.get("response").unwrap_or(&Value::Null);
        if text(response, "status") == Some("failed") {
            return Err(reported(response.get("error").unwrap_or(event)));
        }
        let output =
            response.get("output").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (place, given) in output.iter().enumerate() {
            // The place is the one that the item had in the stream, if it was in the stream at all.
            let known = text(given, "id").and_then(|id| self.places.get(id).copied());
            let place = known.unwrap_or(u64::try_from(place).unwrap_or(u64::MAX));
            self.done(&json!({ "output_index": place, "item": given }), events);
        }
        self.end_open_calls(events);
        if let Some(usage) = response.get("usage").and_then(usage) {
            events.push(ModelEvent::Usage(usage));
        }
        let stop = self.stop(event, response);
        events.push(ModelEvent::Done { stop });
        Ok(Progress::Over)
    }

    /// Calls whose end was never sent by itself.
    fn end_open_calls(&mut self, events: &mut Vec<ModelEvent>) {
        let is_open = |item: &&mut Item| item.kind == "function_call" && !item.is_done;
        let mut open = Vec::new();
        for item in self.items.values_mut().filter(is_open) {
            item.is_done = true;
            open.push((
                item.call_id.clone(),
                item.name.clone(),
                std::mem::take(&mut item.arguments),
            ));
        }
        for (id, name, arguments) in open {
            self.call(id, &name, arguments, events);
        }
    }

    fn stop(&self, event: &Value, response: &Value) -> Stop {
        let is_incomplete = text(event, "type") == Some("response.incomplete")
            || text(response, "status") == Some("incomplete");
        if is_incomplete {
            let details = response.get("incomplete_details").unwrap_or(&Value::Null);
            return match text(details, "reason") {
                Some("max_output_tokens") | None => Stop::Length,
                Some("content_filter") => Stop::ContentFilter,
                Some(other) => Stop::Other(other.to_owned()),
            };
        }
        match (self.called.is_empty(), self.is_refused) {
            (false, _) => Stop::ToolUse,
            (true, true) => Stop::Refusal,
            (true, false) => Stop::Stop,
        }
    }

    fn search_progress(&mut self, kind: &str, event: &Value, events: &mut Vec<ModelEvent>) {
        let item = self.item(event);
        if item.kind.is_empty() {
            item.learn(&json!({ "type": "web_search_call", "id": text(event, "item_id") }));
            let id = item.id.clone();
            events.push(hosted(&id, &Value::Null, kind.ends_with(".completed")));
        }
    }
}

impl Decoder for Responses {
    fn frame(
        &mut self,
        frame: &Frame,
        events: &mut Vec<ModelEvent>,
    ) -> Result<Progress, StreamError> {
        if frame.data.trim() == "[DONE]" {
            return Ok(Progress::More);
        }
        let event: Value = serde_json::from_str(&frame.data)
            .map_err(|error| StreamError::nonsense(&error.to_string()))?;
        let kind = text(&event, "type").or(frame.event.as_deref()).unwrap_or_default();
        match kind {
            "response.output_item.added" => self.added(&event, events),
            "response.output_item.done" => self.done(&event, events),
            "response.output_text.delta" => {
                self.item(&event).emit_delta(&event, "delta", TEXT, events)
            }
            "response.output_text.done" => self.item(&event).emit_whole(&event, TEXT, events),
            "response.refusal.delta" => {
                self.is_refused = true;
                self.item(&event).emit_delta(&event, "delta", TEXT, events);
            }
            "response.reasoning_summary_text.delta" => {
                self.item(&event).emit_delta(&event, "delta", SUMMARY, events)
            }
            "response.reasoning_summary_text.done" => {
                self.item(&event).emit_whole(&event, SUMMARY, events)
            }
            "response.reasoning_text.delta" => {
                self.item(&event).emit_delta(&event, "delta", THOUGHT, events)
            }
            "response.reasoning_text.done" => self.item(&event).emit_whole(&event, THOUGHT, events),
            "response.function_call_arguments.delta" => {
                let delta = text(&event, "delta").unwrap_or_default();
                self.item(&event).arguments.push_str(delta);
            }
            "response.function_call_arguments.done" => {
                if let Some(arguments) = text(&event, "arguments") {
                    self.item(&event).arguments = arguments.to_owned();
                }
            }
            "response.completed" | "response.incomplete" => return self.end(&event, events),
            "response.failed" | "response.cancelled" => {
                let error = event.get("response").and_then(|response| response.get("error"));
                return Err(reported(error.unwrap_or(&Value::Null)));
            }
            "error" => return Err(reported(event.get("error").unwrap_or(&event))),
            other if other.starts_with("response.web_search_call.") => {
                self.search_progress(other, &event, events);
            }
            _ => {}
        }
        Ok(Progress::More)
    }
}

/// How a text becomes events: its kind, and the member by which its parts are counted.
#[derive(Clone, Copy)]
struct PartKind {
    part: &'static str,
    index: &'static str,
}

const TEXT: PartKind = PartKind { part: "text", index: "content_index" };
const SUMMARY: PartKind = PartKind { part: "summary", index: "summary_index" };
const THOUGHT: PartKind = PartKind { part: "thought", index: "content_index" };

impl Item {
    fn learn(&mut self, given: &Value) {
        let keep = |slot: &mut String, key: &str| {
            if let Some(value) = text(given, key).filter(|value| !value.is_empty()) {
                value.clone_into(slot);
            }
        };
        keep(&mut self.kind, "type");
        keep(&mut self.id, "id");
        keep(&mut self.call_id, "call_id");
        keep(&mut self.name, "name");
        keep(&mut self.arguments, "arguments");
        self.phase = text(given, "phase").map(str::to_owned).or(self.phase.take());
        if self.call_id.is_empty() {
            self.call_id.clone_from(&self.id);
        }
    }

    fn emit_delta(
        &mut self,
        event: &Value,
        member: &str,
        part_kind: PartKind,
        events: &mut Vec<ModelEvent>,
    ) {
        let index = number(event, part_kind.index).unwrap_or(0);
        let words = text(event, member).unwrap_or_default();
        self.emit(words, index, part_kind, events);
    }

    /// The whole text of a part, which says something new only if no piece of it came before.
    fn emit_whole(&mut self, event: &Value, part_kind: PartKind, events: &mut Vec<ModelEvent>) {
        let index = number(event, part_kind.index).unwrap_or(0);
        if !self.emitted.contains(&(part_kind.part, index)) {
            self.emit_delta(event, "text", part_kind, events);
        }
    }

    fn emit(&mut self, words: &str, index: u64, part_kind: PartKind, events: &mut Vec<ModelEvent>) {
        if words.is_empty() {
            return;
        }
        self.emitted.insert((part_kind.part, index));
        let text = words.to_owned();
        events.push(match part_kind.part {
            "text" => ModelEvent::Text { text, phase: self.phase.clone() },
            "summary" => ModelEvent::Reasoning {
                text,
                summary: Some(u32::try_from(index).unwrap_or(u32::MAX)),
            },
            _ => ModelEvent::Reasoning { text, summary: None },
        });
    }

    /// Says what is left of a list of parts.
    fn emit_rest(
        &mut self,
        given: &Value,
        list: &str,
        key: &str,
        part_kind: PartKind,
        events: &mut Vec<ModelEvent>,
    ) {
        for (index, part) in
            given.get(list).and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            let index = u64::try_from(index).unwrap_or(u64::MAX);
            if !self.emitted.contains(&(part_kind.part, index)) {
                self.emit(text(part, key).unwrap_or_default(), index, part_kind, events);
            }
        }
    }

    /// Ends a message and says whether it was a refusal.
    fn end_message(&mut self, given: &Value, events: &mut Vec<ModelEvent>) -> bool {
        self.emit_rest(given, "content", "text", TEXT, events);
        self.emit_rest(given, "content", "refusal", TEXT, events);
        let opaque = self.phase.as_ref().map(|phase| json!({ "phase": phase }));
        events.push(ModelEvent::TextDone { opaque });
        let parts = given.get("content").and_then(Value::as_array);
        parts.into_iter().flatten().any(|part| text(part, "type") == Some("refusal"))
    }

    fn end_reasoning(&mut self, given: &Value, events: &mut Vec<ModelEvent>) {
        self.emit_rest(given, "summary", "text", SUMMARY, events);
        self.emit_rest(given, "content", "text", THOUGHT, events);
        events.push(ModelEvent::ReasoningDone { opaque: Some(given.clone()) });
    }
}

fn hosted(id: &str, given: &Value, is_done: bool) -> ModelEvent {
    ModelEvent::HostedTool(HostedTool {
        id: id.to_owned(),
        name: "web_search".to_owned(),
        input: given.get("action").cloned().unwrap_or_else(|| json!({})),
        output: None,
        is_done,
        is_error: text(given, "status") == Some("failed"),
        kind: Some(ToolKind::Network),
    })
}

fn reported(error: &Value) -> StreamError {
    StreamError::reported(error, None)
}

fn usage(value: &Value) -> Option<Usage> {
    let details = value.get("input_tokens_details").unwrap_or(&Value::Null);
    Some(Usage {
        prompt: number(value, "input_tokens")?,
        completion: number(value, "output_tokens").unwrap_or(0),
        cached: number(details, "cached_tokens").unwrap_or(0),
        cache_creation: 0,
    })
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

fn number(value: &Value, key: &str) -> Option<u64> {
    value.get(key)?.as_u64()
}
