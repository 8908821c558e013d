//! Leases: for how long a holder may rely on being the only one.

use std::time::Duration;

use rookery_model::Task;

use crate::rules::may_move;

/// For how long a lease holds from the sending of its last confirmed renewal.
const CONFIRMED: Duration = Duration::from_secs(15);

/// The lease of one attempt. Times are readings of one clock that does not stop while the machine sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    confirmed: Duration,
}

/// What becomes of a task whose lease is not confirmed any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseLoss {
    /// It is stopped, for another may begin it.
    Stop,
    /// It goes on, for no other will.
    GoOn,
}

impl Lease {
    /// A lease that was confirmed by the answer to what was sent then.
    #[must_use]
    pub fn confirmed(sent: Duration) -> Self {
        Lease { confirmed: sent }
    }

    /// The renewal that was sent then is confirmed.
    pub fn renew(&mut self, sent: Duration) {
        self.confirmed = self.confirmed.max(sent);
    }

    /// Whether it holds.
    #[must_use]
    pub fn holds(&self, now: Duration) -> bool {
        now < self.confirmed.saturating_add(CONFIRMED)
    }

    /// What the node does with its task; none while the lease holds. Either way nothing is reported until the
    /// records can be read again, and then the record decides.
    #[must_use]
    pub fn on_time(&self, task: &Task, now: Duration) -> Option<LeaseLoss> {
        match self.holds(now) {
            true => None,
            false if may_move(task) => Some(LeaseLoss::Stop),
            false => Some(LeaseLoss::GoOn),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::{claimed, task};

    #[test]
    fn a_lease_counts_from_the_sending_of_what_was_confirmed() {
        let mut lease = Lease::confirmed(Duration::from_secs(10));
        assert!(lease.holds(Duration::from_millis(24_999)));
        assert!(!lease.holds(Duration::from_secs(25)));
        lease.renew(Duration::from_secs(15));
        // An answer that comes late does not take back a later one.
        lease.renew(Duration::from_secs(12));
        assert!(lease.holds(Duration::from_secs(29)) && !lease.holds(Duration::from_secs(30)));
    }

    #[test]
    fn only_what_may_move_is_stopped() {
        let lease = Lease::confirmed(Duration::ZERO);
        let (soon, late) = (Duration::from_secs(1), Duration::from_secs(15));
        let mut moves = claimed(&task());
        moves.retry.on_lost = true;
        moves.retry.max = 1;
        assert_eq!(lease.on_time(&moves, soon), None);
        assert_eq!(lease.on_time(&moves, late), Some(LeaseLoss::Stop));
        let stays = claimed(&task());
        assert_eq!(lease.on_time(&stays, late), Some(LeaseLoss::GoOn));
        moves.attempt_count = 2;
        assert_eq!(lease.on_time(&moves, late), Some(LeaseLoss::GoOn));
    }
}
