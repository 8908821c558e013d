//! What one connection received of one session, and what is new since.

use std::time::{Duration, Instant};

use bytes::Bytes;
use rookery_core::{Progress, TerminalHandle};
use rookery_wire::{Rejected, rpc};
use serde::Serialize;
use tokio::sync::watch;

use super::{LastSeen, Urgency, output};
use crate::wire::notification::{Changed, Exited, NAMES, Output};

/// How long the beginning of what may be a secret waits for its end.
const PATIENCE: Duration = Duration::from_millis(20);

/// What a connection knows of one session.
pub(super) struct SessionFeed {
    handle: TerminalHandle,
    progress: watch::Receiver<Progress>,
    sequence: Option<u64>,
    /// Up to where the transcript was sent.
    offset: u64,
    /// When output was first kept back.
    held_since: Option<Instant>,
    has_exited: bool,
    /// Whether the filter admits it.
    pub(super) is_wanted: bool,
}

/// What came of saying what is new.
pub(super) enum Flushed {
    /// Nothing is left to say.
    Everything,
    /// Something may be said at this time.
    HeldBack(Instant),
    /// The session is closed; there is nothing to say of it any more.
    Gone,
}

type Sent = Result<(), Rejected>;

impl SessionFeed {
    /// Knows nothing of a new session, and of an old one what it received before.
    pub(super) fn new(handle: TerminalHandle, is_new: bool, past: LastSeen) -> Self {
        Self {
            progress: handle.progress(),
            sequence: past.sequence,
            offset: if is_new { 0 } else { handle.transcript_end() },
            held_since: None,
            has_exited: past.has_exited,
            is_wanted: false,
            handle,
        }
    }

    /// What is to be remembered when there is no listener any more.
    pub(super) fn past(&self) -> LastSeen {
        LastSeen { sequence: self.sequence, has_exited: self.has_exited }
    }

    /// Where to hear of changes.
    pub(super) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }

    /// Sends what was not sent before. Each message counts as sent once it was taken.
    pub(super) fn say(
        &mut self,
        session: &str,
        urgency: Urgency,
        mut send: impl FnMut(Bytes) -> Sent,
    ) -> Result<Flushed, Rejected> {
        let now = *self.progress.borrow_and_update();
        if now.is_closed {
            return Ok(Flushed::Gone);
        }
        let sequence = now.sequence;
        if self.sequence != Some(sequence) {
            send(body(NAMES[0], &Changed { session, sequence }))?;
            self.sequence = Some(sequence);
        }
        let urgency = if now.exit.is_some() { Urgency::Last } else { urgency };
        let held = self.say_output(session, sequence, urgency, &mut send)?;
        if let (Some(status), false) = (now.exit, self.has_exited) {
            send(body(NAMES[2], &Exited { session, sequence, ending: status.into() }))?;
            self.has_exited = true;
        }
        Ok(held.map_or(Flushed::Everything, Flushed::HeldBack))
    }

    fn say_output(
        &mut self,
        session: &str,
        sequence: u64,
        urgency: Urgency,
        send: &mut impl FnMut(Bytes) -> Sent,
    ) -> Result<Option<Instant>, Rejected> {
        if self.handle.transcript_end() == self.offset {
            return Ok(None);
        }
        let piece = self.handle.transcript_since(self.offset, output::CONTEXT);
        let waited = self.held_since.is_some_and(|since| since.elapsed() >= PATIENCE);
        let ready = output::ready(&piece, urgency == Urgency::Last || waited);
        if !ready.text.is_empty() || piece.is_cut {
            let message = Output { session, sequence, output: &ready.text, dropped: piece.is_cut };
            send(body(NAMES[1], &message))?;
        }
        self.offset = piece.end - ready.kept_bytes;
        if ready.kept_bytes == 0 {
            self.held_since = None;
            return Ok(None);
        }
        let since = if ready.text.is_empty() { self.held_since } else { None };
        let since = *self.held_since.insert(since.unwrap_or_else(Instant::now));
        Ok(Some(since + PATIENCE))
    }
}

fn body(name: &str, params: &impl Serialize) -> Bytes {
    // Strings and numbers can always be written.
    rpc::notification(name, params).unwrap_or_default()
}
