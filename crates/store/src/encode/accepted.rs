//! The JSON twins of work that was accepted.

use std::borrow::Cow;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::record::{place, session_text};
use super::request::AnswerJson;
use super::{DecodeError, PathJson, id_from_text};

#[derive(Serialize, Deserialize)]
pub(super) struct AcceptedJson<'a> {
    at: i64,
    work: WorkJson<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WorkJson<'a> {
    Answer {
        request: Cow<'a, str>,
        answer: AnswerJson<'a>,
        by: Cow<'a, str>,
    },
    Checkpoint {
        checkpoint: Cow<'a, str>,
        session: Cow<'a, str>,
        /// The work tree, if it is named by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<PathJson<'a>>,
        title: Cow<'a, str>,
        summary: Cow<'a, str>,
        #[serde(default)]
        review: bool,
    },
    Session(SessionJson<'a>),
    Worktree(TreeJson<'a>),
    LentWorktree(TreeJson<'a>),
    Delivery(Cow<'a, str>),
}

#[derive(Serialize, Deserialize)]
struct SessionJson<'a> {
    session: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repo: Option<PathJson<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<Cow<'a, str>>,
    #[serde(default)]
    create_worktree: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    existing_worktree: Option<PathJson<'a>>,
    tool: ToolJson<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree: Option<TreeJson<'a>>,
    #[serde(default)]
    is_launching: bool,
    /// Absent if a person asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToolJson<'a> {
    None,
    Usual,
    Named(Cow<'a, str>),
}

#[derive(Serialize, Deserialize)]
struct TreeJson<'a> {
    top: PathJson<'a>,
    path: PathJson<'a>,
    branch: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<Cow<'a, str>>,
}

impl<'a> AcceptedJson<'a> {
    pub(super) fn of(accepted: &'a model::Accepted) -> Self {
        AcceptedJson { at: accepted.at.as_micros(), work: WorkJson::of(&accepted.work) }
    }

    pub(super) fn into_model(self) -> Result<model::Accepted, DecodeError> {
        let at = model::Timestamp::from_micros(self.at);
        Ok(model::Accepted { at, work: self.work.into_model()? })
    }
}

impl<'a> WorkJson<'a> {
    fn of(work: &'a model::AcceptedWork) -> Self {
        use model::AcceptedWork as Work;
        match work {
            Work::Answer { request, answer, by } => WorkJson::Answer {
                request: request.to_string().into(),
                answer: AnswerJson::of(answer),
                by: by.into(),
            },
            Work::Checkpoint { checkpoint, place, title, summary, review } => {
                WorkJson::Checkpoint {
                    checkpoint: checkpoint.to_string().into(),
                    session: session_text(place.session()).into(),
                    tree: place.tree().map(PathJson::of),
                    title: title.into(),
                    summary: summary.into(),
                    review: *review,
                }
            }
            Work::Session(session) => WorkJson::Session(SessionJson::of(session)),
            Work::Worktree(tree) => WorkJson::Worktree(TreeJson::of(tree)),
            Work::LentWorktree(tree) => WorkJson::LentWorktree(TreeJson::of(tree)),
            Work::Delivery(review) => WorkJson::Delivery(review.to_string().into()),
        }
    }

    fn into_model(self) -> Result<model::AcceptedWork, DecodeError> {
        use model::AcceptedWork as Work;
        Ok(match self {
            WorkJson::Answer { request, answer, by } => Work::Answer {
                request: id_from_text(&request)?,
                answer: answer.into_model(),
                by: by.into_owned(),
            },
            WorkJson::Checkpoint { checkpoint, session, tree, title, summary, review } => {
                Work::Checkpoint {
                    checkpoint: id_from_text(&checkpoint)?,
                    place: place(&session, tree)?,
                    title: title.into_owned(),
                    summary: summary.into_owned(),
                    review,
                }
            }
            WorkJson::Session(session) => Work::Session(Box::new(session.into_model()?)),
            WorkJson::Worktree(tree) => Work::Worktree(tree.into_model()),
            WorkJson::LentWorktree(tree) => Work::LentWorktree(tree.into_model()),
            WorkJson::Delivery(review) => Work::Delivery(id_from_text(&review)?),
        })
    }
}

impl<'a> SessionJson<'a> {
    fn of(session: &'a model::AcceptedSession) -> Self {
        SessionJson {
            session: session.session.to_string().into(),
            title: session.title.as_deref().map(Cow::Borrowed),
            repo: session.repo.as_deref().map(PathJson::of),
            branch: session.branch.as_deref().map(Cow::Borrowed),
            create_worktree: session.create_worktree,
            existing_worktree: session.existing_worktree.as_deref().map(PathJson::of),
            tool: match &session.tool {
                model::AcceptedTool::None => ToolJson::None,
                model::AcceptedTool::Usual => ToolJson::Usual,
                model::AcceptedTool::Named(name) => ToolJson::Named(name.into()),
            },
            tree: session.tree.as_ref().map(TreeJson::of),
            is_launching: session.is_launching,
            origin: (session.origin != model::Origin::Person)
                .then(|| session.origin.to_string().into()),
        }
    }

    fn into_model(self) -> Result<model::AcceptedSession, DecodeError> {
        Ok(model::AcceptedSession {
            session: id_from_text(&self.session)?,
            title: self.title.map(Cow::into_owned),
            repo: self.repo.map(PathJson::into_path),
            branch: self.branch.map(Cow::into_owned),
            create_worktree: self.create_worktree,
            existing_worktree: self.existing_worktree.map(PathJson::into_path),
            tool: match self.tool {
                ToolJson::None => model::AcceptedTool::None,
                ToolJson::Usual => model::AcceptedTool::Usual,
                ToolJson::Named(name) => model::AcceptedTool::Named(name.into_owned()),
            },
            tree: self.tree.map(TreeJson::into_model),
            is_launching: self.is_launching,
            origin: self.origin.map_or(model::Origin::Person, |text| model::Origin::read(&text)),
        })
    }
}

impl<'a> TreeJson<'a> {
    fn of(tree: &'a model::PlannedTree) -> Self {
        TreeJson {
            top: PathJson::of(&tree.top),
            path: PathJson::of(&tree.path),
            branch: (&tree.branch).into(),
            base: tree.base.as_deref().map(Cow::Borrowed),
        }
    }

    fn into_model(self) -> model::PlannedTree {
        model::PlannedTree {
            top: self.top.into_path(),
            path: self.path.into_path(),
            branch: self.branch.into_owned(),
            base: self.base.map(Cow::into_owned),
        }
    }
}
