//! The notices of the spine: one queue for all readers: a reader is a place in it, so a notice is kept once however
//! many have not read it yet, and sending never waits.
//!
//! The newest notices are kept whole. Older ones, which only readers that are far behind still want,
//! are kept without their deltas; a reader that comes to such a gap first gets the number of deltas
//! it misses. Those who are behind even with what is kept of the older ones are cut off.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use rookery_model::{Error, EventSeq, Result, ThreadId};
use tokio::sync::{Notify, futures::Notified, watch};

use super::{News, Notice, NoticeBody, Shows, Signals};
use crate::clock;

/// How far a reader may be behind, in bytes that notices take in memory.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Up to here a reader loses nothing.
    whole: usize,
    /// Notices without deltas that are older than that; a reader that is further behind is cut off.
    older: usize,
}

const LIMITS: Limits = Limits { whole: 32 << 20, older: 128 << 20 };
/// Notices handed out at once.
const BATCH: usize = 256;
/// Bytes of notices handed out at once, unless the first has more.
const BATCH_BYTES: usize = 1 << 20;

/// The queue.
pub(crate) struct Spine {
    limits: Limits,
    state: Mutex<State>,
    grown: Notify,
    /// Number of the newest durable event: each notice comes after the events up to there.
    published: watch::Receiver<EventSeq>,
    signals: Signals,
}

#[derive(Default)]
struct State {
    /// Notices in the order of their numbers, without deltas: gaps in the numbers are what is missing.
    older: Part,
    /// The newest, without gaps.
    recent: Part,
    /// The number of the next notice.
    end: u64,
    readers: HashMap<u64, Reader>,
    next_reader: u64,
    seqs: HashMap<ThreadId, u64>,
    is_closed: bool,
}

/// A stretch of the queue.
#[derive(Default)]
struct Part {
    notices: VecDeque<Numbered>,
    bytes: usize,
}

struct Numbered {
    number: u64,
    bytes: usize,
    /// The newest event that was published before it was sent.
    after: EventSeq,
    notice: Arc<Notice>,
}

impl Part {
    fn push(&mut self, numbered: Numbered) {
        self.bytes += numbered.bytes;
        self.notices.push_back(numbered);
    }

    fn pop(&mut self) -> Option<Numbered> {
        let numbered = self.notices.pop_front()?;
        self.bytes -= numbered.bytes;
        if self.notices.is_empty() && self.notices.capacity() > BATCH {
            self.notices = VecDeque::new();
        }
        Some(numbered)
    }

    fn forget_before(&mut self, number: u64) {
        while self.notices.front().is_some_and(|first| first.number < number) {
            self.pop();
        }
    }

    /// How many of its notices come before this number.
    fn before(&self, number: u64) -> usize {
        self.notices.partition_point(|numbered| numbered.number < number)
    }

    fn from(&self, number: u64) -> impl Iterator<Item = &Numbered> {
        self.notices.range(self.before(number)..)
    }
}

struct Reader {
    /// The number of the notice that it gets next.
    next: u64,
    /// Gaps before this number were reported to it.
    reported: u64,
    is_cut_off: bool,
}

impl State {
    /// The number from which on nothing is missing.
    fn whole_from(&self) -> u64 {
        self.recent.notices.front().map_or(self.end, |first| first.number)
    }

    fn push(&mut self, after: EventSeq, notice: Notice) {
        let (number, bytes) = (self.end, notice.body.size());
        self.end += 1;
        self.recent.push(Numbered { number, bytes, after, notice: Arc::new(notice) });
    }

    /// Forgets what every reader has.
    fn trim(&mut self) {
        let reading = self.readers.values().filter(|reader| !reader.is_cut_off);
        let keep = reading.map(|reader| reader.next).min().unwrap_or(self.end);
        self.older.forget_before(keep);
        self.recent.forget_before(keep);
    }

    /// Drops deltas that are too old, and cuts off readers that are too far behind for the rest.
    fn bound(&mut self, limits: Limits) {
        while self.recent.bytes > limits.whole {
            let Some(oldest) = self.recent.pop() else { break };
            if !oldest.notice.body.is_delta() {
                self.older.push(oldest);
            }
        }
        while self.older.bytes > limits.older {
            let Some(oldest) = self.older.pop() else { break };
            for reader in self.readers.values_mut() {
                reader.is_cut_off |= reader.next <= oldest.number;
            }
        }
        // What only those wanted who were cut off.
        if !self.older.notices.is_empty() {
            self.trim();
        }
    }

    /// How many deltas a reader does not get any more, without those that were reported to it.
    fn missing(&self, reader: &Reader) -> u64 {
        let (from, to) = (reader.next.max(reader.reported), self.whole_from());
        let kept = self.older.notices.len() - self.older.before(from);
        to.saturating_sub(from).saturating_sub(kept as u64)
    }
}

