//! Changes to threads from outside: names, archives, forks, rollbacks, compaction.

use std::collections::HashMap;

use futures_util::future::BoxFuture;
use rookery_agent::provider::{ModelRequest, ToolChoice};
use rookery_agent::providers::Loan;
use rookery_agent::turn::{Compaction, estimate_items, plan_compaction, window};
use rookery_imports::HookEvent;
use rookery_model::{
    Choice, Error, Event, Item, ItemBody, ItemStatus, ParentTurn, Result, Thread, ThreadId,
    Timestamp, TraceId, TurnId,
};
use rookery_store::Change;

use super::ThreadView;
use super::compact::shorten;
use super::hooked::hook_compaction;
use super::live::{LiveThread, Placed};
use crate::clock;
use crate::log::ThreadChange;
use crate::rooms::Threads;
use crate::world::{Tx, no_thread};

/// What compacting a thread came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Whether it became shorter.
    pub is_shorter: bool,
    /// Why not.
    pub reason: Option<String>,
    /// Tokens before, about.
    pub before: u64,
    /// Tokens after, about.
    pub after: u64,
}

impl Threads {
    /// Gives a thread a name, or takes it.
    pub async fn rename(&self, id: ThreadId, name: Option<String>) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
                tx.world.thread_mut(id)?.thread.name.clone_from(&name);
                tx.save_thread(id);
                tx.announce(id, ThreadChange::Renamed(name));
                Ok(())
            })
            .await
    }

    /// Which model answers in a thread from now on.
    pub async fn choose(&self, id: ThreadId, choice: Choice) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                tx.world.thread_mut(id)?.thread.choice = choice;
                tx.save_thread(id);
                Ok(())
            })
            .await
    }

    /// Puts a thread away or takes it out again; what works in it is ended first. False if there is no
    /// such thread, or nothing to do.
    pub async fn archive(&self, id: ThreadId, is_archived: bool) -> Result<bool> {
        let Some(seen) = self.get(id) else { return Ok(false) };
        if seen.thread.archived == is_archived {
            return Ok(false);
        }
        self.end_work(id).await?;
        if is_archived {
            self.hook_end(&seen.thread).await;
        }
        self.core
            .transact_durably(|tx| {
                let state = tx.world.thread_mut(id)?;
                state.thread.archived = is_archived;
                state.thread.updated_at = clock::wall();
                tx.save_thread(id);
                tx.emit_of(id, Event::ThreadArchived { id, is_archived });
                if is_archived {
                    tx.cancel_all(id, "archived");
                    tx.announce(id, ThreadChange::Archived);
                    tx.announce_closed();
                }
                Ok(true)
            })
            .await
    }

    /// Forgets a thread and all that was said in it. False if there is none.
    pub fn delete(&self, id: ThreadId) -> BoxFuture<'_, Result<bool>> {
        Box::pin(self.delete_inner(id))
    }

    async fn delete_inner(&self, id: ThreadId) -> Result<bool> {
        let Some(seen) = self.get(id) else { return Ok(false) };
        self.end_work(id).await?;
        if !seen.thread.archived {
            self.hook_end(&seen.thread).await;
        }
        let bound = self.get(id).and_then(|seen| seen.thread.runner);
        // Its child agents worked for it alone.
        let children = self.children_of(id);
        for child in &children {
            self.end_work(*child).await?;
        }
        let deleted = self
            .core
            .transact_durably(|tx| {
                for child in children {
                    self.forget(tx, child);
                }
                let is_gone = self.forget(tx, id);
                tx.announce_closed();
                Ok(is_gone)
            })
            .await?;
        if let Some(bound) = bound {
            self.core.runners().released(id, &bound.destination).await;
        }
        Ok(deleted)
    }

    /// Tells hooks of imports that a thread is over. A child agent's is with its parent's.
    async fn hook_end(&self, thread: &Thread) {
        if thread.child.is_none() {
            self.core.imports().run_notice_hooks(thread, HookEvent::SessionEnd, "other").await;
        }
    }

    /// Takes a thread out of the world and the store. False if there is none.
    fn forget(&self, tx: &mut Tx<'_>, id: ThreadId) -> bool {
        tx.emit_of(id, Event::ThreadDeleted { id });
        tx.cancel_all(id, "deleted");
        tx.forget_plans(id, None);
        let Some(state) = tx.world.threads.remove(&id) else { return false };
        if !state.thread.ephemeral {
            tx.save(Change::ThreadDeleted(id));
        }
        self.core.inner.threads.live_threads.remove(id);
        true
    }

    /// The child agents that worked for turns of a thread.
    fn children_of(&self, id: ThreadId) -> Vec<ThreadId> {
        let world = self.core.look();
        let is_child = |thread: &Thread| {
            let parent = thread.child.as_deref().and_then(|child| child.parent);
            parent.is_some_and(|parent| parent.thread == id)
        };
        let all = world.threads.iter().filter(|(_, state)| is_child(&state.thread));
        all.map(|(child, _)| *child).collect()
    }

    /// Ends what works in a thread that is closed: its turn, and what its tools left running.
    async fn end_work(&self, id: ThreadId) -> Result<()> {
        self.stop_turn(id).await?;
        self.core.inner.agents.sessions().end_thread(id).await;
        Ok(())
    }

    /// Stops the turn that runs and waits for its end, as long as turns may take to end.
    pub(crate) async fn stop_turn(&self, id: ThreadId) -> Result<()> {
        let Some(turn) = self.interrupt(id, None)? else { return Ok(()) };
        let limit = self.core.inner.agents.lifecycle().shutdown_drain_timeout;
        if tokio::time::timeout(limit, self.turn_ended(id, turn)).await.is_err() {
            tracing::warn!(thread = %id, %turn, "a turn that is to stop has not ended yet");
        }
        Ok(())
    }

    /// Copies a thread up to a turn, or whole, into a new one.
    pub async fn fork(
        &self,
        id: ThreadId,
        from: Option<TurnId>,
        name: Option<String>,
    ) -> Result<ThreadView> {
        let live = self.live(id).await?;
        let mut thread = self.get(id).ok_or_else(|| no_thread(id))?.thread;
        let now = clock::wall();
        thread.parent = Some(id);
        thread.id = ThreadId::new(uuid::Uuid::now_v7().as_u128());
        (thread.created_at, thread.updated_at) = (now, now);
        thread.name = name.or(thread.name);
        (thread.archived, thread.seq_reserved) = (false, 0);
        // What comes of the copy is not waited for.
        if let Some(assignment) = &mut thread.assignment {
            assignment.lead = None;
        }
        if let Some(child) = &mut thread.child {
            (child.parent, child.trace) = (None, None);
        }
        let copy = copy(&live, thread.id, from)?;
        self.add(thread, |_| copy).await
    }

    /// Takes the last turns of a thread away.
    pub async fn roll_back(&self, id: ThreadId, turns: usize) -> Result<ThreadView> {
        if turns == 0 {
            return Err(Error::invalid("num_turns", "num_turns must be at least 1"));
        }
        let live = self.live(id).await?;
        self.core
            .transact_durably(|tx| {
                if tx.world.thread(id)?.active.is_some() {
                    return Err(Error::conflict("a turn is running"));
                }
                let (gone, names) = tx.edit(&live).drop_turns(turns);
                let contents = live.read();
                let state = tx.world.thread_mut(id)?;
                state.thread.retired.extend(names);
                let is_message = |item: &Item| {
                    matches!(item.body, ItemBody::User { .. } | ItemBody::Agent { .. })
                };
                let count = contents.items.iter().filter(|placed| is_message(&placed.item)).count();
                state.thread.message_count = count as u64;
                state.thread.updated_at = clock::wall();
                let is_kept = !state.thread.ephemeral;
                drop(contents);
                for turn in gone.iter().filter(|_| is_kept) {
                    tx.save(Change::TurnDeleted(turn.id));
                }
                let gone: Vec<TurnId> = gone.iter().map(|turn| turn.id).collect();
                tx.forget_plans(id, Some(&gone));
                tx.save_thread(id);
                Ok(())
            })
            .await?;
        self.read(id).await
    }

    /// Makes the conversation of an idle thread shorter, with keys that the client lends for it.
    pub async fn compact(
        &self,
        id: ThreadId,
        hint: Option<&str>,
        keys: &[Loan],
    ) -> Result<Compacted> {
        let live = self.live(id).await?;
        let choice = self.get(id).ok_or_else(|| no_thread(id))?.thread.choice;
        let (before, plan, last) = {
            let contents = live.read();
            let plan = plan_compaction(&window(contents.items_by_turn()));
            (
                estimate_items(contents.items_by_turn()),
                plan,
                contents.turns.last().map(|turn| turn.id),
            )
        };
        let unchanged = |reason: &str| Compacted {
            is_shorter: false,
            reason: Some(reason.to_owned()),
            before,
            after: before,
        };
        let Some(turn) = last else { return Ok(unchanged("nothing was said yet")) };
        let Some(provider) = self.core.inner.agents.provider(&choice.provider) else {
            return Ok(unchanged("the provider is gone"));
        };
        let keys = keys.iter().filter(|loan| loan.provider() == choice.provider);
        let request = ModelRequest {
            keys: keys.cloned().collect(),
            thread: id.to_string(),
            model: choice.model,
            tool_choice: ToolChoice::None,
            ..ModelRequest::default()
        };
        if !matches!(plan, Compaction::Nothing) {
            hook_compaction(&self.core, id, "manual", hint).await;
        }
        let (summary, pruning) = match shorten(plan, provider.as_ref(), request, hint).await {
            Ok(Some(shortened)) => shortened,
            Ok(None) => return Ok(unchanged("there is nothing to leave out")),
            Err(reason) => return Ok(unchanged(&reason)),
        };
        let item = Item {
            id: live.read().free_name(&format!("{turn}-compaction")),
            status: ItemStatus::Completed,
            step: 0,
            at: Timestamp::default(),
            body: ItemBody::Compaction { summary, pruning },
            opaque: None,
        };
        let after = {
            let contents = live.read();
            let all_items: Vec<(TurnId, &Item)> =
                contents.items_by_turn().chain(std::iter::once((turn, &item))).collect();
            estimate_items(all_items.into_iter())
        };
        if after >= before {
            return Ok(unchanged("it would not become shorter"));
        }
        self.core
            .transact_durably(|tx| {
                if tx.world.thread(id)?.active.is_some() {
                    return Err(Error::conflict("a turn is running"));
                }
                tx.complete_item(&live, turn, item);
                Ok(())
            })
            .await?;
        Ok(Compacted { is_shorter: true, reason: None, before, after })
    }
}

