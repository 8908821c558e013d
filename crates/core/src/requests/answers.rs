//! Answers that come from outside: recorded before they have any effect.
//!
//! A caller who is told that its answer failed must be able to rely on that: the answer has no
//! effect, neither at once nor when the disk has room again. So it is first written down as accepted
//! work, which is saved or forgotten, and only then changes the world. Once written down it is
//! promised: it is given even if this process dies before it could be.

use rookery_model::{AcceptedWork, Answer, RequestId, Result};
use rookery_store::Change;
use tokio::sync::watch;

use crate::core::Core;
use crate::rooms::Requests;

impl Requests {
    /// Records an answer so that it cannot be lost.
    ///
    /// # Errors
    /// If that is not possible. Then nothing was promised.
    pub(crate) async fn promise_answer(
        &self,
        id: RequestId,
        answer: &Answer,
        by: &str,
    ) -> Result<()> {
        self.core.sessions().ensure_saving()?;
        let is_in_memory = {
            let world = self.core.look();
            let request = world.requests.get(id).or_else(|| world.settled.get(&id));
            let thread = request.and_then(|request| world.threads.get(&request.thread()?));
            thread.is_some_and(|state| state.thread.ephemeral)
        };
        if is_in_memory {
            // Nothing of such a thread is written down; but its answer needs a store that works.
            return self.core.promise([]).await;
        }
        let (answer, by) = (answer.clone(), by.to_owned());
        self.core.sessions().accept(AcceptedWork::Answer { request: id, answer, by }).await
    }

    /// Waits until what follows from a promised answer is saved, too. That this takes longer does
    /// not take the promise back.
    pub(crate) async fn keep_promise<T>(
        &self,
        id: RequestId,
        given: Result<(T, rookery_store::Ticket)>,
    ) -> Result<T> {
        match given {
            Ok((value, ticket)) => {
                if let Err(error) = ticket.await {
                    tracing::warn!(%error, request = %id, "an answer is recorded and takes effect later");
                }
                Ok(value)
            }
            Err(error) => {
                self.retract_answer(id).await;
                Err(error)
            }
        }
    }

    /// The answer that was promised will not be given after all.
    pub(crate) async fn retract_answer(&self, id: RequestId) {
        let change = Change::RecordDeleted(rookery_model::RecordKind::Accepted, id.get());
        if let Err(error) = self.core.retract(change).await {
            tracing::error!(%error, request = %id, "an answer that was not given stays recorded");
        }
    }

    /// Waits until no other answer to this request is being recorded.
    pub(crate) async fn lock_answer(&self, id: RequestId) -> AnswerLock<'_> {
        loop {
            let mut other = {
                let mut answering = self.core.inner.requests.answering.lock();
                match answering.get(&id) {
                    Some(other) => other.clone(),
                    None => {
                        let (over, waiting) = watch::channel(());
                        answering.insert(id, waiting);
                        return AnswerLock { core: &self.core, id, _over: over };
                    }
                }
            };
            // Ends with an error when the other one is over; nothing is ever sent.
            let _ = other.changed().await;
        }
    }
}

/// The right to record an answer to a request; one at a time has it.
pub(crate) struct AnswerLock<'a> {
    core: &'a Core,
    id: RequestId,
    _over: watch::Sender<()>,
}

impl Drop for AnswerLock<'_> {
    fn drop(&mut self) {
        self.core.inner.requests.answering.lock().remove(&self.id);
    }
}
