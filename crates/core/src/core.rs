//! The handle to everything: opens the world, restores it, and stops it.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use rookery_keeper::protocol;
use rookery_model::{
    Answer, Caller, Event, EventSeq, ExitStatus, RequestId, Result, SessionId, TerminalId,
    TerminalState, Timestamp, TurnId,
};
use rookery_store::{Change, Mask, Store};
use rookery_term::Palette;
use tokio::sync::{broadcast, oneshot, watch};
use tokio_util::task::TaskTracker;

use crate::agents::{AgentConfig, Agents, Places};
use crate::clock::{self, Clock};
use crate::commands::Processes;
use crate::events::Events;
use crate::keeper_link::{KeeperLaunch, KeeperLink, KeeperNotices};
use crate::requests::{DialogNote, Responder};
use crate::seats::{Ui, UiConfig};
use crate::secrets;
use crate::terminals::{AgentSeen, Live, Shards, Sweeps, TerminalHandle, TerminalLimits, Views};
use crate::threads::{ASKING_KEY, Feed, Interrupted, LiveThreads, MODE_KEY, Resumed};
use crate::world::{Doors, ModeWords, World, no_terminal};

/// What core needs to know to start.
#[derive(Clone, Debug)]
pub struct CoreConfig {
    /// Where the store lies; none keeps it in memory, to be forgotten with this process.
    pub state_dir: Option<PathBuf>,
    /// How to start the keeper and where to find it.
    pub keeper: KeeperLaunch,
    /// Directory of the first project, and of terminals that ask for nothing else.
    pub home: PathBuf,
    /// Environment that children start from.
    pub env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    /// Program for terminals that name none.
    pub shell: String,
    /// Sockets told to every child, as variable names and values.
    pub child_env: Vec<(String, String)>,
    /// Bounds on terminals.
    pub limits: TerminalLimits,
    /// Colors reported to programs.
    pub palette: Palette,
    /// Whether projects and terminals take their numbers from one sequence, so that no number
    /// means two things. A world with no user in front of it counts its terminals alone.
    pub shares_ids: bool,
    /// The user interface.
    pub ui: UiConfig,
    /// Variables for terminals that the user interface opens.
    pub tab_env: Vec<(String, String)>,
    /// Where our scripts for shells lie; none gives shells nothing.
    pub resources: Option<PathBuf>,
    /// A directory of our own programs, which those in terminals find first; none tells them of none.
    pub helpers: Option<PathBuf>,
    /// Agents.
    pub agent: AgentConfig,
    /// The agent that is started where one is wanted and none is named.
    pub default_tool: Option<String>,
}

/// How long a stop waits for the programs of closed terminals.
const ENDINGS_LIMIT: Duration = Duration::from_secs(8);

/// News of agents that may wait to be heard.
const MAX_AGENTS_SEEN: usize = 256;

/// How to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopKind {
    /// Terminals live on with the keeper.
    KeepTerminals,
    /// Every terminal and everything it started is ended.
    EndTerminals,
}

/// The one world. Cheap to clone.
#[derive(Clone)]
pub struct Core {
    pub(crate) inner: Arc<Inner>,
    /// On whose behalf; see [`Core::on_behalf_of`].
    pub(crate) caller: Arc<Caller>,
}

