//! The one verb of requests: each is resolved by an answer, or put off. The first answer counts.

use std::sync::Arc;

use rookery_model::{
    Answer, Asked, Asker, Error, ErrorKind, Request, RequestId, RequestState, Result, Settled,
};

use super::parts::with_parts;
use super::{Approval, ApprovalStatus, fits, is_agents};
use crate::clock;
use crate::log::RequestChange;
use crate::rooms::Requests;
use crate::world::{Tx, World};

/// What is said about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// None puts it off.
    answer: Option<Answer>,
    revises: bool,
    /// What it was decided by.
    shown: Option<String>,
}

impl From<Answer> for Resolution {
    fn from(answer: Answer) -> Resolution {
        Resolution { answer: Some(answer), revises: false, shown: None }
    }
}

impl Resolution {
    /// It will be decided later.
    #[must_use]
    pub fn later() -> Resolution {
        Resolution { answer: None, revises: false, shown: None }
    }

    /// Also replaces an earlier decision that has not been used yet.
    #[must_use]
    pub fn or_revise(self) -> Resolution {
        Resolution { revises: true, ..self }
    }

    /// The same, only if what waits has this digest.
    #[must_use]
    pub fn as_shown(self, digest: Option<String>) -> Resolution {
        Resolution { shown: digest, ..self }
    }
}

/// What became of a resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// It counts.
    Now,
    /// The same was said before.
    Same,
    /// Something else was said before, and stands.
    Late,
    /// There is no such request.
    Unknown,
}

impl Resolved {
    /// Whether it counts.
    pub fn is_now(self) -> bool {
        self == Resolved::Now
    }

    /// For those who take saying the same again for a success.
    ///
    /// # Errors
    /// Not found and conflict.
    pub fn or_error(self, id: RequestId) -> Result<()> {
        match self {
            Resolved::Now | Resolved::Same => Ok(()),
            Resolved::Late => {
                Err(Error::new(ErrorKind::Conflict, "the approval was settled before"))
            }
            Resolved::Unknown => Err(Error::not_found(format!("no approval {id}"))),
        }
    }
}

impl Requests {
    /// Resolves a request: answers it, or puts it off.
    ///
    /// `by` names the dialect that it came by; the record names the caller as well.
    ///
    /// # Errors
    /// If the answer does not fit what was asked, comes from an agent's own program, or cannot be kept.
    pub async fn resolve(
        &self,
        id: RequestId,
        resolution: impl Into<Resolution>,
        by: &str,
    ) -> Result<Resolved> {
        self.core.refuse_agents()?;
        let Resolution { answer, revises, shown } = resolution.into();
        if let Some(answer) = &answer {
            self.check(id, answer)?;
        }
        match answer {
            None => self.put_off(id, revises, by).await,
            Some(answer) if self.is_dialog(id) => {
                self.check_shown(id, shown.as_deref())?;
                self.answer_dialog(id, answer, by).await
            }
            Some(answer) => {
                let _turn = self.lock_answer(id).await;
                // Nothing else is answered or settled from here on.
                self.check_shown(id, shown.as_deref())?;
                self.give_in_turn(id, answer, revises, by).await
            }
        }
    }

    /// Whether what waits is what was decided by.
    fn check_shown(&self, id: RequestId, shown: Option<&str>) -> Result<()> {
        match self.get(id) {
            Some(request) if shown.is_some_and(|shown| self.digest(&request) != shown) => {
                Err(Error::conflict("what waits now is not what was shown; look at it again"))
            }
            _ => Ok(()),
        }
    }

    /// Recorded before it has any effect; see [`answers`](super::answers). For whoever has the turn to
    /// answer.
    pub(super) async fn give_in_turn(
        &self,
        id: RequestId,
        answer: Answer,
        revises: bool,
        by: &str,
    ) -> Result<Resolved> {
        if let Some(resolved) = self.core.look().is_resolved(id, &answer, revises)? {
            return Ok(resolved);
        }
        self.promise_answer(id, &answer, by).await?;
        let given = self.core.transact(|tx| {
            tx.decider = self.core.caller.decider();
            // It may have been settled while the answer was recorded.
            let is_given =
                tx.resolve_request(id, answer.clone(), by) || revises && tx.revise(id, answer, by);
            tx.done(id.get());
            Ok(if is_given { Resolved::Now } else { Resolved::Late })
        });
        self.keep_promise(id, given).await
    }

