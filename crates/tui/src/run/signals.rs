//! Signals that matter to the face.

use std::io;

use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

/// What a signal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// The terminal has another size.
    Resized,
    /// The process shall stop for a while.
    Stop,
    /// It was stopped by other means and goes on.
    Continued,
    /// It shall end, for this signal.
    End(i32),
}

pub(super) struct Signals {
    resized: Stream,
    stop: Stream,
    continued: Stream,
    terminate: Stream,
    hangup: Stream,
    interrupt: Stream,
}

impl Signals {
    pub(super) fn new() -> io::Result<Signals> {
        let raw = |signal_of: rustix::process::Signal| SignalKind::from_raw(signal_of.as_raw());
        Ok(Signals {
            resized: signal(SignalKind::window_change())?,
            stop: signal(raw(rustix::process::Signal::TSTP))?,
            continued: signal(raw(rustix::process::Signal::CONT))?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    pub(super) async fn next(&mut self) -> Signal {
        let end = |signal: rustix::process::Signal| Signal::End(signal.as_raw());
        tokio::select! {
            _ = self.resized.recv() => Signal::Resized,
            _ = self.stop.recv() => Signal::Stop,
            _ = self.continued.recv() => Signal::Continued,
            _ = self.terminate.recv() => end(rustix::process::Signal::TERM),
            _ = self.hangup.recv() => end(rustix::process::Signal::HUP),
            _ = self.interrupt.recv() => end(rustix::process::Signal::INT),
        }
    }
}
