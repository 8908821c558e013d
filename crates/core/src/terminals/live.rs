//! One live terminal: its engine, its way in, and the notes its task acts upon.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rookery_model::{Error, ExitStatus, Home, Origin, Result, Size, TerminalId, Timestamp};
use rookery_term::WaitId;
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::timeout;

use super::attach::{Attachment, Output};
use super::capture::Capture;
use super::effects::Effects;
use super::engine::Engine;
use super::input::{Accepted, Input};
use super::keys::Keys;
use super::meta::Meta;
use super::usage::Usage;
use crate::clock::Clock;

/// What other tasks ask of the task of a terminal.
#[derive(Default)]
struct Notes {
    exit: Option<(ExitStatus, Timestamp)>,
    fed: VecDeque<Feed>,
    is_detached: bool,
}

/// Pieces of output that may wait for a task.
const MAX_FED: usize = 64;

/// Output that does not come from the child.
pub(crate) struct Feed {
    pub(crate) bytes: Vec<u8>,
    /// Told when everything was done that it asks for.
    pub(crate) done: oneshot::Sender<()>,
}

/// What a task finds among its notes.
pub(crate) enum Note {
    Nothing,
    Exited(ExitStatus, Timestamp),
    FeedResult(Feed),
    Detached,
}

/// How far a terminal has come; what waits for news waits for a change of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Raised by every chunk of output and every resize.
    pub sequence: u64,
    /// Whether the child is gone, or counts as gone because it was killed.
    pub is_finished: bool,
    /// How the child ended, once that is known.
    pub exit: Option<ExitStatus>,
    /// Whether the terminal was closed; nothing more will come.
    pub is_closed: bool,
}

/// A terminal is still once it printed nothing for this long.
const STILL: Duration = Duration::from_millis(100);
/// One that never is still is taken to be after this long.
const LONGEST: Duration = Duration::from_secs(1);

impl Progress {
    /// Waits until a terminal is still, within reason: a good moment to look at it.
    pub async fn settle(progress: &mut watch::Receiver<Progress>) {
        let still = async {
            while timeout(STILL, progress.changed()).await.is_ok_and(|changed| changed.is_ok()) {}
        };
        let _ = timeout(LONGEST, still).await;
    }
}

pub(crate) struct Live {
    pub(crate) id: TerminalId,
    pub(crate) pid: u32,
    pub(crate) pty: Arc<OwnedFd>,
    pub(crate) input: Input,
    /// What clients sent last.
    pub(crate) keys: Keys,
    pub(crate) clock: Clock,
    /// What the keeper remembers of it, in case another keeper takes over.
    pub(crate) meta: Vec<u8>,
    /// Who opened it.
    pub(crate) origin: Origin,
    pub(crate) capture: Capture,
    pub(crate) usage: Usage,
    engine: Mutex<Engine>,
    notes: Mutex<Notes>,
    wake: Notify,
    progress: watch::Sender<Progress>,
    exit: watch::Sender<Option<ExitStatus>>,
    killed: AtomicBool,
    /// The last signal that a client had sent; 0 for none.
    signalled: AtomicI32,
}

impl Live {
    pub(crate) fn new(
        id: TerminalId,
        pid: u32,
        pty: OwnedFd,
        engine: Engine,
        clock: Clock,
        meta: Vec<u8>,
        capture: Capture,
    ) -> Live {
        let pty = Arc::new(pty);
        let sequence = engine.screen().sequence();
        let unknown = Origin::Agent(Home::Unknown);
        Live {
            id,
            pid,
            origin: Meta::decode(&meta).map_or(unknown, |meta| meta.origin),
            input: Input::new(Arc::clone(&pty)),
            keys: Keys::default(),
            pty,
            clock,
            meta,
            capture,
            usage: Usage::default(),
            engine: Mutex::new(engine),
            notes: Mutex::default(),
            wake: Notify::new(),
            progress: watch::Sender::new(Progress {
                sequence,
                is_finished: false,
                exit: None,
                is_closed: false,
            }),
            exit: watch::Sender::new(None),
            killed: AtomicBool::new(false),
            signalled: AtomicI32::new(0),
        }
    }

    /// Runs `work` on the engine. Short: the reading task waits meanwhile.
    pub(crate) fn with_engine<T>(&self, work: impl FnOnce(&mut Engine) -> T) -> T {
        work(&mut self.engine.lock())
    }

    /// Does what can be done without the world: answers the program and those who wait.
    pub(crate) fn carry_out(&self, effects: &mut Effects) {
        self.answer(&effects.replies);
        for (waiter, end) in effects.settled.drain(..) {
            let _ = waiter.send(end);
        }
        self.report(|progress| progress.sequence = effects.sequence.max(progress.sequence));
    }

    /// Tells who waits for news, if this is any.
    fn report(&self, change: impl FnOnce(&mut Progress)) {
        self.progress.send_if_modified(|progress| {
            let before = *progress;
            change(progress);
            *progress != before
        });
    }

    /// Answers a question of the program.
    pub(crate) fn answer(&self, reply: &[u8]) {
        if !reply.is_empty() {
            // A program that asks without reading gets no answer; that is its own affair.
            let _ = self.pass(reply).map(|()| self.capture.add(reply));
        }
    }

    /// Sends what the terminal says, unlike what a client writes to the child.
    pub(crate) fn send_by_hand(&self, bytes: &[u8]) -> Result<()> {
        self.write(bytes)?;
        self.capture.add(bytes);
        Ok(())
    }

