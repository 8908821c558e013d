//! Finding the daemon of a store, whatever the caller's runtime directory: the lock beside the store
//! says which process it is, a record beside that where it listens.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rookery_trust::TrustedDir;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::homes::Homes;
use crate::lock::DAEMON_LOCK;

/// Where the running daemon, or the last one, listens.
const RECORD: &str = "daemon.json";
/// Runtime directories in which sockets are wanted besides the daemon's own, a line each.
const WANTED: &str = "listen";
/// Runtime directories that are remembered; the oldest makes room.
const MOST_WANTED: usize = 8;

/// What a daemon leaves beside its store for those who look for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// Its process id.
    pub pid: u32,
    pub version: String,
    /// Runtime directories that it listens in.
    pub runtime_dirs: Vec<PathBuf>,
    /// Sockets by the name of their endpoint.
    pub endpoints: BTreeMap<String, Vec<PathBuf>>,
    /// Where daemons before it listened. Terminals of theirs still name these sockets.
    pub former: BTreeMap<String, Vec<PathBuf>>,
}

impl Record {
    /// What the running daemon, or the last one, wrote; empty if there is none.
    pub fn read(homes: &Homes) -> Record {
        let read = TrustedDir::existing(&homes.state_dir()).and_then(|dir| dir.read(RECORD));
        read.ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    pub(crate) fn write(&self, state: &TrustedDir) -> io::Result<()> {
        state.replace(RECORD, &serde_json::to_vec(self)?)
    }

    /// What of this one is still of use to the record of the next daemon.
    pub(crate) fn into_former(self) -> BTreeMap<String, Vec<PathBuf>> {
        let mut all = self.endpoints;
        for (name, paths) in self.former {
            let known = all.entry(name).or_default();
            let unknown: Vec<_> = paths.into_iter().filter(|path| !known.contains(path)).collect();
            known.extend(unknown);
            known.truncate(MOST_WANTED);
        }
        all
    }

    /// Whether an endpoint of this store ever was at a path, as far as that is remembered.
    pub fn knows(&self, endpoint: &str, path: &Path) -> bool {
        let former = self.former.get(endpoint).map_or(&[][..], Vec::as_slice);
        self.sockets(endpoint).iter().chain(former).any(|known| known == path)
    }

    /// The sockets of an endpoint.
    pub fn sockets(&self, endpoint: &str) -> &[PathBuf] {
        self.endpoints.get(endpoint).map_or(&[], Vec::as_slice)
    }
}

/// The daemon that holds the lock of a store.
#[derive(Debug)]
pub struct Running {
    /// Its process id.
    pub pid: u32,
    process: OwnedFd,
}

impl Running {
    /// Finds it by the lock. None if no daemon runs.
    ///
    /// # Errors
    /// If the lock is held but not by the process that it names: one of another container, say.
    pub fn find(homes: &Homes) -> io::Result<Option<Running>> {
        let opened =
            TrustedDir::existing(&homes.state_dir()).and_then(|dir| dir.open_existing(DAEMON_LOCK));
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
            return Ok(None);
        }
        let mut text = String::new();
        (&mut file).take(64).read_to_string(&mut text)?;
        let found = file.metadata()?;
        let running = text.trim().parse().ok().and_then(Self::open);
        match running.filter(|running| has_open(running.pid, (found.dev(), found.ino()))) {
            Some(running) => Ok(Some(running)),
            // It may have ended just now.
            None if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() => Ok(None),
            None => Err(io::Error::other(format!(
                "{} is held by a process that cannot be found; does it run in a container?",
                homes.state_dir().join(DAEMON_LOCK).display()
            ))),
        }
    }

    /// The number is checked after this: from now on it cannot come to mean another process.
    fn open(pid: u32) -> Option<Running> {
        let number = Pid::from_raw(i32::try_from(pid).ok()?)?;
        let process = pidfd_open(number, PidfdFlags::empty()).ok()?;
        Some(Running { pid, process })
    }

    /// Asks it to listen again wherever sockets are wanted.
    ///
    /// # Errors
    /// If it has ended.
    pub fn ask_to_listen(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.process, Signal::USR1)?)
    }

    /// Asks it to stop; terminals live on.
    ///
    /// # Errors
    /// If it has ended.
    pub fn ask_to_stop(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.process, Signal::TERM)?)
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(&self.process, PollFlags::IN)], Some(&now)).is_ok_and(|got| got > 0)
    }
}

/// Whether a process has this very file open.
pub(crate) fn has_open(pid: u32, identity: (u64, u64)) -> bool {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| std::fs::metadata(entry.path()).ok())
        .any(|found| (found.dev(), found.ino()) == identity)
}

