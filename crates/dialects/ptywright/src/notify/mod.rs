//! Notifications of one connection: what it asked for, and what it was told already.
//!
//! News goes out in step with replies and, in between, from a task that sleeps until a session
//! changes. Both send only what was not sent before, so the first one sends it.

mod output;
mod told;
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
use told::Told;

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
pub(crate) enum Haste {
    /// More will come: what may be the beginning of a secret is kept for a moment.
    Usual,
    /// Nothing can be said later.
    Last,
}

/// What is left after saying all that could be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
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
    /// What was told before notifications were turned off, so that it is not told again.
    past: BTreeMap<String, Past>,
}

/// What a connection knows of a session while it does not listen.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
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
    /// What was told, in the order in which sessions are reported.
    told: BTreeMap<String, Told>,
    /// Which terminals and adapters there were when `told` was last compared with them.
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
                let told = state
                    .subscription
                    .take()
                    .map(|subscription| subscription.told)
                    .unwrap_or_default();
                let past = told.into_iter().map(|(session, told)| (session, told.past()));
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
                    told: BTreeMap::new(),
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
    fn say(&self, haste: Haste) -> Left {
        let mut state = self.state.lock();
        let State { subscription, at_work, past, .. } = &mut *state;
        // The last one to finish sends it.
        let (Some(subscription), 0) = (subscription, *at_work) else { return Left::Nothing };
        self.refresh(subscription, past);
        let mut until = None;
        let mut gone = Vec::new();
        for (session, told) in subscription.told.iter_mut().filter(|(_, told)| told.is_wanted) {
            match told.say(session, haste, |body| self.connection.outbox().try_send(body)) {
                Ok(told::Said::Everything) => {}
                Ok(told::Said::HeldBack(at)) => until = until.into_iter().chain([at]).min(),
                Ok(told::Said::Gone) => gone.push(session.clone()),
                Err(Rejected::Full) => return Left::Blocked,
                Err(Rejected::Closed) => return Left::Nothing,
            }
        }
        for session in gone {
            subscription.told.remove(&session);
        }
        until.map_or(Left::Nothing, Left::Until)
    }

    /// Finds the sessions that came, went, or are wanted or unwanted since the last time.
    fn refresh(&self, subscription: &mut Subscription, past: &mut BTreeMap<String, Past>) {
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
                Some(Told::new(handle, is_new, past.get(&session).copied().unwrap_or_default()))
            };
            // What is not wanted now is not forgotten: it may be wanted again, and is not told twice.
            if let Some(mut told) = subscription.told.remove(&session).or_else(fresh) {
                told.is_wanted = subscription.filter.admits(&session, terminal.id, &self.shared);
                kept.insert(session, told);
            }
        }
        subscription.told = kept;
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
        self.say(Haste::Usual);
    }

    fn ending(&self) {
        self.say(Haste::Last);
    }
}
