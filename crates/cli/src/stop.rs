//! The wish of whoever runs a command that it end: Ctrl-C, a signal, a terminal that went away.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::{Failure, Outcome};

/// Waits for the wish; from its making on the process does not die of it.
pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    is_hung_up: bool,
}

impl Stop {
    pub(crate) fn new() -> Outcome<Self> {
        let watch = |kind| signal(kind).map_err(Failure::doing("cannot watch for signals"));
        Ok(Self {
            interrupt: watch(SignalKind::interrupt())?,
            terminate: watch(SignalKind::terminate())?,
            hangup: watch(SignalKind::hangup())?,
            is_hung_up: false,
        })
    }

    /// Ends when the wish is there; gives the code a shell would show for that signal.
    pub(crate) async fn wished(&mut self) -> u8 {
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
