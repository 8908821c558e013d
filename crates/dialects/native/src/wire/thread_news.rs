//! What happens to threads, as subscribers get it.

use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Empty, Item, Mode, Request, Thread, ThreadStatus, Time, Turn};

/// Params of `rookery/threads/subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadSubscribe {
    /// Only what happens to this thread, by its id or the end of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

call!("rookery/threads/subscribe" ThreadSubscribe -> ThreadSubscription);

/// Result of `rookery/threads/subscribe`; `rookery/thread` notifications follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadSubscription {
    /// Its number on this connection.
    pub subscription: u64,
}

/// Params of `rookery/threads/unsubscribe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUnsubscribe {
    /// The number that `subscribe` gave.
    pub subscription: u64,
}

call!("rookery/threads/unsubscribe" ThreadUnsubscribe -> Empty);

/// Params of the notification `rookery/thread`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadNotification {
    pub subscription: u64,
    /// The thread it is about; absent if it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    pub at: Time,
    #[serde(flatten)]
    pub news: ThreadNews,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum ThreadNews {
    /// A thread began.
    #[serde(rename = "thread.started")]
    ThreadStarted { started: Box<Thread> },
    /// What a thread does changed.
    #[serde(rename = "thread.status")]
    ThreadStatus { status: ThreadStatus },
    /// A thread was archived.
    #[serde(rename = "thread.archived")]
    ThreadArchived {},
    /// A thread got another name, or lost it.
    #[serde(rename = "thread.renamed")]
    ThreadRenamed { name: Option<String> },
    #[serde(rename = "turn.started")]
    TurnStarted { turn: Box<Turn> },
    #[serde(rename = "turn.ended")]
    TurnEnded { turn: Box<Turn> },
    /// What a turn has so far.
    #[serde(rename = "turn.partial")]
    TurnPartial { turn: String, summary: String },
    /// A turn ran out of time; this is what it has.
    #[serde(rename = "turn.timed_out")]
    TurnTimedOut { turn: String, summary: String },
    #[serde(rename = "item.started")]
    ItemStarted { turn: String, item: Box<Item> },
    /// An item grew.
    #[serde(rename = "item.delta")]
    ItemDelta {
        turn: String,
        /// The item's id.
        item: String,
        /// What grew.
        of: DeltaOf,
        text: String,
    },
    /// An item is in its final form.
    #[serde(rename = "item.completed")]
    ItemCompleted { turn: String, item: Box<Item> },
    /// An agent waits for an answer. Said again of a plan that was rewritten while it waits.
    #[serde(rename = "request.opened")]
    RequestOpened { request: Box<Request> },
    #[serde(rename = "request.settled")]
    RequestSettled { request: Box<Request> },
    /// A mode changed, that of the thread or of all that have none of their own.
    #[serde(rename = "mode.changed")]
    ModeChanged { from: Mode, to: Mode, reason: Option<String> },
    /// A goal was set or changed, or taken away.
    #[serde(rename = "goal.changed")]
    GoalChanged { objective: Option<String> },
    /// Providers, models or their keys changed.
    #[serde(rename = "providers.changed")]
    ProvidersChanged {},
    #[serde(rename = "settings.changed")]
    SettingsChanged {},
    /// Words for people.
    #[serde(rename = "warning")]
    Warning { message: String },
    /// This client was too far behind and does not get this many deltas; items that were completed have
    /// all of their text.
    #[serde(rename = "deltas.dropped")]
    DeltasDropped { count: u64 },
    /// This client did not read its notifications, and gets no more: read the thread, subscribe again.
    #[serde(rename = "lost")]
    Lost {},
}

/// What of an item grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeltaOf {
    /// What the agent says.
    Text,
    /// What it thinks.
    Thought,
    /// The summary of a thought.
    Summary,
    /// The same, and a new part of it begins.
    SummaryPart,
    /// Lines that the command of a tool call printed.
    Output,
}
