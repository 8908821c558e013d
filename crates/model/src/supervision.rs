//! Supervision: what needs a person's attention, and the objects that go between people and agents.
//!
//! A queue item says who is waited for and why; reviews, checkpoints and handoffs are what it may
//! point at. An approval is a [`crate::Request`]. Words belong to a session, which is a terminal or a
//! thread under its universally unique name; what is about files belongs to a [`WorkPlace`].

use std::path::PathBuf;

use crate::{
    Accepted, CheckpointId, EventId, HandoffId, PlanAnchor, QueueItemId, ReviewId, ReviewedPlan,
    SessionId, TimelineItemId, Timestamp, WorkPlace,
};

/// How urgent something is; the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// An agent waits for a decision or an answer.
    ApprovalNeeded,
    /// Changes need a review.
    ReviewRequested,
    /// Something failed.
    Error,
    /// Work cannot go on by itself.
    Blocked,
    /// Work is done.
    Completed,
    /// Good to know.
    Informational,
}

impl Category {
    /// All of them, the most urgent first.
    pub const ALL: [Category; 6] = [
        Category::ApprovalNeeded,
        Category::ReviewRequested,
        Category::Error,
        Category::Blocked,
        Category::Completed,
        Category::Informational,
    ];
}

/// Where word of something came from; the most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A thread of ours, or the daemon itself.
    Protocol,
    /// An agent or a hook that reported it.
    Report,
    /// A screen that was read.
    Screen,
    /// An escape sequence of a program.
    Program,
}

/// What a queue item is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Related {
    /// Something that waits for an answer.
    Request(crate::RequestId),
    Review(ReviewId),
    Checkpoint(CheckpointId),
    Handoff(HandoffId),
    /// A background task that is lost.
    Task(crate::TaskId),
}

/// Something that asks for attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueItem {
    /// Its id, never reused.
    pub id: QueueItemId,
    /// The session to look at, if there is one.
    pub session: Option<SessionId>,
    /// What it is about.
    pub related: Option<Related>,
    /// How urgent it is.
    pub category: Category,
    /// In a few words.
    pub title: String,
    /// In a few more.
    pub subtitle: Option<String>,
    /// Who said so.
    pub source: Source,
    /// When it was filed.
    pub created_at: Timestamp,
    /// Its number among all items ever filed, so that those of one moment keep their order.
    pub order: u64,
    /// Whether it stays however old it gets.
    pub is_pinned: bool,
    /// When it was dealt with.
    pub resolved_at: Option<Timestamp>,
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path within the repository.
    pub path: String,
    /// Lines added, if it is text.
    pub additions: Option<u64>,
    /// Lines deleted, if it is text.
    pub deletions: Option<u64>,
    /// Git's letter for what happened to it.
    pub status: String,
}

/// How much differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiffStat {
    pub files: u64,
    /// Lines added.
    pub additions: u64,
    /// Lines deleted.
    pub deletions: u64,
}

/// How tests went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestStatus {
    /// All of them passed.
    Passed,
    /// Some failed.
    Failed,
    /// It is not known.
    Unknown,
}

/// Test results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestSummary {
    /// How they went.
    pub status: TestStatus,
    /// In words.
    pub text: String,
}

/// What differs, as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    pub files: Vec<ChangedFile>,
    /// How much of them.
    pub stat: Option<DiffStat>,
    /// How tests went.
    pub tests: Option<TestSummary>,
}

/// Where a review stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewStatus {
    /// Not reviewed yet.
    Open,
    /// Good as it is.
    Approved,
    /// Something should be different.
    ChangesRequested,
    /// Later.
    Deferred,
}

/// A word on a line of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewComment {
    /// The file, if it is about one.
    pub path: Option<String>,
    /// The line of the new side, if it is about one.
    pub line: Option<u32>,
    /// The comment.
    pub text: String,
    /// Who made it; empty if that is not known.
    pub by: String,
    /// When it was made.
    pub at: Timestamp,
    /// Whether it was delivered to the agent.
    pub is_delivered: bool,
    /// What of a plan it is about, if the review is about one.
    pub anchor: Option<PlanAnchor>,
}

/// Changes, or a plan, that need a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Its id, never reused.
    pub id: ReviewId,
    /// Where the changes are.
    pub place: WorkPlace,
    /// The snapshot they are in.
    pub checkpoint: Option<CheckpointId>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// What it is about.
    pub summary: String,
    /// What differs.
    pub differences: Differences,
    /// Where it stands.
    pub status: ReviewStatus,
    /// Text of the comment.
    pub comments: Vec<ReviewComment>,
    /// The plan, if it is about one and not about changes.
    pub plan: Option<Box<ReviewedPlan>>,
}

