//! The queue and the timeline: what asks for attention, and what happened.

use rookery_model as model;
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::supervision::session_or_zeros;
use super::{QueueItem, Related, Time, format_time};

/// Something that asks for attention, with the name of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueEntry {
    #[serde(flatten)]
    pub item: QueueItem,
    /// What its session is called; absent if there is no such session any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_title: Option<String>,
    /// The top of the work tree that it is about, if it is about one and not about a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

/// Params of `rookery/queue/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueList {
    /// Only items of this session, by its id or title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

call!("rookery/queue/list" QueueList -> Queue);

/// Result of `rookery/queue/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Queue {
    /// Open items, the most urgent first, then the newest.
    pub items: Vec<QueueEntry>,
}

/// Params of `rookery/queue/resolve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueResolve {
    /// Which item; the end of its id is enough if no other ends so.
    pub id: String,
}

call!("rookery/queue/resolve" QueueResolve -> QueueResolved);

/// Result of `rookery/queue/resolve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueResolved {
    /// The item's id in full.
    pub id: String,
    /// Whether this dealt with it; false if it was dealt with before.
    pub resolved: bool,
}

/// What happened in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say what they are, see model::TimelineKind")]
pub enum TimelineKind {
    SessionCreated,
    SessionClosed,
    SessionLaunched,
    CheckpointCreated,
    HandoffCreated,
    HandoffUpdated,
    ReviewRequested,
    ReviewUpdated,
    ApprovalRequested,
    ApprovalUpdated,
    StatusProgress,
    StatusCompleted,
    StatusError,
    StatusBlocked,
    StatusNeedsInput,
}

impl From<model::TimelineKind> for TimelineKind {
    fn from(kind: model::TimelineKind) -> Self {
        use model::TimelineKind as K;
        match kind {
            K::SessionCreated => Self::SessionCreated,
            K::SessionClosed => Self::SessionClosed,
            K::SessionLaunched => Self::SessionLaunched,
            K::CheckpointCreated => Self::CheckpointCreated,
            K::HandoffCreated => Self::HandoffCreated,
            K::HandoffUpdated => Self::HandoffUpdated,
            K::ReviewRequested => Self::ReviewRequested,
            K::ReviewUpdated => Self::ReviewUpdated,
            K::ApprovalRequested => Self::ApprovalRequested,
            K::ApprovalUpdated => Self::ApprovalUpdated,
            K::StatusProgress => Self::StatusProgress,
            K::StatusCompleted => Self::StatusCompleted,
            K::StatusError => Self::StatusError,
            K::StatusBlocked => Self::StatusBlocked,
            K::StatusNeedsInput => Self::StatusNeedsInput,
        }
    }
}

/// One line of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineItem {
    pub id: String,
    /// The session it is about; all zeros if it is about none.
    pub session: String,
    /// When it happened.
    pub at: Time,
    /// What happened.
    pub kind: TimelineKind,
    /// In a few words.
    pub title: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub related: Option<Related>,
}

impl From<&model::TimelineItem> for TimelineItem {
    fn from(item: &model::TimelineItem) -> Self {
        Self {
            id: item.id.to_string(),
            session: session_or_zeros(item.session),
            at: format_time(item.created_at),
            kind: item.kind.into(),
            title: item.title.clone(),
            related: item.related.map(Into::into),
        }
    }
}

/// Params of `rookery/timeline/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineList {
    /// Only lines of this session, by its id or title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How many at most; 100 if not said, never more than 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

call!("rookery/timeline/list" TimelineList -> Timeline);

/// Result of `rookery/timeline/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// The newest lines, newest first.
    pub items: Vec<TimelineItem>,
}
