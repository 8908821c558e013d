//! The objects inside replies: keys in the order of the alphabet, what is empty left out, ids in
//! capitals, dates in whole seconds.
#![expect(
    missing_docs,
    reason = "a member needs words only where its name does not say what it means"
)]

mod import;

use rookery_core::AgentStart;
use rookery_model as model;
use serde::{Deserialize, Serialize};

use crate::values::{date, session_uuid, uuid};

pub use import::{ImportReport, ImportedFile, ImportedSession};

/// Declares an enum of words that stand for those of the domain.
macro_rules! words {
    ($($(#[$doc:meta])* $function:ident, $read:ident: $model:ident { $($word:ident = $text:literal),+ $(,)? })+) => {$(
        $(#[$doc])*
        pub fn $function(value: model::$model) -> &'static str {
            match value {
                $(model::$model::$word => $text),+
            }
        }

        /// Reads the same word; capitals count.
        pub fn $read(text: &str) -> Option<model::$model> {
            match text {
                $($text => Some(model::$model::$word),)+
                _ => None,
            }
        }
    )+};
}

words! {
    /// The word for an urgency.
    category, read_category: Category {
        ApprovalNeeded = "approvalNeeded",
        ReviewRequested = "reviewRequested",
        Blocked = "blocked",
        Completed = "completed",
        Error = "error",
        Informational = "informational",
    }
    /// The word for where a review stands.
    review_status, read_review_status: ReviewStatus {
        Open = "open",
        Approved = "approved",
        ChangesRequested = "changesRequested",
        Deferred = "deferred",
    }
    /// The word for where a handoff stands.
    handoff_status, read_handoff_status: HandoffStatus {
        Pending = "pending",
        Accepted = "accepted",
        Resolved = "resolved",
    }
    /// The word for how tests went.
    test_status, read_test_status: TestStatus {
        Passed = "passed",
        Failed = "failed",
        Unknown = "unknown",
    }
    /// The word for who made a checkpoint.
    checkpoint_source, read_checkpoint_source: CheckpointSource {
        Manual = "manual",
        AgentEvent = "agentEvent",
        Automatic = "autoCommit",
    }
    /// The word for what happened.
    timeline_kind, read_timeline_kind: TimelineKind {
        SessionCreated = "sessionCreated",
        SessionClosed = "sessionClosed",
        SessionLaunched = "sessionLaunched",
        CheckpointCreated = "checkpointCreated",
        HandoffCreated = "handoffCreated",
        HandoffUpdated = "handoffUpdated",
        ReviewRequested = "reviewRequested",
        ReviewUpdated = "reviewUpdated",
        ApprovalRequested = "approvalRequested",
        ApprovalUpdated = "approvalUpdated",
        StatusProgress = "statusProgress",
        StatusCompleted = "statusCompleted",
        StatusError = "statusError",
        StatusBlocked = "statusBlocked",
        StatusNeedsInput = "statusNeedsInput",
    }
}

/// What a queue item or a line is about, as an id.
fn related(related: Option<model::Related>) -> Option<String> {
    related.map(|related| match related {
        model::Related::Request(id) => uuid(id.get()),
        model::Related::Review(id) => uuid(id.get()),
        model::Related::Checkpoint(id) => uuid(id.get()),
        model::Related::Handoff(id) => uuid(id.get()),
        model::Related::Task(id) => uuid(id.get()),
    })
}

/// Something that asks for attention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SupervisionQueueItem {
    /// How urgent it is.
    pub category: String,
    /// When it was filed.
    pub created_at: String,
    pub id: String,
    /// Whether it stays however old it gets.
    #[serde(default)]
    pub is_pinned: bool,
    /// Whether it was dealt with.
    #[serde(default)]
    pub is_resolved: bool,
    /// What it is about.
    #[serde(rename = "relatedObjectID", default, skip_serializing_if = "Option::is_none")]
    pub related_object_id: Option<String>,
    /// The session to look at.
    #[serde(rename = "sessionID")]
    pub session_id: String,
    /// In a few more words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtitle: Option<String>,
    /// In a few words.
    pub title: String,
}

