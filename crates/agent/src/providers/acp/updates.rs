//! What an agent tells of its work, as events of a model: pure, one translator for each prompt.

use std::collections::HashMap;
use std::fmt::Write as _;

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, EmbeddedResourceResource, Plan, PlanEntryStatus, SessionUpdate,
    ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use rookery_model::ToolKind as OurKind;
use serde_json::{Value, json};

use crate::provider::{HostedTool, ModelEvent};

/// How many tools are remembered in one prompt; more are shown, but their updates are not joined.
const MAX_TOOLS: usize = 4096;

/// How much of what a tool came to is kept.
const MAX_OUTPUT: usize = 256 << 10;

/// Reads the updates of one prompt.
#[derive(Debug, Default)]
pub(super) struct Translator {
    tools: HashMap<String, Known>,
    plans: u64,
    is_text_open: bool,
    message: Option<String>,
}

/// A tool of the agent, as far as it was reported.
#[derive(Debug, Default)]
struct Known {
    tool: HostedTool,
    content: String,
    raw: Option<Value>,
}

impl Translator {
    /// Adds what an update says.
    pub(super) fn update(&mut self, update: SessionUpdate, events: &mut Vec<ModelEvent>) {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.text(&chunk, events),
            SessionUpdate::AgentThoughtChunk(chunk) => {
                let text = words(&chunk.content);
                if !text.is_empty() {
                    self.is_text_open = false;
                    events.push(ModelEvent::Reasoning { text, summary: None });
                }
            }
            SessionUpdate::ToolCall(call) => self.tool(whole(call), events),
            SessionUpdate::ToolCallUpdate(update) => self.tool(update, events),
            SessionUpdate::Plan(plan) => self.plan(&plan, events),
            // The rest is about the agent's own commands, modes and sessions.
            _ => {}
        }
    }

    /// The tool that an agent asks permission for.
    pub(super) fn asked(&mut self, call: ToolCallUpdate) -> HostedTool {
        self.interrupt();
        let id = call.tool_call_id.to_string();
        let known = self.known(&id);
        known.take(call.fields);
        HostedTool { is_done: false, is_error: false, output: None, ..known.tool.clone() }
    }

    /// The event that carries what we want back with the last thing the agent said.
    pub(super) fn seal(&self, opaque: Value) -> ModelEvent {
        match self.is_text_open {
            true => ModelEvent::TextDone { opaque: Some(opaque) },
            false => ModelEvent::ReasoningDone { opaque: Some(opaque) },
        }
    }

    fn text(&mut self, chunk: &ContentChunk, events: &mut Vec<ModelEvent>) {
        let text = words(&chunk.content);
        if text.is_empty() {
            return;
        }
        let message = chunk.message_id.as_ref().map(ToString::to_string);
        if self.is_text_open && message != self.message {
            events.push(ModelEvent::TextDone { opaque: None });
        }
        self.message = message;
        self.is_text_open = true;
        events.push(ModelEvent::Text { text, phase: None });
    }

    fn tool(&mut self, update: ToolCallUpdate, events: &mut Vec<ModelEvent>) {
        let id = update.tool_call_id.to_string();
        let known = self.known(&id);
        if known.tool.is_done {
            return;
        }
        known.take(update.fields);
        let tool = known.tool.clone();
        self.interrupt();
        events.push(ModelEvent::HostedTool(tool));
    }

    fn known(&mut self, id: &str) -> &mut Known {
        if self.tools.len() >= MAX_TOOLS && !self.tools.contains_key(id) {
            self.tools.retain(|_, known| !known.tool.is_done);
            if self.tools.len() >= MAX_TOOLS {
                self.tools.clear();
            }
        }
        self.tools.entry(id.to_owned()).or_insert_with(|| {
            let (id, name) = (id.to_owned(), "tool".to_owned());
            Known { tool: HostedTool { id, name, ..HostedTool::default() }, ..Known::default() }
        })
    }

    /// A plan is sent whole each time, so each update is a separate call.
    fn plan(&mut self, plan: &Plan, events: &mut Vec<ModelEvent>) {
        self.interrupt();
        self.plans += 1;
        let mut output = String::new();
        for entry in &plan.entries {
            let mark = match entry.status {
                PlanEntryStatus::Completed => "x",
                PlanEntryStatus::InProgress => ">",
                _ => " ",
            };
            let _ = writeln!(output, "[{mark}] {}", entry.content);
        }
        events.push(ModelEvent::HostedTool(HostedTool {
            id: format!("plan-{}", self.plans),
            name: "plan".to_owned(),
            input: json!({ "entries": serde_json::to_value(&plan.entries).unwrap_or_default() }),
            output: Some(cut(output.trim_end().to_owned())),
            is_done: true,
            is_error: false,
            kind: Some(OurKind::Internal),
        }));
    }

    /// Something else than text came: the text is over.
    fn interrupt(&mut self) {
        self.is_text_open = false;
    }
}

