//! The daemon's end of the connection: one half sends requests from anywhere, the other waits for what comes back.
//! Blocking; the daemon gives the receiving half a thread of its own. Matching tags to waiters is the caller's business.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rookery_trust::{TrustedDir, check_peer};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::protocol::{
    DecodeError, ErrorCode, ErrorReply, Frame, FrameError, FrameReader, Reply, Request,
};
use crate::transport::{ReceivedFd, recv_some, send_some};

/// Connects to a keeper of the same user. A keeper that is about to end may still accept and then hang up:
/// take an early end of stream for "no keeper here".
pub fn connect(path: &Path) -> io::Result<(Requests, Replies)> {
    let name = path.file_name().and_then(|name| name.to_str());
    let (Some(parent), Some(name)) = (path.parent(), name) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let directory = TrustedDir::existing(parent)?;
    let stream = UnixStream::connect(directory.short_path(name))?;
    check_peer(&stream)?;
    let replies = Replies {
        stream: stream.try_clone()?,
        reader: FrameReader::new(),
        fds: VecDeque::new(),
        chunk: vec![0; 64 << 10],
    };
    Ok((Requests(Arc::new(Sender { stream, whole: Mutex::new(true) })), replies))
}

/// The sending half. Clones share the connection; when the last is dropped, the connection ends.
#[derive(Clone)]
pub struct Requests(Arc<Sender>);

struct Sender {
    stream: UnixStream,
    /// False once a frame was cut off: nothing sent after it would be understood.
    whole: Mutex<bool>,
}

impl Drop for Sender {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

impl Requests {
    /// The keeper's process id, as the system tells it. Needs no answer of the keeper.
    pub fn peer_pid(&self) -> Option<u32> {
        let peer = rustix::net::sockopt::socket_peercred(&self.0.stream).ok()?;
        u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
    }

    /// Sends one request with its descriptors. The tag comes back in the reply; 0 is reserved for notices.
    pub fn send(&self, tag: u64, request: &Request, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let bytes = request.encode(tag, fds.len()).map_err(too_large)?;
        let mut whole = self.0.whole.lock().unwrap_or_else(PoisonError::into_inner);
        if !*whole {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        *whole = false;
        let mut sent = send_some(&self.0.stream, &bytes, fds)?;
        while sent < bytes.len() {
            sent += send_some(&self.0.stream, &bytes[sent..], &[])?;
        }
        *whole = true;
        Ok(())
    }

    /// Ends the connection: [`Replies::next`] then reports end of stream.
    pub fn close(&self) -> io::Result<()> {
        self.0.stream.shutdown(std::net::Shutdown::Both)
    }
}

/// The receiving half.
pub struct Replies {
    stream: UnixStream,
    reader: FrameReader,
    fds: VecDeque<ReceivedFd>,
    chunk: Vec<u8>,
}

/// A reply or notice, with the descriptors that rode with it.
#[derive(Debug)]
pub struct Incoming {
    /// Tag of the request this answers; 0 for a notice.
    pub tag: u64,
    /// What the keeper says.
    pub reply: Reply,
    /// PTY master and ring, in this order, where the reply hands them over. None of them if this process had no
    /// descriptors left to take them with.
    pub fds: Vec<OwnedFd>,
}

impl Replies {
    /// Waits for the next message. The end of the connection is [`io::ErrorKind::UnexpectedEof`].
    #[expect(
        clippy::should_implement_trait,
        reason = "an error ends the stream, which no iterator would say"
    )]
    pub fn next(&mut self) -> io::Result<Incoming> {
        loop {
            if let Some(incoming) = self.take()? {
                return Ok(incoming);
            }
            self.receive()?;
        }
    }

    /// The same, for so long; `TimedOut` if the keeper says nothing.
    pub fn next_within(&mut self, patience: Duration) -> io::Result<Incoming> {
        let until = Instant::now() + patience;
        loop {
            if let Some(incoming) = self.take()? {
                return Ok(incoming);
            }
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec {
                tv_sec: left.as_secs().cast_signed(),
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(&mut [PollFd::new(&self.stream, PollFlags::IN)], Some(&left)) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Err(rustix::io::Errno::INTR) => {}
                Ok(_) => self.receive()?,
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn receive(&mut self) -> io::Result<()> {
        let got = recv_some(&self.stream, &mut self.chunk, &mut self.fds)?;
        if got == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.reader.push(&self.chunk[..got]);
        Ok(())
    }

    /// The next message of those that were received.
    fn take(&mut self) -> io::Result<Option<Incoming>> {
        while let Some(frame) = self.reader.next().map_err(garbled)? {
            let fds = self.take_fds(usize::from(frame.fds))?;
            if let Some(reply) = interpret(&frame)? {
                return Ok(Some(Incoming { tag: frame.tag, reply, fds }));
            }
        }
        Ok(None)
    }

    /// The descriptors of one frame; none if they could not be taken.
    fn take_fds(&mut self, count: usize) -> io::Result<Vec<OwnedFd>> {
        let mut fds = Vec::with_capacity(count);
        while fds.len() < count {
            match self.fds.pop_front() {
                Some(ReceivedFd::Fd(fd)) => fds.push(fd),
                Some(ReceivedFd::Lost) => return Ok(Vec::new()),
                None => return Err(garbled("descriptors of a frame are missing")),
            }
        }
        Ok(fds)
    }
}

/// A newer keeper's notice is skipped, but an unreadable reply must still end its caller's wait.
fn interpret(frame: &Frame) -> io::Result<Option<Reply>> {
    match Reply::decode(frame) {
        Ok(reply) => Ok(Some(reply)),
        Err(DecodeError::UnknownKind(_)) if frame.tag == 0 => Ok(None),
        Err(error @ DecodeError::UnknownKind(_)) => Ok(Some(Reply::Error(ErrorReply {
            code: ErrorCode::Unsupported,
            errno: 0,
            message: format!("keeper answered with an {error}"),
        }))),
        Err(error) => Err(garbled(error)),
    }
}

fn too_large(error: FrameError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

fn garbled(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
