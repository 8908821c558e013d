//! All tasks and all connections of this dialect: what happens to threads is turned into events once, and
//! sent to those who hear of it. Nothing here is a truth of its own: tasks are read from their threads.

mod act;
mod clock;
mod routes;
mod watch;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rookery_core::Core;
use rookery_model::{RequestId, ThreadId};
use rookery_wire::Outbox;
use tokio::sync::{Notify, oneshot};

use self::clock::Clock;
use self::routes::Route;
use crate::listener::Listener;
use crate::profiles::Profiles;
use crate::project::Task;
use crate::wire::Event;

/// Tasks that nothing happens to are forgotten when there are more of them than this, or when they hold
/// more bytes than this; they are read again if they are needed.
const MAX_IDLE: usize = 256;
const MAX_IDLE_BYTES: usize = 64 << 20;

/// For how many milliseconds after an ask was answered elsewhere a button may still be meant for it.
const GUARD: u64 = 300;

/// Tasks and connections of one daemon. Cheap to clone.
#[derive(Clone)]
pub struct Hub {
    inner: Arc<Inner>,
}

struct Inner {
    core: Core,
    state: Mutex<State>,
    profiles: Profiles,
    clock: Clock,
    /// Something is due at another time than before.
    changed: Notify,
    is_watching: AtomicBool,
}

#[derive(Default)]
struct State {
    tasks: HashMap<ThreadId, Entry>,
    routes: HashMap<u64, Route>,
    next_route: u64,
    /// Tasks by the order in which they were looked at.
    focus: Vec<ThreadId>,
    /// Who waits for a task to be announced.
    expected: HashMap<ThreadId, Vec<oneshot::Sender<()>>>,
    /// Requests that connections answer right now.
    pressed: HashMap<RequestId, u64>,
}

struct Entry {
    task: Box<Task>,
    place: Place,
    /// When an ask of it was last answered, and by which connection of this dialect, if any.
    settled: Option<(u64, Option<u64>)>,
}

/// Where a task stands among others.
struct Place {
    /// Its number, for clients that want one.
    number: u64,
    /// Itself and the tasks that it works for.
    lineage: Vec<ThreadId>,
    /// When it was last of interest.
    used: u64,
}

impl Hub {
    /// A hub that watches nothing before its first connection.
    pub fn new(core: Core) -> Hub {
        let inner = Inner {
            profiles: Profiles::new(core.clone()),
            core,
            state: Mutex::default(),
            clock: Clock::default(),
            changed: Notify::new(),
            is_watching: AtomicBool::new(false),
        };
        Hub { inner: Arc::new(inner) }
    }

    pub(crate) fn profiles(&self) -> &Profiles {
        &self.inner.profiles
    }

    pub(crate) fn now(&self) -> u64 {
        self.inner.clock.now()
    }

    /// Takes a connection; it hears of what happens from now on.
    pub(crate) fn join(&self, outbox: Outbox, listener: Arc<Listener>) -> u64 {
        if !self.inner.is_watching.swap(true, Ordering::AcqRel) {
            let subscription = self.inner.subscribe();
            tokio::spawn(watch::keep_watching(Arc::clone(&self.inner), subscription));
        }
        let mut state = self.inner.state.lock();
        state.next_route += 1;
        let number = state.next_route;
        state.routes.insert(number, Route::new(outbox, listener, self.inner.clock.now()));
        number
    }

    /// A connection is over. Its tasks go on.
    pub(crate) fn leave(&self, route: u64) {
        self.inner.state.lock().routes.remove(&route);
    }
}

impl State {
    /// Sends what has happened to a task.
    fn flush(&mut self, id: ThreadId) {
        let Some(entry) = self.tasks.get_mut(&id) else { return };
        let events = entry.task.take_events();
        self.send(id, &events);
    }

    /// Sends events about a task.
    fn send(&mut self, id: ThreadId, events: &[Event]) {
        let Some(entry) = self.tasks.get(&id) else { return };
        for event in events {
            routes::send(&mut self.routes, event, &entry.place.lineage, entry.place.number);
        }
    }

    /// The task that was last looked at among those that work for this one; itself if there is none.
    fn working_for(&self, id: ThreadId) -> ThreadId {
        let works_for = |other: &&ThreadId| {
            self.tasks.get(*other).is_some_and(|entry| entry.place.lineage.contains(&id))
        };
        self.focus.iter().rev().find(works_for).copied().unwrap_or(id)
    }

    fn focus(&mut self, id: ThreadId) {
        self.focus.retain(|other| *other != id);
        self.focus.push(id);
    }

    /// A task is no longer open: it is looked at by none.
    fn unfocus(&mut self, id: ThreadId) {
        self.focus.retain(|other| *other != id);
        self.routes.values_mut().for_each(|route| route.drop_current(id));
    }

    fn insert(&mut self, id: ThreadId, task: Task, place: Place) {
        self.tasks.insert(id, Entry { task: Box::new(task), place, settled: None });
        self.forget_idle();
    }

    /// Forgets what can be read again, what was of interest longest ago first.
    fn forget_idle(&mut self) {
        let idle = self.tasks.iter().filter(|(_, entry)| entry.task.is_idle());
        let mut idle: Vec<(u64, ThreadId, usize)> =
            idle.map(|(id, entry)| (entry.place.used, *id, entry.task.size())).collect();
        let mut bytes: usize = idle.iter().map(|(.., size)| size).sum();
        if idle.len() <= MAX_IDLE && bytes <= MAX_IDLE_BYTES {
            return;
        }
        idle.sort_unstable();
        let mut left = idle.len();
        for (_, id, size) in idle {
            // The last one may be what a client just asked for.
            if left <= 1 || left <= MAX_IDLE && bytes <= MAX_IDLE_BYTES {
                return;
            }
            self.tasks.remove(&id);
            self.focus.retain(|other| *other != id);
            (left, bytes) = (left - 1, bytes - size);
        }
    }

    /// When something is due by itself.
    fn due(&self) -> Option<u64> {
        let tasks = self.tasks.values().filter_map(|entry| entry.task.due());
        tasks.chain(self.routes.values().filter_map(Route::due)).min()
    }
}
