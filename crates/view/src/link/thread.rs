//! Threads: a conversation with an agent as blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Block, DiffFile, is_false};

/// Params of `view/thread/open`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadOpen {
    pub thread: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Params of `view/thread/older`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadOlder {
    /// The open one if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The oldest item that is known.
    pub before: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `view/thread/open`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadShown {
    #[serde(flatten)]
    pub head: ThreadHead,
    /// The newest items, oldest first.
    pub items: Vec<ThreadItem>,
    /// Whether there are older ones.
    pub more: bool,
}

/// Result of `view/thread/older`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadItems {
    pub items: Vec<ThreadItem>,
    pub more: bool,
}

/// What is said about a thread as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadHead {
    pub thread: String,
    pub title: String,
    pub project: Option<u64>,
    pub model: String,
    pub mode: String,
    /// `idle`, `working`, `waiting`, `failed`.
    pub status: String,
    pub usage: Usage,
    pub plan: Vec<PlanStep>,
    pub goal: Option<String>,
    /// The turn that runs.
    pub turn: Option<ActiveTurn>,
    /// Requests that wait, by id.
    pub waiting: Vec<String>,
}

/// Tokens of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub total: u64,
}

/// One step of an agent's plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PlanStep {
    pub text: String,
    /// `pending`, `working` or `done`.
    pub status: String,
}

/// The turn that runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ActiveTurn {
    pub id: String,
    /// When it began, in milliseconds since 1970.
    pub at: i64,
}

/// One item of a thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadItem {
    pub id: String,
    pub turn: String,
    pub kind: ItemKind,
    pub at: i64,
    /// `working`, `done`, `failed`, `waiting` or `stopped`.
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<Block>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<Vec<DiffFile>>,
    /// The request that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Whether there is more of it, see `view/item`.
    #[serde(skip_serializing_if = "is_false")]
    pub cut: bool,
}

/// What an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ItemKind {
    User,
    Thought,
    Tool,
    Edit,
    Command,
    Question,
    Plan,
    Compaction,
    Error,
    #[default]
    #[serde(other)]
    Agent,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolCall {
    pub name: String,
    pub title: String,
    pub input: String,
    /// The first lines of its output, and the last ones if there are more.
    pub head: Vec<String>,
    pub tail: Vec<String>,
    /// Lines of its output.
    pub lines: u32,
    pub exit: Option<i32>,
    pub ms: Option<u64>,
    /// The terminal that it runs in.
    pub terminal: Option<u64>,
}

/// Lines of a tool's output that are shown of its beginning and its end.
pub const TOOL_LINES: (usize, usize) = (20, 40);

/// Params of `view/item`: all of a cut item, paged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ItemCall {
    pub thread: String,
    pub item: String,
    /// The first line of the page, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
}

/// Result of `view/item`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ItemShown {
    pub item: ThreadItem,
    /// Lines of its output from `from` on.
    pub lines: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u32>,
}

/// Params of `view/thread/new`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadNew {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    pub text: String,
}

/// The result of methods that name a thread, such as `view/thread/new` and `view/thread/fork`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadRef {
    pub thread: String,
}

/// Params of `view/thread/send`: starts a turn, or steers the one that runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadSend {
    pub thread: String,
    pub text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

/// An image that goes with a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Image {
    /// Such as `image/png`.
    pub mime: String,
    /// In base64.
    pub data: String,
}

/// Params of `view/thread/stop`, `view/thread/commands` and others that are about one thread.
pub type ThreadStop = ThreadRef;

/// Params of `view/thread/set`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadSet {
    pub thread: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
}

/// Params of `view/thread/fork`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadFork {
    pub thread: String,
    /// The item after which it begins anew; the end if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Params of `view/thread/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadList {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Result of `view/thread/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadsFound {
    pub threads: Vec<ThreadRow>,
    /// Where the next page begins; null at the end.
    pub after: Option<String>,
}

/// One thread of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadRow {
    pub thread: String,
    pub title: String,
    pub project: Option<u64>,
    pub status: String,
    pub at: i64,
    pub waiting: u32,
}

/// Result of `view/thread/models`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ModelsFound {
    pub models: Vec<ModelRow>,
}

/// A model to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ModelRow {
    pub provider: String,
    pub model: String,
    pub efforts: Vec<String>,
}

/// Result of `view/thread/commands`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CommandsFound {
    pub commands: Vec<CommandRow>,
}

/// A slash command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CommandRow {
    pub name: String,
    pub description: String,
}
