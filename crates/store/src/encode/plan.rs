//! The JSON twins of plans that are reviewed.

use std::borrow::Cow;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::change::PlanKeyJson;
use super::word::PlanStageJson;
use super::{DecodeError, id_from_text};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AnchorJson<'a> {
    Whole,
    Step(Cow<'a, str>),
    Lines(u32, u32),
    File {
        path: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last: Option<u32>,
    },
    Hunk(Cow<'a, str>),
}

impl<'a> AnchorJson<'a> {
    pub(super) fn of(anchor: &'a model::PlanAnchor) -> Self {
        match anchor {
            model::PlanAnchor::Whole => Self::Whole,
            model::PlanAnchor::Step(id) => Self::Step(id.into()),
            model::PlanAnchor::Lines(first, last) => Self::Lines(*first, *last),
            model::PlanAnchor::File { path, first, last } => {
                Self::File { path: path.into(), first: *first, last: *last }
            }
            model::PlanAnchor::Hunk(id) => Self::Hunk(id.into()),
        }
    }

    pub(super) fn into_model(self) -> model::PlanAnchor {
        match self {
            Self::Whole => model::PlanAnchor::Whole,
            Self::Step(id) => model::PlanAnchor::Step(id.into_owned()),
            Self::Lines(first, last) => model::PlanAnchor::Lines(first, last),
            Self::File { path, first, last } => {
                model::PlanAnchor::File { path: path.into_owned(), first, last }
            }
            Self::Hunk(id) => model::PlanAnchor::Hunk(id.into_owned()),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct StepJson<'a> {
    id: Cow<'a, str>,
    title: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_done: bool,
}

#[derive(Serialize, Deserialize)]
struct RewriteJson<'a> {
    markdown: Cow<'a, str>,
    at: i64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct PlanJson<'a> {
    key: PlanKeyJson<'a>,
    thread: String,
    turn: String,
    stage: PlanStageJson,
    title: Cow<'a, str>,
    markdown: Cow<'a, str>,
    #[serde(default)]
    steps: Vec<StepJson<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rewrites: Vec<RewriteJson<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unheard: Vec<Cow<'a, str>>,
    updated_at: i64,
}

impl<'a> PlanJson<'a> {
    pub(super) fn of(plan: &'a model::ReviewedPlan) -> Self {
        let model::ReviewedPlan {
            key,
            thread,
            turn,
            stage,
            title,
            markdown,
            steps,
            rewrites,
            undelivered,
            updated_at,
        } = plan;
        let step = |step: &'a model::ReviewedStep| StepJson {
            id: (&step.id).into(),
            title: (&step.title).into(),
            detail: step.detail.as_deref().map(Cow::from),
            is_done: step.is_done,
        };
        let rewrite = |rewrite: &'a model::PlanRewrite| RewriteJson {
            markdown: (&rewrite.markdown).into(),
            at: rewrite.at.as_micros(),
        };
        PlanJson {
            key: PlanKeyJson::of(key),
            thread: thread.to_string(),
            turn: turn.to_string(),
            stage: PlanStageJson::of(*stage),
            title: title.into(),
            markdown: markdown.into(),
            steps: steps.iter().map(step).collect(),
            rewrites: rewrites.iter().map(rewrite).collect(),
            unheard: undelivered.iter().map(Cow::from).collect(),
            updated_at: updated_at.as_micros(),
        }
    }

    pub(super) fn into_model(self) -> Result<model::ReviewedPlan, DecodeError> {
        let step = |step: StepJson<'_>| model::ReviewedStep {
            id: step.id.into_owned(),
            title: step.title.into_owned(),
            detail: step.detail.map(Cow::into_owned),
            is_done: step.is_done,
        };
        let rewrite = |rewrite: RewriteJson<'_>| model::PlanRewrite {
            markdown: rewrite.markdown.into_owned(),
            at: model::Timestamp::from_micros(rewrite.at),
        };
        Ok(model::ReviewedPlan {
            key: self.key.into_model()?,
            thread: id_from_text(&self.thread)?,
            turn: id_from_text(&self.turn)?,
            stage: self.stage.into_model(),
            title: self.title.into_owned(),
            markdown: self.markdown.into_owned(),
            steps: self.steps.into_iter().map(step).collect(),
            rewrites: self.rewrites.into_iter().map(rewrite).collect(),
            undelivered: self.unheard.into_iter().map(Cow::into_owned).collect(),
            updated_at: model::Timestamp::from_micros(self.updated_at),
        })
    }
}
