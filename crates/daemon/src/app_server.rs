//! Roder's server in the foreground: on stdio or behind a WebSocket, over the daemon's world or one of
//! its own. stdout belongs to the protocol.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use rookery_core::{Core, CoreConfig, StopKind, TerminalLimits, UiConfig};
use rookery_roder::{Attach, Link};
use rookery_wire::rpc;
use rookery_wire::serve_connection;
use rookery_wire::transport::stdio::stdio;
use rookery_wire::transport::ws::{self, Gate, Limits, Listener};
use rookery_wire::transport::{Transport, unix};
use tokio::io::AsyncWriteExt as _;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::agent::{self, AgentPaths};
use crate::homes::Homes;
use crate::run::{login_shell, user_home};
use crate::serve::{private_keeper, relay};

/// How long turns may take to stop when a server with a world of its own ends.
const DRAIN: Duration = Duration::from_secs(5);
/// How long clients may take to read of the end.
const FAREWELL: Duration = Duration::from_secs(1);

/// What a server is started with.
pub struct AppServer {
    /// Where clients come from.
    pub door: ClientOrigin,
    /// What is said of them to the world.
    pub attach: Attach,
    /// What is served.
    pub world: AppWorld,
}

/// Where clients come from.
pub enum ClientOrigin {
    /// One client at the other side of stdin and stdout.
    Stdio,
    /// Any number, through the network.
    Remote {
        /// Where to listen.
        address: SocketAddr,
        /// Who may come in.
        gate: Box<Gate>,
        /// Told where the server listens, once it does.
        on_listening: OnListening,
    },
}

/// Told where a server listens, and who may come in.
pub type OnListening = Box<dyn FnOnce(SocketAddr, &Gate) + Send>;

/// What is served.
pub enum AppWorld {
    /// The daemon's world, by its Roder socket.
    Daemon(PathBuf),
    /// A world that ends with the server.
    Standalone {
        /// Where settings lie.
        homes: Homes,
        /// The executable that becomes the keeper, with `__keeper` as its first argument.
        exe: PathBuf,
    },
}

/// Serves until the client of stdio is done or a signal comes.
///
/// # Errors
/// If it cannot listen, or the daemon cannot be reached.
pub fn serve(server: AppServer) -> anyhow::Result<()> {
    rookery_host::raise_descriptor_limit();
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
    let ended = runtime.block_on(run(server));
    // A thread may still be reading stdin; its result is not needed.
    runtime.shutdown_background();
    ended
}

