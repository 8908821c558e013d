//! Items as the conversation that is sent to a model.

use rookery_model::{Item, ItemBody, ItemId, Pruning, ToolItem, TurnId};
use serde_json::{Value, json};

use crate::provider::{Entry, EntryBody};

/// What stands in for an output that was left out to save room.
const REMOVED: &str = "[the output of this call was removed to save room]";

/// The conversation from the last compaction on, for this provider.
///
/// Items come in the order of the thread. What a provider wanted back is given only to itself.
pub fn entries<'a>(
    items: impl DoubleEndedIterator<Item = (TurnId, &'a Item)> + Clone,
    provider: &str,
) -> Vec<Entry> {
    let cut = Cut::find(items.clone());
    let mut entries = Vec::new();
    let mut steps = Steps::default();
    if let Some(summary) = cut.summary {
        let text = format!("What was said and done before, in short:\n{summary}");
        entries.push(Entry {
            step: 0,
            body: EntryBody::User { text, images: Vec::new() },
            opaque: None,
        });
    }
    let (mut is_before, mut is_pruned) = (cut.first.is_some(), cut.outputs_before.is_some());
    for (turn, item) in items {
        is_before &= cut.first != Some(&item.id);
        is_pruned &= cut.outputs_before != Some(&item.id);
        let step = steps.of(turn, item.step);
        if !is_before {
            push(item, step, is_pruned, provider, &mut entries);
        }
    }
    entries
}

/// Where the conversation begins, and up to where outputs are left out.
struct Cut<'a> {
    summary: Option<&'a str>,
    first: Option<&'a ItemId>,
    outputs_before: Option<&'a ItemId>,
}