impl From<&model::QueueItem> for SupervisionQueueItem {
    fn from(item: &model::QueueItem) -> Self {
        Self {
            category: category(item.category).to_owned(),
            created_at: date(item.created_at),
            id: uuid(item.id.get()),
            is_pinned: item.is_pinned,
            is_resolved: item.resolved_at.is_some(),
            related_object_id: related(item.related),
            session_id: session_uuid(item.session),
            subtitle: item.subtitle.clone(),
            title: title(item),
        }
    }
}

/// The title of an item, in the words of this protocol where it has its own.
fn title(item: &model::QueueItem) -> String {
    let own = match AgentStart::of(item) {
        Some(AgentStart::Started) => "Vibe Tool Started",
        Some(AgentStart::Failed) => "Vibe Tool Launch Failed",
        Some(AgentStart::UsualFailed) => "Default Tool Launch Failed",
        Some(AgentStart::Interrupted) => "Vibe Tool Launch Interrupted",
        None => return item.title.clone(),
    };
    own.to_owned()
}

/// An approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequest {
    /// When it was asked for.
    pub created_at: String,
    pub id: String,
    /// What exactly would be done.
    pub requested_action: String,
    /// How far it reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_description: Option<String>,
    /// Who asks.
    #[serde(rename = "sessionID")]
    pub session_id: String,
    /// Where it stands.
    pub status: String,
    /// Why it asks.
    pub summary: String,
    /// In a few words.
    pub title: String,
}

/// A tool that may be launched in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VibeCliTool {
    /// Its name for people.
    pub display_name: String,
    /// The program.
    pub executable_name: String,
    /// Its name.
    pub id: String,
    /// Whether the program was found.
    pub is_installed: bool,
    /// What is typed to start it.
    pub launch_command: String,
    /// Where the program is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_path: Option<String>,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFileSummary {
    /// Lines added; absent for what is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additions: Option<u64>,
    /// Lines deleted; absent for what is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletions: Option<u64>,
    pub path: String,
    /// Git's letter.
    pub status: String,
}

impl From<&model::ChangedFile> for ChangedFileSummary {
    fn from(file: &model::ChangedFile) -> Self {
        Self {
            additions: file.additions,
            deletions: file.deletions,
            path: file.path.clone(),
            status: file.status.clone(),
        }
    }
}

/// How much differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffStat {
    /// Lines added.
    pub additions: u64,
    /// Lines deleted.
    pub deletions: u64,
    pub files_changed: u64,
}

impl From<model::DiffStat> for DiffStat {
    fn from(stat: model::DiffStat) -> Self {
        Self { additions: stat.additions, deletions: stat.deletions, files_changed: stat.files }
    }
}

/// How tests went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestSummary {
    /// As a word.
    pub status: String,
    /// In words.
    pub summary_text: String,
}

impl From<&model::TestSummary> for TestSummary {
    fn from(tests: &model::TestSummary) -> Self {
        Self { status: test_status(tests.status).to_owned(), summary_text: tests.text.clone() }
    }
}

/// A review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewRequest {
    /// What differs.
    #[serde(default)]
    pub changed_files: Vec<ChangedFileSummary>,
    /// The snapshot.
    #[serde(rename = "checkpointID", default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
    /// When it was asked for.
    pub created_at: String,
    /// How much differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_stat: Option<DiffStat>,
    pub id: String,
    /// Whose changes they are.
    #[serde(rename = "sourceSessionID")]
    pub source_session_id: String,
    /// Where it stands.
    pub status: String,
    /// What it is about.
    pub summary: String,
    /// How tests went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_summary: Option<TestSummary>,
}