impl Spine {
    pub(super) fn new(published: watch::Receiver<EventSeq>, signals: Signals) -> Self {
        let (state, grown) = (Mutex::default(), Notify::new());
        Self { limits: LIMITS, state, grown, published, signals }
    }

    #[cfg(test)]
    fn within(whole: usize, older: usize) -> Arc<Self> {
        let (_, published) = watch::channel(EventSeq::new(0));
        Arc::new(Self {
            limits: Limits { whole, older },
            ..Self::new(published, Signals::default())
        })
    }

    /// Sends notices about a thread, in order. Never waits for readers.
    pub(crate) fn send(
        &self,
        thread: Option<ThreadId>,
        bodies: impl IntoIterator<Item = NoticeBody>,
    ) {
        let (at, after) = (clock::wall(), *self.published.borrow());
        let mut state = self.state.lock();
        let mut changed: Vec<Shows> = Vec::new();
        for body in bodies {
            changed.extend(body.shows().filter(|shows| !changed.contains(shows)));
            let mut seq = 0;
            if let Some(thread) = thread.filter(|_| body.is_of_item()) {
                let last = state.seqs.entry(thread).or_insert(0);
                *last += 1;
                seq = *last;
            }
            if state.readers.is_empty() {
                state.end += 1;
                continue;
            }
            state.push(after, Notice { at, thread, seq, body });
        }
        state.bound(self.limits);
        drop(state);
        changed.into_iter().for_each(|shows| self.signals.raise(shows));
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

    /// Ends every reader.
    pub(crate) fn close(&self) {
        self.state.lock().is_closed = true;
        self.grown.notify_waiters();
    }

    pub(super) fn read(self: &Arc<Self>) -> SpineReader {
        let mut state = self.state.lock();
        let (id, next) = (state.next_reader, state.end);
        state.next_reader += 1;
        state.readers.insert(id, Reader { next, reported: next, is_cut_off: false });
        drop(state);
        SpineReader { spine: Arc::clone(self), id }
    }
}

/// A place in the queue that moves on as it is read.
pub(super) struct SpineReader {
    spine: Arc<Spine>,
    id: u64,
}

/// News with the newest event that was published before it.
pub(super) type Placed = (EventSeq, News);

impl SpineReader {
    /// Completes when there is more to read than when this was called.
    pub(super) fn grown(&self) -> Notified<'_> {
        self.spine.grown.notified()
    }

    /// Whether there is something to take, or nothing will come any more.
    pub(super) fn has_more(&self) -> bool {
        let state = self.spine.state.lock();
        let is_behind = |reader: &Reader| reader.is_cut_off || reader.next < state.end;
        state.is_closed || state.readers.get(&self.id).is_none_or(is_behind)
    }

    /// The next notices, in order, each once. Deltas that are missing are reported by
    /// [`News::DeltasMissed`] where the first of them would be.
    ///
    /// # Errors
    /// If the reader fell too far behind, or all was read and the daemon stops.
    pub(super) fn take(&self) -> Result<Vec<Placed>> {
        let mut state = self.spine.state.lock();
        let (is_closed, whole_from) = (state.is_closed, state.whole_from());
        let Some(reader) = state.readers.get(&self.id) else {
            return Err(Error::closed("the reader is gone"));
        };
        if reader.is_cut_off {
            return Err(Error::busy("the reader is too far behind"));
        }
        let (mut next, mut bytes, mut batch) = (reader.next, 0, Vec::new());
        let missing = state.missing(reader);
        for numbered in state.older.from(next).chain(state.recent.from(next)).take(BATCH) {
            bytes += numbered.bytes;
            if bytes > BATCH_BYTES && bytes > numbered.bytes {
                break;
            }
            if batch.is_empty() && missing > 0 {
                batch.push((numbered.after, News::DeltasMissed(missing)));
            }
            batch.push((numbered.after, News::Notice(Arc::clone(&numbered.notice))));
            next = numbered.number + 1;
        }
        if batch.is_empty() && missing > 0 {
            batch.push((EventSeq::new(0), News::DeltasMissed(missing)));
        }
        if batch.is_empty() {
            let closed = || Error::closed("the daemon is stopping");
            return if is_closed { Err(closed()) } else { Ok(batch) };
        }
        if let Some(reader) = state.readers.get_mut(&self.id) {
            reader.next = next;
            reader.reported = whole_from.max(next);
        }
        state.trim();
        Ok(batch)
    }
}

impl Drop for SpineReader {
    fn drop(&mut self) {
        let mut state = self.spine.state.lock();
        state.readers.remove(&self.id);
        state.trim();
    }
}

#[cfg(test)]
mod tests;
