//! What the user said to a running turn and no item holds yet: kept, since it was accepted.

use rookery_agent::turn::Message;
use rookery_model::{ThreadId, TurnId};
use rookery_store::{Change, Kept};
use serde_json::{Value, json};

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

    /// The oldest message that was accepted is an item now.
    pub(super) fn record_steer(&mut self, id: ThreadId, turn: TurnId) {
        let Ok(state) = self.world.thread_mut(id) else { return };
        let active = state.active.as_mut().filter(|active| active.turn == turn);
        let Some(active) = active.filter(|active| !active.unrecorded.is_empty()) else { return };
        active.unrecorded.remove(0);
        self.keep_steers(id);
    }

    fn keep_steers(&mut self, id: ThreadId) {
        let Ok(state) = self.world.thread(id) else { return };
        let Some(active) = state.active.as_ref().filter(|_| !state.thread.ephemeral) else {
            return;
        };
        let list: Vec<Value> = active.unrecorded.iter().map(to_json).collect();
        let value = (!list.is_empty()).then(|| Value::Array(list).to_string());
        let change = Change::KeptSet { what: Kept::Steers(active.turn), value };
        self.save(change);
    }
}

impl Threads {
    /// What was accepted for a turn before the last daemon ended.
    pub(super) async fn kept_steers(&self, turn: TurnId) -> Vec<Message> {
        let store = self.core.inner.store.clone();
        let kept = tokio::task::spawn_blocking(move || store.kept(&Kept::Steers(turn))).await;
        let Ok(Ok(Some(text))) = kept else { return Vec::new() };
        let list: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        list.iter().map(from_json).collect()
    }
}

fn to_json(message: &Message) -> Value {
    json!({ "text": message.text, "images": message.images, "context": message.context })
}

fn from_json(value: &Value) -> Message {
    let texts = |name: &str| {
        let list = value.get(name).and_then(Value::as_array);
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    };
    let text = value.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    Message { text, images: texts("images"), context: texts("context") }
}