impl Known {
    /// Takes what an update says; what it does not say stays.
    fn take(&mut self, fields: ToolCallUpdateFields) {
        let tool = &mut self.tool;
        // A title changes as the work goes on; a name does not.
        if let Some(name) = fields.name.or(fields.title).filter(|name| !name.trim().is_empty()) {
            tool.name = name.trim().to_owned();
        }
        if let Some(kind) = fields.kind {
            tool.kind = Some(our_kind(kind));
        }
        if let Some(input) = fields.raw_input.filter(|input| !input.is_null()) {
            tool.input = input;
        } else if tool.input.is_null()
            && let Some(places) = fields.locations.filter(|places| !places.is_empty())
        {
            let paths: Vec<_> = places.iter().map(|place| place.path.to_string_lossy()).collect();
            tool.input = json!({ "paths": paths });
        }
        if let Some(content) = fields.content {
            self.content = content_text(&content);
        }
        self.raw = fields.raw_output.filter(|raw| !raw.is_null()).or(self.raw.take());
        tool.is_error = fields.status == Some(ToolCallStatus::Failed);
        tool.is_done = tool.is_error || fields.status == Some(ToolCallStatus::Completed);
        if tool.is_done {
            let raw = || match &self.raw {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            let output = if self.content.is_empty() { raw() } else { self.content.clone() };
            tool.output = Some(cut(output));
        }
    }
}

/// A first telling as an update of nothing.
fn whole(call: ToolCall) -> ToolCallUpdate {
    let mut fields = ToolCallUpdateFields::default();
    fields.kind = Some(call.kind);
    fields.status = Some(call.status);
    fields.title = Some(call.title);
    fields.name = call.name;
    fields.content = Some(call.content);
    fields.locations = Some(call.locations);
    fields.raw_input = call.raw_input;
    fields.raw_output = call.raw_output;
    ToolCallUpdate::new(call.tool_call_id, fields)
}

fn our_kind(kind: ToolKind) -> OurKind {
    match kind {
        ToolKind::Read | ToolKind::Search => OurKind::Read,
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move => OurKind::Write,
        ToolKind::Execute => OurKind::Exec,
        ToolKind::Think => OurKind::Internal,
        ToolKind::Fetch => OurKind::Network,
        _ => OurKind::Unknown,
    }
}

/// What a tool produced, in words.
fn content_text(content: &[ToolCallContent]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for piece in content {
        match piece {
            ToolCallContent::Content(content) => parts.push(words(&content.content)),
            ToolCallContent::Diff(diff) => {
                let old = diff.old_text.as_deref().unwrap_or_default();
                parts.push(changes(&diff.path.to_string_lossy(), old, &diff.new_text));
            }
            // We offer no terminals, so there is none to look into.
            _ => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// A change of a file as a unified diff; of a long one only how long it is.
fn changes(path: &str, old: &str, new: &str) -> String {
    if old.len() + new.len() > MAX_OUTPUT {
        return format!("{path}: {} lines, now {}", old.lines().count(), new.lines().count());
    }
    similar::TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(path, path)
        .to_string()
}

/// A piece of content in words.
fn words(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            EmbeddedResourceResource::TextResourceContents(text) => text.text.clone(),
            EmbeddedResourceResource::BlobResourceContents(blob) => format!("[{}]", blob.uri),
            _ => String::new(),
        },
        ContentBlock::Image(image) => format!("[image, {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[audio, {}]", audio.mime_type),
        _ => String::new(),
    }
}

/// A text within its bound.
fn cut(mut text: String) -> String {
    if text.len() > MAX_OUTPUT {
        text.truncate(text.floor_char_boundary(MAX_OUTPUT));
        text.push_str("\n[cut]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(updates: &[Value]) -> (Translator, Vec<ModelEvent>) {
        let (mut translator, mut events) = (Translator::default(), Vec::new());
        for update in updates {
            let update = serde_json::from_value(update.clone()).unwrap();
            translator.update(update, &mut events);
        }
        (translator, events)
    }

    fn chunk(kind: &str, text: &str) -> Value {
        json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } })
    }

