//! Core: the one world behind all dialects.
//!
//! It keeps the truth (projects, terminals, the event log) and decides when
//! things happen; engines decide how. It knows no wire, no dialect, no SQL.
//! State changes only in [`Core::transact`]; what happened leaves numbered,
//! in commit order, and only after it is durable.

mod agents;
mod callers;
mod checkpoints;
mod clock;
mod commands;
mod core;
mod handoffs;
mod keeper_link;
mod log;
mod queue;
mod requests;
mod reviews;
mod rooms;

mod seats;
mod secrets;
mod sessions;
mod status;
mod terminals;
mod threads;
mod workspace;
mod worktrees;
mod world;

pub use crate::agents::{AgentConfig, FittedChoice, ModelFacts, NewRoot, Place, ProviderState};
pub use crate::core::{Core, CoreConfig, StopKind};
pub use checkpoints::{Compared, NewCheckpoint};
pub use commands::{
    Artifact, ExecChunk, ExecEnd, ExecRequest, ExecStart, ExecStream, ExecWords, Execution,
    ProcessOutput, ProcessState, ProcessView, Shows as ExecShows,
};
pub use handoffs::NewHandoff;
pub use keeper_link::KeeperLaunch;
pub use log::{
    Changes, EventPage, ItemChange, News, Notice, NoticeBody, RequestChange, SettingsChange, Shows,
    Subscription, ThreadChange, Topics, TurnChange,
};
pub use requests::{
    Approval, ApprovalStatus, Resolution, Resolved, Responder, SeenDialog, Shown, Typing,
};
pub use reviews::{NewComment, NewReview};
pub use rooms::{
    Agents, Checkpoints, Commands, Handoffs, Log, Queue, Requests, Reviews, Seats, Sessions,
    Terminals, Threads, Workspace, Worktrees,
};
pub use seats::{Clipboard, Presented, SceneCounts, UiConfig, WindowMetrics};
pub use sessions::{
    AgentChoice, AgentEvent, AgentEventKind, Created, Import, Imported, NewSession, Reported,
    Session, SessionError, SessionHome, SessionNotice, Taken,
};
pub use status::{KeeperState, McpServer, Status};
pub use terminals::{
    AgentSeen, Attachment, Expansion, MouseOutcome, OpenTerminal, Output, OutputStream, Piece,
    Preedit, Progress, RawLog, Scene, Selected, StrayAction, TerminalHandle, TerminalLimits, View,
    ViewCell, Waited, drawn,
};
pub use threads::Status as ThreadStatus;
pub use threads::{
    APPROVAL_DENIED, Compacted, DirectCall, DirectOutcome, Drained, Flag, GoalChange,
    LifecycleState, NO_ANSWER, NewThread, NewTurn, POLICY_DENIED, StartedTurn, Steered, ThreadPage,
    ThreadQuery, ThreadView, TurnLifecycle, TurnView,
};
pub use workspace::{AgentReport, Attention, OwnershipAction, Tabs, WorkspaceTree};
pub use worktrees::{LandOutcome, Tree};
pub use world::Active;
