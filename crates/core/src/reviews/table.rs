//! Reviews and the orders in which they are looked for, so that no transaction goes through all that
//! were ever asked for.

use std::ops::Deref;

use imbl::OrdSet;
use rookery_model::{Review, ReviewId, ReviewedPlan, ThreadId};

use super::is_open;
use crate::world::Table;

/// All reviews.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReviewTable {
    all: Table<ReviewId, Review>,
    /// Reviews of plans, by the thread whose plan it is.
    plans: OrdSet<(ThreadId, ReviewId)>,
    /// Reviews that are not open.
    settled: OrdSet<ReviewId>,
}

impl ReviewTable {
    /// Puts a review in, or one with the same id in its place.
    pub(crate) fn put(&mut self, review: Review) {
        let id = review.id;
        self.remove(id);
        if let Some(plan) = &review.plan {
            self.plans.insert((plan.thread, id));
        }
        if !is_open(&review) {
            self.settled.insert(id);
        }
        self.all.insert(id, review);
    }

    pub(crate) fn remove(&mut self, id: ReviewId) -> Option<Review> {
        let review = self.all.remove(&id)?;
        if let Some(plan) = &review.plan {
            self.plans.remove(&(plan.thread, id));
        }
        self.settled.remove(&id);
        Some(review)
    }

    /// The review to be let go when there are too many: the oldest that is settled, else the oldest.
    pub(crate) fn least(&self) -> Option<ReviewId> {
        self.settled.get_min().or_else(|| self.all.keys().next()).copied()
    }

    /// The plans of a thread with their reviews, oldest first.
    pub(super) fn plans_of(
        &self,
        thread: ThreadId,
    ) -> impl Iterator<Item = (&Review, &ReviewedPlan)> {
        let (first, last) = (ReviewId::new(0), ReviewId::new(u128::MAX));
        let found = self.plans.range((thread, first)..=(thread, last));
        found.filter_map(|(_, id)| {
            let review = self.all.get(id)?;
            Some((review, review.plan.as_deref()?))
        })
    }
}

impl Deref for ReviewTable {
    type Target = Table<ReviewId, Review>;

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use rookery_model::{
        Differences, PlanKey, PlanStage, RequestId, ReviewStatus, SessionId, Timestamp, TurnId,
    };

    use super::*;

    fn review(id: u128, thread: Option<u128>, status: ReviewStatus) -> Review {
        let plan = thread.map(|thread| {
            Box::new(ReviewedPlan {
                key: PlanKey::Request(RequestId::new(id)),
                thread: ThreadId::new(thread),
                turn: TurnId::new(1),
                stage: PlanStage::AwaitingReview,
                title: String::new(),
                markdown: String::new(),
                steps: Vec::new(),
                rewrites: Vec::new(),
                undelivered: Vec::new(),
                updated_at: Timestamp::default(),
            })
        });
        Review {
            id: ReviewId::new(id),
            place: SessionId::new(1).into(),
            checkpoint: None,
            created_at: Timestamp::default(),
            summary: String::new(),
            differences: Differences::default(),
            status,
            comments: Vec::new(),
            plan,
        }
    }

    fn plans(table: &ReviewTable, thread: u128) -> Vec<u128> {
        table.plans_of(ThreadId::new(thread)).map(|(review, _)| review.id.get()).collect()
    }

    #[test]
    fn the_plans_of_a_thread_are_its_own() {
        let mut table = ReviewTable::default();
        for (id, thread) in [(1, None), (2, Some(7)), (3, Some(8)), (4, Some(7))] {
            table.put(review(id, thread, ReviewStatus::Open));
        }
        assert_eq!((plans(&table, 7), plans(&table, 8)), (vec![2, 4], vec![3]));
        assert!(table.remove(ReviewId::new(2)).is_some());
        table.put(review(4, Some(8), ReviewStatus::Open));
        assert_eq!((plans(&table, 7), plans(&table, 8)), (vec![], vec![3, 4]));
    }

    #[test]
    fn what_is_settled_goes_first() {
        let mut table = ReviewTable::default();
        assert_eq!(table.least(), None);
        for id in 1..4 {
            table.put(review(id, None, ReviewStatus::Open));
        }
        assert_eq!(table.least(), Some(ReviewId::new(1)));
        table.put(review(3, None, ReviewStatus::Approved));
        assert_eq!(table.least(), Some(ReviewId::new(3)));
        table.put(review(3, None, ReviewStatus::Open));
        assert_eq!(table.least(), Some(ReviewId::new(1)));
    }
}
