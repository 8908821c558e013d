//! The keeper's loop: one thread, one poll over listener, signals, clients and adopted processes.
//! It never reads or writes a PTY. Process-wide set-up (session, stdio, limits) is the caller's.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rookery_trust::check_peer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::listener::Listener;
use crate::peer::Peer;
use crate::protocol::{
    DecodeError, ErrorCode, Frame, MIN_PROTOCOL_VERSION, PROTOCOL_VERSION, Reply, Request,
};
use crate::spawn::ChildDefaults;
use crate::sys;
use crate::terminals::{Answer, Terminals, refuse};

const MAX_CLIENTS: usize = 16;

/// A keeper without any connection ends after this.
const FIRST_CLIENT_GRACE: Duration = Duration::from_secs(10);

/// How long to wait before trying again what the kernel refused for want of descriptors.
const RETRY: Duration = Duration::from_millis(20);

/// Descriptors kept back, so that a daemon can connect while terminals have taken all others.
const SPARE: usize = 4;

/// How long the directory of the socket is left in peace after something went from it, and how long a socket that
/// cannot be made again is let be.
const MEND_AFTER: Duration = Duration::from_millis(10);
const MEND_AGAIN: Duration = Duration::from_secs(5);

/// How long children may take to end by themselves after a hang-up.
const HANG_UP_GRACE: Duration = Duration::from_millis(250);

/// How long the kernel may take to end killed children.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// Size of one part of a list, and how much of it is queued ahead of the client.
const LIST_PART: usize = 512 << 10;

/// Serves until no client is connected and no terminal is held. Changes the process: blocks `SIGCHLD` and `SIGTERM`,
/// reaps every child, and becomes the reaper of orphans among its descendants.
pub fn serve(listener: Listener) -> io::Result<()> {
    Server::new(listener, ChildDefaults::of_this_process())?.run()
}

pub(crate) struct Server {
    listener: Listener,
    signals: OwnedFd,
    terminals: Terminals,
    peers: Vec<Peer>,
    /// Until when to wait for the first client; none once it came.
    grace: Option<Instant>,
    out_of_fds: bool,
    spare: Vec<OwnedFd>,
    /// When to look whether the socket is in its place.
    look_at: Option<Instant>,
    stop: bool,
    /// Whether terminals end when the last client is gone.
    with_clients: bool,
}

/// What a round of polling found.
struct Ready {
    accept: bool,
    gone: bool,
    signals: bool,
    peers: Vec<PollFlags>,
    ended: Vec<u64>,
}

impl Server {
    pub(crate) fn new(listener: Listener, defaults: ChildDefaults) -> io::Result<Self> {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        Ok(Self {
            listener,
            signals: sys::signal_fd(&[libc::SIGCHLD, libc::SIGTERM])?,
            terminals: Terminals::new(defaults),
            peers: Vec::new(),
            grace: Some(Instant::now() + FIRST_CLIENT_GRACE),
            out_of_fds: false,
            spare: Vec::new(),
            look_at: None,
            stop: false,
            with_clients: false,
        })
    }

    /// Lets terminals live no longer than the last client, if `wanted`.
    pub(crate) fn ending_with_clients(self, wanted: bool) -> Self {
        Self { with_clients: wanted, ..self }
    }

    pub(crate) fn run(mut self) -> io::Result<()> {
        self.refill_spare();
        if !self.with_clients {
            self.listener.watch();
            self.look_at = self.next_look();
        }
        loop {
            if self.is_done() {
                // Someone may be waiting in the queue of the listener.
                self.accept();
                if self.is_done() {
                    self.end_all();
                    return Ok(());
                }
            }
            let ready = self.wait()?;
            if ready.signals {
                self.take_signals();
            }
            for id in ready.ended {
                let notice = self.terminals.watched_ended(id);
                self.notify(notice);
            }
            for (index, flags) in ready.peers.into_iter().enumerate() {
                self.serve_peer(index, flags);
            }
            if ready.accept || self.out_of_fds {
                self.accept();
            }
            self.peers.retain(|peer| !peer.is_gone());
            self.refill_spare();
            self.look_after_socket(ready.gone);
        }
    }

    /// Without a watch it has to be looked now and then.
    fn next_look(&self) -> Option<Instant> {
        self.listener.watched().is_none().then(|| Instant::now() + MEND_AGAIN)
    }

