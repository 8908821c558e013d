//! The nouns of Rookery: ids, entities, events and the one error type.
//!
//! Plain data that every other room may speak of. It knows no wire, no
//! runtime and no I/O; conversions live beside the code that needs them.

mod accepted;
mod activity;
mod assignment;
mod caller;
mod change;
mod child;
mod decision;
mod error;
mod event;
mod ids;
mod item;
mod memory;
mod mode;
mod plan_review;
mod project;
mod request;
mod runner;
mod shown;
mod size;
pub mod spelling;
mod supervision;
mod task;
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
    Assignment, Bounds, Prices, QueuedMessage, Reach, Role, Steer, ToolGroup, ToolSort, Unasked,
};
pub use caller::{Caller, Home, Origin, Standing};
pub use change::{
    ChangeKind, ChangeRecord, Edit, FileOperation, FileStatus, Hunk, HunkLine, LineKind,
    Observation, ObservedFile, PlanKey, Rollback, Undone,
};
pub use child::{ChildExit, ChildOf, Lane, ParentTurn, Trace, TraceBody, TraceEntry, TraceStatus};
pub use decision::{
    Decider, Decision, DecisionQuery, DecisionSource, DecisionVerdict, NumberedDecision,
};
pub use error::{Error, ErrorKind, Result};
pub use event::{Event, NumberedEvent};
pub use ids::{
    CheckpointId, EventId, EventSeq, HandoffId, IdError, ProjectId, QueueItemId, RequestId,
    ReviewId, SessionId, TaskId, TeamId, TerminalId, ThreadId, TimelineItemId, TraceId, TurnId,
    ViewerId,
};
pub use item::{Item, ItemBody, ItemId, ItemStatus, Pruning, ToolItem};
pub use memory::{Memory, MemoryScope, ScopeName};
pub use mode::{Mode, Profile, ToolKind};
pub use plan_review::{PlanAnchor, PlanRewrite, PlanStage, ReviewedPlan, ReviewedStep};
pub use project::Project;
pub use request::{
    Answer, Asked, Asker, ExternalCall, PartAnswer, Plan, Question, QuestionOption, Request,
    RequestState, Settled,
};
pub use runner::{LATER_DESTINATION, RunnerBinding, shown_destination};
pub use shown::{Unseen, is_unseen, spelled};
pub use size::{Size, SizeError};
pub use supervision::{
    Category, ChangedFile, Checkpoint, CheckpointSource, DiffStat, Differences, HandledEvent,
    Handoff, HandoffStatus, QueueItem, Record, RecordKind, Related, Review, ReviewComment,
    ReviewStatus, Source, TestStatus, TestSummary, TimelineItem, TimelineKind,
};
pub use task::{
    Attempt, Cancel, Fate, Holder, Lifetime, LogChunk, LogStream, Lost, Retry, Task, TaskLog,
    TaskResult, TaskRunner, TaskSpec, TaskState, TaskTerminal,
};
pub use terminal::{
    Checkout, ExitStatus, LaunchSpec, NotificationText, OnExit, Terminal, TerminalState,
    TerminalUuid, title_of_dir,
};
pub use thread::{
    Choice, ExternalTool, Goal, GoalStatus, ModelCall, PlanStep, PlanStepStatus, Thread, Turn,
    TurnError, TurnErrorKind, TurnSettings, TurnStatus, Usage,
};
pub use time::Timestamp;
pub use words::Words;
pub use work_place::WorkPlace;
