//! The log: everything that happened, numbered and durable, and what happens to threads as it happens.
//!
//! Clients follow it by a [`Subscription`]: one cursor over events and notices, in one order.
//! Sending never waits for a reader. One that is behind reads events from the disk, misses the oldest
//! deltas, and gets their number; see [`spine`] for what is kept. Viewers that show how things are, and
//! not what happened, wait for [`Changes`] of the rooms that they show instead.

mod changes;
mod notice;
mod size;
mod spine;
mod subscription;

use std::sync::Arc;

use rookery_model::{Error, ErrorKind, EventSeq, NumberedEvent, Result, ThreadId};
use rookery_store::Store;
use tokio::sync::watch;

use crate::core::Core;
use crate::rooms::Log;

pub use changes::{Changes, Shows};
pub(crate) use changes::{Signalled, SignalledGuard, Signals};
pub use notice::{
    FileChange, ItemChange, Notice, NoticeBody, PlanChange, PlanRef, ProcessStopping, ProgramName,
    RequestChange, RunnerChange, SettingsChange, TaskChange, TaskOutput, ThreadChange, TraceChange,
    TurnChange,
};
pub(crate) use spine::Spine;
pub use subscription::{News, Subscription, Topics};

/// Where news come from.
pub(crate) struct Room {
    published: watch::Receiver<EventSeq>,
    spine: Arc<Spine>,
}

impl Room {
    pub(crate) fn new(published: watch::Receiver<EventSeq>, signals: &Signals) -> Room {
        let spine = Spine::new(published.clone(), signals.clone());
        Room { spine: Arc::new(spine), published }
    }

    /// Where notices go, most of them once what they say is durable.
    pub(crate) fn spine(&self) -> &Arc<Spine> {
        &self.spine
    }
}

/// A piece of the log.
#[derive(Clone, Debug)]
pub struct EventPage {
    /// The events, in order.
    pub events: Vec<Arc<NumberedEvent>>,
    /// Number up to which this page goes; ask for what comes after it next.
    pub last: EventSeq,
}

impl Log {
    /// Number of the newest durable event.
    pub fn last(&self) -> EventSeq {
        *self.core.inner.log.published.borrow()
    }

    /// Up to `limit` events after number `after`.
    ///
    /// # Errors
    /// If the disk cannot be read.
    pub async fn page(&self, after: EventSeq, limit: usize) -> Result<EventPage> {
        read(&self.core.inner.store, after.next(), limit).await
    }

    /// News of these topics from now on, events from the one after `since` on if it is given.
    pub fn subscribe(&self, topics: Topics, since: Option<EventSeq>) -> Subscription {
        let log = &self.core.inner.log;
        let source = (self.core.inner.store.clone(), log.published.clone());
        Subscription::new(source, &log.spine, topics, since)
    }

    /// Says that something of this changed from now on.
    pub fn changes(&self, shows: &[Shows]) -> Changes {
        let inner = &self.core.inner;
        inner.signals.watch(shows, inner.stopping.subscribe())
    }

    /// Tells all who follow a thread something; without a thread, all who follow any.
    pub fn warn(&self, thread: Option<ThreadId>, message: impl Into<String>) {
        self.core.inner.log.spine.send(thread, [NoticeBody::Warning(message.into())]);
    }
}

impl Core {
    /// Says that a program was asked to end.
    pub(crate) fn announce_stopping(&self, stopping: ProcessStopping) {
        self.inner.log.spine.send(None, [NoticeBody::Stopping(Box::new(stopping))]);
    }
}

/// Up to `limit` events from this number on, from memory if it has them.
async fn read(store: &Store, from: EventSeq, limit: usize) -> Result<EventPage> {
    if let Some(mut events) = store.tail(from) {
        events.truncate(limit);
        let before = EventSeq::new(from.get().saturating_sub(1));
        let last = events.last().map_or(before, |event| event.seq);
        return Ok(EventPage { events, last });
    }
    let store = store.clone();
    let page = tokio::task::spawn_blocking(move || store.events(from, limit))
        .await
        .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))??;
    let last = EventSeq::new(page.next.get().saturating_sub(1));
    Ok(EventPage { events: page.events, last })
}
