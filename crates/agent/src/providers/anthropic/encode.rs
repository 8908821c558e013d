//! A conversation as the Messages API takes it. Pure.

use serde_json::{Map, Value, json};

use super::thinking;
use crate::provider::{ModelRequest, ToolChoice};
use crate::providers::images::{Image, LEFT_OUT};
use crate::providers::names::Names;
use crate::providers::transcript::{
    Call, CallIds, Exchange, Part, Step, arguments_object, exchanges,
};

/// What the user is made to say where a conversation would begin with the model.
const OPENING: &str = "(the conversation goes on)";

/// Blocks that can be marked for the cache.
const CACHEABLE: [&str; 4] = ["text", "image", "tool_use", "tool_result"];

/// What is sent.
pub(super) fn encode(request: &ModelRequest, names: &Names, max_tokens: Option<u64>) -> Value {
    let mut messages = messages(request, names);
    let bars = thinking::ThinkingConflicts {
        is_forced: matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_)),
        lacks_thought: lacks_thought(&messages),
    };
    mark_last_block(&mut messages);
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    thinking::insert(&mut body, &request.model, request.reasoning.as_deref(), max_tokens, bars);
    body.insert("stream".into(), json!(true));
    let texts = request.instructions.iter().filter(|text| !text.trim().is_empty());
    let mut system: Vec<Value> =
        texts.map(|text| json!({ "type": "text", "text": text })).collect();
    if let Some(last) = system.last_mut() {
        mark(last);
        body.insert("system".into(), Value::Array(system));
    }
    body.insert(
        "messages".into(),
        Value::Array(messages.into_iter().map(Message::into_value).collect()),
    );
    if !request.tools.is_empty() {
        let tool = |tool: &crate::provider::ToolSpec| json!({ "name": names.wire(&tool.name), "description": tool.description, "input_schema": tool.parameters });
        let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
        tools.last_mut().map(mark);
        body.insert("tools".into(), Value::Array(tools));
        body.insert("tool_choice".into(), tool_choice(request, names));
    }
    Value::Object(body)
}

fn tool_choice(request: &ModelRequest, names: &Names) -> Value {
    let mut choice = match &request.tool_choice {
        ToolChoice::Auto => json!({ "type": "auto" }),
        ToolChoice::None => return json!({ "type": "none" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": names.wire(name) }),
    };
    if !request.parallel_tools {
        choice["disable_parallel_tool_use"] = json!(true);
    }
    choice
}

fn mark(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}

fn mark_last_block(messages: &mut [Message]) {
    let is_cacheable = |block: &&mut Value| CACHEABLE.contains(&kind(block));
    if let Some(block) =
        messages.last_mut().and_then(|last| last.blocks.iter_mut().rev().find(is_cacheable))
    {
        mark(block);
    }
}

/// Whether the model is in the middle of using tools and began that without a thought that could be
/// given back.
fn lacks_thought(messages: &[Message]) -> bool {
    let [.., call, answered] = messages else { return false };
    let uses_tools = answered.blocks.iter().any(|block| kind(block) == "tool_result");
    uses_tools && !call.blocks.first().is_some_and(is_thought)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

/// One message: consecutive blocks of one role.
#[derive(Debug)]
struct Message {
    role: Role,
    blocks: Vec<Value>,
}

impl Message {
    fn into_value(self) -> Value {
        let role = match self.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({ "role": role, "content": self.blocks })
    }
}

fn messages(request: &ModelRequest, names: &Names) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for exchange in exchanges(&request.entries, CallIds::Plain) {
        match exchange {
            Exchange::User { text, images } => {
                add(&mut messages, Role::User, content(text, images))
            }
            Exchange::Model(step) => {
                add(&mut messages, Role::Assistant, assistant_blocks(&step, names));
                add(&mut messages, Role::User, step.calls().map(result).collect());
            }
        }
    }
    if messages.first().is_some_and(|first| first.role == Role::Assistant) {
        let blocks = vec![json!({ "type": "text", "text": OPENING })];
        messages.insert(0, Message { role: Role::User, blocks });
    }
    trim_last_text(&mut messages);
    messages
}

fn add(messages: &mut Vec<Message>, role: Role, blocks: Vec<Value>) {
    match messages.last_mut() {
        _ if blocks.is_empty() => {}
        Some(last) if last.role == role => last.blocks.extend(blocks),
        _ => messages.push(Message { role, blocks }),
    }
}

/// The API refuses an answer to go on from that ends in blanks.
fn trim_last_text(messages: &mut [Message]) {
    let Some(last) = messages.last_mut().filter(|last| last.role == Role::Assistant) else {
        return;
    };
    if let Some(Value::String(text)) =
        last.blocks.last_mut().and_then(|block| block.get_mut("text"))
    {
        text.truncate(text.trim_end().len());
    }
}

/// What the model said, in its own order: thoughts stay in front of what they led to.
fn assistant_blocks(step: &Step<'_>, names: &Names) -> Vec<Value> {
    let mut blocks = Vec::new();
    for part in &step.parts {
        match part {
            Part::Text { text, .. } if text.trim().is_empty() => {}
            Part::Text { text, .. } => blocks.push(json!({ "type": "text", "text": text })),
            Part::Reasoning { opaque, .. } => {
                blocks.extend(opaque.filter(|block| is_thought(block)).cloned());
            }
            Part::Call(call) => {
                let (name, input) = (names.wire(call.name), arguments_object(call.arguments));
                blocks.push(
                    json!({ "type": "tool_use", "id": call.id, "name": name, "input": input }),
                );
            }
        }
    }
    // A message of thoughts alone says nothing and is refused.
    if blocks.iter().all(is_thought) { Vec::new() } else { blocks }
}

fn kind(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Whether a block is a thought that the API made and takes back.
fn is_thought(block: &Value) -> bool {
    let has =
        |key: &str| block.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    match kind(block) {
        "thinking" => has("signature"),
        "redacted_thinking" => has("data"),
        _ => false,
    }
}

fn result(call: &Call<'_>) -> Value {
    let result = &call.result;
    let content = if result.images.is_empty() {
        json!(result.text)
    } else {
        Value::Array(content(result.text, result.images))
    };
    json!({ "type": "tool_result", "tool_use_id": call.id, "content": content, "is_error": result.is_error })
}

fn content(text: &str, images: &[String]) -> Vec<Value> {
    let mut blocks: Vec<Value> = images.iter().map(|image| self::image(image)).collect();
    if !text.trim().is_empty() {
        blocks.push(json!({ "type": "text", "text": text }));
    }
    blocks
}

fn image(address: &str) -> Value {
    match Image::parse(address) {
        Some(Image::Data { media_type, base64, .. }) => {
            let source = json!({ "type": "base64", "media_type": media_type, "data": base64 });
            json!({ "type": "image", "source": source })
        }
        Some(Image::Web(url)) => {
            json!({ "type": "image", "source": { "type": "url", "url": url } })
        }
        None => json!({ "type": "text", "text": LEFT_OUT }),
    }
}
