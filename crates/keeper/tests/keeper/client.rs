//! A keeper in a private directory and a client that waits for the answers it wants.

use std::fs::Permissions;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rookery_keeper::client::{Incoming, Replies, Requests, connect};
use rookery_keeper::protocol::{Entry, ErrorReply, ExitStatus, Reply, Request, Scope, Size, Spawn};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Far above anything that happens; only a test that would hang forever meets it.
const PATIENCE: Timespec = Timespec { tv_sec: 20, tv_nsec: 0 };

pub(crate) struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    /// A directory with a running keeper.
    pub(crate) fn new() -> Self {
        let home = Self::without_keeper();
        home.start().unwrap();
        home
    }

    pub(crate) fn without_keeper() -> Self {
        Self {
            dir: tempfile::Builder::new()
                .permissions(Permissions::from_mode(0o700))
                .tempdir()
                .unwrap(),
        }
    }

    pub(crate) fn start(&self) -> std::io::Result<()> {
        rookery_keeper::start(&std::env::current_exe().unwrap(), &["__keeper"], &self.socket())
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.path().join("keeper.sock")
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(&self.socket())
    }
}

impl Drop for Home {
    /// A keeper lives as long as its terminals, so a test that leaves some must end them.
    fn drop(&mut self) {
        let Ok((requests, mut replies)) = connect(&self.socket()) else { return };
        let _ = requests.send(1, &Request::List, &[]);
        while let Ok(incoming) = replies.next() {
            let Reply::Listed { entries, more } = incoming.reply else { continue };
            for Entry { terminal_id, .. } in entries {
                let kill =
                    Request::Signal { terminal_id, signal: libc::SIGKILL, scope: Scope::Group };
                let _ = requests.send(2, &kill, &[]);
                let _ = requests.send(2, &Request::Release { terminal_id }, &[]);
            }
            if !more {
                // The keeper has taken all of it once it answers what came last.
                let _ = requests.send(3, &Request::Attach { terminal_id: u64::MAX }, &[]);
                while replies.next().is_ok_and(|incoming| incoming.tag != 3) {}
                return;
            }
        }
    }
}

/// What a terminal's owner holds of it.
pub(crate) struct Handed {
    pub(crate) pid: i32,
    pub(crate) master: OwnedFd,
    pub(crate) ring: OwnedFd,
}

pub(crate) struct Client {
    pub(crate) requests: Requests,
    pub(crate) replies: Replies,
    /// Notices that came while an answer was awaited.
    early: Vec<Reply>,
    tag: u64,
}

impl Client {
    pub(crate) fn connect(socket: &Path) -> Self {
        let (requests, replies) = connect(socket).unwrap();
        Self { requests, replies, early: Vec::new(), tag: 0 }
    }

    pub(crate) fn send(&mut self, request: &Request, fds: &[BorrowedFd<'_>]) -> u64 {
        self.tag += 1;
        self.requests.send(self.tag, request, fds).unwrap();
        self.tag
    }

    pub(crate) fn answer(&mut self, tag: u64) -> Incoming {
        loop {
            let incoming = self.replies.next().unwrap();
            if incoming.tag == tag {
                return incoming;
            }
            assert_eq!(incoming.tag, 0, "answer to nothing: {incoming:?}");
            self.early.push(incoming.reply);
        }
    }

    pub(crate) fn ask(&mut self, request: &Request) -> Incoming {
        let tag = self.send(request, &[]);
        self.answer(tag)
    }

    pub(crate) fn ok(&mut self, request: &Request) {
        let incoming = self.ask(request);
        assert_eq!(incoming.reply, Reply::Ok);
    }

    pub(crate) fn refused(&mut self, request: &Request) -> ErrorReply {
        match self.ask(request).reply {
            Reply::Error(error) => error,
            other => panic!("expected a refusal, got {other:?}"),
        }
    }

    pub(crate) fn spawn(&mut self, id: u64, script: &str) -> Handed {
        let incoming = self.ask(&Request::Spawn(shell(id, script)));
        let Reply::Spawned { terminal_id, pid } = incoming.reply else {
            panic!("not spawned: {:?}", incoming.reply);
        };
        assert_eq!(terminal_id, id);
        handed(pid, incoming.fds)
    }

    pub(crate) fn attach(&mut self, id: u64) -> (Entry, Handed) {
        let incoming = self.ask(&Request::Attach { terminal_id: id });
        let Reply::Attached(entry) = incoming.reply else {
            panic!("not attached: {:?}", incoming.reply);
        };
        let handed = handed(entry.pid, incoming.fds);
        (entry, handed)
    }

    pub(crate) fn list(&mut self) -> Vec<Entry> {
        let tag = self.send(&Request::List, &[]);
        let mut all = Vec::new();
        loop {
            match self.answer(tag).reply {
                Reply::Listed { entries, more } => {
                    all.extend(entries);
                    if !more {
                        return all;
                    }
                }
                other => panic!("expected a list, got {other:?}"),
            }
        }
    }

    pub(crate) fn signal(&mut self, id: u64, signal: i32, scope: Scope) {
        self.ok(&Request::Signal { terminal_id: id, signal, scope });
    }

    /// Waits for the notice that a terminal's child ended.
    pub(crate) fn exit_of(&mut self, id: u64) -> ExitStatus {
        let mut early = std::mem::take(&mut self.early).into_iter();
        loop {
            let notice = early.next().unwrap_or_else(|| self.replies.next().unwrap().reply);
            match notice {
                Reply::Exited { terminal_id, status, at_micros } if terminal_id == id => {
                    assert!(at_micros > 0);
                    self.early.extend(early);
                    return status;
                }
                other => self.early.push(other),
            }
        }
    }
}

fn handed(pid: i32, fds: Vec<OwnedFd>) -> Handed {
    let [master, ring] = fds.try_into().expect("two descriptors");
    Handed { pid, master, ring }
}

pub(crate) fn shell(id: u64, script: &str) -> Spawn {
    Spawn {
        terminal_id: id,
        argv: vec![b"sh".to_vec(), b"-c".to_vec(), script.as_bytes().to_vec()],
        env: vec![b"PATH=/usr/local/bin:/usr/bin:/bin".to_vec(), b"GREETING=hello".to_vec()],
        cwd: b"/".to_vec(),
        size: Size { rows: 24, cols: 80, xpixel: 0, ypixel: 0 },
        ring_bytes: 0,
        meta: format!("meta of {id}").into_bytes(),
    }
}

/// Waits until the descriptor has something to say.
pub(crate) fn wait_readable(fd: impl AsFd) {
    let mut polled = [PollFd::new(&fd, PollFlags::IN)];
    let ready = rustix::io::retry_on_intr(|| poll(&mut polled, Some(&PATIENCE))).unwrap();
    assert_eq!(ready, 1, "nothing came");
}

/// Reads the terminal until `stop` is satisfied or the output ends.
pub(crate) fn read_until(master: &OwnedFd, mut stop: impl FnMut(&str) -> bool) -> String {
    let mut text = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        match rustix::io::read(master, &mut chunk) {
            Ok(0) | Err(rustix::io::Errno::IO) => break,
            Ok(got) => text.extend_from_slice(&chunk[..got]),
            Err(rustix::io::Errno::AGAIN) => wait_readable(master),
            Err(errno) => panic!("{errno}"),
        }
        if stop(&String::from_utf8_lossy(&text)) {
            break;
        }
    }
    String::from_utf8(text).unwrap()
}

pub(crate) fn read_all(master: &OwnedFd) -> String {
    read_until(master, |_| false)
}
