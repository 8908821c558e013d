//! What happens to threads, as it happens: durable changes once they are durable, and what is
//! streamed in between.
//!
//! A reader is a cursor into one shared queue, so a notice is kept once however many read it. A
//! reader that falls too far behind is cut off; one that asked for patience slows the stream instead.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_agent::turn::Delta;
use rookery_model::{
    Error, Goal, Item, ItemId, Mode, Request, Result, Thread, ThreadId, Timestamp, Turn, TurnId,
};
use tokio::sync::Notify;

use super::lifecycle::TurnLifecycle;
use super::status::Status;
use crate::clock;

/// Notices that a reader may be behind.
const MAX_BEHIND: usize = 100_000;
/// Bytes that all notices kept for readers may take, about.
const MAX_BYTES: usize = 64 << 20;
/// From so many notices on, the stream waits for a patient reader.
const PATIENCE: u64 = 10_000;
/// How long the stream waits for a reader that does not read at all.
const STALLED: Duration = Duration::from_secs(2);
/// Notices handed out at once.
const BATCH: usize = 256;

/// Something that happened to a thread.
#[derive(Debug)]
pub struct Notice {
    /// When it was sent.
    pub at: Timestamp,
    /// The thread it is about.
    pub thread: Option<ThreadId>,
    /// Its number among what happened to items of that thread; 0 if it is not about one.
    pub seq: u64,
    /// What happened.
    pub body: NoticeBody,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum NoticeBody {
    /// A thread began.
    ThreadStarted(Box<Thread>, Status),
    /// What a thread does changed.
    StatusChanged(Status),
    /// A turn began.
    TurnStarted(Box<Turn>),
    /// A turn is at another place in its life. The last one comes before its end is told.
    Lifecycle(TurnLifecycle),
    /// A turn came to its end.
    TurnEnded(Box<Turn>),
    /// An item began.
    ItemStarted(TurnId, Box<Item>),
    /// An item grew.
    ItemDelta(TurnId, ItemId, Delta),
    /// An item is in its final form.
    ItemCompleted(TurnId, Box<Item>),
    /// An agent waits for an answer.
    Requested(Box<Request>),
    /// A request was settled.
    Settled(Box<Request>, Mode),
    /// A mode changed, that of the thread or of all that have none of their own.
    ModeChanged {
        /// What held before.
        previous: Mode,
        /// What holds now.
        mode: Mode,
        /// Why, if somebody said so.
        reason: Option<String>,
    },
    /// What a turn has so far.
    PartialResult(TurnId, String),
    /// A turn ran out of time.
    DeadlineExceeded(TurnId, Option<Timestamp>, String),
    /// A thread was put away.
    Archived,
    /// A thread got another name.
    Renamed(Option<String>),
    /// A goal was set or changed.
    GoalUpdated(Box<Goal>),
    /// A goal was taken away.
    GoalCleared,
    /// Providers, models or their keys changed.
    ProvidersChanged,
    /// Settings changed.
    SettingsChanged,
    /// Something to be told to people.
    Warning(String),
}

impl NoticeBody {
    fn is_of_item(&self) -> bool {
        matches!(
            self,
            NoticeBody::ItemStarted(..) | NoticeBody::ItemDelta(..) | NoticeBody::ItemCompleted(..)
        )
    }

    /// About how much memory it takes.
    fn size(&self) -> usize {
        let text = match self {
            NoticeBody::ItemDelta(_, _, Delta::Text { text, .. })
            | NoticeBody::ItemDelta(_, _, Delta::Thought { text })
            | NoticeBody::ItemDelta(_, _, Delta::Summary { text, .. }) => text.len(),
            NoticeBody::ItemCompleted(_, item) => match &item.body {
                rookery_model::ItemBody::Agent { text, .. } => text.len(),
                rookery_model::ItemBody::Tool(tool) => {
                    tool.input.len() + tool.output.as_ref().map_or(0, String::len)
                }
                _ => 0,
            },
            _ => 0,
        };
        text + 256
    }
}

/// The queue.
#[derive(Default)]
pub(crate) struct Feed {
    state: Mutex<State>,
    grown: Notify,
    drained: Notify,
}

#[derive(Default)]
struct State {
    /// Number of the first notice that is kept.
    first: u64,
    notices: VecDeque<Arc<Notice>>,
    bytes: usize,
    readers: HashMap<u64, Reader>,
    next_reader: u64,
    seqs: HashMap<ThreadId, u64>,
    is_closed: bool,
}

struct Reader {
    next: u64,
    is_patient: bool,
    is_cut_off: bool,
}

impl State {
    fn end(&self) -> u64 {
        self.first + self.notices.len() as u64
    }

