//! Notifications of one connection: what it asked for, and what it received already.
//!
//! News goes out in step with replies and, in between, from a task that sleeps until a session
//! changes. Both send only what was not sent before, so the first one sends it.

mod feed;
mod output;
mod watch;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};

use parking_lot::Mutex;
use rookery_core::Core;
use rookery_model::TerminalId;
use rookery_wire::{ConnectionHandle, Rejected, rpc::Companion};
use tokio::{
    sync::{Notify, watch::Receiver},
    task::AbortHandle,
};

use crate::{context::Shared, ids};
use feed::SessionFeed;

/// Which sessions a connection wants to hear of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) sessions: BTreeSet<String>,
    pub(crate) adapters: BTreeSet<String>,
}

impl Filter {
    fn admits(&self, session: &str, id: TerminalId, shared: &Shared) -> bool {
        if self.sessions.is_empty() && self.adapters.is_empty() {
            return true;
        }
        self.sessions.contains(session)
            || self.adapters.iter().any(|adapter| shared.terminal_of_adapter(adapter) == Some(id))
    }
}

/// How urgent it is to say everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// More will come: what may be the beginning of a secret is kept for a moment.
    Usual,
    /// Nothing can be said later.
    Last,
}

/// What is left after saying all that could be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remaining {
    Nothing,
    /// Something may be said at this time.
    Until(Instant),
    /// The connection does not take more now.
    Blocked,
}

/// The notifications of one connection.
pub(crate) struct Notifier {
    core: Core,
    shared: Arc<Shared>,
    connection: ConnectionHandle,
    state: Mutex<State>,
    /// The client's subscription changed.
    changed: Notify,
}

/// Subscription and memory of one connection.
#[derive(Default)]
struct State {
    subscription: Option<Subscription>,
    task: Option<AbortHandle>,
    /// Requests at work whose reply comes before the news of what they do.
    at_work: usize,
    /// What was sent before notifications were turned off, so that it is not sent again.
    past: BTreeMap<String, LastSeen>,
}

/// What a connection knows of a session while it does not listen.
#[derive(Clone, Copy, Debug, Default)]
struct LastSeen {
    sequence: Option<u64>,
    has_exited: bool,
}

/// Methods that may take as long as they like: news goes out while they are at work.
const WAITS: [&str; 3] = ["session.wait", "adapter.wait", "adapter.turn"];

/// Whether the news of what a method does must wait for its reply.
fn comes_first(method: &str) -> bool {
    let is_ours = ["server.", "session.", "adapter.", "plugin."];
    is_ours.iter().any(|family| method.starts_with(family)) && !WAITS.contains(&method)
}

struct Subscription {
    filter: Filter,
    /// Terminals up to this one existed when notifications were turned on.
    newest_then: Option<TerminalId>,
    /// What was sent, in the order in which sessions are reported.
    feeds: BTreeMap<String, SessionFeed>,
    /// Which terminals and adapters there were when `feeds` was last compared with them.
    rosters: [Receiver<u64>; 2],
    is_stale: bool,
}

impl Notifier {
    pub(crate) fn new(core: Core, shared: Arc<Shared>, connection: ConnectionHandle) -> Arc<Self> {
        let state = Mutex::default();
        Arc::new(Self { core, shared, connection, state, changed: Notify::new() })
    }

