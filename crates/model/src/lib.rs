//! The nouns of Rookery: ids, entities, events and the one error type.
//!
//! Plain data that every other room may speak of. It knows no wire, no
//! runtime and no I/O; conversions live beside the code that needs them.

mod accepted;
mod activity;
mod assignment;
mod caller;
mod decision;
mod error;
mod event;
mod ids;
mod item;
mod mode;
mod project;
mod request;
mod shown;
mod size;
mod supervision;
mod terminal;
mod thread;
mod time;
mod words;
mod work_place;

pub use accepted::{Accepted, AcceptedSession, AcceptedTool, AcceptedWork, PlannedTree};
pub use activity::{
    Activity, AgentState, Lifecycle, Owner, Pending, RunState, RunningAgent, ShellState,
};
pub use assignment::{
    Assignment, Bounds, Prices, QueuedMessage, Reach, Role, ToolGroup, ToolSort, Unasked,
};
pub use caller::{Caller, Home, Origin, Standing};
pub use decision::{
    Decider, Decision, DecisionQuery, DecisionSource, DecisionVerdict, NumberedDecision,
};
pub use error::{Error, ErrorKind, Result};
pub use event::{Event, NumberedEvent};
pub use ids::{
    CheckpointId, EventId, EventSeq, HandoffId, IdError, ProjectId, QueueItemId, RequestId,
    ReviewId, SessionId, TerminalId, ThreadId, TimelineItemId, TurnId,
};
pub use item::{Item, ItemBody, ItemId, ItemStatus, Pruning, ToolItem};
pub use mode::{Mode, Profile, ToolKind};
pub use project::Project;
pub use request::{
    Answer, Asked, Asker, ExternalCall, PartAnswer, Plan, Question, QuestionOption, Request,
    RequestState, Settled,
};
pub use shown::{Unseen, is_unseen, spelled};
pub use size::{Size, SizeError};
pub use supervision::{
    Category, ChangedFile, Checkpoint, CheckpointSource, DiffStat, Differences, HandledEvent,
    Handoff, HandoffStatus, QueueItem, Record, RecordKind, Related, Review, ReviewComment,
    ReviewStatus, Source, TestStatus, TestSummary, TimelineItem, TimelineKind,
};
pub use terminal::{
    Checkout, ExitStatus, LaunchSpec, NotificationText, OnExit, Terminal, TerminalState,
    TerminalUuid, title_of_dir,
};
pub use thread::{
    Choice, ExternalTool, Goal, GoalStatus, ModelCall, Task, TaskStatus, Thread, Turn, TurnError,
    TurnErrorKind, TurnSettings, TurnStatus, Usage,
};
pub use time::Timestamp;
pub use words::Words;
pub use work_place::WorkPlace;
