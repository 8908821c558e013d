//! The bounded queue of messages a connection sends on its own account, and the handle by which
//! handlers and their background tasks reach their connection. Knows bodies, not their meaning.

use std::{
    borrow::Cow,
    collections::{HashSet, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    task::Waker,
};

use bytes::Bytes;
use futures_util::task::AtomicWaker;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How much an [`Outbox`] holds before it is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboxLimits {
    /// Messages waiting to be written.
    pub messages: usize,
    /// Their bytes. Messages that are larger by themselves are counted apart, see [`LARGE`], so that one of them
    /// reaches a peer that keeps up, and nothing that follows it is refused on its account.
    pub bytes: usize,
}

/// How many times the bytes of the limit messages may have together that are over it each. One is always taken.
pub const LARGE: usize = 4;

impl Default for OutboxLimits {
    fn default() -> Self {
        Self { messages: 1024, bytes: 8 * 1024 * 1024 }
    }
}

/// Why a message was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// The peer reads too slowly; the caller decides whether to wait, to drop or to cut it off.
    #[error("out-queue is full")]
    Full,
    /// The connection is over.
    #[error("connection is closed")]
    Closed,
}

const OPEN: u8 = 0;
const FINISHING: u8 = 1;
const DISMISSED: u8 = 2;
const CUT: u8 = 3;
const OVER: u8 = 4;

/// What handlers asked of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directive {
    Serve,
    Finish,
    Dismiss(u16),
    Cut,
}

/// What a message is about, so that a newer one can take its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// Messages with the same key are about the same thing.
    pub key: u64,
    /// Whether the peer misses nothing if a later message about the same comes instead.
    pub can_be_superseded: bool,
}

#[derive(Debug)]
struct Waiting {
    body: Bytes,
    subject: Option<Subject>,
}

impl Waiting {
    fn is_replaceable(&self) -> bool {
        self.subject.is_some_and(|subject| subject.can_be_superseded)
    }
}

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Waiting>,
    /// Bytes of those within the limit.
    bytes: usize,
    /// Bytes of those over it.
    large_bytes: usize,
    /// Messages that may be dropped once they are superseded.
    replaceable: usize,
    permits: usize,
    reason: Cow<'static, str>,
    /// Why the peer is dismissed, as a WebSocket says it.
    code: u16,
}

impl Queue {
    fn has_room(&self, limits: OutboxLimits, len: usize) -> bool {
        let has_bytes = match len > limits.bytes {
            true => {
                let most = limits.bytes.saturating_mul(LARGE);
                self.large_bytes == 0 || self.large_bytes + len <= most
            }
            false => self.bytes + len <= limits.bytes,
        };
        self.messages.len() + self.permits < limits.messages && has_bytes
    }

    /// The same, after messages for which a newer one about the same is queued, or is about to be, were dropped.
    fn makes_room(&mut self, limits: OutboxLimits, len: usize, coming: Option<Subject>) -> bool {
        if !self.has_room(limits, len) && self.replaceable > 0 {
            self.drop_superseded(limits, coming);
        }
        self.has_room(limits, len)
    }

    fn push(&mut self, limits: OutboxLimits, body: Bytes, subject: Option<Subject>) {
        let waiting = Waiting { body, subject };
        *self.counter(limits, &waiting) += waiting.body.len();
        self.replaceable += usize::from(waiting.is_replaceable());
        self.messages.push_back(waiting);
    }

    fn pop(&mut self, limits: OutboxLimits) -> Option<Bytes> {
        let waiting = self.messages.pop_front()?;
        self.forget(limits, &waiting);
        Some(waiting.body)
    }

    fn forget(&mut self, limits: OutboxLimits, waiting: &Waiting) {
        *self.counter(limits, waiting) -= waiting.body.len();
        self.replaceable -= usize::from(waiting.is_replaceable());
    }

    fn counter(&mut self, limits: OutboxLimits, waiting: &Waiting) -> &mut usize {
        match waiting.body.len() > limits.bytes {
            true => &mut self.large_bytes,
            false => &mut self.bytes,
        }
    }

    fn drop_superseded(&mut self, limits: OutboxLimits, coming: Option<Subject>) {
        let mut newer: HashSet<u64> = coming.iter().map(|subject| subject.key).collect();
        let mut kept = VecDeque::with_capacity(self.messages.len());
        while let Some(waiting) = self.messages.pop_back() {
            let is_newest = waiting.subject.is_none_or(|subject| newer.insert(subject.key));
            match is_newest || !waiting.is_replaceable() {
                true => kept.push_front(waiting),
                false => self.forget(limits, &waiting),
            }
        }
        self.messages = kept;
    }
}

