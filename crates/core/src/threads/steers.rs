//! What the user said to a running turn and no item holds yet: kept, since it was accepted.

use rookery_agent::turn::Message;
use rookery_model::{ItemBody, Result, Steer, ThreadId, Timestamp, TurnId};
use rookery_store::Change;

use super::live::Placed;
use crate::rooms::Threads;
use crate::world::Tx;

impl Tx<'_> {
    /// Takes a message for the turn that runs, durably, and wakes it.
    pub(super) fn accept_steer(&mut self, id: ThreadId, message: Message) {
        let Ok(state) = self.world.thread_mut(id) else { return };
        let Some(active) = &mut state.active else { return };
        active.unrecorded.push(message.clone());
        active.steers.push(message);
        let wake = std::sync::Arc::clone(&active.wake);
        self.keep_steers(id);
        self.afterwards(move || wake.notify_one());
    }

    /// Takes a message for the turn that runs. False if none does, or it is about to stop.
    pub(crate) fn steer_active(&mut self, id: ThreadId, message: Message) -> bool {
        let active = self.world.threads.get(&id).and_then(|state| state.active.as_ref());
        let hears = active.is_some_and(|active| !active.is_interrupting);
        if hears {
            self.accept_steer(id, message);
        }
        hears
    }

    /// The oldest message that was accepted is an item now.
    pub(super) fn record_steer(&mut self, id: ThreadId, turn: TurnId) {
        let Ok(state) = self.world.thread_mut(id) else { return };
        let active = state.active.as_mut().filter(|active| active.turn == turn);
        let Some(active) = active.filter(|active| !active.unrecorded.is_empty()) else { return };
        active.unrecorded.remove(0);
        self.keep_steers(id);
    }

    /// What the user said to a turn that is about to end, and whether more waits for the agent.
    pub(super) fn take_late(&mut self, id: ThreadId) -> (Vec<Message>, bool) {
        let Ok(state) = self.world.thread_mut(id) else { return Default::default() };
        let late = state.active.as_mut().map(|active| std::mem::take(&mut active.steers));
        (late.unwrap_or_default(), !state.queued.is_empty())
    }

    fn keep_steers(&mut self, id: ThreadId) {
        let Ok(state) = self.world.thread(id) else { return };
        let Some(active) = state.active.as_ref().filter(|_| !state.thread.ephemeral) else {
            return;
        };
        let steers = active.unrecorded.iter().map(to_steer).collect();
        let change = Change::SteersSet(active.turn, steers);
        self.save(change);
    }
}

impl Threads {
    /// What was sent to the turn of a thread and is not taken up yet.
    pub(crate) fn undelivered_steers(&self, id: ThreadId) -> Vec<String> {
        let world = self.core.look();
        let active = world.threads.get(&id).and_then(|state| state.active.as_ref());
        let texts = active.into_iter().flat_map(|active| &active.unrecorded);
        texts.map(|message| message.text.clone()).collect()
    }

    /// What was said to a thread from a moment on.
    ///
    /// # Errors
    /// If there is no such thread, or it cannot be read.
    pub(crate) async fn user_texts_since(
        &self,
        id: ThreadId,
        at: Timestamp,
    ) -> Result<Vec<String>> {
        self.user_texts(id, |placed| placed.item.at >= at).await
    }

    /// What was said to a turn of a thread.
    ///
    /// # Errors
    /// If there is no such thread, or it cannot be read.
    pub(crate) async fn user_texts_of(&self, id: ThreadId, turn: TurnId) -> Result<Vec<String>> {
        self.user_texts(id, |placed| placed.turn == turn).await
    }

    async fn user_texts(
        &self,
        id: ThreadId,
        is_wanted: impl Fn(&Placed) -> bool,
    ) -> Result<Vec<String>> {
        let live = self.live(id).await?;
        let contents = live.read();
        let said = contents.items.iter().filter(|placed| is_wanted(placed));
        let said = said.filter_map(|placed| match &placed.item.body {
            ItemBody::User { text, .. } => Some(text.clone()),
            _ => None,
        });
        Ok(said.collect())
    }

    /// What was accepted for a turn before the last daemon ended.
    pub(super) async fn kept_steers(&self, turn: TurnId) -> Vec<Message> {
        let store = self.core.inner.store.clone();
        let kept = tokio::task::spawn_blocking(move || store.steers(turn)).await;
        let Ok(Ok(steers)) = kept else { return Vec::new() };
        steers.into_iter().map(from_steer).collect()
    }
}

fn to_steer(Message { text, images, context }: &Message) -> Steer {
    Steer { text: text.clone(), images: images.clone(), context: context.clone() }
}

fn from_steer(Steer { text, images, context }: Steer) -> Message {
    Message { text, images, context }
}
