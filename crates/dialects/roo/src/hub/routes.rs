//! Connections, and which events each of them gets.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use bytes::Bytes;
use rookery_model::ThreadId;
use rookery_wire::{Outbox, Rejected, Subject};

use crate::listener::{Delivery, Listener};
use crate::wire::{Action, Event, Shape};

/// How long a silent connection gets no events of other tasks, in milliseconds. A client
/// that starts a task takes the next one that it hears of for its own.
pub(super) const SILENCE: u64 = 1000;
/// How much is held back for it meanwhile.
const MAX_HELD: usize = 4096;

/// A connection, as the hub knows it.
pub(super) struct Route {
    pub(super) outbox: Outbox,
    pub(super) listener: Arc<Listener>,
    /// Tasks that it started or resumed.
    owned: HashSet<ThreadId>,
    /// The last of them.
    pub(super) current: Option<ThreadId>,
    interest: Interest,
}

/// Which tasks a connection hears of.
enum Interest {
    /// Not known yet: events are held back until then.
    Undecided { until: u64, held: Vec<(Option<Subject>, Bytes)> },
    /// All.
    Observer,
    /// Its own.
    Owner,
}

impl Route {
    pub(super) fn new(outbox: Outbox, listener: Arc<Listener>, now: u64) -> Route {
        let interest = match listener.delivery {
            Delivery::Auto => Interest::Undecided { until: now + SILENCE, held: Vec::new() },
            Delivery::Broadcast => Interest::Observer,
            Delivery::Own => Interest::Owner,
        };
        Route { outbox, listener, owned: HashSet::new(), current: None, interest }
    }

    /// It said something that starts or resumes no task.
    pub(super) fn observe(&mut self) {
        if let Interest::Undecided { held, .. } = &mut self.interest {
            let held = std::mem::take(held);
            self.interest = Interest::Observer;
            held.into_iter().for_each(|(subject, body)| self.send(subject, body));
        }
    }

    /// It is about to start or resume a task: what it hears of is decided by what becomes of that.
    pub(super) fn begin_own(&mut self) {
        self.interest = match std::mem::replace(&mut self.interest, Interest::Owner) {
            Interest::Undecided { held, .. } => Interest::Undecided { until: u64::MAX, held },
            Interest::Observer if self.listener.delivery == Delivery::Auto => {
                Interest::Undecided { until: u64::MAX, held: Vec::new() }
            }
            decided => decided,
        };
    }

    /// It started or resumed a task, and hears of its own from now on. Gives the one before.
    pub(super) fn own(&mut self, task: ThreadId) -> Option<ThreadId> {
        if self.listener.delivery == Delivery::Auto {
            self.interest = Interest::Owner;
        }
        self.owned.insert(task);
        self.current.replace(task)
    }

    /// Whether it started or resumed any task so far.
    pub(super) fn has_owned(&self) -> bool {
        !self.owned.is_empty()
    }

    /// There is no such task after all.
    pub(super) fn disown(&mut self, task: ThreadId, before: Option<ThreadId>) {
        self.owned.remove(&task);
        self.current = before;
        if self.listener.delivery == Delivery::Auto && self.owned.is_empty() {
            self.interest = Interest::Observer;
        }
    }

    /// A task is closed.
    pub(super) fn drop_current(&mut self, task: ThreadId) {
        if self.current == Some(task) {
            self.current = None;
        }
    }

    /// When it is decided by its silence, if anything is held back.
    pub(super) fn due(&self) -> Option<u64> {
        match &self.interest {
            Interest::Undecided { until, held } if !held.is_empty() && *until < u64::MAX => {
                Some(*until)
            }
            _ => None,
        }
    }

    /// Takes an event about a task that works for those after it in the list.
    fn take(&mut self, lineage: &[ThreadId], subject: Option<Subject>, body: Bytes) {
        match &mut self.interest {
            Interest::Owner if !lineage.iter().any(|task| self.owned.contains(task)) => {}
            Interest::Undecided { held, .. } if held.len() < MAX_HELD => held.push((subject, body)),
            Interest::Undecided { .. } => {
                self.observe();
                self.send(subject, body);
            }
            Interest::Owner | Interest::Observer => self.send(subject, body),
        }
    }

    /// Sends an event. A client that does not keep up is cut off.
    fn send(&self, subject: Option<Subject>, body: Bytes) {
        // Only what is superseded is dropped, and what is about nothing cannot be.
        let alone = Subject { key: u64::MAX, can_be_superseded: false };
        let sent = self.outbox.try_send_about(subject.unwrap_or(alone), body);
        if sent == Err(Rejected::Full) {
            self.outbox.close("the client does not read its events");
        }
    }
}

/// An event on its way to all that hear of it; written once for each shape.
struct EncodedEvent<'a> {
    event: &'a Event,
    number: u64,
    published: Option<Bytes>,
    seed: Option<Bytes>,
}

impl EncodedEvent<'_> {
    fn bytes(&mut self, shape: Shape) -> Bytes {
        let slot = match shape {
            Shape::Published => &mut self.published,
            Shape::Seed => &mut self.seed,
        };
        let (event, number) = (self.event, self.number);
        slot.get_or_insert_with(|| event.to_bytes(shape, None, Some(number)).into()).clone()
    }
}

/// What a message is about: partial ones are superseded by later ones of the same message.
fn subject(event: &Event) -> Option<Subject> {
    let Event::Message { task, action, message } = event else { return None };
    let mut hasher = DefaultHasher::new();
    (task, message.ts).hash(&mut hasher);
    let can_be_superseded = *action == Action::Updated && message.partial == Some(true);
    Some(Subject { key: hasher.finish(), can_be_superseded })
}

/// Sends an event to all connections that hear of it.
pub(super) fn send(
    routes: &mut HashMap<u64, Route>,
    event: &Event,
    lineage: &[ThreadId],
    number: u64,
) {
    let mut parcel = EncodedEvent { event, number, published: None, seed: None };
    let subject = subject(event);
    for route in routes.values_mut() {
        route.take(lineage, subject, parcel.bytes(route.listener.shape));
    }
}
