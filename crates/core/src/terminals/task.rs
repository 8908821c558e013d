//! The task of one terminal: reads, parses, writes, keeps its deadlines, sees the child off.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rookery_model::{Activity, Event, ExitStatus, OnExit, TerminalId, TerminalState, Timestamp};
use rookery_term::ScreenEvent;
use tokio::io::Interest;
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::effects::Effects;
use super::engine::{Engine, ReadOutcome};
use super::live::{Feed, Live, Note};
use crate::core::Core;
use crate::rooms::Terminals;

/// Reads in a row before other terminals of the shard get their turn.
const READS_IN_A_ROW: usize = 16;

/// Reads at most to collect what a dead child left behind.
const LAST_READS: usize = 1024;

/// Bytes that are taken at once of output from elsewhere, as many as one read may bring.
const FEED_BYTES: usize = 16 << 10;

/// A closed PTY may be opened again by a process that kept its name; look now and then until the child ends.
const REOPEN_INTERVAL: Duration = Duration::from_millis(250);

/// Bells within this time of another count as one.
const BELL_INTERVAL: Duration = Duration::from_secs(1);

/// The PTY as the runtime's reactor wants it.
struct Pty(Arc<OwnedFd>);

impl AsRawFd for Pty {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadProgress {
    /// Nothing more for now.
    Dry,
    /// There may be more.
    More,
    /// The child's side is closed.
    Ended,
}

/// Runs until the terminal is let go.
pub(super) async fn run(core: Core, live: Arc<Live>, raw_log: Option<mpsc::Sender<Bytes>>) {
    let pty = match watch(Pty(Arc::clone(&live.pty)), Interest::READABLE) {
        Ok(pty) => pty,
        Err(error) => {
            tracing::error!(%error, terminal = %live.id, "cannot watch a terminal");
            return;
        }
    };
    let mut task = Task { core, live, raw_log, reopen_at: None, last_bell: None };
    task.run(&pty).await;
}

/// The PTY while input waits for the child. It is watched for room only then, by a descriptor of its own: else the
/// terminal's task would be woken once more by everything that is typed.
fn watch_room(live: &Live) -> std::io::Result<AsyncFd<Pty>> {
    watch(Pty(Arc::new(live.pty.try_clone()?)), Interest::WRITABLE)
}

#[expect(
    unsafe_code,
    reason = "registering a descriptor with the reactor is a promise about its lifetime"
)]
fn watch(pty: Pty, interest: Interest) -> std::io::Result<AsyncFd<Pty>> {
    // SAFETY: `Pty` owns a share of the descriptor, so it stays open for as long as it is registered,
    // and `as_raw_fd` always gives that same descriptor.
    unsafe { AsyncFd::register_with_interest(pty, interest) }.map_err(std::io::Error::from)
}

async fn writable(room: Option<&AsyncFd<Pty>>) -> std::io::Result<AsyncFdReadyGuard<'_, Pty>> {
    match room {
        Some(room) => room.writable().await,
        None => std::future::pending().await,
    }
}

struct Task {
    core: Core,
    live: Arc<Live>,
    raw_log: Option<mpsc::Sender<Bytes>>,
    /// The PTY reported its end; read again at this time.
    reopen_at: Option<Instant>,
    /// When the bell was last reported.
    last_bell: Option<Instant>,
}

