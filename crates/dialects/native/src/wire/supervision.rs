//! Supervision: what asks for attention, and what goes between people and agents.

use rookery_model::{self as model, Words as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Time, format_time};

/// A session where a text has to stand: all zeros for none.
pub(super) fn session_or_zeros(session: Option<model::SessionId>) -> String {
    session.unwrap_or(model::SessionId::new(0)).to_string()
}

/// Declares words with the same names as those of the domain.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident of $model:ident { $($(#[$word_doc:meta])* $word:ident),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$word_doc])* $word),+
        }

        impl From<model::$model> for $name {
            fn from(value: model::$model) -> Self {
                match value {
                    $(model::$model::$word => $name::$word),+
                }
            }
        }

        impl From<$name> for model::$model {
            fn from(value: $name) -> Self {
                match value {
                    $($name::$word => model::$model::$word),+
                }
            }
        }
    )+};
}

words! {
    /// How urgent something is.
    Category of Category {
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
    /// Where word of something came from.
    Source of Source {
        /// A thread of ours, or the daemon itself.
        Protocol,
        /// An agent or a hook that reported it.
        Report,
        /// A screen that was read.
        Screen,
        /// An escape sequence of a program.
        Program,
    }
    /// Where a review stands.
    ReviewStatus of ReviewStatus {
        /// Not reviewed yet.
        Open,
        /// Good as it is.
        Approved,
        /// Something should be different.
        ChangesRequested,
        /// Later.
        Deferred,
    }
    /// How tests went.
    TestStatus of TestStatus {
        /// All of them passed.
        Passed,
        /// Some failed.
        Failed,
        /// It is not known.
        Unknown,
    }
    /// Who made a checkpoint.
    CheckpointSource of CheckpointSource {
        /// It was requested.
        Manual,
        /// An agent told of it.
        AgentEvent,
        /// The daemon, before it changed something.
        Automatic,
    }
    /// Where a handoff stands.
    HandoffStatus of HandoffStatus {
        /// Not accepted yet.
        Pending,
        /// Accepted by a session.
        Accepted,
        /// It is done.
        Resolved,
    }
}

/// What something in the queue is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "id", rename_all = "snake_case")]
pub enum Related {
    /// Something that waits for an answer.
    Request(String),
    Review(String),
    Checkpoint(String),
    Handoff(String),
    /// A background task that is lost.
    Task(String),
}

impl From<model::Related> for Related {
    fn from(related: model::Related) -> Self {
        match related {
            model::Related::Request(id) => Related::Request(id.to_string()),
            model::Related::Review(id) => Related::Review(id.to_string()),
            model::Related::Checkpoint(id) => Related::Checkpoint(id.to_string()),
            model::Related::Handoff(id) => Related::Handoff(id.to_string()),
            model::Related::Task(id) => Related::Task(id.to_string()),
        }
    }
}

/// Something that asks for attention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueItem {
    pub id: String,
    /// The session to look at; all zeros if there is none.
    pub session: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub related: Option<Related>,
    /// How urgent it is.
    pub category: Category,
    /// In a few words.
    pub title: String,
    /// In a few more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtitle: Option<String>,
    /// Who said so.
    pub source: Source,
    /// When it was filed.
    pub created_at: Time,
}

impl From<&model::QueueItem> for QueueItem {
    fn from(item: &model::QueueItem) -> Self {
        QueueItem {
            id: item.id.to_string(),
            session: session_or_zeros(item.session),
            related: item.related.map(Into::into),
            category: item.category.into(),
            title: item.title.clone(),
            subtitle: item.subtitle.clone(),
            source: item.source.into(),
            created_at: format_time(item.created_at),
        }
    }
}

/// The top of a work tree that is named by itself.
fn tree(place: &model::WorkPlace) -> Option<String> {
    place.tree().map(|top| top.to_string_lossy().into_owned())
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    /// Its path within the repository.
    pub path: String,
    /// Lines added, if it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additions: Option<u64>,
    /// Lines deleted, if it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletions: Option<u64>,
    /// Git's letter for what happened to it.
    pub status: String,
}

/// What differs, as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Differences {
    pub files: Vec<ChangedFile>,
    /// Lines added in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additions: Option<u64>,
    /// Lines deleted in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletions: Option<u64>,
    /// How tests went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestSummary>,
}

/// Test results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestSummary {
    /// How they went.
    pub status: TestStatus,
    /// In words.
    pub text: String,
}

impl From<&model::Differences> for Differences {
    fn from(differences: &model::Differences) -> Self {
        let file = |file: &model::ChangedFile| ChangedFile {
            path: file.path.clone(),
            additions: file.additions,
            deletions: file.deletions,
            status: file.status.clone(),
        };
        Differences {
            files: differences.files.iter().map(file).collect(),
            additions: differences.stat.map(|stat| stat.additions),
            deletions: differences.stat.map(|stat| stat.deletions),
            tests: differences
                .tests
                .as_ref()
                .map(|tests| TestSummary { status: tests.status.into(), text: tests.text.clone() }),
        }
    }
}

/// A word on a line of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewComment {
    /// The file, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line of the new side, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The comment.
    pub text: String,
    /// Who made it: the name of a viewer, `rookery` for a command, `agent`, or a dialect. Left out if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// When it was made.
    pub at: Time,
    /// Whether it was delivered to the agent.
    pub delivered: bool,
}

