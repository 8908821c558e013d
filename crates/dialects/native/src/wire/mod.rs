//! What goes over the wire, a file per noun. Members are camelCase; unknown members of requests
//! are ignored. Clients use the same types.
#![expect(
    missing_docs,
    reason = "a member needs words only where its name does not say what it means"
)]

mod activity;
mod agent;
mod audit;
mod bytes;
mod checkpoint;
mod daemon;
mod ended;
mod event;
mod project;
mod queue;
mod request;
mod review;
mod session;
mod supervision;
mod terminal;
mod time;
mod worktree;

pub use activity::{Agent, RunState};
pub use agent::{DefaultModel, ListProviders, Provider, Providers};
pub use audit::{Audit, AuditList, Decision, DecisionSource, DecisionVerdict, POLICY};
pub use bytes::Base64;
pub use checkpoint::{
    CheckpointCreate, CheckpointDelete, CheckpointDiff, CheckpointDiffed, CheckpointList,
    CheckpointPrune, CheckpointRestore, CheckpointRestored, CheckpointShow, Checkpoints,
    CheckpointsDeleted,
};
pub use daemon::{GetStatus, Keeper, McpServer, Shutdown, ShutdownReply, Status, TerminalCounts};
pub use ended::{LeftProcess, TerminalClose, TerminalEnded, TerminalKill};
pub use event::{
    Event, EventBody, EventList, EventNotification, EventPage, Subscribe, Subscription, Unsubscribe,
};
pub use project::{
    ListProjects, Project, ProjectCreate, ProjectDelete, ProjectList, ProjectRename,
};
pub use queue::{
    Queue, QueueEntry, QueueList, QueueResolve, QueueResolved, Timeline, TimelineItem,
    TimelineKind, TimelineList,
};
pub(crate) use request::thread_of;
pub use request::{
    AnswerRequest, Answered, DeferRequest, Deferred, Mode, Question, Request, RequestKind,
    RequestList, RequestState, Requests, TurnStatus, Unseen,
};
pub use review::{
    HandoffCreate, HandoffList, HandoffSetStatus, Handoffs, NewComment, ReviewAddComments,
    ReviewDeliver, ReviewGet, ReviewList, ReviewRequest, ReviewSetStatus, Reviews,
};
pub use session::{Session, SessionClose, SessionCreate, SessionList, Sessions};
pub use supervision::{
    Category, ChangedFile, Checkpoint, CheckpointSource, Differences, Handoff, HandoffStatus,
    QueueItem, Related, Review, ReviewComment, ReviewStatus, Source, TestStatus, TestSummary,
};
pub use terminal::{
    Attach, Attached, Cursor, Detach, Dump, Dumped, Exit, Output, OutputNotification, Signal, Size,
    Terminal, TerminalActivate, TerminalFilter, TerminalGet, TerminalList, TerminalMove,
    TerminalOpen, TerminalPaste, TerminalPress, TerminalRename, TerminalResize, TerminalSignal,
    TerminalState, TerminalWrite, Wait, WaitKind, Waited,
};
pub use time::{Time, format_time};
pub use worktree::{
    LandConflict, LandHow, Worktree, WorktreeAttach, WorktreeBootstrap, WorktreeCreate,
    WorktreeLand, WorktreeLanded, WorktreeList, WorktreeMade, WorktreeRemove, WorktreeRemoved,
    WorktreeState, Worktrees,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of a method that has nothing to say but that it worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}
