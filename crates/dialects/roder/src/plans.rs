//! Reviews of plans, as this dialect spells and shows them.

use rookery_core::{PlanChange, PlanRef};
use rookery_model as model;
use serde_json::{Map, Value};

use crate::changes::value;
use crate::errors::Error;
use crate::ids::RequestKind;
use crate::show;
use crate::wire::notification::name;
use crate::wire::plan::{
    Anchor, PlanComment, PlanReview, PlanReviewChanged, PlanReviewCreated, PlanReviewStatus,
    PlanRewrite, PlanStep,
};

/// What the ids of reviews end with.
const SUFFIX: &str = "-plan-review";
/// What stands for the plan itself where a file is named.
const PLAN_FILE: &str = "plan.md";

/// The id of the review of a plan.
pub(crate) fn spell(key: &model::PlanKey) -> String {
    match key {
        model::PlanKey::Request(id) => format!("{}{SUFFIX}", RequestKind::PlanExit.spell(*id)),
        model::PlanKey::Call(item) => format!("{item}{SUFFIX}"),
    }
}

/// The plan whose review an id names, if it can name one.
pub(crate) fn read(id: &str) -> Option<model::PlanKey> {
    let base = id.strip_suffix(SUFFIX).filter(|base| !base.is_empty())?;
    Some(match RequestKind::PlanExit.read(base) {
        Some(request) => model::PlanKey::Request(request),
        None => model::PlanKey::Call(model::ItemId::new(base)),
    })
}

/// What is answered about a review that does not exist.
pub(crate) fn unknown(id: &str) -> Error {
    let shown: String = id.chars().take(128).collect();
    Error::invalid(format!("unknown plan review {shown:?}"))
}

/// A review of a plan; none if it is one of changes.
pub(crate) fn review(review: &model::Review) -> Option<PlanReview> {
    let plan = review.plan.as_deref()?;
    let id = spell(&plan.key);
    let step = |step: &model::ReviewedStep| PlanStep {
        id: step.id.clone(),
        title: step.title.clone(),
        detail: step.detail.clone(),
        completed: step.is_done,
    };
    let comments = review.comments.iter().enumerate();
    let rewrites = plan.rewrites.iter().enumerate();
    Some(PlanReview {
        thread_id: plan.thread.to_string(),
        turn_id: plan.turn.to_string(),
        status: status(plan.stage),
        title: plan.title.clone(),
        markdown: plan.markdown.clone(),
        steps: plan.steps.iter().map(step).collect(),
        comments: comments.map(|(index, one)| comment(&id, index, one)).collect(),
        rewrites: rewrites.map(|(index, one)| rewrite(&id, index, one)).collect(),
        created_at: show::time(review.created_at),
        updated_at: show::time(plan.updated_at),
        id,
    })
}

pub(crate) fn comment(review: &str, index: usize, comment: &model::ReviewComment) -> PlanComment {
    PlanComment {
        id: format!("{review}-comment-{}", index + 1),
        review_id: review.to_owned(),
        anchor: anchor(comment),
        body: comment.text.clone(),
        created_at: show::time(comment.at),
    }
}

pub(crate) fn rewrite(review: &str, index: usize, rewrite: &model::PlanRewrite) -> PlanRewrite {
    PlanRewrite {
        id: format!("{review}-rewrite-{}", index + 1),
        review_id: review.to_owned(),
        replacement_markdown: rewrite.markdown.clone(),
        created_at: show::time(rewrite.at),
    }
}

fn anchor(comment: &model::ReviewComment) -> Anchor {
    match &comment.anchor {
        None | Some(model::PlanAnchor::Whole) => Anchor::WholePlan,
        Some(model::PlanAnchor::Step(id)) => Anchor::Step { step_id: id.clone() },
        // Published clients know no other way to name lines.
        Some(model::PlanAnchor::Lines(first, last)) => Anchor::File {
            path: PLAN_FILE.to_owned(),
            start_line: Some(*first),
            end_line: Some(*last),
        },
        Some(model::PlanAnchor::File { path, first, last }) => {
            Anchor::File { path: path.clone(), start_line: *first, end_line: *last }
        }
        Some(model::PlanAnchor::Hunk(id)) => Anchor::Hunk { hunk_id: id.clone() },
    }
}

/// What a client says that its comment is about: a word, an object with a tag around it, or one that
/// has its tag as `kind`.
///
/// # Errors
/// If that is none of these.
pub(crate) fn read_anchor(anchor: &Value) -> Result<model::PlanAnchor, Error> {
    let wrong = |why: &str| Error::invalid(format!("Invalid params: anchor {why}"));
    let empty = Map::new();
    let (kind, members) = match anchor {
        Value::String(word) => (word.as_str(), &empty),
        Value::Object(object) => match (object.get("kind"), object.iter().next()) {
            (Some(kind), _) => (kind.as_str().unwrap_or_default(), object),
            (None, Some((tag, Value::Object(inner)))) => (tag.as_str(), inner),
            (None, _) => return Err(wrong("says nothing of what it is about")),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err(wrong("must be a word or an object"));
        }
    };
    let member = |names: [&str; 2]| names.iter().find_map(|name| members.get(*name));
    let text = |names: [&str; 2]| {
        let found = member(names).and_then(Value::as_str).map(str::to_owned);
        found.ok_or_else(|| wrong(&format!("needs {}", names[0])))
    };
    let line = |names: [&str; 2]| match member(names) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
            let number = number.filter(|number| *number > 0);
            number.map(Some).ok_or_else(|| wrong(&format!("has no line number in {}", names[0])))
        }
    };
    let (first, last) = (["startLine", "start_line"], ["endLine", "end_line"]);
    Ok(match kind {
        "wholePlan" | "whole_plan" | "summary" => model::PlanAnchor::Whole,
        "step" => model::PlanAnchor::Step(text(["stepId", "step_id"])?),
        "hunk" => model::PlanAnchor::Hunk(text(["hunkId", "hunk_id"])?),
        "file" => {
            let path = text(["path", "path"])?;
            model::PlanAnchor::File { path, first: line(first)?, last: line(last)? }
        }
        "line" => {
            let begin = line(first)?.ok_or_else(|| wrong("needs startLine"))?;
            model::PlanAnchor::Lines(begin, line(last)?.unwrap_or(begin))
        }
        _ => return Err(wrong("must be wholePlan, step, file, hunk or line")),
    })
}

