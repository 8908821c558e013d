//! The items of the queue and the orders in which they are looked for, so that no transaction goes
//! through all that was ever filed.

use std::cmp::Reverse;
use std::time::Duration;

use imbl::OrdSet;
use rookery_model::{Category, QueueItem, QueueItemId, Related, SessionId, Timestamp};

use crate::world::Table;

/// After this time an item that was only good to know is dropped.
const EXPIRY: Duration = Duration::from_secs(12 * 60 * 60);
/// How long resolved items are kept.
const KEPT_RESOLVED: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How many items there may be, open and resolved together.
pub(crate) const MAX_ITEMS: usize = 10_000;

/// What goes first when there are too many: resolved before open, the least urgent before others, and
/// of those the oldest.
type Rank = (bool, Reverse<Category>, u64, QueueItemId);

/// All items, open and resolved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Items {
    all: Table<QueueItemId, QueueItem>,
    open: OrdSet<(Option<SessionId>, QueueItemId)>,
    open_about: OrdSet<(Related, QueueItemId)>,
    /// Open items that expire, by their age.
    expiring: OrdSet<(Timestamp, QueueItemId)>,
    resolved: OrdSet<(Timestamp, QueueItemId)>,
    ranks: OrdSet<Rank>,
}

impl Items {
    /// Puts an item in, or one with the same id in its place.
    pub(crate) fn put(&mut self, item: QueueItem) {
        self.remove(item.id);
        let id = item.id;
        self.ranks.insert(rank(&item));
        match item.resolved_at {
            Some(at) => drop(self.resolved.insert((at, id))),
            None => {
                self.open.insert((item.session, id));
                if let Some(related) = item.related {
                    self.open_about.insert((related, id));
                }
                if can_expire(&item) {
                    self.expiring.insert((item.created_at, id));
                }
            }
        }
        self.all.insert(id, item);
    }

    /// Whether one is an unchanged copy of the other.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.all.is_same(&other.all)
    }

    pub(crate) fn remove(&mut self, id: QueueItemId) -> Option<QueueItem> {
        let item = self.all.remove(&id)?;
        self.ranks.remove(&rank(&item));
        match item.resolved_at {
            Some(at) => drop(self.resolved.remove(&(at, id))),
            None => {
                self.open.remove(&(item.session, id));
                if let Some(related) = item.related {
                    self.open_about.remove(&(related, id));
                }
                self.expiring.remove(&(item.created_at, id));
            }
        }
        Some(item)
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn contains(&self, id: QueueItemId) -> bool {
        self.all.contains_key(&id)
    }

    /// An item that is not resolved.
    pub(crate) fn open_item(&self, id: QueueItemId) -> Option<&QueueItem> {
        self.all.get(&id).filter(|item| item.resolved_at.is_none())
    }

    /// All open items that have not expired.
    pub(crate) fn open(&self, now: Timestamp) -> impl Iterator<Item = &QueueItem> {
        let items = self.open.iter().filter_map(|(_, id)| self.all.get(id));
        items.filter(move |item| !has_expired(item, now))
    }

    /// The open items of a session, or those of none.
    pub(crate) fn open_of(&self, session: Option<SessionId>) -> impl Iterator<Item = &QueueItem> {
        let (first, last) = (QueueItemId::new(0), QueueItemId::new(u128::MAX));
        let found = self.open.range((session, first)..=(session, last));
        found.filter_map(|(_, id)| self.all.get(id))
    }

    /// The open items about one thing.
    pub(crate) fn open_about(&self, related: Related) -> impl Iterator<Item = &QueueItem> {
        let (first, last) = (QueueItemId::new(0), QueueItemId::new(u128::MAX));
        let found = self.open_about.range((related, first)..=(related, last));
        found.filter_map(|(_, id)| self.all.get(id))
    }

    /// What open items are about.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = Related> {
        self.open_about.iter().map(|(related, _)| *related)
    }

    /// Items to be dropped before another is filed: those past their time, and the least of all if
    /// there are too many.
    pub(super) fn surplus(&self, now: Timestamp) -> Vec<QueueItemId> {
        let expired = self.expiring.iter().take_while(|(at, _)| age(*at, now) > EXPIRY);
        let forgotten = self.resolved.iter().take_while(|(at, _)| age(*at, now) > KEPT_RESOLVED);
        let mut gone: Vec<QueueItemId> = expired.chain(forgotten).map(|(_, id)| *id).collect();
        let mut ranks = self.ranks.iter().map(|(.., id)| *id);
        while self.all.len() - gone.len() >= MAX_ITEMS
            && let Some(least) = ranks.next()
        {
            if !gone.contains(&least) {
                gone.push(least);
            }
        }
        gone
    }
}

fn rank(item: &QueueItem) -> Rank {
    (item.resolved_at.is_none(), Reverse(item.category), item.order, item.id)
}

