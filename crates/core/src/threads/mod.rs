//! Threads: conversations with agents. What they are, what is said in them, and their turns at work.
//!
//! The world knows every thread by its head; what was said in it is loaded while it is used. A turn is
//! one task that drives [`rookery_agent::turn::Turn`] and performs its effects.

mod approval;
mod asks;
mod assign;
mod attached;
mod cache;
mod calls;
mod child;
mod client_mode;
mod compact;
mod create;
mod delegate;
mod direct;
mod drain;
mod edit;
mod extras;
mod followed;
mod goal;
mod handed;
mod hooked;
mod items;
mod lifecycle;
mod limits;
mod list;
mod live;
mod mode;
mod output;
mod perform;
mod permit;
mod prompt;
mod queued;
mod restore;
mod room;
mod run;
mod status;
mod steers;
mod table;
mod tools;
mod turns;
mod wanted;
mod world;

use std::collections::VecDeque;
use std::sync::Arc;

use rookery_agent::policy::Remembered;
use rookery_agent::turn::Message;
use rookery_model::{Decision, Event, QueuedMessage, ThreadId, Timestamp, TurnId};
use rookery_store::Change;
use tokio::sync::Notify;

use self::cache::LiveThreads;
pub(crate) use self::client_mode::ClientModes;
pub use self::create::NewThread;
pub(crate) use self::delegate::is_awaited;
pub use self::direct::{DirectCall, DirectOutcome};
pub use self::drain::Drained;
pub use self::edit::Compacted;
pub use self::followed::{FollowedThread, PlacedItem};
pub use self::goal::GoalChange;
pub use self::lifecycle::{LifecycleState, TurnLifecycle};
pub use self::list::{ThreadPage, ThreadQuery};
pub(crate) use self::live::{Contents, LiveThread};
pub(crate) use self::restore::Interrupted;
pub(crate) use self::room::Room;
pub use self::status::{Flag, Status};
pub(crate) use self::table::ThreadTable;
use self::tools::Resumed;
pub use self::tools::{APPROVAL_DENIED, NO_ANSWER, POLICY_DENIED};
pub use self::turns::{NewTurn, StartedTurn, Steered};

use crate::log::ThreadChange;
use crate::rooms::Threads;
use crate::world::Tx;

/// A thread as the world knows it.
#[derive(Clone, Debug)]
pub(crate) struct ThreadState {
    pub(crate) thread: rookery_model::Thread,
    /// The turn that runs, or waits; [`ThreadTable::set_active`] sets it.
    pub(crate) active: Option<ActiveTurn>,
    /// Its status as it was last published.
    announced: Status,
    /// What may be done again without asking.
    pub(crate) remembered: Remembered,
    /// Messages that wait until the agent takes what a user says.
    pub(crate) queued: Arc<Vec<QueuedMessage>>,
    /// Artifacts whose images wait for the next turn; none if the store was not asked yet.
    pub(crate) attached: Option<Arc<Vec<String>>>,
    /// What was decided lately, if the thread is kept in memory only.
    pub(crate) decisions: VecDeque<Decision>,
}

/// A turn that runs, as others may reach it.
#[derive(Clone, Debug)]
pub(crate) struct ActiveTurn {
    pub(crate) turn: TurnId,
    pub(crate) is_interrupting: bool,
    /// Since when it is to stop.
    pub(crate) interrupted_at: Option<Timestamp>,
    /// Whether it is to stop because the daemon ends, and not because someone asked for it.
    pub(crate) is_shut_down: bool,
    /// What the user said since the task last looked.
    pub(crate) steers: Vec<Message>,
    /// What the user said and no item holds yet.
    pub(crate) unrecorded: Vec<Message>,
    /// Threads whose work its calls wait for.
    pub(crate) awaited: Vec<ThreadId>,
    /// Wakes the task.
    pub(crate) wake: Arc<Notify>,
    /// The connection of the client that started it, if it is one of this daemon's.
    pub(crate) client: Option<u64>,
}

impl ActiveTurn {
    fn new(turn: TurnId) -> Self {
        let wake = Arc::new(Notify::new());
        ActiveTurn {
            turn,
            is_interrupting: false,
            interrupted_at: None,
            is_shut_down: false,
            steers: Vec::new(),
            unrecorded: Vec::new(),
            awaited: Vec::new(),
            wake,
            client: None,
        }
    }
}

impl ThreadState {
    pub(crate) fn new(thread: rookery_model::Thread) -> Self {
        let (announced, remembered) = (Status::default(), Remembered::default());
        ThreadState {
            thread,
            active: None,
            announced,
            remembered,
            queued: Arc::default(),
            attached: None,
            decisions: VecDeque::new(),
        }
    }
}

/// A thread with its status, as it is shown.
#[derive(Clone, Debug)]
pub struct ThreadView {
    pub thread: rookery_model::Thread,
    /// What it does.
    pub status: Status,
    /// Since when the turn that runs is to stop.
    pub interrupted_at: Option<Timestamp>,
    /// Its turns with their items, if they were asked for.
    pub turns: Option<Vec<TurnView>>,
    /// Records that could not be read, as far as they were looked at.
    pub unreadable: u64,
    /// Messages that wait until the agent takes what a user says.
    pub queued: Vec<QueuedMessage>,
}

/// A turn with its items.
#[derive(Clone, Debug)]
pub struct TurnView {
    pub turn: rookery_model::Turn,
    /// Its items, in order.
    pub items: Vec<rookery_model::Item>,
}

impl Threads {
    /// What is wrong with the settings of agents.
    pub fn settings_warnings(&self) -> Vec<String> {
        self.core.inner.agents.config.warnings.clone()
    }
}

impl Tx<'_> {
    /// Stores a thread as it is now, unless it is kept in memory only.
    pub(crate) fn save_thread(&mut self, id: ThreadId) {
        let Ok(state) = self.world.thread_mut(id) else { return };
        crate::secrets::hide_in_thread(&mut state.thread);
        if !state.thread.ephemeral {
            let change = Change::ThreadUpserted(Box::new(state.thread.clone()));
            self.save(change);
        }
    }

    /// Says something in the log, unless the thread is kept in memory only.
    pub(crate) fn emit_of(&mut self, id: ThreadId, event: Event) {
        if self.world.thread(id).is_ok_and(|state| !state.thread.ephemeral) {
            self.emit(event);
        }
    }

    /// Tells the status of a thread if it changed.
    pub(crate) fn announce_status(&mut self, id: ThreadId) {
        let status = status::of(self.world, id);
        let Ok(state) = self.world.thread_mut(id) else { return };
        if state.announced != status {
            state.announced = status.clone();
            self.trace_waiting(id, &status);
            self.announce(id, ThreadChange::Status(status));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