#[derive(Debug)]
struct Shared {
    limits: OutboxLimits,
    queue: Mutex<Queue>,
    directive: AtomicU8,
    connection: AtomicWaker,
    space: Notify,
    over: CancellationToken,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends messages to the peer of one connection, from anywhere.
///
/// Cheap to clone. A message is the body of a frame; the connection adds the framing. Unless the
/// connection was opened with [`outbox_first`](crate::Options::outbox_first), messages queued by a
/// handler after its last `.await` go out after that handler's reply.
#[derive(Debug, Clone)]
pub struct Outbox {
    shared: Arc<Shared>,
}

impl Outbox {
    pub(crate) fn new(limits: OutboxLimits) -> Self {
        Self {
            shared: Arc::new(Shared {
                limits,
                queue: Mutex::default(),
                directive: AtomicU8::new(OPEN),
                connection: AtomicWaker::new(),
                space: Notify::new(),
                over: CancellationToken::new(),
            }),
        }
    }

    /// Queues a message if there is room. If there is none, messages about something for which a newer one about the
    /// same is queued make room first.
    ///
    /// # Errors
    /// [`Rejected::Full`] or [`Rejected::Closed`]; the message is then dropped.
    pub fn try_send(&self, body: impl Into<Bytes>) -> Result<(), Rejected> {
        self.offer(&body.into(), None)
    }

    /// The same for a message about something, which supersedes older ones.
    ///
    /// # Errors
    /// [`Rejected::Full`] or [`Rejected::Closed`]; the message is then dropped.
    pub fn try_send_about(&self, subject: Subject, body: impl Into<Bytes>) -> Result<(), Rejected> {
        self.offer(&body.into(), Some(subject))
    }

    /// Queues a message, waiting for room.
    ///
    /// # Errors
    /// [`Rejected::Closed`] if the connection ends first.
    pub async fn send(&self, body: impl Into<Bytes>) -> Result<(), Rejected> {
        let body = body.into();
        self.when_room(|| self.offer(&body, None)).await
    }

    /// Waits until the queue has room for one more message and keeps that place.
    ///
    /// The size of the message is unknown yet, so the byte limit may be passed by one message per
    /// permit held at a time.
    ///
    /// # Errors
    /// [`Rejected::Closed`] if the connection ends first.
    pub async fn reserve(&self) -> Result<Permit, Rejected> {
        self.when_room(|| self.try_reserve()).await
    }

    /// True once the connection is over, cut off or dismissed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.directive.load(Ordering::Acquire) >= DISMISSED
    }

    /// Resolves when the connection is over or cut off, so that background tasks can end.
    pub async fn cancelled(&self) {
        self.shared.over.cancelled().await;
    }

    /// Cuts the connection off: nothing more is read, written or computed for it.
    ///
    /// Only the first reason counts; it becomes the [`Outcome`](crate::Outcome).
    pub fn close(&self, reason: impl Into<Cow<'static, str>>) {
        let mut queue = self.shared.queue();
        if self.shared.directive.load(Ordering::Acquire) >= CUT {
            return;
        }
        queue.reason = reason.into();
        self.shared.directive.store(CUT, Ordering::Release);
        drop(queue);
        self.shared.connection.wake();
        self.shared.over.cancel();
    }

    fn dismiss(&self, code: u16) {
        let mut queue = self.shared.queue();
        if self.is_closed() {
            return;
        }
        queue.code = code;
        self.shared.directive.store(DISMISSED, Ordering::Release);
        drop(queue);
        self.shared.connection.wake();
        self.shared.over.cancel();
    }

