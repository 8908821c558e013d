//! Connections and what each of them is to be told.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use bytes::Bytes;
use rookery_model::ThreadId;
use rookery_wire::{Outbox, Rejected, Subject};

use crate::listener::{Delivery, Listener};
use crate::wire::{Action, Event, Shape};

/// A connection, as the hub knows it.
pub(super) struct Route {
    pub(super) outbox: Outbox,
    pub(super) listener: Arc<Listener>,
    /// Tasks that it started or resumed.
    owned: HashSet<ThreadId>,
    /// The last of them.
    pub(super) current: Option<ThreadId>,
    is_owner: bool,
}

impl Route {
    pub(super) fn new(outbox: Outbox, listener: Arc<Listener>) -> Route {
        Route { outbox, listener, owned: HashSet::new(), current: None, is_owner: false }
    }

    /// It started or resumed a task. Gives what was before.
    pub(super) fn own(&mut self, task: ThreadId) -> Ownership {
        let before = Ownership { was_owner: self.is_owner, current: self.current };
        self.is_owner = true;
        self.owned.insert(task);
        self.current = Some(task);
        before
    }

    /// It did not after all.
    pub(super) fn disown(&mut self, task: ThreadId, before: Ownership) {
        self.owned.remove(&task);
        (self.is_owner, self.current) = (before.was_owner, before.current);
    }

    /// A task is no longer its own.
    pub(super) fn drop_current(&mut self, task: ThreadId) {
        if self.current == Some(task) {
            self.current = None;
        }
    }

    /// Whether it is told of a task that works for those after it in the list.
    fn hears(&self, lineage: &[ThreadId]) -> bool {
        let is_own = || lineage.iter().any(|task| self.owned.contains(task));
        match self.listener.delivery {
            Delivery::Broadcast => true,
            Delivery::Own => is_own(),
            Delivery::Auto => !self.is_owner || is_own(),
        }
    }
}

/// What a connection had before it got a task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ownership {
    was_owner: bool,
    current: Option<ThreadId>,
}

/// An event on its way to all that hear of it; written once for each shape.
pub(super) struct Parcel<'a> {
    event: &'a Event,
    number: u64,
    published: Option<Bytes>,
    seed: Option<Bytes>,
}

impl<'a> Parcel<'a> {
    pub(super) fn new(event: &'a Event, number: u64) -> Parcel<'a> {
        Parcel { event, number, published: None, seed: None }
    }

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

/// Sends an event to all connections that hear of it. One that does not keep up is cut off.
pub(super) fn send(routes: &HashMap<u64, Route>, event: &Event, lineage: &[ThreadId], number: u64) {
    let mut parcel = Parcel::new(event, number);
    let subject = subject(event);
    for route in routes.values().filter(|route| route.hears(lineage)) {
        let body = parcel.bytes(route.listener.shape);
        let sent = match subject {
            Some(subject) => route.outbox.try_send_about(subject, body),
            None => {
                // Only what is superseded is dropped, and this is about nothing that could be.
                let alone = Subject { key: u64::MAX, can_be_superseded: false };
                route.outbox.try_send_about(alone, body)
            }
        };
        if sent == Err(Rejected::Full) {
            route.outbox.close("the client does not read its events");
        }
    }
}
