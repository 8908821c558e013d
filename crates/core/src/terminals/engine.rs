//! The engine of one terminal: ring, screen and pending waits, behind one lock.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rookery_keeper::ring::Ring;
use rookery_model::{Error, Result, Size};
use rookery_term::matcher::TRANSCRIPT_TAIL;
use rookery_term::osc::ShellMark;
use rookery_term::text::{PartialEnd, tail_chars, whole_chars_len};
use rookery_term::{
    Detail, FeedResult, Matched, Matcher, Palette, Screen, Snapshot, Tail, Transcript, WaitId, tail,
};
use rustix::io::Errno;
use tokio::sync::oneshot;

use super::attach::{Followers, Output};
use super::blocks::RingBlocks;
use super::display::{Display, Displays};
use super::effects::Effects;
use super::handle::Seat;
pub(crate) use super::settings::{EngineSettings, screen_size};

/// A checkpoint is renewed after this much output, so that a restart replays little.
const CHECKPOINT_EVERY: u64 = 256 << 10;

/// How long synchronized output may hold the screen back.
const SYNC_TIMEOUT: Duration = Duration::from_millis(150);

/// A screen without output for this long gives memory back.
const IDLE_AFTER: Duration = Duration::from_secs(2);

/// Waits that may be pending on one terminal.
const MAX_WAITS: usize = 4096;

/// How a wait ended.
pub(crate) enum WaitEnd {
    Matched(Matched),
    Closed,
}

/// What one read of the PTY brought.
pub(crate) enum ReadOutcome {
    /// Output was read and parsed.
    Bytes(Effects),
    /// Nothing more for now.
    WouldBlock,
    /// The child's side is closed.
    Ended,
}

pub(crate) struct Engine {
    ring: Ring,
    screen: Screen,
    waiters: HashMap<WaitId, oneshot::Sender<WaitEnd>>,
    taps: Followers,
    last_checkpoint: u64,
    /// The size changed, so bytes so far must not be replayed at the new one.
    checkpoint_due: bool,
    sync_since: Option<Duration>,
    last_output: Duration,
    is_idle: bool,
    transcript_chars: usize,
    wants_raw: bool,
    cached: Option<Arc<Snapshot>>,
    pub(crate) displays: Displays,
}

/// The tail of the stream as the ring holds it.
struct RingTail<'a>(&'a Ring);

impl Transcript for RingTail<'_> {
    fn tail(&self) -> Tail {
        ring_tail(self.0, TRANSCRIPT_TAIL, PartialEnd::HoldBack)
    }
}

fn ring_tail(ring: &Ring, chars: usize, partial: PartialEnd) -> Tail {
    let wanted = chars.saturating_add(tail::CONTEXT);
    // A character has at most four bytes, so nothing before this can belong to the tail.
    let from = ring.end().saturating_sub(wanted as u64 * 4 + 4);
    Tail::new(tail_chars(ring.slices(from, ring.end()), wanted, partial), chars)
}

impl Engine {
    /// A fresh terminal.
    pub(crate) fn new(ring: Ring, settings: EngineSettings) -> Engine {
        let blocks = Box::new(RingBlocks(ring.blocks()));
        let screen = Screen::new(settings.screen_config(), blocks);
        Engine::around(ring, screen, 0, settings)
    }

    /// A terminal that lived on without us: replays what the ring holds since the last checkpoint.
    /// What was not acted upon yet comes back as effects; what the program said up to the offset `noted`
    /// is in the log already.
    pub(crate) fn replay(
        ring: Ring,
        settings: EngineSettings,
        noted: u64,
        now: Duration,
    ) -> (Engine, Effects) {
        let restored = ring.checkpoint().and_then(|checkpoint| {
            let blocks = Box::new(RingBlocks(ring.blocks()));
            let screen =
                Screen::restore(&checkpoint.blob, settings.screen_config(), blocks).ok()?;
            Some((screen, checkpoint.stream_offset))
        });
        let (screen, from) = restored.unwrap_or_else(|| {
            let blocks = Box::new(RingBlocks(ring.blocks()));
            (Screen::new(settings.screen_config(), blocks), ring.start())
        });
        let size = settings.size;
        let mut engine = Engine::around(ring, screen, from, settings);
        let end = engine.ring.end();
        let handled = engine.ring.handled().max(noted).clamp(from, end);
        engine.feed_range(from, handled, now);
        let fed = engine.feed_range(handled, end, now);
        // Numbers must not fall back; every byte could have been a chunk of its own.
        engine.screen.raise_sequence(engine.screen.sequence() + (end - from) + 1_000);
        if engine.screen.size() != size {
            engine.screen.resize(size, &RingTail(&engine.ring), now);
            engine.checkpoint_due = true;
        }
        let effects =
            Effects { replies: fed.replies, events: fed.events, end, ..Effects::default() };
        engine.checkpoint_if_due();
        (engine, effects)
    }

