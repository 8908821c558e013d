//! Work that was handed on: which threads do it, and how the call that handed it on waits for it.
//!
//! What is waited for is the work, not a turn: one that was interrupted or has failed can be taken up
//! again by a user, in the thread that does it, and what it completes then is the result.

use std::collections::HashSet;
use std::sync::Arc;

use rookery_agent::tool::ToolOutput;
use rookery_model::{Item, ThreadId, Turn, TurnId, TurnStatus};
use serde_json::json;

use super::delegate::{child_of, result};
use super::live::LiveThread;
use super::tools::Job;
use crate::rooms::Threads;
use crate::world::{Tx, World};

/// The result for the model of work that will not be done.
const CLOSED: &str = "the task that the work was handed on to was closed before it was done";

impl Job {
    /// Waits for the work of a thread, and gives what came of it.
    pub(super) async fn result_of(&self, child: ThreadId) -> ToolOutput {
        self.note_awaited(|awaited| awaited.push(child));
        let output = self.work_of(child).await;
        self.note_awaited(|awaited| awaited.retain(|other| *other != child));
        output
    }

    async fn work_of(&self, child: ThreadId) -> ToolOutput {
        // Before the first look, so that nothing is missed between looks.
        let mut ends = self.core.inner.threads.turns_ended.subscribe();
        // Held, so that what is looked at is what the thread's turns write to.
        let Ok(live) = self.core.threads().live(child).await else {
            return ToolOutput::error(CLOSED);
        };
        loop {
            if let Some(output) = self.came_of(child, &live) {
                return output;
            }
            tokio::select! {
                raised = ends.changed() => {
                    if raised.is_err() {
                        return ToolOutput::error(CLOSED);
                    }
                }
                () = self.stop.cancelled() => return self.stop_work_of(child).await,
            }
        }
    }

    /// What came of the work of a thread, if it is over.
    fn came_of(&self, child: ThreadId, live: &Arc<LiveThread>) -> Option<ToolOutput> {
        let (is_open, is_idle) = {
            let world = self.core.look();
            let state = world.threads.get(&child);
            let is_open = state.is_some_and(|state| !state.thread.archived);
            (is_open, state.is_none_or(|state| state.active.is_none()))
        };
        let contents = live.read();
        let done = contents.turns.iter().find(|turn| turn.status == TurnStatus::Completed);
        if let Some(turn) = done.map(|turn| turn.id) {
            let data = json!({ "thread": child.to_string(), "turn": turn.to_string() });
            return Some(ToolOutput::new(result(&contents, turn).unwrap_or_default(), data));
        }
        if !is_open {
            return Some(ToolOutput::error(CLOSED));
        }
        // Where no user is, none takes it up again.
        let last = contents.turns.last().filter(|_| is_idle && self.profile.is_unattended())?;
        Some(ToolOutput::error(failure(last)))
    }

    /// This turn is stopped, and so is the one that works for it.
    async fn stop_work_of(&self, child: ThreadId) -> ToolOutput {
        let threads = self.core.threads();
        if let Ok(Some(turn)) = threads.interrupt(child, None) {
            threads.turn_ended(child, turn).await;
        }
        ToolOutput::error("the work that was handed on was interrupted")
    }

    pub(super) fn note_awaited(&self, change: impl FnOnce(&mut Vec<ThreadId>)) {
        self.core.adjust(|world| {
            let turn = world.turn(self.thread).filter(|active| Some(active.turn) == self.turn);
            if let Some(active) = turn {
                change(&mut active.awaited);
            }
        });
    }
}

impl Threads {
    /// The open threads that work for this one, directly or for one that does: those deepest down last.
    pub fn below(&self, id: ThreadId) -> Vec<ThreadId> {
        let world = self.core.look();
        let mut seen = HashSet::from([id]);
        let (mut below, mut level) = (Vec::new(), vec![id]);
        while !level.is_empty() {
            let works = |lead: Option<ThreadId>| lead.is_some_and(|lead| level.contains(&lead));
            let led = world
                .threads
                .iter()
                .filter(|(child, state)| works(state.thread.lead()) && !seen.contains(child));
            let led: Vec<(ThreadId, bool)> =
                led.map(|(child, state)| (*child, state.thread.archived)).collect();
            level = led.iter().map(|(child, _)| *child).collect();
            seen.extend(&level);
            below.extend(led.iter().filter(|(_, archived)| !archived).map(|(child, _)| *child));
        }
        below
    }

    /// Whether an open call waits for the work of a thread that is there; if that is a child agent, of
    /// one that is at work: it is not taken up again.
    pub(super) fn is_led(&self, item: &Item) -> bool {
        let Some(child) = child_of(item) else { return false };
        let world = self.core.look();
        let state = world.threads.get(&child);
        state.is_some_and(|state| state.thread.child.is_none() || state.active.is_some())
    }
}

impl World {
    /// Whether a turn does nothing but wait: for an answer, or for the work of another thread.
    pub(crate) fn waits(&self, thread: ThreadId, turn: TurnId) -> bool {
        let active = self.threads.get(&thread).and_then(|state| state.active.as_ref());
        let rests = |child: &ThreadId| {
            let state = self.threads.get(child).filter(|state| state.thread.child.is_some());
            let active = state.and_then(|state| state.active.as_ref());
            // A child agent that works is stopped, and its parent has nothing to wait for.
            match (state, active) {
                (Some(_), Some(active)) => self.waits(*child, active.turn),
                (Some(_), None) => false,
                (None, _) => true,
            }
        };
        let awaits = active.is_some_and(|it| {
            it.turn == turn && !it.awaited.is_empty() && it.awaited.iter().all(rests)
        });
        awaits || self.requests.of_thread(thread).any(|request| request.turn() == Some(turn))
    }
}

impl Tx<'_> {
    /// Wakes those who wait for the work of a thread that was closed.
    pub(super) fn announce_closed(&mut self) {
        let inner = Arc::clone(&self.core.inner);
        self.once_visible(move || inner.threads.turns_ended.send_modify(|count| *count += 1));
    }
}

/// Why work is not done.
fn failure(turn: &Turn) -> String {
    match (turn.status, &turn.error) {
        (TurnStatus::Failed, Some(error)) => {
            format!("the work that was handed on failed: {}", error.message)
        }
        (TurnStatus::Failed, None) => "the work that was handed on failed".to_owned(),
        _ => "the work that was handed on was interrupted".to_owned(),
    }
}