    fn trim(&mut self) {
        let wanted = self.readers.values().filter(|reader| !reader.is_cut_off);
        let keep = wanted.map(|reader| reader.next).min().unwrap_or_else(|| self.end());
        while self.first < keep {
            let Some(notice) = self.notices.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(notice.body.size());
            self.first += 1;
        }
    }

    /// Cuts off whoever is too far behind and did not ask for patience.
    fn bound(&mut self) {
        if self.notices.len() <= MAX_BEHIND && self.bytes <= MAX_BYTES {
            return;
        }
        let oldest = self.first + (self.notices.len() / 2) as u64;
        for reader in self.readers.values_mut() {
            reader.is_cut_off |= !reader.is_patient && reader.next < oldest;
        }
        self.trim();
    }
}

impl Feed {
    /// Sends notices about a thread, in order.
    pub(crate) fn send(
        &self,
        thread: Option<ThreadId>,
        bodies: impl IntoIterator<Item = NoticeBody>,
    ) {
        let at = clock::wall();
        let mut state = self.state.lock();
        for body in bodies {
            let mut seq = 0;
            if let Some(thread) = thread.filter(|_| body.is_of_item()) {
                let last = state.seqs.entry(thread).or_insert(0);
                *last += 1;
                seq = *last;
            }
            if state.readers.is_empty() {
                state.first += 1;
                continue;
            }
            state.bytes += body.size();
            state.notices.push_back(Arc::new(Notice { at, thread, seq, body }));
        }
        state.bound();
        drop(state);
        self.grown.notify_waiters();
    }

    /// The number that a thread's items have come to.
    pub(crate) fn seq(&self, thread: ThreadId) -> u64 {
        self.state.lock().seqs.get(&thread).copied().unwrap_or(0)
    }

    /// A thread's items are counted on from here.
    pub(crate) fn set_seq(&self, thread: ThreadId, seq: u64) {
        self.state.lock().seqs.insert(thread, seq);
    }

    /// Waits until all readers are near enough for more to be streamed. One that does not read at all
    /// for a while is cut off, unless it asked for patience.
    pub(crate) async fn room(&self) {
        loop {
            let mut drained = std::pin::pin!(self.drained.notified());
            drained.as_mut().enable();
            let stalled = self.behind();
            if stalled.is_empty() {
                return;
            }
            if tokio::time::timeout(STALLED, drained).await.is_err() {
                let mut state = self.state.lock();
                for (id, place) in stalled {
                    if let Some(reader) = state.readers.get_mut(&id) {
                        reader.is_cut_off |= !reader.is_patient && reader.next == place;
                    }
                }
                state.trim();
                drop(state);
                self.grown.notify_waiters();
            }
        }
    }

    /// Readers that are too far behind, with their places.
    fn behind(&self) -> Vec<(u64, u64)> {
        let state = self.state.lock();
        let end = state.end();
        let is_behind = |reader: &Reader| !reader.is_cut_off && end - reader.next > PATIENCE;
        let behind =
            state.readers.iter().filter(|(_, reader)| !state.is_closed && is_behind(reader));
        behind.map(|(id, reader)| (*id, reader.next)).collect()
    }

    /// Ends every reader.
    pub(crate) fn close(&self) {
        self.state.lock().is_closed = true;
        self.grown.notify_waiters();
        self.drained.notify_waiters();
    }