fn can_expire(item: &QueueItem) -> bool {
    item.category == Category::Informational && !item.is_pinned && item.resolved_at.is_none()
}

fn has_expired(item: &QueueItem, now: Timestamp) -> bool {
    can_expire(item) && age(item.created_at, now) > EXPIRY
}

fn age(at: Timestamp, now: Timestamp) -> Duration {
    let micros = now.as_micros().saturating_sub(at.as_micros());
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use rookery_model::{RequestId, Source};

    use super::*;

    fn item(id: u128, category: Category) -> QueueItem {
        QueueItem {
            id: QueueItemId::new(id),
            session: Some(SessionId::new(1)),
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

    fn gone(items: &[QueueItem], now: Timestamp) -> Vec<u128> {
        let mut all = Items::default();
        items.iter().cloned().for_each(|item| all.put(item));
        all.surplus(now).into_iter().map(QueueItemId::get).collect()
    }

    #[test]
    fn only_what_is_good_to_know_expires_and_not_a_moment_too_early() {
        let (in_time, late) = (at(EXPIRY), at(EXPIRY + Duration::from_micros(1)));
        for category in Category::ALL {
            assert!(gone(&[item(1, category)], in_time).is_empty());
            let expires = category == Category::Informational;
            assert_eq!(gone(&[item(1, category)], late), &[1][..usize::from(expires)]);
        }
        let pinned = QueueItem { is_pinned: true, ..item(1, Category::Informational) };
        assert!(gone(&[pinned], late).is_empty());
    }

    #[test]
    fn resolved_items_are_kept_for_a_month() {
        let resolved_at = Some(Timestamp::from_micros(0));
        let done = QueueItem { resolved_at, ..item(1, Category::Error) };
        assert!(gone(std::slice::from_ref(&done), at(KEPT_RESOLVED)).is_empty());
        assert_eq!(gone(&[done], at(KEPT_RESOLVED + Duration::from_micros(1))), [1]);
        assert!(gone(&[item(1, Category::Error)], at(KEPT_RESOLVED * 2)).is_empty());
    }

    #[test]
    fn the_least_goes_first_when_there_are_too_many() {
        let now = Timestamp::from_micros(1);
        let mut all = Items::default();
        for id in 0..MAX_ITEMS as u128 {
            all.put(QueueItem { order: id as u64, ..item(id, Category::Error) });
        }
        assert_eq!(all.surplus(now), [QueueItemId::new(0)]);
        all.put(QueueItem { order: 50, ..item(50, Category::Informational) });
        assert_eq!(all.surplus(now), [QueueItemId::new(50)]);
        let done = QueueItem { order: 70, resolved_at: Some(now), ..item(70, Category::Error) };
        all.put(done);
        assert_eq!(all.surplus(now), [QueueItemId::new(70)]);
    }

    /// Every order finds what a search through all items finds.
    #[test]
    fn orders_agree_with_the_items() {
        let mut random = 88_172_645_463_325_252_u64;
        let mut next = |bound: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % bound
        };
        let mut all = Items::default();
        for step in 0..5_000_u64 {
            let id = QueueItemId::new(u128::from(next(200)));
            if next(4) == 0 {
                all.remove(id);
                continue;
            }
            let related = (next(2) == 0).then(|| Related::Request(RequestId::new(next(5).into())));
            let category = Category::ALL[next(Category::ALL.len() as u64) as usize];
            all.put(QueueItem {
                id,
                session: (next(8) > 0).then(|| SessionId::new(next(7).into())),
                related,
                order: step,
                created_at: Timestamp::from_micros(next(1_000) as i64),
                resolved_at: (next(2) == 0).then(|| Timestamp::from_micros(next(1_000) as i64)),
                is_pinned: next(3) == 0,
                ..item(0, category)
            });
            let ids = |items: Vec<&QueueItem>| {
                let mut ids: Vec<_> = items.into_iter().map(|item| item.id).collect();
                ids.sort_unstable();
                ids
            };
            let is_open = |item: &&QueueItem| item.resolved_at.is_none();
            let session = (next(8) > 0).then(|| SessionId::new(next(7).into()));
            let scanned = all.all.values().filter(is_open).filter(|item| item.session == session);
            assert_eq!(ids(all.open_of(session).collect()), ids(scanned.collect()));
            let about = Related::Request(RequestId::new(next(5).into()));
            let scanned = all.all.values().filter(is_open).filter(|it| it.related == Some(about));
            assert_eq!(ids(all.open_about(about).collect()), ids(scanned.collect()));
            let (open, resolved) = (all.open.len(), all.resolved.len());
            assert_eq!(open + resolved, all.len());
            assert_eq!((all.ranks.len(), all.all.len()), (all.len(), all.len()));
            let expiring = all.all.values().filter(|item| can_expire(item)).count();
            assert_eq!(all.expiring.len(), expiring);
        }
    }
}
