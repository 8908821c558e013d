//! A thread with all that was said in it, in memory while it is used.

mod contents;
mod edit;

use std::sync::Arc;

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use rookery_agent::turn::Delta;
use rookery_model::{Item, ItemId, ThreadId, Trace, Turn, TurnId};
use rookery_store::ThreadContents;

pub(crate) use self::contents::{Contents, Placed};

/// A thread in use.
pub(crate) struct LiveThread {
    pub(crate) id: ThreadId,
    /// Shared with the transactions that may have to take back what they did to them.
    contents: Arc<RwLock<Contents>>,
    /// Records of it that could not be read.
    pub(crate) unreadable: u64,
}

impl LiveThread {
    pub(crate) fn new(id: ThreadId) -> Self {
        Self::with(id, Contents::default(), 0)
    }

    pub(crate) fn from_stored(id: ThreadId, stored: ThreadContents) -> Self {
        let unreadable = stored.skipped;
        Self::with(id, stored.into(), unreadable)
    }

    fn with(id: ThreadId, contents: Contents, unreadable: u64) -> Self {
        LiveThread { id, contents: Arc::new(RwLock::new(contents)), unreadable }
    }

    /// A thread that begins with turns and items of another one.
    pub(crate) fn copied(
        id: ThreadId,
        turns: Vec<Turn>,
        items: impl Iterator<Item = (TurnId, Item)>,
        traces: Vec<Trace>,
    ) -> Self {
        let mut contents = Contents::default();
        (contents.turns, contents.traces) = (turns, traces);
        for (turn, mut item) in items {
            contents.put(turn, &mut item);
        }
        Self::with(id, contents, 0)
    }

    /// The contents, for reading alone: [`Tx::edit`](crate::world::Tx::edit) changes what lasts.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Contents> {
        self.contents.read()
    }

    /// The contents for what a running turn streams, which is stored later or never.
    pub(crate) fn stream(&self) -> Stream<'_> {
        Stream(self.contents.write())
    }
}

/// Grows what is in progress, outside of transactions.
pub(crate) struct Stream<'a>(RwLockWriteGuard<'a, Contents>);

impl Stream<'_> {
    pub(crate) fn put(&mut self, turn: TurnId, item: &mut Item) {
        self.0.put(turn, item);
    }

    pub(crate) fn grow(&mut self, id: &ItemId, delta: &Delta) {
        self.0.grow(id, delta);
    }

    pub(crate) fn put_turn(&mut self, turn: &Turn) {
        self.0.put_turn(turn);
    }

    /// A number that no change of a file has yet.
    pub(crate) fn next_change(&mut self) -> u64 {
        self.0.next_change()
    }
}
