//! Worktrees: further checkouts of a repository.

use std::path::PathBuf;

use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Session;

/// Whether a worktree is there, and has changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeState {
    /// It is in use.
    Attached,
    /// Its directory is gone.
    Missing,
    /// It has changes that are in no commit.
    Dirty,
    /// It has none.
    Clean,
    /// It is about to be removed.
    Removing,
}

/// A worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Worktree {
    /// Its top.
    pub path: String,
    /// Its branch, unless its head is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit it stands on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Whether it is the repository's own checkout.
    pub main: bool,
    /// Why it is locked, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked: Option<String>,
    /// Whether it is there, and has changes.
    pub state: WorktreeState,
    /// The terminals that work in it.
    pub terminals: Vec<u64>,
    /// How many conversations are at work in it.
    pub threads: usize,
}

/// Params of `rookery/worktrees/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeList {
    /// A directory of the repository, absolute.
    pub repo: PathBuf,
}

call!("rookery/worktrees/list" WorktreeList -> Worktrees);

/// Result of `rookery/worktrees/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Worktrees {
    /// The worktrees, the repository's own checkout first.
    pub worktrees: Vec<Worktree>,
}

/// Params of `rookery/worktrees/create`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeCreate {
    /// A directory of the repository, absolute.
    pub repo: PathBuf,
    /// Where; a free place below `.idx0/worktrees` if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The name of its branch; made of title and time if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// What the work is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The revision that the branch starts from; the head of the checkout if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Whether it starts from the main branch of the remote.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remote_base: bool,
    /// Whether the remote is asked for news first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fetch: bool,
    /// Whether the repository's hooks and filters run at the checkout.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trusted: bool,
    /// A line for a shell that prepares it, run in a terminal of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
}

call!("rookery/worktrees/create" WorktreeCreate -> WorktreeMade);

/// Result of `rookery/worktrees/create` and `rookery/worktrees/bootstrap`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeMade {
    /// Its top.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that the branch started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Files that were copied into it.
    pub copied: Vec<String>,
    /// The terminal in which the setup command runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_terminal: Option<u64>,
}

/// Params of `rookery/worktrees/bootstrap`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeBootstrap {
    /// The worktree, absolute.
    pub path: PathBuf,
    /// The checkout to copy from, absolute; the repository's own one if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PathBuf>,
    /// A line for a shell that prepares it, run in a terminal of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
}

call!("rookery/worktrees/bootstrap" WorktreeBootstrap -> WorktreeMade);

/// Params of `rookery/worktrees/attach`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeAttach {
    /// The worktree, absolute.
    pub path: PathBuf,
    /// The title of the session; made of repository and branch if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The agent to start in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

call!("rookery/worktrees/attach" WorktreeAttach -> Session);

/// How commits get onto a branch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LandHow {
    /// As they are.
    #[default]
    Merge,
    /// As one commit.
    Squash,
    /// One by one on top of it.
    Rebase,
}

/// Params of `rookery/worktrees/land`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeLand {
    /// The worktree, absolute.
    pub path: PathBuf,
    /// The branch that gets its commits; the one of the repository's own checkout if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// How; merged if not said.
    #[serde(default)]
    pub how: LandHow,
    /// The message of a merge or of the one commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the worktree and its branch are removed afterwards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
    /// Whether the repository's filters and hooks run where the branch is checked out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trusted: bool,
}

call!("rookery/worktrees/land" WorktreeLand -> WorktreeLanded);

/// Result of `rookery/worktrees/land`. Files in conflict are an error whose data has the member
/// `conflicts`, a list of [`LandConflict`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeLanded {
    /// The branch that got the commits.
    pub into: String,
    /// Where it was.
    pub old: String,
    /// Where it is.
    pub new: String,
    /// How many commits it got.
    pub commits: u64,
    /// The checkout that was brought up to date, if the branch has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<String>,
    /// Whether the worktree is gone.
    pub removed: bool,
}

/// A file that both sides changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LandConflict {
    /// Its path within the repository.
    pub path: String,
    /// How, in the words of git.
    pub kinds: Vec<String>,
}

/// Params of `rookery/worktrees/remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeRemove {
    /// The worktree, absolute.
    pub path: PathBuf,
    /// Whether changes and commits that nothing else holds may be lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Whether its branch goes too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delete_branch: bool,
}

call!("rookery/worktrees/remove" WorktreeRemove -> WorktreeRemoved);

/// Result of `rookery/worktrees/remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeRemoved {
    /// Where it was.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether the branch is gone too.
    pub branch_deleted: bool,
}