/// Who made a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointSource {
    /// It was requested.
    Manual,
    /// An agent told of it.
    AgentEvent,
    /// The daemon, before it changed something.
    Automatic,
}

/// A state of a working tree to come back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its id, never reused; the private ref has its name.
    pub id: CheckpointId,
    /// What it was made of.
    pub place: WorkPlace,
    /// The top level of the repository.
    pub repo: Option<PathBuf>,
    pub branch: Option<String>,
    /// The linked working tree, if it is in one.
    pub worktree: Option<PathBuf>,
    /// In a few words.
    pub title: String,
    /// In a few more.
    pub summary: String,
    /// The commit that was checked out.
    pub head: Option<String>,
    /// The commit that holds the snapshot; none if nothing was captured.
    pub snapshot: Option<String>,
    /// What differed from the commit that was checked out.
    pub differences: Differences,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who made it.
    pub source: CheckpointSource,
}

/// Where a handoff stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoffStatus {
    /// Not accepted yet.
    Pending,
    /// Accepted by a session.
    Accepted,
    /// It is done.
    Resolved,
}

/// Work that another session continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// Its id, never reused.
    pub id: HandoffId,
    /// Whose work it is.
    pub from: WorkPlace,
    /// Session that takes over, if named.
    pub to: Option<SessionId>,
    /// The snapshot to go on from.
    pub checkpoint: Option<CheckpointId>,
    /// In a few words.
    pub title: String,
    /// In a few more.
    pub summary: String,
    /// What may go wrong.
    pub risks: Vec<String>,
    /// What comes next.
    pub next_actions: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Where it stands.
    pub status: HandoffStatus,
}

/// What happened in a session, as a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelineKind {
    /// It came to be.
    SessionCreated,
    /// It is gone.
    SessionClosed,
    /// Its program runs.
    SessionLaunched,
    /// A checkpoint was made.
    CheckpointCreated,
    /// A handoff was made or received.
    HandoffCreated,
    /// A handoff stands elsewhere.
    HandoffUpdated,
    /// A review was asked for.
    ReviewRequested,
    /// A review stands elsewhere.
    ReviewUpdated,
    /// An approval was asked for.
    ApprovalRequested,
    /// An approval was decided or put off.
    ApprovalUpdated,
    /// Work goes on.
    StatusProgress,
    /// Work is done.
    StatusCompleted,
    /// Work failed.
    StatusError,
    /// Work cannot go on.
    StatusBlocked,
    /// It waits for a person.
    StatusNeedsInput,
}

/// One line of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineItem {
    /// Its id, never reused.
    pub id: TimelineItemId,
    /// Whose line it is, if it is that of a session.
    pub session: Option<SessionId>,
    /// When it happened.
    pub created_at: Timestamp,
    /// Its number among all lines ever written.
    pub order: u64,
    /// What happened.
    pub kind: TimelineKind,
    /// In a few words.
    pub title: String,
    /// What it is about.
    pub related: Option<Related>,
}

/// The id of an agent's event that was taken, so that it is taken once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HandledEvent {
    /// Its number among all that were taken.
    pub order: u64,
    /// The event's id, which its sender chose.
    pub id: EventId,
}

/// Anything of supervision that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Something that asks for attention.
    Queue(QueueItem),
    Review(Review),
    Checkpoint(Checkpoint),
    Handoff(Handoff),
    /// A line of the timeline.
    Timeline(TimelineItem),
    /// An agent's event that was taken.
    Handled(HandledEvent),
    /// Work that was accepted and is not done yet.
    Accepted(Box<Accepted>),
}

/// Which list a record belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    Queue,
    Review,
    Checkpoint,
    Handoff,
    Timeline,
    /// Agents' events that were taken.
    Handled,
    /// Work that was accepted.
    Accepted,
}

impl Record {
    /// The list it belongs to, and its id there.
    pub fn key(&self) -> (RecordKind, u128) {
        match self {
            Record::Queue(item) => (RecordKind::Queue, item.id.get()),
            Record::Review(review) => (RecordKind::Review, review.id.get()),
            Record::Checkpoint(checkpoint) => (RecordKind::Checkpoint, checkpoint.id.get()),
            Record::Handoff(handoff) => (RecordKind::Handoff, handoff.id.get()),
            Record::Timeline(item) => (RecordKind::Timeline, item.id.get()),
            Record::Handled(event) => (RecordKind::Handled, event.id.get()),
            Record::Accepted(accepted) => (RecordKind::Accepted, accepted.work.id()),
        }
    }
}
