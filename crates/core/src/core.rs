//! The handle to everything: opens the world, restores it, and stops it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rookery_model::{Caller, Event, EventSeq, Result, Timestamp};
use rookery_store::{Change, Loaded, Mask, Store, ValueKey};
use rookery_term::Palette;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use crate::agents::{self, AgentConfig, Places};
use crate::keeper_link::KeeperLaunch;
use crate::seats::{self, UiConfig};
use crate::terminals::{self, TerminalLimits};
use crate::threads::{self, Interrupted};
use crate::world::{SharedWorld, StoredValues, World};
use crate::{children, clock, commands, devices, file_changes, imports, log, marketplaces};
use crate::{media, memories, requests, reviews, runners, secrets};
use crate::{tasks, teams, workflows};

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
    /// Sockets passed to every child, as variable names and values.
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
    pub agent: AgentConfig,
    /// The agent that is started where one is wanted and none is named.
    pub default_tool: Option<String>,
    /// How many background tasks run at once.
    pub max_running_tasks: usize,
}

impl CoreConfig {
    /// Where files that tools are writing are noted.
    pub(crate) fn writes(&self) -> Option<PathBuf> {
        self.state_dir.as_ref().map(|dir| dir.join("writes"))
    }
}

/// How long a stop waits for the programs of closed terminals.
const ENDINGS_LIMIT: Duration = Duration::from_secs(8);

/// How to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopKind {
    /// Terminals live on with the keeper.
    KeepTerminals,
    /// The same, and another daemon follows at once.
    Restart,
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
    pub(crate) world: SharedWorld,
    pub(crate) runtime: tokio::runtime::Handle,
    /// Work that a stop waits for: programs that are being ended, and what was promised.
    pub(crate) background: TaskTracker,
    pub(crate) started_at: Timestamp,
    pub(crate) damage: Option<String>,
    /// Raised when the core stops.
    pub(crate) stopping: watch::Sender<bool>,
    /// Whether another daemon follows when it does.
    is_restarting: AtomicBool,
    /// Raised when something that is shown changed.
    pub(crate) signals: log::Signals,
    // What belongs to one room alone; each is private to it.
    pub(crate) agents: agents::Room,
    pub(crate) children: children::Room,
    pub(crate) commands: Arc<commands::Room>,
    pub(crate) devices: devices::Room,
    pub(crate) file_changes: file_changes::Room,
    pub(crate) imports: imports::Room,
    pub(crate) log: log::Room,
    pub(crate) marketplaces: marketplaces::Room,
    pub(crate) media: media::Room,
    pub(crate) memories: memories::Room,
    pub(crate) requests: requests::Room,
    pub(crate) reviews: reviews::Room,
    pub(crate) runners: runners::Room,
    pub(crate) seats: seats::Room,
    pub(crate) tasks: tasks::Room,
    pub(crate) teams: teams::Room,
    pub(crate) terminals: terminals::Room,
    pub(crate) threads: threads::Room,
    pub(crate) workflows: workflows::Room,
}

impl Core {
    /// Opens the store, finds the terminals that live on, and takes charge of them.
    pub async fn start(config: CoreConfig) -> Result<Core> {
        let signals = log::Signals::default();
        let opened = Opened::new(config.state_dir.clone(), signals.clone()).await?;
        let Opened { store, loaded, published } = opened;
        // Side by side: both are on the way to ready, and each takes some milliseconds of a processor.
        let (ui, plain) = (config.ui.clone(), config.palette.clone());
        let raised = signals.clone();
        let seats = blocking(move || seats::Room::start(ui, plain, &raised));
        let (loaded, seats) = tokio::try_join!(blocking(move || masked(loaded)), seats)?;
        let (kept, cwd) = (store.clone(), config.agent.cwd.clone());
        let (words, places, runners, paired) = blocking(move || {
            let word = |what: ValueKey| kept.kept(&what).ok().flatten();
            let words =
                StoredValues { mode: word(ValueKey::Mode), asking: word(ValueKey::AskingSpelling) };
            (words, Places::load(&kept, &cwd), word(ValueKey::Runners), word(ValueKey::Devices))
        })
        .await?;
        let interrupted =
            Interrupted { turns: loaded.open_turns.clone(), requests: loaded.requests.clone() };
        let inner = Arc::new(Inner {
            store,
            runtime: tokio::runtime::Handle::current(),
            background: TaskTracker::new(),
            started_at: clock::wall(),
            damage: loaded.damage.as_ref().map(|damage| damage.reason.clone()),
            stopping: watch::Sender::new(false),
            is_restarting: AtomicBool::new(false),
            world: SharedWorld::new(World::from_loaded(loaded, &config, words), signals.clone()),
            agents: agents::Room::new(
                config.agent.clone(),
                config.home.clone(),
                places,
                signals.clone(),
            ),
            children: children::Room::new(&config.agent.settings.subagents),
            commands: Arc::new(commands::Room::new(&signals)),
            devices: devices::Room::new(paired, &signals),
            file_changes: file_changes::Room::default(),
            imports: imports::Room::new(config.agent.imports_file.clone()),
            log: log::Room::new(published, &signals),
            marketplaces: marketplaces::Room::new(config.agent.marketplaces.clone()),
            media: media::Room::new(config.agent.media_dir.clone()),
            memories: memories::Room::new(config.agent.memories_file.clone()),
            requests: requests::Room::default(),
            reviews: reviews::Room::default(),
            runners: runners::Room::new(runners, &signals),
            seats,
            tasks: tasks::Room::new(config.max_running_tasks),
            teams: teams::Room::new(config.agent.teams_dir.clone()),
            terminals: terminals::Room::start(config.keeper.clone())?,
            threads: threads::Room::default(),
            workflows: workflows::Room::new(config.agent.workflows_dir.clone()),
            signals,
            config,
        });
        inner.terminals.bind(&inner);
        let core = Core { inner, caller: Arc::new(Caller::daemon()) };
        core.restore(interrupted).await?;
        Ok(core)
    }

