//! Core: the one world behind all dialects.
//!
//! It keeps the truth (projects, terminals, the event log) and decides when
//! things happen; engines decide how. It knows no wire, no dialect, no SQL.
//! What is stored changes only in `transact`, what ends with the daemon also in `adjust`;
//! what happened leaves numbered, in commit order, and only after it is durable.

mod agents;
mod callers;
mod checkpoints;
mod children;
mod clock;
mod commands;
mod core;
mod devices;
mod file_changes;
mod handoffs;
mod imports;
mod keeper_link;
mod log;
mod marketplaces;
mod media;
mod memories;
mod queue;
mod requests;
mod reviews;
mod rooms;
mod runners;

mod seats;
mod secrets;
mod sessions;
mod status;
mod tasks;
mod teams;
mod terminals;
mod threads;
mod workflows;
mod workspace;
mod worktrees;
mod world;

pub use crate::agents::{
    AgentConfig, FittedChoice, ModelFacts, NewRoot, Place, ProviderState, SigningIn,
};
pub use crate::core::{Core, CoreConfig, StopKind};
pub use checkpoints::{Compared, NewCheckpoint};
pub use children::{
    Child, ChildDone, NewChild, TraceContent, TraceItem, TracePage, TracePlace, TraceSummary,
};
pub use commands::{
    Artifact, ExecChunk, ExecEnd, ExecRequest, ExecRunner, ExecStart, ExecStream, ExecWords,
    Execution, ProcessOutput, ProcessState, ProcessView, Shows as ExecShows,
};
pub use devices::{CloseReason, Credential, Device, MAX_DEVICES, Pairing, Reach, Unpaired, Visit};
pub use file_changes::{HunkQuery, RolledBack};
pub use handoffs::NewHandoff;
pub use imports::{EnabledImport, ImportChange, NewImport, Refreshed, SkillList, SkillSelector};
pub use keeper_link::KeeperLaunch;
pub use log::{
    Changes, EventPage, FileChange, ItemChange, News, Notice, NoticeBody, PlanChange, PlanRef,
    ProcessStopping, ProgramName, RequestChange, RunnerChange, SettingsChange, Shows, Subscription,
    TaskChange, TaskOutput, ThreadChange, Topics, TraceChange, TurnChange,
};
pub use marketplaces::{MarketplaceChange, MarketplaceDirs, NewMarketplace};
pub use media::{
    ImageAction, ImageModel, ImageProvider, MadeArtifact, MadeArtifacts, MediaAttachment,
    MediaChange, MediaInput, NewArtifact, NewImage, NewImageInput,
};
pub use memories::{
    Citation, MemoryChange, MemoryChoice, MemoryHit, MemoryModel, MemoryPlace, MemoryProviderView,
    MemoryResults,
};
pub use queue::AgentStart;
pub use requests::{
    Approval, ApprovalStatus, Resolution, Resolved, Responder, SeenDialog, Shown, Typing,
};
pub use reviews::{NewComment, NewReview};
pub use rooms::{
    Agents, Checkpoints, Children, Commands, Devices, FileChanges, Handoffs, Imports, Log,
    Marketplaces, Media, Memories, Queue, Requests, Reviews, Runners, Seats, Sessions, Tasks,
    Teams, Terminals, Threads, Workflows, Workspace, Worktrees,
};
pub use runners::{
    Deleted, NewDestination, Opener, PortAction, ProviderView, RunnerActed, RunnerAction,
    RunnerDirs, RunnerProcess, RunnerRequest, RunnerSession, RunnerState, RunnerStatus, RunnerUse,
    RunnersView, TakenSnapshot,
};
pub use seats::{
    Clipboard, EndReason, Face, Fit, MAX_VIEWERS, NewViewer, Page, PaneTo, PictureAsk, Presented,
    SceneCounts, UiConfig, Viewer, ViewerRights, WindowMetrics, WindowPicture,
};
pub use sessions::{
    AgentChoice, AgentEvent, AgentEventKind, Created, Import, Imported, NewSession, Reported,
    Session, SessionError, SessionHome, SessionNotice, Taken,
};
pub use status::{KeeperState, McpServer, Status};
pub use tasks::{
    ExecutorInfo, NewTask, Submitted, TaskCancel, TaskPage, TaskQuery, TaskSite,
    USUAL_RUNNING_TASKS,
};
pub use teams::{NewMember, NewMessage, NewTeam, Starter};
pub use terminals::{
    AgentSeen, Attachment, Expansion, InputMark, MouseOutcome, OpenTerminal, Output, OutputStream,
    PendingInput, Preedit, Progress, RawLog, Scene, ScreenView, ScrollTo, Selected, StrayAction,
    TerminalHandle, TerminalLimits, TranscriptChunk, View, ViewCell, Waited, drawn,
};
pub use threads::Status as ThreadStatus;
pub use threads::{
    APPROVAL_DENIED, Compacted, DirectCall, DirectOutcome, Drained, Flag, FollowedThread,
    GoalChange, LifecycleState, NO_ANSWER, NewThread, NewTurn, POLICY_DENIED, PlacedItem,
    StartedTurn, Steered, ThreadPage, ThreadQuery, ThreadView, TurnLifecycle, TurnView,
};
pub use workflows::{
    AgentStatus, ClientGrant, CostEstimate, NewRun, Phase, PhaseStatus, Planned, Run, RunAgent,
    RunApproval, RunChange, RunDecision, RunEnd, RunHandle, RunLine, RunNotice, RunProgress,
    RunStatus, RunSummary, RunWaiting, ScriptInfo, ScriptKind, ScriptProblem, ScriptQuery, Scripts,
    TaskInput,
};
pub use workspace::{
    AgentReport, Attention, Beside, OwnershipAction, TabGroup, Tabs, WorkspaceTree,
};
pub use worktrees::{KeptTree, LandOutcome, Tree};
pub use world::Active;
