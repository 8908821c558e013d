//! The newest published events, in memory, for clients that were away only briefly.

use std::collections::VecDeque;
use std::sync::Arc;

use rookery_model::{EventSeq, NumberedEvent};

/// How many events are at hand.
pub(crate) const LENGTH: usize = 4_096;

#[derive(Debug)]
pub(crate) struct Tail {
    events: VecDeque<Arc<NumberedEvent>>,
    next: EventSeq,
}

impl Tail {
    pub(crate) fn new(next: EventSeq) -> Self {
        Tail { events: VecDeque::new(), next }
    }

    /// Appends events whose numbers follow those before.
    pub(crate) fn extend(&mut self, events: &[Arc<NumberedEvent>]) {
        let Some(last) = events.last() else { return };
        self.next = last.seq.next();
        let fitting = &events[events.len().saturating_sub(LENGTH)..];
        let excess = (self.events.len() + fitting.len()).saturating_sub(LENGTH);
        self.events.drain(..excess);
        self.events.extend(fitting.iter().cloned());
    }

    /// All events from this number on, if all of them are at hand.
    pub(crate) fn since(&self, from: EventSeq) -> Option<Vec<Arc<NumberedEvent>>> {
        let missing = self.next.get().checked_sub(from.get())?;
        let start = self.events.len().checked_sub(usize::try_from(missing).ok()?)?;
        Some(self.events.range(start..).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use rookery_model::{Event, Timestamp};

    use super::*;

    fn events(numbers: std::ops::Range<u64>) -> Vec<Arc<NumberedEvent>> {
        let event = |seq| NumberedEvent {
            seq: EventSeq::new(seq),
            at: Timestamp::from_micros(0),
            event: Event::DaemonStopping,
        };
        numbers.map(|seq| Arc::new(event(seq))).collect()
    }

    fn numbers(tail: &Tail, from: u64) -> Option<Vec<u64>> {
        Some(tail.since(EventSeq::new(from))?.iter().map(|event| event.seq.get()).collect())
    }

    #[test]
    fn only_full_answers_are_given() {
        let mut tail = Tail::new(EventSeq::new(7));
        assert_eq!(numbers(&tail, 7), Some(vec![]));
        assert_eq!(numbers(&tail, 6), None);
        assert_eq!(numbers(&tail, 8), None);
        tail.extend(&events(7..10));
        assert_eq!(numbers(&tail, 7), Some(vec![7, 8, 9]));
        assert_eq!(numbers(&tail, 9), Some(vec![9]));
        assert_eq!(numbers(&tail, 10), Some(vec![]));
        assert_eq!(numbers(&tail, 6), None);
    }

    #[test]
    fn only_the_newest_are_kept() {
        let length = LENGTH as u64;
        for chunk in [1, 1_000, length + 5] {
            let mut tail = Tail::new(EventSeq::new(1));
            let mut next = 1;
            while next < 3 * length {
                tail.extend(&events(next..next + chunk));
                next += chunk;
            }
            let oldest = next - length;
            assert_eq!(numbers(&tail, oldest - 1), None);
            assert_eq!(numbers(&tail, oldest), Some((oldest..next).collect()));
        }
    }
}
