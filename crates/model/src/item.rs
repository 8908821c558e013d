//! Items: what a turn consists of, as it is shown, stored and sent to the model again.

use std::fmt;

use crate::{TerminalId, Timestamp};

/// The name of an item, unique in its thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(String);

impl ItemId {
    /// Wraps a name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where an item is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemStatus {
    /// More of it comes.
    InProgress,
    /// It is whole.
    Completed,
    /// It was cut off, or what it stands for failed.
    Failed,
}

/// One piece of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its name, the same while it is streamed and ever after.
    pub id: ItemId,
    /// Where it is in its life.
    pub status: ItemStatus,
    /// Which model call of the turn it belongs to, from 0; user messages belong to the call that reads them.
    pub step: u32,
    /// When it began; zero until the thread has it.
    pub at: Timestamp,
    /// What it is.
    pub body: ItemBody,
    /// JSON that the provider wants back unchanged with this item; never shown.
    pub opaque: Option<String>,
}

impl Item {
    /// Whether there is anything in it to see. A thought that the provider keeps to itself has only
    /// what is wanted back, and is kept for that alone.
    pub fn is_shown(&self) -> bool {
        match &self.body {
            ItemBody::Reasoning { summary, content } => {
                summary.iter().chain(content).any(|part| !part.is_empty())
            }
            ItemBody::User { .. }
            | ItemBody::Agent { .. }
            | ItemBody::Tool(_)
            | ItemBody::Compaction { .. }
            | ItemBody::Error { .. }
            | ItemBody::Raw { .. } => true,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemBody {
    /// What the user said.
    User {
        text: String,
        /// Images, as `data:` or `http` addresses.
        images: Vec<String>,
        /// Further blocks for the model that are not part of what the user sees as the message.
        context: Vec<String>,
    },
    /// What the agent said.
    Agent {
        text: String,
        /// Which part of the answer it is, such as `final_answer`.
        phase: String,
        /// Whether it was cut off.
        partial: bool,
    },
    /// What the model thought, as far as it tells.
    Reasoning {
        /// Parts of a summary.
        summary: Vec<String>,
        /// Parts of the thought itself.
        content: Vec<String>,
    },
    /// A tool at work.
    Tool(Box<ToolItem>),
    /// What came before was summed up or shortened.
    Compaction {
        /// What the model gets instead.
        summary: String,
        /// What it stands for.
        pruning: Pruning,
    },
    /// Something failed.
    Error {
        /// What, in words for people.
        message: String,
    },
    /// JSON of another kind.
    Raw {
        /// The JSON text.
        payload: String,
    },
}

/// A tool call with what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolItem {
    /// The name that the model gave the call.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// The arguments, as the model wrote them: JSON text, not always whole.
    pub input: String,
    /// The output for the model, if it succeeded.
    pub output: Option<String>,
    /// The error for the model, if it failed.
    pub error: Option<String>,
    /// Details for programs: JSON text.
    pub data: Option<String>,
    /// How the command ended, if it was one.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// The terminal it ran in.
    pub terminal: Option<TerminalId>,
    /// Whether approval was requested, and the answer once there is one.
    pub approval: Option<Option<bool>>,
    /// Images for the model, as `data:` addresses.
    pub images: Vec<String>,
    /// Whether the provider ran it by itself.
    pub hosted: bool,
}

/// What a compaction removes from the model's context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pruning {
    /// Everything before this item, for which the summary stands; all if there is none.
    Before(Option<ItemId>),
    /// Only what tools answered before this item.
    OutputsBefore(ItemId),
}
