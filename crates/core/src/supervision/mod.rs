//! Supervision: who waits for somebody, why, what was decided, and what goes back to the agent.
//!
//! The lists are part of the world and change in its transactions. What happens elsewhere reaches
//! them through the events of the same transaction (`observe`), so that no dialect has to think of
//! the queue. An approval is no list of its own here: it is a request, and the queue points at it.

mod accepted;
mod agent_events;
mod approvals;
mod attention;
mod checkpoints;
mod chosen;
mod create;
mod deliver;
mod dialogs;
mod handoffs;
mod import;
mod observe;
mod places;
mod recognise;
mod reviews;
mod sessions;
mod worktrees;

use imbl::{OrdMap, OrdSet};
use rookery_model::{
    Accepted, Checkpoint, CheckpointId, EventId, Handoff, HandoffId, Record, RecordKind, Review,
    ReviewId, TimelineItem,
};
use rookery_store::Change;

use crate::queue::{self, Items};
use crate::world::{Shared, Table, Tx};

pub use agent_events::{AgentEvent, AgentEventKind, Created};
pub use approvals::{Approval, ApprovalStatus, Decision};
pub use attention::{Reported, SessionNotice};
pub use checkpoints::{Compared, Difference, HeadChange, Keep, NewCheckpoint, Restored, What};
pub use create::{NewSession, ToolWish};
pub use dialogs::{AgentSeen, SeenDialog, Shown, Typing, Typist};
pub use handoffs::NewHandoff;
pub use import::{Import, Imported, Taken};
pub use reviews::{NewComment, NewReview};
pub use sessions::{Session, SessionError, SessionHome};
pub use worktrees::{
    Base, Conflict, How, LandOutcome, Landed, Landing, NewTree, Tree, TreeState, TreeWish,
};

pub(crate) use dialogs::DialogNote;

/// How many events of agents are remembered.
const MAX_HANDLED: usize = 100_000;
/// How many reviews, checkpoints and handoffs are kept of each.
const MAX_KEPT: usize = 10_000;

/// The lists of supervision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Supervision {
    pub(crate) queue: Items,
    pub(crate) reviews: Table<ReviewId, Review>,
    pub(crate) checkpoints: Table<CheckpointId, Checkpoint>,
    pub(crate) handoffs: Table<HandoffId, Handoff>,
    /// Lines by their number.
    pub(crate) timeline: Table<u64, TimelineItem>,
    handled: OrdMap<EventId, u64>,
    /// The same, oldest first.
    handled_in_order: OrdSet<(u64, EventId)>,
    last_order: u64,
    /// Work that the last daemon accepted and did not finish.
    pub(crate) unfinished: Shared<Vec<Accepted>>,
}

impl Supervision {
    /// The lists as they were kept.
    pub(crate) fn of(records: Vec<Record>) -> Supervision {
        let mut lists = Supervision::default();
        for record in records {
            lists.put(record);
        }
        lists
    }

    fn put(&mut self, record: Record) {
        match record {
            Record::Queue(item) => {
                self.last_order = self.last_order.max(item.order);
                self.queue.put(item);
            }
            Record::Review(review) => drop(self.reviews.insert(review.id, review)),
            Record::Checkpoint(one) => drop(self.checkpoints.insert(one.id, one)),
            Record::Handoff(handoff) => drop(self.handoffs.insert(handoff.id, handoff)),
            Record::Timeline(item) => {
                self.last_order = self.last_order.max(item.order);
                self.timeline.insert(item.order, item);
            }
            Record::Handled(event) => {
                self.last_order = self.last_order.max(event.order);
                self.handled.insert(event.id, event.order);
                self.handled_in_order.insert((event.order, event.id));
            }
            Record::Accepted(accepted) => self.unfinished.push(*accepted),
        }
    }

    /// A number larger than all given out so far.
    pub(crate) fn next_order(&mut self) -> u64 {
        self.last_order += 1;
        self.last_order
    }

    /// Whether this event of an agent was taken before.
    pub(crate) fn has_handled(&self, id: EventId) -> bool {
        self.handled.contains_key(&id)
    }

    /// The events that were taken, oldest first.
    pub(crate) fn handled(&self) -> impl Iterator<Item = EventId> {
        self.handled_in_order.iter().map(|(_, id)| *id)
    }
}

/// 128 bits that nobody drew before, in the order of time.
pub(crate) fn draw() -> u128 {
    uuid::Uuid::now_v7().as_u128()
}

impl Tx<'_> {
    /// Puts a record where it belongs and stores it.
    pub(crate) fn keep(&mut self, mut record: Record) {
        crate::secrets::hide_in_record(&mut record);
        self.world.supervision.put(record.clone());
        self.save(Change::RecordUpserted(Box::new(record)));
        self.drop_surplus();
    }

    /// Notes that an event of an agent was taken.
    pub(crate) fn note_handled(&mut self, id: EventId) {
        let order = self.world.supervision.next_order();
        self.keep(Record::Handled(rookery_model::HandledEvent { order, id }));
    }

    pub(crate) fn forget(&mut self, kind: RecordKind, id: u128) {
        self.save(Change::RecordDeleted(kind, id));
    }

    /// Lists do not grow for ever: what is over is let go first, the oldest of it.
    fn drop_surplus(&mut self) {
        let lists = &mut self.world.supervision;
        let mut gone = Vec::new();
        while lists.handled.len() > MAX_HANDLED
            && let Some(oldest) = lists.handled_in_order.get_min().copied()
        {
            lists.handled_in_order.remove(&oldest);
            let id = oldest.1;
            lists.handled.remove(&id);
            gone.push((RecordKind::Handled, id.get()));
        }
        while lists.timeline.len() > queue::MAX_LINES
            && let Some((_, line)) = lists.timeline.pop_first()
        {
            gone.push((RecordKind::Timeline, line.id.get()));
        }
        if lists.reviews.len() > MAX_KEPT {
            let settled = lists.reviews.values().find(|review| !reviews::is_open(review));
            let id = settled.map(|review| review.id).or(lists.reviews.keys().next().copied());
            gone.extend(id.map(|id| (RecordKind::Review, id.get())));
            id.and_then(|id| lists.reviews.remove(&id));
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
