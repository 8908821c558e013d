//! Traces: what children do for a turn, kept with the thread of that turn and sent to those who follow it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_model::{
    ChildExit, Error, Item, ItemBody, ItemStatus, ParentTurn, Result, RunnerBinding, ThreadId,
    Timestamp, Trace, TraceBody, TraceEntry, TraceId, TraceStatus, TurnId, Usage,
};
use rookery_store::Change;

use super::room::Active;
use crate::clock;
use crate::core::Core;
use crate::log::TraceChange;
use crate::rooms::Children;
use crate::threads::{LiveThread, Status};
use crate::world::{Tx, World};

/// Entries that a trace keeps, the last of which says that it is cut; the child's thread has all that follows.
const ENTRIES_LIMIT: usize = 512;

/// A trace as it is at a moment, without its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSummary {
    pub trace: Trace,
    /// How long its child has worked, in milliseconds.
    pub elapsed_ms: u64,
    /// Where its child works.
    pub place: TracePlace,
}

/// Where a child works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TracePlace {
    /// On this machine, where its parent does.
    #[default]
    Here,
    /// In a worktree, its own or that of its parent's runner.
    Worktree {
        /// Its top.
        path: PathBuf,
        runner: Option<Box<RunnerBinding>>,
    },
    /// At a runner that is elsewhere.
    Elsewhere(Box<RunnerBinding>),
}

impl World {
    /// Where a child works; those that are lent a worktree have it below `lent`.
    fn place_of(&self, child: ThreadId, lent: Option<&Path>) -> TracePlace {
        let Some(state) = self.threads.get(&child) else { return TracePlace::Here };
        let thread = &state.thread;
        match &thread.runner {
            Some(runner) if runner.provider == "git-worktree" => {
                TracePlace::Worktree { path: thread.root.clone(), runner: Some(runner.clone()) }
            }
            Some(runner) if runner.provider == "unix-local" => TracePlace::Here,
            Some(runner) => TracePlace::Elsewhere(runner.clone()),
            None if lent.is_some_and(|lent| thread.root.starts_with(lent)) => {
                TracePlace::Worktree { path: thread.root.clone(), runner: None }
            }
            None => TracePlace::Here,
        }
    }
}

impl TraceSummary {
    fn of(trace: &Trace, now: Timestamp, place: TracePlace) -> Self {
        // Taken apart so that the entries are not copied.
        let Trace {
            id,
            parent,
            child,
            child_turn,
            ref title,
            ref agent,
            ref model,
            lane,
            status,
            created_at,
            started_at,
            ended_at,
            usage,
            ref activity,
            exit,
            ref error,
            entries: _,
        } = *trace;
        TraceSummary {
            trace: Trace {
                id,
                parent,
                child,
                child_turn,
                title: title.clone(),
                agent: agent.clone(),
                model: model.clone(),
                lane,
                status,
                created_at,
                started_at,
                ended_at,
                usage,
                activity: activity.clone(),
                exit,
                error: error.clone(),
                entries: Vec::new(),
            },
            elapsed_ms: trace.elapsed_ms(now),
            place,
        }
    }
}

/// One thing that happened in a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceItem {
    /// Its place in the trace.
    pub index: usize,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub content: TraceContent,
}

/// What happened, with all its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceContent {
    /// The child was sent a message.
    Prompt(String),
    /// It said something.
    Reply(String),
    Thought(String),
    /// It called a tool.
    Called {
        /// The name of the call.
        call: String,
        tool: String,
        /// Its arguments, as the model wrote them.
        input: String,
    },
    /// A tool came to its end.
    Returned {
        /// The name of the call.
        call: String,
        /// Whether it failed.
        is_error: bool,
        /// What came of it.
        output: String,
    },
    /// It is at another place in its life.
    Status(TraceStatus),
    /// More happened than the trace keeps.
    Cut,
}

/// A part of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracePage {
    /// What happened, in order.
    pub items: Vec<TraceItem>,
    /// Where the next part begins; none if this was the last.
    pub next: Option<usize>,
}

impl Core {
    /// Where worktrees are that are lent to children.
    fn lent_trees(&self) -> Option<PathBuf> {
        self.inner.config.agent.runners.as_ref().map(|dirs| dirs.data.join("worktrees"))
    }
}

