//! A ptywright server in the foreground: on stdio or on a socket, with a world of its own or over the daemon's.
//!
//! stdout belongs to the protocol; what goes wrong is returned, for the caller to tell on stderr.

mod home;
mod logs;
mod plugins;
pub(crate) mod relay;
mod world;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_wire::Outcome;
use rookery_wire::framing::{FrameError, Framing, Lsp, Ndjson};
use rookery_wire::transport::Transport;
use rookery_wire::transport::stdio::stdio;
use rookery_wire::transport::unix::{self, BindOptions, UnixEndpoint};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;

pub use home::{LogFormat, Logging, PtywrightHome};
pub use logs::{LogsOf, newest as newest_log, start as start_logs};
pub use plugins::ServeOptions;
pub use world::private_keeper;

use world::PrivateWorld;

/// What a server is started with.
pub struct Serve {
    /// Where clients come from.
    pub transport: ServeTransport,
    /// Message framing.
    pub framing: FramingKind,
    /// What is served.
    pub world: ServeWorld,
    /// Told where the server listens, once it does.
    pub on_listening: fn(&Path),
}

/// Where clients come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServeTransport {
    /// One client at the other side of stdin and stdout.
    Stdio,
    /// Any number, over a Unix socket.
    Socket(PathBuf),
}

/// Message framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingKind {
    /// One per line.
    Ndjson,
    /// With a `Content-Length` header.
    Lsp,
}

impl FramingKind {
    /// A new decoder and encoder.
    pub fn decoder(self) -> Box<dyn Framing> {
        match self {
            FramingKind::Ndjson => Box::new(Ndjson::default()),
            FramingKind::Lsp => Box::new(Lsp::default()),
        }
    }
}

/// What is served.
pub enum ServeWorld {
    /// An empty world that ends with the server.
    Private {
        /// The executable that becomes the keeper, with `__keeper` as its first argument.
        exe_for_keeper: PathBuf,
        /// Plugins.
        options: ServeOptions,
    },
    /// The daemon's world, by its ptywright socket.
    Shared(PathBuf),
}

/// Why a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its one client had nothing more to say.
    Eof,
    Signal(i32),
}

/// Why a server failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client broke the protocol.
    #[error("rpc error: {0}")]
    Rpc(String),
    /// Reading, writing or listening failed.
    #[error("io error: {0}")]
    Io(#[from] io::Error),
    /// A plugin could not be loaded.
    #[error("{0}")]
    Plugin(String),
    /// The world could not be made.
    #[error("{0}")]
    World(String),
}

impl From<FrameError> for ServeError {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::NotUtf8 => {
                ServeError::Io(io::Error::new(io::ErrorKind::InvalidData, error))
            }
            _ => ServeError::Rpc(error.to_string()),
        }
    }
}

/// Serves until the client of stdio is done or a signal comes.
pub fn serve(serve: Serve) -> Result<Ended, ServeError> {
    rookery_host::raise_descriptor_limit();
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
    let ended = runtime.block_on(run(serve));
    // A thread may still be reading stdin; its result is not needed.
    runtime.shutdown_background();
    ended
}

async fn run(serve: Serve) -> Result<Ended, ServeError> {
    let mut signals = Signals::new()?;
    let prepared = Prepared::of(serve.world)?;
    let socket = match &serve.transport {
        ServeTransport::Stdio => None,
        ServeTransport::Socket(path) => {
            let options = BindOptions { allow_shared_parent: true, ..BindOptions::default() };
            Some(unix::bind(path, &options).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => ServeError::Rpc(error.to_string()),
                _ => error.into(),
            })?)
        }
    };
    let world = Arc::new(World::start(prepared).await?);
    if let Some(socket) = &socket {
        (serve.on_listening)(socket.path());
    }
    let mut connections = JoinSet::new();
    let ended = tokio::select! {
        ended = async {
            match &socket {
                None => world.serve(stdio(), serve.framing).await.map(|()| Ended::Eof),
                Some(socket) => accept_all(socket, &world, serve.framing, &mut connections).await,
            }
        } => ended,
        signal = signals.next() => Ok(Ended::Signal(signal)),
    };
    // While sessions end, no client may connect and nothing new may start.
    drop(socket);
    connections.shutdown().await;
    if let Some(world) = Arc::into_inner(world) {
        world.end().await;
    }
    ended
}

async fn accept_all(
    socket: &UnixEndpoint,
    world: &Arc<World>,
    framing: FramingKind,
    connections: &mut JoinSet<()>,
) -> Result<Ended, ServeError> {
    loop {
        let stream = socket.accept().await?;
        while connections.try_join_next().is_some() {}
        let world = Arc::clone(world);
        connections.spawn(async move {
            if let Err(error) = world.serve(stream, framing).await {
                tracing::info!(%error, "a connection ended");
            }
        });
    }
}

/// What can be wrong with a world is found out before a client can connect.
enum Prepared {
    Private(PathBuf, Box<rookery_ptywright::Shared>),
    Shared(PathBuf),
}

impl Prepared {
    fn of(wanted: ServeWorld) -> Result<Prepared, ServeError> {
        match wanted {
            ServeWorld::Private { exe_for_keeper, options } => {
                Ok(Prepared::Private(exe_for_keeper, Box::new(plugins::load(&options)?)))
            }
            ServeWorld::Shared(socket) => Ok(Prepared::Shared(socket)),
        }
    }
}

enum World {
    Private(PrivateWorld),
    Shared(PathBuf),
}

impl World {
    async fn start(prepared: Prepared) -> Result<World, ServeError> {
        match prepared {
            Prepared::Shared(socket) => Ok(World::Shared(socket)),
            Prepared::Private(exe_for_keeper, shared) => {
                PrivateWorld::start(exe_for_keeper, *shared)
                    .await
                    .map(World::Private)
                    .map_err(|error| ServeError::World(error.to_string()))
            }
        }
    }

    async fn serve(&self, stream: impl Transport, framing: FramingKind) -> Result<(), ServeError> {
        match self {
            World::Private(world) => match world.serve(stream, framing.decoder()).await {
                Outcome::PeerClosed | Outcome::Finished | Outcome::Dismissed(_) => Ok(()),
                Outcome::Framing(error) => Err(error.into()),
                Outcome::Io(error) => Err(error.into()),
                Outcome::Cut(reason) => Err(io::Error::other(reason.into_owned()).into()),
            },
            World::Shared(daemon) => relay::relay(stream, framing, daemon).await,
        }
    }

    async fn end(self) {
        match self {
            World::Private(world) => world.end().await,
            World::Shared(_) => {}
        }
    }
}

/// Signals that end a server.
struct Signals([(SignalKind, Signal); 3]);

impl Signals {
    fn new() -> io::Result<Signals> {
        let watch = |kind| Ok::<_, io::Error>((kind, signal(kind)?));
        Ok(Signals([
            watch(SignalKind::interrupt())?,
            watch(SignalKind::terminate())?,
            watch(SignalKind::hangup())?,
        ]))
    }

    async fn next(&mut self) -> i32 {
        let [(first, a), (second, b), (third, c)] = &mut self.0;
        let kind = tokio::select! {
            _ = a.recv() => first,
            _ = b.recv() => second,
            _ = c.recv() => third,
        };
        kind.as_raw_value()
    }
}