    fn around(
        ring: Ring,
        screen: Screen,
        last_checkpoint: u64,
        settings: EngineSettings,
    ) -> Engine {
        Engine {
            ring,
            screen,
            waiters: HashMap::new(),
            taps: Followers::default(),
            last_checkpoint,
            checkpoint_due: false,
            sync_since: None,
            last_output: Duration::ZERO,
            is_idle: true,
            transcript_chars: settings.transcript_chars,
            wants_raw: settings.wants_raw,
            cached: None,
            displays: Displays::default(),
        }
    }

    fn feed_range(&mut self, from: u64, to: u64, now: Duration) -> FeedResult {
        let mut all = FeedResult::default();
        let (first, second) = self.ring.slices(from, to);
        for chunk in first.chunks(16 << 10).chain(second.chunks(16 << 10)) {
            let fed = self.screen.feed(chunk, &RingTail(&self.ring), now);
            all.replies.extend(fed.replies);
            all.events.extend(fed.events);
        }
        all
    }

    /// Reads once into the ring and parses what came.
    pub(crate) fn read(&mut self, pty: &OwnedFd, now: Duration) -> ReadOutcome {
        loop {
            return match self.ring.read_from(pty.as_fd()) {
                Ok(0) => ReadOutcome::Ended,
                Ok(count) => ReadOutcome::Bytes(self.digest(count as u64, now)),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    ReadOutcome::WouldBlock
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    if error.raw_os_error() != Some(Errno::IO.raw_os_error()) {
                        tracing::warn!(%error, "cannot read a terminal");
                    }
                    ReadOutcome::Ended
                }
            };
        }
    }

    /// Takes a piece of output that did not come from the child.
    pub(crate) fn feed(&mut self, bytes: &[u8], now: Duration) -> Effects {
        self.ring.push(bytes);
        self.digest(bytes.len() as u64, now)
    }

    fn digest(&mut self, count: u64, now: Duration) -> Effects {
        self.ring.publish();
        let end = self.ring.end();
        let (first, second) = self.ring.slices(end - count, end);
        let joined;
        let bytes = if second.is_empty() {
            first
        } else {
            joined = [first, second].concat();
            &joined
        };
        let copy = (self.wants_raw || !self.taps.is_empty()).then(|| Bytes::copy_from_slice(bytes));
        let fed = self.screen.feed(bytes, &RingTail(&self.ring), now);
        self.last_output = now;
        self.is_idle = false;
        if self.screen.is_sync_pending() {
            self.sync_since.get_or_insert(now);
        } else {
            self.sync_since = None;
        }
        if let Some(copy) = &copy {
            self.taps.send(&Output::Bytes(copy.clone()));
        }
        let effects = self.effects(fed, copy.filter(|_| self.wants_raw));
        if end - self.last_checkpoint >= CHECKPOINT_EVERY {
            self.checkpoint_due = true;
        }
        self.checkpoint_if_due();
        if effects.is_quiet() {
            self.ring.set_handled(end);
        }
        effects
    }

    fn effects(&mut self, fed: FeedResult, raw: Option<Bytes>) -> Effects {
        let settled = fed
            .matched
            .into_iter()
            .filter_map(|matched| {
                Some((self.waiters.remove(&matched.id)?, WaitEnd::Matched(matched)))
            })
            .collect();
        Effects {
            replies: fed.replies,
            events: fed.events,
            settled,
            raw,
            sequence: self.screen.sequence(),
            end: self.ring.end(),
        }
    }

    fn settle_matched(&mut self, matched: Vec<Matched>) -> Effects {
        self.effects(FeedResult { matched, ..FeedResult::default() }, None)
    }

    /// Everything read so far was acted upon.
    pub(crate) fn mark_handled(&mut self) {
        self.ring.set_handled(self.ring.end());
    }

    fn checkpoint_if_due(&mut self) {
        if self.checkpoint_due && self.screen.can_checkpoint() {
            self.checkpoint();
        }
    }

    /// Saves the state beside the ring, so that a restart replays only what comes after.
    pub(crate) fn checkpoint(&mut self) {
        if !self.screen.can_checkpoint() {
            return;
        }
        let blob = self.screen.checkpoint();
        match self.ring.write_checkpoint(self.ring.end(), &blob) {
            Ok(()) => {
                self.last_checkpoint = self.ring.end();
                self.checkpoint_due = false;
            }
            Err(error) => tracing::warn!(%error, "cannot save the state of a terminal"),
        }
    }

    /// When this engine next wants attention without output.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let sync = self.sync_since.map(|since| since + SYNC_TIMEOUT);
        let idle = (!self.is_idle).then(|| self.last_output + IDLE_AFTER);
        [sync, idle, self.screen.next_due()].into_iter().flatten().min()
    }

    /// A deadline may have passed: ends overdue synchronized output, judges waits for silence, frees memory.
    pub(crate) fn on_time(&mut self, now: Duration) -> Effects {
        let mut effects = Effects::default();
        if self.sync_since.is_some_and(|since| now >= since + SYNC_TIMEOUT) {
            self.sync_since = None;
            let fed = self.screen.stop_sync(&RingTail(&self.ring), now);
            effects = self.effects(fed, None);
        }
        let matched = self.screen.look_at_all(&RingTail(&self.ring), now);
        let silent = self.settle_matched(matched);
        effects.settled.extend(silent.settled);
        if !self.is_idle && now >= self.last_output + IDLE_AFTER {
            self.is_idle = true;
            self.cached = None;
            self.screen.shrink();
        }
        effects.sequence = self.screen.sequence();
        effects
    }

    pub(crate) fn resize(&mut self, size: Size, now: Duration) -> Effects {
        if self.screen.size().cols != size.cols() {
            self.displays.rewrapped();
        }
        let matched = self.screen.resize(screen_size(size), &RingTail(&self.ring), now);
        self.checkpoint_due = true;
        self.checkpoint_if_due();
        self.taps.send(&Output::Resized(size));
        let mut effects = self.settle_matched(matched);
        // A program may have asked to be informed of its size in its input.
        effects.replies = self.screen.take_replies();
        effects
    }

    /// The child is gone or counts as gone: waits are settled for good.
    pub(crate) fn end(&mut self, now: Duration) -> Effects {
        let (matched, hopeless) = self.screen.process_exited(&RingTail(&self.ring), now);
        let mut effects = self.settle_matched(matched);
        let closed = hopeless
            .into_iter()
            .filter_map(|id| Some((self.waiters.remove(&id)?, WaitEnd::Closed)));
        effects.settled.extend(closed);
        effects
    }

    /// The terminal goes away: every wait ends, every reader is notified.
    pub(crate) fn close(&mut self) {
        for (_, waiter) in self.waiters.drain() {
            let _ = waiter.send(WaitEnd::Closed);
        }
        self.taps.clear();
    }

    /// Begins a wait: done at once, or pending under an id.
    pub(crate) fn wait(
        &mut self,
        matcher: Matcher,
        detail: Detail,
        is_once: bool,
        now: Duration,
    ) -> Result<std::result::Result<Matched, (WaitId, oneshot::Receiver<WaitEnd>)>> {
        if self.waiters.len() >= MAX_WAITS {
            return Err(Error::busy("too many waits are pending on this terminal"));
        }
        let can_outlive_exit = matcher.waits_for_stability();
        let (id, matched) = self.screen.wait(matcher, detail, &RingTail(&self.ring), now);
        if let Some(matched) = matched {
            return Ok(Ok(matched));
        }
        if self.screen.has_exited() && !can_outlive_exit {
            self.screen.cancel_wait(id);
            return Err(Error::closed("the program in the terminal has ended"));
        }
        if is_once {
            self.screen.cancel_wait(id);
            return Err(super::handle::timed_out());
        }
        let (sender, receiver) = oneshot::channel();
        self.waiters.insert(id, sender);
        Ok(Err((id, receiver)))
    }

    pub(crate) fn cancel_wait(&mut self, id: WaitId) {
        self.screen.cancel_wait(id);
        self.waiters.remove(&id);
    }

    pub(crate) fn pending_waits(&self) -> usize {
        self.waiters.len()
    }

    /// The screen now; taken once per sequence number and shared.
    pub(crate) fn snapshot(&mut self, detail: Detail) -> Arc<Snapshot> {
        let is_enough =
            |known: &Snapshot| known.sequence == self.screen.sequence() && known.detail() >= detail;
        match &self.cached {
            Some(snapshot) if is_enough(snapshot) => Arc::clone(snapshot),
            _ => {
                let snapshot = Arc::new(self.screen.view(detail));
                self.cached = Some(Arc::clone(&snapshot));
                snapshot
            }
        }
    }

    /// Changes the colors that programs have not set; returns what to tell the program.
    pub(crate) fn set_palette(&mut self, palette: Palette) -> Vec<u8> {
        self.cached = None;
        self.screen.set_palette(palette)
    }

    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }

    pub(super) fn display_and_screen(&mut self, seat: Seat) -> (&mut Display, &Screen) {
        (self.displays.of(seat), &self.screen)
    }

    pub(crate) fn taps(&mut self) -> &mut Followers {
        &mut self.taps
    }

    /// The newest characters of the stream, as many as were asked to be kept.
    pub(crate) fn transcript(&self) -> Tail {
        // Of a program that is gone nothing more will come.
        let is_over = self.screen.has_exited();
        let partial = if is_over { PartialEnd::Replace } else { PartialEnd::HoldBack };
        ring_tail(&self.ring, self.transcript_chars, partial)
    }

    /// Where the stream ends now, in bytes since the terminal was opened.
    pub(crate) fn end_offset(&self) -> u64 {
        self.ring.end()
    }

    /// What was printed after an offset, as far as it is kept, with the text right before it.
    pub(crate) fn transcript_since(&self, offset: u64, context_chars: usize) -> TranscriptChunk {
        let end = self.ring.end();
        let start = offset.clamp(self.ring.start(), end);
        let bytes = self.ring.slices(start, end);
        // Of a program that is gone nothing more will come, not even the rest of a character.
        let is_over = self.screen.has_exited();
        let whole = if is_over { end - start } else { whole_chars_len(bytes) as u64 };
        let (to, bytes) = (start + whole, self.ring.slices(start, start + whole));
        let mut text = tail_chars(bytes, self.transcript_chars + 1, PartialEnd::Replace);
        let is_cut =
            text.len() > self.transcript_chars && text.chars().count() > self.transcript_chars;
        if is_cut {
            text.remove(0);
        }
        let before = start.saturating_sub(context_chars as u64 * 4).max(self.ring.start());
        let context =
            tail_chars(self.ring.slices(before, start), context_chars, PartialEnd::Replace);
        let context = if is_cut { String::new() } else { context };
        TranscriptChunk { text, context, end: to, is_cut: is_cut || start > offset }
    }

    /// The last bytes that were printed after an offset, up to a limit, and the offset of the first.
    pub(crate) fn last_bytes_since(&self, offset: u64, limit: usize) -> (Vec<u8>, u64) {
        let end = self.ring.end();
        let kept = self.ring.start().max(end.saturating_sub(limit as u64));
        let start = offset.clamp(kept, end);
        let (first, second) = self.ring.slices(start, end);
        ([first, second].concat(), start)
    }

    /// Everything that a judgement of the screen is made of, of one moment.
    pub(crate) fn scene(&mut self) -> Scene {
        Scene {
            snapshot: self.snapshot(Detail::Text),
            transcript: self.transcript(),
            chars_written: self.screen.chars_written(),
            shell_marks: self.screen.shell_marks(),
            has_exited: self.screen.has_exited(),
        }
    }

    /// The ring's file, to hand to another keeper.
    pub(crate) fn ring_file(&self) -> Result<OwnedFd> {
        self.ring.file().map_err(|error| Error::failed(error.to_string()))
    }

    /// Bytes of the stream from an offset on, for a raw log that has to catch up.
    pub(crate) fn bytes_since(&self, offset: u64) -> Bytes {
        let (first, second) = self.ring.slices(offset, self.ring.end());
        Bytes::from([first, second].concat())
    }
}

/// A piece of the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptChunk {
    /// What was printed, escapes included.
    pub text: String,
    /// What stands right before it.
    pub context: String,
    /// The offset after it: ask for what comes after this next.
    pub end: u64,
    /// Whether its beginning was no longer kept.
    pub is_cut: bool,
}

/// A terminal at one moment.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The screen.
    pub snapshot: Arc<Snapshot>,
    /// The transcript as far as it is kept.
    pub transcript: Tail,
    /// Characters ever written.
    pub chars_written: u64,
    /// The newest marks of the shell, oldest first.
    pub shell_marks: Vec<ShellMark>,
    /// Whether the child is gone or counts as gone.
    pub has_exited: bool,
}