    /// Sends what a client wants the child to have.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        self.pass(bytes)?;
        self.keys.add(bytes);
        Ok(())
    }

    fn pass(&self, bytes: &[u8]) -> Result<()> {
        if self.input.write(bytes)? == Accepted::Queued {
            self.wake.notify_one();
        }
        Ok(())
    }

    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Makes the task look at its deadlines again.
    pub(crate) fn poke(&self) {
        self.wake.notify_one();
    }

    /// Has the task take output that does not come from the child; resolves when it is done.
    pub(crate) fn feed(&self, bytes: Vec<u8>) -> Result<oneshot::Receiver<()>> {
        let (done, result) = oneshot::channel();
        let mut notes = self.notes.lock();
        if notes.is_detached {
            return Err(Error::closed("the terminal is closed"));
        }
        if notes.fed.len() >= MAX_FED {
            return Err(Error::busy("too much output waits for this terminal"));
        }
        notes.fed.push_back(Feed { bytes, done });
        drop(notes);
        self.wake.notify_one();
        Ok(result)
    }

    pub(crate) fn child_exited(&self, status: ExitStatus, at: Timestamp) {
        self.notes.lock().exit = Some((status, at));
        self.wake.notify_one();
    }

    /// Lets go of the terminal without ending it: saves its state and stops its task.
    pub(crate) fn detach(&self) {
        self.with_engine(Engine::checkpoint);
        self.stop_task();
    }

    /// Stops the task and tells everyone who waits or reads.
    pub(crate) fn shut(&self) {
        self.stop_task();
        self.input.close();
        self.with_engine(Engine::close);
        self.report(|progress| progress.is_closed = true);
    }

    fn stop_task(&self) {
        let mut notes = self.notes.lock();
        notes.is_detached = true;
        // Who waits for one of them is notified by its end.
        notes.fed.clear();
        drop(notes);
        self.wake.notify_one();
    }

    pub(crate) fn next_note(&self) -> Note {
        let mut notes = self.notes.lock();
        if notes.is_detached {
            return Note::Detached;
        }
        if let Some(feed) = notes.fed.pop_front() {
            return Note::FeedResult(feed);
        }
        match notes.exit.take() {
            Some((status, at)) => Note::Exited(status, at),
            None => Note::Nothing,
        }
    }

    /// The child is gone and all its output was read.
    pub(crate) fn finish(&self, status: ExitStatus) {
        self.input.discard();
        let now = self.clock.now();
        let mut effects = self.with_engine(|engine| {
            let effects = engine.end(now);
            engine.taps().send(&Output::Exited(status));
            engine.checkpoint();
            effects
        });
        // Whoever is notified by what follows must find the child gone.
        self.exit.send_replace(Some(status));
        self.carry_out(&mut effects);
        self.report(|progress| {
            progress.is_finished = true;
            progress.exit = Some(status);
        });
    }

    /// Marks the terminal as killed: waits end now, whatever the child does. An error says it was before.
    pub(crate) fn begin_kill(&self) -> Result<()> {
        let was_killed = self.killed.swap(true, Ordering::AcqRel);
        if was_killed && self.exit_status().is_some() {
            return Err(Error::closed("the terminal was killed before"));
        }
        self.input.close();
        let now = self.clock.now();
        let mut effects = self.with_engine(|engine| engine.end(now));
        self.carry_out(&mut effects);
        self.report(|progress| progress.is_finished = true);
        Ok(())
    }

    pub(crate) fn note_signal(&self, signal: i32) {
        self.signalled.store(signal, Ordering::Release);
    }

    /// Whether an end is what a client has asked for.
    pub(crate) fn is_asked_for(&self, status: ExitStatus) -> bool {
        let signal = self.signalled.load(Ordering::Acquire);
        // Shells and many programs end with this code when a signal ends them.
        let codes = [ExitStatus::Signal(signal), ExitStatus::Code(128 + signal)];
        self.killed.load(Ordering::Acquire) || (signal != 0 && codes.contains(&status))
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.killed.load(Ordering::Acquire) || self.exit_status().is_some()
    }

    pub(crate) fn exit_status(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }

    /// Resolves when the child is gone.
    pub(crate) async fn exited(&self) -> ExitStatus {
        let mut exit = self.exit.subscribe();
        match exit.wait_for(Option::is_some).await {
            Ok(status) => status.unwrap_or(ExitStatus::Unknown),
            Err(_) => ExitStatus::Unknown,
        }
    }

    pub(crate) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    pub(crate) fn cancel_wait(&self, id: WaitId) {
        self.with_engine(|engine| engine.cancel_wait(id));
    }

    /// Shows other colors; a program that asked for it is notified.
    pub(crate) fn set_palette(&self, palette: &rookery_term::Palette) {
        let reply = self.with_engine(|engine| engine.set_palette(palette.clone()));
        self.answer(&reply);
    }

    pub(crate) fn pending_waits(&self) -> usize {
        self.with_engine(|engine| engine.pending_waits())
    }

    pub(crate) fn size(&self) -> Size {
        let size = self.with_engine(|engine| engine.screen().size());
        Size::new(size.rows, size.cols)
            .map(|known| known.with_pixels(size.pixel_width, size.pixel_height))
            .unwrap_or(Size::DEFAULT)
    }

    pub(crate) fn attach(self: &Arc<Self>) -> Attachment {
        let size = self.size();
        self.with_engine(|engine| {
            let redraw = engine.screen().redraw();
            let stream = engine.taps().add(Arc::clone(self));
            Attachment { redraw, size, stream }
        })
    }

    /// Paints the screen anew for a reader that lagged, which follows again from here.
    pub(crate) fn resync(&self, lags: &AtomicBool) -> Vec<u8> {
        self.with_engine(|engine| {
            lags.store(false, Ordering::Release);
            engine.screen().redraw()
        })
    }
}
