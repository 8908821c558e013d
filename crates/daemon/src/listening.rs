//! The sockets of the running daemon: made at the start, made again when they go, and made in other runtime
//! directories when a client looks for the daemon there.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use parking_lot::Mutex;
use rookery_dialects::{Dialect, Need, Served};
use rookery_host::Presence;
use rookery_roo::Listener;
use rookery_trust::TrustedDir;
use rookery_wire::transport::unix::{BoundAt, UnixEndpoint};
use tokio::signal::unix::Signal;
use tokio::task::{AbortHandle, JoinSet};

use crate::config::Config;
use crate::endpoints;
use crate::homes::Homes;
use crate::lock::{self, DAEMON_LOCK, DaemonLock};
use crate::roo;
use crate::running::{self, Record};

/// How long directories are left in peace after a name came or went.
const QUIET: Duration = Duration::from_millis(50);

/// A socket that is bound and not yet served.
pub(crate) struct Bound {
    pub(crate) dialect: &'static Dialect,
    pub(crate) socket: UnixEndpoint,
    lock: Option<DaemonLock>,
    /// The listener of Roo Code that it is for, if it is for a further one.
    listener: Option<Arc<Listener>>,
}

impl Bound {
    /// Whether it is the endpoint of its dialect, and not a further listener, which works elsewhere.
    pub(crate) fn is_endpoint(&self) -> bool {
        self.listener.is_none()
    }
}

/// Binds every endpoint in the runtime directory of these homes. What the daemon does without is shown to the
/// user by `left_out`.
pub(crate) fn bind_all(
    homes: &Homes,
    config: &Config,
    left_out: &mut Vec<String>,
) -> anyhow::Result<Vec<Bound>> {
    let mut all = Vec::new();
    for dialect in rookery_dialects::listening() {
        let endpoint = &dialect.endpoint;
        let Some(path) = endpoints::socket(dialect, homes, config) else { continue };
        match bind(dialect, &path, homes) {
            Ok(bound) => all.push(bound),
            Err(error) if endpoint.need == Need::Optional => {
                left_out.push(not_served(endpoint.name, &path, &error));
            }
            Err(error) if endpoint.need == Need::UnlessServed && is_taken(&error) => {
                tracing::error!("{} is served by another process: {error:#}", path.display());
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot listen at {}", path.display()));
            }
        }
    }
    Ok(all)
}

/// Binds the sockets of further listeners of Roo Code; those that cannot be had are reported by `left_out`.
pub(crate) fn bind_listeners(
    homes: &Homes,
    listeners: &[(PathBuf, Arc<Listener>)],
    left_out: &mut Vec<String>,
) -> Vec<Bound> {
    let mut all = Vec::new();
    for (path, listener) in listeners {
        let Some(dialect) = roo::dialect(listener) else { continue };
        match bind(dialect, path, homes) {
            Ok(bound) => all.push(Bound { listener: Some(Arc::clone(listener)), ..bound }),
            Err(error) => left_out.push(not_served(&listener.name, path, &error)),
        }
    }
    all
}

/// What the user reads of a listener that is not there, and what to do about it.
fn not_served(name: &str, path: &Path, error: &anyhow::Error) -> String {
    let what_to_do = match is_taken(error) {
        true => "stop that process, or choose another path",
        false => "choose a path in a directory of yours, or in `/tmp`",
    };
    format!("`{name}` is not served at {}: {error:#}; {what_to_do}", path.display())
}

fn is_taken(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

fn bind(dialect: &'static Dialect, path: &Path, homes: &Homes) -> anyhow::Result<Bound> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    let dir = if homes.is_for_sockets(parent) {
        TrustedDir::private(parent)?
    } else {
        TrustedDir::for_socket(parent, dialect.endpoint.may_be_shared)?
    };
    // Before the socket is looked at, so that two who start at once do not take it both.
    let lock = dialect.endpoint.lock.map(|name| lock::acquire(&dir, name)).transpose()?;
    let socket = endpoints::bind(dialect, path)?;
    Ok(Bound { dialect, socket, lock, listener: None })
}

