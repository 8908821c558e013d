//! What a change of a screen asks the rest of the daemon to do, once the engine's lock is released.

use bytes::Bytes;
use rookery_term::ScreenEvent;
use tokio::sync::oneshot;

use super::engine::WaitEnd;

/// To be done after the engine's lock is released.
#[derive(Default)]
pub(crate) struct Effects {
    /// Answers to the program.
    pub(crate) replies: Vec<u8>,
    /// What the program said.
    pub(crate) events: Vec<ScreenEvent>,
    /// Waits to be answered.
    pub(crate) settled: Vec<(oneshot::Sender<WaitEnd>, WaitEnd)>,
    /// Bytes for the raw log.
    pub(crate) raw: Option<Bytes>,
    /// The sequence number now.
    pub(crate) sequence: u64,
    /// Offset in the stream behind the bytes that brought this about.
    pub(crate) end: u64,
}

impl Effects {
    /// Whether nothing must be done that a crash could cut off.
    pub(crate) fn is_quiet(&self) -> bool {
        self.replies.is_empty() && self.events.is_empty() && self.raw.is_none()
    }
}
