//! The stream of Chat Completions, read chunk by chunk. Pure.

use std::collections::HashSet;

use rookery_host::http::sse::Frame;
use rookery_model::Usage;
use serde_json::{Value, json};

use crate::provider::{ModelEvent, Stop};
use crate::providers::call::{Decoder, Progress, StreamError};
use crate::providers::names::Names;

/// How many calls one answer may have.
const CALL_LIMIT: usize = 1024;

/// Reads one answer.
pub(super) struct Chat {
    names: Names,
    calls: Vec<PartialCall>,
    /// The member that the open thought came in.
    thought: Option<&'static str>,
    has_text: bool,
    is_refused: bool,
    finish: Option<String>,
}

/// A call that is still being written.
#[derive(Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Chat {
    pub(super) fn new(names: Names) -> Self {
        Self {
            names,
            calls: Vec::new(),
            thought: None,
            has_text: false,
            is_refused: false,
            finish: None,
        }
    }

    fn choice(&mut self, choice: &Value, events: &mut Vec<ModelEvent>) -> Result<(), StreamError> {
        let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        for member in ["reasoning_content", "reasoning"] {
            let words = text_of(delta.get(member));
            if !words.is_empty() {
                self.thought = Some(member);
                events.push(ModelEvent::Reasoning { text: words, summary: None });
                // Servers that fill both fill them with the same words.
                break;
            }
        }
        let refusal = text_of(delta.get("refusal"));
        self.is_refused |= !refusal.is_empty();
        for words in [text_of(delta.get("content")), refusal] {
            if !words.is_empty() {
                self.end_thought(events);
                self.has_text = true;
                events.push(ModelEvent::Text { text: words, phase: None });
            }
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.end_thought(events);
            self.call(call)?;
        }
        if let Some(reason) =
            choice.get("finish_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty())
        {
            if self.finish.is_none() {
                self.end_parts(events);
            }
            self.finish = Some(reason.to_owned());
        }
        Ok(())
    }

    fn end_thought(&mut self, events: &mut Vec<ModelEvent>) {
        if let Some(member) = self.thought.take() {
            events.push(ModelEvent::ReasoningDone { opaque: Some(json!({ "member": member })) });
        }
    }

    /// Takes a piece of a call, or all of it.
    fn call(&mut self, piece: &Value) -> Result<(), StreamError> {
        let function = piece.get("function").unwrap_or(&Value::Null);
        let index = piece.get("index").and_then(Value::as_u64);
        let id = piece.get("id").and_then(Value::as_str).unwrap_or_default();
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        let place = match self.place(index, id, name) {
            Some(place) => place,
            None if self.calls.len() >= CALL_LIMIT => {
                return Err(StreamError::nonsense("the response has too many tool calls"));
            }
            None => {
                self.calls.push(PartialCall { index, ..PartialCall::default() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[place];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        match function.get("arguments") {
            Some(Value::String(more)) => call.arguments.push_str(more),
            // Some servers send the arguments as an object, which is then all of them.
            Some(whole @ Value::Object(_)) => call.arguments = whole.to_string(),
            _ => {}
        }
        Ok(())
    }

    /// The call that a piece belongs to; none if it begins a new one.
    fn place(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let is_other = |call: &PartialCall| !id.is_empty() && !call.id.is_empty() && call.id != id;
        if index.is_some() {
            let place = self.calls.iter().rposition(|call| call.index == index)?;
            // Servers that number every call the same still name them apart.
            return if is_other(&self.calls[place]) {
                self.calls.iter().rposition(|call| call.index == index && call.id == id)
            } else {
                Some(place)
            };
        }
        if !id.is_empty() {
            return self.calls.iter().rposition(|call| call.id == id);
        }
        let last = self.calls.last()?;
        let is_whole = serde_json::from_str::<Value>(&last.arguments).is_ok();
        let begins_anew = !name.is_empty() && !last.name.is_empty() && is_whole;
        (!begins_anew).then(|| self.calls.len() - 1)
    }

    /// Ends the thought, the text and the calls.
    fn end_parts(&mut self, events: &mut Vec<ModelEvent>) {
        self.end_thought(events);
        if self.has_text {
            events.push(ModelEvent::TextDone { opaque: None });
        }
        let mut used = HashSet::new();
        for (number, call) in self.calls.iter().enumerate() {
            let base = if call.id.is_empty() { format!("call_{number}") } else { call.id.clone() };
            let mut id = base.clone();
            let mut suffix = 2_usize;
            while !used.insert(id.clone()) {
                id = format!("{base}_{suffix}");
                suffix += 1;
            }
            let arguments = if call.arguments.trim().is_empty() {
                "{}".to_owned()
            } else {
                call.arguments.clone()
            };
            events.push(ModelEvent::ToolCall {
                id,
                name: self.names.ours(&call.name),
                arguments,
                opaque: None,
            });
        }
    }

    fn stop(&self, reason: &str) -> Stop {
        match reason {
            "length" => Stop::Length,
            "content_filter" => Stop::ContentFilter,
            "tool_calls" | "function_call" => Stop::ToolUse,
            // Some servers say `stop` after calls as well.
            _ if !self.calls.is_empty() => Stop::ToolUse,
            "stop" if self.is_refused => Stop::Refusal,
            "stop" => Stop::Stop,
            other => Stop::Other(other.to_owned()),
        }
    }
}

impl Decoder for Chat {
    fn frame(
        &mut self,
        frame: &Frame,
        events: &mut Vec<ModelEvent>,
    ) -> Result<Progress, StreamError> {
        if frame.data.trim() == "[DONE]" {
            return self.close(events).map(|()| Progress::Over);
        }
        let chunk: Value = serde_json::from_str(&frame.data)
            .map_err(|error| StreamError::nonsense(&error.to_string()))?;
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(StreamError::reported(error, None));
        }
        let choices = chunk.get("choices").and_then(Value::as_array).into_iter().flatten();
        for choice in
            choices.filter(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0)
        {
            self.choice(choice, events)?;
        }
        events.extend(chunk.get("usage").and_then(usage).map(ModelEvent::Usage));
        Ok(Progress::More)
    }

    /// A server may leave out its last word once it has said why it stopped.
    fn close(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), StreamError> {
        let reason = self.finish.take().ok_or_else(StreamError::cut_off)?;
        events.push(ModelEvent::Done { stop: self.stop(&reason) });
        Ok(())
    }
}

/// A text, or the texts of a list of parts.
fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
        }
        _ => String::new(),
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |key: &str| value.get(key).and_then(Value::as_u64);
    let cached =
        value.get("prompt_tokens_details").and_then(|details| details.get("cached_tokens"));
    Some(Usage {
        prompt: count("prompt_tokens")?,
        completion: count("completion_tokens").unwrap_or(0),
        cached: cached.and_then(Value::as_u64).unwrap_or(0),
        cache_creation: 0,
    })
}
