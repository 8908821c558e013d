//! Changes of a thread's contents within a transaction. Each leaves a note of how it is taken back, so that
//! a transaction that fails changes nothing here either.

use std::sync::Arc;

use parking_lot::{RwLock, RwLockWriteGuard};
use rookery_agent::turn::Delta;
use rookery_model::{ChangeRecord, Item, ItemId, Trace, TraceId, Turn, TurnId};

use super::{Contents, LiveThread};
use crate::world::{Tx, Undo};

/// The contents of a thread, for one change after the other.
pub(crate) struct Editing<'a> {
    contents: RwLockWriteGuard<'a, Contents>,
    shared: &'a Arc<RwLock<Contents>>,
    undo: &'a mut Undo,
}

impl Tx<'_> {
    /// The contents of a thread, for changing.
    pub(crate) fn edit<'b>(&'b mut self, live: &'b LiveThread) -> Editing<'b> {
        Editing { contents: live.contents.write(), shared: &live.contents, undo: self.undo() }
    }
}

impl Editing<'_> {
    fn undo_by(&mut self, back: impl FnOnce(&mut Contents) + 'static) {
        let shared = Arc::clone(self.shared);
        self.undo.push(move || back(&mut shared.write()));
    }

    /// Puts an item in its place, or at the end if it is new, and notes there and in it when it began;
    /// gives the place.
    pub(crate) fn put(&mut self, turn: TurnId, item: &mut Item) -> u64 {
        match self.contents.placed(&item.id).cloned() {
            Some(old) => self.undo_by(|contents| contents.restore(old)),
            None => {
                let id = item.id.clone();
                self.undo_by(move |contents| contents.remove(&id));
            }
        }
        self.contents.put(turn, item)
    }

    /// Adds to an item that is in progress.
    pub(crate) fn grow(&mut self, id: &ItemId, delta: &Delta) {
        if let Some(old) = self.contents.placed(id).cloned() {
            self.undo_by(|contents| contents.restore(old));
        }
        self.contents.grow(id, delta);
    }

    pub(crate) fn put_turn(&mut self, turn: &Turn) {
        let (id, old) = (turn.id, self.contents.turn(turn.id).cloned());
        self.undo_by(move |contents| match old {
            Some(old) => contents.put_turn(&old),
            None => contents.turns.retain(|turn| turn.id != id),
        });
        self.contents.put_turn(turn);
    }

    pub(crate) fn put_trace(&mut self, trace: Trace) {
        let (id, old) = (trace.id, self.contents.trace(trace.id).cloned());
        self.undo_by(move |contents| match old {
            Some(old) => contents.put_trace(old),
            None => contents.traces.retain(|trace| trace.id != id),
        });
        self.contents.put_trace(trace);
    }

    /// Changes a trace that is not over, if there is one of this name; gives it as it is then.
    pub(crate) fn change_trace(
        &mut self,
        id: TraceId,
        change: impl FnOnce(&mut Trace),
    ) -> Option<Trace> {
        let old = self.contents.trace(id).filter(|it| !it.status.is_final())?.clone();
        self.undo_by(move |contents| contents.put_trace(old));
        let trace = self.contents.trace_mut(id)?;
        change(trace);
        Some(trace.clone())
    }

    /// A number that no change of a file has yet.
    pub(crate) fn next_change(&mut self) -> u64 {
        let number = self.contents.next_change();
        self.undo_by(move |contents| {
            if contents.last_change == number {
                contents.last_change -= 1;
            }
        });
        number
    }

    /// Puts what happened to files in its place.
    pub(crate) fn put_change(&mut self, record: Arc<ChangeRecord>) {
        let number = record.number();
        let old = self.contents.changes.iter().rev().find(|it| it.number() == number).cloned();
        self.undo_by(move |contents| match old {
            Some(old) => contents.put_change(old),
            None => contents.changes.retain(|it| it.number() != number),
        });
        self.contents.put_change(record);
    }

    /// Takes the oldest changes of files away.
    pub(crate) fn drop_changes(&mut self, count: usize) -> Vec<Arc<ChangeRecord>> {
        let gone: Vec<_> = self.contents.changes.drain(..count).collect();
        let back = gone.clone();
        self.undo_by(move |contents| drop(contents.changes.splice(..0, back)));
        gone
    }

    /// Takes the last turns away; gives them, and the names of their tools' items: those are not made
    /// from the turn's, so that they could come again.
    pub(crate) fn drop_turns(&mut self, count: usize) -> (Vec<Turn>, Vec<String>) {
        let before = self.contents.clone();
        self.undo_by(move |contents| *contents = before);
        self.contents.drop_turns(count)
    }

    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }
}