impl Children {
    /// What children do and did for a turn, in the order in which they were asked for. Nothing if there
    /// is no such turn.
    pub async fn traces(&self, thread: ThreadId, turn: TurnId) -> Vec<TraceSummary> {
        let Ok(live) = self.core.threads().live(thread).await else { return Vec::new() };
        // One of a run that waited for its turn when the daemon was killed is found by no open turn.
        self.settle_lost(&live, ParentTurn { thread, turn }).await;
        let (now, lent) = (clock::wall(), self.core.lent_trees());
        let world = self.core.look();
        let place = |trace: &Trace| world.place_of(trace.child, lent.as_deref());
        let contents = live.read();
        let of_turn = contents.traces.iter().filter(|trace| trace.parent.turn == turn);
        of_turn.map(|trace| TraceSummary::of(trace, now, place(trace))).collect()
    }

    /// The turn that a trace belongs to.
    pub async fn parent_of(&self, thread: ThreadId, trace: TraceId) -> Option<ParentTurn> {
        let live = self.core.threads().live(thread).await.ok()?;
        let contents = live.read();
        contents.trace(trace).map(|trace| trace.parent)
    }

    /// A part of what happened in a child. Nothing if there is no such trace.
    pub async fn trace(
        &self,
        thread: ThreadId,
        trace: TraceId,
        offset: usize,
        limit: usize,
    ) -> TracePage {
        let Ok(live) = self.core.threads().live(thread).await else { return TracePage::default() };
        let (child, entries, next) = {
            let contents = live.read();
            let Some(found) = contents.traces.iter().find(|one| one.id == trace) else {
                return TracePage::default();
            };
            let from = offset.min(found.entries.len());
            let end = from.saturating_add(limit).min(found.entries.len());
            let next = (end < found.entries.len()).then_some(end);
            (found.child, found.entries[from..end].to_vec(), next)
        };
        // What it said is gone with its thread.
        let words = self.core.threads().live(child).await.ok();
        let items = entries.into_iter().enumerate().filter_map(|(place, entry)| {
            let content = words_of(&entry.body, words.as_deref())?;
            Some(TraceItem { index: offset + place, at: entry.at, content })
        });
        TracePage { items: items.collect(), next }
    }

    pub(super) async fn create_trace(&self, mut trace: Trace, outlives_turn: bool) -> Result<()> {
        let live = self.core.threads().live(trace.parent.thread).await?;
        crate::secrets::hide_in_trace(&mut trace);
        let lent = self.core.lent_trees();
        self.core
            .transact_durably(|tx| {
                tx.world.thread(trace.parent.thread)?;
                // Whatever ends it from here on finds the child.
                if !outlives_turn && !tx.world.is_at_work(trace.parent) {
                    return Err(Error::conflict("the turn that the child would work for is over"));
                }
                if live.read().turn(trace.parent.turn).is_none() {
                    return Err(Error::conflict("the turn that the child would work for is gone"));
                }
                let place = tx.world.place_of(trace.child, lent.as_deref());
                let summary = TraceSummary::of(&trace, clock::wall(), place);
                tx.edit(&live).put_trace(trace.clone());
                tx.save_trace(&live, &trace);
                tx.announce(trace.parent.thread, TraceChange::Created(Box::new(summary)));
                Ok(())
            })
            .await
    }

    /// Says of a child that it is still at work.
    pub(super) fn pulse(&self, child: ThreadId) {
        let Some(active) = self.core.inner.children.get(child) else { return };
        let Some((id, live)) = &active.trace else { return };
        let update = live.read().trace(*id).map(status_change);
        if let Some(update) = update {
            self.core.inner.log.spine().send(Some(live.id), [update.into()]);
        }
    }

    /// Ends the trace of a child.
    pub(super) async fn end_trace(
        &self,
        child: ThreadId,
        exit: ChildExit,
        error: Option<String>,
        usage: Option<Usage>,
    ) {
        let Some(active) = self.core.inner.children.get(child) else { return };
        let Some((id, live)) = active.trace.clone() else { return };
        let ended = self.core.transact_durably(|tx| {
            tx.end_trace(&live, id, exit, error, usage);
            Ok(())
        });
        if let Err(error) = ended.await {
            tracing::error!(%error, "the end of a child agent was not recorded");
        }
    }
}

