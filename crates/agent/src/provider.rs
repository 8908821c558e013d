//! What a model is asked, and what it streams back: the one language between turns and providers.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use rookery_model::{Prices, Usage};
use rookery_signin::Account;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::providers::Loan;

/// Something that answers as a model does.
///
/// One call is one stream of [`ModelEvent`]s. Retries, timeouts and decoding happen behind this, so
/// that a turn sees each thing once. Implementations must not block and keep nothing of a call once
/// its stream is dropped: dropping [`ModelStream`] aborts the request at once.
pub trait Provider: Send + Sync {
    /// Asks the model. Errors come as the stream's [`ModelEvent::Failed`].
    fn call(&self, request: ModelRequest) -> ModelStream;

    /// The models it has, with a lent key if there is one; asked rarely and cached
    /// by the caller.
    fn models(&self, key: Option<Loan>) -> Listing<'_>;
}

/// The models of a provider, on their way.
pub type Listing<'a> = Pin<Box<dyn Future<Output = Result<Vec<ModelInfo>, String>> + Send + 'a>>;

/// A model call at work. Dropping it ends the call.
#[derive(Debug)]
pub struct ModelStream {
    /// What comes back. The last event is `Done` or `Failed`; a channel that closes without either
    /// is a failure.
    pub events: mpsc::Receiver<ModelEvent>,
    /// Answers to [`ModelEvent::Permission`], where the provider asks for them.
    pub answers: Option<mpsc::Sender<PermissionAnswer>>,
    /// Ends the task behind the stream when the stream is dropped.
    pub guard: tokio_util::sync::DropGuard,
}

/// What a model is asked.
#[derive(Clone, Debug, Default)]
pub struct ModelRequest {
    /// The thread, for caches of the provider.
    pub thread: String,
    /// Where the thread works, for providers that are agents themselves.
    pub cwd: std::path::PathBuf,
    /// The model's name.
    pub model: String,
    /// How hard it shall think; none leaves it to the provider.
    pub reasoning: Option<String>,
    /// Instructions of the system and of developers, in this order.
    pub instructions: Vec<String>,
    /// The conversation so far.
    pub entries: Vec<Entry>,
    /// The tools it may call.
    pub tools: Vec<ToolSpec>,
    /// Whether it may, must or must not call one.
    pub tool_choice: ToolChoice,
    /// Whether it may call several at once.
    pub parallel_tools: bool,
    /// Whether it may search the web by itself.
    pub web_search: bool,
    /// Keys to use instead of the provider's own, if the client lent some: one, or one for each
    /// variable of a provider that is a program.
    pub keys: Vec<Loan>,
}

/// Whether tools are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As the model likes.
    #[default]
    Auto,
    None,
    /// At least one.
    Required,
    /// This one.
    Tool(String),
}

/// One piece of the conversation. Pieces of one model call share a `step`; a provider that wants all
/// tool calls of a step in one message finds them by it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Number of the model call within the whole conversation, growing.
    pub step: u64,
    /// What it is.
    pub body: EntryBody,
    /// What the provider wanted back unchanged, if this provider made it.
    pub opaque: Option<Value>,
}

