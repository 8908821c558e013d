//! Performs the effects of a turn, in order: announcements that have to last in one transaction,
//! streamed ones as they come.

use std::sync::Arc;
use std::time::Duration;

use rookery_agent::turn::{CallShape, Delta, Effect, End};
use rookery_model::{
    Event, Item, ItemBody, ItemId, ParentTurn, ThreadId, Timestamp, TurnError, TurnErrorKind,
    TurnStatus, Usage,
};

use super::run::Runner;
use super::{TurnLifecycle, calls};
use crate::clock;
use crate::log::{ItemChange, NoticeBody, ThreadChange, TurnChange};
use crate::rooms::Threads;

/// How long tools that are asked to stop may take, once their programs are gone, before they are left
/// to themselves.
const STOP_SLACK: Duration = Duration::from_millis(250);

/// What is said of a turn that was stopped with the daemon.
const SHUT_DOWN: &str = "the turn was stopped because the daemon was shut down or drained";

/// Something to publish, in the order of the machine.
enum Update {
    Started(Item),
    Delta(ItemId, Delta),
    Completed(Item),
    CallStarted,
    CallEnded { usage: Usage, error: Option<String>, is_cut: bool },
    Notice(NoticeBody),
    Finish(End),
}

impl Runner {
    /// Performs effects; gives those that follow if the turn has to go on after all.
    pub(super) async fn perform(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        let mut updates = Vec::new();
        for effect in effects {
            let turn = self.turn.id;
            match effect {
                Effect::Started(item) => updates.push(Update::Started(item)),
                Effect::Delta { item, delta } => updates.push(Update::Delta(item, delta)),
                Effect::Completed(item) => updates.push(Update::Completed(self.sealed(item))),
                Effect::Warn(message) => updates.push(Update::Notice(NoticeBody::Warning(message))),
                Effect::PartialResult(summary) => {
                    updates.push(Update::Notice(NoticeBody::Turn(TurnChange::PartialResult(
                        turn, summary,
                    ))));
                }
                Effect::DeadlineExceeded(summary) => {
                    let deadline = self.turn.settings.deadline;
                    let notice =
                        NoticeBody::Turn(TurnChange::DeadlineExceeded(turn, deadline, summary));
                    updates.push(Update::Notice(notice));
                }
                Effect::Finish(end) => {
                    if end.status == TurnStatus::Completed {
                        self.send_updates(std::mem::take(&mut updates)).await;
                        self.hook_stop().await;
                    }
                    updates.push(Update::Finish(end));
                    return self.send_updates(std::mem::take(&mut updates)).await;
                }
                Effect::CallEnded { usage, error, is_cut } => {
                    updates.push(Update::CallEnded { usage, error, is_cut });
                }
                Effect::CallModel(shape) => {
                    self.send_updates(std::mem::take(&mut updates)).await;
                    self.call_within_limits(shape).await;
                }
                action => {
                    self.send_updates(std::mem::take(&mut updates)).await;
                    self.act(action).await;
                }
            }
        }
        self.send_updates(updates).await
    }

    async fn act(&mut self, effect: Effect) {
        match effect {
            Effect::AbortModel => {
                self.model = None;
                self.held = None;
                self.limits.abort_all();
                self.compaction.abort_all();
                self.judged.abort_all();
                self.cancel_waiting().await;
            }
            Effect::RunTool { item, name, arguments, call_id } => {
                self.run_tool(item, name, arguments, call_id);
            }
            Effect::StopTools => self.stop_tools().await,
            Effect::Judge { permission, item, tool } => self.judge_hosted(permission, item, tool),
            Effect::Compact { is_forced } => self.compact(is_forced),
            Effect::Started(_)
            | Effect::Delta { .. }
            | Effect::Completed(_)
            | Effect::CallModel(_)
            | Effect::CallEnded { .. }
            | Effect::Warn(_)
            | Effect::PartialResult(_)
            | Effect::DeadlineExceeded(_)
            | Effect::Finish(_) => {}
        }
    }

    /// Asks the model, and takes what waits for that.
    pub(super) async fn begin_call(&mut self, shape: CallShape) {
        self.send_updates(vec![Update::CallStarted]).await;
        self.call_model(shape);
    }

    fn has_queued(&self) -> bool {
        let world = self.core.look();
        world.threads.get(&self.live.id).is_some_and(|state| !state.queued.is_empty())
    }

    async fn stop_tools(&mut self) {
        self.stop.cancel();
        self.cancel_waiting().await;
        let gone = async { while self.tools.join_next().await.is_some() {} };
        let set = self.core.inner.agents.lifecycle();
        let limit = set.process_grace_timeout + set.process_kill_timeout + STOP_SLACK;
        if tokio::time::timeout(limit, gone).await.is_err() {
            self.tools.abort_all();
        }
    }

