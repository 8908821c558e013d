//! The table of terminals: who runs, who ended how, and the descriptors held for each.
//! Everything happens on one thread, so a child that is not yet reaped here still owns its pid.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Bound;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitOptions, WaitStatus};

use crate::protocol::{
    Entry, ErrorCode, ErrorReply, ExitStatus, MAX_META, Reply, Scope, Spawn, State,
};
use crate::spawn::{ChildDefaults, spawn};
use crate::sys;

/// Each terminal costs two descriptors; this stays below the usual hard limits.
const MAX_TERMINALS: usize = 16_384;

struct Terminal {
    pid: i32,
    state: State,
    spawned_at: u64,
    exited_at: u64,
    adopted: bool,
    /// For an adopted process that could be verified: tells its end, and never names another process.
    watch: Option<OwnedFd>,
    meta: Vec<u8>,
    master: Rc<OwnedFd>,
    ring: Rc<OwnedFd>,
}

impl Terminal {
    fn entry(&self, terminal_id: u64) -> Entry {
        Entry {
            terminal_id,
            pid: self.pid,
            state: self.state,
            spawned_at_micros: self.spawned_at,
            exited_at_micros: self.exited_at,
            adopted: self.adopted,
            meta: self.meta.clone(),
        }
    }

    fn fds(&self) -> Vec<Rc<OwnedFd>> {
        vec![Rc::clone(&self.master), Rc::clone(&self.ring)]
    }

    fn signal(&self, signal: i32, scope: Scope) -> io::Result<()> {
        if self.state != State::Running {
            return Err(Errno::SRCH.into());
        }
        match (&self.watch, scope) {
            (None, _) if self.adopted => Err(Errno::SRCH.into()),
            (None, Scope::Child) => sys::signal_process(self.pid, signal),
            (None, Scope::Group) => sys::signal_group(self.pid, signal),
            (Some(watch), Scope::Child) => sys::signal_pidfd(watch, signal, false),
            (Some(watch), Scope::Group) => match sys::signal_pidfd(watch, signal, true) {
                // Before Linux 6.9: make sure the leader lives, then signal the group by number.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                    sys::signal_pidfd(watch, 0, false)?;
                    sys::signal_group(self.pid, signal)
                }
                other => other,
            },
        }
    }
}

/// A reply and the descriptors that ride with it.
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) fds: Vec<Rc<OwnedFd>>,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self { reply, fds: Vec::new() }
    }
}

pub(crate) struct Terminals {
    held: BTreeMap<u64, Terminal>,
    /// Our own children that run and are not released.
    children: HashMap<i32, u64>,
    defaults: ChildDefaults,
}

pub(crate) fn refuse(code: ErrorCode, errno: i32, message: impl Into<String>) -> ErrorReply {
    ErrorReply { code, errno, message: message.into() }
}

fn now_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

