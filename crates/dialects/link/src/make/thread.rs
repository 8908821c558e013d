//! Threads and their items as faces read them.

use std::collections::HashMap;

use rookery_core::{Core, ThreadView};
use rookery_model::Words as _;
use rookery_model::{
    Category, Item, ItemBody, ItemStatus, PlanStepStatus, SessionId, Thread, ThreadId, ToolItem,
    TurnId, spelled,
};
use rookery_view::inbox::asks_person;
use rookery_view::link::{
    self, ActiveTurn, ItemKind, Mood, PlanStep, TOOL_LINES, ThreadHead, ThreadItem, ToolCall, bound,
};

use super::{Edits, blocks, files, line, lines};
use crate::ids::millis;

/// Bytes of a line of a tool's output; with all lines, input and diff an item holds its bound.
const LINE_BYTES: usize = 2 << 10;
/// Bytes of a tool's input.
const INPUT_BYTES: usize = bound::ITEM_BYTES / 8;
/// Bytes of a diff in an item; of a larger one, see `view/diff`, only the files are listed.
const DIFF_BYTES: usize = bound::ITEM_BYTES / 4;
/// Files that are listed.
const MOST_FILES: usize = 200;
/// Characters of a title made of what was first said.
const TITLE: usize = 80;

/// What a thread is called.
pub(crate) fn thread_title(thread: &Thread) -> String {
    let named = thread.name.as_deref().filter(|name| !name.trim().is_empty());
    let said: String = thread.preview.chars().take(TITLE).collect();
    line(named.unwrap_or(if said.is_empty() { "new thread" } else { &said }))
}

/// How the last turns of threads ended of which no person has taken note yet.
pub(crate) struct Ends(HashMap<SessionId, Category>);

impl Ends {
    pub(crate) fn new(core: &Core) -> Ends {
        let items = core.queue().list().into_iter().filter(|item| item.related.is_none());
        let ends = items.filter_map(|item| Some((item.session?, item.category)));
        Ends(ends.filter(|(_, it)| matches!(it, Category::Completed | Category::Error)).collect())
    }

    fn of(&self, thread: ThreadId) -> Option<Category> {
        // A thread is the session of the same id.
        self.0.get(&SessionId::new(thread.get())).copied()
    }
}

/// How a thread fares.
pub(crate) fn thread_mood(seen: &ThreadView, ends: &Ends) -> Mood {
    match (seen.status.active_turn, ends.of(seen.thread.id)) {
        (Some(_), _) if seen.status.waits_for_person() => Mood::Waiting,
        (Some(_), _) => Mood::Working,
        (None, Some(Category::Error)) => Mood::Failed,
        (None, Some(_)) => Mood::Done,
        (None, None) => Mood::Quiet,
    }
}

/// The same in a word.
pub(crate) fn thread_status(seen: &ThreadView, ends: &Ends) -> &'static str {
    match thread_mood(seen, ends) {
        Mood::Waiting => "waiting",
        Mood::Working => "working",
        Mood::Failed => "failed",
        Mood::Done | Mood::Quiet => "idle",
    }
}