    async fn put_off(&self, id: RequestId, revises: bool, by: &str) -> Result<Resolved> {
        let _turn = self.lock_answer(id).await;
        if let Some(resolved) = self.core.look().is_put_off(id, revises) {
            return Ok(resolved);
        }
        self.core.sessions().ensure_saving()?;
        let put_off = |tx: &mut Tx<'_>| {
            tx.decider = self.core.caller.decider();
            if tx.world.is_put_off(id, revises).is_none() {
                tx.reopen(id);
                tx.put_off(id, by);
            }
            Ok(Resolved::Now)
        };
        self.core.transact_durably(put_off).await
    }
}

impl World {
    /// What an answer comes to without being given; none if it has to be.
    fn is_resolved(
        &self,
        id: RequestId,
        answer: &Answer,
        revises: bool,
    ) -> Result<Option<Resolved>> {
        if let Some(request) = self.requests.get(id) {
            fits(&request.asked, answer)?;
            return Ok(None);
        }
        let Some(request) = self.settled.get(&id) else { return Ok(Some(Resolved::Unknown)) };
        if !revises {
            return Ok(Some(Resolved::Late));
        }
        fits(&request.asked, answer)?;
        let said = Approval::of(request).map(|approval| approval.status);
        Ok(match answer {
            Answer::Approved { .. } if said == Some(ApprovalStatus::Approved) => {
                Some(Resolved::Same)
            }
            Answer::Denied { .. } if said == Some(ApprovalStatus::Denied) => Some(Resolved::Same),
            _ => (!self.can_revise(request)).then_some(Resolved::Late),
        })
    }

    /// What putting off comes to without being done; none if it has to be.
    fn is_put_off(&self, id: RequestId, revises: bool) -> Option<Resolved> {
        let (request, is_pending) = match self.requests.get(id) {
            Some(request) => (request, true),
            None => match self.settled.get(&id) {
                Some(request) => (request, false),
                None => return Some(Resolved::Unknown),
            },
        };
        match Approval::of(request) {
            None => Some(Resolved::Unknown),
            Some(approval) if approval.status == ApprovalStatus::Deferred => Some(Resolved::Same),
            Some(_) if is_pending || revises && self.can_revise(request) => None,
            Some(_) => Some(Resolved::Late),
        }
    }

    /// What was decided may be decided otherwise as long as no program acted on it: only a harness that
    /// asks from time to time might have.
    fn can_revise(&self, request: &Request) -> bool {
        let is_harness = request.session().is_some();
        is_harness
            && matches!(request.asked, Asked::Permission { .. })
            && !self.acted_on.contains(&request.id)
    }
}

impl Tx<'_> {
    /// Resolves a request that waits, wherever it is shown, and lets its waiter go on once that is
    /// durable. False if it does not wait.
    pub(crate) fn resolve_request(&mut self, id: RequestId, answer: Answer, by: &str) -> bool {
        let Some(mut request) = self.world.requests.remove(id) else { return false };
        let answer = with_parts(&request, answer);
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
        if is_agents(&request) {
            let settled = RequestChange::Settled(Box::new(request.clone()), mode);
            self.announce(asker.thread(), settled);
        }
        self.settle_reviewed(&request, &answer);
        if let (Some(target), Asker::Turn { thread, turn }) = (target, asker) {
            self.leave_plan(thread, turn, target);
        }
        if let Some(thread) = asker.thread() {
            self.announce_status(thread);
        }
        let inner = Arc::clone(&self.core.inner);
        self.afterwards(move || {
            if let Some(waiter) = inner.requests.waiters.lock().remove(&id) {
                // Who does not wait any more has gone on without the answer.
                let _ = waiter.send(answer);
            }
        });
        true
    }

    /// Takes back all of these.
    pub(crate) fn cancel_requests(&mut self, ids: Vec<RequestId>, by: &str) {
        for id in ids {
            self.resolve_request(id, Answer::Cancelled, by);
        }
    }

    /// What was decided is decided otherwise. False if it cannot be.
    fn revise(&mut self, id: RequestId, answer: Answer, by: &str) -> bool {
        let settled = self.world.settled.get(&id).filter(|it| self.world.can_revise(it));
        let Some(mut request) = settled.cloned() else { return false };
        let settled = Settled { answer, by: by.to_owned(), at: clock::wall() };
        let mode = self.world.mode_of_asker(request.asker);
        self.record_settled(&request, &settled, mode);
        request.state = RequestState::Settled(settled);
        self.world.settled.insert(request.id, request.clone());
        self.save_request(&request);
        true
    }

    /// What was decided waits again.
    fn reopen(&mut self, id: RequestId) {
        let Some(settled) = self.world.settled.remove(&id) else { return };
        let state = RequestState::Pending;
        self.world.requests.insert(Request { state, is_deferred: false, ..settled });
    }
}
