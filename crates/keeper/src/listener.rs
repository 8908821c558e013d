//! The keeper's socket in the file system: made without stealing a live one or deleting what is no socket,
//! and removed at the end only if it is still the same.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rookery_trust::TrustedDir;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

const BACKLOG: i32 = 64;

/// A bound, listening, non-blocking socket. Dropping it removes its path.
pub struct Listener {
    socket: OwnedFd,
    place: Place,
    identity: (u64, u64),
    /// Tells when something goes from the directory; none if the kernel has no watch left to give.
    watch: Option<OwnedFd>,
}

/// A name in a directory that is held open: its path may be longer than a socket's can be.
struct Place {
    dir: TrustedDir,
    name: String,
    path: PathBuf,
}

impl Listener {
    /// Binds to `path`, whose directory is made private to this user if it is missing or open to others.
    /// `AddrInUse` if a live socket is there; a stale socket is replaced; anything else is left alone.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let place = Place::of(path)?;
        let (socket, identity) = place.bind()?;
        Ok(Self { socket, place, identity, watch: None })
    }

    /// Begins to watch the directory, so that a socket that goes missing is noticed.
    pub(crate) fn watch(&mut self) {
        self.watch = watch(&self.place).ok();
    }

    /// What becomes readable when the socket's path may be gone.
    pub(crate) fn watched(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(AsFd::as_fd)
    }

    /// Forgets what the watch told.
    pub(crate) fn drain_watch(&self) {
        let mut news = [0; 4096];
        while let Some(watch) = &self.watch
            && matches!(rustix::io::read(watch, &mut news), Ok(1..))
        {}
    }

    /// Whether the path still leads here.
    pub(crate) fn is_in_place(&self) -> bool {
        self.place.dir.identity(&self.place.name).is_ok_and(|found| found == self.identity)
            && TrustedDir::existing(self.place.dir.path())
                .and_then(|now| now.identity(&self.place.name))
                .is_ok_and(|found| found == self.identity)
    }

    /// Listens at the path again after it was removed, in a new directory if need be. What else is there now is left
    /// alone, and so is a directory whose parent is gone: then it is not wanted any more.
    pub(crate) fn mend(&mut self) -> io::Result<()> {
        let parent = self.place.dir.path().parent().unwrap_or(Path::new("/"));
        parent.symlink_metadata()?;
        let place = Place::of(&self.place.path)?;
        let (socket, identity) = place.bind()?;
        let watch = watch(&place).ok();
        *self = Self { socket, place, identity, watch };
        Ok(())
    }

    /// The next waiting connection, non-blocking and close-on-exec.
    pub(crate) fn accept(&self) -> Result<OwnedFd, Errno> {
        rustix::net::accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)
    }
}

impl Place {
    fn of(path: &Path) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let name = path.file_name().and_then(|name| name.to_str());
        let (Some(parent), Some(name)) = (path.parent(), name) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        Ok(Self { dir: TrustedDir::private(parent)?, name: name.to_owned(), path })
    }

    fn address(&self) -> rustix::io::Result<SocketAddrUnix> {
        SocketAddrUnix::new(self.dir.short_path(&self.name))
    }

    fn bind(&self) -> io::Result<(OwnedFd, (u64, u64))> {
        // Two keepers that start at once must not both find the same socket stale.
        rustix::fs::flock(&self.dir, FlockOperation::LockExclusive)?;
        let bound = self.bind_alone();
        // The directory stays open, and others lock it as well.
        let _ = rustix::fs::flock(&self.dir, FlockOperation::Unlock);
        bound
    }

    fn bind_alone(&self) -> io::Result<(OwnedFd, (u64, u64))> {
        self.clear_stale()?;
        let socket = stream_socket()?;
        rustix::net::bind(&socket, &self.address()?)?;
        let private = Mode::RUSR | Mode::WUSR;
        rustix::fs::chmodat(&self.dir, &self.name, private, AtFlags::empty())?;
        let identity = self.dir.identity(&self.name)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok((socket, identity))
    }

    fn clear_stale(&self) -> io::Result<()> {
        let found = match rustix::fs::statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(()),
            other => other?,
        };
        if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
            let reason = format!("{} exists and is not a socket", self.path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
        }
        match rustix::net::connect(stream_socket()?, &self.address()?) {
            Err(Errno::CONNREFUSED) => self.dir.remove(&self.name),
            // Connected, or its queue is full: a server lives there.
            Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS) => Err(Errno::ADDRINUSE.into()),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.place.dir.identity(&self.place.name).is_ok_and(|found| found == self.identity) {
            let _ = self.place.dir.remove(&self.place.name);
        }
    }
}

fn watch(place: &Place) -> Result<OwnedFd, Errno> {
    let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let gone = WatchFlags::DELETE | WatchFlags::MOVED_FROM;
    let itself = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
    inotify::add_watch(&watch, place.dir.short_path("."), gone | itself | WatchFlags::ONLYDIR)?;
    Ok(watch)
}

fn stream_socket() -> Result<OwnedFd, Errno> {
    rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
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
    fn attack_an_open_directory_is_closed() {
        let dir = private_dir();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let _listener = Listener::bind(&dir.path().join("k.sock")).unwrap();
        assert_eq!(std::fs::metadata(dir.path()).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_path_may_be_longer_than_that_of_a_socket() {
        let dir = private_dir();
        let path = dir.path().join("long".repeat(40)).join("k.sock");
        let _listener = Listener::bind(&path).unwrap();
        crate::client::connect(&path).unwrap();
        assert_eq!(Listener::bind(&path).err().unwrap().kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn attack_a_socket_that_was_removed_is_made_again() {
        let dir = private_dir();
        let path = dir.path().join("made/k.sock");
        let mut listener = Listener::bind(&path).unwrap();
        assert!(listener.is_in_place());
        std::fs::remove_file(&path).unwrap();
        assert!(!listener.is_in_place());
        listener.mend().unwrap();
        UnixStream::connect(&path).unwrap();
        // With its directory, and with another directory of that name.
        std::fs::rename(path.parent().unwrap(), dir.path().join("moved")).unwrap();
        assert!(!listener.is_in_place());
        listener.mend().unwrap();
        UnixStream::connect(&path).unwrap();
        assert!(listener.is_in_place());
    }

    #[test]
    fn a_home_that_was_removed_does_not_come_back() {
        let dir = private_dir();
        let path = dir.path().join("home/made/k.sock");
        let mut listener = Listener::bind(&path).unwrap();
        std::fs::remove_dir_all(dir.path().join("home")).unwrap();
        assert!(listener.mend().is_err());
        assert!(!dir.path().join("home").exists());
    }
}
