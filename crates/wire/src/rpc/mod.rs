//! JSON-RPC 2.0 as one [`Protocol`]: envelope, typed method tables, errors. Owns the reply bytes
//! and the containment of panics; knows no method.

mod envelope;
mod error;
mod lenient;
mod raw;
mod table;

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

pub use envelope::{Id, Request};
pub use error::{RpcError, code};
pub use raw::RawJson;
pub use table::{Answer, CallResult, Method, NoParams, RawParams, Table, Work};

#[doc(hidden)]
pub use table::{decodes, invoke, invoke_call, params_schema, result_schema};

use crate::{
    connection::Outcome,
    framing::{self, FrameError},
    protocol::{Protocol, Step},
    rights::{Allowed, Needs, Rights},
};

/// What invalid UTF-8 in a frame, and a frame that is too long, do to the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnBadFrame {
    /// Answer a parse error with a null id, and go on if the framing can.
    #[default]
    Answer,
    /// Invalid UTF-8 and fatal errors close the connection without a word; a line that is too
    /// long is still answered.
    Close,
}

/// An error that the envelope makes by itself, without the dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The frame is no JSON, or too long, or no text.
    Parse,
    /// No such method.
    UnknownMethod,
    /// Too many requests are at work.
    Overloaded,
    /// A method panicked, or its result cannot be written.
    Internal,
}

/// Turns an error of the envelope's into the dialect's own.
pub type Reword = fn(Fault, RpcError) -> RpcError;

