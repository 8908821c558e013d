//! Requests: what agents wait for. One object for every dialect; the first answer settles it.

mod answers;
mod approvals;
mod chosen;
pub(crate) mod decisions;
mod dialogs;
mod digest;
mod parked;
mod parts;
mod pending;
mod resolve;
mod room;

use std::time::{Duration, Instant};

use rookery_agent::policy::{Bound, Judgement};
use rookery_model::{
    Answer, Asked, Asker, Error, Event, Mode, QueueItem, Related, Request, RequestId, RequestState,
    Result, ThreadId, Timestamp, TurnId,
};
use rookery_store::Change;
use tokio::sync::oneshot;

use crate::clock;
use crate::core::Core;
use crate::log::RequestChange;
use crate::rooms::Requests;
use crate::world::{Tx, World};

pub use approvals::{Approval, ApprovalStatus};
pub use dialogs::{Responder, SeenDialog, Shown, Typing};

use dialogs::DialogNote;
pub(crate) use parked::Parked;
pub(crate) use pending::Pending;
pub use resolve::{Resolution, Resolved};
pub(crate) use room::Room;

/// The tool by which workflows ask for approval, as people are shown it. They outlive the daemon, so that
/// what they ask is waited for by the next one.
pub(crate) const WORKFLOW: &str = "workflow";
/// Who settles what the mode of now decides by itself.
pub(crate) const BY_MODE: &str = "mode";
/// Why a mode changes when a plan was approved.
const PLAN_APPROVED: &str = "plan approved";

impl Requests {
    /// Everything that waits for an answer, oldest first.
    pub fn list(&self) -> Vec<Request> {
        self.core.look().requests.values().cloned().collect()
    }

    /// Reads the same, and what asks for attention, both as of one moment: every item about a request that waits
    /// finds it. Nothing is copied, since there may be thousands of items.
    pub fn with_queue<T>(&self, read: impl FnOnce(&[&Request], &[&QueueItem]) -> T) -> T {
        let world = self.core.look();
        let requests: Vec<&Request> = world.requests.values().collect();
        read(&requests, &world.open_items())
    }

    /// A request that waits for an answer.
    pub fn get(&self, id: RequestId) -> Option<Request> {
        self.core.look().requests.get(id).cloned()
    }

    /// A request that waits for an answer, or one of those that were settled last.
    pub fn recent(&self, id: RequestId) -> Option<Request> {
        let world = self.core.look();
        world.requests.get(id).or_else(|| world.settled.get(&id)).cloned()
    }

    /// Asks. The answer comes at the place that is given back; see [`Requests::await_answer`].
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
                tx.world.requests.insert(request.clone());
                tx.save_request(&request);
                if is_agents(&request) {
                    let asked = RequestChange::Asked(Box::new(request.clone()));
                    tx.announce(request.thread(), asked);
                }
                tx.review_request(&request);
                if let Some(thread) = request.thread() {
                    tx.announce_status(thread);
                }
                Ok(())
            })
            .await?;
        Ok(answer)
    }

    /// Asks and waits for the answer. What is asked is taken back if the one who waits is gone before.
    pub(crate) async fn ask_and_wait(
        &self,
        request: Request,
        judgement: Option<&Judgement>,
    ) -> Result<Answer> {
        let (id, deadline) = (request.id, request.deadline);
        let _asking = Asking { core: self.core.clone(), id };
        let answer = self.ask(request, judgement).await?;
        self.await_answer(id, answer, deadline).await
    }

    /// When something that is asked for now is refused without an answer.
    pub(crate) fn approval_deadline(&self) -> Option<Timestamp> {
        self.core.inner.agents.approval_timeout().map(clock::after)
    }

    /// From now on this request takes only answers that pass.
    pub(crate) fn take_only(
        &self,
        id: RequestId,
        is_taken: impl Fn(&Answer) -> bool + Send + 'static,
    ) {
        self.core.inner.requests.checks.lock().insert(id, Box::new(is_taken));
    }

    /// The same for none any more: it is over.
    pub(crate) fn take_none(&self, id: RequestId) {
        self.core.inner.requests.checks.lock().remove(&id);
    }

    fn check(&self, id: RequestId, answer: &Answer) -> Result<()> {
        let checks = self.core.inner.requests.checks.lock();
        match checks.get(&id).is_none_or(|is_taken| is_taken(answer)) {
            true => Ok(()),
            false => Err(Error::invalid("answers", "answers must choose one of the options")),
        }
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
                let times_out = |tx: &mut Tx<'_>| {
                    tx.decider = self.core.caller.decider();
                    Ok(tx.resolve_request(id, Answer::TimedOut, "timeout"))
                };
                self.core.transact_durably(times_out).await?;
                answer.await.map_err(gone)
            }
        }
    }

    /// Takes back what a direct call waits for.
    pub(crate) fn cancel_direct(&self, call_id: &str, by: &str) {
        let cancelled = self.core.transact(|tx| {
            let meant = tx.world.requests.values();
            let meant = meant.filter(|one| one.asker.is_client() && one.call_id == call_id);
            let ids = meant.map(|request| request.id).collect();
            tx.cancel_requests(ids, by);
            Ok(())
        });
        if let Err(error) = cancelled {
            tracing::warn!(%error, "a request that is not waited for stays");
        }
    }
}

