//! Lines typed at this terminal while a turn runs. Input is read only while a question is open, so that a
//! question which is withdrawn leaves typed input to the next reader.

use std::{io, os::fd::OwnedFd};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    stdio::stdin,
    termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr},
};
use tokio::io::{Interest, unix::AsyncFd};

/// The longest line; a terminal gives no longer ones at once.
const LONGEST: usize = 8 * 1024;

/// The keyboard, line by line.
pub(super) struct Keyboard {
    tty: AsyncFd<OwnedFd>,
    typed: Vec<u8>,
}

impl Keyboard {
    #[expect(unsafe_code, reason = "a registered descriptor must stay valid")]
    pub(super) fn new() -> io::Result<Self> {
        // A descriptor of our own, so that it is not closed while it is registered.
        let own = rustix::io::fcntl_dupfd_cloexec(stdin(), 3)?;
        // SAFETY: an owned descriptor is the same one for as long as it lives.
        let tty = unsafe { AsyncFd::register_with_interest(own, Interest::READABLE) }?;
        Ok(Self { tty, typed: Vec::new() })
    }

    /// Forgets what was typed before it was asked for: it answers nothing.
    pub(super) fn forget(&mut self) {
        self.typed.clear();
        let _ = tcflush(stdin(), QueueSelector::IFlush);
    }

    /// The next line, none at the end. May be dropped at any time without losing anything.
    pub(super) async fn line(&mut self) -> io::Result<Option<String>> {
        loop {
            // Readiness is reported when it changes; input that is there already is found only by reading.
            if !has_input()? {
                self.tty.readable().await?.clear_ready();
                continue;
            }
            let mut buffer = [0; 1024];
            let count = match rustix::io::read(stdin(), &mut buffer) {
                Ok(count) => count,
                Err(Errno::INTR | Errno::AGAIN) => continue,
                Err(error) => return Err(error.into()),
            };
            self.typed.extend_from_slice(&buffer[..count]);
            if count == 0 && self.typed.is_empty() {
                return Ok(None);
            }
            let is_whole = self.typed.ends_with(b"\n") || count == 0;
            if is_whole || self.typed.len() >= LONGEST {
                let line = std::mem::take(&mut self.typed);
                return Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()));
            }
        }
    }
}

fn has_input() -> io::Result<bool> {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let stdin = stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut watched, Some(&now)) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Gives the terminal back as it was, whatever a line editor was in the middle of.
pub(super) struct Restore(Option<Termios>);

impl Restore {
    pub(super) fn later() -> Self {
        Self(tcgetattr(stdin()).ok())
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}
