//! Params and results about reviews and handoffs.

use std::path::PathBuf;

use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Handoff, HandoffStatus, Review, ReviewStatus};

/// Params of `rookery/reviews/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewList {
    /// Only those of this session, by its id or title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only those of the work tree around this directory; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<PathBuf>,
    /// Only those that stand here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ReviewStatus>,
}

call!("rookery/reviews/list" ReviewList -> Reviews);

/// Result of `rookery/reviews/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reviews {
    /// The reviews, newest first.
    pub reviews: Vec<Review>,
}

/// Params of `rookery/reviews/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewGet {
    /// Which review; the end of its id is enough if no other ends so.
    pub id: String,
}

call!("rookery/reviews/get" ReviewGet -> Review);

/// Params of `rookery/reviews/request`. Exactly one of `session` and `tree` is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRequest {
    /// Whose changes they are: a session, by its id or title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// A directory of the work tree that is meant, absolute; instead of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<PathBuf>,
    /// The checkpoint they are in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// What it is about; `Review requested` if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

call!("rookery/reviews/request" ReviewRequest -> Review);

/// Params of `rookery/reviews/deliver`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewDeliver {
    /// Which review; the end of its id is enough if no other ends so.
    pub id: String,
    /// The receiver: a session, by its id or title. By default the one whose changes they are, else
    /// the only agent in the work tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

call!("rookery/reviews/deliver" ReviewDeliver -> Review);

/// A comment to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewComment {
    /// The file, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line of the new side, if it is about one; needs a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The comment.
    pub text: String,
}

/// Params of `rookery/reviews/comment`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewAddComments {
    /// Which review; the end of its id is enough if no other ends so.
    pub id: String,
    /// What to say.
    pub comments: Vec<NewComment>,
}

call!("rookery/reviews/comment" ReviewAddComments -> Review);

/// Params of `rookery/reviews/setStatus`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewSetStatus {
    /// Which review; the end of its id is enough if no other ends so.
    pub id: String,
    /// Where it stands now.
    pub status: ReviewStatus,
}

call!("rookery/reviews/setStatus" ReviewSetStatus -> Review);

/// Params of `rookery/handoffs/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffList {
    /// Only those from or to this session, by its id or title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only those of the work tree around this directory; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<PathBuf>,
}

call!("rookery/handoffs/list" HandoffList -> Handoffs);

/// Result of `rookery/handoffs/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Handoffs {
    /// The handoffs, newest first.
    pub handoffs: Vec<Handoff>,
}

/// Params of `rookery/handoffs/create`. Exactly one of `from` and `tree` is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandoffCreate {
    /// Who hands over: a session, by its id or title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// A directory of the work tree that is meant, absolute; instead of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<PathBuf>,
    /// Who takes over: a session, by its id or title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The checkpoint to go on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// In a few words; `Handoff` if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// In a few more; `Handoff requested` if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What may go wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risks: Vec<String>,
    /// What comes next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_actions: Vec<String>,
}

call!("rookery/handoffs/create" HandoffCreate -> Handoff);

/// Params of `rookery/handoffs/setStatus`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffSetStatus {
    /// Which handoff; the end of its id is enough if no other ends so.
    pub id: String,
    /// Where it stands now.
    pub status: HandoffStatus,
}

call!("rookery/handoffs/setStatus" HandoffSetStatus -> Handoff);