    /// Takes back what the turn waits for, and says so before the turn ends.
    async fn cancel_waiting(&self) {
        let cancelled = self
            .core
            .transact_durably(|tx| {
                tx.cancel_of_turn(self.turn.thread, self.turn.id, "interrupt");
                Ok(())
            })
            .await;
        if let Err(error) = cancelled {
            tracing::error!(%error, "requests of a turn that ends were not taken back");
        }
    }

    /// Items keep what their provider wants back under its name.
    fn sealed(&self, mut item: Item) -> Item {
        if let Some(opaque) = item.opaque.take()
            && let Ok(value) = serde_json::from_str(&opaque)
        {
            let provider = &self.turn.settings.choice.provider;
            item.opaque = Some(rookery_agent::turn::seal_opaque(provider, &value));
        }
        item
    }

    async fn send_updates(&mut self, updates: Vec<Update>) -> Vec<Effect> {
        let is_heard = self.has_queued() || self.machine.has_steers();
        let lasts = |updates: &Update| match updates {
            Update::Completed(_) | Update::CallEnded { .. } | Update::Finish(_) => true,
            Update::Started(item) => matches!(item.body, ItemBody::Tool(_)),
            // What users said meanwhile is taken with it.
            Update::CallStarted => is_heard,
            Update::Delta(..) | Update::Notice(_) => false,
        };
        if updates.is_empty() {
            return Vec::new();
        }
        if updates.iter().any(lasts) {
            self.send_durably(updates).await
        } else {
            self.stream(updates)
        }
    }

    /// What need not last goes out at once, whether clients read it or not.
    fn stream(&mut self, updates: Vec<Update>) -> Vec<Effect> {
        let (core, turn) = (&self.core, self.turn.id);
        let mut contents = self.live.stream();
        let notices = updates.into_iter().filter_map(|updates| match updates {
            Update::Started(mut item) => {
                contents.put(turn, &mut item);
                Some(NoticeBody::Item(turn, ItemChange::Started(Box::new(item))))
            }
            Update::Delta(id, delta) => {
                contents.grow(&id, &delta);
                Some(NoticeBody::Item(turn, ItemChange::Delta(id, delta)))
            }
            Update::CallStarted => {
                let began = calls::begin(&mut self.turn);
                contents.put_turn(&self.turn);
                Some(NoticeBody::Turn(began))
            }
            Update::Notice(notice) => Some(notice),
            Update::Completed(_) | Update::CallEnded { .. } | Update::Finish(_) => None,
        });
        let notices: Vec<NoticeBody> = notices.collect();
        drop(contents);
        core.inner.log.spine().send(Some(self.live.id), notices);
        Vec::new()
    }

    /// What has to last is durable before a subscriber gets it.
    async fn send_durably(&mut self, updates: Vec<Update>) -> Vec<Effect> {
        let core = self.core.clone();
        let view = self.view();
        let outcome = core.transact(|tx| {
            let (turn, live) = (self.turn.id, &self.live);
            // Asked first: what is done to the contents and to the machine could not be taken back.
            if updates.iter().any(|updates| matches!(updates, Update::Finish(_))) {
                tx.world.thread(live.id)?;
            }
            let mut reopened = Vec::new();
            for updates in updates {
                match updates {
                    Update::Started(item) => tx.begin_item(live, turn, item),
                    Update::Delta(id, delta) => {
                        tx.edit(live).grow(&id, &delta);
                        tx.announce(live.id, NoticeBody::Item(turn, ItemChange::Delta(id, delta)));
                    }
                    Update::Completed(item) => tx.complete_item(live, turn, item),
                    Update::CallStarted => {
                        let queued = tx.take_queued(live.id);
                        let count = queued.len();
                        let items = self.machine.late(queued);
                        let steered = items.len().saturating_sub(count);
                        for (number, item) in items.into_iter().enumerate() {
                            match number < steered {
                                true => tx.complete_item(live, turn, item),
                                false => tx.keep_item(live, turn, item),
                            }
                        }
                        let began = calls::begin(&mut self.turn);
                        tx.keep_calls(live, &self.turn, began);
                    }
                    Update::CallEnded { usage, error, is_cut } => {
                        if let Some(ended) = calls::end(&mut self.turn, usage, error, is_cut) {
                            tx.keep_calls(live, &self.turn, ended);
                        }
                    }
                    Update::Notice(notice) => tx.announce(live.id, notice),
                    Update::Finish(end) => {
                        let (late, has_queued) = tx.take_late(live.id);
                        let is_heard = !late.is_empty() || has_queued;
                        if is_heard && end.status == TurnStatus::Completed {
                            // Accepted before the turn was over: so it is not over.
                            reopened = self.machine.reopen(late, view);
                            continue;
                        }
                        for item in self.machine.late(late) {
                            tx.complete_item(live, turn, item);
                        }
                        core.threads().finish_turn(tx, live, &mut self.turn, end);
                    }
                }
            }
            Ok(reopened)
        });
        match outcome {
            Ok((reopened, ticket)) => {
                if let Err(error) = ticket.await {
                    tracing::error!(%error, turn = %self.turn.id, "part of a turn is not stored yet");
                }
                reopened
            }
            Err(error) => {
                tracing::error!(%error, turn = %self.turn.id, "part of a turn was not recorded");
                Vec::new()
            }
        }
    }

