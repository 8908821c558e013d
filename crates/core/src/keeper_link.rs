//! The daemon's connection to its keeper, as async requests.
//!
//! Two threads of their own do the blocking I/O: one sends, one receives.
//! A keeper that goes away fails what is pending and is reported once.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc as std_mpsc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rookery_keeper::client::{self, Incoming, Replies, Requests};
use rookery_keeper::protocol::{self, Entry, Reply, Request};
use rookery_model::{Error, ErrorKind, Result};
use tokio::sync::mpsc;

/// After this long without an answer it is logged that the keeper is waited for.
const KEEPER_IS_SLOW: Duration = Duration::from_secs(1);
/// How long a keeper may take to answer the first word after that. It does nothing that takes time.
const KEEPER_PATIENCE: Duration = Duration::from_secs(5);
/// How long a keeper may say nothing at all while requests wait. It gives a program 10 s to start.
const KEEPER_SILENCE: Duration = Duration::from_secs(15);

/// How to start a keeper and where to find it.
#[derive(Clone, Debug)]
pub struct KeeperLaunch {
    /// The executable to run as keeper.
    pub exe: PathBuf,
    /// Arguments that make it a keeper; the socket path is appended.
    pub args: Vec<String>,
    /// Where it listens.
    pub socket: PathBuf,
}

/// What the keeper tells unasked.
pub(crate) trait KeeperNotices: Send + Sync + 'static {
    /// A child ended.
    fn child_exited(&self, terminal_id: u64, status: protocol::ExitStatus, at_micros: u64);
    /// The connection ended. Children may live on, but how they end will not be known.
    fn keeper_lost(&self);
}

/// The tag of requests whose answer says nothing new, so that nothing waits for it.
const UNANSWERED: u64 = u64::MAX;

/// Requests on their way to the keeper, each with its tag.
type Outgoing = std_mpsc::Sender<(u64, Request, Vec<OwnedFd>)>;

/// Requests that the keeper has not answered, and when it last said anything.
struct Pending {
    /// By tag; an answer may come in several parts. The receiver is gone if its request was given up.
    waiting: Mutex<HashMap<u64, mpsc::UnboundedSender<Incoming>>>,
    heard: Mutex<Instant>,
}

impl Pending {
    fn new() -> Arc<Self> {
        Arc::new(Self { waiting: Mutex::default(), heard: Mutex::new(Instant::now()) })
    }

    /// Whether a request was given up that the keeper has not answered since.
    fn has_given_up(&self) -> bool {
        self.waiting.lock().values().any(mpsc::UnboundedSender::is_closed)
    }
}

struct Connection {
    pid: u32,
    outgoing: Outgoing,
    pending: Arc<Pending>,
    requests: Requests,
}

/// An answer that is waited for, maybe in parts.
struct Answer {
    parts: mpsc::UnboundedReceiver<Incoming>,
    pending: Arc<Pending>,
    pid: u32,
}

impl Answer {
    /// The next part. Fails once the keeper has said nothing for too long, or is seen to be stopped.
    async fn next(&mut self) -> Result<Incoming> {
        let asked = Instant::now();
        let mut patience = KEEPER_IS_SLOW;
        loop {
            if let Ok(part) = tokio::time::timeout(patience, self.parts.recv()).await {
                return part.ok_or_else(keeper_gone);
            }
            let silent = asked.max(*self.pending.heard.lock()).elapsed();
            if silent >= KEEPER_SILENCE || (silent >= KEEPER_IS_SLOW && is_stopped(self.pid)) {
                return Err(silence_error(self.pid));
            }
            patience = KEEPER_SILENCE.saturating_sub(silent).max(KEEPER_IS_SLOW);
        }
    }
}

/// The link; connects and starts a keeper on demand.
pub(crate) struct KeeperLink {
    launch: KeeperLaunch,
    connection: Arc<Mutex<Option<Connection>>>,
    /// Serializes connecting, so that two first terminals start one keeper.
    connecting: tokio::sync::Mutex<()>,
    /// Held while a keeper is started.
    starting: tokio::sync::Mutex<()>,
    next_tag: AtomicU64,
}

impl KeeperLink {
    pub(crate) fn new(launch: KeeperLaunch) -> KeeperLink {
        KeeperLink {
            launch,
            connection: Arc::default(),
            connecting: tokio::sync::Mutex::new(()),
            starting: tokio::sync::Mutex::new(()),
            next_tag: AtomicU64::new(1),
        }
    }