fn status(stage: model::PlanStage) -> PlanReviewStatus {
    match stage {
        model::PlanStage::Drafted => PlanReviewStatus::Drafted,
        model::PlanStage::AwaitingReview => PlanReviewStatus::AwaitingReview,
        model::PlanStage::Rewritten => PlanReviewStatus::Rewritten,
        model::PlanStage::Approved => PlanReviewStatus::Approved,
        model::PlanStage::Executing => PlanReviewStatus::Executing,
        model::PlanStage::Completed => PlanReviewStatus::Completed,
        model::PlanStage::Rejected => PlanReviewStatus::Rejected,
    }
}

/// Whether a request made it, not a turn.
pub(crate) fn is_own(change: &PlanChange) -> bool {
    use model::PlanStage::{Approved, Rejected, Rewritten};
    match change {
        PlanChange::Commented { .. }
        | PlanChange::Rewritten { .. }
        | PlanChange::Approved(_)
        | PlanChange::Rejected { .. } => true,
        PlanChange::Status { stage, .. } => matches!(stage, Approved | Rejected | Rewritten),
        PlanChange::Created(_) => false,
    }
}

/// The notification of a change, with its name.
pub(crate) fn notification(
    change: &PlanChange,
    at: model::Timestamp,
) -> Option<(&'static str, Value)> {
    let timestamp = show::time(at);
    let changed = |of: &PlanRef| PlanReviewChanged {
        thread_id: of.thread.to_string(),
        turn_id: of.turn.to_string(),
        review_id: spell(&of.key),
        status: None,
        detail: None,
        comment: None,
        rewrite: None,
        reason: None,
        timestamp: timestamp.clone(),
    };
    let (name, params) = match change {
        PlanChange::Created(created) => {
            let review = review(created)?;
            return Some((name::PLAN_CREATED, value(PlanReviewCreated { review, timestamp })));
        }
        PlanChange::Status { of, stage, detail } => {
            let (status, detail) = (Some(status(*stage)), detail.clone());
            (name::PLAN_STATUS_CHANGED, PlanReviewChanged { status, detail, ..changed(of) })
        }
        PlanChange::Commented { of, index, comment: made } => {
            let comment = Some(comment(&spell(&of.key), *index, made));
            (name::PLAN_COMMENT_ADDED, PlanReviewChanged { comment, ..changed(of) })
        }
        PlanChange::Rewritten { of, index, rewrite: made } => {
            let rewrite = Some(rewrite(&spell(&of.key), *index, made));
            (name::PLAN_REWRITTEN, PlanReviewChanged { rewrite, ..changed(of) })
        }
        PlanChange::Approved(of) => (name::PLAN_APPROVED, changed(of)),
        PlanChange::Rejected { of, reason } => {
            let reason = reason.clone();
            (name::PLAN_REJECTED, PlanReviewChanged { reason, ..changed(of) })
        }
    };
    Some((name, value(params)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_read_as_they_are_spelled() {
        let request = model::PlanKey::Request(model::RequestId::new(1 << 100));
        let call = model::PlanKey::Call(model::ItemId::new("call_1-2"));
        assert_eq!(spell(&request), "plan_00000100000000000000000000-plan-review");
        assert_eq!(spell(&call), "call_1-2-plan-review");
        for key in [request, call] {
            assert_eq!(read(&spell(&key)), Some(key));
        }
        for wrong in ["", "-plan-review", "x", "x-plan-reviews"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn anchors_are_read_in_both_forms() {
        let read = |value: Value| read_anchor(&value);
        let whole = model::PlanAnchor::Whole;
        for text in [json!("wholePlan"), json!({"kind": "summary"}), json!({"kind": "wholePlan"})] {
            assert_eq!(read(text).unwrap(), whole);
        }
        let step = model::PlanAnchor::Step("step-1".into());
        assert_eq!(read(json!({"step": {"stepId": "step-1"}})).unwrap(), step);
        assert_eq!(read(json!({"kind": "step", "stepId": "step-1"})).unwrap(), step);
        let lines = model::PlanAnchor::Lines(2, 2);
        assert_eq!(read(json!({"line": {"startLine": 2, "endLine": null}})).unwrap(), lines);
        let file = model::PlanAnchor::File { path: "a".into(), first: Some(1), last: None };
        assert_eq!(read(json!({"kind": "file", "path": "a", "startLine": 1})).unwrap(), file);
        assert_eq!(read(json!({"step": {"step_id": "step-1"}})).unwrap(), step);
        for wrong in [
            json!({"kind": "nothing"}),
            json!("nothing"),
            json!({}),
            json!(7),
            json!({"step": {}}),
            json!({"line": {"startLine": 0}}),
            json!({"file": {"path": "a", "startLine": "x"}}),
        ] {
            let error = read(wrong.clone()).unwrap_err().to_string();
            assert!(error.starts_with("Invalid params: anchor "), "{wrong}: {error}");
        }
    }
}