    pub(crate) fn subscribe(self: &Arc<Self>, is_patient: bool) -> FeedReader {
        let mut state = self.state.lock();
        let (id, next) = (state.next_reader, state.end());
        state.next_reader += 1;
        state.readers.insert(id, Reader { next, is_patient, is_cut_off: false });
        drop(state);
        FeedReader { feed: Arc::clone(self), id }
    }
}

/// A place in the feed that moves on as it is read.
pub struct FeedReader {
    feed: Arc<Feed>,
    id: u64,
}

impl FeedReader {
    /// The next notices, in order, each once; waits until there is one.
    ///
    /// # Errors
    /// If the reader fell too far behind, or the daemon stops.
    pub async fn next(&mut self) -> Result<Vec<Arc<Notice>>> {
        loop {
            let mut grown = std::pin::pin!(self.feed.grown.notified());
            grown.as_mut().enable();
            if let Some(batch) = self.take()? {
                return Ok(batch);
            }
            grown.await;
        }
    }

    fn take(&self) -> Result<Option<Vec<Arc<Notice>>>> {
        let mut state = self.feed.state.lock();
        let (first, end, is_closed) = (state.first, state.end(), state.is_closed);
        let Some(reader) = state.readers.get_mut(&self.id) else {
            return Err(Error::closed("the reader is gone"));
        };
        if reader.is_cut_off {
            return Err(Error::busy("the reader is too far behind"));
        }
        let from = (reader.next - first) as usize;
        let until = (from + BATCH).min((end - first) as usize);
        reader.next = first + until as u64;
        if from == until {
            return if is_closed { Err(Error::closed("the daemon is stopping")) } else { Ok(None) };
        }
        let batch = state.notices.range(from..until).cloned().collect();
        state.trim();
        drop(state);
        self.feed.drained.notify_waiters();
        Ok(Some(batch))
    }
}

impl Drop for FeedReader {
    fn drop(&mut self) {
        let mut state = self.feed.state.lock();
        state.readers.remove(&self.id);
        state.trim();
        drop(state);
        self.feed.drained.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(range: std::ops::Range<usize>) -> Vec<NoticeBody> {
        range.map(|number| NoticeBody::Warning(number.to_string())).collect()
    }

    async fn read(reader: &mut FeedReader, count: usize) -> Vec<String> {
        let mut texts = Vec::new();
        while texts.len() < count {
            for notice in reader.next().await.unwrap() {
                let NoticeBody::Warning(text) = &notice.body else { panic!("no warning") };
                texts.push(text.clone());
            }
        }
        texts
    }

    #[tokio::test]
    async fn every_reader_gets_everything_once_and_in_order() {
        let feed = Arc::new(Feed::default());
        feed.send(None, warnings(0..3));
        let mut readers = [feed.subscribe(false), feed.subscribe(true)];
        feed.send(None, warnings(3..1000));
        let expected: Vec<_> = (3..1000).map(|number| number.to_string()).collect();
        for reader in &mut readers {
            assert_eq!(read(reader, 997).await, expected);
        }
        assert_eq!(feed.state.lock().notices.len(), 0);
    }

    #[tokio::test]
    async fn who_falls_behind_is_cut_off_and_nobody_else() {
        let feed = Arc::new(Feed::default());
        let mut slow = feed.subscribe(false);
        let mut quick = feed.subscribe(false);
        for round in 0..11 {
            feed.send(None, warnings(round * 10_000..(round + 1) * 10_000));
            read(&mut quick, 10_000).await;
        }
        assert!(slow.next().await.is_err());
        feed.send(None, warnings(0..1));
        assert_eq!(read(&mut quick, 1).await, ["0"]);
    }

    #[tokio::test]
    async fn a_patient_reader_slows_the_stream() {
        let feed = Arc::new(Feed::default());
        let mut reader = feed.subscribe(true);
        feed.send(None, warnings(0..10_001));
        let mut room = Box::pin(feed.room());
        assert!(futures_util::poll!(&mut room).is_pending());
        read(&mut reader, 256).await;
        room.await;
    }
}
