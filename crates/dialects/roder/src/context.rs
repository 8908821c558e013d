//! What the methods of one connection work with: the world, and what this client said of itself.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::{Mutex, RwLock};
use rookery_agent::providers::{KeyRing, Loan};
use rookery_core::{ClientGrant, Core, Topics};
use rookery_model as model;
use rookery_wire::ConnectionHandle;
use rookery_wire::rights::{self, Rights};
use rookery_wire::rpc::{Admit, Companion, RpcError};
use tokio::sync::{Notify, OnceCell, mpsc, oneshot};

use crate::errors::Error;
use crate::forward;
use crate::tasks::TaskFilter;

/// Methods whose reply carries an id that the client needs before it gets any notification.
const HOLDING: &[&str] = &[
    "turn/start",
    "thread/start",
    "thread/fork",
    "commands/run",
    "team/start",
    "team/member/start",
    "team/member/message",
];
/// What the methods of the team family begin with.
const TEAM: &str = "team/";
/// Requests of one connection that may wait for its notifications at the same time.
const FLUSHES: usize = 1024;

/// Subscriptions to tasks that one connection may have.
const MAX_SUBSCRIPTIONS: usize = 64;

/// The warning for a client that brought a mode in which it is never asked.
const BYPASSED: &str = "the policy mode of this server is bypass: every tool call of its own turns runs without being asked for";

/// What a method works with. Cheap to clone.
#[derive(Clone)]
pub struct Cx {
    /// The world.
    pub core: Core,
    pub connection: ConnectionHandle,
    /// What this client said of itself.
    pub client: Arc<Client>,
}

/// How a client reached us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Where the client's server was started; the daemon's own directory otherwise.
    pub cwd: Option<PathBuf>,
    /// Whether it came through the network.
    pub is_remote: bool,
    /// The default model.
    pub choice: model::Choice,
    /// Who is there while its turns run.
    pub profile: Option<model::Profile>,
    /// The mode of what it starts itself; the world's and the threads' own otherwise.
    pub mode: Option<model::Mode>,
}

/// What a client said of itself.
pub struct Client {
    link: RwLock<Link>,
    preferences: RwLock<Preferences>,
    /// Requests at work whose reply has to come before notifications.
    holding: AtomicUsize,
    /// Those of them that have notifications of their own to come before the reply.
    holding_team: AtomicUsize,
    released: Notify,
    /// Those who wait until what was said so far is on its way to the client.
    flushes: mpsc::Sender<oneshot::Sender<()>>,
    /// Where the task that forwards notifications hears of them; taken by it.
    flush_requests: Mutex<Option<mpsc::Receiver<oneshot::Sender<()>>>>,
    is_following: AtomicBool,
    watched_processes: Mutex<Watched>,
    /// Whoever tells it of processes, if it watches any.
    process_flushes: Mutex<Option<mpsc::Sender<oneshot::Sender<()>>>>,
    /// What it wants to hear of tasks, by the number of the subscription.
    task_filters: RwLock<(u64, BTreeMap<u64, TaskFilter>)>,
    /// Whether it has drained the server, and so wants nothing new of it.
    is_drained: AtomicBool,
    /// Tells this connection's commands from those of others.
    number: u64,
    /// Set once the mode that it brought along holds.
    mode: OnceCell<()>,
    /// Keys that it lends for what it starts; they go with the connection and its turns.
    keys: KeyRing,
}

/// The processes that a client hears of: every subscription adds to it.
enum Watched {
    Only(BTreeSet<String>),
    All,
}

impl Default for Watched {
    fn default() -> Watched {
        Watched::Only(BTreeSet::new())
    }
}

/// Counts connections.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// Which notifications a client wants, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    /// Notifications that are not sent.
    pub unwanted: HashSet<String>,
    /// Whether thoughts come under names of their own.
    pub reasoning_methods: bool,
}

impl Admit for Cx {
    fn refuse(&self, name: &'static str, rights: Rights) -> Option<RpcError> {
        match rights.admits(self.core.caller().is_agent()) {
            true => None,
            false => {
                let mode = crate::show::mode(self, self.core.threads().mode(None));
                Some(Error::denied(rights::refusal(name), &mode).into())
            }
        }
    }
}

impl Cx {
    /// A connection of a client; with `follows` it gets every notification from now on, otherwise once
    /// it uses this dialect.
    pub fn new(core: Core, connection: ConnectionHandle, link: Link, follows: bool) -> Self {
        let (flushes, flush_requests) = mpsc::channel(FLUSHES);
        let client = Client {
            flushes,
            flush_requests: Mutex::new(Some(flush_requests)),
            link: RwLock::new(link),
            preferences: RwLock::default(),
            holding: AtomicUsize::new(0),
            holding_team: AtomicUsize::new(0),
            released: Notify::new(),
            is_following: AtomicBool::new(false),
            watched_processes: Mutex::default(),
            process_flushes: Mutex::default(),
            task_filters: RwLock::default(),
            is_drained: AtomicBool::new(false),
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            mode: OnceCell::new(),
            keys: KeyRing::default(),
        };
        let cx = Cx { core, connection, client: Arc::new(client) };
        if follows {
            cx.follow();
        }
        cx
    }