/// Changes that need a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    pub id: String,
    /// The session whose changes they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The top of the work tree, if it belongs to that and to no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The snapshot they are in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// When it was asked for.
    pub created_at: Time,
    /// What it is about.
    pub summary: String,
    /// What differs.
    pub differences: Differences,
    /// Where it stands.
    pub status: ReviewStatus,
    /// Text of the comment.
    pub comments: Vec<ReviewComment>,
    /// The plan, if it is about one and not about changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<ReviewedPlan>,
}

/// The plan that a review is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewedPlan {
    pub thread: String,
    /// The turn that made it.
    pub turn: String,
    /// The request that waits for it, or waited; none if it is a change that was blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// `drafted`, `awaiting_review`, `rewritten`, `approved`, `executing`, `completed` or `rejected`.
    pub stage: String,
    /// The plan.
    pub markdown: String,
    /// Its steps, in a few words each.
    pub steps: Vec<String>,
    /// How often it was replaced.
    pub rewrites: u64,
    /// When anything of it last changed.
    pub updated_at: Time,
}

impl From<&model::ReviewedPlan> for ReviewedPlan {
    fn from(plan: &model::ReviewedPlan) -> Self {
        let request = match &plan.key {
            model::PlanKey::Request(id) => Some(id.to_string()),
            model::PlanKey::Call(_) => None,
        };
        ReviewedPlan {
            thread: plan.thread.to_string(),
            turn: plan.turn.to_string(),
            request,
            stage: plan.stage.word().to_owned(),
            markdown: plan.markdown.clone(),
            steps: plan.steps.iter().map(|step| step.title.clone()).collect(),
            rewrites: plan.rewrites.len() as u64,
            updated_at: format_time(plan.updated_at),
        }
    }
}

impl From<&model::Review> for Review {
    fn from(review: &model::Review) -> Self {
        let comment = |comment: &model::ReviewComment| ReviewComment {
            path: comment.path.clone(),
            line: comment.line,
            text: comment.text.clone(),
            by: comment.by.clone(),
            at: format_time(comment.at),
            delivered: comment.is_delivered,
        };
        Review {
            id: review.id.to_string(),
            session: review.place.session().map(|id| id.to_string()),
            tree: tree(&review.place),
            checkpoint: review.checkpoint.map(|id| id.to_string()),
            created_at: format_time(review.created_at),
            summary: review.summary.clone(),
            differences: (&review.differences).into(),
            status: review.status.into(),
            comments: review.comments.iter().map(comment).collect(),
            plan: review.plan.as_deref().map(Into::into),
        }
    }
}

/// A state of a working tree to come back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    pub id: String,
    /// The session it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The top of the work tree, if it belongs to that and to no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The top level of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The linked working tree, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// In a few words.
    pub title: String,
    /// In a few more.
    pub summary: String,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The commit that holds the snapshot; absent if nothing was captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// What differed from the commit that was checked out.
    pub differences: Differences,
    /// When it was made.
    pub created_at: Time,
    /// Who made it.
    pub source: CheckpointSource,
}

impl From<&model::Checkpoint> for Checkpoint {
    fn from(checkpoint: &model::Checkpoint) -> Self {
        let path = |path: &std::path::PathBuf| path.to_string_lossy().into_owned();
        Checkpoint {
            id: checkpoint.id.to_string(),
            session: checkpoint.place.session().map(|id| id.to_string()),
            tree: tree(&checkpoint.place),
            repo: checkpoint.repo.as_ref().map(path),
            branch: checkpoint.branch.clone(),
            worktree: checkpoint.worktree.as_ref().map(path),
            title: checkpoint.title.clone(),
            summary: checkpoint.summary.clone(),
            head: checkpoint.head.clone(),
            snapshot: checkpoint.snapshot.clone(),
            differences: (&checkpoint.differences).into(),
            created_at: format_time(checkpoint.created_at),
            source: checkpoint.source.into(),
        }
    }
}

/// Work that another session continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Handoff {
    pub id: String,
    /// The session that hands over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The top of the work tree, if it belongs to that and to no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Session that takes over, if named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The snapshot to go on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// In a few words.
    pub title: String,
    /// In a few more.
    pub summary: String,
    /// What may go wrong.
    pub risks: Vec<String>,
    /// What comes next.
    pub next_actions: Vec<String>,
    /// When it was made.
    pub created_at: Time,
    /// Where it stands.
    pub status: HandoffStatus,
}

impl From<&model::Handoff> for Handoff {
    fn from(handoff: &model::Handoff) -> Self {
        Handoff {
            id: handoff.id.to_string(),
            from: handoff.from.session().map(|id| id.to_string()),
            tree: tree(&handoff.from),
            to: handoff.to.map(|id| id.to_string()),
            checkpoint: handoff.checkpoint.map(|id| id.to_string()),
            title: handoff.title.clone(),
            summary: handoff.summary.clone(),
            risks: handoff.risks.clone(),
            next_actions: handoff.next_actions.clone(),
            created_at: format_time(handoff.created_at),
            status: handoff.status.into(),
        }
    }
}