impl From<&model::Review> for ReviewRequest {
    fn from(review: &model::Review) -> Self {
        let differences = &review.differences;
        Self {
            changed_files: differences.files.iter().map(Into::into).collect(),
            checkpoint_id: review.checkpoint.map(|id| uuid(id.get())),
            created_at: date(review.created_at),
            diff_stat: differences.stat.map(Into::into),
            id: uuid(review.id.get()),
            source_session_id: session_uuid(review.place.session()),
            status: review_status(review.status).to_owned(),
            summary: review.summary.clone(),
            test_summary: differences.tests.as_ref().map(Into::into),
        }
    }
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_name: Option<String>,
    /// What differed.
    #[serde(default)]
    pub changed_files: Vec<ChangedFileSummary>,
    /// The commit that was checked out.
    #[serde(rename = "commitSHA", default, skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<String>,
    /// When it was made.
    pub created_at: String,
    /// How much differed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_stat: Option<DiffStat>,
    pub id: String,
    /// The repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_path: Option<String>,
    /// The session it was made for.
    #[serde(rename = "sessionID")]
    pub session_id: String,
    /// Who made it.
    pub source: String,
    /// In a few more words.
    pub summary: String,
    /// How tests went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_summary: Option<TestSummary>,
    /// In a few words.
    pub title: String,
    /// The linked working tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_path: Option<String>,
}

impl From<&model::Checkpoint> for Checkpoint {
    fn from(checkpoint: &model::Checkpoint) -> Self {
        let differences = &checkpoint.differences;
        let path = |path: &std::path::PathBuf| path.to_string_lossy().into_owned();
        Self {
            branch_name: checkpoint.branch.clone(),
            changed_files: differences.files.iter().map(Into::into).collect(),
            commit_sha: checkpoint.head.clone(),
            created_at: date(checkpoint.created_at),
            diff_stat: differences.stat.map(Into::into),
            id: uuid(checkpoint.id.get()),
            repo_path: checkpoint.repo.as_ref().map(path),
            session_id: session_uuid(checkpoint.place.session()),
            source: checkpoint_source(checkpoint.source).to_owned(),
            summary: checkpoint.summary.clone(),
            test_summary: differences.tests.as_ref().map(Into::into),
            title: checkpoint.title.clone(),
            worktree_path: checkpoint.worktree.as_ref().map(path),
        }
    }
}

/// A handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Handoff {
    /// The snapshot to go on from.
    #[serde(rename = "checkpointID", default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
    /// When it was made.
    pub created_at: String,
    pub id: String,
    /// What comes next.
    #[serde(default)]
    pub next_actions: Vec<String>,
    /// What may go wrong.
    #[serde(default)]
    pub risks: Vec<String>,
    /// Who hands over.
    #[serde(rename = "sourceSessionID")]
    pub source_session_id: String,
    /// Where it stands.
    pub status: String,
    /// In a few more words.
    pub summary: String,
    /// Who takes over.
    #[serde(rename = "targetSessionID", default, skip_serializing_if = "Option::is_none")]
    pub target_session_id: Option<String>,
    /// In a few words.
    pub title: String,
}

impl From<&model::Handoff> for Handoff {
    fn from(handoff: &model::Handoff) -> Self {
        Self {
            checkpoint_id: handoff.checkpoint.map(|id| uuid(id.get())),
            created_at: date(handoff.created_at),
            id: uuid(handoff.id.get()),
            next_actions: handoff.next_actions.clone(),
            risks: handoff.risks.clone(),
            source_session_id: session_uuid(handoff.from.session()),
            status: handoff_status(handoff.status).to_owned(),
            summary: handoff.summary.clone(),
            target_session_id: handoff.to.map(|id| uuid(id.get())),
            title: handoff.title.clone(),
        }
    }
}

/// A line of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimelineItem {
    /// When it happened.
    pub created_at: String,
    pub id: String,
    /// What it is about.
    #[serde(rename = "relatedObjectID", default, skip_serializing_if = "Option::is_none")]
    pub related_object_id: Option<String>,
    /// Whose line it is.
    #[serde(rename = "sessionID")]
    pub session_id: String,
    /// In a few words.
    pub title: String,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: String,
}

impl From<&model::TimelineItem> for TimelineItem {
    fn from(line: &model::TimelineItem) -> Self {
        Self {
            created_at: date(line.created_at),
            id: uuid(line.id.get()),
            related_object_id: related(line.related),
            session_id: session_uuid(line.session),
            title: line.title.clone(),
            kind: timeline_kind(line.kind).to_owned(),
        }
    }
}
