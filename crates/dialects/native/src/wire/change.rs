//! What happened to files: what a work tree changed, what commands were seen to change, and hunks.

use std::path::PathBuf;

use rookery_model::{self as model, Words as _};
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Time, format_time};

/// Params of `rookery/changes/list`. Exactly one of `thread` and `workspace` is needed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeList {
    /// The thread whose directory is meant; what its commands changed is listed as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// A directory of the work tree that is meant; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// Files at most; 500 if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

call!("rookery/changes/list" ChangeList -> ChangesListed);

/// Result of `rookery/changes/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangesListed {
    /// The work tree, if the directory is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeChanges>,
    /// What commands of the thread were seen to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<Observed>,
}

/// What a work tree changed since its branch left its base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TreeChanges {
    /// The top of the work tree.
    pub root: String,
    /// The branch, unless none is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The reference that it is compared with; none while there is no commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The commit where both met last, or the empty tree.
    pub base_commit: String,
    /// The commit that is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The files, by path.
    pub files: Vec<TreeFile>,
    /// How many there are, also of those that are not listed.
    pub file_count: u64,
    /// Lines added in all of them.
    pub additions: u64,
    /// Lines deleted in all of them.
    pub deletions: u64,
}

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TreeFile {
    pub path: String,
    /// Its path before, if that was another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// `added`, `modified`, `deleted`, `renamed` or `untracked`.
    pub status: String,
    /// Where the change lies: `committed`, `staged`, `unstaged`, `untracked`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub areas: Vec<String>,
    pub additions: u64,
    pub deletions: u64,
    /// Whether it is not text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// Whether it was too large to be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_large: bool,
}

/// Files that changed while a command ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    pub id: String,
    /// The turn; absent if a client ran the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The call, or the command's own name.
    pub call: String,
    pub tool: String,
    /// Whether other tools worked in the same work tree meanwhile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    pub files: Vec<TreeFile>,
    pub at: Time,
}

impl From<&model::Observation> for Observed {
    fn from(seen: &model::Observation) -> Self {
        let file = |file: &model::ObservedFile| TreeFile {
            path: file.path.clone(),
            old_path: file.old_path.clone(),
            status: file.status.word().to_owned(),
            areas: Vec::new(),
            additions: file.additions,
            deletions: file.deletions,
            binary: file.is_binary,
            too_large: false,
        };
        Observed {
            id: seen.id.clone(),
            turn: seen.turn.map(|turn| turn.to_string()),
            call: seen.call.clone(),
            tool: seen.tool.clone(),
            shared: seen.is_shared,
            files: seen.files.iter().map(file).collect(),
            at: format_time(seen.at),
        }
    }
}

/// Where a change lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeArea {
    /// Between the base and the head.
    Committed,
    /// Between the head and the index.
    Staged,
    /// Between the index and the work tree.
    Unstaged,
    /// Outside of the index.
    Untracked,
}

/// Params of `rookery/changes/show`. Exactly one of `thread` and `workspace` is needed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeShow {
    /// The thread whose directory is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// A directory of the work tree that is meant; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// File, relative to the top of the work tree.
    pub path: String,
    /// Only what lies here; everything since the base if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<ChangeArea>,
    /// Whether white space alone makes no difference.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignore_whitespace: bool,
}

call!("rookery/changes/show" ChangeShow -> ChangeShown);

/// Result of `rookery/changes/show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeShown {
    pub path: String,
    /// A unified diff; empty if nothing differs.
    pub patch: String,
    /// Whether there is more of it than this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Whether the file is not text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
}

/// Params of `rookery/hunks/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HunkList {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
    /// Only those of this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// Only those of this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

call!("rookery/hunks/list" HunkList -> Hunks);

/// Result of `rookery/hunks/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hunks {
    /// In the order in which they were made, without their lines.
    pub hunks: Vec<Hunk>,
}

/// Params of `rookery/hunks/show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HunkShow {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
    /// Which hunk, by its id.
    pub hunk: String,
}

call!("rookery/hunks/show" HunkShow -> Hunk);

/// Params of `rookery/hunks/rollback`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HunkRollback {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
    /// Which hunk, by its id.
    pub hunk: String,
}

call!("rookery/hunks/rollback" HunkRollback -> HunkRolledBack);

/// Result of `rookery/hunks/rollback`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkRolledBack {
    pub rolled_back: bool,
    /// Why it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What an edit tool did to a part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    pub id: String,
    /// The turn; absent if a client called the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    pub call: String,
    pub tool: String,
    /// From the thread's directory on.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// `modify`, `create`, `delete` or `rename`.
    pub operation: String,
    pub old_start: u64,
    /// With context.
    pub old_lines: u64,
    pub new_start: u64,
    /// With context.
    pub new_lines: u64,
    /// Lines that were added.
    pub additions: u64,
    /// Lines that were removed.
    pub deletions: u64,
    /// Lines of a unified diff; absent in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// `available`, `applied`, `unavailable` or `conflict`.
    pub rollback: String,
    /// Why it cannot be rolled back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub at: Time,
}

impl Hunk {
    pub(crate) fn of(hunk: &model::Hunk, with_lines: bool) -> Self {
        let edit = &hunk.edit;
        let count = |kind: model::LineKind| {
            edit.lines.iter().filter(|line| line.kind == kind).count() as u64
        };
        let line = |line: &model::HunkLine| {
            let sign = match line.kind {
                model::LineKind::Context => ' ',
                model::LineKind::Added => '+',
                model::LineKind::Removed => '-',
            };
            format!("{sign}{}", line.text.strip_suffix('\n').unwrap_or(&line.text))
        };
        let (rollback, reason) = match &hunk.rollback {
            model::Rollback::Available => ("available", None),
            model::Rollback::Applied => ("applied", None),
            model::Rollback::Unavailable(reason) => ("unavailable", Some(reason.clone())),
            model::Rollback::Conflict(reason) => ("conflict", Some(reason.clone())),
        };
        Hunk {
            id: hunk.id.clone(),
            turn: hunk.turn.map(|turn| turn.to_string()),
            call: hunk.call.clone(),
            tool: hunk.tool.clone(),
            path: edit.path.clone(),
            old_path: edit.old_path.clone(),
            operation: edit.operation.word().to_owned(),
            old_start: edit.old_start,
            old_lines: edit.old_lines,
            new_start: edit.new_start,
            new_lines: edit.new_lines,
            additions: count(model::LineKind::Added),
            deletions: count(model::LineKind::Removed),
            lines: edit.lines.iter().filter(|_| with_lines).map(line).collect(),
            rollback: rollback.to_owned(),
            reason,
            at: format_time(hunk.at),
        }
    }
}