impl<'a> Cut<'a> {
    fn find(items: impl DoubleEndedIterator<Item = (TurnId, &'a Item)>) -> Self {
        let mut cut = Cut { summary: None, first: None, outputs_before: None };
        for (_, item) in items.rev() {
            let ItemBody::Compaction { summary, pruning } = &item.body else { continue };
            match pruning {
                Pruning::OutputsBefore(first) => {
                    cut.outputs_before = cut.outputs_before.or(Some(first));
                }
                Pruning::Before(first) => {
                    cut.summary = Some(summary);
                    // Without anything kept, what follows the compaction is all there is.
                    cut.first = Some(first.as_ref().unwrap_or(&item.id));
                    break;
                }
            }
        }
        cut
    }
}

/// Numbers model calls through the whole conversation.
#[derive(Default)]
struct Steps {
    last: Option<(TurnId, u32)>,
    number: u64,
}

impl Steps {
    fn of(&mut self, turn: TurnId, step: u32) -> u64 {
        if self.last != Some((turn, step)) {
            self.last = Some((turn, step));
            self.number += 1;
        }
        self.number
    }
}

fn push(item: &Item, step: u64, is_pruned: bool, provider: &str, entries: &mut Vec<Entry>) {
    let opaque = item.opaque.as_deref().and_then(|opaque| open_opaque(opaque, provider));
    let mut add = |body, opaque| entries.push(Entry { step, body, opaque });
    match &item.body {
        ItemBody::User { text, images, context } => {
            let blocks = std::iter::once(text).chain(context).filter(|block| !block.is_empty());
            let text = blocks.map(String::as_str).collect::<Vec<_>>().join("\n\n");
            add(EntryBody::User { text, images: images.clone() }, opaque);
        }
        ItemBody::Agent { text, .. } => add(EntryBody::Agent { text: text.clone() }, opaque),
        ItemBody::Reasoning { summary, content } => {
            let parts = if content.is_empty() { summary } else { content };
            add(EntryBody::Reasoning { text: parts.join("\n\n") }, opaque);
        }
        ItemBody::Tool(tool) if !tool.hosted => {
            add(tool_call(tool), opaque);
            if let Some(result) = tool_result(tool, is_pruned) {
                add(result, None);
            }
        }
        ItemBody::Tool(_)
        | ItemBody::Compaction { .. }
        | ItemBody::Error { .. }
        | ItemBody::Raw { .. } => {}
    }
}

fn tool_call(tool: &ToolItem) -> EntryBody {
    EntryBody::ToolCall {
        id: tool.call_id.clone(),
        name: tool.name.clone(),
        arguments: tool.input.clone(),
    }
}

fn tool_result(tool: &ToolItem, is_pruned: bool) -> Option<EntryBody> {
    let text = tool.error.as_ref().or(tool.output.as_ref())?;
    Some(EntryBody::ToolResult {
        id: tool.call_id.clone(),
        text: if is_pruned { REMOVED.to_owned() } else { text.clone() },
        is_error: tool.error.is_some(),
        images: if is_pruned { Vec::new() } else { tool.images.clone() },
    })
}

/// About how many tokens these are: a quarter of their characters.
pub fn estimate(entries: &[Entry]) -> u64 {
    let characters = entries.iter().map(|entry| match &entry.body {
        EntryBody::User { text, images } => text.len() + images.len() * 4_000,
        EntryBody::Agent { text } | EntryBody::Reasoning { text } => text.len(),
        EntryBody::ToolCall { name, arguments, .. } => name.len() + arguments.len(),
        EntryBody::ToolResult { text, images, .. } => text.len() + images.len() * 4_000,
    });
    characters.sum::<usize>() as u64 / 4
}

/// About how many tokens a conversation of these items has, without making it.
pub fn estimate_items<'a>(
    items: impl DoubleEndedIterator<Item = (TurnId, &'a Item)> + Clone,
) -> u64 {
    let cut = Cut::find(items.clone());
    let (mut is_before, mut is_pruned) = (cut.first.is_some(), cut.outputs_before.is_some());
    let mut characters = cut.summary.map_or(0, str::len);
    for (_, item) in items {
        is_before &= cut.first != Some(&item.id);
        is_pruned &= cut.outputs_before != Some(&item.id);
        if !is_before {
            characters += length(item, is_pruned);
        }
    }
    characters as u64 / 4
}

fn length(item: &Item, is_pruned: bool) -> usize {
    match &item.body {
        ItemBody::User { text, images, context } => {
            text.len() + context.iter().map(String::len).sum::<usize>() + images.len() * 4_000
        }
        ItemBody::Agent { text, .. } => text.len(),
        ItemBody::Reasoning { summary, content } => {
            let parts = if content.is_empty() { summary } else { content };
            parts.iter().map(String::len).sum()
        }
        ItemBody::Tool(tool) if !tool.hosted => {
            let output = tool.error.as_ref().or(tool.output.as_ref()).map_or(0, String::len);
            let output = if is_pruned { REMOVED.len() } else { output + tool.images.len() * 4_000 };
            tool.name.len() + tool.input.len() + output
        }
        ItemBody::Tool(_)
        | ItemBody::Compaction { .. }
        | ItemBody::Error { .. }
        | ItemBody::Raw { .. } => 0,
    }
}

/// The items that the conversation consists of now: from the last compaction's first kept item on.
pub fn window<'a>(
    items: impl DoubleEndedIterator<Item = (TurnId, &'a Item)> + Clone,
) -> Vec<(TurnId, &'a Item)> {
    let cut = Cut::find(items.clone());
    let mut is_before = cut.first.is_some();
    items
        .filter(|(_, item)| {
            is_before &= cut.first != Some(&item.id);
            !is_before
        })
        .collect()
}

/// What a provider wants back, with its name on it.
pub fn seal_opaque(provider: &str, value: &Value) -> String {
    json!({ "provider": provider, "value": value }).to_string()
}

fn open_opaque(text: &str, provider: &str) -> Option<Value> {
    let mut sealed: Value = serde_json::from_str(text).ok()?;
    (sealed.get("provider")?.as_str()? == provider).then(|| sealed["value"].take())
}
