//! Starting, serving and stopping.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use parking_lot::Mutex;
use rookery_core::{Core, CoreConfig, KeeperLaunch, StopKind, TerminalLimits};
use rookery_dialects::{CloseReason, Dialect, Served};
use rookery_native::{Control, Ending, WebServer};
use rookery_watch::Adapters;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::config::{Config, Warning};
use crate::endpoints;
use crate::homes::Homes;
use crate::listening::{self, Bound, Listening};
use crate::web::Web;
use crate::{agent, desktop, interface, logs, notify, roo, running};

/// Bytes kept of what a terminal sends to its child by itself, in test mode.
const CAPTURED_INPUT: usize = 1 << 20;

/// What a daemon is started with.
pub struct RunOptions {
    /// Where files lie; [secured](Homes::secure) before the config in them was read.
    pub homes: Homes,
    /// What the user set.
    pub config: Config,
    /// What was odd about that.
    pub warnings: Vec<Warning>,
    /// The executable that becomes the keeper, with `__keeper` as its first argument.
    pub exe_for_keeper: PathBuf,
    /// Where it was started, if that is not the directory it runs in.
    pub started_in: Option<PathBuf>,
}

/// The one line that `daemon` prints on stdout, after the word `ready`.
#[derive(Clone, Debug, Serialize)]
pub struct Ready {
    /// Version of the daemon.
    pub version: &'static str,
    /// Its process id.
    pub pid: u32,
    /// Endpoints by name, with their paths.
    pub endpoints: std::collections::BTreeMap<&'static str, PathBuf>,
    /// Terminals found alive.
    pub terminals: usize,
}

/// What methods reach of the daemon.
struct Controls {
    stop: Mutex<Option<watch::Sender<Option<StopKind>>>>,
    web: Arc<Web>,
}

impl Control for Controls {
    fn shut_down(&self, ending: Ending) {
        let kind = match ending {
            Ending::KeepTerminals => StopKind::KeepTerminals,
            Ending::Restart => StopKind::Restart,
            Ending::EndAll => StopKind::EndTerminals,
        };
        if let Some(sender) = &*self.stop.lock() {
            sender.send_replace(Some(kind));
        }
    }

    fn web(&self) -> Option<Arc<dyn WebServer>> {
        Some(Arc::clone(&self.web) as Arc<dyn WebServer>)
    }
}

/// Runs a daemon until it is stopped. Logs on stderr, says `ready` on stdout.
pub fn run(options: RunOptions) -> anyhow::Result<()> {
    logs::start(&options.config.daemon.log, std::env::var("ROOKERY_LOG").ok());
    rookery_host::raise_descriptor_limit();
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(serve(options))
}

