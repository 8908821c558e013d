//! The connection loop: reads frames, starts calls, writes replies and queued messages, within
//! bounds. One task per connection; it never waits for a handler and knows no envelope.

use std::{
    borrow::Cow,
    future::{Future, poll_fn},
    io,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::BytesMut;
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::{io::AsyncReadExt as _, time::Sleep};

use crate::{
    admission::Gate,
    framing::{FrameError, Framing},
    options::{Options, Order},
    outbox::{ConnectionHandle, Directive, Outbox},
    protocol::{Protocol, Step},
    transport::Transport,
};

/// How a connection ended.
#[derive(Debug, thiserror::Error)]
pub enum Outcome {
    /// The peer sent all it had and everything was answered.
    #[error("peer closed the connection")]
    PeerClosed,
    /// [`ConnectionHandle::finish`] was called and everything at work was answered.
    #[error("connection finished")]
    Finished,
    /// [`ConnectionHandle::dismiss`] was called, with the code that a WebSocket is closed with.
    #[error("connection dismissed ({0})")]
    Dismissed(u16),
    /// [`Outbox::close`] was called, or the peer did not take its last bytes.
    #[error("connection cut off: {0}")]
    Cut(Cow<'static, str>),
    /// The peer broke the framing.
    #[error(transparent)]
    Framing(#[from] FrameError),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Serves one connection to its end.
///
/// `make` gets the handle of the connection and returns the protocol, so that contexts are made
/// per connection. When the returned future is dropped, so are all calls, and the handle's token
/// is cancelled.
pub async fn serve_connection<T, F, P>(
    io: T,
    framing: F,
    options: Options,
    make: impl FnOnce(ConnectionHandle) -> P + Send,
) -> Outcome
where
    T: Transport,
    F: Framing,
    P: Protocol,
{
    let outbox = Outbox::new(options.outbox);
    let protocol = make(ConnectionHandle::new(outbox.clone()));
    run(io, framing, options, outbox, protocol).await
}

/// The loop for an outbox and a protocol that exist already.
pub(crate) async fn run<T, F, P>(
    io: T,
    framing: F,
    options: Options,
    outbox: Outbox,
    protocol: P,
) -> Outcome
where
    T: Transport,
    F: Framing,
    P: Protocol,
{
    let mut connection = Connection {
        gate: Gate::new(options.admission),
        io,
        framing,
        protocol,
        options,
        outbox,
        input: BytesMut::new(),
        reading: Reading::Open,
        pending: FuturesUnordered::new(),
        pending_bytes: 0,
        output: Vec::new(),
        written: 0,
        unflushed: false,
        ending: None,
        timer: None,
        said_goodbye: false,
    };
    let outcome = poll_fn(|cx| connection.poll(cx)).await;
    connection.part(&outcome).await;
    tracing::debug!(%outcome, "connection ended");
    outcome
}

/// Room made for each read; also what an idle connection keeps.
const READ_CHUNK: usize = 4 * 1024;
/// Buffers that grew beyond this are given back once they are empty.
const KEEP_CAPACITY: usize = 64 * 1024;
/// Most room made for one read while a large frame comes in.
const MAX_READ_CHUNK: usize = 256 * 1024;
/// Frames taken before replies are written and calls get their turn.
const FRAMES_PER_PASS: usize = 128;
/// Passes before other tasks of the thread get their turn.
const PASSES_PER_WAKE: usize = 8;
/// How often a half-closed connection with calls at work looks whether the peer is gone.
const HANGUP_CHECK: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Open,
    /// The peer sends no more, but frames may be left in the buffer.
    Eof,
    Done,
}

struct Connection<T, F, P: Protocol> {
    /// Shut until the protocol admits the peer.
    gate: Gate,
    io: T,
    framing: F,
    protocol: P,
    options: Options,
    outbox: Outbox,
    input: BytesMut,
    reading: Reading,
    pending: FuturesUnordered<InFlight<P::Call>>,
    pending_bytes: usize,
    output: Vec<u8>,
    /// How much of `output` the transport has taken.
    written: usize,
    unflushed: bool,
    /// Set once nothing but the flush of `output` is left to do.
    ending: Option<Outcome>,
    /// Runs only while nothing is read, and starts anew with every progress.
    timer: Option<Pin<Box<Sleep>>>,
    /// Whether the protocol was notified of the end.
    said_goodbye: bool,
}

/// A call with the bytes it is accounted for.
struct InFlight<C> {
    call: C,
    bytes: usize,
}

impl<C: Future + Unpin> Future for InFlight<C> {
    type Output = (C::Output, usize);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let reply = ready!(Pin::new(&mut self.call).poll(cx));
        Poll::Ready((reply, self.bytes))
    }
}

impl<T: Transport, F: Framing, P: Protocol> Connection<T, F, P> {
    /// Does all that can be done now. Every reason to return `Pending` has left a waker behind:
    /// the transport (read, write), the calls at work, the outbox or the timer.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        self.outbox.listen(cx.waker());
        for _ in 0..PASSES_PER_WAKE {
            match self.outbox.directive() {
                Directive::Cut => return Poll::Ready(Outcome::Cut(self.outbox.reason())),
                Directive::Finish => self.finish(),
                Directive::Dismiss(code) => self.dismiss(code),
                Directive::Serve => {}
            }
            let mut progress = self.collect_replies(cx);
            progress |= self.drain_outbox();
            progress |= self.accept_frames(cx);
            progress |= match self.write(cx) {
                Ok(progress) => progress,
                Err(error) => return Poll::Ready(Outcome::Io(error)),
            };
            self.open_gate();
            progress |= self.send_goodbye();
            if let Some(outcome) = self.ended() {
                return Poll::Ready(outcome);
            }
            if progress {
                self.timer = None;
                continue;
            }
            match self.read(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Outcome::Io(error)),
                Poll::Pending if self.gate.is_late(cx) => {
                    return Poll::Ready(Outcome::Cut("peer did not say in time who it is".into()));
                }
                Poll::Pending => return self.wind_down(cx),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// From now on the peer may take its time, and the transport knows that it was admitted.
    fn open_gate(&mut self) {
        if self.gate.opens(self.protocol.is_admitted()) {
            self.io.admitted();
        }
    }

    /// Drops everything at work, then gives the transport its time to say goodbye.
    async fn part(&mut self, outcome: &Outcome) {
        self.pending = FuturesUnordered::new();
        self.outbox.retire();
        let farewell = poll_fn(|cx| self.io.poll_farewell(cx, outcome));
        if tokio::time::timeout(self.options.linger, farewell).await.is_err() {
            tracing::debug!("peer does not read the close message");
        }
    }

    fn unwritten(&self) -> usize {
        self.output.len() - self.written
    }

    fn has_room(&self) -> bool {
        self.unwritten() < self.options.write_high_water
    }

    /// No more requests are taken; those at work go on.
    fn finish(&mut self) {
        if self.reading != Reading::Done {
            self.reading = Reading::Done;
            self.ending = Some(Outcome::Finished);
        }
    }

    /// Nothing is taken or computed any more; what is queued or written already is flushed.
    fn dismiss(&mut self, code: u16) {
        if matches!(self.ending, Some(Outcome::Dismissed(_))) {
            return;
        }
        // Regardless of the high-water mark: the queue has its own bound, and nothing comes after it.
        while let Some(body) = self.outbox.pop() {
            self.framing.encode(&body, &mut self.output);
        }
        self.stop(Outcome::Dismissed(code));
    }

    /// Nothing is taken or computed any more; what is written already is flushed.
    fn stop(&mut self, outcome: Outcome) {
        self.reading = Reading::Done;
        self.pending = FuturesUnordered::new();
        self.pending_bytes = 0;
        self.ending = Some(outcome);
    }

    fn collect_replies(&mut self, cx: &mut Context<'_>) -> bool {
        let mut progress = false;
        while self.has_room() && !self.pending.is_empty() {
            let Poll::Ready(Some((reply, bytes))) = self.pending.poll_next_unpin(cx) else { break };
            self.pending_bytes -= bytes;
            self.put_reply(reply);
            progress = true;
        }
        progress
    }

    fn drain_outbox(&mut self) -> bool {
        let mut progress = false;
        while self.has_room() {
            let Some(body) = self.outbox.pop() else { break };
            self.framing.encode(&body, &mut self.output);
            progress = true;
        }
        progress
    }

    fn put_reply(&mut self, reply: P::Reply) {
        if self.options.outbox_first || self.protocol.is_behind_outbox(&reply) {
            // Regardless of the high-water mark: the order is promised, and the queue has its own bound.
            while let Some(body) = self.outbox.pop() {
                self.framing.encode(&body, &mut self.output);
            }
        }
        let start = self.output.len();
        self.protocol.encode(reply, &mut self.output);
        if self.output.len() > start {
            self.framing.seal(&mut self.output, start);
        }
        self.protocol.replied();
        self.drain_outbox();
    }

    fn may_accept(&self) -> bool {
        self.reading != Reading::Done
            && self.has_room()
            && (self.options.order == Order::Concurrent || self.pending.is_empty())
    }

    fn accept_frames(&mut self, cx: &mut Context<'_>) -> bool {
        let mut progress = false;
        for _ in 0..FRAMES_PER_PASS {
            if !self.may_accept() {
                break;
            }
            let decoded = match self.reading {
                Reading::Open => self.framing.decode(&mut self.input),
                _ => self.framing.decode_eof(&mut self.input),
            };
            match decoded {
                Ok(Some(frame)) if self.gate.takes(frame.len()) => self.accept(&frame, cx),
                Ok(None) if self.reading == Reading::Open && self.gate.takes(self.input.len()) => {
                    break;
                }
                Ok(Some(_)) => self.stop(stranger_says_too_much()),
                Ok(None) if self.reading == Reading::Open => self.stop(stranger_says_too_much()),
                Ok(None) => self.reading = Reading::Done,
                Err(error) => self.bad_frame(error, cx),
            }
            progress = true;
        }
        if self.input.is_empty() && self.input.capacity() > KEEP_CAPACITY {
            self.input = BytesMut::new();
        }
        progress
    }

    fn accept(&mut self, frame: &[u8], cx: &mut Context<'_>) {
        let full = self.pending.len() >= self.options.max_pending
            || self.pending_bytes + frame.len() > self.options.max_pending_bytes
                && !self.pending.is_empty();
        let step = if full {
            self.protocol.overloaded(frame, self.options.max_pending)
        } else {
            self.protocol.accept(frame)
        };
        self.take(step, frame.len(), cx);
        self.open_gate();
    }

    fn bad_frame(&mut self, error: FrameError, cx: &mut Context<'_>) {
        let fatal = error.is_fatal().then(|| error.clone());
        let step = self.protocol.bad_frame(error);
        self.take(step, 0, cx);
        if let Some(error) = fatal {
            self.stop(Outcome::Framing(error));
        }
    }

    fn take(&mut self, step: Step<P>, bytes: usize, cx: &mut Context<'_>) {
        match step {
            Step::Skip => {}
            Step::Reply(reply) => self.put_reply(reply),
            Step::Call(mut call) => match Pin::new(&mut call).poll(cx) {
                Poll::Ready(reply) => self.put_reply(reply),
                Poll::Pending => {
                    self.pending_bytes += bytes;
                    self.pending.push(InFlight { call, bytes });
                }
            },
            Step::Close(reply, outcome) => {
                if let Some(reply) = reply {
                    self.put_reply(reply);
                }
                self.stop(outcome);
            }
        }
    }

    /// Writes what the transport takes; true if it took anything.
    fn write(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        let before = self.written;
        while self.unwritten() > 0 {
            match Pin::new(&mut self.io).poll_write(cx, &self.output[self.written..]) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(count)) => self.written += count,
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => break,
            }
            self.unflushed = true;
        }
        let progress = self.written > before;
        self.recycle_output();
        if self.unflushed && self.unwritten() == 0 {
            match Pin::new(&mut self.io).poll_flush(cx) {
                Poll::Ready(result) => {
                    result?;
                    self.unflushed = false;
                }
                Poll::Pending => {}
            }
        }
        Ok(progress)
    }

    fn recycle_output(&mut self) {
        if self.unwritten() == 0 {
            self.written = 0;
            if self.output.capacity() > KEEP_CAPACITY {
                self.output = Vec::new();
            } else {
                self.output.clear();
            }
        } else if self.written > self.output.len() / 2 {
            self.output.drain(..self.written);
            self.written = 0;
        }
    }

    /// Lets the protocol queue its last words once everything was answered; true if it had any.
    fn send_goodbye(&mut self) -> bool {
        let is_over = self.reading == Reading::Done && !self.is_busy();
        if !is_over || self.said_goodbye || self.ending.is_some() {
            return false;
        }
        self.said_goodbye = true;
        self.protocol.ending();
        self.drain_outbox()
    }

    fn ended(&mut self) -> Option<Outcome> {
        let done = self.reading == Reading::Done
            && !self.is_busy()
            && self.unwritten() == 0
            && !self.unflushed;
        done.then(|| self.ending.take().unwrap_or(Outcome::PeerClosed))
    }

    /// Whether something is at work for a peer that may be silent.
    fn is_busy(&self) -> bool {
        let is_told = self.ending.is_none() && self.protocol.is_listening();
        is_told || !self.pending.is_empty()
    }

    fn is_reading(&self) -> bool {
        self.reading == Reading::Open && self.may_accept()
    }

    /// Reads once; `Pending` also while reading is held back by a bound.
    fn read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_reading() {
            return Poll::Pending;
        }
        if self.input.capacity() - self.input.len() < READ_CHUNK / 2 {
            self.input.reserve(self.input.len().clamp(READ_CHUNK, MAX_READ_CHUNK));
        }
        let read = pin!(self.io.read_buf(&mut self.input)).poll(cx);
        match ready!(read) {
            Ok(0) => self.reading = Reading::Eof,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
        Poll::Ready(Ok(()))
    }

    /// Waits, and bounds that wait while nothing is read: a peer that is wholly gone gets no
    /// replies, and one that does not take its last bytes cannot hold the connection open.
    fn wind_down(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        while self.reading == Reading::Done || !self.pending.is_empty() && !self.is_reading() {
            let period = if self.is_busy() { HANGUP_CHECK } else { self.options.linger };
            let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(period)));
            ready!(timer.as_mut().poll(cx));
            self.timer = None;
            if self.io.peer_gone() {
                return Poll::Ready(Outcome::PeerClosed);
            }
            if !self.is_busy() {
                return Poll::Ready(Outcome::Cut("peer does not take its last bytes".into()));
            }
        }
        Poll::Pending
    }
}

fn stranger_says_too_much() -> Outcome {
    Outcome::Cut("peer sends too much before it says who it is".into())
}

impl<T, F, P: Protocol> Drop for Connection<T, F, P> {
    fn drop(&mut self) {
        self.outbox.retire();
    }
}
