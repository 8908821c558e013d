//! Threads and their items as lines of text.

use rookery_native::wire::{
    Item, ItemBody, ItemStatus, ModelChoice, Thread, ThreadStatus, ThreadWait, ToolApproval,
    ToolCall, Turn, TurnItem, TurnStatus,
};
use rookery_view::safe;
use serde_json::Value;

use super::age;
use crate::output::{Colors, Tone, shorten};

/// Letters of a thread's id that tell it from others.
const SHORT_ID: usize = 8;
/// Columns of the reason why a tool failed.
const REASON_WIDTH: usize = 120;
/// Columns of a tool's input.
const INPUT_WIDTH: usize = 72;

/// The end of a thread's id; the beginning is the time and the same for many.
pub(crate) fn short_id(id: &str) -> &str {
    let start = id.char_indices().rev().nth(SHORT_ID - 1).map_or(0, |(at, _)| at);
    &id[start..]
}

/// The name of a thread, or what was first said in it.
pub(crate) fn title(thread: &Thread) -> String {
    safe::line(thread.name.as_deref().unwrap_or(&thread.preview))
}

/// Whether a thread is at work, and what it waits for.
pub(crate) fn status(status: &ThreadStatus) -> (Tone, String) {
    if status.waits.is_empty() {
        return match status.turn {
            None => (Tone::Faint, "idle".to_owned()),
            Some(_) => (Tone::Good, "running".to_owned()),
        };
    }
    let words: Vec<&str> = status.waits.iter().map(|wait| waits_for(*wait)).collect();
    (Tone::Warning, words.join(", "))
}

fn waits_for(wait: ThreadWait) -> &'static str {
    match wait {
        ThreadWait::Approval => "approval",
        ThreadWait::Answer => "question",
        ThreadWait::Plan => "plan",
        ThreadWait::Tool => "client's tool",
        ThreadWait::Stop => "interrupting",
    }
}

/// Who answers, and with which model.
pub(crate) fn model(choice: &ModelChoice) -> String {
    safe::line(&format!("{}/{}", choice.provider, choice.model))
}

/// The arguments of a tool in a few words: `name=value`, or the value alone if there is one only.
pub(crate) fn input(value: &Value) -> String {
    let word = |value: &Value| match value {
        Value::String(text) => safe::line(text),
        other => safe::line(&other.to_string()),
    };
    let text = match value {
        Value::Object(members) if members.len() == 1 => members.values().map(word).collect(),
        Value::Object(members) => {
            let words = members.iter().map(|(name, value)| format!("{name}={}", word(value)));
            safe::line(&words.collect::<Vec<_>>().join(" "))
        }
        other => word(other),
    };
    shorten(&text, INPUT_WIDTH)
}

/// A tool at work, or what came of it, in one line.
pub(crate) fn tool(tool: &ToolCall, status: ItemStatus) -> String {
    let mut line = safe::line(&tool.name);
    let given = input(&tool.input);
    if !given.is_empty() {
        line = format!("{line} {given}");
    }
    let state = match (status, tool.approval) {
        (ItemStatus::InProgress, Some(ToolApproval::Requested)) => "waits",
        (ItemStatus::InProgress, _) => "…",
        (_, Some(ToolApproval::Denied)) => "denied",
        (ItemStatus::Completed, _) => "ok",
        (ItemStatus::Failed, _) => "failed",
    };
    line = format!("{line} · {state}");
    if let Some(code) = tool.exit_code.filter(|code| *code != 0) {
        line = format!("{line} · exit {code}");
    }
    if let Some(millis) = tool.duration_ms {
        line = format!("{line} · {}", age::took(millis));
    }
    match why(tool, status) {
        Some(why) => format!("{line} · {why}"),
        None => line,
    }
}

