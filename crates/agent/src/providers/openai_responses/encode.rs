//! A conversation as the Responses API takes it. Pure.

use serde_json::{Map, Value, json};

use crate::provider::{ModelRequest, ToolChoice};
use crate::providers::catalog;
use crate::providers::images::{Image, LEFT_OUT};
use crate::providers::names::Names;
use crate::providers::transcript::{Call, CallIds, Exchange, Part, Step, exchanges};

/// Beginnings of names of models that think, for those that the catalog does not have.
const THINKERS: [&str; 4] = ["gpt-5", "o1", "o3", "o4"];

/// What is sent.
pub(super) fn encode(request: &ModelRequest, names: &Names, max_tokens: Option<u64>) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    body.insert("stream".into(), json!(true));
    body.insert("store".into(), json!(false));
    let instructions: Vec<&str> = request
        .instructions
        .iter()
        .map(String::as_str)
        .filter(|text| !text.trim().is_empty())
        .collect();
    if !instructions.is_empty() {
        body.insert("instructions".into(), json!(instructions.join("\n\n")));
    }
    body.insert("input".into(), Value::Array(input(request, names)));
    let tools = tools(request, names);
    if !tools.is_empty() {
        body.insert("tools".into(), Value::Array(tools));
        body.insert("tool_choice".into(), tool_choice(&request.tool_choice, names));
        body.insert("parallel_tool_calls".into(), json!(request.parallel_tools));
    }
    if is_thinker(request) {
        let mut reasoning = Map::new();
        reasoning
            .extend(request.reasoning.as_ref().map(|effort| ("effort".to_owned(), json!(effort))));
        reasoning.insert("summary".into(), json!("auto"));
        body.insert("reasoning".into(), Value::Object(reasoning));
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    if let Some(limit) = max_tokens {
        body.insert("max_output_tokens".into(), json!(limit));
    }
    if !request.thread.is_empty() {
        body.insert("prompt_cache_key".into(), json!(request.thread));
    }
    Value::Object(body)
}

/// Leaves out what a server does not take about thoughts: summaries, which some accounts may not have,
/// or all of it. Whether there was something to leave out.
pub(super) fn without_refused(body: &mut Value, message: &str) -> bool {
    let message = message.to_lowercase();
    let Some(body) = body.as_object_mut() else { return false };
    if message.contains("summar") {
        let reasoning = body.get_mut("reasoning").and_then(Value::as_object_mut);
        return reasoning.is_some_and(|reasoning| reasoning.remove("summary").is_some());
    }
    let is_unsupported = message.contains("unsupported") || message.contains("not supported");
    if !is_unsupported || !message.contains("reasoning") {
        return false;
    }
    body.remove("include");
    body.remove("reasoning").is_some()
}

/// Whether the model reasons. An unknown one does if an effort is given.
fn is_thinker(request: &ModelRequest) -> bool {
    match catalog::find(&catalog::OPENAI, &request.model) {
        Some(known) => !known.efforts.is_empty(),
        None => {
            THINKERS.iter().any(|beginning| request.model.starts_with(beginning))
                || request.reasoning.as_deref().is_some_and(|effort| effort != "none")
        }
    }
}

fn tools(request: &ModelRequest, names: &Names) -> Vec<Value> {
    let function = |tool: &crate::provider::ToolSpec| {
        json!({
            "type": "function",
            "name": names.wire(&tool.name),
            "description": tool.description,
            "parameters": tool.parameters,
            "strict": false,
        })
    };
    let mut tools: Vec<Value> = request.tools.iter().map(function).collect();
    if request.web_search {
        tools.push(json!({ "type": "web_search" }));
    }
    tools
}

fn tool_choice(choice: &ToolChoice, names: &Names) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({ "type": "function", "name": names.wire(name) }),
    }
}

fn input(request: &ModelRequest, names: &Names) -> Vec<Value> {
    let mut items = Vec::new();
    for exchange in exchanges(&request.entries, CallIds::Verbatim) {
        match exchange {
            Exchange::User { text, images } => {
                let content = content(text, images);
                items.push(json!({ "type": "message", "role": "user", "content": content }));
            }
            Exchange::Model(step) => step_items(&step, names, &mut items),
        }
    }
    items
}

/// The calls of a step first, then their outputs: what thought led to them stays in front of them.
fn step_items(step: &Step<'_>, names: &Names, items: &mut Vec<Value>) {
    let last_said = step.parts.iter().rposition(|part| match part {
        Part::Text { text, .. } => !text.is_empty(),
        Part::Call(_) => true,
        Part::Reasoning { .. } => false,
    });
    for (index, part) in step.parts.iter().enumerate() {
        match part {
            Part::Text { text: "", .. } => {}
            Part::Text { text, opaque } => {
                let content = json!([{ "type": "output_text", "text": text }]);
                let mut item =
                    json!({ "type": "message", "role": "assistant", "content": content });
                if let Some(phase) = opaque.and_then(|opaque| opaque.get("phase")) {
                    item["phase"] = phase.clone();
                }
                items.push(item);
            }
            // A thought that nothing followed is refused.
            Part::Reasoning { opaque: Some(item), .. }
                if Some(index) < last_said && is_replayable(item) =>
            {
                items.push((*item).clone());
            }
            Part::Reasoning { .. } => {}
            Part::Call(call) => items.push(json!({
                "type": "function_call",
                "call_id": call.id,
                "name": names.wire(call.name),
                "arguments": call.arguments,
            })),
        }
    }
    items.extend(step.calls().map(output));
}

/// Whether a thought can be given back: the server keeps none, so it must bring its content along.
fn is_replayable(item: &Value) -> bool {
    let has_secret =
        item.get("encrypted_content").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let has_content =
        item.get("content").and_then(Value::as_array).is_some_and(|parts| !parts.is_empty());
    item.get("type").and_then(Value::as_str) == Some("reasoning") && (has_secret || has_content)
}

fn output(call: &Call<'_>) -> Value {
    let output = if call.result.images.is_empty() {
        json!(call.result.text)
    } else {
        Value::Array(content(call.result.text, call.result.images))
    };
    json!({ "type": "function_call_output", "call_id": call.id, "output": output })
}

fn content(text: &str, images: &[String]) -> Vec<Value> {
    let mut parts = Vec::new();
    if !text.is_empty() || images.is_empty() {
        parts.push(json!({ "type": "input_text", "text": text }));
    }
    for image in images {
        parts.push(match Image::parse(image) {
            Some(image) => json!({ "type": "input_image", "image_url": image.address() }),
            None => json!({ "type": "input_text", "text": LEFT_OUT }),
        });
    }
    parts
}