async fn serve(options: RunOptions) -> anyhow::Result<()> {
    let RunOptions { homes, mut config, warnings, exe_for_keeper, started_in } = options;
    interface::take_overrides(&mut config);
    let cwd = started_in.or_else(|| std::env::current_dir().ok()).unwrap_or_else(user_home);
    let mut listeners = roo::plan(&mut config, &cwd);
    for warning in &warnings {
        tracing::warn!("{}: {warning}", homes.config_file().display());
    }
    // Before the lock names us to those who may send a signal.
    let mut signals = Signals::new()?;
    let asked_to_listen = signal(SignalKind::user_defined1())?;
    // Held until everything is written, longer than any client listens.
    let locks = Arc::new(Mutex::new(listening::lock_home(&homes)?));
    let left_out = &mut listeners.left_out;
    let mut sockets = listening::bind_all(&homes, &config, left_out)?;
    sockets.extend(listening::bind_listeners(&homes, &listeners.sockets, left_out));
    let over_tcp = roo::bind_tcp(listeners.addresses, left_out).await;
    for problem in &*left_out {
        tracing::warn!("{problem}");
    }
    let roost = roost_settings(&homes, &config);
    let mut core_config = core_config(&homes, &config, exe_for_keeper, &sockets);
    let place = homes.config_file();
    let told = warnings.iter().map(|warning| format!("{}: {warning}", place.display()));
    core_config.agent.warnings.extend(told.chain(listeners.left_out));
    if roost.test_mode {
        core_config.limits.captured_input = CAPTURED_INPUT;
    }
    let (core, _orphans) = start_core(core_config).await?;
    let (stop, mut stopped) = watch::channel(None);
    let web = Web::rereading(homes.clone(), config.web.clone());
    let control = Arc::new(Controls { stop: Mutex::new(Some(stop)), web: Arc::clone(&web) });
    let adapters = adapters(&config).await?;
    adapters.restore(&core).await;
    let watch = rookery_watch::watch_screens(core.clone(), Arc::clone(&adapters));
    let shared = Arc::new(rookery_ptywright::Shared::new(user_home(), adapters));
    let mirror = rookery_idx0::Mirror::start(core.clone(), homes.idx0_dir()).await?;
    let mut served =
        Served::new(core.clone(), control, shared).with_roost(roost).with_mirror(mirror);
    if let Some(usual) = listeners.usual {
        served = served.with_listeners(usual);
    }
    web.show(&core, &served);
    if let Some(problem) = web.resume().await {
        tracing::warn!("{problem}");
    }
    let mut ready = Ready {
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        endpoints: Default::default(),
        terminals: core.status().running,
    };
    let mut accepting = tokio::task::JoinSet::new();
    accepting.spawn(watch);
    for bound in over_tcp {
        accepting.spawn(bound.accept_all(served.clone()));
    }
    for bound in sockets.iter().filter(|bound| bound.is_endpoint()) {
        ready.endpoints.insert(bound.dialect.endpoint.name, bound.socket.path().to_owned());
    }
    let listening = Listening::start(homes, config, served, sockets, Arc::clone(&locks));
    announce(&ready)?;
    // After the word: it looks at every terminal, and nothing waits for it.
    accepting.spawn(core.clone().terminals().recognise_agents());
    accepting.spawn(listening.look_after(asked_to_listen));
    let kind = stop_kind(&mut signals, &mut stopped).await;
    tracing::info!(?kind, "stopping");
    // No new connections, and the sockets are gone before the last reply is.
    accepting.shutdown().await;
    web.pause(match kind {
        StopKind::Restart => CloseReason::Restarting,
        StopKind::KeepTerminals | StopKind::EndTerminals => CloseReason::Stopping,
    })
    .await;
    core.stop(kind).await?;
    drop(locks);
    Ok(())
}

/// The task that adopts what tools leave behind, which ends with its handle.
type Adopting = AbortOnDropHandle<std::io::Result<()>>;

/// Starts the world, and what follows it on the desktop.
async fn start_core(config: CoreConfig) -> anyhow::Result<(Core, Adopting)> {
    // Before the first child: what tools leave behind stays below this process.
    rookery_host::supervise::enable();
    let orphans =
        rookery_host::Orphans::adopt().context("cannot adopt processes that tools leave behind")?;
    let orphans = AbortOnDropHandle::new(tokio::spawn(orphans.reap()));
    let core = Core::start(config).await?;
    desktop::show_banners(&core);
    notify::follow(&core);
    if let Some(damage) = core.status().damage {
        tracing::error!("the store was damaged and was moved aside: {damage}");
    }
    Ok((core, orphans))
}

/// Waits for a signal or a client that stops the daemon.
async fn stop_kind(
    signals: &mut Signals,
    stopped: &mut watch::Receiver<Option<StopKind>>,
) -> StopKind {
    tokio::select! {
        kind = signals.next() => kind,
        asked = stopped.wait_for(Option::is_some) => match asked {
            Ok(kind) => kind.unwrap_or(StopKind::KeepTerminals),
            Err(_) => StopKind::KeepTerminals,
        },
    }
}

fn roost_socket(homes: &Homes, config: &Config) -> Option<PathBuf> {
    endpoints::socket(Dialect::named("roost")?, homes, config)
}

fn roost_settings(homes: &Homes, config: &Config) -> rookery_roost::Settings {
    let socket = roost_socket(homes, config);
    rookery_roost::Settings {
        painter: Some(Arc::new(crate::Pictures::default())),
        app_label: config.roost.app_label.clone(),
        app_id: config.roost.app_id.clone(),
        test_mode: std::env::var_os("ROOST_TEST_MODE").is_some_and(|value| value == "1"),
        ..rookery_roost::Settings::new(socket.unwrap_or_default())
    }
}