/// Takes back what is asked for once the one who waits for it is gone.
struct Asking {
    core: Core,
    id: RequestId,
}

impl Drop for Asking {
    fn drop(&mut self) {
        let requests = self.core.requests();
        if requests.get(self.id).is_none() {
            return;
        }
        let cancelled = self.core.transact(|tx| {
            tx.cancel_requests(vec![self.id], "gone");
            Ok(())
        });
        if let Err(error) = cancelled {
            tracing::warn!(%error, "a request that is not waited for stays");
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
    /// Takes back everything that a turn waits for.
    pub(crate) fn cancel_of_turn(&mut self, thread: ThreadId, turn: TurnId, by: &str) {
        let of_turn = self.world.requests.of_thread(thread);
        let of_turn = of_turn.filter(|request| request.turn() == Some(turn));
        let ids = of_turn.map(|request| request.id).collect();
        self.cancel_requests(ids, by);
    }

    /// Remembers what was approved for longer than the caller who waits for it, if there is one.
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

    /// Replaces the text of a plan that waits, wherever it is shown. What was shown of it before is not
    /// what an answer is about any more.
    pub(crate) fn reword_plan(&mut self, id: RequestId, summary: String) {
        let Some(request) = self.world.requests.reword_plan(id, summary) else { return };
        if !request.is_deferred {
            // Filed anew with the new text.
            self.resolve_related(Related::Request(id));
        }
        self.save_request(&request);
        self.announce(request.thread(), RequestChange::Reworded(Box::new(request)));
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
        // What a client wanted by itself ends with this daemon; there is nothing to take up again, but for
        // what lasts and a decision that was given and may not have been carried out.
        let lasts = !request.asker.is_client() || request.is_of_client(WORKFLOW);
        let is_decided = matches!(
            &request.state,
            RequestState::Settled(settled)
                if matches!(settled.answer, Answer::Approved { .. } | Answer::Denied { .. })
        );
        if is_decided || lasts {
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
            let planning = self.world.threads.running().filter(|(id, state, active)| {
                let has_own =
                    state.thread.mode.is_some() || self.world.has_client_mode(*id, active.turn);
                *id != thread && !has_own
            });
            let planning: Vec<ThreadId> = planning.map(|(id, ..)| id).collect();
            for other in planning {
                self.set_mode(Some(other), Mode::Plan, None, None, 0);
            }
        }
        let (word, reason) = (None, Some(PLAN_APPROVED.to_owned()));
        self.set_mode(is_own.then_some(thread), target, word, reason, 0);
    }
}

/// Whether an agent asks, or a client for what an agent would do. What a script asks through the palette
/// is of no interest to those who follow agents.
pub(super) fn is_agents(request: &Request) -> bool {
    request.asker != Asker::Client || !matches!(request.asked, Asked::Input { .. })
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
