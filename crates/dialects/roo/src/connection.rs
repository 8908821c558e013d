//! This dialect on one connection: frames become commands, and what they come to goes out with the events.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use rookery_core::Core;
use rookery_model::ThreadId;
use rookery_wire::framing::{Form, FrameError, NodeIpc};
use rookery_wire::outbox::OutboxLimits;
use rookery_wire::rights;
use rookery_wire::{ConnectionHandle, Options, Order, Outcome as Ended, Protocol, Rejected, Step};
use serde_json::Value;

use crate::context::Cx;
use crate::errors::{Code, Failure};
use crate::hub::Hub;
use crate::listener::Listener;
use crate::ops::Outcome;
use crate::table::{self, Command};
use crate::wire::{Action, ClineMessage, Event, Incoming, Received, Say, Shape, ack, parse};

/// The longest frame: images travel inside of them.
const FRAME_LIMIT: usize = 64 * 1024 * 1024;

/// Commands after which a connection hears of its own tasks only.
const OWNING: &[&str] = &["StartNewTask", "ResumeTask"];

/// The bounds of a connection of this dialect.
#[must_use]
pub fn options() -> Options {
    Options {
        // A command may depend on the one before it.
        order: Order::Sequential,
        outbox: OutboxLimits { messages: 16 * 1024, bytes: 32 * 1024 * 1024 },
        max_pending_bytes: FRAME_LIMIT,
        ..Options::default()
    }
}

/// The framing of this dialect.
#[must_use]
pub fn framing(shape: Shape) -> NodeIpc {
    let framing = NodeIpc::with_limit(FRAME_LIMIT);
    match shape {
        Shape::Published => framing,
        Shape::Seed => framing.with_lines(),
    }
}

/// One connection.
pub struct Roo {
    core: Core,
    hub: Hub,
    listener: Arc<Listener>,
    connection: ConnectionHandle,
    form: Form,
    client: String,
    /// None before the client said its token.
    cx: Option<Cx>,
    /// Whether the client said anything that could be read.
    has_spoken: bool,
}

/// The protocol of one connection, to be served with [`framing`] and [`options`].
#[must_use]
pub fn serve(
    core: Core,
    hub: Hub,
    listener: Arc<Listener>,
    form: Form,
    connection: ConnectionHandle,
) -> Roo {
    let bits = uuid::Uuid::new_v4().as_u128() & 0xffff_ffff_ffff;
    let client = format!("{bits:012x}");
    let mut roo =
        Roo { core, hub, listener, connection, form, client, cx: None, has_spoken: false };
    if roo.listener.token.is_none() {
        roo.welcome();
    }
    roo
}

impl Roo {
    /// Says who the client is, and lets it hear of what happens.
    fn welcome(&mut self) {
        let outbox = self.connection.outbox();
        let ack = ack(&self.client, std::process::id(), std::os::unix::process::parent_id());
        // The queue is empty: there is room for the first message.
        let _ = outbox.try_send(ack);
        let (core, hub, listener) =
            (self.core.clone(), self.hub.clone(), Arc::clone(&self.listener));
        let route = hub.join(outbox.clone(), Arc::clone(&listener));
        self.cx = Some(Cx { core, hub, listener, route });
    }

    fn takes(&self, token: &str) -> bool {
        let wanted = self.listener.token.as_ref();
        wanted.is_some_and(|wanted| rookery_wire::transport::tcp::tokens_equal(token, &wanted.0))
    }

    fn command(&mut self, incoming: Incoming) -> Step<Self> {
        let Some(cx) = self.cx.clone() else {
            return cut("the first message has to be the token");
        };
        let replies = Replies {
            outbox: self.connection.clone(),
            client: self.client.clone(),
            shape: self.listener.shape,
        };
        cx.hub.begin(cx.route, OWNING.contains(&incoming.name.as_str()));
        let call: Call = Box::pin(run(cx, replies, incoming));
        Step::Call(call)
    }

    fn ignore(&self, reason: &'static str) -> Step<Self> {
        tracing::debug!(client = self.client, listener = self.listener.name, "{reason}");
        if self.listener.is_tcp && !self.has_spoken {
            return cut("the stream does not begin with a message of this protocol");
        }
        Step::Skip
    }
}

fn cut(reason: &'static str) -> Step<Roo> {
    Step::Close(None, Ended::Cut(reason.into()))
}