pub(crate) struct Inner {
    pub(crate) config: CoreConfig,
    pub(crate) store: Store,
    pub(crate) world: Doors,
    pub(crate) ui: Ui,
    /// Held while the settings file is changed.
    pub(crate) settings_writer: tokio::sync::Mutex<()>,
    pub(crate) agents: Agents,
    /// Commands that clients run themselves.
    pub(crate) processes: Arc<Processes>,
    /// Workspaces. Locked after the world, if both are.
    pub(crate) places: RwLock<Places>,
    /// What happens to threads, for those who follow it.
    pub(crate) feed: Arc<Feed>,
    pub(crate) live_threads: LiveThreads,
    /// Turns at work.
    pub(crate) turns: TaskTracker,
    /// Raised whenever a turn has ended.
    pub(crate) turns_ended: watch::Sender<u64>,
    /// Who waits for the answer to a request.
    pub(crate) waiters: Mutex<HashMap<RequestId, oneshot::Sender<Answer>>>,
    /// Answers that turns of the last daemon wait for, by turn and call.
    pub(crate) resumed: Mutex<HashMap<(TurnId, String), Resumed>>,
    /// Children of closed terminals that are being ended.
    pub(crate) endings: TaskTracker,
    pub(crate) sweeps: Sweeps,
    /// Which terminals are shown in which.
    pub(crate) views: Views,
    /// Agents that are started in terminals, and their ends.
    pub(crate) agents_seen: broadcast::Sender<AgentSeen>,
    /// Who answers dialogs on screens.
    pub(crate) typist: std::sync::OnceLock<Arc<dyn Responder>>,
    /// Dialogs that are being answered.
    pub(crate) typing: Mutex<HashSet<RequestId>>,
    /// Dialogs that were answered last, which may still stand there for a moment.
    pub(crate) answered: Mutex<HashMap<SessionId, (String, std::time::Instant)>>,
    /// Dialogs as they were when they were first seen.
    pub(crate) dialogs: Mutex<HashMap<(SessionId, String), DialogNote>>,
    /// Answers that are being recorded, and what tells that they were.
    pub(crate) answering: Mutex<HashMap<RequestId, watch::Receiver<()>>>,
    /// Answers to dialogs that the last daemon accepted and may have typed.
    pub(crate) promised: Mutex<HashMap<RequestId, (Answer, String)>>,
    /// Held while comments go to an agent.
    pub(crate) deliveries: tokio::sync::Mutex<()>,
    pub(crate) live: RwLock<HashMap<TerminalId, Arc<Live>>>,
    /// Read while a child runs whose terminal is not live yet; written by who waits for such.
    pub(crate) openings: tokio::sync::RwLock<()>,
    pub(crate) keeper: KeeperLink,
    pub(crate) shards: Shards,
    pub(crate) clock: Clock,
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) started_at: Timestamp,
    pub(crate) damage: Option<String>,
    /// Raised whenever a terminal comes or goes.
    pub(crate) roster: watch::Sender<u64>,
    /// Raised when the core stops.
    stopping: watch::Sender<bool>,
    published: watch::Receiver<EventSeq>,
    notices: Arc<Notices>,
}

/// What the keeper says finds its way to the core, which may be gone by then.
pub(crate) struct Notices {
    core: Mutex<Weak<Inner>>,
    runtime: tokio::runtime::Handle,
    /// Ends of children whose terminals are not live yet: a short program is faster than its opening.
    early: Mutex<HashMap<TerminalId, (ExitStatus, Timestamp)>>,
}