    /// Begins to tell the client what happens to threads, once.
    pub(crate) fn follow(&self) {
        if !self.client.is_following.swap(true, Ordering::AcqRel) {
            let reader = self.core.log().subscribe(Topics::NOTICES, None);
            if let Some(flushes) = self.client.flush_requests.lock().take() {
                tokio::spawn(forward::forward(self.clone(), reader, flushes));
            }
            for warning in self.core.threads().settings_warnings() {
                forward::warn(self, warning);
            }
        }
    }

    /// Resolves when what was said so far is on its way to this client, apart from what has to come
    /// behind a reply. A family's own notifications come before the reply of the request that caused them.
    pub(crate) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        if self.client.is_following.load(Ordering::Acquire)
            && self.client.flushes.send(done).await.is_ok()
        {
            // A task that has ended has no client to tell.
            let _ = flushed.await;
        }
        let processes = self.client.process_flushes.lock().clone();
        let (done, flushed) = oneshot::channel();
        if let Some(processes) = processes
            && processes.send(done).await.is_ok()
        {
            let _ = flushed.await;
        }
    }

    /// Does something whose own notifications come before its reply.
    pub(crate) async fn flushed<T>(&self, work: impl Future<Output = T>) -> T {
        let done = work.await;
        self.flush().await;
        done
    }

    /// Refuses an agent's own program to say what agents may do.
    pub(crate) fn check_is_no_agent(&self) -> Result<(), Error> {
        match self.core.caller().is_agent() {
            false => Ok(()),
            true => {
                let mode = crate::show::mode(self, self.core.threads().mode(None));
                Err(Error::denied("a program that an agent runs cannot change the mode", &mode))
            }
        }
    }

    /// Lets the mode that the client brought along hold for what it starts, until its connection ends.
    /// Whatever starts something awaits this first.
    ///
    /// # Errors
    /// If an agent's own program brought one.
    pub(crate) async fn bring_mode(&self) -> Result<(), Error> {
        let Some(mode) = self.client.link().mode else { return Ok(()) };
        let bring = async || {
            self.check_is_no_agent()?;
            let (core, client) = (self.core.clone(), self.client.number());
            core.threads().set_client_mode(client, mode)?;
            let closed = self.connection.closed();
            tokio::spawn(async move {
                closed.cancelled().await;
                core.threads().end_client_mode(client);
            });
            let warns = self.core.agents().settings().policy.warn_on_bypass;
            if mode == model::Mode::Bypass && warns {
                forward::warn(self, BYPASSED.to_owned());
            }
            Ok(())
        };
        self.client.mode.get_or_try_init(bring).await.copied()
    }

    /// What the client brings along for runs that it starts or goes on with.
    ///
    /// # Errors
    /// As for [`Cx::bring_mode`].
    pub(crate) async fn grant(&self) -> Result<ClientGrant, Error> {
        self.bring_mode().await?;
        Ok(ClientGrant { client: Some(self.client.number()), keys: self.client.keys() })
    }

    /// The mode that holds for what this client starts, in a thread or by itself.
    pub(crate) fn mode(&self, thread: Option<model::ThreadId>) -> model::Mode {
        self.core.threads().mode_for(self.client.number(), thread)
    }

    /// The keys that this client lends for what it starts.
    #[must_use]
    pub fn key_ring(&self) -> KeyRing {
        self.client.keys.clone()
    }

    /// Keeps notifications behind the replies they belong to.
    pub fn companion(&self) -> Arc<dyn Companion> {
        Arc::new(Steps(self.clone()))
    }

    /// Where this client works unless it says otherwise.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.client.link().cwd.unwrap_or_else(|| self.core.agents().cwd())
    }

    /// Which model answers where a new thread says nothing.
    pub(crate) fn choice(&self) -> model::Choice {
        let wanted = self.wanted_choice();
        // One that does not exist is kept, so that its first use reports the error.
        self.core.agents().complete_choice(wanted.clone(), &wanted).unwrap_or(wanted)
    }

    /// The same as it was wanted, whether or not the model can follow it.
    pub(crate) fn wanted_choice(&self) -> model::Choice {
        let chosen = self.client.link().choice;
        let usual = self.core.agents().default_choice();
        self.core.agents().fill_choice(chosen.clone(), &usual).unwrap_or(chosen)
    }
}

impl Client {
    /// How it reached us.
    pub fn link(&self) -> Link {
        self.link.read().clone()
    }

    /// Says how it reached us.
    pub(crate) fn set_link(&self, link: Link) {
        *self.link.write() = link;
    }

    /// The keys that it lends.
    pub(crate) fn keys(&self) -> Vec<Loan> {
        self.keys.keys()
    }

    /// Which notifications it wants.
    pub fn preferences(&self) -> Preferences {
        self.preferences.read().clone()
    }

