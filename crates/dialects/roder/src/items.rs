//! Items as this dialect shows them, and the notifications that tell of them. Pure: numbers, times
//! and words come from core.

use rookery_agent::turn::Delta;
use rookery_model as model;
use serde_json::Value;

use crate::wire::{
    item::{
        Item, ItemApproval, ItemDelta, ItemEvent, ItemImage, ItemNotification, ItemStatus,
        ToolExecution,
    },
    notification::name,
};

/// The phase under which the older generation sees what the model thinks.
const REASONING_PHASE: &str = "reasoning";

/// When and where something happened to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its number in the thread.
    pub seq: u64,
    pub thread: model::ThreadId,
    pub turn: model::TurnId,
    /// When.
    pub at: model::Timestamp,
}

/// The item as it goes over the wire.
#[must_use]
pub fn item(item: &model::Item) -> Item {
    let id = item.id.as_str().to_owned();
    let status = Some(status(item.status));
    match &item.body {
        model::ItemBody::User { text, images, context: _ } => {
            let image = |url: &String| ItemImage { image_url: url.clone() };
            Item::UserMessage {
                id,
                text: text.clone(),
                images: images.iter().map(image).collect(),
                status,
            }
        }
        model::ItemBody::Agent { text, phase, partial } => Item::AgentMessage {
            id,
            text: text.clone(),
            phase: (!phase.is_empty()).then(|| phase.clone()),
            status,
            partial: partial.then_some(true),
        },
        model::ItemBody::Reasoning { summary, content } => {
            Item::Reasoning { id, summary: summary.clone(), content: content.clone(), status }
        }
        model::ItemBody::Tool(call) => Item::ToolExecution(Box::new(tool(id, item.status, call))),
        model::ItemBody::Compaction { summary, pruning: _ } => {
            Item::Compaction { id, summary: summary.clone(), status }
        }
        model::ItemBody::Error { message } => Item::Error { id, message: message.clone(), status },
        model::ItemBody::Raw { payload } => Item::Raw { id, payload: json(payload), status },
    }
}

fn tool(id: String, at: model::ItemStatus, call: &model::ToolItem) -> ToolExecution {
    ToolExecution {
        id,
        tool_call_id: call.call_id.clone(),
        tool_name: call.name.clone(),
        status: status(at),
        input: (!call.input.is_empty()).then(|| json(&call.input)),
        output: call.output.clone(),
        error: call.error.clone(),
        exit_code: call.exit_code,
        duration_ms: call.duration_ms,
        terminal_id: call.terminal.map(|terminal| terminal.to_string()),
        approval: call.approval.map(|answer| match answer {
            None => ItemApproval::Requested,
            Some(true) => ItemApproval::Approved,
            Some(false) => ItemApproval::Denied,
        }),
    }
}

/// JSON text as a value, or as the text it is if a model was cut off within it.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn status(status: model::ItemStatus) -> ItemStatus {
    match status {
        model::ItemStatus::InProgress => ItemStatus::InProgress,
        model::ItemStatus::Completed => ItemStatus::Completed,
        model::ItemStatus::Failed => ItemStatus::Failed,
    }
}

/// Params of `item/started`.
#[must_use]
pub fn started(stamp: Stamp, begun: &model::Item) -> ItemNotification {
    let item = item(begun);
    whole(stamp, item.clone(), ItemEvent::ItemStarted { item })
}

/// Params of `item/completed`.
#[must_use]
pub fn completed(stamp: Stamp, ended: &model::Item) -> ItemNotification {
    let item = item(ended);
    whole(stamp, item.clone(), ItemEvent::ItemCompleted { item })
}

/// Params of a delta, whichever of its [methods](method) it goes by.
#[must_use]
pub fn delta(stamp: Stamp, id: &model::ItemId, added: &Delta) -> ItemNotification {
    let item_id = id.as_str().to_owned();
    let (flat, phase) = match added {
        Delta::Text { text, phase } => (text.as_str(), phase.as_str()),
        Delta::Thought { text } | Delta::Summary { text, .. } => (text.as_str(), REASONING_PHASE),
        Delta::SummaryPart { .. } => ("", REASONING_PHASE),
    };
    let event = ItemEvent::ItemDelta { item_id: item_id.clone(), delta: typed(added) };
    ItemNotification {
        item_id: Some(item_id),
        delta: Some(flat.to_owned()),
        phase: (!phase.is_empty()).then(|| phase.to_owned()),
        ..bare(stamp, event)
    }
}

fn typed(added: &Delta) -> ItemDelta {
    match added {
        Delta::Text { text, phase } => ItemDelta::AgentMessageText {
            delta: text.clone(),
            phase: (!phase.is_empty()).then(|| phase.clone()),
        },
        Delta::Thought { text } => {
            ItemDelta::ReasoningText { delta: text.clone(), content_index: 0 }
        }
        Delta::Summary { text, index } => {
            ItemDelta::ReasoningSummaryText { delta: text.clone(), summary_index: *index }
        }
        Delta::SummaryPart { index } => {
            ItemDelta::ReasoningSummaryPartAdded { summary_index: *index }
        }
    }
}

/// The one method by which a delta goes to a connection; `reasoning_methods` is what that
/// connection said it can take.
#[must_use]
pub fn method(added: &Delta, reasoning_methods: bool) -> &'static str {
    match added {
        Delta::Thought { .. } if reasoning_methods => name::REASONING_TEXT_DELTA,
        Delta::Summary { .. } if reasoning_methods => name::REASONING_SUMMARY_TEXT_DELTA,
        Delta::SummaryPart { .. } if reasoning_methods => name::REASONING_SUMMARY_PART_ADDED,
        Delta::Text { .. }
        | Delta::Thought { .. }
        | Delta::Summary { .. }
        | Delta::SummaryPart { .. } => name::ITEM_DELTA,
    }
}

fn whole(stamp: Stamp, item: Item, event: ItemEvent) -> ItemNotification {
    ItemNotification { item: Some(item), ..bare(stamp, event) }
}

fn bare(stamp: Stamp, event: ItemEvent) -> ItemNotification {
    ItemNotification {
        seq: stamp.seq,
        event_id: format!("{}-item-event-{}", stamp.turn, stamp.seq),
        thread_id: stamp.thread.to_string(),
        turn_id: stamp.turn.to_string(),
        timestamp: stamp.at.to_string(),
        item_id: None,
        delta: None,
        phase: None,
        item: None,
        event,
    }
}

#[cfg(test)]
mod tests;