    /// Makes the socket again if its path was removed: the next daemon finds its terminals by it.
    fn look_after_socket(&mut self, gone: bool) {
        if gone {
            self.listener.drain_watch();
            self.look_at = self.look_at.or_else(|| Some(Instant::now() + MEND_AFTER));
        }
        if self.look_at.is_none_or(|at| Instant::now() < at) {
            return;
        }
        self.look_at = match self.listener.is_in_place() || self.listener.mend().is_ok() {
            true => self.next_look(),
            false => Some(Instant::now() + MEND_AGAIN),
        };
    }

    fn refill_spare(&mut self) {
        while self.spare.len() < SPARE {
            let Ok(spare) = self.signals.try_clone() else { return };
            self.spare.push(spare);
        }
    }

    fn is_done(&self) -> bool {
        let unused = match self.grace {
            None => self.peers.is_empty(),
            Some(until) => Instant::now() >= until,
        };
        (self.terminals.is_empty() && (unused || self.stop)) || (self.with_clients && unused)
    }

    /// Ends what is left: first by hanging up, then by force. All that children ever started has this process for its
    /// reaper, so once there is no child there is no descendant either.
    fn end_all(&mut self) {
        if !self.with_clients {
            return;
        }
        self.terminals.hang_up();
        if !self.children_gone_within(HANG_UP_GRACE) {
            let until = Instant::now() + KILL_LIMIT;
            while Instant::now() < until {
                self.terminals.kill();
                if self.children_gone_within(RETRY) {
                    return;
                }
            }
        }
    }

    /// Reaps until no child is left; false if that takes too long.
    fn children_gone_within(&mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            self.take_signals();
            if !self.terminals.has_children() {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let left = Timespec {
                tv_sec: left.as_secs().cast_signed(),
                tv_nsec: left.subsec_nanos().into(),
            };
            let _ = poll(&mut [PollFd::new(&self.signals, PollFlags::IN)], Some(&left));
        }
    }

    fn timeout(&self) -> Option<Timespec> {
        let retry = self.out_of_fds || self.peers.iter().any(Peer::is_congested);
        let until = |at: Instant| at.saturating_duration_since(Instant::now());
        let waits = [retry.then_some(RETRY), self.grace.map(until), self.look_at.map(until)];
        waits.into_iter().flatten().min().map(|wait| Timespec {
            tv_sec: wait.as_secs().cast_signed(),
            tv_nsec: wait.subsec_nanos().into(),
        })
    }

    fn wait(&self) -> io::Result<Ready> {
        let watched = self.terminals.watched();
        let listen = if self.out_of_fds { PollFlags::empty() } else { PollFlags::IN };
        let mut polled =
            vec![PollFd::new(&self.listener, listen), PollFd::new(&self.signals, PollFlags::IN)];
        for peer in &self.peers {
            let write = if peer.wants_to_write() { PollFlags::OUT } else { PollFlags::empty() };
            polled.push(PollFd::from_borrowed_fd(peer.as_fd(), PollFlags::IN | write));
        }
        polled.extend(watched.iter().map(|(_, fd)| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        let place = self.listener.watched();
        polled.extend(place.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        match poll(&mut polled, self.timeout().as_ref()) {
            // Short of memory for a moment: ending here would end every terminal.
            Ok(_) | Err(Errno::INTR | Errno::NOMEM | Errno::AGAIN) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut found = polled.iter().map(PollFd::revents);
        let mut next = || found.next().unwrap_or(PollFlags::empty());
        Ok(Ready {
            accept: !next().is_empty(),
            signals: !next().is_empty(),
            peers: self.peers.iter().map(|_| next()).collect(),
            ended: watched.iter().filter(|_| !next().is_empty()).map(|(id, _)| *id).collect(),
            gone: !next().is_empty(),
        })
    }

    fn take_signals(&mut self) {
        const RECORD: usize = size_of::<libc::signalfd_siginfo>();
        let mut records = [0; RECORD * 4];
        while let Ok(got @ 1..) = rustix::io::read(&self.signals, &mut records) {
            for record in records[..got].chunks_exact(RECORD) {
                // The record begins with the signal's number.
                let number = record.first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes));
                // Children outrank a client that wants the keeper gone.
                self.stop |= number == libc::SIGTERM.cast_unsigned() && self.terminals.is_empty();
            }
        }
        for notice in self.terminals.reap() {
            self.notify(Some(notice));
        }
    }

    fn notify(&mut self, notice: Option<Reply>) {
        let Some(notice) = notice else { return };
        for peer in &mut self.peers {
            peer.send(0, &notice, Vec::new());
        }
    }

    fn accept(&mut self) {
        self.out_of_fds = false;
        loop {
            match self.listener.accept() {
                Ok(socket) if self.peers.len() < MAX_CLIENTS && check_peer(&socket).is_ok() => {
                    self.peers.push(Peer::new(socket));
                    self.grace = None;
                }
                // One too many, or a stranger: hanging up says so at once.
                Ok(_) | Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::MFILE | Errno::NFILE) if self.spare.pop().is_some() => {}
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    self.out_of_fds = true;
                    return;
                }
                Err(_) => return,
            }
        }
    }