/// A socket that is served.
struct Open {
    dialect: &'static Dialect,
    at: BoundAt,
    accepting: AbortHandle,
    lock: Option<DaemonLock>,
    listener: Option<Arc<Listener>>,
    /// As clients see them.
    homes: Homes,
}

/// The locks of the store and of the runtime directory. The daemon holds them longer than it listens.
type Locks = Arc<Mutex<Vec<DaemonLock>>>;

/// All sockets, and what is needed to make them again.
pub(crate) struct Listening {
    homes: Homes,
    config: Config,
    served: Served,
    open: Vec<Open>,
    tasks: JoinSet<()>,
    locks: Locks,
    /// Where daemons before this one listened.
    former: BTreeMap<String, Vec<PathBuf>>,
}

impl Listening {
    /// Begins to accept connections.
    pub(crate) fn start(
        homes: Homes,
        config: Config,
        served: Served,
        bound: Vec<Bound>,
        locks: Locks,
    ) -> Listening {
        let (open, tasks) = (Vec::new(), JoinSet::new());
        let former = BTreeMap::new();
        let mut listening = Listening { homes, config, served, open, tasks, locks, former };
        for one in bound {
            let homes = listening.homes.clone();
            listening.serve(one, homes);
        }
        listening
    }

    fn serve(&mut self, bound: Bound, homes: Homes) {
        let Bound { dialect, socket, lock, listener } = bound;
        let at = socket.bound_at();
        let served = match &listener {
            Some(listener) => roo::served_by(&self.served, listener),
            None => self.served.clone(),
        };
        let accept = endpoints::accept_all(dialect, socket, served);
        let accepting = self.tasks.spawn(accept);
        self.open.push(Open { dialect, at, accepting, lock, listener, homes });
    }

    /// Looks after the sockets until it is dropped: when one goes, when its directory comes back, and when
    /// asked to.
    pub(crate) async fn look_after(mut self, mut asked: Signal) {
        tokio::task::block_in_place(|| {
            self.former = Record::read(&self.homes).into_former();
            self.record();
            self.listen_where_wanted();
        });
        loop {
            // Watched before they are looked at, so that nothing is missed in between.
            let presence = Presence::watch(&self.paths());
            if let Err(error) = &presence {
                tracing::warn!(%error, "sockets are not watched; `rookery up` repairs them");
            }
            tokio::task::block_in_place(|| self.mend());
            let told = async {
                match &presence {
                    Ok(presence) if presence.changed().await.is_ok() => {}
                    _ => std::future::pending().await,
                }
            };
            tokio::select! {
                // A process that removes a directory removes its contents first; that is not prevented.
                () = told => tokio::time::sleep(QUIET).await,
                _ = asked.recv() => tokio::task::block_in_place(|| {
                    self.mend();
                    self.listen_where_wanted();
                }),
            }
        }
    }

    /// What must be found: sockets and locks.
    fn paths(&self) -> Vec<PathBuf> {
        let sockets = self.open.iter().map(|one| one.at.path().to_owned());
        let locks = self.locks.lock();
        sockets.chain(locks.iter().map(|lock| lock.path().to_owned())).collect()
    }

    /// Makes again what clients no longer find: locks, without which another daemon would start, and sockets.
    fn mend(&mut self) {
        self.mend_locks();
        self.mend_sockets();
    }

    fn mend_locks(&self) {
        for lock in self.locks.lock().iter_mut().filter(|lock| !lock.is_in_place()) {
            let (Some(dir), Some(name)) = (lock.path().parent(), lock.path().file_name()) else {
                continue;
            };
            let taken = TrustedDir::existing(dir)
                .map_err(anyhow::Error::from)
                .and_then(|dir| lock::acquire(&dir, &name.to_string_lossy()));
            match taken {
                Ok(again) => *lock = again,
                Err(error) => tracing::debug!("cannot take a lock again: {error:#}"),
            }
        }
    }

