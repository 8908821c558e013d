//! The durable event log, read by number.
//!
//! A subscriber is a cursor into the log, woken when the log grows. So there is
//! no queue to overflow: a slow reader catches up later, and slows no one down.

use std::sync::Arc;

use rookery_model::{Error, ErrorKind, EventSeq, NumberedEvent, Result};
use rookery_store::Store;
use tokio::sync::watch;

/// Events handed out at once at most.
const BATCH: usize = 512;

/// The event log.
#[derive(Clone)]
pub struct Events {
    store: Store,
    last: watch::Receiver<EventSeq>,
}

/// A piece of the log.
#[derive(Clone, Debug)]
pub struct EventPage {
    /// The events, in order.
    pub events: Vec<Arc<NumberedEvent>>,
    /// Number up to which this page goes; ask for what comes after it next.
    pub last: EventSeq,
}

impl Events {
    pub(crate) fn new(store: Store, last: watch::Receiver<EventSeq>) -> Events {
        Events { store, last }
    }

    /// Number of the newest durable event.
    pub fn last(&self) -> EventSeq {
        *self.last.borrow()
    }

    /// Follows the log: everything after `since`, or only what comes from now on.
    pub fn subscribe(&self, since: Option<EventSeq>) -> EventStream {
        let next = since.unwrap_or_else(|| self.last()).next();
        EventStream { events: self.clone(), next, missed: 0 }
    }

    /// Up to `limit` events after number `after`.
    pub async fn page(&self, after: EventSeq, limit: usize) -> Result<EventPage> {
        self.read(after.next(), limit).await
    }

    async fn read(&self, from: EventSeq, limit: usize) -> Result<EventPage> {
        if let Some(mut events) = self.store.tail(from) {
            events.truncate(limit);
            let before = EventSeq::new(from.get().saturating_sub(1));
            let last = events.last().map_or(before, |event| event.seq);
            return Ok(EventPage { events, last });
        }
        let store = self.store.clone();
        let page = tokio::task::spawn_blocking(move || store.events(from, limit))
            .await
            .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))??;
        let last = EventSeq::new(page.next.get().saturating_sub(1));
        Ok(EventPage { events: page.events, last })
    }
}

/// A place in the log that moves on as it is read.
pub struct EventStream {
    events: Events,
    next: EventSeq,
    missed: u64,
}

impl EventStream {
    /// The next events, in order, each once; waits until there is one.
    pub async fn next(&mut self) -> Result<Vec<Arc<NumberedEvent>>> {
        loop {
            let newest = self
                .events
                .last
                .wait_for(|last| *last >= self.next)
                .await
                .map(|last| *last)
                .map_err(|_| Error::closed("the daemon is stopping"))?;
            let page = self.events.read(self.next, BATCH).await?;
            if let Some(first) = page.events.first() {
                self.missed += first.seq.get().saturating_sub(self.next.get());
            }
            // Numbers up to the newest that the log no longer holds are gone for good.
            self.next = if page.events.is_empty() { newest.next() } else { page.last.next() };
            if !page.events.is_empty() {
                return Ok(page.events);
            }
        }
    }

    /// How many events were no longer kept when this reader came to them.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}