impl Task {
    async fn run(&mut self, pty: &AsyncFd<Pty>) {
        let mut room = None;
        loop {
            loop {
                match self.live.next_note() {
                    Note::Detached => return,
                    Note::Exited(status, at) => self.on_child_exit(status, at).await,
                    Note::FeedResult(feed) => self.feed(feed).await,
                    Note::Nothing => break,
                }
            }
            let deadline = self.deadline();
            self.watch_input(&mut room);
            tokio::select! {
                biased;
                () = self.live.woken() => {}
                ready = pty.readable(), if self.reopen_at.is_none() => {
                    let Ok(mut ready) = ready else { return };
                    match self.pump(READS_IN_A_ROW).await {
                        ReadProgress::Dry => ready.clear_ready(),
                        ReadProgress::More => tokio::task::yield_now().await,
                        ReadProgress::Ended => self.ended(),
                    }
                }
                ready = writable(room.as_ref()), if room.is_some() => {
                    let Ok(mut ready) = ready else { return };
                    if !self.live.input.flush() {
                        ready.clear_ready();
                    }
                }
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    self.on_time().await;
                }
            }
        }
    }

    /// Watches for room while something that was typed waits for it.
    fn watch_input(&self, room: &mut Option<AsyncFd<Pty>>) {
        if !self.live.input.is_pending() {
            *room = None;
        } else if room.is_none() {
            match watch_room(&self.live) {
                Ok(watched) => *room = Some(watched),
                // Whoever waits for it hears that it was dropped, instead of waiting forever.
                Err(error) => {
                    tracing::warn!(%error, terminal = %self.live.id, "input cannot wait for a program");
                    self.live.input.discard();
                }
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let clock = self.live.clock;
        let engine = self.live.with_engine(|engine| engine.deadline());
        let engine = engine.map(|at| Instant::from_std(clock.instant(at)));
        [engine, self.reopen_at].into_iter().flatten().min()
    }

    async fn on_time(&mut self) {
        if self.reopen_at.is_some_and(|at| at <= Instant::now()) {
            self.reopen_at = None;
        }
        let now = self.live.clock.now();
        let effects = self.live.with_engine(|engine| engine.on_time(now));
        self.carry_out(effects).await;
    }

    /// Reads and parses until nothing is left, but not forever.
    async fn pump(&mut self, reads: usize) -> ReadProgress {
        for _ in 0..reads {
            let now = self.live.clock.now();
            let outcome = self.live.with_engine(|engine| engine.read(&self.live.pty, now));
            match outcome {
                ReadOutcome::Bytes(effects) => self.carry_out(effects).await,
                ReadOutcome::WouldBlock => return ReadProgress::Dry,
                ReadOutcome::Ended => return ReadProgress::Ended,
            }
        }
        ReadProgress::More
    }

    /// Takes output from elsewhere just as if it had been read.
    async fn feed(&mut self, Feed { bytes, done }: Feed) {
        for piece in bytes.chunks(FEED_BYTES) {
            let now = self.live.clock.now();
            let effects = self.live.with_engine(|engine| engine.feed(piece, now));
            self.carry_out(effects).await;
        }
        let _ = done.send(());
    }

    async fn carry_out(&mut self, mut effects: Effects) {
        let is_quiet = effects.is_quiet();
        self.quiet_bell(&mut effects.events);
        // What a crash cuts off is done again by the next daemon. An answer must not be given
        // twice, so it waits for what takes longer.
        let has_news = !effects.events.is_empty();
        let answer = if has_news { std::mem::take(&mut effects.replies) } else { Vec::new() };
        self.live.carry_out(&mut effects);
        if is_quiet {
            return;
        }
        if has_news {
            self.core
                .terminals()
                .note_screen_events(self.live.id, effects.events, effects.end)
                .await;
            self.live.answer(&answer);
        }
        if let (Some(raw), Some(log)) = (effects.raw, &self.raw_log) {
            // A log that cannot be written ends its receiver; the terminal goes on.
            let _ = log.send(raw).await;
        }
        self.live.with_engine(Engine::mark_handled);
    }

    /// A program that keeps ringing is reported once a second, so that it cannot flood the log.
    fn quiet_bell(&mut self, events: &mut Vec<ScreenEvent>) {
        if !events.contains(&ScreenEvent::Bell) {
            return;
        }
        let now = Instant::now();
        if self.last_bell.is_some_and(|last| now < last + BELL_INTERVAL) {
            events.retain(|event| *event != ScreenEvent::Bell);
        } else {
            self.last_bell = Some(now);
        }
    }

    fn ended(&mut self) {
        let is_lost = self
            .core
            .terminals()
            .describe(self.live.id)
            .is_ok_and(|terminal| terminal.state == TerminalState::Lost);
        if is_lost && self.live.exit_status().is_none() {
            self.live.child_exited(ExitStatus::Unknown, crate::clock::wall());
        }
        // Once the child is gone for good there is nothing left to look for.
        let interval =
            if self.live.exit_status().is_some() { REOPEN_INTERVAL * 240 } else { REOPEN_INTERVAL };
        self.reopen_at = Some(Instant::now() + interval);
    }

    /// The child is gone: read what it left, then tell everyone.
    async fn on_child_exit(&mut self, status: ExitStatus, at: Timestamp) {
        if self.pump(LAST_READS).await == ReadProgress::Ended {
            self.reopen_at = Some(Instant::now() + REOPEN_INTERVAL * 240);
        }
        self.core.terminals().record_exit(self.live.id, status, at).await;
        self.live.finish(status);
        self.core.terminals().end_if_closed(self.live.id);
    }
}

impl Terminals {
    /// Records that a child ended, once.
    pub(crate) async fn record_exit(&self, id: TerminalId, status: ExitStatus, at: Timestamp) {
        let recorded = self
            .core
            .transact_durably(|tx| {
                // Closed meanwhile: how it ended is not asked for.
                let Ok(terminal) = tx.world.terminal_mut(id) else { return Ok(()) };
                if terminal.is_alive() {
                    terminal.state = TerminalState::Exited(status);
                    terminal.exited_at = Some(at);
                    terminal.activity = Activity::default();
                    let (project, on_exit) = (terminal.project, terminal.on_exit);
                    tx.save_terminal(id);
                    tx.emit(Event::TerminalExited { id, status });
                    match on_exit {
                        OnExit::Keep => tx.deselect(id, project),
                        OnExit::Close => tx.close_terminal(id)?,
                    }
                }
                Ok(())
            })
            .await;
        if let Err(error) = recorded {
            tracing::warn!(%error, terminal = %id, "cannot record the end of a terminal");
        }
        self.close_oldest_ended();
    }

    /// Ended terminals are kept to be looked at, but not without bound.
    fn close_oldest_ended(&self) {
        let mut ended: Vec<(Option<Timestamp>, TerminalId)> = {
            let world = self.core.look();
            let ended = world.terminals.values().filter(|terminal| !terminal.is_alive());
            ended.map(|terminal| (terminal.exited_at, terminal.id)).collect()
        };
        let excess = ended.len().saturating_sub(self.core.inner.config.limits.keep_exited);
        ended.sort_unstable();
        for (_, id) in ended.into_iter().take(excess) {
            let core = self.core.clone();
            tokio::task::spawn_local(async move { core.terminals().close(id).await });
        }
    }
}
