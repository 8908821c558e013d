//! The one way to change the world: short, synchronous, all or nothing.

use std::sync::Arc;

use rookery_model::{Decider, Event, NumberedEvent, ProjectId, Result, TerminalId, ThreadId};
use rookery_store::{Batch, Change, MAX_QUEUED, Ticket};

use super::World;
use super::shared::WorldGuard;
use crate::clock;
use crate::core::Core;
use crate::log::NoticeBody;

/// A transaction in progress. Nothing of it leaves unless its closure succeeds.
pub(crate) struct Tx<'a> {
    pub(crate) core: &'a Core,
    pub(crate) world: &'a mut World,
    changes: Vec<Change>,
    events: Vec<Event>,
    notices: Vec<(Option<ThreadId>, NoticeBody)>,
    /// Whom decisions of this transaction are recorded for, besides their dialect.
    pub(crate) decider: Option<Decider>,
    after: Vec<Box<dyn FnOnce() + Send>>,
    visible: Vec<Box<dyn FnOnce()>>,
    undo: Undo,
}

/// How what a transaction did beside the world is taken back. Unless it is dismissed, that is done when it is
/// dropped, be it for an error or a panic.
#[derive(Default)]
pub(crate) struct Undo(Vec<Box<dyn FnOnce()>>);

impl Undo {
    pub(crate) fn push(&mut self, back: impl FnOnce() + 'static) {
        self.0.push(Box::new(back));
    }

    fn dismiss(mut self) {
        self.0.clear();
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        while let Some(back) = self.0.pop() {
            back();
        }
    }
}

/// What a transaction comes to, beside the changed world.
struct Made {
    changes: Vec<Change>,
    events: Vec<Event>,
    notices: Vec<(Option<ThreadId>, NoticeBody)>,
    after: Vec<Box<dyn FnOnce() + Send>>,
    visible: Vec<Box<dyn FnOnce()>>,
}

impl<'a> Tx<'a> {
    fn new(core: &'a Core, world: &'a mut World) -> Self {
        Self {
            core,
            world,
            changes: Vec::new(),
            events: Vec::new(),
            notices: Vec::new(),
            decider: None,
            after: Vec::new(),
            visible: Vec::new(),
            undo: Undo::default(),
        }
    }

    /// Draws the consequences of what was changed since `before`.
    fn finish(mut self, before: &World) -> Made {
        if !self.world.terminals.is_same(&before.terminals) {
            self.settle_layouts(before);
            self.settle_viewers();
        }
        let happened = std::mem::take(&mut self.events);
        let queue = self.core.queue();
        for event in &happened {
            queue.observe(&mut self, event);
        }
        self.events.splice(..0, happened);
        let Tx { changes, events, notices, after, visible, undo, .. } = self;
        undo.dismiss();
        Made { changes, events, notices, after, visible }
    }
}

impl Tx<'_> {
    /// Records that something happened; it is numbered and sent when it is durable.
    pub(crate) fn emit(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Records what is sent to those who follow threads, once all of this is durable.
    pub(crate) fn announce(
        &mut self,
        thread: impl Into<Option<ThreadId>>,
        notice: impl Into<NoticeBody>,
    ) {
        self.notices.push((thread.into(), notice.into()));
    }

    /// Does something once all of this is durable and published. It must be quick.
    pub(crate) fn afterwards(&mut self, work: impl FnOnce() + Send + 'static) {
        self.after.push(Box::new(work));
    }

    /// Does something once the world shows all of this, however long the store takes. It must be quick.
    pub(crate) fn once_visible(&mut self, work: impl FnOnce() + 'static) {
        self.visible.push(Box::new(work));
    }

    /// What is noted here is done if the transaction fails, the latest first.
    pub(crate) fn undo(&mut self) -> &mut Undo {
        &mut self.undo
    }

    /// Records a change to be stored.
    pub(crate) fn save(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// Stores a terminal as it is now.
    pub(crate) fn save_terminal(&mut self, id: TerminalId) {
        if let Some(terminal) = self.world.terminals.get(&id) {
            let change = Change::TerminalUpserted(Box::new(terminal.clone()));
            self.save(change);
        }
    }

    /// Stores a project as it is now.
    pub(crate) fn save_project(&mut self, id: ProjectId) {
        if let Ok(project) = self.world.project(id) {
            let change = Change::ProjectUpserted(project.clone());
            self.save(change);
        }
    }
}

impl Core {
    /// Runs `work` on a copy of the world, which takes its place if `work` succeeds. An error or a
    /// panic leaves everything as it was, and nothing is stored or sent.
    pub(crate) fn transact<T>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<(T, Ticket)> {
        let held = self.hold_for_change()?;
        let mut world = World::clone(&held);
        let mut tx = Tx::new(self, &mut world);
        let value = work(&mut tx)?;
        let made = tx.finish(&held);
        Ok((value, self.publish(held, world, made)))
    }

    // What follows is the same for every transaction and is not generic, so that the program has it once.

    /// Holds the world, unless the store has too much to do.
    fn hold_for_change(&self) -> Result<WorldGuard<'_>> {
        if self.inner.store.queued() >= MAX_QUEUED {
            return Err(rookery_model::Error::busy("the store cannot keep up; try again"));
        }
        Ok(self.hold())
    }

    /// Puts the changed world in place and hands what was made to the store.
    fn publish(&self, held: WorldGuard<'_>, mut world: World, made: Made) -> Ticket {
        let Made { changes, events, notices, after, visible } = made;
        let at = clock::wall();
        let numbered = events
            .into_iter()
            .map(|event| {
                let seq = world.next_event;
                world.next_event = seq.next();
                NumberedEvent { seq, at, event }
            })
            .collect();
        // Before notices are sent and waiters woken, so that they find the change.
        held.replace(world);
        visible.into_iter().for_each(|work| work());
        // Queued while the world is held, so that the store sees batches in commit order.
        let batch = Batch { changes, events: numbered };
        let store = &self.inner.store;
        if notices.is_empty() && after.is_empty() {
            return store.commit(batch);
        }
        let spine = Arc::clone(self.inner.log.spine());
        let tell = move || {
            for (thread, notice) in notices {
                spine.send(thread, [notice]);
            }
            after.into_iter().for_each(|work| work());
        };
        store.commit_then(batch, Box::new(tell))
    }

    /// Like [`Core::transact`], and waits until it is durable.
    pub(crate) async fn transact_durably<T>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        let (value, ticket) = self.transact(work)?;
        ticket.await?;
        Ok(value)
    }
}
