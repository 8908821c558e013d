//! Turns that were open when the daemon ended: those that waited for an answer wait again, the others
//! have failed.

use std::collections::HashSet;
use std::sync::Arc;

use rookery_agent::turn::{self, End, Input};
use rookery_model::{
    Answer, Asked, Item, ItemBody, ItemId, ItemStatus, ParentTurn, Request, RequestState, Result,
    Settled, Timestamp, Turn, TurnError, TurnErrorKind, TurnId, TurnStatus,
};
use tokio::sync::oneshot;

use super::live::LiveThread;
use super::run::Runner;
use super::tools::Resumed;
use super::{ActiveTurn, calls};
use crate::children::Found;
use crate::requests::WORKFLOW;
use crate::rooms::Threads;

/// What was open when the daemon ended.
#[derive(Default)]
pub(crate) struct Interrupted {
    pub(crate) turns: Vec<Turn>,
    pub(crate) requests: Vec<Request>,
}

const LOST: &str = "the daemon ended while this ran";
/// What is known of a tool that was at work: how far it came is unknown.
const UNKNOWN_OUTCOME: &str = "the daemon stopped while this tool ran, so its outcome is unknown: \
    it may have done all, some or nothing of its work";
/// The same for programs.
const UNKNOWN_OUTCOME_DATA: &str = r#"{"outcome":"unknown","reason":"runtime_restart"}"#;

impl Threads {
    /// Takes up what was open when the last daemon ended.
    pub(crate) async fn restore_turns(&self, interrupted: Interrupted) -> Result<()> {
        let Interrupted { mut turns, requests } = interrupted;
        self.restore_queued().await;
        // Who waits for the work of another looks at what has become of it.
        turns.sort_by_key(|turn| std::cmp::Reverse(self.core.look().depth(turn.thread)));
        let children = self.core.children();
        let mut found = Vec::new();
        for turn in turns {
            found.push((children.find(&turn).await, turn));
        }
        let mut resumed = HashSet::new();
        for (found, turn) in &found {
            let waiting: Vec<&Request> =
                requests.iter().filter(|request| request.turn() == Some(turn.id)).collect();
            let restored = match found {
                Found::Abandoned(_) => self.end_abandoned(turn.clone(), &waiting).await,
                Found::Own | Found::Awaited(_) => self.restore_turn(turn.clone(), &waiting).await,
            };
            match restored {
                Ok(true) => {
                    resumed.insert((turn.thread, turn.id));
                }
                Ok(false) => children.let_go(turn.thread),
                Err(error) => {
                    tracing::error!(%error, "a turn could not be taken up again");
                    children.let_go(turn.thread);
                }
            }
        }
        for (found, turn) in &found {
            match found {
                Found::Awaited(parent) if resumed.contains(&(turn.thread, turn.id)) => {
                    if !resumed.contains(&(parent.thread, parent.turn)) {
                        children.stop_abandoned(turn.thread).await;
                    }
                }
                Found::Awaited(parent) | Found::Abandoned(Some(parent)) => {
                    children.settle_lost_of(*parent).await;
                }
                Found::Own | Found::Abandoned(None) => {}
            }
        }
        self.end_left_tools().await;
        // Requests whose turn is gone are not waited for.
        self.core
            .transact_durably(|tx| {
                let is_alone = |request: &Request| {
                    if let Some(session) = request.session() {
                        // What a harness wants to know is still to be said; a screen is read anew, if it
                        // is still there.
                        let is_dialog = matches!(request.asked, Asked::Dialog { .. });
                        return is_dialog && tx.world.session(session).is_none();
                    }
                    if request.is_of_client(WORKFLOW) {
                        return false;
                    }
                    let thread = request.thread().and_then(|id| tx.world.threads.get(&id));
                    let active = thread.and_then(|state| state.active.as_ref());
                    active.is_none_or(|active| Some(active.turn) != request.turn())
                };
                let alone = tx.world.requests.values().filter(|request| is_alone(request));
                let alone = alone.map(|request| request.id).collect();
                tx.cancel_requests(alone, "restart");
                tx.forget_lost_requests();
                Ok(())
            })
            .await
    }

