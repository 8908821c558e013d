//! Unix socket endpoints. Owns the socket file: who may see it, whether it may be replaced and
//! when it is removed.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with},
    process::geteuid,
};
use tokio::net::{UnixListener, UnixStream};

use super::{Slot, Slots, Transport, accept_patiently, delegate_io};

/// How a socket is bound.
#[derive(Debug, Clone)]
pub struct BindOptions {
    /// Connections open at the same time; more are closed at once.
    pub max_connections: usize,
    /// Also take a directory of root that is sticky, such as `/tmp`, for the socket's parent.
    pub allow_shared_parent: bool,
}

impl Default for BindOptions {
    fn default() -> Self {
        Self { max_connections: 1024, allow_shared_parent: false }
    }
}

/// A listening Unix socket; its file is removed on drop unless somebody else has replaced it.
#[derive(Debug)]
pub struct UnixEndpoint {
    listener: UnixListener,
    file: SocketFile,
    slots: Slots,
}

/// Binds a socket at `path` that only this user can connect to.
///
/// The parent directory is created if it is missing. A socket nobody listens on is replaced; one
/// that is alive, and anything that is not a socket, is left alone.
///
/// # Errors
/// `AddrInUse` if somebody listens there, `AlreadyExists` if the path is not a socket,
/// `PermissionDenied` if the directory belongs to somebody else, else what the system says; the
/// message names the path.
pub fn bind(path: impl AsRef<Path>, options: &BindOptions) -> io::Result<UnixEndpoint> {
    let path = path.as_ref();
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let named = |error| about(path, error);
    let directory = open_parent(parent, options).map_err(|error| about(parent, error))?;
    // Two servers that start together must not both find the old socket dead. Directories of
    // others are not locked, since anybody could hold such a lock forever.
    if directory.metadata().map_err(named)?.uid() == geteuid().as_raw() {
        flock(&directory, FlockOperation::LockExclusive).map_err(|error| named(error.into()))?;
    }
    make_way(path)?;
    let (listener, file) = bind_private(parent, path).map_err(named)?;
    listener.set_nonblocking(true).map_err(named)?;
    let listener = UnixListener::from_std(listener).map_err(named)?;
    Ok(UnixEndpoint { listener, file, slots: Slots::new(options.max_connections) })
}

fn about(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn open_parent(parent: &Path, options: &BindOptions) -> io::Result<fs::File> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    let directory = fs::File::open(parent)?;
    let metadata = directory.metadata()?;
    let shared = metadata.uid() == 0 && metadata.mode() & 0o1000 != 0;
    if metadata.uid() == geteuid().as_raw() || options.allow_shared_parent && shared {
        Ok(directory)
    } else {
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "directory belongs to another user"))
    }
}

/// Removes a dead socket from `path` and refuses to touch anything else.
fn make_way(path: &Path) -> io::Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(about(path, error)),
    };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("refusing to replace non-socket path: {}", path.display()),
        ));
    }
    match probe(path) {
        Err(Errno::CONNREFUSED) => {
            tracing::info!(path = %path.display(), "removing a socket nobody listens on");
            fs::remove_file(path).map_err(|error| about(path, error))
        }
        Err(Errno::NOENT) => Ok(()),
        // A full backlog is a sign of life, too.
        Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS) => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            format!("another process is listening on {}", path.display()),
        )),
        Err(error) => Err(about(path, error.into())),
    }
}

/// Connects without waiting.
fn probe(path: &Path) -> rustix::io::Result<()> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)
}

/// Binds under a passing name and moves the socket to `path` once its mode is right, so that it
/// is never there with another mode (the umask cannot be used: it belongs to the whole process).
fn bind_private(
    parent: &Path,
    path: &Path,
) -> io::Result<(std::os::unix::net::UnixListener, SocketFile)> {
    // Reported now, because the passing name may be short enough for a path that is not.
    SocketAddrUnix::new(path)?;
    let (listener, passing) = bind_passing(parent)?;
    let moved = fs::set_permissions(&passing, fs::Permissions::from_mode(0o600))
        .and_then(|()| fs::symlink_metadata(&passing))
        .and_then(|metadata| fs::rename(&passing, path).map(|()| metadata));
    match moved {
        Ok(metadata) => {
            let path = std::path::absolute(path)?;
            Ok((listener, SocketFile { path, device: metadata.dev(), inode: metadata.ino() }))
        }
        Err(error) => {
            let _ = fs::remove_file(&passing);
            Err(error)
        }
    }
}

fn bind_passing(parent: &Path) -> io::Result<(std::os::unix::net::UnixListener, PathBuf)> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    // Names left over from a crash are passed by; there cannot be many.
    for _ in 0..100 {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".{:x}.{number:x}", std::process::id());
        let passing = parent.join(name);
        match std::os::unix::net::UnixListener::bind(&passing) {
            Ok(listener) => return Ok((listener, passing)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AddrInUse.into())
}

#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|file| file.dev() == self.device && file.ino() == self.inode);
        if ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove socket");
        }
    }
}

impl UnixEndpoint {
    /// Where the socket is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// The next connection of this user; others, and those over the limit, are closed at once.
    ///
    /// # Errors
    /// Only if the listener itself is broken.
    pub async fn accept(&self) -> io::Result<UnixConnection> {
        loop {
            let (stream, _) = accept_patiently(|| self.listener.accept()).await?;
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
            match self.slots.take() {
                Some(slot) => return Ok(UnixConnection { stream, _slot: slot }),
                None => tracing::warn!("too many connections, closing the newest"),
            }
        }
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

/// Connects to the socket at `path`.
///
/// # Errors
/// As for [`UnixStream::connect`]; the message names the path.
pub async fn connect(path: impl AsRef<Path>) -> io::Result<UnixStream> {
    let path = path.as_ref();
    UnixStream::connect(path).await.map_err(|error| about(path, error))
}

#[cfg(test)]
mod tests;
