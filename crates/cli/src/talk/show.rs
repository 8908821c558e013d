//! Threads and their items as lines of text.

use rookery_roder::wire::{
    item::{Item, ItemApproval, ItemStatus, ToolExecution},
    thread::{ActiveFlag, Thread, ThreadState, ThreadStatus},
    turn::{Turn, TurnStatus},
};
use serde_json::Value;

use super::{age, safe};
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
    if status.active_flags.is_empty() {
        return match status.state {
            ThreadState::Idle => (Tone::Faint, "idle".to_owned()),
            ThreadState::Running => (Tone::Good, "running".to_owned()),
        };
    }
    let words: Vec<&str> = status.active_flags.iter().map(|flag| waits_for(*flag)).collect();
    (Tone::Warning, words.join(", "))
}

fn waits_for(flag: ActiveFlag) -> &'static str {
    match flag {
        ActiveFlag::ApprovalRequired => "approval",
        ActiveFlag::UserInputRequired => "question",
        ActiveFlag::PlanExitRequired => "plan",
        ActiveFlag::ExternalToolPending => "client's tool",
        ActiveFlag::Interrupting => "interrupting",
    }
}

/// Who answers, and with which model.
pub(crate) fn model(thread: &Thread) -> String {
    safe::line(&format!("{}/{}", thread.model_provider, thread.model))
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
pub(crate) fn tool(tool: &ToolExecution) -> String {
    let mut line = safe::line(&tool.tool_name);
    if let Some(given) = tool.input.as_ref().map(input).filter(|text| !text.is_empty()) {
        line = format!("{line} {given}");
    }
    let state = match (tool.status, tool.approval) {
        (ItemStatus::InProgress, Some(ItemApproval::Requested)) => "waits",
        (ItemStatus::InProgress, _) => "…",
        (_, Some(ItemApproval::Denied)) => "denied",
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
    match why(tool) {
        Some(why) => format!("{line} · {why}"),
        None => line,
    }
}

/// Why a tool failed, in one line. What a command printed last says most; what a tool says, it says
/// first.
fn why(tool: &ToolExecution) -> Option<String> {
    let failed = tool.status == ItemStatus::Failed || tool.exit_code.is_some_and(|code| code != 0);
    let said = tool.error.as_deref().or(tool.output.as_deref()).filter(|_| failed)?;
    let mut lines = said.lines().map(safe::line).filter(|line| !line.is_empty());
    let line = if tool.exit_code.is_some() { lines.next_back() } else { lines.next() };
    line.map(|line| shorten(&line, REASON_WIDTH))
}

/// A whole conversation.
pub(crate) fn conversation(thread: &Thread, with_thoughts: bool, colors: Colors) -> String {
    let (tone, state) = status(&thread.status);
    let mut out = format!("{}\n", colors.paint(Tone::Strong, &title(thread)));
    let place = safe::line(&thread.cwd);
    let about = format!("{} · {} · {place} · ", safe::line(&thread.id), model(thread));
    out += &format!("{}{}\n", colors.paint(Tone::Faint, &about), colors.paint(tone, &state));
    for turn in thread.turns.iter().flatten() {
        push_turn(&mut out, turn, with_thoughts, colors);
    }
    out
}

fn push_turn(out: &mut String, turn: &Turn, with_thoughts: bool, colors: Colors) {
    for item in &turn.items {
        push_item(out, item, with_thoughts, colors);
    }
    let error = turn.error.as_ref().map(|error| safe::line(&error.message));
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
    match item {
        Item::UserMessage { text, images, .. } => {
            let mut lines: Vec<String> = safe::text(text).lines().map(str::to_owned).collect();
            lines.extend(images.iter().map(|_| "[image]".to_owned()));
            let quoted = lines.iter().map(|line| colors.paint(Tone::Strong, &format!("> {line}")));
            push_block(out, &quoted.collect::<Vec<_>>().join("\n"));
        }
        Item::AgentMessage { text, .. } => push_block(out, safe::text(text).trim_end()),
        Item::Reasoning { .. } if !with_thoughts => {}
        Item::Reasoning { summary, content, .. } => {
            let said = if content.is_empty() { summary } else { content };
            let thought = safe::text(&said.join("\n\n"));
            let faint = thought.lines().map(|line| colors.paint(Tone::Faint, line));
            push_block(out, &faint.collect::<Vec<_>>().join("\n"));
        }
        Item::ToolExecution(execution) => {
            push_block(out, &colors.paint(Tone::Faint, &format!("• {}", tool(execution))));
        }
        Item::Compaction { .. } => {
            push_block(out, &colors.paint(Tone::Faint, "[earlier messages were summarized]"));
        }
        // The turn itself says why it failed.
        Item::Error { .. } | Item::RoutingDecision { .. } | Item::Raw { .. } => {}
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