    #[test]
    fn texts_and_thoughts_are_distinguished() {
        let mut other = chunk("agent_message_chunk", "c");
        other["messageId"] = json!("2");
        let (translator, events) = translated(&[
            chunk("agent_thought_chunk", "hm"),
            chunk("agent_message_chunk", "a"),
            chunk("agent_message_chunk", "b"),
            other,
            chunk("user_message_chunk", "mine"),
        ]);
        let text = |text: &str| ModelEvent::Text { text: text.into(), phase: None };
        assert_eq!(
            events,
            [
                ModelEvent::Reasoning { text: "hm".into(), summary: None },
                text("a"),
                text("b"),
                ModelEvent::TextDone { opaque: None },
                text("c"),
            ]
        );
        assert_eq!(translator.seal(json!(1)), ModelEvent::TextDone { opaque: Some(json!(1)) });
        let (thinking, _) = translated(&[chunk("agent_thought_chunk", "hm")]);
        assert_eq!(thinking.seal(json!(1)), ModelEvent::ReasoningDone { opaque: Some(json!(1)) });
    }

    #[test]
    fn a_tool_is_joined_from_its_updates_and_told_once_done() {
        let (_, events) = translated(&[
            json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Run ls", "kind": "execute",
                "status": "pending", "rawInput": { "command": "ls" } }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress",
                "content": [{ "type": "content", "content": { "type": "text", "text": "a\nb" } }] }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed" }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "failed" }),
        ]);
        let begun = HostedTool {
            id: "t".into(),
            name: "Run ls".into(),
            input: json!({ "command": "ls" }),
            kind: Some(OurKind::Exec),
            ..HostedTool::default()
        };
        let done = HostedTool { output: Some("a\nb".into()), is_done: true, ..begun.clone() };
        let told = [begun.clone(), begun, done].map(ModelEvent::HostedTool);
        assert_eq!(events, told);
    }

    #[test]
    fn failures_diffs_and_raw_outputs_are_reported() {
        let (_, events) = translated(&[
            json!({ "sessionUpdate": "tool_call", "toolCallId": "e", "title": "Edit", "kind": "edit",
                "status": "failed", "locations": [{ "path": "/w/a.rs" }],
                "content": [{ "type": "diff", "path": "/w/a.rs", "oldText": "one\n", "newText": "two\n" }] }),
            json!({ "sessionUpdate": "tool_call", "toolCallId": "f", "title": "Fetch", "kind": "fetch",
                "status": "completed", "rawOutput": { "status": 200 } }),
        ]);
        let [ModelEvent::HostedTool(edit), ModelEvent::HostedTool(fetch)] = events.as_slice()
        else {
            panic!("{events:?}");
        };
        assert!(edit.is_error && edit.is_done);
        assert_eq!(edit.input, json!({ "paths": ["/w/a.rs"] }));
        assert!(edit.output.as_ref().unwrap().contains("-one\n+two\n"), "{edit:?}");
        assert_eq!(edit.kind, Some(OurKind::Write));
        assert_eq!(fetch.output.as_deref(), Some("{\"status\":200}"));
        assert_eq!(fetch.kind, Some(OurKind::Network));
    }

    #[test]
    fn a_plan_is_a_tool_of_its_own_each_time() {
        let plan = json!({ "sessionUpdate": "plan", "entries": [
            { "content": "look", "priority": "high", "status": "completed" },
            { "content": "do", "priority": "low", "status": "in_progress" },
            { "content": "rest", "priority": "low", "status": "pending" },
        ] });
        let (_, events) = translated(&[plan.clone(), plan]);
        let ids: Vec<_> = events
            .iter()
            .map(|event| match event {
                ModelEvent::HostedTool(tool) => (tool.id.as_str(), tool.output.as_deref()),
                other => panic!("{other:?}"),
            })
            .collect();
        let shown = Some("[x] look\n[>] do\n[ ] rest");
        assert_eq!(ids, [("plan-1", shown), ("plan-2", shown)]);
    }

    #[test]
    fn a_question_knows_what_was_told_of_its_tool() {
        let (mut translator, _) = translated(&[json!({ "sessionUpdate": "tool_call",
            "toolCallId": "t", "title": "Remove", "kind": "delete", "rawInput": { "path": "/x" } })]);
        let call = json!({ "toolCallId": "t", "title": "Remove /x" });
        let asked = translator.asked(serde_json::from_value(call).unwrap());
        assert_eq!((asked.name.as_str(), asked.kind), ("Remove /x", Some(OurKind::Write)));
        assert_eq!(asked.input, json!({ "path": "/x" }));
    }
}
