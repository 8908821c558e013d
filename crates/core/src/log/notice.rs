//! What happens to threads, in the words of core: one enum for each noun.

use rookery_agent::turn::Delta;
use rookery_model::{
    Goal, Hunk, Item, ItemId, LogChunk, Mode, ModelCall, Observation, ParentTurn, PlanKey,
    PlanRewrite, PlanStage, QueuedMessage, Request, Review, ReviewComment, ReviewId, Task, TaskId,
    TerminalId, Thread, ThreadId, Timestamp, TraceId, TraceStatus, Turn, TurnId,
};

use super::Shows;
use crate::children::{TraceItem, TraceSummary};
use crate::imports::ImportChange;
use crate::marketplaces::MarketplaceChange;
use crate::media::MediaChange;
use crate::memories::MemoryChange;
use crate::runners::RunnerState;
use crate::threads::{Status, TurnLifecycle};
use crate::workflows::{RunChange, RunNotice};

/// Something that happened to a thread.
#[derive(Debug)]
pub struct Notice {
    /// When it was sent.
    pub at: Timestamp,
    /// The thread it is about.
    pub thread: Option<ThreadId>,
    /// Its number among what happened to items of that thread; 0 if it is not about one.
    pub seq: u64,
    /// What happened.
    pub body: NoticeBody,
}

/// What happened, by what it happened to.
#[derive(Clone, Debug)]
pub enum NoticeBody {
    /// To the thread itself.
    Thread(ThreadChange),
    Turn(TurnChange),
    /// To an item of this turn.
    Item(TurnId, ItemChange),
    /// To a child agent that works for a turn of the thread.
    Trace(TraceChange),
    Request(RequestChange),
    Runner(RunnerChange),
    /// A program was asked to end; it may still run.
    Stopping(Box<ProcessStopping>),
    Team(rookery_teams::Change),
    /// To what all threads share.
    Settings(SettingsChange),
    Files(FileChange),
    /// To the review of a plan.
    Plan(PlanChange),
    /// To a background task.
    Task(TaskChange),
    /// To a run of a workflow.
    Workflow(Box<RunNotice>),
    Memory(Box<MemoryChange>),
    /// Something happened to imports.
    Import(Box<ImportChange>),
    /// To a marketplace or a plugin.
    Marketplace(Box<MarketplaceChange>),
    /// To an artifact.
    Media(Box<MediaChange>),
    /// Something that people should read.
    Warning(String),
}

/// A program that was asked to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStopping {
    /// Which one.
    pub program: ProgramName,
    /// Why, if a reason was given.
    pub reason: Option<String>,
}

/// A program that runs for a client, a task or a tool, by what it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramName {
    /// A command of a client.
    Command(String),
    /// That of a background task.
    Task(TaskId),
    /// A tool's at a runner.
    AtRunner(String),
    /// A tool's in a terminal.
    Terminal(TerminalId),
}

/// What happens to threads.
#[derive(Clone, Debug)]
pub enum ThreadChange {
    /// It began.
    Started(Box<Thread>, Status),
    /// It does something else.
    Status(Status),
    /// It is hidden from lists until it is restored.
    Archived,
    /// It got another name, or lost its own.
    Renamed(Option<String>),
    /// Its goal was set or changed.
    GoalSet(Box<Goal>),
    /// Its goal was taken away.
    GoalCleared,
    /// Its assignment was set or taken away; the thread has it.
    Assigned,
    /// Its agent works in another role from now on.
    Role {
        /// The slug of the one before; none if it had none.
        previous: Option<String>,
        /// The slug of the one now.
        role: String,
    },
    /// Messages wait in it, or were taken: all that wait now.
    Queued(Vec<QueuedMessage>),
    /// Its mode changed; without a thread, that of all that have none of their own.
    Mode {
        /// What held before.
        previous: Mode,
        /// What holds now.
        mode: Mode,
        /// Why, if a reason was given.
        reason: Option<String>,
    },
}

