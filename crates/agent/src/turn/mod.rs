//! The turn as a pure machine: events in, effects out. The same inputs always give the same effects.
//!
//! The driver performs the effects in order and feeds back their results. It knows no
//! clock, no runtime and no thread but its own turn. Its promises: every item that was started is
//! completed exactly once, every call of the model ends exactly once and before the next, [`Effect::Finish`]
//! comes exactly once, and nothing comes after it.

mod compaction;
mod ending;
mod history;
mod machine;
mod names;
mod stream;
mod work;

pub use compaction::{Compaction, SUMMARY_INSTRUCTION, plan as plan_compaction};
pub use ending::{FAILED, INTERRUPTED};
pub use history::{entries, estimate, estimate_items, seal_opaque, window};
pub use machine::Turn;

use rookery_model::{Item, ItemId, Profile, Pruning, TurnError, TurnId, TurnStatus, Usage};

use crate::provider::{HostedTool, ModelEvent};
use crate::tool::ToolOutput;

/// How much a turn may do before it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub tool_rounds: u32,
    pub model_calls: u32,
    /// Tools that failed.
    pub tool_failures: u32,
    /// Tools that failed one after the other.
    pub consecutive_failures: u32,
    /// Failed tools one after the other that end the turn, whoever is there: what a person denied and
    /// commands that ran do not count.
    pub mistakes: u32,
    /// Whether failures one after the other are only ever mentioned.
    pub continues_on_failures: bool,
    /// How often an unattended turn is asked whether it is really done.
    pub nudges: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            tool_rounds: 1024,
            model_calls: 512,
            tool_failures: 128,
            consecutive_failures: 5,
            mistakes: u32::MAX,
            continues_on_failures: false,
            nudges: 0,
        }
    }
}

/// The input of a turn at its start.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its id, from which its items get their names.
    pub turn: TurnId,
    /// Names of tool calls that the thread has used already.
    pub used_names: Vec<String>,
    /// Who is there.
    pub profile: Profile,
    /// How much it may do.
    pub limits: Limits,
    /// Whether the ledger of tasks has to be kept.
    pub needs_ledger: bool,
    /// From how many tokens on the conversation is compacted.
    pub compact_at: Option<u64>,
    /// Whether tools of one step run side by side.
    pub parallel_tools: bool,
    /// Whether its thread has an assignment, so that its agent can say that it is done.
    pub is_assigned: bool,
}

/// What the machine may look at besides its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// About how many tokens the conversation has.
    pub tokens: u64,
    /// Whether the ledger has tasks that are not done.
    pub has_open_tasks: bool,
}

/// What the user said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub text: String,
    /// Images, as `data:` or `http` addresses.
    pub images: Vec<String>,
    /// Further blocks for the model.
    pub context: Vec<String>,
}

/// What happens to a turn.
#[derive(Clone, Debug)]
pub enum Input {
    /// It begins with these messages.
    Begin(Vec<Message>),
    /// It goes on after a restart; see [`Turn::resume`].
    Resume,
    /// The model said something.
    Model(ModelEvent),
    /// The model's stream ended without saying so.
    ModelGone,
    ToolDone {
        item: ItemId,
        /// What came of it.
        done: Box<ToolDone>,
    },
    /// The user said something in between.
    Steer(Vec<Message>),
    /// The user wants it to stop.
    Interrupt,
    /// The conversation was compacted: what the model gets instead; none if there was nothing to do.
    Compacted(Result<Option<(String, Pruning)>, String>),
    /// Little time is left.
    Reserve,
    /// Little time is left to save what can be scored.
    Checkpoint,
    /// The time is up.
    Deadline,
}

impl Input {
    /// Whether a step with it may look at the [`View`]. Pieces of an answer do not, and there are many of
    /// them, while a view is as much work as the conversation is long.
    pub fn needs_view(&self) -> bool {
        match self {
            Input::Model(event) => matches!(event, ModelEvent::Done { .. } | ModelEvent::Failed(_)),
            _ => true,
        }
    }
}

/// What came of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolDone {
    pub output: ToolOutput,
    /// Whether approval was requested, and the answer.
    pub approval: Option<bool>,
    /// How long it took.
    pub duration_ms: Option<u64>,
}

/// What is to be done, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Announce an item that is in progress.
    Started(Item),
    /// Announce more of an item.
    Delta {
        item: ItemId,
        /// What is added.
        delta: Delta,
    },
    /// Announce an item in its final form, and keep it.
    Completed(Item),
    /// Ask the model.
    CallModel(CallShape),
    /// The call of the model is over; its items are complete.
    CallEnded {
        /// What it cost.
        usage: Usage,
        /// Why it failed.
        error: Option<String>,
        /// Whether it was cut off because the turn is to stop.
        is_cut: bool,
    },
    /// Drop the model's stream.
    AbortModel,
    /// Judge a tool call, ask for it if need be, and run it.
    RunTool {
        item: ItemId,
        /// The tool.
        name: String,
        /// The arguments as the model wrote them.
        arguments: String,
        /// The call's name.
        call_id: String,
    },
    /// Stop all tools and wait until they are gone; their results are not wanted.
    StopTools,
    /// Judge a tool of an agent that is a provider, and tell it the answer.
    Judge {
        /// To be named in the answer.
        permission: String,
        item: ItemId,
        tool: HostedTool,
    },
    /// Make the conversation shorter.
    Compact {
        /// Whether it has to become shorter in any case.
        is_forced: bool,
    },
    /// Tell clients.
    Warn(String),
    /// Tell clients what there is so far.
    PartialResult(String),
    /// Tell clients that the time is up, and what there is.
    DeadlineExceeded(String),
    /// End the turn.
    Finish(End),
}

/// What is added to an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// Text of the agent.
    Text {
        text: String,
        /// Which part of the answer it belongs to.
        phase: String,
    },
    /// Text of a thought.
    Thought { text: String },
    /// Text of a thought's summary.
    Summary {
        text: String,
        /// The part it belongs to.
        index: u32,
    },
    /// A new part of a thought's summary begins.
    SummaryPart {
        /// Its number.
        index: u32,
    },
}

/// How the model is asked this time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallShape {
    /// Which tools it is offered.
    pub offer: Offer,
    /// Additional instructions for this call only.
    pub reminders: Vec<String>,
}

/// Which tools a model is offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Offer {
    /// All that the turn may use.
    #[default]
    All,
    None,
    /// Only this one, and it has to be called.
    Only(&'static str),
}

/// How a turn ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// In which state.
    pub status: TurnStatus,
    /// Why it failed.
    pub error: Option<TurnError>,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// What it cost.
    pub usage: Usage,
}

#[cfg(test)]
mod tests;
