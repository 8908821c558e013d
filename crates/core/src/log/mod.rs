//! The log: everything that happened, numbered and durable, and what happens to threads as it happens.

mod events;
mod feed;

use std::sync::Arc;

use rookery_model::EventSeq;
use tokio::sync::watch;

use crate::core::Core;

pub use events::{EventPage, EventStream, Events};
pub(crate) use feed::Feed;
pub use feed::{FeedReader, Notice, NoticeBody};

/// Where news come from.
pub(crate) struct Room {
    published: watch::Receiver<EventSeq>,
    feed: Arc<Feed>,
}

impl Room {
    pub(crate) fn new(published: watch::Receiver<EventSeq>) -> Room {
        Room { published, feed: Arc::default() }
    }

    /// Where notices go, most of them once what they tell is durable.
    pub(crate) fn feed(&self) -> &Arc<Feed> {
        &self.feed
    }
}

impl Core {
    /// Changes whenever something happened and is durable.
    pub fn happened(&self) -> watch::Receiver<EventSeq> {
        self.inner.log.published.clone()
    }

    /// The event log.
    pub fn events(&self) -> Events {
        Events::new(self.inner.store.clone(), self.inner.log.published.clone())
    }
}