    /// Takes a turn up again, or ends it. True if it goes on.
    async fn restore_turn(&self, turn: Turn, waiting: &[&Request]) -> Result<bool> {
        let live = self.live(turn.thread).await?;
        let parent = ParentTurn { thread: turn.thread, turn: turn.id };
        self.core.children().settle_lost(&live, parent).await;
        let items = live.read().items_of(turn.id);
        let led = items.iter().filter(|item| is_open_tool(item) && self.is_led(item));
        let led: Vec<ItemId> = led.map(|item| item.id.clone()).collect();
        let answered = self.answered_undelivered(turn.id, &items);
        if waiting.is_empty() && led.is_empty() && answered.is_empty() {
            return self.fail_lost(turn, &live, &items, waiting).await;
        }
        let is_kept = |item: &Item| {
            let is_answered = answered.iter().any(|(request, _)| is_of(item, request));
            is_waited_for(item, waiting) || is_answered || led.contains(&item.id)
        };
        let is_lost = |item: &&Item| is_open_tool(item) && !is_kept(item);
        let lost: Vec<Item> =
            items.iter().filter(is_lost).map(|item| self.lost(turn.id, item.clone())).collect();
        let mut setup = self.setup(&turn, live.read().used_names(turn.id));
        setup.used_names.extend(items.iter().map(|item| item.id.as_str().to_owned()));
        setup.used_names.extend(self.get(turn.thread).into_iter().flat_map(|it| it.thread.retired));
        let current: Vec<Item> = items
            .into_iter()
            .map(|item| lost.iter().find(|lost| lost.id == item.id).cloned().unwrap_or(item))
            .collect();
        let machine = turn::Turn::resume(setup, &current, calls::usage(&turn));
        let resume = |request: &Request, answer| {
            let resumed = Resumed { id: request.id, deadline: request.deadline, answer };
            let call = (turn.id, request.call_id.clone());
            self.core.inner.threads.resumed.lock().insert(call, resumed);
        };
        for request in waiting {
            resume(request, self.core.requests().expect_answer(request.id));
        }
        for (request, given) in answered {
            let (sender, answer) = oneshot::channel();
            // The other end is right here.
            let _ = sender.send(given);
            resume(&request, answer);
        }
        let mut active = ActiveTurn::new(turn.id);
        active.steers = self.kept_steers(turn.id).await;
        active.unrecorded.clone_from(&active.steers);
        let wake = Arc::clone(&active.wake);
        self.core
            .transact_durably(|tx| {
                tx.world.thread(turn.thread)?;
                tx.world.threads.set_active(turn.thread, Some(active));
                self.reserve_numbers(tx, turn.thread);
                for item in lost {
                    tx.complete_item(&live, turn.id, item);
                }
                tx.announce_status(turn.thread);
                Ok(())
            })
            .await?;
        let mut runner = Runner::new(self.core.clone(), live, turn, machine, wake);
        runner.is_resumed = true;
        self.core.inner.threads.turns.spawn(runner.resume());
        Ok(true)
    }

    /// A turn of a child agent that no one waits for any more is over: whoever asks again starts another
    /// child, and what this one asks for must not happen beside it.
    async fn end_abandoned(&self, turn: Turn, waiting: &[&Request]) -> Result<bool> {
        let live = self.live(turn.thread).await?;
        let items = live.read().items_of(turn.id);
        self.fail_lost(turn, &live, &items, waiting).await
    }