impl Tx<'_> {
    /// The turn of a child begins.
    pub(crate) fn trace_turn(&mut self, child: ThreadId, turn: TurnId) {
        self.change_trace(child, |trace| {
            trace.child_turn = Some(turn);
            trace.started_at.get_or_insert_with(clock::wall);
        });
        self.trace_status(child, TraceStatus::Running);
    }

    /// An item of a child began, or is in its final form.
    pub(crate) fn trace_item(&mut self, child: ThreadId, item: &Item) {
        let Some(active) = self.active_child(child) else { return };
        let (Some((id, live)), true) = (&active.trace, item.is_shown()) else { return };
        let is_done = item.status != ItemStatus::InProgress;
        let name = || item.id.clone();
        let bodies = match &item.body {
            ItemBody::User { .. } | ItemBody::Agent { .. } | ItemBody::Reasoning { .. } => {
                if !is_done {
                    return;
                }
                vec![TraceBody::Text(name())]
            }
            ItemBody::Tool(_) if is_done => {
                let contents = live.read();
                let called = TraceBody::Called(name());
                let entries = contents.trace(*id).map(|trace| trace.entries.as_slice());
                let is_known = entries.is_some_and(|all| all.iter().any(|it| it.body == called));
                let both = [called, TraceBody::Returned(name())];
                both.into_iter().skip(usize::from(is_known)).collect()
            }
            ItemBody::Tool(_) => vec![TraceBody::Called(name())],
            _ => return,
        };
        for body in bodies {
            let content = content_of(&body, Some(item));
            self.add_entry(live, *id, body, content, activity(item));
        }
    }

    /// A child does something else.
    pub(crate) fn trace_waiting(&mut self, child: ThreadId, status: &Status) {
        let Some(active) = self.active_child(child) else { return };
        let is_waiting = status.active_turn.is_some() && status.waits_for_answer();
        if *active.waits.borrow() == is_waiting {
            return;
        }
        active.waits.send_replace(is_waiting);
        if status.active_turn.is_some() {
            let now = if is_waiting { TraceStatus::Waiting } else { TraceStatus::Running };
            self.trace_status(child, now);
        }
    }

    fn active_child(&self, child: ThreadId) -> Option<Arc<Active>> {
        // Most threads are none, and most daemons have none.
        self.world.threads.get(&child)?.thread.child.as_ref()?;
        self.core.inner.children.get(child)
    }

    fn change_trace(&mut self, child: ThreadId, change: impl FnOnce(&mut Trace)) {
        let Some(active) = self.active_child(child) else { return };
        let Some((id, live)) = &active.trace else { return };
        let changed = self.edit(live).change_trace(*id, change);
        if let Some(trace) = changed {
            self.save_trace(live, &trace);
        }
    }

    fn trace_status(&mut self, child: ThreadId, status: TraceStatus) {
        let Some(active) = self.active_child(child) else { return };
        let Some((id, live)) = &active.trace else { return };
        let mut update = None;
        self.change_trace(child, |trace| {
            if trace.status != status {
                trace.status = status;
                update = Some(status_change(trace));
            }
        });
        let Some(update) = update else { return };
        self.announce(live.id, update);
        let body = TraceBody::Status(status);
        self.add_entry(live, *id, body, Some(TraceContent::Status(status)), None);
    }

    fn add_entry(
        &mut self,
        live: &LiveThread,
        id: TraceId,
        body: TraceBody,
        content: Option<TraceContent>,
        activity: Option<String>,
    ) {
        let at = clock::wall();
        let mut added = None;
        let changed = self.edit(live).change_trace(id, |trace| {
            if let Some(activity) = activity {
                trace.activity = Some(activity);
            }
            let index = trace.entries.len();
            if index >= ENTRIES_LIMIT {
                return;
            }
            let (body, content) = match index + 1 == ENTRIES_LIMIT {
                true => (TraceBody::Cut, Some(TraceContent::Cut)),
                false => (body, content),
            };
            added = Some((index, content));
            trace.entries.push(TraceEntry { at, body });
        });
        let (Some(trace), Some((index, content))) = (changed, added) else { return };
        self.save_trace(live, &trace);
        if let Some(content) = content {
            let item = Box::new(TraceItem { index, at, content });
            self.announce(live.id, TraceChange::Item { trace: id, parent: trace.parent, item });
        }
    }

    /// Ends a trace, once.
    pub(super) fn end_trace(
        &mut self,
        live: &LiveThread,
        id: TraceId,
        exit: ChildExit,
        error: Option<String>,
        usage: Option<Usage>,
    ) {
        let now = clock::wall();
        let ended = self.edit(live).change_trace(id, |trace| {
            trace.status = exit.status();
            trace.ended_at = Some(now);
            (trace.exit, trace.error, trace.usage) = (Some(exit), error, usage);
        });
        let Some(trace) = ended else { return };
        self.save_trace(live, &trace);
        let place = self.world.place_of(trace.child, self.core.lent_trees().as_deref());
        let summary = TraceSummary::of(&trace, now, place);
        self.announce(live.id, TraceChange::Ended(Box::new(summary)));
    }

    /// Stores a trace, unless its turn is gone or kept in memory only.
    pub(crate) fn save_trace(&mut self, live: &LiveThread, trace: &Trace) {
        let ParentTurn { thread, turn } = trace.parent;
        let is_there = live.read().turn(turn).is_some();
        let is_kept = self.world.thread(thread).is_ok_and(|state| !state.thread.ephemeral);
        if is_there && is_kept {
            self.save(Change::TraceUpserted(Box::new(trace.clone())));
        }
    }
}