impl Core {
    /// Opens the store, finds the terminals that live on, and takes charge of them.
    pub async fn start(config: CoreConfig) -> Result<Core> {
        let state_dir = config.state_dir.clone();
        let open = move || state_dir.as_deref().map_or_else(Store::in_memory, Store::open);
        let (store, mut loaded) = tokio::task::spawn_blocking(open)
            .await
            .map_err(|error| rookery_model::Error::failed(error.to_string()))??;
        let last = EventSeq::new(loaded.next_event.get().saturating_sub(1));
        let (publish, published) = watch::channel(last);
        store.on_published(Box::new(move |events| {
            if let Some(newest) = events.last() {
                publish.send_replace(newest.seq);
            }
        }));
        store.mask_with(Mask { change: secrets::hide_in_change, event: secrets::hide_in_event });
        let (ui, plain) = (config.ui.clone(), config.palette.clone());
        // Side by side: both are on the way to ready, and each takes some milliseconds of a processor.
        let hiding = tokio::task::spawn_blocking(move || {
            if !loaded.is_masked {
                secrets::hide_in_loaded(&mut loaded);
            }
            loaded
        });
        let ui = tokio::task::spawn_blocking(move || Ui::start(ui, plain));
        let (loaded, ui) = tokio::try_join!(hiding, ui)
            .map_err(|error| rookery_model::Error::failed(error.to_string()))?;
        let (kept, cwd) = (store.clone(), config.agent.cwd.clone());
        let (words, places) = tokio::task::spawn_blocking(move || {
            let word = |key: &str| kept.get_meta(key).ok().flatten();
            let words = ModeWords { mode: word(MODE_KEY), asking: word(ASKING_KEY) };
            (words, Places::load(&kept, &cwd))
        })
        .await
        .map_err(|error| rookery_model::Error::failed(error.to_string()))?;
        let damage = loaded.damage.as_ref().map(|damage| damage.reason.clone());
        let notices = Arc::new(Notices {
            core: Mutex::new(Weak::new()),
            runtime: tokio::runtime::Handle::current(),
            early: Mutex::default(),
        });
        let agents = Agents::new(config.agent.clone())?;
        let interrupted =
            Interrupted { turns: loaded.open_turns.clone(), requests: loaded.requests.clone() };
        let core = Core {
            inner: Arc::new(Inner {
                store,
                world: Doors::new(World::from_loaded(loaded, &config, words)),
                agents,
                processes: Arc::default(),
                places: RwLock::new(places),
                feed: Arc::default(),
                live_threads: LiveThreads::default(),
                turns: TaskTracker::new(),
                turns_ended: watch::Sender::new(0),
                waiters: Mutex::default(),
                resumed: Mutex::default(),
                runtime: tokio::runtime::Handle::current(),
                ui,
                settings_writer: tokio::sync::Mutex::new(()),
                endings: TaskTracker::new(),
                sweeps: Sweeps::default(),
                views: Views::default(),
                agents_seen: broadcast::Sender::new(MAX_AGENTS_SEEN),
                typist: std::sync::OnceLock::new(),
                typing: Mutex::default(),
                answered: Mutex::default(),
                dialogs: Mutex::default(),
                answering: Mutex::default(),
                promised: Mutex::default(),
                deliveries: tokio::sync::Mutex::default(),
                live: RwLock::default(),
                openings: tokio::sync::RwLock::default(),
                keeper: KeeperLink::new(config.keeper.clone()),
                shards: Shards::start()?,
                clock: Clock::start(),
                started_at: clock::wall(),
                damage,
                roster: watch::Sender::new(0),
                stopping: watch::Sender::new(false),
                published,
                notices: Arc::clone(&notices),
                config,
            }),
            caller: Arc::new(Caller::daemon()),
        };
        *notices.core.lock() = Arc::downgrade(&core.inner);
        core.restore_sidebar().await;
        core.follow_settings();
        let restored = core.restore_terminals().await?;
        core.restore_turns(interrupted).await?;
        core.resume_accepted();
        core.report_damage();
        core.transact_durably(|tx| {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            tx.emit(Event::DaemonStarted { version, restored: restored as u64 });
            Ok(())
        })
        .await?;
        Ok(core)
    }

    /// Changes whenever something happened and is durable.
    pub fn happened(&self) -> watch::Receiver<EventSeq> {
        self.inner.published.clone()
    }

    /// The event log.
    pub fn events(&self) -> Events {
        Events::new(self.inner.store.clone(), self.inner.published.clone())
    }

    /// Changes whenever a terminal comes or goes.
    pub fn roster(&self) -> watch::Receiver<u64> {
        self.inner.roster.subscribe()
    }

    pub(crate) fn roster_changed(&self) {
        self.inner.roster.send_modify(|version| *version += 1);
    }

    /// Keeps a text under a name for a dialect, durably; none forgets it.
    pub async fn remember(&self, name: &str, text: Option<String>) -> Result<()> {
        let key = remembered_key(name);
        self.transact_durably(|tx| {
            tx.save(Change::MetaSet { key, value: text });
            Ok(())
        })
        .await
    }

    /// The text kept under a name.
    pub async fn remembered(&self, name: &str) -> Result<Option<String>> {
        let (store, key) = (self.inner.store.clone(), remembered_key(name));
        let read = tokio::task::spawn_blocking(move || store.get_meta(&key)).await;
        let read = read.map_err(|error| rookery_model::Error::failed(error.to_string()))?;
        Ok(read?)
    }

    /// A terminal to work with.
    pub fn terminal(&self, id: TerminalId) -> Result<TerminalHandle> {
        let live = self.inner.live.read().get(&id).cloned();
        match live {
            Some(live) => Ok(TerminalHandle::new(self.clone(), live)),
            None => Err(no_terminal(id)),
        }
    }

    pub(crate) fn live_terminals(&self) -> Vec<Arc<Live>> {
        self.inner.live.read().values().cloned().collect()
    }

