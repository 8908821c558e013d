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
use std::time::Duration;

use parking_lot::Mutex;
use rookery_keeper::client::{self, Incoming, Replies, Requests};
use rookery_keeper::protocol::{self, Entry, Reply, Request};
use rookery_model::{Error, Result};
use tokio::sync::mpsc;

/// After this long without an answer it is logged that the keeper is waited for.
const KEEPER_IS_SLOW: Duration = Duration::from_secs(1);
/// How long a keeper may take to answer the first word after that. It does nothing that takes time.
const KEEPER_PATIENCE: Duration = Duration::from_secs(5);

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
    /// The connection ended. Children may live on, but nobody will tell how they end.
    fn keeper_lost(&self);
}

/// Who waits for which tag; an answer may come in several parts.
type Pending = Arc<Mutex<HashMap<u64, mpsc::UnboundedSender<Incoming>>>>;

struct Connection {
    pid: u32,
    outgoing: std_mpsc::Sender<(u64, Request, Vec<OwnedFd>)>,
    pending: Pending,
    requests: Requests,
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
        let pending: Pending = Arc::default();
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
        *self.connection.lock() = Some(Connection { pid, outgoing, pending, requests });
        spawn_thread("keeper-receive", move || {
            receive(replies, &waiting, &*notices);
            let is_current = {
                let mut slot = slot.lock();
                let is_current =
                    slot.as_ref().is_some_and(|now| Arc::ptr_eq(&now.pending, &waiting));
                if is_current {
                    *slot = None;
                }
                is_current
            };
            waiting.lock().clear();
            if is_current {
                notices.keeper_lost();
            }
        })
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn request(&self, request: Request, fds: Vec<OwnedFd>) -> Result<Incoming> {
        let incoming = self.send(request, fds)?.recv().await.ok_or_else(keeper_gone)?;
        match incoming.reply {
            Reply::Error(error) => Err(Error::failed(error.message)),
            _ => Ok(incoming),
        }
    }

    fn send(
        &self,
        request: Request,
        fds: Vec<OwnedFd>,
    ) -> Result<mpsc::UnboundedReceiver<Incoming>> {
        let tag = self.next_tag.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = mpsc::unbounded_channel();
        let connection = self.connection.lock();
        let connection = connection.as_ref().ok_or_else(keeper_gone)?;
        connection.pending.lock().insert(tag, answer);
        connection.outgoing.send((tag, request, fds)).map_err(|_| keeper_gone())?;
        Ok(answered)
    }

    /// Sends a request whose answer nobody waits for.
    pub(crate) fn post(&self, request: Request) {
        let tag = self.next_tag.fetch_add(1, Ordering::Relaxed);
        if let Some(connection) = self.connection.lock().as_ref() {
            let _ = connection.outgoing.send((tag, request, Vec::new()));
        }
    }

    /// All terminals the keeper holds.
    pub(crate) async fn list(&self) -> Result<Vec<Entry>> {
        let mut parts = self.send(Request::List, Vec::new())?;
        let mut entries = Vec::new();
        loop {
            let incoming = parts.recv().await.ok_or_else(keeper_gone)?;
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
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map_or("", |(_, rest)| rest.trim_start());
    if state.starts_with(['T', 't']) {
        return format!(
            "process {pid}, which holds the terminals, is stopped; \
             let it go on with `kill -CONT {pid}` and try again"
        );
    }
    format!("process {pid}, which holds the terminals, does not answer; see what holds it up")
}

fn receive(mut replies: Replies, pending: &Pending, notices: &dyn KeeperNotices) {
    while let Ok(incoming) = replies.next() {
        if let Reply::Exited { terminal_id, status, at_micros } = incoming.reply {
            notices.child_exited(terminal_id, status, at_micros);
            continue;
        }
        let is_part = matches!(incoming.reply, Reply::Listed { more: true, .. });
        let waiter = {
            let mut pending = pending.lock();
            if is_part {
                pending.get(&incoming.tag).cloned()
            } else {
                pending.remove(&incoming.tag)
            }
        };
        if let Some(waiter) = waiter {
            // Who asked may have given up; what was handed over is closed by dropping it.
            let _ = waiter.send(incoming);
        }
    }
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
    Error::new(rookery_model::ErrorKind::Internal, error.to_string())
}
