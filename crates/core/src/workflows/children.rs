//! The agents of runs are children, like those that turns start. One that is to be apart works in a worktree
//! that is lent to it.

use std::path::PathBuf;

use futures_util::future::{BoxFuture, FutureExt as _};
use rookery_agent::providers::mock;
use rookery_model::{ChildExit, Error, Lane, Mode, Result, ThreadId, TurnId, Words as _};
use tokio_util::sync::CancellationToken;

use super::dispatch::{Dispatch, Done, Exit, Started, Work};
use super::host::MAX_OUTPUT;
use crate::children::{ChildDone, NewChild};
use crate::core::Core;

/// Why an agent fails that no model would answer.
const NO_PROVIDER: &str = "provider_error: no provider is set up; set a key such as ANTHROPIC_API_KEY, or \
                           name a provider in the settings (the mock among them)";
/// Why no worktree is made in a mode that changes nothing.
const PLANNING: &str = "no worktree is made in plan mode; restart the agent in another mode";
/// Why no worktree is made for a thread that works elsewhere.
const ELSEWHERE: &str = "no worktree can be made: the thread of this run works at a runner that keeps its \
                         files or commands elsewhere";

/// Runs agents as children.
pub(crate) struct ByChildren {
    pub(crate) core: Core,
}

impl Dispatch for ByChildren {
    fn run(&self, work: Work, started: Started) -> BoxFuture<'static, Done> {
        let core = self.core.clone();
        async move {
            if is_unanswered(&core, &work) {
                return Done::failed(NO_PROVIDER.to_owned());
            }
            let is_apart = match work.tree.is_some() {
                true => needs_tree(&core, &work).await,
                false => Ok(false),
            };
            // Goes off when this is dropped.
            let stop = CancellationToken::new();
            let _stop = stop.clone().drop_guard();
            match is_apart {
                Err(error) => Done::failed(error.to_string()),
                Ok(false) => to_end(&core, work, None, started, stop).await,
                Ok(true) => {
                    // In a task of its own, so that the worktree is given back in any case.
                    let task = in_tree(core.clone(), work, started, stop);
                    let done = core.inner.runtime.spawn(task).await;
                    done.unwrap_or_else(|error| Done::failed(error.to_string()))
                }
            }
        }
        .boxed()
    }
}

/// Whether only the mock would answer, and only because nothing else is set up. A run of a thread has what
/// that was started with, and a prompt that is written for the mock means it.
fn is_unanswered(core: &Core, work: &Work) -> bool {
    let agents = core.agents();
    let is_provider = |model: &String| model.contains('/') || model == "mock";
    let names_provider = work.model.as_ref().is_some_and(is_provider);
    !agents.has_chosen_provider()
        && work.thread.is_none()
        && !names_provider
        && !mock::is_scripted(&work.prompt)
}

/// Whether an agent needs a worktree to be apart: not if it can only read.
async fn needs_tree(core: &Core, work: &Work) -> Result<bool> {
    let new = new_child(work, work.parent, None);
    if core.children().reads_only(&new).await? {
        return Ok(false);
    }
    if work.thread.is_some_and(|thread| core.runners().is_elsewhere(thread)) {
        return Err(Error::failed(ELSEWHERE));
    }
    let mode = core.children().mode(&new);
    // It would be made in the repository, and could not be used.
    if mode == Mode::Plan { Err(Error::failed(PLANNING)) } else { Ok(true) }
}

/// Runs an agent in a worktree of its own, and takes that back.
async fn in_tree(core: Core, work: Work, started: Started, stop: CancellationToken) -> Done {
    let place = work.cwd.clone().unwrap_or_else(|| core.agents().cwd());
    let name = work.tree.clone().unwrap_or_default();
    let lent = match core.worktrees().lend(&place, &name).await {
        Ok(lent) => lent,
        Err(error) => return Done::failed(format!("no worktree could be made: {error}")),
    };
    let tree = lent.path().to_owned();
    let work = Work { cwd: Some(lent.cwd.clone()), ..work };
    let mut done = to_end(&core, work, Some(tree), started, stop).await;
    done.kept = core.worktrees().take_back(&lent).await.unwrap_or_else(|error| {
        tracing::warn!(%error, tree = %lent.path().display(), "a worktree was not taken back");
        Some(lent.unsettled())
    });
    done
}

/// Runs an agent to its end, which comes early if it is stopped.
async fn to_end(
    core: &Core,
    work: Work,
    tree: Option<PathBuf>,
    started: Started,
    stop: CancellationToken,
) -> Done {
    if stop.is_cancelled() {
        return Done { exit: Exit::Cancelled, ..Done::failed("it was stopped".to_owned()) };
    }
    // Its turn may be over: what is asked in the background does not end with it.
    let parent = match work.parent {
        Some((thread, turn)) => {
            let found = core.threads().turn(thread, turn).await.ok().flatten();
            found.map(|turn| (thread, turn.id))
        }
        None => None,
    };
    let mut child = match core.children().start(new_child(&work, parent, tree)).await {
        Ok(child) => child,
        Err(error) => return Done::failed(error.to_string()),
    };
    let canceller = child.canceller();
    let worked = async {
        child.started().await;
        started(Some(child.thread()), child.turn());
        child.wait().await
    };
    tokio::pin!(worked);
    let ended = tokio::select! {
        ended = &mut worked => ended,
        () = stop.cancelled() => {
            canceller.cancel();
            worked.await
        }
    };
    done(ended)
}

fn new_child(work: &Work, parent: Option<(ThreadId, TurnId)>, tree: Option<PathBuf>) -> NewChild {
    NewChild {
        parent,
        outlives_turn: true,
        description: work.description.clone(),
        prompt: work.prompt.clone(),
        agent_type: work.agent_type.clone(),
        lane: work.lane.as_deref().and_then(Lane::from_word),
        model: work.model.clone(),
        tools: None,
        schema: work.schema.clone(),
        // The script gets what the agent really said.
        max_chars: Some(MAX_OUTPUT),
        timeout: Some(work.timeout),
        has_own_limit: true,
        cwd: work.cwd.clone(),
        thread: work.thread,
        tree,
        client: work.client,
        keys: work.keys.clone(),
    }
}

fn done(done: ChildDone) -> Done {
    Done {
        thread: Some(done.thread),
        turn: done.turn,
        model: done.model,
        message: done.message,
        structured: done.structured,
        usage: done.usage,
        exit: match done.exit {
            ChildExit::Completed => Exit::Completed,
            ChildExit::MaxTurns => Exit::MaxTurns,
            ChildExit::Timeout => Exit::Timeout,
            ChildExit::Cancelled => Exit::Cancelled,
            ChildExit::Failed => Exit::Failed,
        },
        error: done.error,
        kept: None,
    }
}
