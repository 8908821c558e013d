//! What the room keeps beside the world: messages that wait, and tasks that run.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use rookery_model::TaskId;
use rookery_tasks::Message;
use tokio_util::sync::CancellationToken;

use super::output::Output;
use crate::workflows::ClientGrant;

/// How many tasks run at once unless the settings say otherwise.
pub const USUAL_RUNNING_TASKS: usize = 4;

/// The queue and what runs.
pub(crate) struct Room {
    pub(super) limit: usize,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// The number of the newest message.
    pub(super) last_message: u64,
    /// Messages that wait for a free place, oldest first.
    pub(super) waiting: VecDeque<Message>,
    /// Places that are taken.
    pub(super) taken: usize,
    /// For whom tasks that are not over are done; what is lent ends with the daemon.
    pub(super) grants: HashMap<TaskId, ClientGrant>,
    /// Attempts that are at work.
    pub(super) live: HashMap<TaskId, Live>,
    /// Whether messages are handed out; not before all of the last daemon's tasks were looked at.
    pub(super) is_open: bool,
}

/// An attempt at work.
#[derive(Clone)]
pub(super) struct Live {
    pub(super) epoch: u64,
    /// Raised when it is not wanted any more.
    pub(super) stop: CancellationToken,
    pub(super) output: Arc<Output>,
}

impl Room {
    pub(crate) fn new(limit: usize) -> Room {
        Room { limit: limit.max(1), state: Mutex::default() }
    }

    pub(super) fn live(&self, id: TaskId) -> Option<Live> {
        self.state.lock().live.get(&id).cloned()
    }

    /// A number that no message of this daemon had.
    pub(super) fn next_message(&self) -> u64 {
        let mut state = self.state.lock();
        state.last_message += 1;
        state.last_message
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        self.state.lock().waiting.len()
    }
}

impl State {
    /// Has a message wait again, before all that came after it.
    pub(super) fn put_back(&mut self, message: Message) {
        let place = self.waiting.partition_point(|other| other.number < message.number);
        self.waiting.insert(place, message);
    }

    /// Takes a place for the oldest message that waits.
    pub(super) fn take(&mut self, limit: usize) -> Option<Message> {
        if !self.is_open || self.taken >= limit {
            return None;
        }
        let message = self.waiting.pop_front()?;
        self.taken += 1;
        Some(message)
    }
}
