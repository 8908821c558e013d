//! Signals that matter while attached.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal means to an attachment.
pub(super) enum Noticed {
    /// This terminal got another size.
    Resized,
    /// This process was stopped and goes on.
    Continued,
    /// This process is to end.
    End,
}

/// Signals that matter while attached.
pub(super) struct Signals {
    resized: Signal,
    continued: Signal,
    terminate: Signal,
    hangup: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            continued: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    pub(super) async fn next(&mut self) -> Noticed {
        tokio::select! {
            _ = self.resized.recv() => Noticed::Resized,
            _ = self.continued.recv() => Noticed::Continued,
            _ = self.terminate.recv() => Noticed::End,
            _ = self.hangup.recv() => Noticed::End,
            _ = self.interrupt.recv() => Noticed::End,
        }
    }

    pub(super) async fn end(&mut self) {
        while !matches!(self.next().await, Noticed::End) {}
    }
}
