//! Turns, and what is said, thought and done in them.

use std::path::PathBuf;

use rookery_model as model;
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ModelChoice, Time, TurnStatus, Usage, format_time};

/// One round of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    pub id: String,
    pub status: TurnStatus,
    /// Who answers in it.
    pub choice: ModelChoice,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub started_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Time>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Why the model stopped, in the provider's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    pub usage: Usage,
}

impl From<&model::Turn> for Turn {
    fn from(turn: &model::Turn) -> Self {
        Self {
            id: turn.id.to_string(),
            status: turn.status.into(),
            choice: (&turn.settings.choice).into(),
            error: turn.error.as_ref().map(|error| error.message.clone()),
            started_at: format_time(turn.started_at),
            completed_at: turn.completed_at.map(format_time),
            duration_ms: turn.completed_at.map(|end| {
                let micros = end.as_micros().saturating_sub(turn.started_at.as_micros());
                u64::try_from(micros / 1_000).unwrap_or(0)
            }),
            finish_reason: turn.finish_reason.clone(),
            usage: turn.usage.into(),
        }
    }
}

/// An item with the turn that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnItem {
    pub turn: String,
    #[serde(flatten)]
    pub item: Item,
}

/// Something said, thought or done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    /// Its name, unique in the thread.
    pub id: String,
    pub status: ItemStatus,
    #[serde(flatten)]
    pub body: ItemBody,
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    InProgress,
    Completed,
    Failed,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ItemBody {
    /// What the user said.
    User {
        text: String,
        /// Images, as `data:` or `http` addresses.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<String>,
    },
    /// What the agent said.
    Agent {
        text: String,
        /// Which part of the answer it is, such as `final_answer`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        phase: String,
        /// Whether it was cut off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
    },
    /// What the model thought, as far as it tells.
    Reasoning {
        /// Parts of a summary.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        summary: Vec<String>,
        /// Parts of the thought itself.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        content: Vec<String>,
    },
    /// A tool at work.
    Tool(Box<ToolCall>),
    /// What came before was summed up or shortened.
    Compaction {
        /// What the model gets instead.
        summary: String,
    },
    /// Something failed.
    Error { message: String },
    /// JSON of another kind.
    Raw { payload: Value },
}

/// A tool call with what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The model's name for the call.
    pub call: String,
    /// The tool.
    pub name: String,
    /// What it was called with.
    pub input: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The terminal that it runs in, if it runs in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<u64>,
    /// What became of asking; absent if it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ToolApproval>,
}

/// What became of asking for a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolApproval {
    /// It waits for an answer.
    Requested,
    Approved,
    Denied,
}

impl From<&model::Item> for Item {
    fn from(item: &model::Item) -> Self {
        let status = match item.status {
            model::ItemStatus::InProgress => ItemStatus::InProgress,
            model::ItemStatus::Completed => ItemStatus::Completed,
            model::ItemStatus::Failed => ItemStatus::Failed,
        };
        Self { id: item.id.as_str().to_owned(), status, body: (&item.body).into() }
    }
}

impl From<&model::ItemBody> for ItemBody {
    fn from(body: &model::ItemBody) -> Self {
        match body {
            model::ItemBody::User { text, images, context: _ } => {
                Self::User { text: text.clone(), images: images.clone() }
            }
            model::ItemBody::Agent { text, phase, partial } => {
                Self::Agent { text: text.clone(), phase: phase.clone(), partial: *partial }
            }
            model::ItemBody::Reasoning { summary, content } => {
                Self::Reasoning { summary: summary.clone(), content: content.clone() }
            }
            model::ItemBody::Tool(call) => Self::Tool(Box::new((&**call).into())),
            model::ItemBody::Compaction { summary, pruning: _ } => {
                Self::Compaction { summary: summary.clone() }
            }
            model::ItemBody::Error { message } => Self::Error { message: message.clone() },
            model::ItemBody::Raw { payload } => Self::Raw { payload: json(payload) },
        }
    }
}

impl From<&model::ToolItem> for ToolCall {
    fn from(call: &model::ToolItem) -> Self {
        Self {
            call: call.call_id.clone(),
            name: call.name.clone(),
            input: json(&call.input),
            output: call.output.clone(),
            error: call.error.clone(),
            exit_code: call.exit_code,
            duration_ms: call.duration_ms,
            terminal: call.terminal.map(model::TerminalId::get),
            approval: call.approval.map(|answer| match answer {
                None => ToolApproval::Requested,
                Some(true) => ToolApproval::Approved,
                Some(false) => ToolApproval::Denied,
            }),
        }
    }
}

/// JSON text as a value, or as the text it is if a model was cut off within it.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Params of `rookery/turns/start`. A turn that runs is steered instead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnStart {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
    /// What the user says.
    pub text: String,
    /// Images, as `data:` or `http` addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// Files of images, which the daemon reads; absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub image_files: Vec<PathBuf>,
    /// Files that the user refers to; absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PathBuf>,
    /// Who answers in this turn; as in the thread if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much it thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// How many seconds it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_seconds: Option<u64>,
}

call!("rookery/turns/start" TurnStart -> TurnStarted);

/// Result of `rookery/turns/start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStarted {
    /// The thread's id in full.
    pub thread: String,
    /// Turn that receives it.
    pub turn: String,
    /// Whether that turn ran already.
    pub steered: bool,
}

/// Params of `rookery/turns/steer`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnSteer {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
    /// The turn that is expected to run.
    pub turn: String,
    /// Text for it, before the model is asked next.
    pub text: String,
}

call!("rookery/turns/steer" TurnSteer -> TurnOnly);

/// Params of `rookery/turns/interrupt`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnInterrupt {
    /// Which thread; the end of its id is enough if no other ends so.
    pub thread: String,
    /// The turn that is expected to run; whichever runs if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
}

call!("rookery/turns/interrupt" TurnInterrupt -> TurnOnly);

/// Result of methods that say nothing but which turn it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnOnly {
    pub turn: String,
}
