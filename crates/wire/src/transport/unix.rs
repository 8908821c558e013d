//! Unix socket endpoints. Owns the socket file: who may see it, whether it may be replaced and
//! when it is removed.

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};

use rookery_trust::{TrustedDir, check_peer};
use rustix::{
    fs::{AtFlags, FileType, FlockOperation, Mode, chmodat, flock, statat},
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with},
    process::geteuid,
};
use tokio::net::{UnixListener, UnixStream};

use super::{Slot, Slots, Transport, accept_patiently, delegate_io, reserve};

/// How a socket is bound.
#[derive(Debug, Clone)]
pub struct BindOptions {
    /// Connections open at the same time; more are closed at once.
    pub max_connections: usize,
    /// Also take a directory of root that is sticky, such as `/tmp`, for the socket's parent.
    pub allow_shared_parent: bool,
    /// What a client gets to read that cannot be served because this process has too many connections or no
    /// descriptors left; a whole message of the protocol spoken here.
    pub refusal: &'static str,
}

impl Default for BindOptions {
    fn default() -> Self {
        Self { max_connections: 1024, allow_shared_parent: false, refusal: "" }
    }
}

/// A listening Unix socket; its file is removed on drop unless another process has replaced it.
#[derive(Debug)]
pub struct UnixEndpoint {
    listener: UnixListener,
    file: SocketFile,
    slots: Slots,
    refusal: &'static str,
}

/// Binds a socket at `path` that only this user can connect to.
///
/// The parent directory is created if it is missing. A socket without a listener is replaced; one
/// that is alive, and anything that is not a socket, is left alone.
///
/// # Errors
/// `AddrInUse` if a server listens there, `AlreadyExists` if the path is not a socket,
/// `PermissionDenied` if the directory belongs to another user or a link on the way to it may be
/// another user's, else what the system says; the message names the path.
pub fn bind(path: impl AsRef<Path>, options: &BindOptions) -> io::Result<UnixEndpoint> {
    let path = std::path::absolute(path)?;
    let named = |error| about(&path, error);
    let (Some(parent), Some(name)) =
        (path.parent(), path.file_name().and_then(|name| name.to_str()))
    else {
        return Err(named(io::ErrorKind::InvalidInput.into()));
    };
    // Reported now: the directory is held open, so binding would work, but no client could connect.
    if SocketAddrUnix::new(&path).is_err() {
        let reason = "the path of a socket has at most 107 bytes; choose a shorter directory";
        return Err(named(io::Error::new(io::ErrorKind::InvalidInput, reason)));
    }
    let dir = TrustedDir::for_socket(parent, options.allow_shared_parent)?;
    // Two servers that start together must not both find the old socket dead. Directories that are
    // not ours alone are not locked, since any user could hold such a lock forever.
    let is_locked = dir.is_own();
    if is_locked {
        flock(&dir, FlockOperation::LockExclusive).map_err(|error| named(error.into()))?;
    }
    let bound = make_way(&dir, name, &path).and_then(|()| bind_private(&dir, name, &path));
    if is_locked {
        let _ = flock(&dir, FlockOperation::Unlock);
    }
    let (listener, identity) = bound?;
    let file = SocketFile { dir, name: name.to_owned(), path: path.clone(), identity };
    listener.set_nonblocking(true).map_err(named)?;
    let listener = UnixListener::from_std(listener).map_err(named)?;
    reserve::refill();
    let slots = Slots::new(options.max_connections);
    Ok(UnixEndpoint { listener, file, slots, refusal: options.refusal })
}

fn about(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Removes a dead socket from `path` and refuses to touch anything else.
fn make_way(dir: &TrustedDir, name: &str, path: &Path) -> io::Result<()> {
    let found = match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => found,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(about(path, error.into())),
    };
    if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("refusing to replace non-socket path: {}", path.display()),
        ));
    }
    match probe(&dir.short_path(name)) {
        Err(Errno::CONNREFUSED) => {
            tracing::info!(path = %path.display(), "removing a stale socket");
            remove_dead(dir, name, path)
        }
        Err(Errno::NOENT) => Ok(()),
        // A full backlog is a sign of life, too.
        Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS) => Err(taken(path)),
        Err(error) => Err(about(path, error.into())),
    }
}

fn taken(path: &Path) -> io::Error {
    let reason = format!("another process is listening on {}", path.display());
    io::Error::new(io::ErrorKind::AddrInUse, reason)
}

/// Removes a socket that did not answer. Where the directory cannot be locked, another server may have put a live
/// one in its place meanwhile, with the same inode even: so it is asked once more where no one else looks for it.
fn remove_dead(dir: &TrustedDir, name: &str, path: &Path) -> io::Result<()> {
    let aside = passing_name();
    match dir.rename(name, &aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        moved => moved?,
    }
    if probe(&dir.short_path(&aside)) == Err(Errno::CONNREFUSED) {
        return dir.remove(&aside);
    }
    dir.rename_new(&aside, name)?;
    Err(taken(path))
}

/// Connects without waiting.
fn probe(path: &Path) -> rustix::io::Result<()> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)
}

type Bound = (std::os::unix::net::UnixListener, (u64, u64));

