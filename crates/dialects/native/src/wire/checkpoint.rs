//! Params and results about checkpoints.

use std::path::PathBuf;

use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Checkpoint, Differences};

/// Params of `rookery/checkpoints/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointList {
    /// Only those of this session, by its id or title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only those of the work tree around this directory; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<PathBuf>,
}

call!("rookery/checkpoints/list" CheckpointList -> Checkpoints);

/// Result of `rookery/checkpoints/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoints {
    /// The checkpoints, newest first.
    pub checkpoints: Vec<Checkpoint>,
}

/// Params of `rookery/checkpoints/show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointShow {
    /// Which checkpoint; the end of its id is enough if no other ends so.
    pub id: String,
}

call!("rookery/checkpoints/show" CheckpointShow -> Checkpoint);

/// Params of `rookery/checkpoints/delete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointDelete {
    /// Which checkpoint; the end of its id is enough if no other ends so.
    pub id: String,
}

call!("rookery/checkpoints/delete" CheckpointDelete -> CheckpointsDeleted);

/// Params of `rookery/checkpoints/create`. Exactly one of `session` and `tree` is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointCreate {
    /// The session whose work is captured, by its id or title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// A directory of the work tree that is meant, absolute; instead of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<PathBuf>,
    /// In a few words; `Checkpoint` if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// In a few more; `Manual checkpoint` if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Whether a review of it is asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub review: bool,
}

call!("rookery/checkpoints/create" CheckpointCreate -> Checkpoint);

/// Params of `rookery/checkpoints/diff`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointDiff {
    /// Which checkpoint; the end of its id is enough if no other ends so.
    pub id: String,
    /// `head` (what it stood on, to it), `now` (from it to the work tree as it is), or another
    /// checkpoint (from that to this); `head` if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
}

call!("rookery/checkpoints/diff" CheckpointDiff -> CheckpointDiffed);

/// Result of `rookery/checkpoints/diff`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointDiffed {
    /// The checkpoint's id in full.
    pub id: String,
    /// What differs.
    pub differences: Differences,
    /// The patch; what is no UTF-8 in it is replaced.
    pub patch: String,
    /// Whether there is more of it than is given.
    pub cut: bool,
}

/// Params of `rookery/checkpoints/restore`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointRestore {
    /// Which checkpoint; the end of its id is enough if no other ends so.
    pub id: String,
    /// Only these files, and all below these directories; relative to the top of the work tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathBuf>,
    /// Whether head and branch go back too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub head: bool,
}

call!("rookery/checkpoints/restore" CheckpointRestore -> CheckpointRestored);

/// Result of `rookery/checkpoints/restore`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointRestored {
    /// The checkpoint that was put back.
    pub id: String,
    /// The state before, by which this is undone.
    pub safety: Checkpoint,
    /// Files that were written.
    pub written: u64,
    /// Files that were removed.
    pub removed: u64,
    /// What was left as it is, since it is not in the checkpoint's care.
    pub untouched: Vec<String>,
    /// Whether the head moved.
    pub moved_head: bool,
}

/// Params of `rookery/checkpoints/prune`. Exactly one of `keep` and `olderThan` is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointPrune {
    /// A directory of the repository, absolute.
    pub repo: PathBuf,
    /// Keep the newest ones, that many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<usize>,
    /// Delete those that are older than this, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older_than: Option<u64>,
}

call!("rookery/checkpoints/prune" CheckpointPrune -> CheckpointsDeleted);

/// Result of `rookery/checkpoints/prune` and `rookery/checkpoints/delete`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointsDeleted {
    /// The ids of those that are gone.
    pub deleted: Vec<String>,
}
