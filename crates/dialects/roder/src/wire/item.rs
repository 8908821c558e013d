//! Items, and the notifications that tell of them to both generations of clients at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One piece of a turn. The set of types is closed: published decoders know no other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Item {
    /// What the user said.
    UserMessage {
        /// Its id.
        id: String,
        /// The text.
        text: String,
        /// Images.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<ItemImage>,
        /// Where it is in its life.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<ItemStatus>,
    },
    /// What the agent said.
    AgentMessage {
        /// Its id.
        id: String,
        /// The text.
        text: String,
        /// Which part of the answer it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
        /// Where it is in its life.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<ItemStatus>,
        /// Whether it was cut off.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partial: Option<bool>,
    },
    /// What the model thought.
    Reasoning {
        /// Its id.
        id: String,
        /// Parts of a summary.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        summary: Vec<String>,
        /// Parts of the thought itself.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        content: Vec<String>,
        /// Where it is in its life.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<ItemStatus>,
    },
    /// A tool at work.
    ToolExecution(Box<ToolExecution>),
    /// What came before was summed up.
    Compaction {
        /// Its id.
        id: String,
        /// What the model gets instead.
        summary: String,
        /// Where it is in its life.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<ItemStatus>,
    },
    /// Something failed.
    Error {
        /// Its id.
        id: String,
        /// What.
        message: String,
        /// Where it is in its life.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<ItemStatus>,
    },
    /// Which model was chosen.
    RoutingDecision {
        /// Its id.
        id: String,
        /// The choice.
        decision: Value,
        /// Where it is in its life.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<ItemStatus>,
    },
    /// JSON of another kind.
    Raw {
        /// Its id.
        id: String,
        /// The JSON.
        payload: Value,
        /// Where it is in its life.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<ItemStatus>,
    },
}

/// A tool call with what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolExecution {
    pub id: String,
    /// The name that the model gave the call.
    pub tool_call_id: String,
    pub tool_name: String,
    /// Where it is in its life.
    pub status: ItemStatus,
    /// The arguments; text if the model did not write JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The output for the model, if it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The error for the model, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How the command ended, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The terminal it ran in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_id: Option<String>,
    /// Whether approval was requested, and the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ItemApproval>,
}

/// An image of a message. The one member is spelled so in both generations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemImage {
    /// Its `data:` or `http` address.
    pub image_url: String,
}

/// Where an item is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ItemStatus {
    /// More of it comes.
    InProgress,
    /// It is whole.
    Completed,
    /// It was cut off, or what it stands for failed.
    Failed,
}

/// Whether a tool was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ItemApproval {
    /// Not answered yet.
    Requested,
    /// Yes.
    Approved,
    /// No.
    Denied,
}

/// Params of `item/started`, `item/completed` and every delta: flat members for the older
/// generation, `event` for the newer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemNotification {
    /// Its number in the thread.
    pub seq: u64,
    pub event_id: String,
    pub thread_id: String,
    pub turn_id: String,
    /// When.
    pub timestamp: String,
    /// The item that grows; only in deltas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<String>,
    /// What is added; only in deltas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<String>,
    /// What it is added to; only in deltas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The item; not in deltas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Item>,
    /// The same as the newer generation reads it.
    pub event: ItemEvent,
}

/// What happened to an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ItemEvent {
    /// It began.
    ItemStarted {
        /// The item.
        item: Item,
    },
    /// It grew.
    ItemDelta {
        /// Which item.
        item_id: String,
        /// By what.
        delta: ItemDelta,
    },
    /// It ended.
    ItemCompleted {
        /// The item.
        item: Item,
    },
}

/// What was added to an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ItemDelta {
    /// Words of the agent.
    AgentMessageText {
        /// The words.
        delta: String,
        /// Which part of the answer they belong to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    /// Words of a thought.
    ReasoningText {
        /// The words.
        delta: String,
        /// Which part they belong to.
        content_index: u32,
    },
    /// Words of a thought's summary.
    ReasoningSummaryText {
        /// The words.
        delta: String,
        /// Which part they belong to.
        summary_index: u32,
    },
    /// A further part of a summary.
    ReasoningSummaryPartAdded {
        /// Which part.
        summary_index: u32,
    },
}