/// Binds under a passing name and moves the socket to `name` once its mode is right, so that it
/// is never there with another mode (the umask cannot be used: it belongs to the whole process).
fn bind_private(dir: &TrustedDir, name: &str, path: &Path) -> io::Result<Bound> {
    let (listener, passing) = bind_passing(dir).map_err(|error| about(path, error))?;
    let moved = chmodat(dir, &passing, Mode::RUSR | Mode::WUSR, AtFlags::empty())
        .map_err(|error| about(path, error.into()))
        .and_then(|()| dir.identity(&passing))
        .and_then(|identity| dir.rename_new(&passing, name).map(|()| identity));
    match moved {
        Ok(identity) => Ok((listener, identity)),
        Err(error) => {
            let _ = dir.remove(&passing);
            let is_taken = error.kind() == io::ErrorKind::AlreadyExists;
            Err(if is_taken { taken(path) } else { error })
        }
    }
}

/// A name that nothing of this process has, and that no client looks for.
fn passing_name() -> String {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!(".{:x}.{number:x}", std::process::id())
}

fn bind_passing(dir: &TrustedDir) -> io::Result<(std::os::unix::net::UnixListener, String)> {
    // Names left over from a crash are passed by; there cannot be many.
    for _ in 0..100 {
        let passing = passing_name();
        match std::os::unix::net::UnixListener::bind(dir.short_path(&passing)) {
            Ok(listener) => return Ok((listener, passing)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AddrInUse.into())
}

#[derive(Debug)]
struct SocketFile {
    dir: TrustedDir,
    name: String,
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    /// Whether the socket is still under its name in the directory that was opened.
    fn is_there(&self) -> bool {
        self.dir.identity(&self.name).is_ok_and(|found| found == self.identity)
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.is_there()
            && let Err(error) = self.dir.remove(&self.name)
        {
            tracing::warn!(%error, "cannot remove socket");
        }
    }
}

/// Where a socket was bound, to find out later whether clients still get there.
#[derive(Debug, Clone)]
pub struct BoundAt {
    path: PathBuf,
    identity: (u64, u64),
}

impl BoundAt {
    /// Where clients look for it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path still leads to this socket.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        self.path.symlink_metadata().is_ok_and(|found| (found.dev(), found.ino()) == self.identity)
    }
}

impl UnixEndpoint {
    /// Where the socket is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    #[must_use]
    pub fn bound_at(&self) -> BoundAt {
        BoundAt { path: self.file.path.clone(), identity: self.file.identity }
    }

    /// The next connection of this user. Others are closed at once; those over the limit, and those that come when
    /// there are hardly any descriptors left, are informed first.
    ///
    /// # Errors
    /// Only if the listener itself is broken.
    pub async fn accept(&self) -> io::Result<UnixConnection> {
        loop {
            let (stream, is_last) = self.accept_at_the_limit().await?;
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == geteuid().as_raw() => {}
                Ok(peer) => {
                    tracing::warn!(uid = peer.uid(), "refusing a connection of another user");
                    continue;
                }
                Err(error) => {
                    tracing::warn!(%error, "refusing a connection of an unknown user");
                    continue;
                }
            }
            match self.slots.take().filter(|_| !is_last) {
                Some(slot) => return Ok(UnixConnection { stream, _slot: slot }),
                None => {
                    tracing::warn!("too many connections or open files, closing the newest");
                    // It fits into the buffer of a new connection.
                    let _ = stream.try_write(self.refusal.as_bytes());
                }
            }
        }
    }

    /// The next connection, taken with a descriptor of the reserve if there is no other; then also whether the
    /// reserve is all but used up.
    async fn accept_at_the_limit(&self) -> io::Result<(UnixStream, bool)> {
        let is_last = AtomicBool::new(false);
        let (listener, noted) = (&self.listener, &is_last);
        let accept = || async move {
            // Before every attempt: what was closed meanwhile is kept back first.
            reserve::refill();
            let error = match listener.accept().await {
                Err(error) if reserve::is_shortage(&error) => error,
                other => return other,
            };
            // Other threads may take the freed descriptor first, so each one is tried.
            while let Some(left) = reserve::give_up_one() {
                noted.store(left < reserve::FOR_REFUSALS, Ordering::Relaxed);
                match listener.accept().await {
                    Err(error) if reserve::is_shortage(&error) => {}
                    other => return other,
                }
            }
            Err(error)
        };
        let (stream, _) = accept_patiently(accept).await?;
        Ok((stream, is_last.into_inner()))
    }
}

/// An accepted Unix connection.
#[derive(Debug)]
pub struct UnixConnection {
    stream: UnixStream,
    _slot: Slot,
}

delegate_io!(UnixConnection, stream);

impl Transport for UnixConnection {
    fn peer_gone(&self) -> bool {
        self.stream.peer_gone()
    }

    fn peer_pid(&self) -> Option<u32> {
        u32::try_from(self.stream.peer_cred().ok()?.pid()?).ok()
    }
}

/// Connects to the socket at `path`, if a process of this user listens there.
///
/// # Errors
/// As for [`UnixStream::connect`], and `PermissionDenied` if it is another user's; the message names the path.
pub async fn connect(path: impl AsRef<Path>) -> io::Result<UnixStream> {
    let path = path.as_ref();
    let stream = UnixStream::connect(path).await.map_err(|error| about(path, error))?;
    check_peer(&stream).map_err(|error| about(path, error))?;
    Ok(stream)
}

#[cfg(test)]
mod tests;