    fn serve_peer(&mut self, index: usize, flags: PollFlags) {
        let peer = &mut self.peers[index];
        if flags.contains(PollFlags::OUT) || peer.is_congested() {
            peer.flush();
        }
        if flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            peer.receive();
        }
        while let Some((frame, fds)) = self.peers[index].next_frame() {
            self.serve_frame(index, &frame, fds);
        }
        self.continue_listings(index);
    }

    fn serve_frame(&mut self, index: usize, frame: &Frame, fds: Vec<OwnedFd>) {
        let result = match Request::decode(frame) {
            Ok(Request::List) => {
                if self.peers[index].begin_listing(frame.tag) {
                    return;
                }
                Err(refuse(ErrorCode::Limit, libc::EAGAIN, "too many lists under way"))
            }
            Ok(request) => self.answer(request, fds),
            Err(error @ DecodeError::UnknownKind(_)) => {
                Err(refuse(ErrorCode::Unsupported, libc::ENOSYS, error.to_string()))
            }
            Err(error) => Err(refuse(ErrorCode::BadRequest, libc::EINVAL, error.to_string())),
        };
        let answer = result.unwrap_or_else(|error| Reply::Error(error).into());
        self.peers[index].send(frame.tag, &answer.reply, answer.fds);
    }

    fn answer(
        &mut self,
        request: Request,
        fds: Vec<OwnedFd>,
    ) -> Result<Answer, crate::protocol::ErrorReply> {
        let terminals = &mut self.terminals;
        match request {
            Request::Hello { version, min_version } => {
                if min_version > PROTOCOL_VERSION || version < MIN_PROTOCOL_VERSION {
                    let message = format!(
                        "keeper speaks versions {MIN_PROTOCOL_VERSION} to {PROTOCOL_VERSION}"
                    );
                    return Err(refuse(ErrorCode::Unsupported, libc::EPROTONOSUPPORT, message));
                }
                Ok(Reply::Hello { version: PROTOCOL_VERSION, pid: std::process::id(), features: 0 }
                    .into())
            }
            Request::Spawn(spawn) => terminals.spawn(spawn),
            Request::Attach { terminal_id } => terminals.attach(terminal_id),
            Request::Signal { terminal_id, signal, scope } => {
                terminals.signal(terminal_id, signal, scope)
            }
            Request::SetMeta { terminal_id, meta } => terminals.set_meta(terminal_id, meta),
            Request::Release { terminal_id } => terminals.release(terminal_id),
            Request::Adopt { terminal_id, pid, meta } => {
                terminals.adopt(terminal_id, pid, meta, fds)
            }
            // Lists go out in parts, as the client takes them.
            Request::List => Ok(Reply::Ok.into()),
        }
    }

    /// Parts are made only when the client is about to take them, so a long list needs little memory.
    fn continue_listings(&mut self, index: usize) {
        let peer = &mut self.peers[index];
        while peer.queued() < LIST_PART {
            let Some(listing) = peer.listings.front_mut() else { return };
            let (entries, more) = self.terminals.list(listing.after, LIST_PART);
            let tag = listing.tag;
            listing.after = entries.last().map_or(listing.after, |entry| Some(entry.terminal_id));
            if !more {
                peer.listings.pop_front();
            }
            peer.send(tag, &Reply::Listed { entries, more }, Vec::new());
        }
    }
}
