//! What of the world is kept in memory only, and may be changed without a transaction. What is stored
//! can be read here, and not changed.

use std::ops::Deref;
use std::sync::Arc;

use imbl::OrdSet;
use rookery_model::{ProjectId, QueuedMessage, RequestId, TerminalId, ThreadId, ViewerId};

use super::{Table, World};
use crate::core::Core;
use crate::requests::Parked;
use crate::seats::Viewer;
use crate::threads::ActiveTurn;

/// The world, of which only that may be changed which ends with the daemon.
pub(crate) struct InMemory<'a>(&'a mut World);

/// Who looks, and where.
pub(crate) struct Viewing<'a> {
    pub(crate) viewers: &'a mut Table<ViewerId, Viewer>,
    pub(crate) last_viewer: &'a mut ViewerId,
    pub(crate) desk: &'a mut Option<ViewerId>,
    pub(crate) window_focus: &'a mut Option<bool>,
}

impl InMemory<'_> {
    pub(crate) fn viewing(&mut self) -> Viewing<'_> {
        let World { viewers, last_viewer, desk, window_focus, .. } = &mut *self.0;
        Viewing { viewers, last_viewer, desk, window_focus }
    }

    pub(crate) fn acted_on(&mut self) -> &mut OrdSet<RequestId> {
        &mut self.0.acted_on
    }

    pub(crate) fn parked(&mut self) -> &mut Parked {
        &mut self.0.parked
    }

    /// The turn that runs in a thread.
    pub(crate) fn turn(&mut self, thread: ThreadId) -> Option<&mut ActiveTurn> {
        self.0.threads.get_mut(&thread)?.active.as_mut()
    }

    /// What waits for the next turn of a thread, as it was read from the store.
    pub(crate) fn attached(&mut self, thread: ThreadId) -> Option<&mut Option<Arc<Vec<String>>>> {
        Some(&mut self.0.threads.get_mut(&thread)?.attached)
    }

    /// The messages that wait in a thread, as they were read from the store.
    pub(crate) fn queued(&mut self, thread: ThreadId) -> Option<&mut Arc<Vec<QueuedMessage>>> {
        Some(&mut self.0.threads.get_mut(&thread)?.queued)
    }

    pub(crate) fn mint_terminal(&mut self) -> TerminalId {
        self.0.mint_terminal()
    }

    pub(crate) fn mint_project(&mut self) -> ProjectId {
        self.0.mint_project()
    }

    pub(crate) fn unmint(&mut self, id: TerminalId, new_project: Option<ProjectId>) {
        self.0.unmint(id, new_project);
    }
}

impl Deref for InMemory<'_> {
    type Target = World;

    fn deref(&self) -> &World {
        self.0
    }
}

impl Core {
    /// Changes what is kept in memory only: nothing is stored or sent, so it cannot fail.
    pub(crate) fn adjust<T>(&self, work: impl FnOnce(&mut InMemory<'_>) -> T) -> T {
        let held = self.hold();
        let mut world = World::clone(&held);
        let value = work(&mut InMemory(&mut world));
        held.replace(world);
        value
    }
}