/// The only line on stdout.
#[expect(clippy::print_stdout, reason = "scripts wait for this line")]
fn announce(ready: &Ready) -> anyhow::Result<()> {
    println!("ready {}", serde_json::to_string(ready)?);
    Ok(())
}

fn core_config(homes: &Homes, config: &Config, exe: PathBuf, sockets: &[Bound]) -> CoreConfig {
    // The file may be replaced or removed while we run; what we start must be what we are.
    let own = rookery_host::own_program(&exe);
    let paths = agent::AgentPaths::from_homes(homes);
    let mut agent = agent::config(&paths, Some(own.clone()));
    agent.teams_dir = Some(homes.data_dir().join("teams"));
    agent.memories_file = Some(paths.memories_file());
    agent.media_dir = Some(paths.media_dir());
    agent.imports_file = Some(paths.imports_file());
    agent.marketplaces = Some(paths.marketplaces());
    let terminal = &config.terminal;
    let served = sockets.iter().filter_map(|bound| {
        let path = bound.socket.path().to_str()?;
        Some((bound.dialect.endpoint.variable?.to_owned(), path.to_owned()))
    });
    let child_env = served.collect();
    let helpers = interface::link_helpers(homes, &exe);
    let roostctl = helpers.as_ref().map(|dir| dir.join("roostctl"));
    CoreConfig {
        state_dir: Some(homes.state_dir()),
        keeper: KeeperLaunch {
            exe: own,
            args: keeper_args(&[]),
            socket: running::keeper_socket(homes),
        },
        home: user_home(),
        env: std::env::vars_os().collect(),
        shell: terminal.shell.clone().unwrap_or_else(login_shell),
        default_tool: config.idx0.default_tool.clone(),
        max_running_tasks: config.tasks.max_running,
        child_env,
        limits: TerminalLimits {
            max_terminals: terminal.max_terminals,
            scrollback: terminal.scrollback,
            ring_bytes: terminal.ring_bytes,
            transcript_chars: terminal.transcript_chars,
            keep_exited: terminal.keep_exited,
            ..TerminalLimits::default()
        },
        palette: Default::default(),
        shares_ids: true,
        ui: interface::ui_config(homes, config, roost_socket(homes, config), roostctl),
        tab_env: rookery_roost::tab_env(),
        resources: interface::install_resources(homes),
        helpers,
        agent,
    }
}

/// Adapters, with the plugins loaded that the config names.
async fn adapters(config: &Config) -> anyhow::Result<Arc<Adapters>> {
    let adapters = Adapters::default().allow_plugin_load(config.ptywright.allow_plugin_load);
    let plugins = config.ptywright.plugins.clone();
    let loading = tokio::task::spawn_blocking(move || {
        for path in plugins {
            // A broken plugin must not cost any terminals.
            if let Err(error) = adapters.plugins().load(&path) {
                tracing::error!("cannot load the plugin {}: {error}", path.display());
            }
        }
        adapters
    });
    Ok(Arc::new(loading.await?))
}

pub(crate) fn user_home() -> PathBuf {
    std::env::var_os("HOME")
        .map(PathBuf::from)
        .filter(|home| home.is_absolute())
        .or_else(|| rookery_host::current_user().map(|user| user.home))
        .unwrap_or_else(|| "/".into())
}

pub(crate) fn login_shell() -> String {
    std::env::var("SHELL")
        .ok()
        .filter(|shell| !shell.is_empty())
        .or_else(|| rookery_host::current_user().map(|user| user.shell))
        .unwrap_or_else(|| "/bin/sh".to_owned())
}

/// What makes this program a keeper. Its children get the limits that we came with.
pub(crate) fn keeper_args(options: &[&str]) -> Vec<String> {
    let mut args = vec!["__keeper".to_owned()];
    args.extend(options.iter().map(|option| (*option).to_owned()));
    let limit = rookery_host::inherited_descriptor_limit();
    args.extend(limit.map(|soft| format!("{}{soft}", rookery_keeper::NOFILE)));
    args
}

/// Signals that stop the daemon; terminals live on.
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> anyhow::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> StopKind {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        StopKind::KeepTerminals
    }
}