    /// Takes up what the last daemon left.
    async fn restore(&self, interrupted: Interrupted) -> Result<()> {
        if let Some(writes) = self.inner.config.writes() {
            // Before anything may be written again.
            blocking(move || rookery_agent::tools::settle_writes(&writes)).await?;
        }
        self.seats().restore_sidebar().await;
        self.seats().follow_settings();
        let restored = self.terminals().restore().await?;
        self.threads().restore_turns(interrupted).await?;
        self.sessions().resume_accepted();
        self.tasks().restore().await;
        self.workflows().restore_soon();
        self.marketplaces().restore_soon();
        self.runners().sweep_soon();
        self.teams().restore().await?;
        self.report_damage();
        self.transact_durably(|tx| {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            tx.emit(Event::DaemonStarted { version, restored: restored as u64 });
            Ok(())
        })
        .await
    }

    /// Keeps a text under a name for a dialect, durably; none forgets it.
    pub async fn remember(&self, name: &str, text: Option<String>) -> Result<()> {
        let what = ValueKey::Dialect(name.to_owned());
        self.transact_durably(|tx| {
            tx.save(Change::KeptSet { what, value: text });
            Ok(())
        })
        .await
    }

    /// The text kept under a name.
    pub async fn remembered(&self, name: &str) -> Result<Option<String>> {
        let (store, what) = (self.inner.store.clone(), ValueKey::Dialect(name.to_owned()));
        Ok(blocking(move || store.kept(&what)).await??)
    }

    /// Resolves when the core stops.
    pub async fn stopping(&self) {
        let mut stopping = self.inner.stopping.subscribe();
        // The sender lives as long as the core, so an error cannot come.
        let _ = stopping.wait_for(|is_stopping| *is_stopping).await;
    }

    /// Whether [`Core::stop`] was called.
    pub(crate) fn is_stopping(&self) -> bool {
        *self.inner.stopping.borrow()
    }

    /// Whether another daemon follows at once, now that the core stops.
    pub(crate) fn is_restarting(&self) -> bool {
        self.inner.is_restarting.load(Ordering::Relaxed)
    }

    /// Stops: says so in the log, saves every screen, and lets go of the keeper.
    pub async fn stop(&self, kind: StopKind) -> Result<()> {
        self.inner.is_restarting.store(kind == StopKind::Restart, Ordering::Relaxed);
        self.inner.stopping.send_replace(true);
        self.threads().rest_turns().await;
        self.commands().stop_all().await;
        self.runners().let_go_of_all().await;
        self.workflows().flush().await;
        if kind == StopKind::EndTerminals {
            self.terminals().end_all().await;
        }
        // What was closed is gone before the keeper is let go, or it would keep what is not wanted any more.
        self.inner.background.close();
        if tokio::time::timeout(ENDINGS_LIMIT, self.inner.background.wait()).await.is_err() {
            tracing::warn!("programs of closed terminals have not ended yet");
        }
        let said = self
            .transact_durably(|tx| {
                tx.emit(Event::DaemonStopping);
                Ok(())
            })
            .await;
        self.inner.log.spine().close();
        self.terminals().let_go_of_all();
        let store = self.inner.store.clone();
        let closed = blocking(move || store.close()).await?;
        said?;
        Ok(closed?)
    }
}

/// The store with what it holds.
struct Opened {
    store: Store,
    loaded: Loaded,
    published: watch::Receiver<EventSeq>,
}

impl Opened {
    async fn new(state_dir: Option<PathBuf>, signals: log::Signals) -> Result<Opened> {
        let open = move || state_dir.as_deref().map_or_else(Store::in_memory, Store::open);
        let (store, loaded) = blocking(open).await??;
        let last = EventSeq::new(loaded.next_event.get().saturating_sub(1));
        let (publish, published) = watch::channel(last);
        store.on_published(Box::new(move |events| {
            if let Some(newest) = events.last() {
                publish.send_replace(newest.seq);
                signals.raise(log::Shows::Log);
            }
        }));
        store.mask_with(Mask { change: secrets::hide_in_change, event: secrets::hide_in_event });
        Ok(Opened { store, loaded, published })
    }
}

/// What was stored, without secrets that an older version left there.
fn masked(mut loaded: Loaded) -> Loaded {
    if !loaded.is_masked {
        secrets::hide_in_loaded(&mut loaded);
    }
    loaded
}

/// Does work that blocks where it may.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    // Boxed, so that the runtime has a task for each result and not for each caller.
    let work: Box<dyn FnOnce() -> T + Send> = Box::new(work);
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| rookery_model::Error::failed(error.to_string()))
}