/// Why a tool failed, in one line. What a command printed last says most; what a tool says, it says
/// first.
fn why(tool: &ToolCall, status: ItemStatus) -> Option<String> {
    let failed = status == ItemStatus::Failed || tool.exit_code.is_some_and(|code| code != 0);
    let said = tool.error.as_deref().or(tool.output.as_deref()).filter(|_| failed)?;
    let mut lines = said.lines().map(safe::line).filter(|line| !line.is_empty());
    let line = if tool.exit_code.is_some() { lines.next_back() } else { lines.next() };
    line.map(|line| shorten(&line, REASON_WIDTH))
}

/// A conversation with all that was said and done in it, in order.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) thread: Thread,
    pub(crate) turns: Vec<Turn>,
    pub(crate) items: Vec<TurnItem>,
}

/// A whole conversation.
pub(crate) fn conversation(whole: &Conversation, with_thoughts: bool, colors: Colors) -> String {
    let thread = &whole.thread;
    let (tone, state) = status(&thread.status);
    let mut out = format!("{}\n", colors.paint(Tone::Strong, &title(thread)));
    let (id, model) = (safe::line(&thread.id), model(&thread.choice));
    let about = format!("{id} · {model} · {} · ", safe::line(&thread.cwd));
    out += &format!("{}{}\n", colors.paint(Tone::Faint, &about), colors.paint(tone, &state));
    for turn in &whole.turns {
        let said = whole.items.iter().filter(|one| one.turn == turn.id);
        said.for_each(|one| push_item(&mut out, &one.item, with_thoughts, colors));
        push_end(&mut out, turn, colors);
    }
    out
}

fn push_end(out: &mut String, turn: &Turn, colors: Colors) {
    let error = turn.error.as_deref().map(safe::line);
    match (turn.status, error) {
        (TurnStatus::Failed, error) => {
            let text = format!("failed: {}", error.as_deref().unwrap_or("no reason was given"));
            push_block(out, &colors.paint(Tone::Bad, &text));
        }
        (TurnStatus::Interrupted, _) => {
            push_block(out, &colors.paint(Tone::Warning, "interrupted"))
        }
        (TurnStatus::InProgress, _) => push_block(out, &colors.paint(Tone::Faint, "…")),
        (TurnStatus::Completed, _) => {}
    }
}

fn push_item(out: &mut String, item: &Item, with_thoughts: bool, colors: Colors) {
    match &item.body {
        ItemBody::User { text, images } => {
            let mut lines: Vec<String> = safe::text(text).lines().map(str::to_owned).collect();
            lines.extend(images.iter().map(|_| "[image]".to_owned()));
            let quoted = lines.iter().map(|line| colors.paint(Tone::Strong, &format!("> {line}")));
            push_block(out, &quoted.collect::<Vec<_>>().join("\n"));
        }
        ItemBody::Agent { text, .. } => push_block(out, safe::text(text).trim_end()),
        ItemBody::Reasoning { .. } if !with_thoughts => {}
        ItemBody::Reasoning { summary, content } => {
            let said = if content.is_empty() { summary } else { content };
            let thought = safe::text(&said.join("\n\n"));
            let faint = thought.lines().map(|line| colors.paint(Tone::Faint, line));
            push_block(out, &faint.collect::<Vec<_>>().join("\n"));
        }
        ItemBody::Tool(call) => {
            let line = format!("• {}", tool(call, item.status));
            push_block(out, &colors.paint(Tone::Faint, &line));
        }
        ItemBody::Compaction { .. } => {
            push_block(out, &colors.paint(Tone::Faint, "[earlier messages were summarized]"));
        }
        // The turn itself says why it failed.
        ItemBody::Error { .. } | ItemBody::Raw { .. } => {}
    }
}

/// Adds a block with an empty line before it; tools that follow each other stay together.
fn push_block(out: &mut String, block: &str) {
    if block.is_empty() {
        return;
    }
    let is_tool = |line: &str| line.trim_start_matches("\x1b[2m").starts_with("• ");
    let follows_tool = out.lines().next_back().is_some_and(is_tool) && is_tool(block);
    if !follows_tool {
        out.push('\n');
    }
    out.push_str(block);
    out.push('\n');
}

#[cfg(test)]
mod tests;