fn status_change(trace: &Trace) -> TraceChange {
    TraceChange::Status {
        trace: trace.id,
        parent: trace.parent,
        status: trace.status,
        detail: trace.activity.clone(),
        elapsed_ms: trace.elapsed_ms(clock::wall()),
    }
}

/// What a child does, in words that hold nothing of what it works with.
fn activity(item: &Item) -> Option<String> {
    Some(match &item.body {
        ItemBody::Agent { .. } => "answers".to_owned(),
        ItemBody::Reasoning { .. } => "thinks".to_owned(),
        ItemBody::Tool(tool) if item.status == ItemStatus::InProgress => {
            format!("uses {}", tool.name)
        }
        ItemBody::Tool(tool) => format!("used {}", tool.name),
        _ => return None,
    })
}

/// The words of an entry, from the child's thread.
fn words_of(body: &TraceBody, live: Option<&LiveThread>) -> Option<TraceContent> {
    let (TraceBody::Text(item) | TraceBody::Called(item) | TraceBody::Returned(item)) = body else {
        return content_of(body, None);
    };
    let contents = live?.read();
    content_of(body, contents.item(item))
}

fn content_of(body: &TraceBody, item: Option<&Item>) -> Option<TraceContent> {
    match body {
        TraceBody::Status(status) => return Some(TraceContent::Status(*status)),
        TraceBody::Cut => return Some(TraceContent::Cut),
        TraceBody::Text(_) | TraceBody::Called(_) | TraceBody::Returned(_) => {}
    }
    Some(match (body, &item?.body) {
        (_, ItemBody::User { text, .. }) => TraceContent::Prompt(text.clone()),
        (_, ItemBody::Agent { text, .. }) => TraceContent::Reply(text.clone()),
        (_, ItemBody::Reasoning { summary, content, .. }) => {
            let parts = if content.is_empty() { summary } else { content };
            TraceContent::Thought(parts.join("\n"))
        }
        (TraceBody::Called(_), ItemBody::Tool(tool)) => TraceContent::Called {
            call: tool.call_id.clone(),
            tool: tool.name.clone(),
            input: tool.input.clone(),
        },
        (TraceBody::Returned(_), ItemBody::Tool(tool)) => {
            let output = tool.error.clone().or_else(|| tool.output.clone());
            TraceContent::Returned {
                call: tool.call_id.clone(),
                is_error: item?.status == ItemStatus::Failed,
                output: output.unwrap_or_default(),
            }
        }
        _ => return None,
    })
}
