//! The queue: what asks for attention, the most urgent first.

use std::cmp::Reverse;
use std::time::Duration;

use rookery_model::{
    Category, Event, QueueItem, QueueItemId, Record, RecordKind, Related, Result, SessionId,
    Source, Timestamp,
};

use super::draw;
use crate::clock;
use crate::core::Core;
use crate::transact::Tx;

/// After so long nobody needs to know any more what was only good to know.
const EXPIRY: Duration = Duration::from_secs(12 * 60 * 60);
/// How long what was dealt with is kept.
const KEPT_RESOLVED: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How many items there may be, dealt with or not.
pub(super) const MAX_ITEMS: usize = 10_000;
/// How often the whole queue is looked through for what is past its time.
const SWEEP: Duration = Duration::from_secs(60);

/// An item to be filed.
#[derive(Clone, Debug)]
pub(crate) struct NewItem {
    pub(crate) session: SessionId,
    pub(crate) related: Option<Related>,
    pub(crate) category: Category,
    pub(crate) title: String,
    pub(crate) subtitle: Option<String>,
    pub(crate) source: Source,
}

impl Core {
    /// What nobody has dealt with, the most urgent first and the newest of one urgency before others.
    pub fn queue(&self) -> Vec<QueueItem> {
        let now = clock::wall();
        let world = self.inner.world.lock();
        let items = world.supervision.queue.values();
        let mut open: Vec<QueueItem> = items
            .filter(|item| item.resolved_at.is_none() && !has_expired(item, now))
            .cloned()
            .collect();
        open.sort_by_key(|item| (item.category, Reverse((item.created_at, item.order))));
        open
    }

    /// Somebody has dealt with an item. False if there is no such item, or it was dealt with before.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub async fn resolve_queue_item(&self, id: QueueItemId) -> Result<bool> {
        self.transact_durably(|tx| {
            let items = &tx.world.supervision.queue;
            let is_open = items.get(&id).is_some_and(|item| item.resolved_at.is_none());
            tx.resolve_items(|item| item.id == id);
            Ok(is_open)
        })
        .await
    }
}

impl Tx<'_> {
    /// Files an item. That a session is done is said once, as it was said last.
    pub(crate) fn file(&mut self, new: NewItem) -> QueueItemId {
        self.sweep_queue();
        if new.category == Category::Completed && new.related.is_none() {
            let session = new.session;
            self.resolve_items(|item| is_word(item, session, Category::Completed));
        }
        let NewItem { session, related, category, title, subtitle, source } = new;
        let item = QueueItem {
            id: QueueItemId::new(draw()),
            session,
            related,
            category,
            title,
            subtitle,
            source,
            created_at: clock::wall(),
            order: self.world.supervision.next_order(),
            is_pinned: false,
            resolved_at: None,
        };
        let id = item.id;
        self.keep(Record::Queue(item.clone()));
        self.emit(Event::QueueItemFiled(Box::new(item)));
        id
    }

    /// Files an item unless one of its urgency about the same thing waits already.
    pub(crate) fn file_once(&mut self, new: NewItem) {
        let is_same = |item: &QueueItem| {
            item.resolved_at.is_none()
                && item.category == new.category
                && item.related == new.related
                && (new.related.is_some() || item.session == new.session)
        };
        if !self.world.supervision.queue.values().any(is_same) {
            self.file(new);
        }
    }

    /// Whether an item that is wanted waits.
    pub(crate) fn has_open_item(&self, is_wanted: impl Fn(&QueueItem) -> bool) -> bool {
        let mut items = self.world.supervision.queue.values();
        items.any(|item| item.resolved_at.is_none() && is_wanted(item))
    }

    /// All items about one thing are dealt with.
    pub(crate) fn resolve_related(&mut self, related: Related) {
        self.resolve_items(|item| item.related == Some(related));
    }

    /// Items that wait and are wanted are dealt with.
    pub(crate) fn resolve_items(&mut self, is_wanted: impl Fn(&QueueItem) -> bool) {
        let items = self.world.supervision.queue.values();
        let wanted: Vec<QueueItem> =
            items.filter(|item| item.resolved_at.is_none() && is_wanted(item)).cloned().collect();
        for mut item in wanted {
            item.resolved_at = Some(clock::wall());
            let (id, session) = (item.id, item.session);
            self.keep(Record::Queue(item));
            self.emit(Event::QueueItemResolved { id, session });
        }
    }

    /// Lets go of what is past its time, now and then, and of the oldest if there is too much.
    fn sweep_queue(&mut self) {
        let now = clock::wall();
        let lists = &mut self.world.supervision;
        let is_due = age(lists.swept_at, now) >= SWEEP;
        if !is_due && lists.queue.len() < MAX_ITEMS {
            return;
        }
        lists.swept_at = now;
        let mut gone: Vec<QueueItemId> = (lists.queue.values())
            .filter(|item| has_expired(item, now) || is_forgotten(item, now))
            .map(|item| item.id)
            .collect();
        if lists.queue.len() - gone.len() >= MAX_ITEMS {
            let least = lists.queue.values().min_by_key(|item| {
                (item.resolved_at.is_none(), Reverse(item.category), item.order)
            });
            gone.extend(least.map(|item| item.id));
        }
        for id in gone {
            self.world.supervision.queue.remove(&id);
            self.forget(RecordKind::Queue, id.get());
        }
    }
}

/// Whether an item is a mere word of a session: about nothing that could be decided.
pub(super) fn is_word(item: &QueueItem, session: SessionId, category: Category) -> bool {
    item.session == session && item.related.is_none() && item.category == category
}

fn age(at: Timestamp, now: Timestamp) -> Duration {
    let micros = now.as_micros().saturating_sub(at.as_micros());
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

fn has_expired(item: &QueueItem, now: Timestamp) -> bool {
    item.category == Category::Informational
        && !item.is_pinned
        && item.resolved_at.is_none()
        && age(item.created_at, now) > EXPIRY
}

fn is_forgotten(item: &QueueItem, now: Timestamp) -> bool {
    item.resolved_at.is_some_and(|at| age(at, now) > KEPT_RESOLVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(category: Category) -> QueueItem {
        QueueItem {
            id: QueueItemId::new(1),
            session: SessionId::new(1),
            related: None,
            category,
            title: String::new(),
            subtitle: None,
            source: Source::Report,
            created_at: Timestamp::from_micros(0),
            order: 1,
            is_pinned: false,
            resolved_at: None,
        }
    }

    fn at(age: Duration) -> Timestamp {
        Timestamp::from_micros(i64::try_from(age.as_micros()).unwrap())
    }

    #[test]
    fn only_what_is_good_to_know_expires_and_not_a_moment_too_early() {
        let (in_time, late) = (at(EXPIRY), at(EXPIRY + Duration::from_micros(1)));
        for category in Category::ALL {
            assert!(!has_expired(&item(category), in_time));
            let expires = category == Category::Informational;
            assert_eq!(has_expired(&item(category), late), expires, "{category:?}");
        }
        let pinned = QueueItem { is_pinned: true, ..item(Category::Informational) };
        assert!(!has_expired(&pinned, late));
    }

    #[test]
    fn what_was_dealt_with_is_kept_for_a_month() {
        let resolved_at = Some(Timestamp::from_micros(0));
        let done = QueueItem { resolved_at, ..item(Category::Error) };
        assert!(!is_forgotten(&done, at(KEPT_RESOLVED)));
        assert!(is_forgotten(&done, at(KEPT_RESOLVED + Duration::from_micros(1))));
        assert!(!is_forgotten(&item(Category::Error), at(KEPT_RESOLVED * 2)));
    }
}