impl Terminals {
    pub(crate) fn new(defaults: ChildDefaults) -> Self {
        Self { held: BTreeMap::new(), children: HashMap::new(), defaults }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    fn get(&mut self, id: u64) -> Result<&mut Terminal, ErrorReply> {
        self.held.get_mut(&id).ok_or_else(|| {
            refuse(ErrorCode::UnknownTerminal, libc::ENOENT, format!("no terminal {id}"))
        })
    }

    fn check_new(&self, id: u64) -> Result<(), ErrorReply> {
        if self.held.contains_key(&id) {
            let message = format!("terminal {id} already exists");
            return Err(refuse(ErrorCode::DuplicateTerminal, libc::EEXIST, message));
        }
        if self.held.len() >= MAX_TERMINALS {
            return Err(refuse(ErrorCode::Limit, libc::EAGAIN, "too many terminals"));
        }
        Ok(())
    }

    pub(crate) fn spawn(&mut self, request: Spawn) -> Result<Answer, ErrorReply> {
        self.check_new(request.terminal_id)?;
        let spawned = spawn(&request, &self.defaults)?;
        let pid = spawned.pid.as_raw_nonzero().get();
        let terminal = Terminal {
            pid,
            state: State::Running,
            spawned_at: now_micros(),
            exited_at: 0,
            adopted: false,
            watch: None,
            meta: request.meta,
            master: Rc::new(spawned.master),
            ring: Rc::new(spawned.ring),
        };
        let fds = terminal.fds();
        self.held.insert(request.terminal_id, terminal);
        self.children.insert(pid, request.terminal_id);
        Ok(Answer { reply: Reply::Spawned { terminal_id: request.terminal_id, pid }, fds })
    }

    pub(crate) fn adopt(
        &mut self,
        id: u64,
        pid: i32,
        meta: Vec<u8>,
        fds: Vec<OwnedFd>,
    ) -> Result<Answer, ErrorReply> {
        self.check_new(id)?;
        let [master, ring] = <[OwnedFd; 2]>::try_from(fds).map_err(|_| {
            refuse(ErrorCode::BadRequest, libc::EINVAL, "adopting takes two descriptors")
        })?;
        // 1 and below would name init, all processes or none.
        let process = (pid > 1).then(|| Pid::from_raw(pid)).flatten().ok_or_else(|| {
            refuse(ErrorCode::BadRequest, libc::EINVAL, format!("no process id {pid}"))
        })?;
        let terminal = Terminal {
            pid,
            state: State::Running,
            spawned_at: now_micros(),
            exited_at: 0,
            adopted: true,
            watch: watch_session_leader(process, &master),
            meta,
            master: Rc::new(master),
            ring: Rc::new(ring),
        };
        self.held.insert(id, terminal);
        Ok(Reply::Ok.into())
    }

    pub(crate) fn attach(&mut self, id: u64) -> Result<Answer, ErrorReply> {
        let terminal = self.get(id)?;
        Ok(Answer { reply: Reply::Attached(terminal.entry(id)), fds: terminal.fds() })
    }

    pub(crate) fn signal(
        &mut self,
        id: u64,
        signal: i32,
        scope: Scope,
    ) -> Result<Answer, ErrorReply> {
        let terminal = self.get(id)?;
        if !(0..=64).contains(&signal) {
            return Err(refuse(ErrorCode::BadRequest, libc::EINVAL, format!("no signal {signal}")));
        }
        terminal.signal(signal, scope).map_err(|error| {
            let message = format!("cannot signal terminal {id}: {error}");
            refuse(ErrorCode::SignalFailed, error.raw_os_error().unwrap_or(0), message)
        })?;
        Ok(Reply::Ok.into())
    }

    pub(crate) fn set_meta(&mut self, id: u64, meta: Vec<u8>) -> Result<Answer, ErrorReply> {
        debug_assert!(meta.len() <= MAX_META, "the decoder refuses longer notes");
        self.get(id)?.meta = meta;
        Ok(Reply::Ok.into())
    }

    pub(crate) fn release(&mut self, id: u64) -> Result<Answer, ErrorReply> {
        let pid = self.get(id)?.pid;
        let released = self.held.remove(&id);
        if released.is_some_and(|terminal| !terminal.adopted && terminal.state == State::Running) {
            // It stays our child; once it ends it is reaped without a word.
            self.children.remove(&pid);
        }
        Ok(Reply::Ok.into())
    }

    /// Entries behind `after` worth about `budget` bytes, and whether there are more.
    pub(crate) fn list(&self, after: Option<u64>, budget: usize) -> (Vec<Entry>, bool) {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = self.held.range((from, Bound::Unbounded)).peekable();
        let (mut entries, mut weight) = (Vec::new(), 0);
        while weight < budget {
            let Some((id, terminal)) = rest.next() else { break };
            let entry = terminal.entry(*id);
            weight += entry.weight();
            entries.push(entry);
        }
        (entries, rest.peek().is_some())
    }

    /// Adopted processes whose end can be waited for.
    pub(crate) fn watched(&self) -> Vec<(u64, BorrowedFd<'_>)> {
        let running = self.held.iter().filter(|(_, terminal)| terminal.state == State::Running);
        running.filter_map(|(id, terminal)| Some((*id, terminal.watch.as_ref()?.as_fd()))).collect()
    }

    /// An adopted process ended.
    pub(crate) fn watched_ended(&mut self, id: u64) -> Option<Reply> {
        let notice = self.ended(id, ExitStatus::Unknown);
        if let Some(terminal) = self.held.get_mut(&id) {
            terminal.watch = None;
        }
        notice
    }

    fn ended(&mut self, id: u64, status: ExitStatus) -> Option<Reply> {
        let terminal = self.held.get_mut(&id)?;
        terminal.state = State::Exited(status);
        terminal.exited_at = now_micros();
        Some(Reply::Exited { terminal_id: id, status, at_micros: terminal.exited_at })
    }

    /// Hangs up every terminal: its group is told, and its PTY is closed.
    pub(crate) fn hang_up(&mut self) {
        for terminal in self.held.values() {
            let _ = terminal.signal(libc::SIGHUP, Scope::Group);
            let _ = terminal.signal(libc::SIGCONT, Scope::Group);
        }
        // An adopted process is no child of ours, so it must be ended while it is still known.
        for terminal in self.held.values().filter(|terminal| terminal.adopted) {
            let _ = terminal.signal(libc::SIGKILL, Scope::Group);
        }
        self.held.clear();
    }

    /// Kills every child, also adopted ones.
    pub(crate) fn kill(&self) {
        for pid in sys::children() {
            let _ = sys::signal_process(pid, libc::SIGKILL);
        }
    }

    /// Whether there is any child, also one that was adopted as an orphan.
    pub(crate) fn has_children(&self) -> bool {
        !matches!(rustix::process::wait(WaitOptions::NOHANG), Err(Errno::CHILD))
    }

    /// Reaps every child that ended, also released ones and orphans of our children, and returns the notices due.
    pub(crate) fn reap(&mut self) -> Vec<Reply> {
        let mut notices = Vec::new();
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    let id = self.children.remove(&pid.as_raw_nonzero().get());
                    notices.extend(id.and_then(|id| self.ended(id, exit_status(status))));
                }
                Err(Errno::INTR) => {}
                Ok(None) | Err(_) => return notices,
            }
        }
    }
}

fn exit_status(status: WaitStatus) -> ExitStatus {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ExitStatus::Code(code),
        (None, Some(signal)) => ExitStatus::Signal(signal),
        (None, None) => ExitStatus::Unknown,
    }
}

/// A pidfd of the process, if it still leads the session of this PTY: else the number may name a stranger by now.
fn watch_session_leader(process: Pid, master: &OwnedFd) -> Option<OwnedFd> {
    let watch = rustix::process::pidfd_open(process, PidfdFlags::empty()).ok()?;
    let leader = rustix::termios::tcgetsid(master).ok()?;
    (leader == process).then_some(watch)
}
