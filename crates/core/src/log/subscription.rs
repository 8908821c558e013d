//! One way to follow what happens: events of the log and notices of threads, in one order.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;

use rookery_model::{Error, EventSeq, NumberedEvent, Result, ThreadId};
use rookery_store::Store;
use tokio::sync::watch;

use super::spine::{Placed, SpineReader};
use super::{Notice, Spine, read};

/// Events handed out at once at most.
const BATCH: usize = 512;

/// What a subscription is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topics {
    events: bool,
    notices: bool,
    thread: Option<ThreadId>,
}

impl Topics {
    /// The durable log.
    pub const EVENTS: Topics = Topics { events: true, notices: false, thread: None };
    /// What happens to threads, deltas among it.
    pub const NOTICES: Topics = Topics { events: false, notices: true, thread: None };
    /// Both: an event comes before the notices that were sent once it was durable.
    pub const ALL: Topics = Topics { events: true, notices: true, thread: None };

    /// The same, with no notices of other threads than this one. Those about none stay.
    #[must_use]
    pub const fn of_thread(self, thread: ThreadId) -> Topics {
        Topics { thread: Some(thread), ..self }
    }

    fn admits(&self, notice: &Notice) -> bool {
        match (self.thread, notice.thread) {
            (Some(wanted), Some(about)) => wanted == about,
            _ => true,
        }
    }
}

/// Something that happened, or that a reader missed.
#[derive(Clone, Debug)]
pub enum News {
    /// An event of the log.
    Event(Arc<NumberedEvent>),
    /// Something that happened to a thread.
    Notice(Arc<Notice>),
    /// This many events are not kept any more, and would have come here.
    EventsMissed(u64),
    /// This many deltas were dropped since the reader is too far behind; items that were completed
    /// have all of their text.
    DeltasMissed(u64),
}

impl News {
    /// The event, if it is one.
    pub fn event(&self) -> Option<&Arc<NumberedEvent>> {
        match self {
            News::Event(event) => Some(event),
            News::Notice(_) | News::EventsMissed(_) | News::DeltasMissed(_) => None,
        }
    }

    /// The notice, if it is one.
    pub fn notice(&self) -> Option<&Arc<Notice>> {
        match self {
            News::Notice(notice) => Some(notice),
            News::Event(_) | News::EventsMissed(_) | News::DeltasMissed(_) => None,
        }
    }
}

/// A place in what happens that moves on as it is read.
pub struct Subscription {
    topics: Topics,
    store: Store,
    published: watch::Receiver<EventSeq>,
    /// The event that comes next.
    next: EventSeq,
    /// None unless it is about notices.
    notices: Option<SpineReader>,
    /// Notices that were taken and wait for the events before them.
    taken: VecDeque<Placed>,
    /// Why there are no more notices.
    ended: Option<Error>,
}

impl Subscription {
    pub(super) fn new(
        (store, published): (Store, watch::Receiver<EventSeq>),
        spine: &Arc<Spine>,
        topics: Topics,
        since: Option<EventSeq>,
    ) -> Subscription {
        // First the notices: what is sent meanwhile comes with the events before it.
        let notices = topics.notices.then(|| spine.read());
        let next = since.unwrap_or_else(|| *published.borrow()).next();
        let taken = VecDeque::new();
        Subscription { topics, store, published, next, notices, taken, ended: None }
    }

    /// What comes next, in order, each once; waits until there is something.
    ///
    /// # Errors
    /// Busy if the reader fell too far behind, closed when the daemon stops and all was read; and if
    /// the disk cannot be read.
    pub async fn next(&mut self) -> Result<Vec<News>> {
        loop {
            let published = *self.published.borrow_and_update();
            self.refill();
            // Before a notice come the events that were published before it, and no others.
            let due = self.taken.front().map_or(published, |(after, _)| *after);
            if self.topics.events && self.next <= due {
                let events = self.read(due).await?;
                if !events.is_empty() {
                    return Ok(events);
                }
                continue;
            }
            let batch = self.pass();
            if !batch.is_empty() {
                return Ok(batch);
            }
            if self.taken.is_empty() {
                if let Some(error) = &self.ended {
                    return Err(error.clone());
                }
                self.wait().await?;
            }
        }
    }

    /// Takes notices if none wait.
    fn refill(&mut self) {
        let Some(reader) = &self.notices else { return };
        if !self.taken.is_empty() || self.ended.is_some() {
            return;
        }
        match reader.take() {
            Ok(batch) => {
                let topics = self.topics;
                self.taken.extend(batch.into_iter().filter(|(_, news)| match news {
                    News::Notice(notice) => topics.admits(notice),
                    _ => true,
                }));
            }
            Err(error) => self.ended = Some(error),
        }
    }

    /// The notices that are due now.
    fn pass(&mut self) -> Vec<News> {
        let mut batch = Vec::new();
        while let Some((after, _)) = self.taken.front() {
            if self.topics.events && self.next <= *after {
                break;
            }
            batch.extend(self.taken.pop_front().map(|(_, news)| news));
        }
        batch
    }

    /// Events up to this one, as many as are handed out at once.
    async fn read(&mut self, due: EventSeq) -> Result<Vec<News>> {
        let wanted = due.get() - self.next.get() + 1;
        let limit = usize::try_from(wanted).map_or(BATCH, |wanted| wanted.min(BATCH));
        let page = read(&self.store, self.next, limit).await?;
        let first = page.events.first().map_or(due.next(), |event| event.seq);
        let after = if page.events.is_empty() { due } else { page.last };
        let mut news = Vec::with_capacity(page.events.len() + 1);
        // Numbers have no gaps, so whatever is not there is no longer kept.
        if first > self.next {
            news.push(News::EventsMissed(first.get() - self.next.get()));
        }
        self.next = after.next();
        news.extend(page.events.into_iter().map(News::Event));
        Ok(news)
    }

    async fn wait(&mut self) -> Result<()> {
        let events = async {
            match self.topics.events {
                true => self.published.changed().await.map_err(|_| stops()),
                false => std::future::pending().await,
            }
        };
        let Some(reader) = &self.notices else { return events.await };
        let mut grown = pin!(reader.grown());
        grown.as_mut().enable();
        if reader.has_more() {
            return Ok(());
        }
        tokio::select! {
            () = grown => Ok(()),
            changed = events => changed,
        }
    }
}

fn stops() -> Error {
    Error::closed("the daemon is stopping")
}
