//! Threads by id, and those of them in which a turn runs: no transaction goes through all threads to
//! find the few that are at work.

use std::ops::Deref;

use imbl::OrdSet;
use rookery_model::ThreadId;

use super::{ActiveTurn, ThreadState};
use crate::world::Table;

/// All threads. Which turn runs in one is changed by [`ThreadTable::set_active`] alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadTable {
    all: Table<ThreadId, ThreadState>,
    running: OrdSet<ThreadId>,
}

impl ThreadTable {
    pub(crate) fn insert(&mut self, id: ThreadId, state: ThreadState) {
        match state.active {
            Some(_) => drop(self.running.insert(id)),
            None => drop(self.running.remove(&id)),
        }
        self.all.insert(id, state);
    }

    pub(crate) fn remove(&mut self, id: &ThreadId) -> Option<ThreadState> {
        self.running.remove(id);
        self.all.remove(id)
    }

    pub(crate) fn get_mut(&mut self, id: &ThreadId) -> Option<&mut ThreadState> {
        self.all.get_mut(id)
    }

    /// From now on this turn runs in a thread, or none does.
    pub(super) fn set_active(&mut self, id: ThreadId, active: Option<ActiveTurn>) {
        let Some(state) = self.all.get_mut(&id) else { return };
        match active {
            Some(_) => drop(self.running.insert(id)),
            None => drop(self.running.remove(&id)),
        }
        state.active = active;
    }

    /// The threads in which a turn runs, with it.
    pub(crate) fn running(&self) -> impl Iterator<Item = (ThreadId, &ThreadState, &ActiveTurn)> {
        self.running.iter().filter_map(|id| {
            let state = self.all.get(id)?;
            Some((*id, state, state.active.as_ref()?))
        })
    }
}

impl Deref for ThreadTable {
    type Target = Table<ThreadId, ThreadState>;

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl FromIterator<(ThreadId, ThreadState)> for ThreadTable {
    fn from_iter<I: IntoIterator<Item = (ThreadId, ThreadState)>>(threads: I) -> Self {
        let mut table = ThreadTable::default();
        threads.into_iter().for_each(|(id, state)| table.insert(id, state));
        table
    }
}
