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
    /// Their bytes. A larger single message is still taken while the queue is empty.
    pub bytes: usize,
}

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
const CUT: u8 = 2;
const OVER: u8 = 3;

/// What handlers asked of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directive {
    Serve,
    Finish,
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

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Waiting>,
    bytes: usize,
    permits: usize,
    reason: Cow<'static, str>,
}

impl Queue {
    fn has_room(&self, limits: OutboxLimits, len: usize) -> bool {
        let count = self.messages.len() + self.permits;
        count < limits.messages && (self.messages.is_empty() || self.bytes + len <= limits.bytes)
    }

    fn push(&mut self, body: Bytes, subject: Option<Subject>) {
        self.bytes += body.len();
        self.messages.push_back(Waiting { body, subject });
    }

    /// Drops messages for which a newer one about the same is queued, or is about to be.
    fn drop_superseded(&mut self, coming: Subject) {
        let mut newer = HashSet::from([coming.key]);
        let mut bytes = 0;
        let kept: VecDeque<Waiting> = std::mem::take(&mut self.messages)
            .into_iter()
            .rev()
            .filter(|waiting| {
                let Some(subject) = waiting.subject else { return true };
                let is_old = !newer.insert(subject.key) && subject.can_be_superseded;
                if is_old {
                    bytes += waiting.body.len();
                }
                !is_old
            })
            .collect();
        self.messages = kept.into_iter().rev().collect();
        self.bytes -= bytes;
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

    /// Queues a message if there is room.
    ///
    /// # Errors
    /// [`Rejected::Full`] or [`Rejected::Closed`]; the message is then dropped.
    pub fn try_send(&self, body: impl Into<Bytes>) -> Result<(), Rejected> {
        self.offer(&body.into())
    }

    /// Queues a message about something. If there is no room, messages for which a newer one about the
    /// same is queued make room first.
    ///
    /// # Errors
    /// [`Rejected::Full`] or [`Rejected::Closed`]; the message is then dropped.
    pub fn try_send_about(&self, subject: Subject, body: impl Into<Bytes>) -> Result<(), Rejected> {
        let body = body.into();
        let mut queue = self.shared.queue();
        if self.is_closed() {
            return Err(Rejected::Closed);
        }
        if !queue.has_room(self.shared.limits, body.len()) {
            queue.drop_superseded(subject);
        }
        if !queue.has_room(self.shared.limits, body.len()) {
            return Err(Rejected::Full);
        }
        queue.push(body, Some(subject));
        drop(queue);
        self.shared.connection.wake();
        Ok(())
    }

    /// Queues a message, waiting for room.
    ///
    /// # Errors
    /// [`Rejected::Closed`] if the connection ends first.
    pub async fn send(&self, body: impl Into<Bytes>) -> Result<(), Rejected> {
        let body = body.into();
        self.when_room(|| self.offer(&body)).await
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

    /// True once the connection is over or cut off.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.directive.load(Ordering::Acquire) >= CUT
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

    fn offer(&self, body: &Bytes) -> Result<(), Rejected> {
        let mut queue = self.shared.queue();
        if self.is_closed() {
            return Err(Rejected::Closed);
        }
        if !queue.has_room(self.shared.limits, body.len()) {
            return Err(Rejected::Full);
        }
        queue.push(body.clone(), None);
        drop(queue);
        self.shared.connection.wake();
        Ok(())
    }

    fn try_reserve(&self) -> Result<Permit, Rejected> {
        let mut queue = self.shared.queue();
        if self.is_closed() {
            return Err(Rejected::Closed);
        }
        if !queue.has_room(self.shared.limits, 0) {
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
            _ => Directive::Cut,
        }
    }

    pub(crate) fn reason(&self) -> Cow<'static, str> {
        self.shared.queue().reason.clone()
    }

    pub(crate) fn pop(&self) -> Option<Bytes> {
        let mut queue = self.shared.queue();
        let body = queue.messages.pop_front()?.body;
        queue.bytes -= body.len();
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
        queue.messages = VecDeque::new();
        queue.bytes = 0;
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
        queue.push(body.into(), None);
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
        outbox.try_send("a message over the limit").unwrap();
        assert_eq!(outbox.try_send("a"), Err(Rejected::Full));
        assert!(outbox.pop().is_some());
        outbox.try_send("0123456789").unwrap();
        assert_eq!(outbox.try_send(""), Ok(()));
        assert_eq!(outbox.try_send("a"), Err(Rejected::Full));
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