    fn mend_sockets(&mut self) {
        let gone: Vec<usize> =
            (0..self.open.len()).filter(|index| !self.open[*index].at.is_in_place()).collect();
        // A home that was removed as a whole is not wanted any more.
        if gone.is_empty() || TrustedDir::existing(&self.homes.state_dir()).is_err() {
            return;
        }
        let mended = gone.into_iter().rev().filter(|index| self.mend_one(*index)).count();
        // Only then, since writing it is news by itself.
        if mended > 0 {
            // With the directory came the place of a lock.
            self.mend_locks();
            self.record();
        }
    }

    /// Binds one again, and says whether that worked.
    fn mend_one(&mut self, index: usize) -> bool {
        let one = &mut self.open[index];
        let (dialect, homes, listener) = (one.dialect, one.homes.clone(), one.listener.clone());
        let path = one.at.path().to_owned();
        if homes.secure_runtime_dir().is_err() {
            // It comes back with the next login, which the watch tells.
            return false;
        }
        // A lock that is held here already cannot be taken again.
        one.lock = None;
        match bind(dialect, &path, &homes) {
            Ok(bound) => {
                tracing::info!("listening at {} again", path.display());
                self.open.remove(index).accepting.abort();
                self.serve(Bound { listener, ..bound }, homes);
                true
            }
            Err(error) => {
                tracing::warn!("cannot listen at {} again: {error:#}", path.display());
                false
            }
        }
    }

    /// Binds every endpoint in the runtime directories that clients asked for and that are there.
    fn listen_where_wanted(&mut self) {
        let Ok(state) = TrustedDir::existing(&self.homes.state_dir()) else { return };
        let before = self.open.len();
        for dir in running::wanted(&state) {
            let homes = self.homes.with_runtime_dir(&dir);
            if dir == self.homes.runtime_dir() || homes.secure_runtime_dir().is_err() {
                continue;
            }
            for dialect in rookery_dialects::listening() {
                let Some(path) = endpoints::socket(dialect, &homes, &self.config) else { continue };
                if self.open.iter().any(|one| one.at.path() == path) {
                    continue;
                }
                match bind(dialect, &path, &homes) {
                    Ok(bound) => self.serve(bound, homes.clone()),
                    Err(error) => {
                        tracing::warn!("cannot also listen at {}: {error:#}", path.display());
                    }
                }
            }
        }
        if self.open.len() != before {
            self.record();
        }
    }

    /// Tells those who look for the daemon where it listens.
    fn record(&self) {
        let mut record = Record {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            former: self.former.clone(),
            ..Record::default()
        };
        for one in &self.open {
            let dir = one.homes.runtime_dir();
            if !record.runtime_dirs.iter().any(|known| known == dir) {
                record.runtime_dirs.push(dir.to_owned());
            }
            // Those who look for an endpoint must not be led to another directory's.
            if one.listener.is_some() {
                continue;
            }
            let sockets = record.endpoints.entry(one.dialect.endpoint.name.to_owned()).or_default();
            sockets.push(one.at.path().to_owned());
        }
        let written =
            TrustedDir::existing(&self.homes.state_dir()).and_then(|state| record.write(&state));
        if let Err(error) = written {
            tracing::warn!(%error, "clients with another runtime directory will not find us");
        }
    }
}

/// Takes the locks that make this the only daemon of its store.
pub(crate) fn lock_home(homes: &Homes) -> anyhow::Result<Vec<DaemonLock>> {
    let state = TrustedDir::private(&homes.state_dir())?;
    let run = TrustedDir::private(&homes.runtime_dir().join("rookery"))?;
    // Former versions have only the second, and must not start beside us.
    Ok(vec![lock::acquire(&state, DAEMON_LOCK)?, lock::acquire(&run, DAEMON_LOCK)?])
}