    pub(crate) fn set_preferences(&self, preferences: Preferences) {
        *self.preferences.write() = preferences;
    }

    /// The number of its connection.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Where to ask for flushes if it is not told of processes already; from now on it is.
    pub(crate) fn begins_to_watch_processes(
        &self,
        only: Option<&str>,
    ) -> Option<mpsc::Receiver<oneshot::Sender<()>>> {
        let mut watched = self.watched_processes.lock();
        let begins = matches!(&*watched, Watched::Only(ids) if ids.is_empty());
        let has_room = matches!(&*watched, Watched::Only(ids) if ids.len() < MAX_SUBSCRIPTIONS);
        match (&mut *watched, only.filter(|_| has_room)) {
            (Watched::Only(ids), Some(id)) => {
                ids.insert(id.to_owned());
            }
            (all, _) => *all = Watched::All,
        }
        drop(watched);
        begins.then(|| {
            let (flushes, requests) = mpsc::channel(FLUSHES);
            *self.process_flushes.lock() = Some(flushes);
            requests
        })
    }

    /// Whether it hears of a process.
    pub(crate) fn watches_process(&self, id: &str) -> bool {
        match &*self.watched_processes.lock() {
            Watched::All => true,
            Watched::Only(ids) => ids.contains(id),
        }
    }

    /// What it wants to hear of tasks.
    pub(crate) fn task_filters(&self) -> Vec<TaskFilter> {
        self.task_filters.read().1.values().cloned().collect()
    }

    /// From now on it hears of tasks; gives the name of the subscription.
    pub(crate) fn subscribe_tasks(&self, filter: TaskFilter) -> Result<String, Error> {
        let mut filters = self.task_filters.write();
        if filters.1.len() >= MAX_SUBSCRIPTIONS {
            let message = format!(
                "this connection has {MAX_SUBSCRIPTIONS} subscriptions to tasks; unsubscribe some"
            );
            return Err(Error::runtime(message));
        }
        filters.0 += 1;
        let number = filters.0;
        filters.1.insert(number, filter);
        Ok(format!("task-sub-{number}"))
    }

    /// It does not want to hear of those any more.
    pub(crate) fn unsubscribe_tasks(&self, name: &str) -> Result<(), Error> {
        let number = name.strip_prefix("task-sub-").and_then(|number| number.parse::<u64>().ok());
        let known = number.and_then(|number| self.task_filters.write().1.remove(&number));
        match known {
            Some(_) => Ok(()),
            None => Err(Error::invalid("unknown subscriptionId; it is what tasks/subscribe gave")),
        }
    }

    /// It wants to hear of no tasks any more.
    pub(crate) fn unsubscribe_all_tasks(&self) {
        self.task_filters.write().1.clear();
    }

    /// It wants nothing new from now on. The daemon goes on for others.
    pub(crate) fn drained(&self) {
        self.is_drained.store(true, Ordering::Release);
    }

    /// Refuses what would begin something on a connection that was drained.
    pub(crate) fn check_not_drained(&self) -> Result<(), Error> {
        match self.is_drained.load(Ordering::Acquire) {
            false => Ok(()),
            true => Err(Error::runtime("the server was drained and begins nothing new")),
        }
    }

    /// Whether a reply has to come first.
    pub(crate) fn is_holding(&self) -> bool {
        self.holding.load(Ordering::Acquire) > 0
    }

    /// Whether one of those replies has notifications of its own before it.
    pub(crate) fn is_holding_team(&self) -> bool {
        self.holding_team.load(Ordering::Acquire) > 0
    }

    /// Waits until no reply has to come first.
    pub(crate) async fn released(&self) {
        loop {
            let mut released = std::pin::pin!(self.released.notified());
            released.as_mut().enable();
            if !self.is_holding() {
                return;
            }
            released.await;
        }
    }
}

/// Follows the replies of a connection.
struct Steps(Cx);

impl Companion for Steps {
    fn started(&self, method: &'static str) {
        if is_ours(method) {
            self.0.follow();
        }
        if HOLDING.contains(&method) {
            self.0.client.holding.fetch_add(1, Ordering::AcqRel);
        }
        if HOLDING.contains(&method) && method.starts_with(TEAM) {
            self.0.client.holding_team.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn replied(&self, method: Option<&'static str>) {
        let Some(method) = method.filter(|method| HOLDING.contains(method)) else { return };
        if method.starts_with(TEAM) {
            self.0.client.holding_team.fetch_sub(1, Ordering::AcqRel);
        }
        self.0.client.holding.fetch_sub(1, Ordering::AcqRel);
        self.0.client.released.notify_waiters();
    }

    fn is_behind_outbox(&self, method: &'static str) -> bool {
        is_ours(method)
    }

    fn ending(&self) {}
}

/// Whether a method is this dialect's, on a connection that speaks others as well.
fn is_ours(method: &str) -> bool {
    !method.starts_with("rookery/") && method.contains('/')
}
