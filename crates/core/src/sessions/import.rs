//! Taking over what another program kept: records with ids, dates and states of their own.
//!
//! Nothing that is here already changes, and nothing that is taken over is news: only what a person
//! has to deal with is reported.

use std::cmp::Reverse;
use std::collections::HashSet;

use rookery_model::{
    Category, Checkpoint, Event, EventId, Handoff, QueueItem, Record, RecordKind, Related, Request,
    RequestState, Result, Review, Source, TimelineItem, TimelineItemId, Timestamp,
};
use rookery_store::Change;

use crate::queue::{self, NewItem};
use crate::requests::Approval;
use crate::rooms::Sessions;
use crate::world::MAX_HANDLED;
use crate::world::MAX_KEPT;
use crate::world::Tx;

/// Approvals that wait, or were decided, which are taken over at most.
const MAX_APPROVALS: usize = 500;

/// What is to be taken over. Numbers of order are given here; those within do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// Items of the queue.
    pub queue: Vec<QueueItem>,
    /// Lines of the timeline.
    pub timeline: Vec<TimelineItem>,
    pub checkpoints: Vec<Checkpoint>,
    pub handoffs: Vec<Handoff>,
    pub reviews: Vec<Review>,
    /// Requests of sessions; their answers are not waited for.
    pub approvals: Vec<Request>,
    /// Events of agents that were taken.
    pub handled: Vec<EventId>,
}

/// What became of one list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// How many were taken over.
    pub taken: usize,
    /// How many were here already.
    pub known: usize,
    /// How many there was no room for, the oldest ones.
    pub surplus: usize,
}

/// What became of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Items of the queue.
    pub queue: Taken,
    /// Lines of the timeline.
    pub timeline: Taken,
    pub checkpoints: Taken,
    pub handoffs: Taken,
    pub reviews: Taken,
    pub approvals: Taken,
    /// Events of agents.
    pub handled: Taken,
}

impl Sessions {
    /// Takes over what is not here yet, all of it or nothing.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub async fn import(&self, import: Import) -> Result<Imported> {
        self.core
            .transact_durably(|tx| {
                let (import, counts) = select(import, tx.world);
                tx.take_over(import);
                Ok(counts)
            })
            .await
    }

    /// What [`Sessions::import`] would do.
    pub fn preview_import(&self, import: Import) -> Imported {
        select(import, &self.core.look()).1
    }
}

/// Leaves of an import what is new and has room, oldest first.
fn select(import: Import, world: &crate::world::World) -> (Import, Imported) {
    let lists = world;
    let lines: HashSet<TimelineItemId> = lists.timeline.values().map(|line| line.id).collect();
    let mut counts = Imported::default();
    let room = |most: usize, now: usize| most.saturating_sub(now);
    let is_request = |id| world.requests.contains(id) || world.settled.contains_key(&id);
    let handled_room = room(MAX_HANDLED, lists.handled.len());
    let import = Import {
        queue: fresh(
            import.queue,
            room(queue::MAX_ITEMS, lists.queue.len()),
            |one| (one.created_at, one.id),
            |one| lists.queue.contains(one.id),
            &mut counts.queue,
        ),
        timeline: fresh(
            import.timeline,
            queue::MAX_LINES,
            |one| (one.created_at, one.id),
            |one| lines.contains(&one.id),
            &mut counts.timeline,
        ),
        checkpoints: fresh(
            import.checkpoints,
            room(MAX_KEPT, lists.checkpoints.len()),
            |one| (one.created_at, one.id),
            |one| lists.checkpoints.contains_key(&one.id),
            &mut counts.checkpoints,
        ),
        handoffs: fresh(
            import.handoffs,
            room(MAX_KEPT, lists.handoffs.len()),
            |one| (one.created_at, one.id),
            |one| lists.handoffs.contains_key(&one.id),
            &mut counts.handoffs,
        ),
        reviews: fresh(
            import.reviews,
            room(MAX_KEPT, lists.reviews.len()),
            |one| (one.created_at, one.id),
            |one| lists.reviews.contains_key(&one.id),
            &mut counts.reviews,
        ),
        approvals: fresh(
            import.approvals,
            MAX_APPROVALS,
            |one| (one.asked_at, one.id),
            |one| is_request(one.id),
            &mut counts.approvals,
        ),
        // They have no dates; the last ones are the newest.
        handled: fresh(
            import.handled,
            handled_room,
            |id| (Timestamp::from_micros(0), *id),
            |id| lists.handled.contains(*id),
            &mut counts.handled,
        ),
    };
    (import, counts)
}

