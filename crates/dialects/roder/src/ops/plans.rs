//! Reviews of plans: read, commented on, rewritten, approved and rejected.

use rookery_model as model;

use crate::context::Cx;
use crate::errors::Error;
use crate::plans;
use crate::wire::plan::{
    PlanReviewApproveParams, PlanReviewApproveResult, PlanReviewCommentParams,
    PlanReviewCommentResult, PlanReviewReadParams, PlanReviewReadResult, PlanReviewRejectParams,
    PlanReviewRejectResult, PlanReviewRewriteParams, PlanReviewRewriteResult,
};

/// Who decides, as the log has it.
const BY: &str = "roder";

/// The plan that a client means, if there is a review of it.
fn find(cx: &Cx, thread: &str, review: &str) -> Option<(model::ThreadId, model::PlanKey)> {
    let thread = thread.parse().ok()?;
    let key = plans::read(review)?;
    cx.core.reviews().plan(thread, &key)?;
    Some((thread, key))
}

/// The same where something is to be done with it.
fn known(cx: &Cx, thread: &str, review: &str) -> Result<(model::ThreadId, model::PlanKey), Error> {
    find(cx, thread, review).ok_or_else(|| plans::unknown(review))
}

pub(crate) async fn read(
    cx: Cx,
    params: PlanReviewReadParams,
) -> Result<PlanReviewReadResult, Error> {
    let found = find(&cx, &params.thread_id, &params.review_id);
    let review = found.and_then(|(thread, key)| cx.core.reviews().plan(thread, &key));
    Ok(PlanReviewReadResult { review: review.as_ref().and_then(plans::review) })
}

pub(crate) async fn comment(
    cx: Cx,
    params: PlanReviewCommentParams,
) -> Result<PlanReviewCommentResult, Error> {
    let (thread, key) = known(&cx, &params.thread_id, &params.review_id)?;
    let anchor = plans::read_anchor(&params.anchor)?;
    let made = cx.core.reviews().comment_plan(thread, &key, anchor, params.body, BY).await;
    cx.flush().await;
    let (review, index) = made?;
    let comment = review.comments.get(index);
    let comment = comment.ok_or_else(|| Error::runtime("the comment is gone"))?;
    Ok(PlanReviewCommentResult { comment: plans::comment(&params.review_id, index, comment) })
}

pub(crate) async fn rewrite(
    cx: Cx,
    params: PlanReviewRewriteParams,
) -> Result<PlanReviewRewriteResult, Error> {
    let (thread, key) = known(&cx, &params.thread_id, &params.review_id)?;
    let text = params.replacement_markdown;
    let made = cx.core.reviews().rewrite_plan(thread, &key, &text).await;
    cx.flush().await;
    let (review, index) = made?;
    let rewrite = review.plan.as_deref().and_then(|plan| plan.rewrites.get(index));
    let rewrite = rewrite.ok_or_else(|| Error::runtime("the plan is gone"))?;
    Ok(PlanReviewRewriteResult { rewrite: plans::rewrite(&params.review_id, index, rewrite) })
}

pub(crate) async fn approve(
    cx: Cx,
    params: PlanReviewApproveParams,
) -> Result<PlanReviewApproveResult, Error> {
    let (thread, key) = known(&cx, &params.thread_id, &params.review_id)?;
    let decided = cx.core.reviews().approve_plan(thread, &key, BY).await;
    cx.flush().await;
    decided?;
    Ok(PlanReviewApproveResult { approved: true })
}

pub(crate) async fn reject(
    cx: Cx,
    params: PlanReviewRejectParams,
) -> Result<PlanReviewRejectResult, Error> {
    let (thread, key) = known(&cx, &params.thread_id, &params.review_id)?;
    let decided = cx.core.reviews().reject_plan(thread, &key, params.reason, BY).await;
    cx.flush().await;
    decided?;
    Ok(PlanReviewRejectResult { rejected: true })
}