/// Makes a reply shorter that is over its bound: the method that was called, and the whole reply. None
/// leaves it as it is.
pub type Shorten = fn(Option<&'static str>, &[u8]) -> Option<Vec<u8>>;

/// What a dialect does beside its methods, in step with the replies. Called from the connection's
/// own task, so it must not block.
pub trait Companion: Send + Sync {
    /// A method begins.
    fn started(&self, method: &'static str);
    /// A reply is on its way, to this method if one was called; what is queued now goes out right
    /// behind it.
    fn replied(&self, method: Option<&'static str>);
    /// Whether the reply to this method goes out behind what is queued by then, also on an endpoint that
    /// serves other dialects as well.
    fn is_behind_outbox(&self, _method: &'static str) -> bool {
        false
    }
    /// The peer has said all it had to say; what is queued now still goes out.
    fn ending(&self);
}

/// Serves one or more [`Table`]s of methods, each in its own context.
pub struct JsonRpc {
    sets: Vec<Box<dyn MethodSet>>,
    on_bad_frame: OnBadFrame,
    error_filter: Option<fn(&str) -> String>,
    is_lenient: bool,
    reword: Reword,
    /// From which length on replies are made shorter, and how.
    bound: Option<(usize, Shorten)>,
    companions: Vec<Arc<dyn Companion>>,
    /// What the connection is allowed, and what is answered beyond that.
    limit: Option<Limit>,
    /// What is done about a refused notification.
    unanswered: Option<Unanswered>,
    /// The method whose reply was written last.
    last: Option<&'static str>,
}

/// What is done about a notification that is refused, to which there is no reply.
type Unanswered = Box<dyn Fn(&RpcError) + Send + Sync>;

/// What a connection is allowed, and how a call beyond that is refused.
struct Limit {
    allowed: Allowed,
    refuse: fn(&'static str) -> RpcError,
}

/// A table with the context its methods run in.
trait MethodSet: Send {
    /// Starts the method of that name, if this set has it.
    fn start(&self, name: &str, params: Option<&RawValue>, protocol: &JsonRpc) -> Option<Started>;
}

/// The method's own name, and what became of starting it.
type Started = (&'static str, Result<Work, RpcError>);

/// The context of a table's methods, which knows who calls them.
pub trait Admit: Clone + Send + 'static {
    /// Why the caller may not call a row, if it may not.
    fn refuse(&self, name: &'static str, rights: Rights) -> Option<RpcError>;
}

/// A context that knows no caller admits all of them.
impl Admit for () {
    fn refuse(&self, _name: &'static str, _rights: Rights) -> Option<RpcError> {
        None
    }
}

struct Bound<C: 'static>(Arc<Table<C>>, C, Needs);

impl<C: Admit> MethodSet for Bound<C> {
    fn start(&self, name: &str, params: Option<&RawValue>, protocol: &JsonRpc) -> Option<Started> {
        let method = self.0.get(name)?;
        let reword = protocol.reword;
        let needs = method.rights.needs.max(self.2);
        if let Some(limit) = &protocol.limit
            && !limit.allowed.admits(needs)
        {
            return Some((method.name, Err((limit.refuse)(method.name))));
        }
        if let Some(refused) = self.1.refuse(method.name, method.rights) {
            return Some((method.name, Err(refused)));
        }
        let context = self.1.clone();
        let call = catch_unwind(AssertUnwindSafe(|| (method.call)(context, params)))
            .unwrap_or_else(|panic| Err(reword(Fault::Internal, panicked(method.name, &*panic))));
        Some((method.name, call))
    }
}

impl JsonRpc {
    /// A protocol for one connection; each call gets a clone of `context`.
    pub fn new<C: Admit>(table: impl Into<Arc<Table<C>>>, context: C) -> Self {
        let empty = Self {
            sets: Vec::new(),
            on_bad_frame: OnBadFrame::default(),
            error_filter: None,
            is_lenient: false,
            reword: |_, error| error,
            bound: None,
            companions: Vec::new(),
            limit: None,
            unanswered: None,
            last: None,
        };
        empty.and(table, context)
    }

    /// Serves a further table; names that an earlier one has are found there.
    #[must_use]
    pub fn and<C: Admit>(self, table: impl Into<Arc<Table<C>>>, context: C) -> Self {
        self.and_requiring(Needs::Look, table, context)
    }

    /// The same for a table that asks at least this of a connection, whatever its rows say.
    #[must_use]
    pub fn and_requiring<C: Admit>(
        mut self,
        least: Needs,
        table: impl Into<Arc<Table<C>>>,
        context: C,
    ) -> Self {
        self.sets.push(Box::new(Bound(table.into(), context, least)));
        self
    }

    /// Refuses what needs more than the connection is allowed.
    #[must_use]
    pub fn limited(mut self, allowed: Allowed, refuse: fn(&'static str) -> RpcError) -> Self {
        self.limit = Some(Limit { allowed, refuse });
        self
    }

    /// Has something done about notifications that are refused: no reply says so.
    #[must_use]
    pub fn unanswered(mut self, then: impl Fn(&RpcError) + Send + Sync + 'static) -> Self {
        self.unanswered = Some(Box::new(then));
        self
    }

    /// Says what a frame that is no text does.
    #[must_use]
    pub fn on_bad_frame(mut self, policy: OnBadFrame) -> Self {
        self.on_bad_frame = policy;
        self
    }

    /// Passes every error message through `filter` before it is sent.
    #[must_use]
    pub fn error_filter(mut self, filter: fn(&str) -> String) -> Self {
        self.error_filter = Some(filter);
        self
    }

    /// Reads requests the lenient way: `jsonrpc` may be absent, an id of `null` is answered like
    /// any other, and a document that is JSON but no request is an invalid request rather than a
    /// parse error.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.is_lenient = true;
        self
    }

    /// Gives the envelope's own errors other codes or words.
    #[must_use]
    pub fn reword(mut self, reword: Reword) -> Self {
        self.reword = reword;
        self
    }

    /// Has replies of more than `limit` bytes made shorter.
    #[must_use]
    pub fn within(mut self, limit: usize, shorten: Shorten) -> Self {
        self.bound = Some((limit, shorten));
        self
    }

    /// Has something done beside the methods; one that is given later comes after the others.
    #[must_use]
    pub fn companion(mut self, companion: Arc<dyn Companion>) -> Self {
        self.companions.push(companion);
        self
    }

    fn start(&self, request: &Request<'_>) -> Result<PendingCall, RpcError> {
        if request.jsonrpc.as_deref() != Some("2.0") {
            return Err(RpcError::invalid_request("jsonrpc must be \"2.0\""));
        }
        let Some(name) = request.method.as_deref() else {
            return Err(RpcError::invalid_request("method is required"));
        };
        let mut sets = self.sets.iter();
        let started = sets.find_map(|set| set.start(name, request.params, self));
        let unknown = || (self.reword)(Fault::UnknownMethod, RpcError::unknown_method(name));
        let (method, call) = started.ok_or_else(unknown)?;
        let call = call?;
        self.accompany(|companion| companion.started(method));
        Ok(PendingCall { id: request.id.map(Id::new), method, call, reword: self.reword })
    }
}

impl Protocol for JsonRpc {
    type Reply = Reply;
    type Call = PendingCall;

    fn accept(&mut self, frame: &[u8]) -> Step<Self> {
        let text = match framing::text(frame) {
            Ok(text) => text,
            Err(error) => return self.bad_frame(error),
        };
        let request = match self.parse(text) {
            Ok(request) => request,
            Err(reply) => return Step::Reply(reply),
        };
        match self.start(&request) {
            Ok(call) => Step::Call(call),
            Err(error) => {
                if let (None, Some(unanswered)) = (request.id, &self.unanswered) {
                    unanswered(&error);
                }
                refuse(&request, error)
            }
        }
    }

    fn bad_frame(&mut self, error: FrameError) -> Step<Self> {
        let reply = Reply::unaddressed((self.reword)(Fault::Parse, RpcError::parse(&error)));
        let strict = self.on_bad_frame == OnBadFrame::Close;
        match error {
            FrameError::NotUtf8 if strict => Step::Close(None, Outcome::Framing(error)),
            _ if error.is_fatal() => {
                Step::Close((!strict).then_some(reply), Outcome::Framing(error))
            }
            _ => Step::Reply(reply),
        }
    }

    fn overloaded(&mut self, frame: &[u8], limit: usize) -> Step<Self> {
        let message = format!("too many requests in flight, the limit is {limit}");
        let error = (self.reword)(Fault::Overloaded, RpcError::new(code::OVERLOADED, message));
        let request = framing::text(frame).ok().and_then(|text| self.parse(text).ok());
        match request {
            Some(request) => refuse(&request, error),
            None => self.accept(frame),
        }
    }

    fn encode(&mut self, reply: Reply, out: &mut Vec<u8>) {
        let (start, method) = (out.len(), reply.method);
        self.last = method;
        self.write(reply, out);
        let Some((limit, shorten)) = self.bound else { return };
        if out.len() - start > limit
            && let Some(short) = shorten(method, &out[start..])
        {
            out.truncate(start);
            out.extend_from_slice(&short);
        }
    }

    fn is_behind_outbox(&self, reply: &Reply) -> bool {
        let Some(method) = reply.method else { return false };
        self.companions.iter().any(|companion| companion.is_behind_outbox(method))
    }

    fn replied(&mut self) {
        let method = self.last.take();
        self.accompany(|companion| companion.replied(method));
    }

    fn ending(&mut self) {
        self.accompany(|companion| companion.ending());
    }
}

impl JsonRpc {
    /// Writes a reply, whatever its length.
    fn write(&self, reply: Reply, out: &mut Vec<u8>) {
        let Addressee::Peer(id) = &reply.to else { return };
        let start = out.len();
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        out.extend_from_slice(id.as_ref().map_or(b"null", |id| id.as_str().as_bytes()));
        let head = out.len();
        let error = match reply.result {
            Ok(answer) => {
                out.extend_from_slice(b",\"result\":");
                match catch_unwind(AssertUnwindSafe(|| answer.write(out))) {
                    Ok(Ok(())) => return out.push(b'}'),
                    Ok(Err(error)) => {
                        let message = format!("result cannot be written: {error}");
                        (self.reword)(Fault::Internal, RpcError::internal(message))
                    }
                    Err(panic) => (self.reword)(Fault::Internal, panicked("result", &*panic)),
                }
            }
            Err(error) => error,
        };
        out.truncate(head);
        out.extend_from_slice(b",\"error\":");
        if error.filtered(self.error_filter).write(out).is_err() {
            // Cannot happen for a string, a number and a value; a reply without error would be worse than none.
            out.truncate(start);
            return;
        }
        out.push(b'}');
    }

    /// Reads a request, or says what is answered instead.
    fn parse<'a>(&self, text: &'a str) -> Result<Request<'a>, Reply> {
        let unreadable = |error| Reply::unaddressed((self.reword)(Fault::Parse, error));
        if !self.is_lenient {
            return Request::parse(text).map_err(unreadable);
        }
        lenient::parse(text).map_err(|refused| match refused {
            lenient::Refused::Unreadable(error) => unreadable(error),
            lenient::Refused::NoObject(error) => Reply::unaddressed(error),
            lenient::Refused::Invalid { id, error } => {
                Reply { to: Addressee::Peer(id), result: Err(error), method: None }
            }
        })
    }

    fn accompany(&self, act: impl Fn(&dyn Companion)) {
        for companion in &self.companions {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| act(&**companion))) {
                panicked("companion", &*panic);
            }
        }
    }
}

/// Refuses a request, in silence if it is a notification.
fn refuse<P: Protocol<Reply = Reply>>(request: &Request<'_>, error: RpcError) -> Step<P> {
    match request.id {
        None => Step::Skip,
        Some(id) => {
            let to = Addressee::Peer(Some(Id::new(id)));
            Step::Reply(Reply { to, result: Err(error), method: None })
        }
    }
}

fn panicked(what: &str, panic: &(dyn Any + Send)) -> RpcError {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    tracing::error!(method = what, panic = text, "handler panicked");
    RpcError::internal("internal error")
}

enum Addressee {
    /// A notification asks for no reply.
    None,
    /// The peer, under its id or under null if that is unknown.
    Peer(Option<Id>),
}

/// The reply to one request, or the silence after a notification.
pub struct Reply {
    to: Addressee,
    result: CallResult,
    method: Option<&'static str>,
}

impl Reply {
    /// An error for a frame whose id could not be read.
    fn unaddressed(error: RpcError) -> Self {
        Self { to: Addressee::Peer(None), result: Err(error), method: None }
    }
}

/// A method at work; a panic inside becomes an internal error.
pub struct PendingCall {
    id: Option<Id>,
    method: &'static str,
    call: Work,
    reword: Reword,
}

impl Future for PendingCall {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.call.as_mut().poll(cx)));
        let result = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(result)) => result,
            Err(panic) => Err((self.reword)(Fault::Internal, panicked(self.method, &*panic))),
        };
        let to = self.id.take().map_or(Addressee::None, |id| Addressee::Peer(Some(id)));
        Poll::Ready(Reply { to, result, method: Some(self.method) })
    }
}

/// The body of a notification, ready for an [`Outbox`](crate::Outbox).
///
/// # Errors
/// If `params` cannot be written as JSON.
pub fn notification(method: &str, params: &impl Serialize) -> serde_json::Result<Bytes> {
    #[derive(Serialize)]
    struct Notification<'a, P> {
        jsonrpc: &'static str,
        method: &'a str,
        params: &'a P,
    }
    let body = Notification { jsonrpc: "2.0", method, params };
    serde_json::to_vec(&body).map(Bytes::from)
}
