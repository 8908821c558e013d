//! The keeper's socket in the file system: made without stealing a live one or deleting what is no socket,
//! and removed at the end only if it is still the same.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

const BACKLOG: i32 = 64;

/// A bound, listening, non-blocking socket. Dropping it removes its path.
pub struct Listener {
    socket: OwnedFd,
    path: PathBuf,
    identity: (u64, u64),
}

impl Listener {
    /// Binds to `path`, whose directory must be private to this user (it is made so if missing).
    /// `AddrInUse` if a live socket is there; a stale socket is replaced; anything else is left alone.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        check_private(directory)?;
        // Two keepers that start at once must not both find the same socket stale.
        let lock = rustix::fs::open(
            directory,
            OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)?;
        clear_stale(&path)?;
        let socket = stream_socket()?;
        rustix::net::bind(&socket, &SocketAddrUnix::new(&path)?)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        let identity = identity(&path)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(Self { socket, path, identity })
    }

    /// The next waiting connection, non-blocking and close-on-exec.
    pub(crate) fn accept(&self) -> Result<OwnedFd, Errno> {
        rustix::net::accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn stream_socket() -> Result<OwnedFd, Errno> {
    rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = std::fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

fn check_private(directory: &Path) -> io::Result<()> {
    let found = std::fs::metadata(directory)?;
    if found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    let reason = format!("directory {} is not private to this user", directory.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
}

fn clear_stale(path: &Path) -> io::Result<()> {
    let found = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    if !found.file_type().is_socket() {
        let reason = format!("{} exists and is no socket", path.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
    }
    match rustix::net::connect(stream_socket()?, &SocketAddrUnix::new(path)?) {
        Err(Errno::CONNREFUSED) => std::fs::remove_file(path),
        // Connected, or its queue is full: somebody lives there.
        Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS) => Err(Errno::ADDRINUSE.into()),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    fn private_dir() -> tempfile::TempDir {
        tempfile::Builder::new()
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir()
            .unwrap()
    }

    #[test]
    fn binds_privately_and_cleans_up() {
        let dir = private_dir();
        let path = dir.path().join("made/k.sock");
        let listener = Listener::bind(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        UnixStream::connect(&path).unwrap();
        drop(listener);
        assert!(!path.exists());
    }

    #[test]
    fn a_live_socket_is_never_stolen() {
        let dir = private_dir();
        let path = dir.path().join("k.sock");
        let _alive = UnixListener::bind(&path).unwrap();
        assert_eq!(Listener::bind(&path).err().unwrap().kind(), io::ErrorKind::AddrInUse);
        UnixStream::connect(&path).unwrap();
    }

    #[test]
    fn a_stale_socket_is_replaced() {
        let dir = private_dir();
        let path = dir.path().join("k.sock");
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let _listener = Listener::bind(&path).unwrap();
        UnixStream::connect(&path).unwrap();
    }

    #[test]
    fn other_files_are_left_alone() {
        let dir = private_dir();
        let path = dir.path().join("k.sock");
        std::fs::write(&path, "precious").unwrap();
        assert_eq!(Listener::bind(&path).err().unwrap().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn a_foreign_successor_is_not_unlinked() {
        let dir = private_dir();
        let path = dir.path().join("k.sock");
        let listener = Listener::bind(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let _other = UnixListener::bind(&path).unwrap();
        drop(listener);
        assert!(path.exists());
    }

    #[test]
    fn an_open_directory_is_refused() {
        let dir = private_dir();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let error = Listener::bind(&dir.path().join("k.sock")).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}
