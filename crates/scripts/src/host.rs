//! What a script asks of the program around it.

use futures_util::future::BoxFuture;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Whoever runs a script does this for it. Calls come one after the other, in the order of the script;
/// what they give back may take its time, all at once.
pub trait Host: Send + Sync + 'static {
    /// Starts an agent. The outcome must be kept before it is given back: the script sees it at once.
    fn launch(&self, launch: Launch) -> BoxFuture<'static, Result<Outcome, HostError>>;
    /// A phase begins; later agents belong to it unless they name another.
    fn phase(&self, title: String);
    /// A line for whoever watches the run.
    fn log(&self, message: String);
    /// Keeps a value under a name, durably.
    fn checkpoint(&self, key: String, value: Value) -> BoxFuture<'static, Result<(), HostError>>;
    /// The text of another workflow.
    fn script(&self, name: String) -> BoxFuture<'static, Result<String, HostError>>;
}

/// Why the host cannot do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostError {
    /// The script may catch it.
    Refused(String),
    /// The run cannot go on: what has to be kept cannot be.
    Store(String),
}

/// An agent to be started.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// By what its result is found again when the script is run again.
    pub key: LaunchKey,
    /// What it plays for the script.
    pub role: Option<String>,
    /// The lane it works in.
    pub lane: Option<String>,
    /// In a few words.
    pub description: Option<String>,
    /// What it is asked.
    pub prompt: String,
    pub model: Option<String>,
    /// Seconds it may take.
    pub timeout_seconds: Option<f64>,
    /// The schema of its answer.
    pub schema: Option<Value>,
    /// The definition it works by.
    pub agent_type: Option<String>,
    /// What the script calls it.
    pub label: Option<String>,
    /// The phase it belongs to, if not the one of now.
    pub phase: Option<String>,
    /// Whether it works in a work tree of its own.
    pub in_worktree: bool,
}

/// What tells one launch of a script from every other: where in lists and pipelines it is asked, what is
/// asked, and how often the same was asked there before.
///
/// It does not depend on which agent answered first, so that a script that is run again finds all results.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LaunchKey {
    /// The slots of lists and the stages of pipelines that it is asked in; empty outside of all.
    pub path: String,
    /// How many launches of the same content came before it.
    pub occurrence: u32,
    /// SHA-256 of the prompt, in hexadecimal.
    pub prompt_hash: String,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The lane, or the definition if no lane is named.
    pub lane: Option<String>,
    /// SHA-256 of the schema, in hexadecimal.
    pub schema_hash: Option<String>,
}

impl LaunchKey {
    /// The key of the first launch of this content.
    pub(crate) fn first(launch: &Launch) -> LaunchKey {
        let lane = match (&launch.lane, &launch.agent_type) {
            (Some(lane), Some(of)) => Some(format!("{lane}/{of}")),
            (lane, of) => lane.clone().or_else(|| of.clone()),
        };
        LaunchKey {
            path: launch.key.path.clone(),
            occurrence: 0,
            prompt_hash: hash(launch.prompt.as_bytes()),
            model: launch.model.clone(),
            lane,
            schema_hash: launch.schema.as_ref().map(|schema| hash(schema.to_string().as_bytes())),
        }
    }
}

/// SHA-256, in hexadecimal.
pub fn hash(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// How an agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEnd {
    /// It answered.
    Completed,
    /// It failed for good.
    Failed,
    /// Its time was over.
    Timeout,
    /// It was stopped.
    Cancelled,
}

impl AgentEnd {
    /// The word that scripts know it by.
    pub fn as_str(self) -> &'static str {
        match self {
            AgentEnd::Completed => "completed",
            AgentEnd::Failed => "failed",
            AgentEnd::Timeout => "timeout",
            AgentEnd::Cancelled => "cancelled",
        }
    }
}

/// What came of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its id in the run.
    pub agent: String,
    /// How it ended.
    pub end: AgentEnd,
    /// What it said last.
    pub output: Option<String>,
    /// Its answer, if a schema was asked for.
    pub structured: Option<Value>,
    /// Why it failed.
    pub error: Option<String>,
    /// What it used.
    pub usage: Option<Tokens>,
}

/// Tokens that an agent used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read.
    pub prompt: u64,
    /// Written.
    pub completion: u64,
}