/// Turns and items of a thread under new names of turns; names of items stay, since they are unique
/// within a thread.
fn copy(live: &LiveThread, id: ThreadId, until: Option<TurnId>) -> Result<LiveThread> {
    let contents = live.read();
    let end = match until {
        None => contents.turns.len(),
        Some(turn) => {
            let found = contents.turns.iter().position(|known| known.id == turn);
            let message = "the thread has no such turn";
            found.ok_or_else(|| Error::invalid("from_turn_id", message))? + 1
        }
    };
    let mut names = HashMap::new();
    let mut turns = Vec::new();
    for turn in contents.turns[..end].iter().filter(|turn| turn.completed_at.is_some()) {
        let mut turn = turn.clone();
        let fresh = TurnId::new(uuid::Uuid::now_v7().as_u128());
        names.insert(turn.id, fresh);
        (turn.id, turn.thread) = (fresh, id);
        turns.push(turn);
    }
    let of_copy = |placed: &Placed| Some((*names.get(&placed.turn)?, placed.item.clone()));
    let items = contents.items.iter().filter_map(of_copy);
    let traces = contents.traces.iter().filter_map(|trace| {
        let turn = *names.get(&trace.parent.turn)?;
        let mut trace = trace.clone();
        trace.id = TraceId::new(uuid::Uuid::now_v7().as_u128());
        trace.parent = ParentTurn { thread: id, turn };
        Some(trace)
    });
    Ok(LiveThread::copied(id, turns, items, traces.collect()))
}
