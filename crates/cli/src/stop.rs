//! Requests to end the running command: Ctrl-C, SIGTERM, or a terminal that was closed.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::{Failure, Outcome};

/// Waits for such a signal; once this exists, the signals no longer kill the process.
pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    is_hung_up: bool,
}

impl Stop {
    pub(crate) fn new() -> Outcome<Self> {
        let watch = |kind| signal(kind).map_err(Failure::doing("cannot install signal handlers"));
        Ok(Self {
            interrupt: watch(SignalKind::interrupt())?,
            terminate: watch(SignalKind::terminate())?,
            hangup: watch(SignalKind::hangup())?,
            is_hung_up: false,
        })
    }

    /// Waits for a signal; returns the exit code that a shell would show for it.
    pub(crate) async fn requested(&mut self) -> u8 {
        let signal = tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.hangup.recv() => SignalKind::hangup(),
        };
        self.is_hung_up |= signal == SignalKind::hangup();
        u8::try_from(signal.as_raw_value()).unwrap_or(0).saturating_add(128)
    }

    /// Whether the terminal went away, as far as it is known by now.
    pub(crate) fn is_hung_up(&self) -> bool {
        self.is_hung_up
    }
}
