//! Core: the one world behind all dialects.
//!
//! It keeps the truth (projects, terminals, the event log) and decides when
//! things happen; engines decide how. It knows no wire, no dialect, no SQL.
//! State changes only in [`Core::transact`]; what happened leaves numbered,
//! in commit order, and only after it is durable.

mod agents;
mod answers;
mod callers;
mod clock;
mod core;
mod decisions;
mod events;
mod exec;
mod keeper_link;
mod parked;
mod queue;
mod requests;
mod secrets;
mod status;
mod supervision;
mod terminals;
mod threads;
mod ui;
mod workspace;
mod world;

pub use rookery_host::files;
pub use rookery_host::{AgentTool, FoundTool, Leftover};
pub use rookery_model as model;
pub use rookery_store::{DecisionQuery, NumberedDecision};
pub use rookery_term::Palette;

pub use crate::agents::{AgentConfig, NewRoot, Place, ProviderState};
pub use crate::core::{Core, CoreConfig, StopKind};
pub use events::{EventPage, EventStream, Events};
pub use exec::{
    Artifact, ExecChunk, ExecEnd, ExecRequest, ExecStart, ExecStream, Execution, ProcessOutput,
    ProcessState, ProcessView, Shows as ExecShows,
};
pub use keeper_link::KeeperLaunch;
pub use status::{KeeperState, McpServer, Status};
pub use supervision::{
    AgentEvent, AgentEventKind, AgentSeen, Approval, ApprovalStatus, Base, Compared, Conflict,
    Created, Decision, Difference, HeadChange, How, Import, Imported, Keep, LandOutcome, Landed,
    Landing, NewCheckpoint, NewComment, NewHandoff, NewReview, NewSession, NewTree, Reported,
    Restored, SeenDialog, Session, SessionError, SessionHome, SessionNotice, Shown, Taken,
    ToolWish, Tree, TreeState, TreeWish, Typing, Typist, What,
};
pub use terminals::{
    Attachment, Expansion, MouseOutcome, OpenTerminal, Output, OutputStream, Piece, Preedit,
    Progress, RawLog, Scene, Selected, StrayAction, TerminalHandle, TerminalLimits, View, ViewCell,
    Waited, drawn,
};
pub use threads::Status as ThreadStatus;
pub use threads::{
    Compacted, DirectCall, DirectOutcome, Drained, FeedReader, FittedChoice, Flag, GoalChange,
    LifecycleState, NewThread, NewTurn, Notice, NoticeBody, StartedTurn, Steered, ThreadPage,
    ThreadQuery, ThreadView, TurnLifecycle, TurnView,
};
pub use ui::{Clipboard, Presented, SceneCounts, UiConfig, WindowMetrics, view};
pub use workspace::{AgentReport, Attention, OwnershipAction, Tabs, Workspace};
pub use world::Active;
