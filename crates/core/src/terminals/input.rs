//! Bytes on their way to a child: in order, bounded, never blocking.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use parking_lot::Mutex;
use rookery_model::{Error, Result};
use rustix::io::Errno;
use tokio::sync::{Notify, futures::Notified};

/// Bytes that may wait for a child that does not read. One larger write is taken when nothing waits.
const MAX_QUEUED: usize = 1 << 20;

/// The way in to one terminal.
pub(crate) struct Input {
    pty: Arc<OwnedFd>,
    queue: Mutex<Queue>,
    /// Told whenever the child took something.
    room: Notify,
}

#[derive(Default)]
struct Queue {
    bytes: VecDeque<u8>,
    is_closed: bool,
    /// How often what waited was dropped.
    dropped: u64,
}

impl Queue {
    fn forget(&mut self) {
        self.dropped += u64::from(!self.bytes.is_empty());
        self.bytes = VecDeque::new();
    }
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepted {
    /// The child's side has all of it.
    Written,
    /// Some waits until the child reads; the terminal's task must watch for that.
    Queued,
}

impl Input {
    pub(crate) fn new(pty: Arc<OwnedFd>) -> Input {
        Input { pty, queue: Mutex::default(), room: Notify::new() }
    }

    /// Takes bytes for the child. Fails at once when it does not read or is gone.
    pub(crate) fn write(&self, mut bytes: &[u8]) -> Result<Accepted> {
        let mut queue = self.queue.lock();
        if queue.is_closed {
            return Err(Error::closed("the terminal is closed"));
        }
        if queue.bytes.is_empty() {
            bytes = &bytes[write_some(&self.pty, bytes)..];
        } else if queue.bytes.len() + bytes.len() > MAX_QUEUED {
            return Err(Error::busy("the program in the terminal does not read its input"));
        }
        if bytes.is_empty() && queue.bytes.is_empty() {
            return Ok(Accepted::Written);
        }
        queue.bytes.extend(bytes);
        Ok(Accepted::Queued)
    }

    /// Resolves when the child took something after this was called; listens from the call on.
    pub(crate) fn room(&self) -> Notified<'_> {
        self.room.notified()
    }

    pub(crate) fn is_pending(&self) -> bool {
        !self.queue.lock().bytes.is_empty()
    }

    /// How often what waited was dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.queue.lock().dropped
    }

    /// Writes what waits, as far as the child takes it. True when nothing is left.
    pub(crate) fn flush(&self) -> bool {
        let mut queue = self.queue.lock();
        loop {
            let (front, _) = queue.bytes.as_slices();
            if front.is_empty() {
                queue.bytes.shrink_to(4096);
                return true;
            }
            let put = write_some(&self.pty, front);
            if put == 0 {
                return false;
            }
            queue.bytes.drain(..put);
            self.room.notify_waiters();
        }
    }

    /// Refuses everything from now on and drops what waits.
    pub(crate) fn close(&self) {
        let mut queue = self.queue.lock();
        queue.is_closed = true;
        queue.forget();
        self.room.notify_waiters();
    }

    /// Drops what waits, because it will never be read.
    pub(crate) fn discard(&self) {
        self.queue.lock().forget();
        self.room.notify_waiters();
    }
}

/// Bytes the kernel took. A PTY whose other side is gone takes and forgets everything.
fn write_some(pty: &OwnedFd, bytes: &[u8]) -> usize {
    let mut put = 0;
    while put < bytes.len() {
        match rustix::io::write(pty, &bytes[put..]) {
            Ok(0) => break,
            Ok(count) => put += count,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            Err(_) => return bytes.len(),
        }
    }
    put
}