async fn run(server: AppServer) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let world = World::start(server.world, server.attach).await?;
    let over = CancellationToken::new();
    let mut serving = std::pin::pin!(listen(server.door, &world, &over));
    let is_serving = tokio::select! {
        ended = &mut serving => {
            ended?;
            false
        }
        _ = terminate.recv() => world.is_own(),
        _ = interrupt.recv() => world.is_own(),
    };
    // A second signal does not wait for turns to stop.
    tokio::select! {
        () = wind_up(&world, &over, serving, is_serving) => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// Ends the world while its clients are still told what becomes of it.
async fn wind_up(
    world: &World,
    over: &CancellationToken,
    serving: impl Future<Output = anyhow::Result<()>>,
    is_serving: bool,
) {
    let end = async {
        world.end().await;
        over.cancel();
    };
    let late = async {
        over.cancelled().await;
        tokio::time::sleep(FAREWELL).await;
    };
    let serve_on = async {
        if !is_serving {
            return;
        }
        tokio::select! {
            ended = serving => if let Err(error) = ended {
                tracing::debug!(%error, "clients were not told of the end");
            },
            () = late => {}
        }
    };
    tokio::join!(end, serve_on);
}

async fn listen(door: ClientOrigin, world: &World, over: &CancellationToken) -> anyhow::Result<()> {
    match door {
        ClientOrigin::Stdio => Ok(world.serve_lines(stdio()).await?),
        ClientOrigin::Remote { address, gate, on_listening } => {
            let mut listener = Listener::bind(address, *gate, Limits::default()).await?;
            on_listening(listener.local_addr()?, listener.gate());
            let mut clients = JoinSet::new();
            loop {
                let socket = tokio::select! {
                    socket = listener.accept() => socket?,
                    () = over.cancelled() => break,
                };
                while clients.try_join_next().is_some() {}
                let world = world.clone();
                clients.spawn(async move {
                    if let Err(error) = world.serve_messages(socket).await {
                        tracing::debug!(%error, "a remote client is gone");
                    }
                });
            }
            while clients.join_next().await.is_some() {}
            Ok(())
        }
    }
}

/// What is served, as connections see it.
#[derive(Clone)]
enum World {
    Daemon { socket: PathBuf, attach: Attach },
    Own { core: Core, link: Link },
}

impl World {
    async fn start(wanted: AppWorld, attach: Attach) -> anyhow::Result<World> {
        let (homes, exe) = match wanted {
            AppWorld::Daemon(socket) => return Ok(World::Daemon { socket, attach }),
            AppWorld::Standalone { homes, exe } => (homes, exe),
        };
        let exe = rookery_host::own_program(&exe);
        let agent = agent::config(&AgentPaths::from_homes(&homes), Some(exe.clone()));
        let core = Core::start(CoreConfig {
            state_dir: None,
            keeper: private_keeper(exe),
            home: user_home(),
            env: std::env::vars_os().collect(),
            shell: login_shell(),
            default_tool: None,
            max_running_tasks: rookery_core::USUAL_RUNNING_TASKS,
            child_env: Vec::new(),
            limits: TerminalLimits::default(),
            palette: Default::default(),
            shares_ids: true,
            ui: UiConfig::default(),
            tab_env: Vec::new(),
            resources: None,
            helpers: None,
            agent,
        })
        .await?;
        attach.set_mode(&core).await?;
        // The world is this server's alone, and so is its mode.
        Ok(World::Own { link: Link { mode: None, ..attach.link()? }, core })
    }

    async fn serve_lines(&self, stream: impl Transport) -> io::Result<()> {
        match self {
            World::Daemon { socket, attach } => {
                let mut daemon = unix::connect(socket).await?;
                daemon.write_all(&greeting(attach)?).await?;
                relay::lines(stream, daemon).await
            }
            World::Own { core, link } => {
                let caller = core.identify(None, "app-server").await;
                let (core, link) = (core.on_behalf_of(caller), link.clone());
                let framing = rookery_roder::framing();
                serve_connection(stream, framing, rookery_roder::options(), |connection| {
                    rookery_roder::protocol(core, connection, link)
                })
                .await;
                Ok(())
            }
        }
    }

    async fn serve_messages(&self, socket: ws::Socket) -> io::Result<()> {
        match self {
            World::Daemon { socket: path, attach } => {
                let mut daemon = unix::connect(path).await?;
                daemon.write_all(&greeting(attach)?).await?;
                relay::messages(socket, ws::Messages, daemon).await
            }
            World::Own { core, link } => {
                let caller = core.identify(None, "app-server").await;
                let (core, link) = (core.on_behalf_of(caller), link.clone());
                let options = rookery_roder::options();
                serve_connection(socket, ws::Messages, options, |connection| {
                    rookery_roder::protocol(core, connection, link)
                })
                .await;
                Ok(())
            }
        }
    }

    fn is_own(&self) -> bool {
        matches!(self, World::Own { .. })
    }

    async fn end(&self) {
        let World::Own { core, .. } = self else { return };
        core.threads().drain(DRAIN).await;
        if let Err(error) = core.stop(StopKind::EndTerminals).await {
            tracing::warn!(%error, "the server's state was not shut down cleanly");
        }
    }
}

/// What the daemon gets about a client before its first message: a notification, so nothing comes back.
fn greeting(attach: &Attach) -> io::Result<Vec<u8>> {
    let body = rpc::notification("rookery/attach", attach).map_err(io::Error::other)?;
    let mut line = Vec::from(body);
    line.push(b'\n');
    Ok(line)
}
