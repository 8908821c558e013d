//! Child agents: threads that carry out a piece of work for a turn, a client or a script, within bounds of
//! their own, and whose answer is waited for. What they did for a turn is traced.
//!
//! A child is an ordinary thread. Here is decided when it starts, what it may use and when it is stopped;
//! how its turn runs is up to `threads`.

mod drive;
mod lineage;
mod plan;
mod restore;
mod room;
#[cfg(test)]
mod tests;
mod traces;

use std::path::PathBuf;
use std::time::Duration;

use rookery_agent::definitions::{self, AgentDefinition, Diagnostic, Places};
use rookery_agent::providers::Loan;
use rookery_model::{ChildExit, Lane, ThreadId, TraceId, TurnId, Usage};
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) use self::plan::has_kind;
pub(crate) use self::restore::Found;
pub(crate) use self::room::Room;
pub use self::traces::{TraceContent, TraceItem, TracePage, TracePlace, TraceSummary};

use crate::core::{Core, blocking};
use crate::rooms::Children;

/// A child to be started.
#[derive(Clone, Debug, Default)]
pub struct NewChild {
    /// The turn it works for; none if it works for its caller alone, and is not traced.
    pub parent: Option<(ThreadId, TurnId)>,
    /// Whether that turn may be over, and its end does not stop the child.
    pub outlives_turn: bool,
    /// What it is to do, in a few words: the title of its thread and of its trace.
    pub description: String,
    /// All that it is to know and to do.
    pub prompt: String,
    /// The name of its definition; `general` if none is named.
    pub agent_type: Option<String>,
    pub lane: Option<Lane>,
    /// The model that answers: of its parent's provider, or `provider/model`.
    pub model: Option<String>,
    /// The only tools it may use; narrows those of its definition.
    pub tools: Option<Vec<String>>,
    /// JSON Schema of its answer.
    pub schema: Option<Value>,
    /// The most characters of its answer; what its definition or the settings say if it is not said.
    pub max_chars: Option<usize>,
    /// How long it may work; lowers what is configured.
    pub timeout: Option<Duration>,
    /// Whether that stands in for what is configured for all children; that of its lane holds still.
    pub has_own_limit: bool,
    /// Where it works; where its parent does if it is not said.
    pub cwd: Option<PathBuf>,
    /// The thread that it works for when no turn of that is at work: it has its mode, tools and runner.
    pub thread: Option<ThreadId>,
    /// The top of a checkout of its own around `cwd`, which its tools may work in on this machine.
    pub tree: Option<PathBuf>,
    /// The connection of the client that starts it.
    pub client: Option<u64>,
    /// Keys that the client lends for it.
    pub keys: Vec<Loan>,
}

/// A child that was started. It is stopped when this is dropped.
#[derive(Debug)]
pub struct Child {
    thread: ThreadId,
    trace: Option<TraceId>,
    agent: String,
    turn: watch::Receiver<Option<TurnId>>,
    done: oneshot::Receiver<ChildDone>,
    stop: CancellationToken,
    guard: DropGuard,
}

/// What came of a child.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildDone {
    pub thread: ThreadId,
    /// The turn that it worked in; none if it never began.
    pub turn: Option<TurnId>,
    /// The name of its definition.
    pub agent_type: String,
    /// The model that answered.
    pub model: Option<String>,
    /// The last thing it said, in part if it was too long.
    pub message: String,
    /// The value of its answer, if it had to fit a schema and does.
    pub structured: Option<Value>,
    /// Its tokens.
    pub usage: Option<Usage>,
    /// How it ended.
    pub exit: ChildExit,
    /// What went wrong: a category, a colon, and words that are safe to be shown.
    pub error: Option<String>,
}

impl Child {
    /// Its trace; none if it works for no turn.
    pub fn trace(&self) -> Option<TraceId> {
        self.trace
    }

    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// The turn that it works in; none while it is queued.
    pub fn turn(&self) -> Option<TurnId> {
        *self.turn.borrow()
    }

    /// Resolves when it has left the queue: it works, or will never.
    pub async fn started(&mut self) {
        // One that ended in the queue has no turn, and lets go of the sender.
        let _ = self.turn.wait_for(Option::is_some).await;
    }

    /// What comes of it. A failure is an exit.
    pub async fn wait(self) -> ChildDone {
        let Child { thread, agent, turn, done, guard, .. } = self;
        let done = done.await.unwrap_or_else(|_| ChildDone {
            thread,
            turn: *turn.borrow(),
            agent_type: agent,
            model: None,
            message: String::new(),
            structured: None,
            usage: None,
            exit: ChildExit::Failed,
            error: Some(drive::INTERNAL.text()),
        });
        drop(guard);
        done
    }

    /// Stops it, wherever the handle is.
    pub(crate) fn canceller(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Stops it; what comes of it then can still be waited for.
    pub fn cancel(&self) {
        self.stop.cancel();
    }
}

impl Children {
    /// The definitions of a workspace, by name, and what is wrong with its files.
    pub async fn definitions(&self, workspace: PathBuf) -> (Vec<AgentDefinition>, Vec<Diagnostic>) {
        definitions_in(&self.core, workspace).await.unwrap_or_default()
    }
}

/// The definitions for threads with a root: those of files, and those of imports.
async fn definitions_in(
    core: &Core,
    root: PathBuf,
) -> rookery_model::Result<(Vec<AgentDefinition>, Vec<Diagnostic>)> {
    let imports = core.imports().evaluate(&root).await;
    let (mut found, diagnostics) = with_places(core, root, definitions::list).await?;
    imports.change_agents(&mut found);
    Ok((found, diagnostics))
}

/// Reads definitions where that may block.
async fn with_places<T: Send + 'static>(
    core: &Core,
    workspace: PathBuf,
    read: impl FnOnce(Places<'_>) -> T + Send + 'static,
) -> rookery_model::Result<T> {
    let config_home = core.inner.agents.config.config_home.clone();
    let home = core.inner.config.home.clone();
    blocking(move || {
        read(Places {
            workspace: Some(&workspace),
            config_home: config_home.as_deref(),
            home: Some(&home),
        })
    })
    .await
}
