//! Messages that wait in a thread with an assignment until its agent takes what a user says: before
//! the next call of the model, at the end of the turn, or as the answer to the next question. They
//! never approve anything.

use std::sync::Arc;

use rookery_agent::turn::Message;
use rookery_model::{Answer, Asked, Error, ErrorKind, QueuedMessage, RequestId, Result, ThreadId};
use rookery_store::Change;
use serde_json::json;

use crate::clock;
use crate::log::ThreadChange;
use crate::rooms::Threads;
use crate::world::Tx;

/// How many messages may wait in a thread.
const MOST: usize = 64;
/// Who settles a question that a waiting message answers.
const BY_QUEUE: &str = "queue";

impl Threads {
    /// Has a message wait until the turn that runs takes it.
    ///
    /// # Errors
    /// If there is no such thread, it has no assignment, no turn runs, or too many wait already.
    pub async fn enqueue(&self, id: ThreadId, message: Message) -> Result<QueuedMessage> {
        let Message { text, images, context } = message;
        let blocks = std::iter::once(text).chain(context).filter(|block| !block.is_empty());
        let text = blocks.collect::<Vec<_>>().join("\n\n");
        if text.trim().is_empty() && images.is_empty() {
            return Err(Error::invalid("text", "a message needs a text or an image"));
        }
        let drawn = uuid::Uuid::now_v7().as_u128();
        let message = QueuedMessage { id: drawn, at: clock::wall(), text, images };
        self.core
            .transact_durably(|tx| {
                let state = tx.world.thread_mut(id)?;
                if state.thread.assignment.is_none() {
                    return Err(Error::conflict(
                        "messages wait only in threads with an assignment",
                    ));
                }
                if state.active.is_none() {
                    return Err(Error::conflict("no turn runs; start one with the message"));
                }
                if state.queued.len() >= MOST {
                    let text = format!("{MOST} messages wait already; take one back, or wait");
                    return Err(Error::new(ErrorKind::Busy, text));
                }
                Arc::make_mut(&mut state.queued).push(message.clone());
                tx.keep_queued(id);
                Ok(message)
            })
            .await
    }

    /// Takes back a message that waits. False if it does not.
    ///
    /// # Errors
    /// If there is no such thread.
    pub async fn unqueue(&self, id: ThreadId, message: u128) -> Result<bool> {
        self.core
            .transact_durably(|tx| {
                let state = tx.world.thread_mut(id)?;
                let place = state.queued.iter().position(|queued| queued.id == message);
                let Some(place) = place else { return Ok(false) };
                Arc::make_mut(&mut state.queued).remove(place);
                tx.keep_queued(id);
                Ok(true)
            })
            .await
    }

    /// Has a message that waits answer a question, if one does; gives its images. Of several questions
    /// it is not known which one a message answers, so that it waits on.
    pub(super) async fn answer_queued(
        &self,
        id: ThreadId,
        request: RequestId,
    ) -> Result<Vec<String>> {
        if self.core.look().thread(id)?.queued.is_empty() {
            return Ok(Vec::new());
        }
        self.core
            .transact_durably(|tx| {
                let asked = tx.world.requests.get(request).map(|request| &request.asked);
                let Some(Asked::Input { questions }) = asked else { return Ok(Vec::new()) };
                let [question] = &questions[..] else { return Ok(Vec::new()) };
                let question = question.id.clone();
                let state = tx.world.thread_mut(id)?;
                if state.queued.is_empty() {
                    return Ok(Vec::new());
                }
                let message = Arc::make_mut(&mut state.queued).remove(0);
                tx.keep_queued(id);
                let answer = Answer::Given(json!({ question: message.text }).to_string());
                tx.resolve_request(request, answer, BY_QUEUE);
                Ok(message.images)
            })
            .await
    }

    /// What waited when the last daemon ended.
    pub(super) async fn restore_queued(&self) {
        let ids: Vec<ThreadId> = {
            let world = self.core.look();
            let assigned = world.threads.iter().filter(|(_, it)| it.thread.assignment.is_some());
            assigned.map(|(id, _)| *id).collect()
        };
        let store = self.core.inner.store.clone();
        let read = move || -> Vec<(ThreadId, Vec<QueuedMessage>)> {
            let queued = |id: ThreadId| Some((id, store.queued_messages(id).ok()?));
            ids.into_iter().filter_map(queued).filter(|(_, queued)| !queued.is_empty()).collect()
        };
        let Ok(found) = tokio::task::spawn_blocking(read).await else { return };
        self.core.adjust(|world| {
            for (id, messages) in found {
                if let Some(queued) = world.queued(id) {
                    *queued = Arc::new(messages);
                }
            }
        });
    }
}

impl Tx<'_> {
    /// All messages that wait, which do so no more.
    pub(super) fn take_queued(&mut self, id: ThreadId) -> Vec<Message> {
        let Ok(state) = self.world.thread_mut(id) else { return Vec::new() };
        let taken = std::mem::take(&mut state.queued);
        if taken.is_empty() {
            return Vec::new();
        }
        self.keep_queued(id);
        let message = |one: &QueuedMessage| Message {
            text: one.text.clone(),
            images: one.images.clone(),
            context: Vec::new(),
        };
        taken.iter().map(message).collect()
    }

    fn keep_queued(&mut self, id: ThreadId) {
        let Ok(state) = self.world.thread(id) else { return };
        let (queued, is_kept) = (Arc::clone(&state.queued), !state.thread.ephemeral);
        if is_kept {
            self.save(Change::MessagesQueued(id, queued.to_vec()));
        }
        self.announce(id, ThreadChange::Queued(queued.to_vec()));
    }
}
