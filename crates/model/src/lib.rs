//! The nouns of Rookery: ids, entities, events and the one error type.
//!
//! Plain data that every other room may speak of. It knows no wire, no
//! runtime and no I/O; conversions live beside whoever needs them.

mod activity;
mod decision;
mod error;
mod event;
mod ids;
mod item;
mod mode;
mod project;
mod request;
mod size;
mod terminal;
mod thread;
mod time;

pub use activity::{Activity, Lifecycle, Owner, Pending, RunState, ShellState};
pub use decision::{Decision, DecisionSource, DecisionVerdict};
pub use error::{Error, ErrorKind, Result};
pub use event::{Event, NumberedEvent};
pub use ids::{EventSeq, IdError, ProjectId, RequestId, TerminalId, ThreadId, TurnId};
pub use item::{Item, ItemBody, ItemId, ItemStatus, Pruning, ToolItem};
pub use mode::{Mode, Profile, ToolKind};
pub use project::Project;
pub use request::{
    Answer, Asked, ExternalCall, Plan, Question, QuestionOption, Request, RequestState, Settled,
};
pub use size::{Size, SizeError};
pub use terminal::{
    ExitStatus, LaunchSpec, NotificationText, OnExit, Terminal, TerminalState, TerminalUuid,
    title_of_dir,
};
pub use thread::{
    Choice, ExternalTool, Goal, GoalStatus, Task, TaskStatus, Thread, Turn, TurnError,
    TurnErrorKind, TurnSettings, TurnStatus, Usage,
};
pub use time::Timestamp;