    /// Makes a terminal one to work with, and tells it of its child's end if that came before.
    pub(crate) fn enliven(&self, live: &Arc<Live>) {
        self.inner.live.write().insert(live.id, Arc::clone(live));
        self.roster_changed();
        let early = self.inner.notices.early.lock().remove(&live.id);
        if let Some((status, at)) = early {
            live.child_exited(status, at);
        }
    }

    /// Forgets an end that nobody asked for.
    pub(crate) fn forget_early_exit(&self, id: TerminalId) {
        self.inner.notices.early.lock().remove(&id);
    }

    pub(crate) fn notices(&self) -> Arc<dyn KeeperNotices> {
        Arc::clone(&self.inner.notices) as Arc<dyn KeeperNotices>
    }

    /// Resolves when the core stops.
    pub async fn stopping(&self) {
        let mut stopping = self.inner.stopping.subscribe();
        // The sender lives as long as the core, so an error cannot come.
        let _ = stopping.wait_for(|is_stopping| *is_stopping).await;
    }

    /// Stops: says so in the log, saves every screen, and lets go of the keeper.
    pub async fn stop(&self, kind: StopKind) -> Result<()> {
        self.inner.stopping.send_replace(true);
        self.rest_turns().await;
        self.stop_processes().await;
        if kind == StopKind::EndTerminals {
            self.end_all_terminals().await;
        }
        // What was closed is gone before the keeper is let go, or it would keep what nobody wants.
        self.inner.endings.close();
        if tokio::time::timeout(ENDINGS_LIMIT, self.inner.endings.wait()).await.is_err() {
            tracing::warn!("programs of closed terminals have not ended yet");
        }
        let said = self
            .transact_durably(|tx| {
                tx.emit(Event::DaemonStopping);
                Ok(())
            })
            .await;
        self.inner.feed.close();
        let live: Vec<Arc<Live>> = self.inner.live.write().drain().map(|(_, live)| live).collect();
        for live in &live {
            live.detach();
        }
        self.inner.keeper.disconnect();
        let store = self.inner.store.clone();
        let closed = tokio::task::spawn_blocking(move || store.close())
            .await
            .map_err(|error| rookery_model::Error::failed(error.to_string()))?;
        said?;
        closed?;
        Ok(())
    }
}

/// Apart from what core itself keeps in the same place.
fn remembered_key(name: &str) -> String {
    format!("dialect:{name}")
}

impl KeeperNotices for Notices {
    fn child_exited(&self, terminal_id: u64, status: protocol::ExitStatus, at_micros: u64) {
        let Some(inner) = self.core.lock().upgrade() else { return };
        let id = TerminalId::new(terminal_id);
        let at = Timestamp::from_micros(i64::try_from(at_micros).unwrap_or(i64::MAX));
        // Held while looking, so that a terminal that becomes live now finds what is left for it.
        let mut early = self.early.lock();
        match inner.live.read().get(&id) {
            Some(live) => live.child_exited(exit_status(status), at),
            None => drop(early.insert(id, (exit_status(status), at))),
        }
    }

    fn keeper_lost(&self) {
        let Some(inner) = self.core.lock().upgrade() else { return };
        let core = Core::unbound(inner);
        tracing::error!(
            "the keeper died; terminals go on, but their exit status will not be known"
        );
        let marked = core.transact(|tx| {
            let lost: Vec<TerminalId> = tx
                .world
                .terminals
                .values()
                .filter(|terminal| terminal.state == TerminalState::Running)
                .map(|terminal| terminal.id)
                .collect();
            for id in lost {
                tx.world.terminal_mut(id)?.state = TerminalState::Lost;
                tx.save_terminal(id);
                tx.emit(Event::TerminalLost { id });
            }
            Ok(())
        });
        if let Err(error) = marked {
            tracing::error!(%error, "cannot record the loss of the keeper");
        }
        self.runtime.spawn(async move { core.readopt_terminals().await });
    }
}

pub(crate) fn exit_status(status: protocol::ExitStatus) -> ExitStatus {
    match status {
        protocol::ExitStatus::Code(code) => ExitStatus::Code(code),
        protocol::ExitStatus::Signal(signal) => ExitStatus::Signal(signal),
        protocol::ExitStatus::Unknown => ExitStatus::Unknown,
    }
}
