//! A thread that a client reads while it goes on: its items as they are at each moment.

use std::sync::Arc;

use rookery_model::{Item, ItemId, ItemStatus, Result, ThreadId, TurnId};

use super::live::{LiveThread, Placed};
use crate::rooms::Threads;

/// A thread that is kept in memory for as long as it is followed. What notices say is in its items
/// before they are sent.
pub struct FollowedThread {
    live: Arc<LiveThread>,
}

/// An item with its place in the thread.
#[derive(Clone, Debug)]
pub struct PlacedItem {
    /// The turn that it belongs to.
    pub turn: TurnId,
    /// Items come in the order of these.
    pub position: u64,
    /// It itself, as far as it is.
    pub item: Item,
}

impl From<&Placed> for PlacedItem {
    fn from(placed: &Placed) -> Self {
        PlacedItem { turn: placed.turn, position: placed.position, item: placed.item.clone() }
    }
}

impl Threads {
    /// Begins to follow a thread.
    pub async fn follow(&self, id: ThreadId) -> Result<FollowedThread> {
        Ok(FollowedThread { live: self.live(id).await? })
    }
}

impl FollowedThread {
    /// Which one.
    pub fn id(&self) -> ThreadId {
        self.live.id
    }

    /// An item, if it is shown.
    pub fn item(&self, id: &ItemId) -> Option<PlacedItem> {
        let contents = self.live.read();
        contents.placed(id).filter(|placed| placed.item.is_shown()).map(PlacedItem::from)
    }

    /// The item of a tool's call in a turn.
    pub fn item_of_call(&self, turn: Option<TurnId>, call: &str) -> Option<ItemId> {
        self.live.read().tool(turn, call).map(|placed| placed.item.id.clone())
    }

    /// Items that go on.
    pub fn in_progress(&self) -> Vec<ItemId> {
        let contents = self.live.read();
        let open = contents.items.iter().filter(|it| it.item.status == ItemStatus::InProgress);
        open.map(|placed| placed.item.id.clone()).collect()
    }

    /// The newest items, this many at most.
    pub fn newest(&self, most: usize) -> Vec<ItemId> {
        let contents = self.live.read();
        let shown = contents.items.iter().rev().filter(|placed| placed.item.is_shown());
        shown.take(most).map(|placed| placed.item.id.clone()).collect()
    }
}
