//! Content that a person reads and decides by: prose, diffs and cards. Every text is made safe
//! before it gets here, so no painter parses Markdown, patches or escapes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{About, is_false};

/// A block of prose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Block {
    Paragraph {
        spans: Vec<Span>,
    },
    Heading {
        level: u8,
        spans: Vec<Span>,
    },
    Code {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        language: String,
        lines: Vec<String>,
    },
    List {
        /// The first number of an ordered list.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<u64>,
        items: Vec<ListItem>,
    },
    Quote {
        blocks: Vec<Block>,
    },
    Table {
        #[serde(default)]
        align: Vec<Align>,
        head: Vec<Vec<Span>>,
        rows: Vec<Vec<Vec<Span>>>,
    },
    Rule,
}

/// One item of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListItem {
    /// Whether it is ticked, if it is a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<bool>,
    pub blocks: Vec<Block>,
}

/// How a column of a table stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Align {
    #[default]
    None,
    Left,
    Center,
    Right,
}

/// Text in one look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Span {
    pub text: String,
    #[serde(skip_serializing_if = "is_false")]
    pub bold: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub italic: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub strike: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub code: bool,
    /// Where it leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// One file of a diff.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DiffFile {
    pub path: String,
    /// Its path before, if that was another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    pub status: FileStatus,
    pub added: u32,
    pub removed: u32,
    pub binary: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Vec<Hunk>>,
    /// Whether lines are left off.
    pub cut: bool,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    Added,
    Removed,
    Renamed,
    Copied,
    #[default]
    #[serde(other)]
    Changed,
}

/// A piece of a file's diff.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Hunk {
    /// First lines of the old and the new side.
    pub old: u32,
    pub new: u32,
    /// What git says of its surroundings.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub head: String,
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DiffLine {
    pub kind: LineKind,
    /// Its number on the old side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<u32>,
    /// Its number on the new side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<u32>,
    pub text: String,
}

/// What a line of a hunk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LineKind {
    #[default]
    Same,
    Added,
    Removed,
    /// A remark such as `\ No newline at end of file`.
    Note,
}

/// Params of `view/diff`: of one of a review, a checkpoint, a request or an item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DiffCall {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// What the checkpoint is compared with; the present state if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// The lines of one file; without it there is the list only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first line of the page, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
}

/// Result of `view/diff`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Diff {
    pub files: Vec<DiffFile>,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u32>,
}

/// Params of `view/card`: an item of the queue, or a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CardCall {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// Everything that a decision is made by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Card {
    pub item: Option<String>,
    pub request: Option<String>,
    pub kind: String,
    pub title: String,
    pub tool: String,
    pub reason: String,
    pub rule: Option<String>,
    pub mode: String,
    pub source: String,
    pub session: String,
    pub session_title: String,
    /// The terminal that the session runs in; a session without one is a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<u64>,
    /// The project that the session is in.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub project: String,
    pub at: i64,
    /// What exactly would be done: control and invisible characters are spelled.
    pub lines: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<Vec<DiffFile>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<Block>>,
    pub argv: Vec<String>,
    pub cwd: Option<String>,
    /// Variables that would be set, or unset where the value is null.
    pub env: BTreeMap<String, Option<String>>,
    pub deadline: Option<i64>,
    /// SHA-256 of what is shown, for the answer.
    pub digest: Option<String>,
    /// What it is about, if that is no request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// What can be done: `approve`, `deny`, `remember`, `later`, `open`, `answer`, `accept`, `show`.
    pub actions: Vec<String>,
    /// `pending`, or how it was settled.
    pub state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<i64>,
}

/// A question of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Question {
    pub id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    pub text: String,
    pub options: Vec<Choice>,
    /// Whether several may be chosen.
    #[serde(skip_serializing_if = "is_false")]
    pub several: bool,
    /// Whether it may be answered in own words.
    pub free: bool,
}

/// One option of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Choice {
    pub label: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
}
