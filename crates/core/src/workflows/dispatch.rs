//! Who does the work of a run: child agents. A trait, so that runs can be tested without models.

use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::BoxFuture;
use rookery_agent::providers::Loan;
use rookery_model::{ThreadId, TurnId, Usage};
use serde_json::Value;

use crate::worktrees::KeptTree;

/// What an agent is to do.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) parent: Option<(ThreadId, TurnId)>,
    /// The thread of the run, whether or not a turn of it is at work.
    pub(crate) thread: Option<ThreadId>,
    pub(crate) description: String,
    pub(crate) prompt: String,
    pub(crate) agent_type: Option<String>,
    pub(crate) lane: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) schema: Option<Value>,
    pub(crate) timeout: Duration,
    pub(crate) cwd: Option<PathBuf>,
    /// What a worktree of its own is called, if it is to have one.
    pub(crate) tree: Option<String>,
    pub(crate) client: Option<u64>,
    pub(crate) keys: Vec<Loan>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Completed,
    MaxTurns,
    Timeout,
    Cancelled,
    Failed,
}

impl Exit {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Exit::Completed => "completed",
            Exit::MaxTurns => "max_turns",
            Exit::Timeout => "timeout",
            Exit::Cancelled => "cancelled",
            Exit::Failed => "failed",
        }
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) thread: Option<ThreadId>,
    pub(crate) turn: Option<TurnId>,
    pub(crate) model: Option<String>,
    pub(crate) message: String,
    pub(crate) structured: Option<Value>,
    pub(crate) usage: Option<Usage>,
    pub(crate) exit: Exit,
    pub(crate) error: Option<String>,
    /// The worktree that it had to itself, if there is work in it.
    pub(crate) kept: Option<KeptTree>,
}

impl Done {
    /// It could not even be started.
    pub(crate) fn failed(error: String) -> Done {
        Done {
            thread: None,
            turn: None,
            model: None,
            message: String::new(),
            structured: None,
            usage: None,
            exit: Exit::Failed,
            error: Some(error),
            kept: None,
        }
    }
}

/// Called once an agent works: with its thread and its turn.
pub(crate) type Started = Box<dyn FnOnce(Option<ThreadId>, Option<TurnId>) + Send>;

/// Whoever runs agents.
pub(crate) trait Dispatch: Send + Sync + 'static {
    /// Runs an agent to its end. Dropping the future stops it.
    fn run(&self, work: Work, started: Started) -> BoxFuture<'static, Done>;
}
