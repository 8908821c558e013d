//! Requests: what agents wait for. One object for every dialect; the first answer settles it.

mod answers;
mod approvals;
mod chosen;
pub(crate) mod decisions;
mod dialogs;
mod parked;
mod room;

use std::time::{Duration, Instant};

use rookery_agent::policy::{Bound, Judgement};
use rookery_model::{
    Answer, Asked, Asker, Error, Event, Mode, Request, RequestId, RequestState, Result, Settled,
    ThreadId, Timestamp, TurnId,
};
use rookery_store::Change;
use tokio::sync::oneshot;

use crate::clock;
use crate::log::RequestChange;
use crate::rooms::Requests;
use crate::world::{Tx, World};

pub use approvals::{Approval, ApprovalStatus, Decision};
pub use dialogs::{Responder, SeenDialog, Shown, Typing};

use dialogs::DialogNote;
pub(crate) use parked::Parked;
pub(crate) use room::Room;

/// Who settles what the mode of now decides by itself.
pub(crate) const BY_MODE: &str = "mode";
/// Why a mode changes when a plan was approved.
const PLAN_APPROVED: &str = "plan approved";

impl Requests {
    /// Everything that waits for an answer, oldest first.
    pub fn list(&self) -> Vec<Request> {
        self.core.look().requests.values().cloned().collect()
    }

    /// A request that waits for an answer.
    pub fn get(&self, id: RequestId) -> Option<Request> {
        self.core.look().requests.get(&id).cloned()
    }

    /// Answers a request. The first answer counts: false if it was settled before, or never was.
    ///
    /// `by` names the dialect that it came by; the record names the caller as well.
    ///
    /// # Errors
    /// If the answer does not fit what was asked, comes from an agent's own program, or cannot be kept.
    pub async fn resolve(&self, id: RequestId, answer: Answer, by: &str) -> Result<bool> {
        self.core.refuse_agents()?;
        if self.is_dialog(id) {
            return self.answer_dialog(id, answer, by).await;
        }
        self.give_answer(id, answer, by).await
    }

    /// Answers a request on behalf of the daemon or of whoever runs it.
    ///
    /// # Errors
    /// If the answer does not fit what was asked, or cannot be kept.
    pub async fn resolve_as_daemon(&self, id: RequestId, answer: Answer, by: &str) -> Result<bool> {
        self.core
            .transact_durably(|tx| {
                let Some(request) = tx.world.requests.get(&id) else { return Ok(false) };
                fits(&request.asked, &answer)?;
                tx.decider = self.core.caller.decider();
                self.resolve_in(tx, id, answer, by);
                Ok(true)
            })
            .await
    }

    /// Settles a pending request as part of a transaction, and lets whoever waits for it go on.
    pub(crate) fn resolve_in(&self, tx: &mut Tx<'_>, id: RequestId, answer: Answer, by: &str) {
        if !tx.settle_request(id, answer.clone(), by) {
            return;
        }
        let core = self.core.clone();
        tx.afterwards(move || {
            if let Some(waiter) = core.inner.requests.waiters.lock().remove(&id) {
                // Who does not wait any more has gone on without the answer.
                let _ = waiter.send(answer);
            }
        });
    }

    /// Asks. The answer comes at the place that is given back; see [`Core::await_answer`].
    /// With it goes why it is asked, if the policy says so.
    pub(crate) async fn ask(
        &self,
        request: Request,
        judgement: Option<&Judgement>,
    ) -> Result<oneshot::Receiver<Answer>> {
        let id = request.id;
        let answer = self.expect_answer(id);
        self.core
            .transact_durably(|tx| {
                if !tx.world.can_ask(request.asker)? {
                    return Err(Error::closed("the turn is over"));
                }
                if let Some(judgement) = judgement {
                    let mode = tx.world.mode_of_asker(request.asker);
                    tx.record(decisions::asked(&request, judgement, mode));
                }
                tx.world.requests.insert(id, request.clone());
                tx.save_request(&request);
                tx.announce(request.thread(), RequestChange::Asked(Box::new(request.clone())));
                if let Some(thread) = request.thread() {
                    tx.announce_status(thread);
                }
                Ok(())
            })
            .await?;
        Ok(answer)
    }

