//! A conversation as Chat Completions take it. Pure.

use serde_json::{Map, Value, json};

use crate::provider::{ModelRequest, ToolChoice};
use crate::providers::images::{Image, LEFT_OUT};
use crate::providers::names::Names;
use crate::providers::transcript::{CallIds, Exchange, Part, Step, exchanges};

/// The text in front of images that tools returned.
const TOOL_IMAGES: &str = "Images from the tool results above:";

/// Members by which a thought may be given back.
const THOUGHT_MEMBERS: [&str; 2] = ["reasoning_content", "reasoning"];

/// What the limit of an answer is called there.
pub(super) fn limit_name(base_url: &str) -> &'static str {
    if base_url.contains("api.openai.com") { "max_completion_tokens" } else { "max_tokens" }
}

/// What is sent.
pub(super) fn encode(request: &ModelRequest, names: &Names, limit: Option<(&str, u64)>) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    body.insert("messages".into(), Value::Array(messages(request, names)));
    body.insert("stream".into(), json!(true));
    body.insert("stream_options".into(), json!({ "include_usage": true }));
    if !request.tools.is_empty() {
        let tool = |tool: &crate::provider::ToolSpec| {
            let name = names.wire(&tool.name);
            let function = json!({ "name": name, "description": tool.description, "parameters": tool.parameters });
            json!({ "type": "function", "function": function })
        };
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
        body.insert("tool_choice".into(), tool_choice(&request.tool_choice, names));
        body.insert("parallel_tool_calls".into(), json!(request.parallel_tools));
    }
    if let Some((name, limit)) = limit {
        body.insert(name.into(), json!(limit));
    }
    if let Some(effort) = &request.reasoning {
        body.insert("reasoning_effort".into(), json!(effort));
    }
    Value::Object(body)
}

fn tool_choice(choice: &ToolChoice, names: &Names) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => {
            json!({ "type": "function", "function": { "name": names.wire(name) } })
        }
    }
}

fn messages(request: &ModelRequest, names: &Names) -> Vec<Value> {
    let mut messages = Vec::new();
    let instructions: Vec<&str> = request
        .instructions
        .iter()
        .map(String::as_str)
        .filter(|text| !text.trim().is_empty())
        .collect();
    if !instructions.is_empty() {
        messages.push(json!({ "role": "system", "content": instructions.join("\n\n") }));
    }
    let exchanges = exchanges(&request.entries, CallIds::Verbatim);
    let last_user =
        exchanges.iter().rposition(|exchange| matches!(exchange, Exchange::User { .. }));
    for (index, exchange) in exchanges.iter().enumerate() {
        match exchange {
            Exchange::User { text, images } => messages.push(user(text, images)),
            // Thoughts of earlier turns are refused by some and of no use to others.
            Exchange::Model(step) => {
                step_messages(step, names, Some(index) > last_user, &mut messages)
            }
        }
    }
    messages
}

fn user(text: &str, images: &[String]) -> Value {
    if images.is_empty() {
        return json!({ "role": "user", "content": text });
    }
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(json!({ "type": "text", "text": text }));
    }
    for image in images {
        parts.push(match Image::parse(image) {
            Some(image) => json!({ "type": "image_url", "image_url": { "url": image.address() } }),
            None => json!({ "type": "text", "text": LEFT_OUT }),
        });
    }
    json!({ "role": "user", "content": parts })
}

/// One assistant message with every call of the step, and one message for each result.
fn step_messages(step: &Step<'_>, names: &Names, with_thoughts: bool, messages: &mut Vec<Value>) {
    let mut said = String::new();
    let mut thoughts: Vec<(&str, String)> = Vec::new();
    for part in &step.parts {
        match part {
            Part::Text { text, .. } => said.push_str(text),
            Part::Reasoning { text, opaque: Some(opaque) } if with_thoughts => {
                let member = opaque.get("member").and_then(Value::as_str).unwrap_or_default();
                let known = THOUGHT_MEMBERS.iter().find(|known| **known == member);
                thoughts.extend(known.map(|member| (*member, (*text).to_owned())));
            }
            Part::Reasoning { .. } | Part::Call(_) => {}
        }
    }
    let calls: Vec<Value> = step.calls().map(|call| {
        let function = json!({ "name": names.wire(call.name), "arguments": whole_arguments(call.arguments) });
        json!({ "id": call.id, "type": "function", "function": function })
    }).collect();
    if said.is_empty() && calls.is_empty() {
        return;
    }
    let content = if said.is_empty() { Value::Null } else { Value::String(said) };
    let mut message = json!({ "role": "assistant", "content": content });
    if let Some((member, _)) = thoughts.first().filter(|_| !calls.is_empty()) {
        message[*member] =
            thoughts.iter().map(|(_, text)| text.as_str()).collect::<String>().into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    messages.push(message);
    for call in step.calls() {
        messages
            .push(json!({ "role": "tool", "tool_call_id": call.id, "content": call.result.text }));
    }
    let images: Vec<String> =
        step.calls().flat_map(|call| call.result.images.iter().cloned()).collect();
    if !images.is_empty() {
        messages.push(user(TOOL_IMAGES, &images));
    }
}

/// Arguments that a server can parse, as some do before the model sees them.
fn whole_arguments(arguments: &str) -> String {
    if serde_json::from_str::<Map<String, Value>>(arguments).is_ok() {
        return arguments.to_owned();
    }
    crate::providers::transcript::arguments_object(arguments).to_string()
}
