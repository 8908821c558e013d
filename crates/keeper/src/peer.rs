//! One connected client as the server sees it: bytes in to requests, replies out through a bounded queue.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use crate::protocol::{Frame, FrameReader, MAX_FDS, Reply};
use crate::transport::{ReceivedFd, recv_some, send_some};

/// A client that leaves this much unread is cut off.
const MAX_QUEUED: usize = 8 << 20;

/// Requests for the list that may be under way at once.
const MAX_LISTINGS: usize = 64;

/// Bytes read per turn, so that one busy client does not starve the others.
const CHUNK: usize = 64 << 10;

struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    fds: Vec<Rc<OwnedFd>>,
}

/// A list being sent in parts as the client takes them.
pub(crate) struct Listing {
    pub(crate) tag: u64,
    pub(crate) after: Option<u64>,
}

pub(crate) struct Peer {
    socket: OwnedFd,
    reader: FrameReader,
    fds: VecDeque<OwnedFd>,
    out: VecDeque<Outgoing>,
    queued: usize,
    pub(crate) listings: VecDeque<Listing>,
    gone: bool,
    /// The kernel refuses further descriptors in flight; writability says nothing about that.
    congested: bool,
}

impl Peer {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            reader: FrameReader::new(),
            fds: VecDeque::new(),
            out: VecDeque::new(),
            queued: 0,
            listings: VecDeque::new(),
            gone: false,
            congested: false,
        }
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone
    }

    pub(crate) fn is_congested(&self) -> bool {
        self.congested
    }

    pub(crate) fn wants_to_write(&self) -> bool {
        !self.out.is_empty() && !self.congested
    }

    pub(crate) fn queued(&self) -> usize {
        self.queued
    }

    /// Reads once. End of stream and every error end the peer.
    pub(crate) fn receive(&mut self) {
        let mut chunk = [0; CHUNK];
        let mut passed = VecDeque::new();
        match recv_some(&self.socket, &mut chunk, &mut passed) {
            Ok(0) => self.gone = true,
            Ok(got) => {
                self.reader.push(&chunk[..got]);
                self.take_passed(passed);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => self.gone = true,
        }
    }

    /// A client whose descriptors did not all come has sent too many.
    fn take_passed(&mut self, passed: VecDeque<ReceivedFd>) {
        for one in passed {
            match one {
                ReceivedFd::Fd(fd) => self.fds.push_back(fd),
                ReceivedFd::Lost => self.gone = true,
            }
        }
    }

    /// The next whole frame with its descriptors. A peer whose bytes are not frames is gone.
    pub(crate) fn next_frame(&mut self) -> Option<(Frame, Vec<OwnedFd>)> {
        if self.gone {
            return None;
        }
        match self.reader.next() {
            Ok(Some(frame)) if usize::from(frame.fds) <= self.fds.len() => {
                let fds = self.fds.drain(..usize::from(frame.fds)).collect();
                Some((frame, fds))
            }
            // Whatever is left can only belong to the one frame still under way.
            Ok(None) if self.fds.len() <= MAX_FDS => None,
            _ => {
                self.gone = true;
                None
            }
        }
    }

    /// Queues a reply and sends as much as the client takes now.
    pub(crate) fn send(&mut self, tag: u64, reply: &Reply, fds: Vec<Rc<OwnedFd>>) {
        let Ok(bytes) = reply.encode(tag, fds.len()) else {
            self.gone = true;
            return;
        };
        self.queued += bytes.len();
        self.out.push_back(Outgoing { bytes, sent: 0, fds });
        self.flush();
        if self.queued > MAX_QUEUED {
            self.gone = true;
        }
    }

    /// Notes that a list is to be sent; false if too many are under way.
    pub(crate) fn begin_listing(&mut self, tag: u64) -> bool {
        let room = self.listings.len() < MAX_LISTINGS;
        if room {
            self.listings.push_back(Listing { tag, after: None });
        }
        room
    }

    /// Sends what the client takes without blocking.
    pub(crate) fn flush(&mut self) {
        self.congested = false;
        while let Some(next) = self.out.front_mut() {
            let fds: Vec<BorrowedFd<'_>> = next.fds.iter().map(|fd| fd.as_fd()).collect();
            match send_some(&self.socket, &next.bytes[next.sent..], &fds) {
                Ok(sent) => {
                    next.sent += sent;
                    next.fds.clear();
                    self.queued -= sent;
                    if next.sent == next.bytes.len() {
                        self.out.pop_front();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.raw_os_error() == Some(libc::ETOOMANYREFS) => {
                    self.congested = true;
                    return;
                }
                Err(_) => {
                    self.gone = true;
                    return;
                }
            }
        }
    }
}

impl AsFd for Peer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