    /// When something that is asked for now is refused without an answer.
    pub(crate) fn approval_deadline(&self) -> Option<Timestamp> {
        self.core.inner.agents.approval_timeout().map(clock::after)
    }

    /// From now on the answer to this request is wanted.
    pub(crate) fn expect_answer(&self, id: RequestId) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        self.core.inner.requests.waiters.lock().insert(id, sender);
        receiver
    }

    /// Waits for the answer to a request that is pending.
    pub(crate) async fn await_answer(
        &self,
        id: RequestId,
        mut answer: oneshot::Receiver<Answer>,
        deadline: Option<rookery_model::Timestamp>,
    ) -> Result<Answer> {
        let gone = |_| Error::closed("the request will not be answered any more");
        let Some(deadline) = deadline else { return answer.await.map_err(gone) };
        let left = deadline.as_micros().saturating_sub(clock::wall().as_micros()).max(0);
        let left = Duration::from_micros(left as u64);
        match tokio::time::timeout(left, &mut answer).await {
            Ok(answer) => answer.map_err(gone),
            Err(_) => {
                // An answer may come at this very moment; then that counts.
                self.resolve_as_daemon(id, Answer::TimedOut, "timeout").await?;
                answer.await.map_err(gone)
            }
        }
    }

    /// Takes back what a direct call waits for.
    pub(crate) fn cancel_direct(&self, call_id: &str, by: &str) {
        let is_meant = |request: &Request| request.asker.is_client() && request.call_id == call_id;
        let cancelled = self.core.transact(|tx| {
            let meant = tx.world.requests.values().filter(|request| is_meant(request));
            let ids: Vec<RequestId> = meant.map(|request| request.id).collect();
            for id in ids {
                self.resolve_in(tx, id, Answer::Cancelled, by);
            }
            Ok(())
        });
        if let Err(error) = cancelled {
            tracing::warn!(%error, "a request that is not waited for stays");
        }
    }

    /// Takes back everything that a turn waits for.
    pub(crate) fn cancel_of_turn(&self, tx: &mut Tx<'_>, turn: TurnId, by: &str) {
        let of_turn = tx.world.requests.values().filter(|request| request.turn() == Some(turn));
        let ids: Vec<RequestId> = of_turn.map(|request| request.id).collect();
        for id in ids {
            self.resolve_in(tx, id, Answer::Cancelled, by);
        }
    }
}

impl World {
    /// Whether an asker may still wait for an answer.
    ///
    /// # Errors
    /// Not found if its thread is gone.
    fn can_ask(&self, asker: Asker) -> Result<bool> {
        let Asker::Turn { thread, turn } = asker else {
            asker.thread().map(|thread| self.thread(thread)).transpose()?;
            return Ok(true);
        };
        let active = self.thread(thread)?.active.as_ref();
        Ok(active.is_some_and(|active| active.turn == turn && !active.is_interrupting))
    }
}

