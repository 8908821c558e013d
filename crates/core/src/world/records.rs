//! What is kept as records: queue items, the timeline, reviews, checkpoints, handoffs, events of agents
//! that were taken, and work that was accepted. One shape in the store, one table each in the world.

use imbl::{OrdMap, OrdSet};
use rookery_model::{EventId, Record, RecordKind};
use rookery_store::Change;

use super::{Tx, World};
use crate::queue;

/// How many events of agents are remembered.
pub(crate) const MAX_HANDLED: usize = 100_000;
/// How many reviews, checkpoints and handoffs are kept of each.
pub(crate) const MAX_KEPT: usize = 10_000;

/// Events of agents that were taken, so that none is taken twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handled {
    orders: OrdMap<EventId, u64>,
    oldest_first: OrdSet<(u64, EventId)>,
}

impl Handled {
    fn insert(&mut self, id: EventId, order: u64) {
        self.orders.insert(id, order);
        self.oldest_first.insert((order, id));
    }

    fn pop_oldest(&mut self) -> Option<EventId> {
        let oldest = self.oldest_first.get_min().copied()?;
        self.oldest_first.remove(&oldest);
        self.orders.remove(&oldest.1);
        Some(oldest.1)
    }

    pub(crate) fn len(&self) -> usize {
        self.orders.len()
    }

    pub(crate) fn contains(&self, id: EventId) -> bool {
        self.orders.contains_key(&id)
    }

    /// The events that were taken, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = EventId> {
        self.oldest_first.iter().map(|(_, id)| *id)
    }
}

impl World {
    /// Puts a record where it belongs.
    pub(crate) fn put(&mut self, record: Record) {
        match record {
            Record::Queue(item) => {
                self.last_order = self.last_order.max(item.order);
                self.queue.put(item);
            }
            Record::Review(review) => self.reviews.put(review),
            Record::Checkpoint(one) => drop(self.checkpoints.insert(one.id, one)),
            Record::Handoff(handoff) => drop(self.handoffs.insert(handoff.id, handoff)),
            Record::Timeline(item) => {
                self.last_order = self.last_order.max(item.order);
                self.timeline.insert(item.order, item);
            }
            Record::Handled(event) => {
                self.last_order = self.last_order.max(event.order);
                self.handled.insert(event.id, event.order);
            }
            Record::Accepted(accepted) => self.unfinished.push(*accepted),
        }
    }

    /// A number larger than all given out so far.
    pub(crate) fn next_order(&mut self) -> u64 {
        self.last_order += 1;
        self.last_order
    }
}

/// 128 bits that were never drawn before, in the order of time.
pub(crate) fn draw() -> u128 {
    uuid::Uuid::now_v7().as_u128()
}

impl Tx<'_> {
    /// Puts a record where it belongs and stores it.
    pub(crate) fn keep(&mut self, mut record: Record) {
        crate::secrets::hide_in_record(&mut record);
        self.world.put(record.clone());
        self.save(Change::RecordUpserted(Box::new(record)));
        self.drop_surplus();
    }

    /// Notes that an event of an agent was taken.
    pub(crate) fn note_handled(&mut self, id: EventId) {
        let order = self.world.next_order();
        self.keep(Record::Handled(rookery_model::HandledEvent { order, id }));
    }

    pub(crate) fn forget(&mut self, kind: RecordKind, id: u128) {
        self.save(Change::RecordDeleted(kind, id));
    }

    /// Lists do not grow for ever: what is over is let go first, the oldest of it.
    fn drop_surplus(&mut self) {
        let lists = &mut *self.world;
        let mut gone = Vec::new();
        while lists.handled.len() > MAX_HANDLED
            && let Some(id) = lists.handled.pop_oldest()
        {
            gone.push((RecordKind::Handled, id.get()));
        }
        while lists.timeline.len() > queue::MAX_LINES
            && let Some((_, line)) = lists.timeline.pop_first()
        {
            gone.push((RecordKind::Timeline, line.id.get()));
        }
        if lists.reviews.len() > MAX_KEPT
            && let Some(id) = lists.reviews.least()
        {
            lists.reviews.remove(id);
            gone.push((RecordKind::Review, id.get()));
        }
        if lists.handoffs.len() > MAX_KEPT
            && let Some((id, _)) = lists.handoffs.pop_first()
        {
            gone.push((RecordKind::Handoff, id.get()));
        }
        if lists.checkpoints.len() > MAX_KEPT
            && let Some((id, _)) = lists.checkpoints.pop_first()
        {
            gone.push((RecordKind::Checkpoint, id.get()));
        }
        for (kind, id) in gone {
            self.forget(kind, id);
        }
    }
}