    fn finish(&self) {
        let swapped = self.shared.directive.compare_exchange(
            OPEN,
            FINISHING,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if swapped.is_ok() {
            self.shared.connection.wake();
        }
    }

    fn offer(&self, body: &Bytes, subject: Option<Subject>) -> Result<(), Rejected> {
        let (mut queue, limits) = (self.shared.queue(), self.shared.limits);
        if self.is_closed() {
            return Err(Rejected::Closed);
        }
        if !queue.makes_room(limits, body.len(), subject) {
            return Err(Rejected::Full);
        }
        queue.push(limits, body.clone(), subject);
        drop(queue);
        self.shared.connection.wake();
        Ok(())
    }

    fn try_reserve(&self) -> Result<Permit, Rejected> {
        let mut queue = self.shared.queue();
        if self.is_closed() {
            return Err(Rejected::Closed);
        }
        // Its size is not known yet: it may be a large one, too.
        if queue.large_bytes > 0 || !queue.makes_room(self.shared.limits, 0, None) {
            return Err(Rejected::Full);
        }
        queue.permits += 1;
        drop(queue);
        Ok(Permit { outbox: self.clone() })
    }

    async fn when_room<T>(
        &self,
        mut attempt: impl FnMut() -> Result<T, Rejected>,
    ) -> Result<T, Rejected> {
        loop {
            let mut space = std::pin::pin!(self.shared.space.notified());
            // Listening starts before the attempt, so that room made in between is not missed.
            space.as_mut().enable();
            match attempt() {
                Err(Rejected::Full) => {}
                done => return done,
            }
            tokio::select! {
                () = space => {}
                () = self.shared.over.cancelled() => return Err(Rejected::Closed),
            }
        }
    }

    pub(crate) fn listen(&self, waker: &Waker) {
        self.shared.connection.register(waker);
    }

    pub(crate) fn directive(&self) -> Directive {
        match self.shared.directive.load(Ordering::Acquire) {
            OPEN => Directive::Serve,
            FINISHING => Directive::Finish,
            DISMISSED => Directive::Dismiss(self.shared.queue().code),
            _ => Directive::Cut,
        }
    }

    pub(crate) fn reason(&self) -> Cow<'static, str> {
        self.shared.queue().reason.clone()
    }

    pub(crate) fn pop(&self) -> Option<Bytes> {
        let mut queue = self.shared.queue();
        let body = queue.pop(self.shared.limits)?;
        if queue.messages.is_empty() && queue.messages.capacity() > 64 {
            queue.messages = VecDeque::new();
        }
        drop(queue);
        self.shared.space.notify_waiters();
        Some(body)
    }

    /// Marks the connection as gone and forgets what was queued.
    pub(crate) fn retire(&self) {
        let mut queue = self.shared.queue();
        self.shared.directive.store(OVER, Ordering::Release);
        *queue = Queue {
            permits: queue.permits,
            reason: std::mem::take(&mut queue.reason),
            ..Queue::default()
        };
        drop(queue);
        self.shared.over.cancel();
    }
}

/// A place kept in an [`Outbox`]; given back when dropped unused.
#[derive(Debug)]
pub struct Permit {
    outbox: Outbox,
}

impl Permit {
    /// Queues the message in the place kept for it.
    ///
    /// # Errors
    /// [`Rejected::Closed`] if the connection has ended.
    pub fn send(self, body: impl Into<Bytes>) -> Result<(), Rejected> {
        let mut queue = self.outbox.shared.queue();
        if self.outbox.is_closed() {
            return Err(Rejected::Closed);
        }
        queue.push(self.outbox.shared.limits, body.into(), None);
        drop(queue);
        self.outbox.shared.connection.wake();
        Ok(())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.outbox.shared.queue().permits -= 1;
        self.outbox.shared.space.notify_waiters();
    }
}

/// What a connection gives to the protocol that serves it; usually kept in the handlers' context.
#[derive(Debug, Clone)]
pub struct ConnectionHandle {
    outbox: Outbox,
}

impl ConnectionHandle {
    pub(crate) fn new(outbox: Outbox) -> Self {
        Self { outbox }
    }

    /// The queue of messages to the peer.
    #[must_use]
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// A token that is cancelled when the connection is over; cancelling it does nothing to the connection.
    #[must_use]
    pub fn closed(&self) -> CancellationToken {
        self.outbox.shared.over.child_token()
    }

    /// Ends the connection in good order: no more requests are read, those at work are answered.
    pub fn finish(&self) {
        self.outbox.finish();
    }

    /// Ends the connection at once: what is queued still goes out, requests at work are dropped, and a
    /// WebSocket is closed with this code.
    pub fn dismiss(&self, code: u16) {
        self.outbox.dismiss(code);
    }