    /// Turns notifications on, with a filter that replaces the former one, or off.
    pub(crate) fn set(self: &Arc<Self>, filter: Option<Filter>) {
        let mut state = self.state.lock();
        match (filter, &mut state.subscription) {
            (None, _) => {
                let feeds = state
                    .subscription
                    .take()
                    .map(|subscription| subscription.feeds)
                    .unwrap_or_default();
                let past = feeds.into_iter().map(|(session, feed)| (session, feed.past()));
                state.past.extend(past);
                if let Some(task) = state.task.take() {
                    task.abort();
                }
            }
            (Some(filter), Some(subscription)) => {
                subscription.filter = filter;
                subscription.is_stale = true;
                self.changed.notify_one();
            }
            (Some(filter), None) => {
                let newest_then =
                    self.core.terminals().list().iter().map(|terminal| terminal.id).max();
                state.subscription = Some(Subscription {
                    filter,
                    newest_then,
                    feeds: BTreeMap::new(),
                    rosters: self.rosters(),
                    is_stale: true,
                });
                let closed = self.connection.closed();
                let watching = watch::run(Arc::clone(self));
                let task = tokio::spawn(async move {
                    tokio::select! {
                        () = watching => {}
                        () = closed.cancelled() => {}
                    }
                });
                state.task = Some(task.abort_handle());
            }
        }
    }

    /// What changes whenever a terminal or an adapter comes or goes.
    fn rosters(&self) -> [Receiver<u64>; 2] {
        [self.core.terminals().roster(), self.shared.adapters.roster()]
    }

    /// Says what is new.
    fn say(&self, urgency: Urgency) -> Remaining {
        let mut state = self.state.lock();
        let State { subscription, at_work, past, .. } = &mut *state;
        // The last one to finish sends it.
        let (Some(subscription), 0) = (subscription, *at_work) else { return Remaining::Nothing };
        self.refresh(subscription, past);
        let mut until = None;
        let mut gone = Vec::new();
        for (session, feed) in subscription.feeds.iter_mut().filter(|(_, feed)| feed.is_wanted) {
            match feed.say(session, urgency, |body| self.connection.outbox().try_send(body)) {
                Ok(feed::Flushed::Everything) => {}
                Ok(feed::Flushed::HeldBack(at)) => until = until.into_iter().chain([at]).min(),
                Ok(feed::Flushed::Gone) => gone.push(session.clone()),
                Err(Rejected::Full) => return Remaining::Blocked,
                Err(Rejected::Closed) => return Remaining::Nothing,
            }
        }
        for session in gone {
            subscription.feeds.remove(&session);
        }
        until.map_or(Remaining::Nothing, Remaining::Until)
    }

    /// Finds the sessions that came, went, or are wanted or unwanted since the last time.
    fn refresh(&self, subscription: &mut Subscription, past: &mut BTreeMap<String, LastSeen>) {
        let has_changed = |roster: &Receiver<u64>| roster.has_changed().unwrap_or(false);
        if !subscription.rosters.iter().any(has_changed) && !subscription.is_stale {
            return;
        }
        subscription.rosters.iter_mut().for_each(Receiver::mark_unchanged);
        subscription.is_stale = false;
        let mut kept = BTreeMap::new();
        for terminal in self.core.terminals().list() {
            let session = ids::spell(terminal.id);
            let is_new = subscription.newest_then.is_none_or(|newest| terminal.id > newest);
            let fresh = || {
                let handle = self.core.terminals().get(terminal.id).ok()?;
                Some(SessionFeed::new(
                    handle,
                    is_new,
                    past.get(&session).copied().unwrap_or_default(),
                ))
            };
            // What is not wanted now is not forgotten: it may be wanted again, and is not sent twice.
            if let Some(mut feed) = subscription.feeds.remove(&session).or_else(fresh) {
                feed.is_wanted = subscription.filter.admits(&session, terminal.id, &self.shared);
                kept.insert(session, feed);
            }
        }
        subscription.feeds = kept;
        past.clear();
    }
}

impl Companion for Notifier {
    fn started(&self, method: &'static str) {
        if comes_first(method) {
            self.state.lock().at_work += 1;
        }
    }

    fn replied(&self, method: Option<&'static str>) {
        if method.is_some_and(comes_first) {
            let mut state = self.state.lock();
            state.at_work = state.at_work.saturating_sub(1);
        }
        self.say(Urgency::Usual);
    }

    fn ending(&self) {
        self.say(Urgency::Last);
    }
}