/// Remembers that sockets are wanted in the runtime directory of these homes, too.
///
/// # Errors
/// If that cannot be written.
pub fn want_sockets(homes: &Homes) -> io::Result<()> {
    let state = TrustedDir::existing(&homes.state_dir())?;
    let own = homes.runtime_dir();
    let others = wanted(&state).into_iter().filter(|dir| dir != own);
    let lines = std::iter::once(own.to_owned()).chain(others).take(MOST_WANTED);
    let text: String = lines.filter_map(|dir| dir.to_str().map(|dir| format!("{dir}\n"))).collect();
    state.replace(WANTED, text.as_bytes())
}

/// Runtime directories in which sockets are wanted, the newest first.
pub(crate) fn wanted(state: &TrustedDir) -> Vec<PathBuf> {
    let text = state.read(WANTED).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let dirs = text.lines().map(PathBuf::from).filter(|dir| dir.is_absolute());
    dirs.take(MOST_WANTED).collect()
}

/// Where the keeper of a store is: at its place, or at one of those where former versions had it.
pub(crate) fn keeper_socket(homes: &Homes) -> PathBuf {
    let place = homes.keeper_socket();
    let is_alive = |path: &Path| rookery_keeper::client::connect(path).is_ok();
    let dirs = Record::read(homes).runtime_dirs;
    let former = std::iter::once(homes.former_keeper_socket())
        .chain(dirs.iter().map(|dir| homes.with_runtime_dir(dir).former_keeper_socket()));
    if is_alive(&place) {
        return place;
    }
    former.filter(|path| path.exists()).find(|path| is_alive(path)).unwrap_or(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn homes(dir: &Path) -> Homes {
        let home = dir.as_os_str().to_owned();
        Homes::from_lookup(&|name| (name == "ROOKERY_HOME").then(|| home.clone())).unwrap()
    }

    #[test]
    fn attack_only_the_process_that_holds_the_lock_is_taken_for_the_daemon() {
        let dir = tempfile::tempdir().unwrap();
        let homes = homes(dir.path());
        assert!(Running::find(&homes).unwrap().is_none());
        let state = TrustedDir::private(&homes.state_dir()).unwrap();
        let lock = crate::lock::acquire(&state, DAEMON_LOCK).unwrap();
        let running = Running::find(&homes).unwrap().unwrap();
        assert_eq!(running.pid, std::process::id());
        assert!(!running.has_ended());
        // A number that came to mean another process.
        std::fs::write(homes.state_dir().join(DAEMON_LOCK), "1\n").unwrap();
        assert!(Running::find(&homes).is_err());
        drop(lock);
        assert!(Running::find(&homes).unwrap().is_none());
    }

    #[test]
    fn a_keeper_of_a_former_version_is_found_where_it_listens() {
        let dir = tempfile::tempdir().unwrap();
        let homes = homes(dir.path());
        let state = TrustedDir::private(&homes.state_dir()).unwrap();
        assert_eq!(keeper_socket(&homes), homes.keeper_socket());
        // In the runtime directory of now, and in one of a daemon before.
        let former = rookery_keeper::Listener::bind(&homes.former_keeper_socket()).unwrap();
        assert_eq!(keeper_socket(&homes), homes.former_keeper_socket());
        drop(former);
        let other = homes.with_runtime_dir(&dir.path().join("other"));
        let _elsewhere = rookery_keeper::Listener::bind(&other.former_keeper_socket()).unwrap();
        assert_eq!(keeper_socket(&homes), homes.keeper_socket());
        let runtime_dirs = vec![other.runtime_dir().to_owned()];
        Record { runtime_dirs, ..Record::default() }.write(&state).unwrap();
        assert_eq!(keeper_socket(&homes), other.former_keeper_socket());
        // One in its usual place is preferred to all others.
        let _usual = rookery_keeper::Listener::bind(&homes.keeper_socket()).unwrap();
        assert_eq!(keeper_socket(&homes), homes.keeper_socket());
    }

    #[test]
    fn former_places_are_remembered_and_few() {
        let mut record = Record::default();
        for number in 0..20 {
            let path = PathBuf::from(format!("/run/{number}/rookery.sock"));
            let endpoints = BTreeMap::from([("rookery".to_owned(), vec![path])]);
            record = Record { endpoints, former: record.into_former(), ..Record::default() };
        }
        let knows =
            |number| record.knows("rookery", Path::new(&format!("/run/{number}/rookery.sock")));
        assert!(knows(19) && knows(18) && knows(12) && !knows(5));
        assert_eq!(record.former["rookery"].len(), MOST_WANTED);
    }

    #[test]
    fn wanted_directories_are_few_and_the_newest_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let homes = homes(dir.path());
        let state = TrustedDir::private(&homes.state_dir()).unwrap();
        for number in 0..20 {
            want_sockets(&homes.with_runtime_dir(Path::new(&format!("/run/{number}")))).unwrap();
        }
        want_sockets(&homes.with_runtime_dir(Path::new("/run/18"))).unwrap();
        let dirs = wanted(&state);
        assert_eq!(dirs.len(), MOST_WANTED);
        assert_eq!(dirs[..2], [PathBuf::from("/run/18"), PathBuf::from("/run/19")]);
    }
}