    /// Cuts the connection off, see [`Outbox::close`].
    pub fn close(&self, reason: impl Into<Cow<'static, str>>) {
        self.outbox.close(reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Outbox {
        Outbox::new(OutboxLimits { messages: 3, bytes: 10 })
    }

    #[test]
    fn bounded_by_count_and_bytes() {
        let outbox = small();
        for _ in 0..3 {
            outbox.try_send("a").unwrap();
        }
        assert_eq!(outbox.try_send("a"), Err(Rejected::Full));

        let outbox = small();
        outbox.try_send("0123456789").unwrap();
        assert_eq!(outbox.try_send(""), Ok(()));
        assert_eq!(outbox.try_send("a"), Err(Rejected::Full));
    }

    #[test]
    fn a_message_over_the_limit_is_taken_behind_others_and_costs_none_after_it() {
        let outbox = Outbox::new(OutboxLimits { messages: 9, bytes: 10 });
        let large = "x".repeat(60);
        outbox.try_send("0123").unwrap();
        outbox.try_send(large.clone()).unwrap();
        outbox.try_send("456789").unwrap();
        assert_eq!(outbox.try_send("a"), Err(Rejected::Full), "small ones keep to their bound");
        assert_eq!(outbox.try_send(large.clone()), Err(Rejected::Full), "one was over everything");
        assert_eq!(outbox.pop().unwrap(), "0123");
        assert_eq!(outbox.pop().unwrap(), large);
        for _ in 0..LARGE - 1 {
            outbox.try_send("0123456789a").unwrap();
        }
        assert_eq!(outbox.try_send("0123456789a"), Err(Rejected::Full));
        assert_eq!(outbox.try_reserve().err(), Some(Rejected::Full), "it could be another one");
        assert_eq!(outbox.pop().unwrap(), "456789");
        outbox.try_send("0123456789").unwrap();
    }

    #[test]
    fn a_reply_makes_room_as_an_event_does() {
        let about = |key, can_be_superseded| Subject { key, can_be_superseded };
        for is_patient in [false, true] {
            let outbox = small();
            outbox.try_send_about(about(1, true), "1a").unwrap();
            outbox.try_send_about(about(1, true), "1b").unwrap();
            outbox.try_send_about(about(2, true), "2").unwrap();
            if is_patient {
                drop(outbox.try_reserve().unwrap());
            } else {
                outbox.try_send("reply").unwrap();
                assert_eq!(outbox.try_send("more"), Err(Rejected::Full));
            }
            assert_eq!(outbox.pop().unwrap(), "1b");
            assert_eq!(outbox.pop().unwrap(), "2");
        }
    }

    #[test]
    fn what_is_superseded_makes_room_and_nothing_else_does() {
        let outbox = small();
        let about = |key, can_be_superseded| Subject { key, can_be_superseded };
        outbox.try_send_about(about(1, true), "1a").unwrap();
        outbox.try_send_about(about(1, true), "1b").unwrap();
        outbox.try_send_about(about(2, false), "2").unwrap();
        outbox.try_send_about(about(1, false), "1c").unwrap();
        assert_eq!(outbox.pop().unwrap(), "2", "both were superseded by the last one");
        outbox.try_send_about(about(3, true), "3").unwrap();
        outbox.try_send_about(about(4, true), "4").unwrap();
        assert_eq!(outbox.try_send_about(about(5, true), "5"), Err(Rejected::Full));
        assert_eq!(outbox.pop().unwrap(), "1c");
        assert_eq!(outbox.pop().unwrap(), "3");
        assert_eq!(outbox.pop().unwrap(), "4");
    }

    #[test]
    fn closed_queue_takes_nothing() {
        let outbox = small();
        outbox.close("too slow");
        outbox.close("later");
        assert_eq!(outbox.try_send("a"), Err(Rejected::Closed));
        assert_eq!(outbox.directive(), Directive::Cut);
        assert_eq!(outbox.reason(), "too slow");
    }

    #[tokio::test]
    async fn a_permit_keeps_its_place() {
        let outbox = small();
        let permit = outbox.reserve().await.unwrap();
        outbox.try_send("a").unwrap();
        outbox.try_send("b").unwrap();
        assert_eq!(outbox.try_send("c"), Err(Rejected::Full));
        permit.send("d").unwrap();
        assert_eq!(outbox.try_send("c"), Err(Rejected::Full));
        drop((outbox.pop(), outbox.pop()));
        assert_eq!(outbox.pop().unwrap(), "d");
        drop(outbox.reserve().await.unwrap());
        for _ in 0..3 {
            outbox.try_send("a").unwrap();
        }
    }

    #[tokio::test]
    async fn send_waits_for_room_or_for_the_end() {
        let outbox = small();
        for _ in 0..3 {
            outbox.send("a").await.unwrap();
        }
        let (sent, popped) = tokio::join!(outbox.send("b"), async { outbox.pop() });
        assert_eq!((sent, popped.unwrap()), (Ok(()), Bytes::from("a")));
        let (sent, ()) = tokio::join!(outbox.send("b"), async { outbox.retire() });
        assert_eq!(sent, Err(Rejected::Closed));
    }
}