    /// Ends the turn after a fault of ours.
    pub(super) async fn abandon(&mut self, message: &str) {
        self.model = None;
        self.stop_tools().await;
        let error = Some(TurnError { message: message.to_owned(), kind: TurnErrorKind::Other });
        let usage = self.turn.usage;
        let end = End { status: TurnStatus::Failed, error, finish_reason: None, usage };
        let core = self.core.clone();
        let ended = core
            .transact_durably(|tx| {
                let open: Vec<Item> = self.live.read().items_of(self.turn.id);
                let open = open
                    .into_iter()
                    .filter(|item| item.status == rookery_model::ItemStatus::InProgress);
                for mut item in open {
                    item.status = rookery_model::ItemStatus::Failed;
                    tx.complete_item(&self.live, self.turn.id, item);
                }
                core.threads().finish_turn(tx, &self.live, &mut self.turn, end);
                Ok(())
            })
            .await;
        if let Err(error) = ended {
            tracing::error!(%error, "a turn that failed was not recorded");
        }
    }
}

/// Why a turn was stopped that no one wanted to stop.
fn shutdown(tx: &crate::world::Tx<'_>, thread: ThreadId, status: TurnStatus) -> Option<TurnError> {
    let active = tx.world.threads.get(&thread)?.active.as_ref()?;
    (active.is_shut_down && status == TurnStatus::Interrupted)
        .then(|| TurnError { message: SHUT_DOWN.to_owned(), kind: TurnErrorKind::Shutdown })
}

impl Threads {
    /// Ends a turn in the world: its last word, its cost, and the thread is idle.
    pub(super) fn finish_turn(
        &self,
        tx: &mut crate::world::Tx<'_>,
        live: &super::live::LiveThread,
        turn: &mut rookery_model::Turn,
        end: End,
    ) {
        let now: Timestamp = clock::wall();
        turn.status = end.status;
        turn.error = end.error.or_else(|| shutdown(tx, live.id, end.status));
        turn.finish_reason = end.finish_reason;
        turn.usage = end.usage;
        turn.completed_at = Some(now);
        // A call that was cut off by a fault of ours is over as well.
        let why = turn.error.as_ref().map(|error| error.message.clone());
        let cut_off = calls::end(turn, Usage::default(), why, false);
        tx.edit(live).put_turn(turn);
        tx.cancel_of_turn(turn.thread, turn.id, "end of turn");
        tx.complete_plans(turn.thread, turn.id);
        // What works for it is not waited for any more.
        let inner = Arc::clone(&self.core.inner);
        let parent = ParentTurn { thread: turn.thread, turn: turn.id };
        tx.once_visible(move || inner.children.stop_of(parent));
        let mut goal = None;
        tx.world.threads.set_active(live.id, None);
        if let Ok(state) = tx.world.thread_mut(live.id) {
            state.thread.usage.add(turn.usage);
            state.thread.updated_at = now;
            if let Some(set) = &mut state.thread.goal {
                let seconds = now.as_seconds().saturating_sub(turn.started_at.as_seconds());
                set.seconds_used += u64::try_from(seconds).unwrap_or(0);
                set.tokens_used += turn.usage.prompt + turn.usage.completion;
                goal = Some(set.clone());
            }
        }
        tx.save_thread(live.id);
        tx.save_turn(turn);
        let (thread, status) = (live.id, turn.status);
        tx.emit_of(thread, Event::TurnEnded { thread, turn: turn.id, status });
        if let Some(ended) = cut_off {
            tx.announce(thread, ended);
        }
        tx.announce(thread, TurnChange::Lifecycle(TurnLifecycle::of(turn, None)));
        tx.announce(thread, TurnChange::Ended(Box::new(turn.clone())));
        tx.announce_status(thread);
        if let Some(goal) = goal {
            tx.announce(thread, ThreadChange::GoalSet(Box::new(goal)));
        }
    }
}
