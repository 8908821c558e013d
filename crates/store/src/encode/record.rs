//! The JSON twins of what supervision keeps.

use std::borrow::Cow;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::accepted::AcceptedJson;
use super::plan::{AnchorJson, PlanJson};
use super::word::{
    CategoryJson, CheckpointSourceJson, HandoffStatusJson, ReviewStatusJson, SourceJson,
    TestStatusJson, TimelineKindJson,
};
use super::{DecodeError, PathJson, id_from_text};

/// What is written where something belongs to no session.
const NO_SESSION: model::SessionId = model::SessionId::new(0);

pub(super) fn session_text(session: Option<model::SessionId>) -> String {
    session.unwrap_or(NO_SESSION).to_string()
}

pub(super) fn session_from_text(text: &str) -> Result<Option<model::SessionId>, DecodeError> {
    id_from_text(text).map(|id| (id != NO_SESSION).then_some(id))
}

/// One record. The kind stands in the table as well, so that lists are found without decoding.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RecordJson<'a> {
    Queue(QueueJson<'a>),
    Review(ReviewJson<'a>),
    Checkpoint(CheckpointJson<'a>),
    Handoff(HandoffJson<'a>),
    Timeline(TimelineJson<'a>),
    Handled(HandledJson<'a>),
    Accepted(Box<AcceptedJson<'a>>),
}

impl<'a> RecordJson<'a> {
    pub(super) fn of(record: &'a model::Record) -> Self {
        match record {
            model::Record::Queue(item) => RecordJson::Queue(QueueJson::of(item)),
            model::Record::Review(review) => RecordJson::Review(ReviewJson::of(review)),
            model::Record::Checkpoint(one) => RecordJson::Checkpoint(CheckpointJson::of(one)),
            model::Record::Handoff(handoff) => RecordJson::Handoff(HandoffJson::of(handoff)),
            model::Record::Timeline(item) => RecordJson::Timeline(TimelineJson::of(item)),
            model::Record::Handled(event) => {
                let id = event.id.to_string().into();
                RecordJson::Handled(HandledJson { id, order: event.order })
            }
            model::Record::Accepted(accepted) => {
                RecordJson::Accepted(Box::new(AcceptedJson::of(accepted)))
            }
        }
    }

    pub(super) fn into_model(self) -> Result<model::Record, DecodeError> {
        Ok(match self {
            RecordJson::Queue(item) => model::Record::Queue(item.into_model()?),
            RecordJson::Review(review) => model::Record::Review(review.into_model()?),
            RecordJson::Checkpoint(one) => model::Record::Checkpoint(one.into_model()?),
            RecordJson::Handoff(handoff) => model::Record::Handoff(handoff.into_model()?),
            RecordJson::Timeline(item) => model::Record::Timeline(item.into_model()?),
            RecordJson::Handled(HandledJson { id, order }) => {
                model::Record::Handled(model::HandledEvent { id: id_from_text(&id)?, order })
            }
            RecordJson::Accepted(accepted) => {
                model::Record::Accepted(Box::new(accepted.into_model()?))
            }
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct HandledJson<'a> {
    id: Cow<'a, str>,
    order: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RelatedJson {
    Request(String),
    Review(String),
    Checkpoint(String),
    Handoff(String),
    Task(String),
}

impl RelatedJson {
    fn of(related: model::Related) -> Self {
        match related {
            model::Related::Request(id) => RelatedJson::Request(id.to_string()),
            model::Related::Review(id) => RelatedJson::Review(id.to_string()),
            model::Related::Checkpoint(id) => RelatedJson::Checkpoint(id.to_string()),
            model::Related::Handoff(id) => RelatedJson::Handoff(id.to_string()),
            model::Related::Task(id) => RelatedJson::Task(id.to_string()),
        }
    }

    fn into_model(self) -> Result<model::Related, DecodeError> {
        Ok(match self {
            RelatedJson::Request(id) => model::Related::Request(id_from_text(&id)?),
            RelatedJson::Review(id) => model::Related::Review(id_from_text(&id)?),
            RelatedJson::Checkpoint(id) => model::Related::Checkpoint(id_from_text(&id)?),
            RelatedJson::Handoff(id) => model::Related::Handoff(id_from_text(&id)?),
            RelatedJson::Task(id) => model::Related::Task(id_from_text(&id)?),
        })
    }
}

/// A place, of the session that names it and of its tree if it is named by itself. What was written
/// before places had trees has a session only.
pub(super) fn place(
    session: &str,
    tree: Option<PathJson<'_>>,
) -> Result<model::WorkPlace, DecodeError> {
    let session = id_from_text(session)?;
    Ok(match tree {
        Some(top) => model::WorkPlace::Tree(top.into_path()),
        None => model::WorkPlace::Session(session),
    })
}

#[derive(Serialize, Deserialize)]
pub(super) struct QueueJson<'a> {
    id: Cow<'a, str>,
    session: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    related: Option<RelatedJson>,
    category: CategoryJson,
    title: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subtitle: Option<Cow<'a, str>>,
    source: SourceJson,
    created_at: i64,
    order: u64,
    #[serde(default)]
    is_pinned: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resolved_at: Option<i64>,
}

impl<'a> QueueJson<'a> {
    pub(super) fn of(item: &'a model::QueueItem) -> Self {
        QueueJson {
            id: item.id.to_string().into(),
            session: session_text(item.session).into(),
            related: item.related.map(RelatedJson::of),
            category: CategoryJson::of(item.category),
            title: (&item.title).into(),
            subtitle: item.subtitle.as_deref().map(Cow::Borrowed),
            source: SourceJson::of(item.source),
            created_at: item.created_at.as_micros(),
            order: item.order,
            is_pinned: item.is_pinned,
            resolved_at: item.resolved_at.map(model::Timestamp::as_micros),
        }
    }

    pub(super) fn into_model(self) -> Result<model::QueueItem, DecodeError> {
        Ok(model::QueueItem {
            id: id_from_text(&self.id)?,
            session: session_from_text(&self.session)?,
            related: self.related.map(RelatedJson::into_model).transpose()?,
            category: self.category.into_model(),
            title: self.title.into_owned(),
            subtitle: self.subtitle.map(Cow::into_owned),
            source: self.source.into_model(),
            created_at: model::Timestamp::from_micros(self.created_at),
            order: self.order,
            is_pinned: self.is_pinned,
            resolved_at: self.resolved_at.map(model::Timestamp::from_micros),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct ChangedFileJson<'a> {
    path: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    additions: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deletions: Option<u64>,
    status: Cow<'a, str>,
}

/// What differs; stands flat in whatever it belongs to.
#[derive(Serialize, Deserialize)]
struct DifferencesJson<'a> {
    #[serde(default)]
    files: Vec<ChangedFileJson<'a>>,
    /// Files, lines added, lines deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stat: Option<(u64, u64, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tests: Option<(TestStatusJson, Cow<'a, str>)>,
}

impl<'a> DifferencesJson<'a> {
    fn of(differences: &'a model::Differences) -> Self {
        let file = |file: &'a model::ChangedFile| ChangedFileJson {
            path: (&file.path).into(),
            additions: file.additions,
            deletions: file.deletions,
            status: (&file.status).into(),
        };
        DifferencesJson {
            files: differences.files.iter().map(file).collect(),
            stat: differences.stat.map(|stat| (stat.files, stat.additions, stat.deletions)),
            tests: (differences.tests.as_ref())
                .map(|tests| (TestStatusJson::of(tests.status), (&tests.text).into())),
        }
    }

    fn into_model(self) -> model::Differences {
        let file = |file: ChangedFileJson<'a>| model::ChangedFile {
            path: file.path.into_owned(),
            additions: file.additions,
            deletions: file.deletions,
            status: file.status.into_owned(),
        };
        model::Differences {
            files: self.files.into_iter().map(file).collect(),
            stat: self.stat.map(|(files, additions, deletions)| model::DiffStat {
                files,
                additions,
                deletions,
            }),
            tests: self.tests.map(|(status, text)| model::TestSummary {
                status: status.into_model(),
                text: text.into_owned(),
            }),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct CommentJson<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    text: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    by: Cow<'a, str>,
    at: i64,
    #[serde(default)]
    is_delivered: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    anchor: Option<AnchorJson<'a>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ReviewJson<'a> {
    id: Cow<'a, str>,
    session: Cow<'a, str>,
    /// The work tree, if it is named by itself. Then the session has the name of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree: Option<PathJson<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    created_at: i64,
    summary: Cow<'a, str>,
    differences: DifferencesJson<'a>,
    status: ReviewStatusJson,
    #[serde(default)]
    comments: Vec<CommentJson<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<Box<PlanJson<'a>>>,
}

impl<'a> ReviewJson<'a> {
    pub(super) fn of(review: &'a model::Review) -> Self {
        let comment = |comment: &'a model::ReviewComment| CommentJson {
            path: comment.path.as_deref().map(Cow::Borrowed),
            line: comment.line,
            text: (&comment.text).into(),
            by: (&comment.by).into(),
            at: comment.at.as_micros(),
            is_delivered: comment.is_delivered,
            anchor: comment.anchor.as_ref().map(AnchorJson::of),
        };
        ReviewJson {
            id: review.id.to_string().into(),
            session: session_text(review.place.session()).into(),
            tree: review.place.tree().map(PathJson::of),
            checkpoint: review.checkpoint.map(|id| id.to_string()),
            created_at: review.created_at.as_micros(),
            summary: (&review.summary).into(),
            differences: DifferencesJson::of(&review.differences),
            status: ReviewStatusJson::of(review.status),
            comments: review.comments.iter().map(comment).collect(),
            plan: review.plan.as_deref().map(|plan| Box::new(PlanJson::of(plan))),
        }
    }

    pub(super) fn into_model(self) -> Result<model::Review, DecodeError> {
        let comment = |comment: CommentJson<'a>| model::ReviewComment {
            path: comment.path.map(Cow::into_owned),
            line: comment.line,
            text: comment.text.into_owned(),
            by: comment.by.into_owned(),
            at: model::Timestamp::from_micros(comment.at),
            is_delivered: comment.is_delivered,
            anchor: comment.anchor.map(AnchorJson::into_model),
        };
        let plan = self.plan.map(|plan| plan.into_model()).transpose()?;
        Ok(model::Review {
            id: id_from_text(&self.id)?,
            place: place(&self.session, self.tree)?,
            checkpoint: self.checkpoint.as_deref().map(id_from_text).transpose()?,
            created_at: model::Timestamp::from_micros(self.created_at),
            summary: self.summary.into_owned(),
            differences: self.differences.into_model(),
            status: self.status.into_model(),
            comments: self.comments.into_iter().map(comment).collect(),
            plan: plan.map(Box::new),
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct CheckpointJson<'a> {
    id: Cow<'a, str>,
    session: Cow<'a, str>,
    /// The work tree, if it is named by itself. Then the session has the name of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree: Option<PathJson<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repo: Option<PathJson<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worktree: Option<PathJson<'a>>,
    title: Cow<'a, str>,
    summary: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snapshot: Option<Cow<'a, str>>,
    differences: DifferencesJson<'a>,
    created_at: i64,
    source: CheckpointSourceJson,
}

impl<'a> CheckpointJson<'a> {
    pub(super) fn of(checkpoint: &'a model::Checkpoint) -> Self {
        CheckpointJson {
            id: checkpoint.id.to_string().into(),
            session: session_text(checkpoint.place.session()).into(),
            tree: checkpoint.place.tree().map(PathJson::of),
            repo: checkpoint.repo.as_deref().map(PathJson::of),
            branch: checkpoint.branch.as_deref().map(Cow::Borrowed),
            worktree: checkpoint.worktree.as_deref().map(PathJson::of),
            title: (&checkpoint.title).into(),
            summary: (&checkpoint.summary).into(),
            head: checkpoint.head.as_deref().map(Cow::Borrowed),
            snapshot: checkpoint.snapshot.as_deref().map(Cow::Borrowed),
            differences: DifferencesJson::of(&checkpoint.differences),
            created_at: checkpoint.created_at.as_micros(),
            source: CheckpointSourceJson::of(checkpoint.source),
        }
    }

    pub(super) fn into_model(self) -> Result<model::Checkpoint, DecodeError> {
        Ok(model::Checkpoint {
            id: id_from_text(&self.id)?,
            place: place(&self.session, self.tree)?,
            repo: self.repo.map(PathJson::into_path),
            branch: self.branch.map(Cow::into_owned),
            worktree: self.worktree.map(PathJson::into_path),
            title: self.title.into_owned(),
            summary: self.summary.into_owned(),
            head: self.head.map(Cow::into_owned),
            snapshot: self.snapshot.map(Cow::into_owned),
            differences: self.differences.into_model(),
            created_at: model::Timestamp::from_micros(self.created_at),
            source: self.source.into_model(),
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct HandoffJson<'a> {
    id: Cow<'a, str>,
    from: Cow<'a, str>,
    /// The work tree, if it is named by itself. Then the session has the name of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree: Option<PathJson<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    title: Cow<'a, str>,
    summary: Cow<'a, str>,
    #[serde(default)]
    risks: Cow<'a, [String]>,
    #[serde(default)]
    next_actions: Cow<'a, [String]>,
    created_at: i64,
    status: HandoffStatusJson,
}

impl<'a> HandoffJson<'a> {
    pub(super) fn of(handoff: &'a model::Handoff) -> Self {
        HandoffJson {
            id: handoff.id.to_string().into(),
            from: session_text(handoff.from.session()).into(),
            tree: handoff.from.tree().map(PathJson::of),
            to: handoff.to.map(|id| id.to_string()),
            checkpoint: handoff.checkpoint.map(|id| id.to_string()),
            title: (&handoff.title).into(),
            summary: (&handoff.summary).into(),
            risks: (&handoff.risks[..]).into(),
            next_actions: (&handoff.next_actions[..]).into(),
            created_at: handoff.created_at.as_micros(),
            status: HandoffStatusJson::of(handoff.status),
        }
    }

    pub(super) fn into_model(self) -> Result<model::Handoff, DecodeError> {
        Ok(model::Handoff {
            id: id_from_text(&self.id)?,
            from: place(&self.from, self.tree)?,
            to: self.to.as_deref().map(id_from_text).transpose()?,
            checkpoint: self.checkpoint.as_deref().map(id_from_text).transpose()?,
            title: self.title.into_owned(),
            summary: self.summary.into_owned(),
            risks: self.risks.into_owned(),
            next_actions: self.next_actions.into_owned(),
            created_at: model::Timestamp::from_micros(self.created_at),
            status: self.status.into_model(),
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct TimelineJson<'a> {
    id: Cow<'a, str>,
    session: Cow<'a, str>,
    created_at: i64,
    order: u64,
    kind: TimelineKindJson,
    title: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    related: Option<RelatedJson>,
}

impl<'a> TimelineJson<'a> {
    fn of(item: &'a model::TimelineItem) -> Self {
        TimelineJson {
            id: item.id.to_string().into(),
            session: session_text(item.session).into(),
            created_at: item.created_at.as_micros(),
            order: item.order,
            kind: TimelineKindJson::of(item.kind),
            title: (&item.title).into(),
            related: item.related.map(RelatedJson::of),
        }
    }

    fn into_model(self) -> Result<model::TimelineItem, DecodeError> {
        Ok(model::TimelineItem {
            id: id_from_text(&self.id)?,
            session: session_from_text(&self.session)?,
            created_at: model::Timestamp::from_micros(self.created_at),
            order: self.order,
            kind: self.kind.into_model(),
            title: self.title.into_owned(),
            related: self.related.map(RelatedJson::into_model).transpose()?,
        })
    }
}
