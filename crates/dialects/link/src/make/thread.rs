//! Threads and their items as faces read them.

use rookery_core::{Core, ThreadView};
use rookery_model::Words as _;
use rookery_model::{
    Item, ItemBody, ItemStatus, PlanStepStatus, Thread, ToolItem, TurnId, spelled,
};
use rookery_view::link::{
    self, ActiveTurn, ItemKind, PlanStep, TOOL_LINES, ThreadHead, ThreadItem, ToolCall, bound,
};

use super::{blocks, files, line, lines};
use crate::ids::millis;

/// Characters of a title made of what was first said.
const TITLE: usize = 80;

/// What a thread is called.
pub(crate) fn thread_title(thread: &Thread) -> String {
    let named = thread.name.as_deref().filter(|name| !name.trim().is_empty());
    let said: String = thread.preview.chars().take(TITLE).collect();
    line(named.unwrap_or(if said.is_empty() { "new thread" } else { &said }))
}

/// How a thread fares, in a word.
pub(crate) fn thread_status(seen: &ThreadView) -> &'static str {
    match seen.status.active_turn {
        Some(_) if seen.status.waits_for_answer() => "waiting",
        Some(_) => "working",
        None => "idle",
    }
}

/// What is said about a thread as a whole.
pub(crate) fn head(core: &Core, seen: &ThreadView) -> ThreadHead {
    let thread = &seen.thread;
    let projects = core.workspace().projects();
    let around = projects.iter().filter(|project| thread.cwd.starts_with(&project.root));
    let project = around.max_by_key(|project| project.root.components().count());
    let asked = core.requests().list().into_iter();
    let waiting = asked.filter(|request| request.thread() == Some(thread.id));
    ThreadHead {
        thread: thread.id.to_string(),
        title: thread_title(thread),
        project: project.map(|project| project.id.get()),
        model: format!("{}/{}", thread.choice.provider, thread.choice.model),
        mode: core.threads().mode(Some(thread.id)).word().to_owned(),
        status: thread_status(seen).to_owned(),
        usage: link::Usage {
            input: thread.usage.prompt,
            output: thread.usage.completion,
            total: thread.usage.prompt.saturating_add(thread.usage.completion),
        },
        plan: thread.plan.iter().map(step).collect(),
        goal: thread.goal.as_ref().map(|goal| lines(&goal.objective).join("\n")),
        turn: seen
            .status
            .active_turn
            .map(|id| ActiveTurn { id: id.to_string(), at: millis(began(id)) }),
        waiting: waiting.map(|request| request.id.to_string()).collect(),
    }
}

/// Ids of turns begin with the time.
fn began(id: TurnId) -> rookery_model::Timestamp {
    let millis = i64::try_from(id.get() >> 80).unwrap_or(0);
    rookery_model::Timestamp::from_micros(millis.saturating_mul(1_000))
}

fn step(step: &rookery_model::PlanStep) -> PlanStep {
    let status = match step.status {
        PlanStepStatus::Pending => "pending",
        PlanStepStatus::InProgress => "working",
        PlanStepStatus::Completed => "done",
        PlanStepStatus::Blocked => "stopped",
    };
    PlanStep { text: line(&step.content), status: status.to_owned() }
}

/// An item of a thread; shortened unless all of it is wanted.
pub(crate) fn item(core: &Core, turn: TurnId, item: &Item, is_whole: bool) -> ThreadItem {
    let mut shown = ThreadItem {
        id: item.id.to_string(),
        turn: turn.to_string(),
        at: millis(item.at),
        status: match item.status {
            ItemStatus::InProgress => "working",
            ItemStatus::Completed => "done",
            ItemStatus::Failed => "failed",
        }
        .to_owned(),
        ..ThreadItem::default()
    };
    let text = match &item.body {
        ItemBody::User { text, .. } => (ItemKind::User, text.clone()),
        ItemBody::Agent { text, .. } => (ItemKind::Agent, text.clone()),
        ItemBody::Reasoning { summary, content } => {
            let parts = if summary.is_empty() { content } else { summary };
            (ItemKind::Thought, parts.join("\n\n"))
        }
        ItemBody::Compaction { summary, .. } => (ItemKind::Compaction, summary.clone()),
        ItemBody::Error { message } => (ItemKind::Error, message.clone()),
        ItemBody::Raw { payload } => (ItemKind::Agent, payload.clone()),
        ItemBody::Tool(tool) => {
            fill(core, &mut shown, turn, tool, is_whole);
            return shown;
        }
    };
    let (kind, text) = text;
    let cut = text.floor_char_boundary(bound::ITEM_BYTES);
    (shown.kind, shown.cut) = (kind, cut < text.len());
    shown.blocks = Some(blocks(&text[..cut]));
    shown
}

fn fill(core: &Core, shown: &mut ThreadItem, turn: TurnId, tool: &ToolItem, is_whole: bool) {
    let output = lines(&tool_output(tool));
    let (first, last) = TOOL_LINES;
    let all = output.len();
    let (head, tail) = match all > first + last && !is_whole {
        true => (output[..first].to_vec(), output[all - last..].to_vec()),
        false => (output, Vec::new()),
    };
    let asked = core.requests().list().into_iter();
    // Models number their calls anew in every thread.
    let asks = |it: &rookery_model::Request| it.turn() == Some(turn) && it.call_id == tool.call_id;
    let request = asked.into_iter().find(asks);
    shown.kind = kind(&tool.name);
    shown.cut = !tail.is_empty();
    if request.is_some() {
        "waiting".clone_into(&mut shown.status);
    }
    shown.request = request.map(|request| request.id.to_string());
    shown.diff = tool.output.as_deref().filter(|_| shown.kind == ItemKind::Edit).and_then(files);
    let input: String = tool.input.chars().take(bound::ITEM_BYTES / 8).collect();
    shown.tool = Some(ToolCall {
        name: line(&tool.name),
        title: line(&title(tool)),
        input: lines(&input).join("\n"),
        head,
        tail,
        lines: u32::try_from(all).unwrap_or(u32::MAX),
        exit: tool.exit_code,
        ms: tool.duration_ms,
        terminal: tool.terminal.map(rookery_model::TerminalId::get),
    });
}

/// What a tool came to.
pub(crate) fn tool_output(tool: &ToolItem) -> String {
    tool.error.as_deref().or(tool.output.as_deref()).unwrap_or_default().to_owned()
}

fn kind(tool: &str) -> ItemKind {
    match tool {
        "shell" | "command" | "exec" => ItemKind::Command,
        "write_file" | "edit" | "multi_edit" | "apply_patch" => ItemKind::Edit,
        "ask_user" | "request_user_input" => ItemKind::Question,
        "update_plan" | "plan_exit" => ItemKind::Plan,
        _ => ItemKind::Tool,
    }
}

/// What a call is about: the argument that says most.
fn title(tool: &ToolItem) -> String {
    let arguments: serde_json::Value = serde_json::from_str(&tool.input).unwrap_or_default();
    let telling = ["command", "path", "file_path", "pattern", "query", "url", "prompt"];
    let found = telling.iter().find_map(|name| arguments.get(name)?.as_str());
    found.map_or_else(|| spelled(&tool.input), spelled)
}

/// What an item that may grow says so far.
pub(crate) fn said(item: &Item) -> &str {
    match &item.body {
        ItemBody::Agent { text, .. } => text,
        ItemBody::User { .. }
        | ItemBody::Reasoning { .. }
        | ItemBody::Tool(_)
        | ItemBody::Compaction { .. }
        | ItemBody::Error { .. }
        | ItemBody::Raw { .. } => "",
    }
}