/// What happens to turns.
#[derive(Clone, Debug)]
pub enum TurnChange {
    /// It began.
    Started(Box<Turn>),
    /// It is at another place in its life. The last one comes before its end.
    Lifecycle(TurnLifecycle),
    /// It has this much of a result so far.
    PartialResult(TurnId, String),
    /// It ran out of time, with this much of a result.
    DeadlineExceeded(TurnId, Option<Timestamp>, String),
    /// It asks its model; the call has this number in it and began then.
    CallStarted(TurnId, u32, Timestamp),
    /// A tool call was let through, by policy or because it was approved, and runs.
    ToolRuns(TurnId, ItemId),
    /// That call is over.
    CallEnded(TurnId, u32, ModelCall),
    /// It came to its end.
    Ended(Box<Turn>),
}

/// What happens to items.
#[derive(Clone, Debug)]
pub enum ItemChange {
    /// It began.
    Started(Box<Item>),
    /// It grew.
    Delta(ItemId, Delta),
    /// The command that it runs printed these lines. In its final form it has all of them.
    Output(ItemId, String),
    /// It is in its final form.
    Completed(Box<Item>),
}

/// What happens to files.
#[derive(Clone, Debug)]
pub enum FileChange {
    /// A tool changed lines of one.
    Recorded(Box<Hunk>),
    /// A hunk is to be taken back.
    RollbackRequested {
        /// The turn that made it.
        turn: Option<TurnId>,
        /// Its name.
        hunk: String,
    },
    /// It was taken back, or was not.
    RollbackCompleted {
        /// The turn that made it.
        turn: Option<TurnId>,
        /// Its name.
        hunk: String,
        /// Why it was not.
        error: Option<String>,
    },
    /// A command was seen to change some.
    Observed(Box<Observation>),
}

/// Which review of which plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRef {
    pub review: ReviewId,
    /// The plan.
    pub key: PlanKey,
    pub thread: ThreadId,
    /// The turn that made it.
    pub turn: TurnId,
}

/// What happens to reviews of plans.
#[derive(Clone, Debug)]
pub enum PlanChange {
    /// A plan is to be reviewed.
    Created(Box<Review>),
    /// It stands elsewhere.
    Status {
        /// Which.
        of: PlanRef,
        /// Where.
        stage: PlanStage,
        /// Why.
        detail: Option<String>,
    },
    /// A comment was made on it.
    Commented {
        /// Which.
        of: PlanRef,
        /// The place of the comment among all.
        index: usize,
        comment: ReviewComment,
    },
    /// It was replaced.
    Rewritten {
        /// Which.
        of: PlanRef,
        /// The place of the new plan among all that replaced it.
        index: usize,
        /// The new plan.
        rewrite: PlanRewrite,
    },
    /// It may be carried out.
    Approved(PlanRef),
    /// It may not.
    Rejected {
        /// Which.
        of: PlanRef,
        /// Why.
        reason: Option<String>,
    },
}

/// What happens to child agents that work for a turn.
#[derive(Clone, Debug)]
pub enum TraceChange {
    /// It was asked for.
    Created(Box<TraceSummary>),
    /// Something happened in it.
    Item {
        trace: TraceId,
        /// The turn that it works for.
        parent: ParentTurn,
        /// What happened.
        item: Box<TraceItem>,
    },
    /// It is at another place in its life, or still where it was.
    Status {
        trace: TraceId,
        /// The turn that it works for.
        parent: ParentTurn,
        /// Where it is.
        status: TraceStatus,
        /// What it did last.
        detail: Option<String>,
        /// How long it has worked.
        elapsed_ms: u64,
    },
    /// It came to its end.
    Ended(Box<TraceSummary>),
}

/// What happens to requests.
#[derive(Clone, Debug)]
pub enum RequestChange {
    /// It waits for an answer.
    Asked(Box<Request>),
    /// The last of the answers that it has now was given, and it waits for others.
    Part(Box<Request>),
    /// What it asks was replaced by what it has now; it waits as before.
    Reworded(Box<Request>),
    /// It was settled, and this mode holds now.
    Settled(Box<Request>, Mode),
}