impl Drop for Roo {
    fn drop(&mut self) {
        if let Some(cx) = &self.cx {
            self.hub.leave(cx.route);
        }
    }
}

/// A command at work; what it comes to is queued.
pub(crate) type Call = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Protocol for Roo {
    type Reply = ();
    type Call = Call;

    fn accept(&mut self, frame: &[u8]) -> Step<Self> {
        match parse(frame, self.listener.shape == Shape::Seed) {
            Received::Ignored(reason) => self.ignore(reason),
            Received::Auth(token, is_wrapped) => {
                self.form.answer_in_kind(is_wrapped);
                if self.cx.is_some() {
                    return self.ignore("a token that was not asked for");
                }
                if !self.takes(&token) {
                    return cut("the token is wrong");
                }
                self.has_spoken = true;
                self.welcome();
                Step::Skip
            }
            Received::Command(incoming, is_wrapped) => {
                self.has_spoken = true;
                self.form.answer_in_kind(is_wrapped);
                self.command(*incoming)
            }
        }
    }

    fn bad_frame(&mut self, error: FrameError) -> Step<Self> {
        Step::Close(None, Ended::Framing(error))
    }

    fn overloaded(&mut self, frame: &[u8], _: usize) -> Step<Self> {
        // Commands are taken one by one, so that there is never more than one at work.
        self.accept(frame)
    }

    fn encode(&mut self, (): (), _: &mut Vec<u8>) {}

    fn is_admitted(&self) -> bool {
        self.cx.is_some()
    }
}

/// Replies to one client.
struct Replies {
    outbox: ConnectionHandle,
    client: String,
    shape: Shape,
}

impl Replies {
    fn send(&self, event: &Event) {
        let bytes = event.to_bytes(self.shape, Some(&self.client), None);
        if self.outbox.outbox().try_send(bytes) == Err(Rejected::Full) {
            self.outbox.close("the client does not read what it asked for");
        }
    }
}

async fn run(cx: Cx, replies: Replies, incoming: Incoming) {
    let Incoming { name, data, request, is_formed } = incoming;
    let row = table::find(&name);
    let is_due = row.is_none_or(|row| !row.is_published) || request.is_some();
    let is_silent = name == "Log" && request.is_none();
    let (hub, route) = (cx.hub.clone(), cx.route);
    let now = hub.now();
    let named = named_task(data.as_ref());
    let result = match (is_formed, row) {
        (false, _) => Err(Failure::new(Code::InvalidCommand, "`commandName` is missing")),
        (true, None) => {
            Err(Failure::new(Code::UnknownCommand, format!("there is no command {name}")))
        }
        (true, Some(row)) => carry_out(cx, row, data).await,
    };
    if result.is_err() && OWNING.contains(&name.as_str()) {
        hub.give_up(route);
    }
    let reply = |payload: Value| {
        let request = request.clone().unwrap_or_default();
        Event::Reply { command: name.clone(), request, payload }
    };
    match result {
        Ok(Outcome { events, payload }) => {
            events.iter().for_each(|event| replies.send(event));
            if is_due && !is_silent {
                replies.send(&reply(payload));
            }
        }
        Err(failure) if is_due => replies.send(&reply(failure.to_payload())),
        Err(failure) => {
            let text = format!("{}: {}", failure.code.as_str(), failure.message);
            let message = Box::new(ClineMessage { ts: now, ..ClineMessage::say(Say::Error, text) });
            let task = failure.task.or(named).unwrap_or_default();
            replies.send(&Event::Message { task, action: Action::Created, message });
        }
    }
}

/// Carries a command out, to its end even if its client goes away; one that panics is a failure.
async fn carry_out(cx: Cx, row: &'static Command, data: Option<Value>) -> Result<Outcome, Failure> {
    if !row.rights.admits(cx.core.caller().is_agent()) {
        return Err(Failure::new(Code::PermissionDenied, rights::refusal(row.name)));
    }
    let work = (row.start)(cx, data)?;
    tokio::spawn(work).await.unwrap_or_else(|error| {
        tracing::error!(command = row.name, %error, "a command panicked");
        Err(Failure::new(Code::InternalError, "internal error"))
    })
}

/// The task that a command names.
fn named_task(data: Option<&Value>) -> Option<String> {
    let data = data?;
    let named = data.get("taskId").unwrap_or(data).as_str()?;
    Some(named).filter(|text| text.parse::<ThreadId>().is_ok()).map(str::to_owned)
}