    /// Process id of the keeper, if connected.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.connection.lock().as_ref().map(|connection| connection.pid)
    }

    /// Connects to a keeper that already runs. `Ok(false)` means there is none.
    pub(crate) async fn connect_existing(&self, notices: Arc<dyn KeeperNotices>) -> Result<bool> {
        let _alone = self.connecting.lock().await;
        if self.pid().is_some() {
            return Ok(true);
        }
        let path = self.launch.socket.clone();
        let connected = tokio::task::spawn_blocking(move || greet(&path)).await.map_err(joined)?;
        match connected {
            Ok((pid, requests, replies)) => {
                self.install(pid, requests, replies, notices)?;
                Ok(true)
            }
            Err(error) if is_absent(&error) => Ok(false),
            Err(error) => Err(Error::failed(format!("cannot reach the keeper: {error}"))),
        }
    }

    /// The path of a file beside the keeper's socket.
    pub(crate) fn beside_socket(&self, name: &str) -> Option<PathBuf> {
        Some(self.launch.socket.parent()?.join(name))
    }

    /// Whether there is a socket, of a keeper that runs or of one that did not come to end itself.
    pub(crate) async fn has_left_socket(&self) -> bool {
        let path = self.launch.socket.clone();
        let looked = tokio::task::spawn_blocking(move || std::fs::symlink_metadata(path)).await;
        !matches!(looked, Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound)
    }

    /// Connects, starting a keeper if none runs.
    pub(crate) async fn ensure(&self, notices: Arc<dyn KeeperNotices>) -> Result<()> {
        if self.pid().is_some() {
            return Ok(());
        }
        // One at a time: two that start a keeper at once get in each other's way.
        let _starting = self.starting.lock().await;
        // A keeper may be just about to end when we come; one more round finds it gone.
        for _ in 0..3 {
            if self.connect_existing(Arc::clone(&notices)).await? {
                return Ok(());
            }
            let launch = self.launch.clone();
            let started = tokio::task::spawn_blocking(move || {
                let args: Vec<&str> = launch.args.iter().map(String::as_str).collect();
                // The keeper is a child of init, also where orphans come to this process.
                rookery_host::let_orphans_go(|| {
                    rookery_keeper::start(&launch.exe, &args, &launch.socket)
                })
            });
            match started.await.map_err(joined)? {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => {
                    return Err(Error::failed(format!("cannot start the keeper: {error}")));
                }
            }
        }
        match self.connect_existing(notices).await? {
            true => Ok(()),
            false => Err(Error::failed("the keeper ended as soon as it was started")),
        }
    }

    fn install(
        &self,
        pid: u32,
        requests: Requests,
        replies: Replies,
        notices: Arc<dyn KeeperNotices>,
    ) -> Result<()> {
        let pending = Pending::new();
        let (outgoing, queue) = std_mpsc::channel::<(u64, Request, Vec<OwnedFd>)>();
        let sender = requests.clone();
        spawn_thread("keeper-send", move || {
            while let Ok((tag, request, fds)) = queue.recv() {
                let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
                if sender.send(tag, &request, &borrowed).is_err() {
                    let _ = sender.close();
                    return;
                }
            }
        })?;
        let waiting = Arc::clone(&pending);
        let slot = Arc::clone(&self.connection);
        let undo = outgoing.clone();
        *self.connection.lock() = Some(Connection { pid, outgoing, pending, requests });
        spawn_thread("keeper-receive", move || {
            receive(replies, &waiting, &undo, &*notices);
            let is_current = {
                let mut slot = slot.lock();
                let is_current =
                    slot.as_ref().is_some_and(|now| Arc::ptr_eq(&now.pending, &waiting));
                if is_current {
                    *slot = None;
                }
                is_current
            };
            waiting.waiting.lock().clear();
            if is_current {
                notices.keeper_lost();
            }
        })
    }

    /// Sends a request and waits for its answer, as long as the keeper shows that it is at work.
    pub(crate) async fn request(&self, request: Request, fds: Vec<OwnedFd>) -> Result<Incoming> {
        let incoming = self.send(request, fds)?.next().await?;
        match incoming.reply {
            Reply::Error(error) => Err(Error::failed(error.message)),
            _ => Ok(incoming),
        }
    }

    /// Starts a program. A keeper that owes an answer for too long is sent no further programs: they
    /// would all start when it goes on. If this fails with [`ErrorKind::Busy`], the program may
    /// still start, and is ended as soon as the keeper says so; its number must not be used again.
    pub(crate) async fn spawn(&self, spawn: protocol::Spawn) -> Result<Incoming> {
        if let Some(pid) = self.silent() {
            return Err(silence_error(pid));
        }
        self.request(Request::Spawn(spawn), Vec::new()).await
    }

    /// The keeper's process, if it owes an answer that was given up.
    fn silent(&self) -> Option<u32> {
        let connection = self.connection.lock();
        connection.as_ref().filter(|it| it.pending.has_given_up()).map(|it| it.pid)
    }

    fn send(&self, request: Request, fds: Vec<OwnedFd>) -> Result<Answer> {
        let tag = self.next_tag.fetch_add(1, Ordering::Relaxed);
        let (answer, parts) = mpsc::unbounded_channel();
        let connection = self.connection.lock();
        let connection = connection.as_ref().ok_or_else(keeper_gone)?;
        let pending = Arc::clone(&connection.pending);
        pending.waiting.lock().insert(tag, answer);
        connection.outgoing.send((tag, request, fds)).map_err(|_| keeper_gone())?;
        Ok(Answer { parts, pending, pid: connection.pid })
    }

    /// Sends a request whose answer is not waited for.
    pub(crate) fn post(&self, request: Request) {
        if let Some(connection) = self.connection.lock().as_ref() {
            let _ = connection.outgoing.send((UNANSWERED, request, Vec::new()));
        }
    }

    /// All terminals the keeper holds.
    pub(crate) async fn list(&self) -> Result<Vec<Entry>> {
        let mut parts = self.send(Request::List, Vec::new())?;
        let mut entries = Vec::new();
        loop {
            let incoming = parts.next().await?;
            let Reply::Listed { entries: part, more } = incoming.reply else {
                return Err(Error::failed("the keeper gave no list"));
            };
            entries.extend(part);
            if !more {
                return Ok(entries);
            }
        }
    }

    /// Ends the connection without it counting as a loss.
    pub(crate) fn disconnect(&self) {
        if let Some(connection) = self.connection.lock().take() {
            let _ = connection.requests.close();
        }
    }
}