/// The newest elements that are not known, oldest first. Of two with one id the later one counts.
fn fresh<T, I: Ord + Copy>(
    list: Vec<T>,
    room: usize,
    key: impl Fn(&T) -> (Timestamp, I),
    is_known: impl Fn(&T) -> bool,
    count: &mut Taken,
) -> Vec<T> {
    let mut seen = std::collections::BTreeSet::new();
    let (mut known, mut new) = (0, Vec::new());
    for one in list.into_iter().rev() {
        match seen.insert(key(&one).1) && !is_known(&one) {
            true => new.push(one),
            false => known += 1,
        }
    }
    // Stable: what has one date stays as it came.
    new.sort_by_key(|one| Reverse(key(one).0));
    let surplus = new.len().saturating_sub(room);
    new.truncate(room);
    new.reverse();
    *count = Taken { taken: new.len(), known, surplus };
    new
}

impl Tx<'_> {
    fn take_over(&mut self, import: Import) {
        let Import { queue, timeline, checkpoints, handoffs, reviews, approvals, handled } = import;
        for id in handled {
            self.note_handled(id);
        }
        checkpoints.into_iter().for_each(|one| self.keep(Record::Checkpoint(one)));
        handoffs.into_iter().for_each(|one| self.keep(Record::Handoff(one)));
        reviews.into_iter().for_each(|one| self.keep(Record::Review(one)));
        for item in queue {
            let item = QueueItem { order: self.world.next_order(), ..item };
            self.keep(Record::Queue(item.clone()));
            if item.resolved_at.is_none() {
                self.emit(Event::QueueItemFiled(Box::new(item)));
            }
        }
        self.merge_timeline(timeline);
        approvals.into_iter().for_each(|request| self.take_approval(request));
    }

    /// Puts lines among those that are here, by their dates.
    fn merge_timeline(&mut self, lines: Vec<TimelineItem>) {
        if lines.is_empty() {
            return;
        }
        let here = &mut self.world.timeline;
        let mut all: Vec<TimelineItem> =
            lines.into_iter().chain(std::mem::take(here).values().cloned()).collect();
        all.sort_by_key(|line| line.created_at);
        let surplus = all.len().saturating_sub(queue::MAX_LINES);
        for gone in all.drain(..surplus) {
            self.forget(RecordKind::Timeline, gone.id.get());
        }
        for line in all {
            let order = self.world.next_order();
            self.keep(Record::Timeline(TimelineItem { order, ..line }));
        }
    }

    fn take_approval(&mut self, request: Request) {
        self.save(Change::RequestUpserted(Box::new(request.clone())));
        if request.state != RequestState::Pending {
            self.archive(request);
            return;
        }
        self.world.requests.insert(request.clone());
        if let Some(approval) = Approval::of(&request) {
            // What waits for a decision is in the queue, even if it was looked at elsewhere.
            self.file_once(NewItem {
                session: approval.session,
                related: Some(Related::Request(request.id)),
                category: Category::ApprovalNeeded,
                title: approval.title,
                subtitle: Some(approval.summary),
                source: Source::Report,
            });
        }
        self.emit(Event::RequestOpened(Box::new(request)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(list: &[(i64, u32)], room: usize, known: &[u32]) -> (Vec<(i64, u32)>, Taken) {
        let mut count = Taken::default();
        let key = |one: &(i64, u32)| (Timestamp::from_micros(one.0), one.1);
        let list = fresh(list.to_vec(), room, key, |one| known.contains(&one.1), &mut count);
        (list, count)
    }

    #[test]
    fn the_newest_that_are_not_known_are_taken_oldest_first() {
        let list = [(5, 1), (3, 2), (4, 3), (5, 4)];
        let (all, count) = taken(&list, 9, &[3]);
        assert_eq!(all, [(3, 2), (5, 1), (5, 4)]);
        assert_eq!(count, Taken { taken: 3, known: 1, surplus: 0 });
        let (newest, count) = taken(&list, 2, &[]);
        assert_eq!(newest, [(5, 1), (5, 4)]);
        assert_eq!(count, Taken { taken: 2, known: 0, surplus: 2 });
    }

    #[test]
    fn of_two_with_one_id_the_later_one_counts() {
        let (one, count) = taken(&[(1, 7), (2, 7)], 9, &[]);
        assert_eq!((one, count.known), (vec![(2, 7)], 1));
    }
}
