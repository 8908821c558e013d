//! This dialect on one connection: lines become operations and results become lines. Owns ids,
//! the order of work and the containment of panics; knows no operation.

use std::{
    any::Any,
    collections::HashSet,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use futures_util::FutureExt as _;
use rookery_wire::{
    Options, Outcome, Protocol, Step,
    framing::{DEFAULT_FRAME_LIMIT, FrameError, Ndjson},
    outbox::OutboxLimits,
};
use serde::Serialize;

use crate::{
    context::Link,
    envelope,
    errors::{Code, Error},
    lane::Lane,
    table::{OpResult, Ready, Table, Terms},
};

/// How long the rest of a line that is too long is still read, so that the peer gets to the reply.
const DRAIN: Duration = Duration::from_millis(500);

/// The bounds of a connection of this dialect.
#[must_use]
pub fn options() -> Options {
    Options {
        // Requests wait for their turn, so a large number may be open though little is done at a time.
        max_pending: 16 * 1024,
        outbox: OutboxLimits { messages: 256 * 1024, bytes: 8 * 1024 * 1024 },
        outbox_first: true,
        ..Options::default()
    }
}

/// The framing of this dialect.
#[must_use]
pub fn framing() -> Ndjson {
    Ndjson::default().strict()
}

/// Serves a table of operations on one connection.
pub struct Roost<C: 'static> {
    table: Arc<Table<C>>,
    context: C,
    link: Link,
    terms: Terms,
    lane: Lane,
    /// Ids of the requests at work.
    pending: HashSet<i64>,
    /// Whether nothing more is taken.
    is_closing: bool,
    /// Bytes of the longest line that is sent.
    longest: usize,
}

impl<C: Clone + Send + 'static> Roost<C> {
    pub(crate) fn over(table: Arc<Table<C>>, context: C, link: Link, terms: Terms) -> Self {
        Self {
            table,
            context,
            link,
            terms,
            lane: Lane::default(),
            pending: HashSet::new(),
            is_closing: false,
            longest: DEFAULT_FRAME_LIMIT,
        }
    }

    #[cfg(test)]
    pub(crate) fn with_longest(self, longest: usize) -> Self {
        Self { longest, ..self }
    }

    fn start(&mut self, request: &envelope::Request<'_>) -> Result<Call, Error> {
        if self.pending.contains(&request.id) {
            let message = format!("request {} is still at work", request.id);
            return Err(Error::new(Code::DuplicateId, message));
        }
        let start = || self.table.start(&request.op, request.params, self.terms);
        let (name, ready) = catch_unwind(AssertUnwindSafe(start))
            .unwrap_or_else(|panic| Err(panicked(&request.op, &*panic)))?;
        self.pending.insert(request.id);
        Ok(self.call(request.id, name, ready))
    }

    /// The whole life of a request. It takes its place in line when it is first polled, which is
    /// right after it came.
    fn call(&self, id: i64, name: &'static str, ready: Ready<C>) -> Call {
        let (context, lane) = (self.context.clone(), self.lane.clone());
        let subscription = Arc::clone(&self.link.subscription);
        Box::pin(async move {
            let turn = lane.turn().await;
            let mut held = None;
            let work = AssertUnwindSafe(async {
                match ready {
                    Ready::Ordered(start) => {
                        held = Some(turn);
                        start(context).await
                    }
                    Ready::Free(start) => start(context, turn).await,
                }
            });
            let result =
                work.catch_unwind().await.unwrap_or_else(|panic| Err(panicked(name, &*panic)));
            subscription.caught_up().await;
            drop(held);
            Reply { id, is_pending: true, result }
        })
    }
}

/// A request at work.
pub type Call = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// The reply to one line.
pub struct Reply {
    id: i64,
    /// Whether the id is free again once this is written.
    is_pending: bool,
    result: OpResult,
}

impl Reply {
    fn refusal(id: i64, error: Error) -> Self {
        Self { id, is_pending: false, result: Err(error) }
    }
}

impl<C: Clone + Send + 'static> Protocol for Roost<C> {
    type Reply = Reply;
    type Call = Call;

    fn accept(&mut self, frame: &[u8]) -> Step<Self> {
        if self.is_closing {
            return Step::Skip;
        }
        match envelope::parse(frame) {
            Ok(request) => match self.start(&request) {
                Ok(call) => Step::Call(call),
                Err(error) => Step::Reply(Reply::refusal(request.id, error)),
            },
            Err(malformed) => {
                let error = Error::new(Code::ParseError, malformed.message);
                Step::Reply(Reply::refusal(malformed.id, error))
            }
        }
    }

    fn bad_frame(&mut self, error: FrameError) -> Step<Self> {
        let FrameError::TooLong { .. } = error else {
            return Step::Close(None, Outcome::Framing(error));
        };
        if self.is_closing {
            return Step::Skip;
        }
        self.is_closing = true;
        self.link.ending.cancel();
        let connection = self.link.connection.clone();
        tokio::spawn(async move {
            let over = connection.closed();
            let _ = tokio::time::timeout(DRAIN, over.cancelled()).await;
            connection.finish();
        });
        let error = Error::new(Code::FrameTooLarge, error.to_string());
        Step::Reply(Reply::refusal(0, error))
    }

    fn overloaded(&mut self, frame: &[u8], limit: usize) -> Step<Self> {
        match envelope::parse(frame) {
            Ok(request) if !self.is_closing && !self.pending.contains(&request.id) => {
                let message = format!("too many requests at work, the limit is {limit}");
                Step::Reply(Reply::refusal(request.id, Error::internal(message)))
            }
            _ => self.accept(frame),
        }
    }

    fn encode(&mut self, reply: Reply, out: &mut Vec<u8>) {
        if reply.is_pending {
            self.pending.remove(&reply.id);
        }
        let start = out.len();
        let head = format!("{{\"id\":\"{}\",\"ok\":", reply.id);
        out.extend_from_slice(head.as_bytes());
        let error = match reply.result {
            Ok(answer) => {
                out.extend_from_slice(b"true,\"result\":");
                match catch_unwind(AssertUnwindSafe(|| answer.write(out))) {
                    Ok(Ok(())) if out.len() - start < self.longest => return out.push(b'}'),
                    Ok(Ok(())) => Error::internal("the result is too large for one line"),
                    Ok(Err(error)) => {
                        Error::internal(format!("the result cannot be written: {error}"))
                    }
                    Err(panic) => panicked("result", &*panic),
                }
            }
            Err(error) => error,
        };
        out.truncate(start + head.len());
        out.extend_from_slice(b"false,\"error\":");
        write_error(&error, out);
        out.push(b'}');
    }

    fn replied(&mut self) {
        self.link.subscription.replied();
    }

    fn is_listening(&self) -> bool {
        !self.is_closing && self.link.subscription.is_on()
    }
}

fn write_error(error: &Error, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Body<'a> {
        code: &'static str,
        message: &'a str,
    }
    let start = out.len();
    let body = Body { code: error.code().as_str(), message: error.message() };
    if serde_json::to_writer(&mut *out, &body).is_err() {
        // Cannot happen for two strings; a line that is no JSON would be worse than a dull message.
        out.truncate(start);
        out.extend_from_slice(b"{\"code\":\"internal\",\"message\":\"\"}");
    }
}

fn panicked(what: &str, panic: &(dyn Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    tracing::error!(op = what, panic = text, "operation panicked");
    Error::internal("internal error")
}
