//! Threads: conversations with agents.

use std::path::PathBuf;

use rookery_core::{Flag, ThreadView};
use rookery_model as model;
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Empty, Mode, Time, Turn, TurnItem, format_time};

/// A conversation with an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    pub id: String,
    /// The name that it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Beginning of the first message.
    pub preview: String,
    /// Where it works.
    pub cwd: String,
    /// Who answers.
    pub choice: ModelChoice,
    /// How much it may do without asking.
    pub mode: Mode,
    pub status: ThreadStatus,
    /// Whether it is kept in memory only.
    pub ephemeral: bool,
    /// Whether it was archived.
    pub archived: bool,
    /// The thread that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    pub created_at: Time,
    /// When something was last said in it.
    pub updated_at: Time,
    /// Messages of the user and of the agent.
    pub messages: u64,
    pub usage: Usage,
}

impl Thread {
    /// A thread as it is seen, with the mode that holds for it.
    pub(crate) fn of(seen: &ThreadView, mode: model::Mode) -> Self {
        let thread = &seen.thread;
        Self {
            id: thread.id.to_string(),
            name: thread.name.clone(),
            preview: thread.preview.clone(),
            cwd: thread.cwd.to_string_lossy().into_owned(),
            choice: (&thread.choice).into(),
            mode: mode.into(),
            status: (&seen.status).into(),
            ephemeral: thread.ephemeral,
            archived: thread.archived,
            parent: thread.parent.map(|parent| parent.to_string()),
            created_at: format_time(thread.created_at),
            updated_at: format_time(thread.updated_at),
            messages: thread.message_count,
            usage: thread.usage.into(),
        }
    }
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelChoice {
    pub provider: String,
    /// Its model; `default` leaves it to the provider.
    pub model: String,
    /// How much it thinks, if that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

impl From<&model::Choice> for ModelChoice {
    fn from(choice: &model::Choice) -> Self {
        Self {
            provider: choice.provider.clone(),
            model: choice.model.clone(),
            reasoning: choice.reasoning.clone(),
        }
    }
}

/// What a thread does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadStatus {
    /// The turn that runs; absent if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// What that turn waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<ThreadWait>,
}

/// What a turn waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadWait {
    /// A person has to approve something.
    Approval,
    /// Questions wait for answers.
    Answer,
    /// A plan waits for approval.
    Plan,
    /// A client has to run a tool.
    Tool,
    /// It is being stopped.
    Stop,
}

impl From<&rookery_core::ThreadStatus> for ThreadStatus {
    fn from(status: &rookery_core::ThreadStatus) -> Self {
        let waits = status.flags.iter().map(|flag| match flag {
            Flag::ApprovalRequired => ThreadWait::Approval,
            Flag::UserInputRequired => ThreadWait::Answer,
            Flag::PlanExitRequired => ThreadWait::Plan,
            Flag::ExternalToolPending => ThreadWait::Tool,
            Flag::Interrupting => ThreadWait::Stop,
        });
        Self { turn: status.active_turn.map(|turn| turn.to_string()), waits: waits.collect() }
    }
}

/// Tokens that were used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    pub prompt: u64,
    pub completion: u64,
    /// Of the prompt, read from the provider's cache.
    pub cached: u64,
    /// Written to that cache.
    pub cache_creation: u64,
}

impl From<model::Usage> for Usage {
    fn from(usage: model::Usage) -> Self {
        Self {
            prompt: usage.prompt,
            completion: usage.completion,
            cached: usage.cached,
            cache_creation: usage.cache_creation,
        }
    }
}

/// Params of `rookery/threads/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadList {
    /// How many at most; 50 if not said, never more than 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Archived ones instead of the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// Only those that work in this directory; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Only those whose name or beginning has this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
}

call!("rookery/threads/list" ThreadList -> Threads);

/// Result of `rookery/threads/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Threads {
    /// The one last used first.
    pub threads: Vec<Thread>,
    /// What to give as `cursor` to go on; absent if there are no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Params of `rookery/threads/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadGet {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
}

call!("rookery/threads/get" ThreadGet -> Thread);

/// Params of `rookery/threads/read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadRead {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
    /// The `before` of the page after this one; the newest page if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// How many items at most; 100 if not said, never more than 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// How many bytes of items at most, unless the first of them is longer; 1 MiB if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<usize>,
}

call!("rookery/threads/read" ThreadRead -> ThreadItems);

/// Result of `rookery/threads/read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadItems {
    pub thread: Thread,
    /// The turns that the items belong to, in order.
    pub turns: Vec<Turn>,
    /// The items of this page, in order.
    pub items: Vec<TurnItem>,
    /// What to give as `before` for the page before this one; absent if this is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Records of it that could not be read.
    pub unreadable: u64,
}

/// Params of `rookery/threads/start`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadStart {
    /// Where it works; absolute.
    pub cwd: PathBuf,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who answers; as in the settings if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much it thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Whether it is kept in memory only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
}

call!("rookery/threads/start" ThreadStart -> Thread);

/// Params of `rookery/threads/fork`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFork {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
    /// The last turn that the new thread has; all of them if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The name of the new thread; that of the other if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

call!("rookery/threads/fork" ThreadFork -> Thread);

/// Params of `rookery/threads/rename`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadRename {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
    /// Its new name; none takes the name away.
    #[serde(default)]
    pub name: Option<String>,
}

call!("rookery/threads/rename" ThreadRename -> Thread);

/// Params of `rookery/threads/archive`: puts a thread away, after stopping the turn that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadArchive {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
}

call!("rookery/threads/archive" ThreadArchive -> Thread);

/// Params of `rookery/threads/unarchive`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUnarchive {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
}

call!("rookery/threads/unarchive" ThreadUnarchive -> Thread);

/// Params of `rookery/threads/delete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadDelete {
    /// Which thread, by its whole id.
    pub thread: String,
}

call!("rookery/threads/delete" ThreadDelete -> Empty);

/// Params of `rookery/threads/compact`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCompact {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
    /// What the summary has to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

call!("rookery/threads/compact" ThreadCompact -> ThreadCompacted);

/// Result of `rookery/threads/compact`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCompacted {
    /// Whether it is shorter now.
    pub compacted: bool,
    /// Why not, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Tokens before, about.
    pub before: u64,
    /// Tokens after, about.
    pub after: u64,
}

/// Params of `rookery/threads/setModel`. What is not said stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadSetModel {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much it thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

call!("rookery/threads/setModel" ThreadSetModel -> Thread);

/// Params of `rookery/threads/setMode`. What waits for an approval is judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadSetMode {
    /// Which thread, by its id or the end of it; all that have no mode of their own if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    pub mode: Mode,
    /// Why, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

call!("rookery/threads/setMode" ThreadSetMode -> ThreadMode);

/// Result of `rookery/threads/setMode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadMode {
    /// The mode that holds now.
    pub mode: Mode,
}