    /// A turn that was in the middle of something is over, and so is what it waited for.
    async fn fail_lost(
        &self,
        mut turn: Turn,
        live: &Arc<LiveThread>,
        items: &[Item],
        waiting: &[&Request],
    ) -> Result<bool> {
        let error = TurnError { message: LOST.to_owned(), kind: TurnErrorKind::RuntimeRestart };
        let usage = calls::usage(&turn);
        let end =
            End { status: TurnStatus::Failed, error: Some(error), finish_reason: None, usage };
        let open = items.iter().filter(|item| item.status == ItemStatus::InProgress);
        let end_of = |item: &Item| match is_waited_for(item, waiting) {
            true => unasked(item.clone()),
            false => self.lost(turn.id, item.clone()),
        };
        let lost: Vec<Item> = open.map(end_of).collect();
        self.core
            .transact_durably(|tx| {
                self.reserve_numbers(tx, turn.thread);
                for item in lost {
                    tx.complete_item(live, turn.id, item);
                }
                let item = Item {
                    id: ItemId::new(format!("{}-error", turn.id)),
                    status: ItemStatus::Failed,
                    step: 0,
                    at: Timestamp::default(),
                    body: ItemBody::Error { message: LOST.to_owned() },
                    opaque: None,
                };
                tx.complete_item(live, turn.id, item);
                self.finish_turn(tx, live, &mut turn, end);
                Ok(())
            })
            .await?;
        Ok(false)
    }
}

impl Threads {
    /// An item that was open when the daemon ended. A tool that was allowed to run may have run: what
    /// is recorded is that this is unknown, and not that it failed.
    fn lost(&self, turn: TurnId, mut item: Item) -> Item {
        item.status = ItemStatus::Failed;
        if let ItemBody::Tool(tool) = &mut item.body {
            let answer = self.answer_of(turn, &tool.call_id);
            if let Some(is_approved) = answer {
                tool.approval = Some(Some(is_approved));
            }
            match answer {
                Some(false) => tool.error = Some(LOST.to_owned()),
                Some(true) | None => {
                    tool.error = Some(UNKNOWN_OUTCOME.to_owned());
                    tool.data = Some(UNKNOWN_OUTCOME_DATA.to_owned());
                }
            }
        }
        item
    }

    /// Questions that were answered when their call could not hear of it any more. Asking does nothing,
    /// so that the call may go on with what was given.
    fn answered_undelivered(&self, turn: TurnId, items: &[Item]) -> Vec<(Request, Answer)> {
        let world = self.core.look();
        let of_turn = world.settled.values().filter(|request| {
            request.turn() == Some(turn) && matches!(request.asked, Asked::Input { .. })
        });
        let given = of_turn.filter_map(|request| match &request.state {
            RequestState::Settled(Settled { answer: answer @ Answer::Given(_), .. }) => {
                Some((request.clone(), answer.clone()))
            }
            _ => None,
        });
        let is_open =
            |request: &Request| items.iter().any(|item| is_open_tool(item) && is_of(item, request));
        given.filter(|(request, _)| is_open(request)).collect()
    }

    /// How the request of a call was answered, if it was.
    fn answer_of(&self, turn: TurnId, call: &str) -> Option<bool> {
        let world = self.core.look();
        let mut settled = world.settled.values().rev();
        let request = settled.find(|one| one.turn() == Some(turn) && one.call_id == call)?;
        let RequestState::Settled(settled) = &request.state else { return None };
        Some(matches!(settled.answer, Answer::Approved { .. }))
    }
}

impl Runner {
    /// Goes on where the turn waited.
    pub(super) async fn resume(mut self) {
        let view = self.view();
        let effects = self.machine.step(Input::Resume, view);
        self.run(effects).await;
    }
}

/// A call that waited for an answer, and now gets none: it did not run.
fn unasked(mut item: Item) -> Item {
    item.status = ItemStatus::Failed;
    if let ItemBody::Tool(tool) = &mut item.body {
        tool.error = Some(LOST.to_owned());
    }
    item
}

fn is_open_tool(item: &Item) -> bool {
    item.status == ItemStatus::InProgress && matches!(item.body, ItemBody::Tool(_))
}

fn is_waited_for(item: &Item, waiting: &[&Request]) -> bool {
    waiting.iter().any(|request| is_of(item, request))
}

/// Whether a request was made by the call that an item is.
fn is_of(item: &Item, request: &Request) -> bool {
    matches!(&item.body, ItemBody::Tool(tool) if tool.call_id == request.call_id)
}