/// What is said about a thread as a whole.
pub(crate) fn head(core: &Core, seen: &ThreadView, ends: &Ends) -> ThreadHead {
    let thread = &seen.thread;
    let projects = core.workspace().projects();
    let around = projects.iter().filter(|project| thread.cwd.starts_with(&project.root));
    let project = around.max_by_key(|project| project.root.components().count());
    let asked = core.requests().list().into_iter().filter(asks_person);
    let waiting = asked.filter(|request| request.thread() == Some(thread.id));
    ThreadHead {
        thread: thread.id.to_string(),
        title: thread_title(thread),
        project: project.map(|project| project.id.get()),
        model: format!("{}/{}", thread.choice.provider, thread.choice.model),
        mode: core.threads().mode(Some(thread.id)).word().to_owned(),
        status: thread_status(seen, ends).to_owned(),
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

/// An item of a thread, shortened; `view/item` has all of it.
pub(crate) fn item(core: &Core, turn: TurnId, item: &Item, edits: &Edits) -> ThreadItem {
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
    let kind = match &item.body {
        ItemBody::User { .. } => ItemKind::User,
        ItemBody::Agent { .. } | ItemBody::Raw { .. } => ItemKind::Agent,
        ItemBody::Reasoning { .. } => ItemKind::Thought,
        ItemBody::Compaction { .. } => ItemKind::Compaction,
        ItemBody::Error { .. } => ItemKind::Error,
        ItemBody::Tool(tool) => {
            fill(core, &mut shown, turn, tool, edits);
            return shown;
        }
    };
    let text = text_of(item);
    let cut = text.floor_char_boundary(bound::ITEM_BYTES);
    (shown.kind, shown.cut) = (kind, cut < text.len());
    shown.blocks = Some(blocks(&text[..cut]));
    shown
}

fn fill(core: &Core, shown: &mut ThreadItem, turn: TurnId, tool: &ToolItem, edits: &Edits) {
    let output = lines(&tool_output(tool));
    let (first, last) = TOOL_LINES;
    let all = output.len();
    let (mut head, mut tail) = match all > first + last {
        true => (output[..first].to_vec(), output[all - last..].to_vec()),
        false => (output, Vec::new()),
    };
    let asked = core.requests().list().into_iter().filter(asks_person);
    // Models number their calls anew in every thread.
    let asks = |it: &rookery_model::Request| it.turn() == Some(turn) && it.call_id == tool.call_id;
    let request = asked.into_iter().find(asks);
    shown.kind = kind(&tool.name, request.is_some());
    shown.blocks = plan(tool);
    shown.cut = !tail.is_empty();
    for line in head.iter_mut().chain(&mut tail) {
        shown.cut |= cut(line, LINE_BYTES);
    }
    if request.is_some() {
        "waiting".clone_into(&mut shown.status);
    }
    shown.request = request.map(|request| request.id.to_string());
    let said = || tool.output.as_deref().filter(|_| shown.kind == ItemKind::Edit).and_then(files);
    shown.diff = edits.of(turn, &tool.call_id).cloned().or_else(said);
    if let Some(files) = &mut shown.diff
        && super::weight(files) > DIFF_BYTES
    {
        (*files, shown.cut) = (rookery_view::diff::summary(files), true);
        files.truncate(MOST_FILES);
    }
    let mut input = lines(&tool.input[..tool.input.floor_char_boundary(INPUT_BYTES)]).join("\n");
    shown.cut |= cut(&mut input, INPUT_BYTES);
    shown.tool = Some(ToolCall {
        name: line(&tool.name),
        title: line(&title(tool)),
        input,
        head,
        tail,
        lines: u32::try_from(all).unwrap_or(u32::MAX),
        exit: tool.exit_code,
        ms: tool.duration_ms,
        terminal: tool.terminal.map(rookery_model::TerminalId::get),
    });
}

/// Cuts a text to this number of bytes; whether that took something.
fn cut(text: &mut String, bytes: usize) -> bool {
    let is_longer = text.len() > bytes;
    text.truncate(text.floor_char_boundary(bytes));
    is_longer
}

/// What a tool came to.
pub(crate) fn tool_output(tool: &ToolItem) -> String {
    tool.error.as_deref().or(tool.output.as_deref()).unwrap_or_default().to_owned()
}

fn kind(tool: &str, is_asked: bool) -> ItemKind {
    match tool {
        "shell" | "command" | "exec" | "exec_command" => ItemKind::Command,
        "write_file" | "edit" | "multi_edit" | "apply_patch" => ItemKind::Edit,
        "ask_user" | "request_user_input" => ItemKind::Question,
        // While it waits for an answer it is shown as the call that asks.
        "exit_plan_mode" | "plan_exit" if is_asked => ItemKind::Tool,
        "update_plan" | "plan" | "exit_plan_mode" | "plan_exit" => ItemKind::Plan,
        _ => ItemKind::Tool,
    }
}

/// What a call says about a plan, as prose: its steps with how far they are, or its summary.
fn plan(tool: &ToolItem) -> Option<Vec<link::Block>> {
    if kind(&tool.name, false) != ItemKind::Plan {
        return None;
    }
    let input: serde_json::Value = serde_json::from_str(&tool.input).unwrap_or_default();
    let mut said = Vec::new();
    for member in ["explanation", "summary"] {
        said.extend(input[member].as_str().map(str::to_owned));
    }
    let text = |step: &serde_json::Value| {
        let named = ["step", "content", "text"].iter().find_map(|name| step[*name].as_str());
        named.or_else(|| step.as_str()).map(str::to_owned)
    };
    let mark = |step: &serde_json::Value| match step["status"].as_str() {
        Some("completed" | "done") => "[x] ",
        Some(_) => "[ ] ",
        None => "",
    };
    let lists = ["plan", "entries", "next_steps", "steps"];
    let steps = lists.iter().filter_map(|name| input[*name].as_array()).flatten();
    let steps: Vec<String> = steps
        .filter_map(|step| {
            let going = if step["status"] == "in_progress" { " (now)" } else { "" };
            Some(format!("- {}{}{going}", mark(step), text(step)?.replace('\n', " ")))
        })
        .collect();
    if !steps.is_empty() {
        said.push(steps.join("\n"));
    }
    if said.is_empty() {
        // Another harness's own words.
        said.push(tool_output(tool));
    }
    let mut said = said.join("\n\n");
    said.truncate(said.floor_char_boundary(INPUT_BYTES));
    Some(blocks(&said)).filter(|blocks| !blocks.is_empty())
}

/// What a call is about: the argument that says most.
fn title(tool: &ToolItem) -> String {
    let arguments: serde_json::Value = serde_json::from_str(&tool.input).unwrap_or_default();
    let telling = ["command", "cmd", "path", "file_path", "pattern", "query", "url", "prompt"];
    let found = telling.iter().find_map(|name| arguments.get(name)?.as_str());
    found.map_or_else(|| spelled(&tool.input), spelled)
}

/// Whether an item may have changed files.
pub(crate) fn may_edit(item: &Item) -> bool {
    matches!(&item.body, ItemBody::Tool(tool) if kind(&tool.name, false) == ItemKind::Edit)
}

/// Whether an item grows as it is written.
pub(crate) fn grows(item: &Item) -> bool {
    matches!(item.body, ItemBody::Agent { .. } | ItemBody::Reasoning { .. })
}

/// What an item says.
pub(crate) fn text_of(item: &Item) -> String {
    match &item.body {
        ItemBody::User { text, .. } | ItemBody::Agent { text, .. } => text.clone(),
        ItemBody::Reasoning { summary, content } => {
            if summary.is_empty() { content } else { summary }.join("\n\n")
        }
        ItemBody::Compaction { summary, .. } => summary.clone(),
        ItemBody::Error { message } => message.clone(),
        ItemBody::Raw { payload } => payload.clone(),
        ItemBody::Tool(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, input: &serde_json::Value) -> ToolItem {
        ToolItem { name: name.to_owned(), input: input.to_string(), ..ToolItem::default() }
    }

    fn texts(tool: &ToolItem) -> String {
        serde_json::to_string(&plan(tool).unwrap_or_default()).unwrap_or_default()
    }

    #[test]
    fn plans_of_every_tool_say_their_steps() {
        let steps = serde_json::json!({ "plan": [
            { "step": "read it", "status": "completed" },
            { "step": "change it", "status": "in_progress" },
        ] });
        let shown = texts(&call("update_plan", &steps));
        assert!(shown.contains("read it") && shown.contains("change it (now)"), "{shown}");
        assert!(shown.contains("\"done\":true") && shown.contains("\"done\":false"), "{shown}");
        let entries = serde_json::json!({ "entries": [{ "content": "one", "status": "pending" }] });
        assert!(texts(&call("plan", &entries)).contains("one"));
        let leave = serde_json::json!({ "summary": "all of it", "next_steps": ["begin"] });
        let shown = texts(&call("exit_plan_mode", &leave));
        assert!(shown.contains("all of it") && shown.contains("begin"), "{shown}");
        assert_eq!(plan(&call("shell", &steps)), None);
    }

    #[test]
    fn a_plan_that_waits_is_shown_as_the_call_that_asks() {
        assert_eq!(kind("exit_plan_mode", true), ItemKind::Tool);
        assert_eq!(kind("exit_plan_mode", false), ItemKind::Plan);
        assert_eq!(kind("plan", false), ItemKind::Plan);
        assert_eq!(kind("exec_command", false), ItemKind::Command);
    }
}
