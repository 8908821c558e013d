//! Reviews of plans.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Params of `plan/review/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanReviewReadParams {
    pub thread_id: String,
    pub review_id: String,
}

/// Result of `plan/review/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReviewReadResult {
    pub review: Option<PlanReview>,
}

/// Params of `plan/review/comment`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanReviewCommentParams {
    pub thread_id: String,
    pub review_id: String,
    /// What it is about: an [`Anchor`], or the same with its tag as `kind`; also `line`, lines of the plan.
    pub anchor: Value,
    pub body: String,
}

/// Result of `plan/review/comment`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReviewCommentResult {
    pub comment: PlanComment,
}

/// Params of `plan/review/rewrite`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanReviewRewriteParams {
    pub thread_id: String,
    pub review_id: String,
    pub replacement_markdown: String,
}

/// Result of `plan/review/rewrite`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReviewRewriteResult {
    pub rewrite: PlanRewrite,
}

/// Params of `plan/review/approve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanReviewApproveParams {
    pub thread_id: String,
    pub review_id: String,
}

/// Result of `plan/review/approve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReviewApproveResult {
    pub approved: bool,
}

/// Params of `plan/review/reject`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanReviewRejectParams {
    pub thread_id: String,
    pub review_id: String,
    /// Told to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Result of `plan/review/reject`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReviewRejectResult {
    pub rejected: bool,
}

/// A plan with all that was said about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanReview {
    pub id: String,
    pub thread_id: String,
    pub turn_id: String,
    pub status: PlanReviewStatus,
    pub title: String,
    pub markdown: String,
    pub steps: Vec<PlanStep>,
    pub comments: Vec<PlanComment>,
    pub rewrites: Vec<PlanRewrite>,
    pub created_at: String,
    pub updated_at: String,
}

/// Where a plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PlanReviewStatus {
    Drafted,
    AwaitingReview,
    Rewritten,
    Approved,
    Executing,
    Completed,
    Rejected,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    pub id: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub completed: bool,
}

/// A comment on a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanComment {
    pub id: String,
    pub review_id: String,
    pub anchor: Anchor,
    pub body: String,
    pub created_at: String,
}

/// A plan that took the place of another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanRewrite {
    pub id: String,
    pub review_id: String,
    pub replacement_markdown: String,
    pub created_at: String,
}

/// What a comment is about, as it is written. Lines of the plan are those of a file `plan.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Anchor {
    WholePlan,
    Step { step_id: String },
    File { path: String, start_line: Option<u32>, end_line: Option<u32> },
    Hunk { hunk_id: String },
}

/// Params of `plan/reviewCreated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReviewCreated {
    pub review: PlanReview,
    pub timestamp: String,
}

/// Params of the other notifications about plans; each has the members that it is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanReviewChanged {
    pub thread_id: String,
    pub turn_id: String,
    pub review_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PlanReviewStatus>,
    /// Why it stands there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<PlanComment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewrite: Option<PlanRewrite>,
    /// Why it was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub timestamp: String,
}