impl Tx<'_> {
    /// Settles a pending request, wherever it is shown. False if it does not wait.
    pub(crate) fn settle_request(&mut self, id: RequestId, answer: Answer, by: &str) -> bool {
        let Some(mut request) = self.world.requests.remove(&id) else { return false };
        let settled = Settled { answer: answer.clone(), by: by.to_owned(), at: clock::wall() };
        let mode = self.world.mode_of_asker(request.asker);
        self.record_settled(&request, &settled, mode);
        request.state = RequestState::Settled(settled);
        let asker = request.asker;
        let target = match (&request.asked, &answer) {
            (Asked::PlanExit(plan), Answer::Approved { .. }) => Some(plan.target),
            _ => None,
        };
        self.note_approval(&request, &answer, by);
        self.save_request(&request);
        self.archive(request.clone());
        let mode = target.unwrap_or_else(|| self.world.mode_of_asker(asker));
        self.announce(asker.thread(), RequestChange::Settled(Box::new(request), mode));
        if let (Some(target), Asker::Turn { thread, turn }) = (target, asker) {
            self.leave_plan(thread, turn, target);
        }
        if let Some(thread) = asker.thread() {
            self.announce_status(thread);
        }
        true
    }

    /// Remembers what was approved for longer than the one who waits for it, if anybody does.
    fn note_approval(&mut self, request: &Request, answer: &Answer, by: &str) {
        let is_parked = self.world.parked.forget(request.id);
        let Answer::Approved { remember } = *answer else { return };
        let Some(bound) = Bound::of(&request.tool, &request.asked) else { return };
        match request.thread() {
            Some(thread) if remember => {
                if let Ok(state) = self.world.thread_mut(thread) {
                    state.remembered.insert(bound);
                }
            }
            None if remember => self.world.parked.remember(bound),
            // What a mode lets through is let through as long as the mode holds.
            Some(_) | None if is_parked && by != BY_MODE => {
                self.world.parked.grant(request.thread(), bound, Instant::now());
            }
            Some(_) | None => {}
        }
    }

    /// Stores a request as it is now, and says so in the log.
    pub(crate) fn save_request(&mut self, request: &Request) {
        self.follow_request(request);
        let is_kept = request.thread().is_none_or(|thread| {
            self.world.thread(thread).is_ok_and(|state| !state.thread.ephemeral)
        });
        if !is_kept {
            return;
        }
        // What a client wanted by itself ends with this daemon; there is nothing to take up again.
        if !request.asker.is_client() {
            self.save(Change::RequestUpserted(Box::new(request.clone())));
        }
        let request = Box::new(request.clone());
        self.emit(match request.state {
            RequestState::Pending => Event::RequestOpened(request),
            RequestState::Settled(_) => Event::RequestSettled(request),
        });
    }

    fn leave_plan(&mut self, thread: ThreadId, turn: TurnId, target: Mode) {
        if self.change_client_mode(thread, turn, target, PLAN_APPROVED) {
            return;
        }
        let is_own = self.world.thread(thread).is_ok_and(|state| state.thread.mode.is_some());
        if !is_own {
            // One plan was allowed, not those that others still make.
            let planning = self.world.threads.iter().filter(|(id, state)| {
                let Some(active) = &state.active else { return false };
                let has_own =
                    state.thread.mode.is_some() || self.world.has_client_mode(**id, active.turn);
                **id != thread && !has_own
            });
            let planning: Vec<ThreadId> = planning.map(|(id, _)| *id).collect();
            for other in planning {
                self.set_mode(Some(other), Mode::Plan, None, None, 0);
            }
        }
        let (word, reason) = (None, Some(PLAN_APPROVED.to_owned()));
        self.set_mode(is_own.then_some(thread), target, word, reason, 0);
    }
}

/// Whether this is an answer to that question at all.
pub(crate) fn fits(asked: &Asked, answer: &Answer) -> Result<()> {
    let is_fitting = match answer {
        Answer::Approved { .. } | Answer::Denied { .. } => {
            matches!(
                asked,
                Asked::Approval { .. }
                    | Asked::PlanExit(_)
                    | Asked::Permission { .. }
                    | Asked::Dialog { .. }
            )
        }
        Answer::Given(_) => matches!(asked, Asked::Input { .. }),
        Answer::Output { .. } => matches!(asked, Asked::External(_)),
        Answer::AtTerminal => matches!(asked, Asked::Dialog { .. }),
        Answer::Cancelled | Answer::TimedOut => true,
    };
    match is_fitting {
        true => Ok(()),
        false => Err(Error::invalid("id", "the request asks for something else")),
    }
}
