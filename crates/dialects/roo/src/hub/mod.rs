//! All tasks and all connections of this dialect: what happens to threads is turned into events once, and
//! sent to those who hear of it. Nothing here is a truth of its own: tasks are read from their threads.

mod act;
mod routes;
mod watch;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use rookery_core::Core;
use rookery_model::{RequestId, ThreadId};
use rookery_wire::Outbox;
use tokio::sync::{Notify, oneshot};

pub(crate) use self::act::Answered;
use self::routes::Route;
use crate::listener::Listener;
use crate::profiles::Profiles;
use crate::project::Task;
use crate::wire::Event;

/// Threads that are known to be no tasks are looked up again when there are more than this.
const MAX_STRANGERS: usize = 8192;
/// Tasks that nothing happens to are forgotten when there are more than this; they are read again if
/// they are needed.
const MAX_IDLE: usize = 256;

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
    tasks: HashMap<ThreadId, Known>,
    routes: HashMap<u64, Route>,
    next_route: u64,
    /// Tasks by the order in which they were looked at.
    focus: Vec<ThreadId>,
    /// The number of each task, in the order in which they were first seen.
    numbers: HashMap<ThreadId, u64>,
    /// Who waits for a task to be announced.
    expected: HashMap<ThreadId, Vec<oneshot::Sender<()>>>,
    /// Answers to questions of which others are still to be answered.
    answers: HashMap<RequestId, BTreeMap<String, String>>,
}

/// A thread, as far as it was looked at.
enum Known {
    Task(Box<Entry>),
    Stranger,
}

struct Entry {
    task: Task,
    /// Its number, for clients that want one.
    number: u64,
    /// Itself and the tasks that it works for.
    lineage: Vec<ThreadId>,
    /// When it was last of interest.
    used: u64,
}

/// Wall time that does not jump.
struct Clock {
    wall: u64,
    since: Instant,
}

impl Clock {
    fn start() -> Clock {
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let wall = wall.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        Clock { wall, since: Instant::now() }
    }

    /// Milliseconds since the epoch.
    fn now(&self) -> u64 {
        self.wall + u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn until(&self, at: u64) -> std::time::Duration {
        std::time::Duration::from_millis(at.saturating_sub(self.now()))
    }
}

impl Hub {
    /// A hub that watches nothing before its first connection.
    pub fn new(core: Core) -> Hub {
        let inner = Inner {
            profiles: Profiles::new(core.clone()),
            core,
            state: Mutex::default(),
            clock: Clock::start(),
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
            tokio::spawn(watch::watch(Arc::clone(&self.inner), subscription));
        }
        let mut state = self.inner.state.lock();
        state.next_route += 1;
        let number = state.next_route;
        state.routes.insert(number, Route::new(outbox, listener));
        number
    }

    /// A connection is over. Its tasks go on.
    pub(crate) fn leave(&self, route: u64) {
        self.inner.state.lock().routes.remove(&route);
    }
}

impl State {
    fn task_mut(&mut self, id: ThreadId) -> Option<&mut Entry> {
        match self.tasks.get_mut(&id) {
            Some(Known::Task(entry)) => Some(entry),
            Some(Known::Stranger) | None => None,
        }
    }

    /// Sends what has happened to a task.
    fn flush(&mut self, id: ThreadId) {
        let Some(entry) = self.task_mut(id) else { return };
        let events = entry.task.take_events();
        let (lineage, number) = (entry.lineage.clone(), entry.number);
        for event in &events {
            routes::send(&self.routes, event, &lineage, number);
        }
    }

    /// Sends events about a task that do not come from its thread.
    fn send(&mut self, id: ThreadId, events: &[Event]) {
        let Some(entry) = self.task_mut(id) else { return };
        let (lineage, number) = (entry.lineage.clone(), entry.number);
        for event in events {
            routes::send(&self.routes, event, &lineage, number);
        }
    }

    /// The task that was last looked at among those that work for this one; itself if there is none.
    fn working_for(&self, id: ThreadId) -> ThreadId {
        let works_for = |other: &&ThreadId| match self.tasks.get(*other) {
            Some(Known::Task(entry)) => entry.lineage.contains(&id),
            Some(Known::Stranger) | None => false,
        };
        self.focus.iter().rev().find(works_for).copied().unwrap_or(id)
    }

    fn focus(&mut self, id: ThreadId) {
        self.focus.retain(|other| *other != id);
        self.focus.push(id);
    }

    fn insert(&mut self, id: ThreadId, task: Task, lead: Option<ThreadId>, now: u64) {
        let mut lineage = vec![id];
        if let Some(lead) = lead {
            match self.tasks.get(&lead) {
                Some(Known::Task(entry)) => lineage.extend(&entry.lineage),
                Some(Known::Stranger) | None => lineage.push(lead),
            }
        }
        let next = self.numbers.len() as u64 + 1;
        let number = *self.numbers.entry(id).or_insert(next);
        let entry = Entry { task, number, lineage, used: now };
        self.tasks.insert(id, Known::Task(Box::new(entry)));
        self.forget_idle();
    }

    /// Forgets what can be read again.
    fn forget_idle(&mut self) {
        let strangers =
            self.tasks.values().filter(|known| matches!(known, Known::Stranger)).count();
        if strangers > MAX_STRANGERS {
            self.tasks.retain(|_, known| matches!(known, Known::Task(_)));
        }
        let is_idle = |entry: &Entry| entry.task.is_idle();
        let mut idle: Vec<(u64, ThreadId)> = self
            .tasks
            .iter()
            .filter_map(|(id, known)| match known {
                Known::Task(entry) if is_idle(entry) => Some((entry.used, *id)),
                _ => None,
            })
            .collect();
        if idle.len() <= MAX_IDLE {
            return;
        }
        idle.sort_unstable();
        for (_, id) in idle.iter().take(idle.len() - MAX_IDLE) {
            self.tasks.remove(id);
            self.focus.retain(|other| other != id);
        }
    }

    /// When something is due by itself.
    fn due(&self) -> Option<u64> {
        let due = |known: &Known| match known {
            Known::Task(entry) => entry.task.due(),
            Known::Stranger => None,
        };
        self.tasks.values().filter_map(due).min()
    }
}