impl RequestChange {
    /// The request that it is about.
    pub fn request(&self) -> &Request {
        match self {
            RequestChange::Asked(request)
            | RequestChange::Part(request)
            | RequestChange::Reworded(request)
            | RequestChange::Settled(request, _) => request,
        }
    }
}

/// What happens to runners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerChange {
    pub destination: String,
    pub provider: String,
    /// The state it is in now.
    pub state: RunnerState,
    /// Its session, if it has one.
    pub session: Option<String>,
}

/// What happens to background tasks.
#[derive(Clone, Debug)]
pub enum TaskChange {
    /// It waits, for the first time or again.
    Queued(Box<Task>),
    /// It begins, while this number of others wait.
    Started(Box<Task>, usize),
    /// It wrote something. Its log has the end of all that it wrote.
    Output(TaskOutput),
    /// It is over. Nothing follows.
    Ended(Box<Task>),
}

/// Something that a task wrote.
#[derive(Clone, Debug)]
pub struct TaskOutput {
    pub task: TaskId,
    pub thread: Option<ThreadId>,
    pub turn: Option<TurnId>,
    /// What it wrote.
    pub chunk: LogChunk,
    /// How many bytes of its log are gone by now.
    pub dropped: u64,
}

/// What happens to settings of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsChange {
    /// Providers, models or their keys.
    Providers,
    /// Anything else.
    Other,
}

impl NoticeBody {
    /// What a viewer shows that changed by this: that of a room which keeps it beside the world. What
    /// stands in the world raises its signal when that changes.
    pub(super) fn shows(&self) -> Option<Shows> {
        match self {
            NoticeBody::Files(_) => Some(Shows::FileChanges),
            NoticeBody::Import(change) => {
                (!matches!(**change, ImportChange::Previewed(_))).then_some(Shows::Imports)
            }
            NoticeBody::Marketplace(_) => Some(Shows::Marketplaces),
            NoticeBody::Media(_) => Some(Shows::Media),
            NoticeBody::Memory(change) => match **change {
                // Nothing is another afterwards.
                MemoryChange::Queried { .. } | MemoryChange::Recalled { .. } => None,
                _ => Some(Shows::Memories),
            },
            NoticeBody::Runner(_) => Some(Shows::Runners),
            NoticeBody::Team(_) => Some(Shows::Teams),
            NoticeBody::Trace(_) => Some(Shows::Children),
            NoticeBody::Workflow(_) => Some(Shows::Workflows),
            NoticeBody::Thread(_)
            | NoticeBody::Turn(_)
            | NoticeBody::Item(..)
            | NoticeBody::Request(_)
            | NoticeBody::Stopping(_)
            | NoticeBody::Settings(_)
            | NoticeBody::Plan(_)
            | NoticeBody::Task(_)
            | NoticeBody::Warning(_) => None,
        }
    }

    pub(super) fn is_of_item(&self) -> bool {
        matches!(self, NoticeBody::Item(..))
    }

    /// Whether a reader that missed it still learns all of it: from the item that follows, from the
    /// trace, or from the log of its task.
    pub(super) fn is_delta(&self) -> bool {
        match self {
            NoticeBody::Item(_, change) => {
                matches!(change, ItemChange::Delta(..) | ItemChange::Output(..))
            }
            NoticeBody::Trace(change) => matches!(change, TraceChange::Item { .. }),
            NoticeBody::Workflow(notice) => matches!(notice.change, RunChange::Output { .. }),
            NoticeBody::Task(change) => matches!(change, TaskChange::Output(_)),
            NoticeBody::Team(change) => matches!(change, rookery_teams::Change::Text { .. }),
            _ => false,
        }
    }
}

/// A change is what happened.
macro_rules! becomes_body {
    ($($Change:ident => $Variant:ident),*) => {
        $(impl From<$Change> for NoticeBody {
            fn from(change: $Change) -> NoticeBody {
                NoticeBody::$Variant(change)
            }
        })*
    };
}

becomes_body!(
    ThreadChange => Thread,
    TurnChange => Turn,
    FileChange => Files,
    PlanChange => Plan,
    TraceChange => Trace,
    RequestChange => Request,
    RunnerChange => Runner,
    SettingsChange => Settings,
    TaskChange => Task
);