/// What a piece of the conversation is.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryBody {
    /// The user, or a client on the user's behalf.
    User {
        text: String,
        /// Images, as `data:` or `http` addresses.
        images: Vec<String>,
    },
    /// The model.
    Agent { text: String },
    /// What the model thought; most APIs want it back only with its opaque part.
    Reasoning {
        /// The text, summary or content.
        text: String,
    },
    /// The model called a tool.
    ToolCall {
        /// The call's name.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments as the model wrote them.
        arguments: String,
    },
    /// What the tool answered.
    ToolResult {
        /// The call's name.
        id: String,
        text: String,
        /// Whether it tells of a failure.
        is_error: bool,
        /// Images, as `data:` addresses.
        images: Vec<String>,
    },
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name, as the rest of us calls it; providers map what their API does not allow.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// What a model streams back.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// More text.
    Text {
        text: String,
        /// Which part of the answer it belongs to, if the provider says so.
        phase: Option<String>,
    },
    /// More of a thought.
    Reasoning {
        text: String,
        /// The part of a summary it belongs to; none is the thought itself.
        summary: Option<u32>,
    },
    /// A thought is over: what the provider wants back with it.
    ReasoningDone {
        /// To be replayed unchanged.
        opaque: Option<Value>,
    },
    /// A text is over: what the provider wants back with it, where it wants anything.
    TextDone {
        /// To be replayed unchanged.
        opaque: Option<Value>,
    },
    /// A tool call is whole.
    ToolCall {
        /// The call's name; unique within the step.
        id: String,
        /// The tool's name, mapped back to ours.
        name: String,
        /// The arguments as written, not always whole JSON.
        arguments: String,
        /// To be replayed unchanged.
        opaque: Option<Value>,
    },
    /// A tool that the provider runs by itself began or went on; the same id means the same call.
    HostedTool(HostedTool),
    /// The provider is an agent and asks whether it may run a tool of its own.
    Permission {
        /// To be named in the answer.
        id: String,
        /// The tool, with its input.
        tool: HostedTool,
    },
    /// Tokens so far in this call; later counts replace earlier ones.
    Usage(Usage),
    /// Something failed and is tried again after a while.
    Retrying {
        /// Which attempt comes next, from 2.
        attempt: u32,
        /// After how long.
        delay: Duration,
        /// What failed.
        reason: String,
    },
    /// The end.
    Done {
        /// Why it stopped.
        stop: Stop,
    },
    /// The end, and not a good one.
    Failed(Failure),
}

/// A tool that a client runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostedTool {
    /// The call's name.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// What it was asked.
    pub input: Value,
    /// What it came to, once it is over.
    pub output: Option<String>,
    /// Whether it is over.
    pub is_done: bool,
    /// Whether it failed.
    pub is_error: bool,
    /// What it does.
    pub kind: Option<rookery_model::ToolKind>,
}

/// The answer to a [`ModelEvent::Permission`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionAnswer {
    /// Which one.
    pub id: String,
    /// Whether it may.
    pub is_allowed: bool,
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It had said everything.
    Stop,
    /// It was cut off at its limit.
    Length,
    /// It wants tools to be run.
    ToolUse,
    /// A filter cut it off.
    ContentFilter,
    /// It refused.
    Refusal,
    /// It paused and wants to be asked again with the same conversation.
    Pause,
    /// Another reason, in the provider's own word.
    Other(String),
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// In words for people, without any secret.
    pub message: String,
    /// What sort of failure it is.
    pub kind: FailureKind,
}

/// What sort of failure a call ended in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The conversation is longer than the model takes.
    ContextTooLong,
    /// No key, or a wrong one.
    Auth,
    /// The provider does not take images.
    NoImages,
    /// The provider could not be reached, cut us off or answered nonsense, and retrying did not help.
    Unavailable,
    /// The provider does not accept the request.
    Rejected,
}

/// A provider as clients see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProviderInfo {
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// How it knows us.
    pub auth: Auth,
    /// Whether it can be used now.
    pub is_authenticated: bool,
    /// Whether it is one to begin with.
    pub is_recommended: bool,
    /// Its place in a list.
    pub sort_order: u32,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Whether model names that it does not list may work.
    pub has_open_catalog: bool,
    /// The variables that it would find keys in and that are not set, if it is a program.
    pub wanted_keys: Vec<String>,
}

/// How a provider knows us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// Not at all.
    #[default]
    None,
    /// By a key; the variable that may hold it.
    ApiKey(String),
    /// By a token of an account that is signed in to.
    OAuth(Account),
}

/// What a provider can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it all")]
pub struct Capabilities {
    pub streaming: bool,
    pub tool_calls: bool,
    pub parallel_tool_calls: bool,
    pub reasoning_summaries: bool,
    pub structured_output: bool,
    pub image_input: bool,
    pub prompt_cache: bool,
    pub provider_metadata: bool,
    pub tool_search: bool,
}

/// A model as clients see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelInfo {
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// How many tokens it takes.
    pub context_window: Option<u64>,
    /// How hard it thinks by default.
    pub default_reasoning: Option<String>,
    /// How hard it can think: effort and what that means.
    pub reasoning: Vec<(String, String)>,
    /// What its tokens cost, if its server tells.
    pub prices: Option<Prices>,
}