fn greet(path: &std::path::Path) -> io::Result<(u32, Requests, Replies)> {
    let (requests, mut replies) = client::connect(path)?;
    let hello = Request::Hello {
        version: protocol::PROTOCOL_VERSION,
        min_version: protocol::MIN_PROTOCOL_VERSION,
    };
    requests.send(1, &hello, &[])?;
    loop {
        let incoming = match replies.next_within(KEEPER_IS_SLOW) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                let why = silence(requests.peer_pid());
                tracing::warn!("waiting for the keeper: {why}");
                let late = |error: io::Error| match error.kind() {
                    io::ErrorKind::TimedOut => io::Error::new(error.kind(), why),
                    _ => error,
                };
                replies.next_within(KEEPER_PATIENCE).map_err(late)?
            }
            other => other?,
        };
        match incoming.reply {
            Reply::Hello { pid, .. } => return Ok((pid, requests, replies)),
            Reply::Error(error) => return Err(io::Error::other(error.message)),
            _ => {}
        }
    }
}

/// Who does not answer, and what to do about it. Nothing is lost meanwhile: the keeper holds the terminals.
fn silence(pid: Option<u32>) -> String {
    let Some(pid) = pid else { return "it does not answer".to_owned() };
    if is_stopped(pid) {
        return format!(
            "process {pid}, which holds the terminals, is stopped; \
             let it go on with `kill -CONT {pid}` and try again"
        );
    }
    format!("process {pid}, which holds the terminals, does not answer; see what holds it up")
}

fn silence_error(pid: u32) -> Error {
    Error::busy(silence(Some(pid)))
}

/// Whether a process was asked to stop and not yet to go on.
fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map_or("", |(_, rest)| rest.trim_start());
    state.starts_with(['T', 't'])
}

fn receive(
    mut replies: Replies,
    pending: &Pending,
    outgoing: &Outgoing,
    notices: &dyn KeeperNotices,
) {
    while let Ok(incoming) = replies.next() {
        *pending.heard.lock() = Instant::now();
        if let Reply::Exited { terminal_id, status, at_micros } = incoming.reply {
            notices.child_exited(terminal_id, status, at_micros);
            continue;
        }
        let is_part = matches!(incoming.reply, Reply::Listed { more: true, .. });
        let waiter = {
            let mut waiting = pending.waiting.lock();
            if is_part {
                waiting.get(&incoming.tag).cloned()
            } else {
                waiting.remove(&incoming.tag)
            }
        };
        if let Some(Err(mpsc::error::SendError(late))) = waiter.map(|waiter| waiter.send(incoming))
        {
            end_late(&late.reply, outgoing);
        }
    }
}

/// Ends a program that started after its request was given up. Descriptors that were handed over are
/// closed by dropping them.
fn end_late(reply: &Reply, outgoing: &Outgoing) {
    let &Reply::Spawned { terminal_id, pid } = reply else { return };
    tracing::warn!(terminal = terminal_id, pid, "a program started too late and is ended");
    for request in ending(terminal_id) {
        let _ = outgoing.send((UNANSWERED, request, Vec::new()));
    }
}

/// How a terminal that was never shown is ended: released alone, its program would live on if it does
/// not mind a hang-up.
pub(crate) fn ending(terminal_id: u64) -> [Request; 2] {
    let (signal, scope) = (rustix::process::Signal::KILL.as_raw(), protocol::Scope::Group);
    [Request::Signal { terminal_id, signal, scope }, Request::Release { terminal_id }]
}

fn spawn_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(drop)
        .map_err(|error| Error::failed(format!("cannot start a thread: {error}")))
}

fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotFound, UnexpectedEof};
    matches!(
        error.kind(),
        NotFound | ConnectionRefused | ConnectionReset | BrokenPipe | UnexpectedEof
    )
}

fn keeper_gone() -> Error {
    Error::failed("the keeper is gone")
}

fn joined(error: tokio::task::JoinError) -> Error {
    Error::new(ErrorKind::Internal, error.to_string())
}
