//! Child agents: threads that work for a turn of another thread, and traces of what they did.

use std::time::Duration;

use crate::{ItemId, ThreadId, Timestamp, TraceId, TurnId, Usage};

/// What a child is for, which decides what it may use and how many of them work at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Looks around; changes nothing.
    Scout,
    /// Reads and changes files.
    Editor,
    /// Judges what was done; changes nothing.
    Reviewer,
    /// Runs commands, and nothing else.
    Runner,
}

/// How a child came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChildExit {
    /// It answered.
    Completed,
    /// It made as many calls of the model as it may.
    MaxTurns,
    /// It worked as long as it may.
    Timeout,
    /// It was stopped.
    Cancelled,
    Failed,
}

/// Where a child is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceStatus {
    /// It waits until others are done.
    Queued,
    /// It works.
    Running,
    /// It waits for a person.
    Waiting,
    /// It answered.
    Completed,
    /// It failed, or exceeded a bound.
    Failed,
    /// It was stopped.
    Cancelled,
}

impl TraceStatus {
    /// Whether nothing follows it.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl ChildExit {
    /// The status that a child which ended so has.
    pub fn status(self) -> TraceStatus {
        match self {
            Self::Completed => TraceStatus::Completed,
            Self::Cancelled => TraceStatus::Cancelled,
            Self::MaxTurns | Self::Timeout | Self::Failed => TraceStatus::Failed,
        }
    }
}

/// The turn that a child works for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParentTurn {
    pub thread: ThreadId,
    pub turn: TurnId,
}

/// What makes a thread a child agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildOf {
    /// The turn that it works for; none if it works for a client or a script alone.
    pub parent: Option<ParentTurn>,
    /// Whether it goes on when that turn is over: something else waits for it.
    pub outlives_turn: bool,
    /// Its trace among those of its parent.
    pub trace: Option<TraceId>,
    /// The name of its definition.
    pub agent: String,
    pub lane: Option<Lane>,
    /// Whether it is held to reading, whatever its mode allows.
    pub read_only: bool,
    /// The only tools that it has; all of its parent's if there is no list.
    pub tools: Option<Vec<String>>,
    /// What its definition tells the model. It is shown to no client.
    pub instructions: String,
    /// How many calls of the model a turn of it may make.
    pub max_calls: u32,
    /// The most characters of its answer; as the settings say if it is not said.
    pub max_chars: Option<u32>,
    /// How long it may work in all; as the settings say if it is not said.
    pub timeout: Option<Duration>,
}

/// One run of a child for a turn, kept with that turn's thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its id; ids of later ones are greater.
    pub id: TraceId,
    /// The turn that the child works for.
    pub parent: ParentTurn,
    /// The child's thread.
    pub child: ThreadId,
    /// Its turn there; none before it has begun.
    pub child_turn: Option<TurnId>,
    /// What it is to do, in a few words.
    pub title: String,
    /// The name of its definition.
    pub agent: String,
    /// The model that answers in it.
    pub model: Option<String>,
    pub lane: Option<Lane>,
    /// Where it is in its life.
    pub status: TraceStatus,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it began to work.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Its tokens, once it has ended.
    pub usage: Option<Usage>,
    /// What it did last, in a few words.
    pub activity: Option<String>,
    /// How it ended.
    pub exit: Option<ChildExit>,
    /// The category of what went wrong; never the words of a provider.
    pub error: Option<String>,
    /// What happened in it, in order.
    pub entries: Vec<TraceEntry>,
}

impl Trace {
    /// How long it has worked by this time, in milliseconds.
    pub fn elapsed_ms(&self, now: Timestamp) -> u64 {
        let Some(began) = self.started_at else { return 0 };
        let end = self.ended_at.unwrap_or(now);
        let micros = end.as_micros().saturating_sub(began.as_micros());
        u64::try_from(micros / 1_000).unwrap_or(0)
    }
}

/// Something that happened in a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// When.
    pub at: Timestamp,
    /// What.
    pub body: TraceBody,
}

/// What happened. Words are not repeated here: the child's thread has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceBody {
    /// Something was said or thought, in this item.
    Text(ItemId),
    /// The tool of this item was called.
    Called(ItemId),
    /// The tool of this item came to its end.
    Returned(ItemId),
    /// It is at another place in its life.
    Status(TraceStatus),
    /// More happened than is kept here.
    Cut,
}
