//! The handle that dialects drive a terminal with.

use std::sync::Arc;
use std::time::Duration;

use rookery_host::{Family, Leftover, Root};
use rookery_keeper::protocol::{Request, Scope};
use rookery_model::{Error, ErrorKind, Event, Result, Size, TerminalId, ViewerId};
use rookery_term::keys::{KeyModes, KeyPress, encode};
use rookery_term::{Detail, Matched, Matcher, Modes, Snapshot, Tail, WaitId, matcher, paste};
use tokio::sync::watch;

use super::attach::Attachment;
use super::engine::{Scene, TranscriptChunk, WaitEnd};
use super::live::{Live, Progress};
use super::meta::Meta;
use super::open::session_mark;
use crate::core::Core;

/// How long a child may take to end after a hangup before it is killed.
const KILL_GRACE: Duration = Duration::from_millis(200);

/// How long the kernel may take to end a killed child.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// How often what left a session is looked for anew while it is killed.
const STRAY_ROUNDS: usize = 32;

/// How long a child may take nothing of its input before a writer gets an error.
const READ_PATIENCE: Duration = Duration::from_secs(1);

/// What becomes of processes that left a terminal's session (`setsid`, `nohup` and a double fork).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrayAction {
    /// They live on and are named: a person may have started a server there on purpose.
    Report,
    /// They end with the terminal.
    End,
}

/// A terminal to work with. Cheap to clone; methods fail with `Closed` once the terminal is gone.
#[derive(Clone)]
pub struct TerminalHandle {
    core: Core,
    live: Arc<Live>,
    viewer: Option<ViewerId>,
}

/// From where a terminal is looked at: a viewer, or the virtual window of the daemon.
pub(crate) type Seat = Option<ViewerId>;

/// A wait that came true.
#[derive(Clone, Debug)]
pub struct Waited {
    /// The screen and transcript of that moment.
    pub matched: Matched,
    /// How long it took.
    pub elapsed: Duration,
}

/// Gives a pending wait up when its caller goes away.
struct WaitGuard<'a>(&'a Live, WaitId);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.cancel_wait(self.1);
    }
}

impl TerminalHandle {
    pub(crate) fn new(core: Core, live: Arc<Live>) -> TerminalHandle {
        TerminalHandle { core, live, viewer: None }
    }

    /// The same as a viewer has it in front of it: scrolled, selected and typed into from there. Without
    /// one it is the desk's, and without a desk that of the virtual window.
    #[must_use]
    pub fn seen_by(&self, viewer: ViewerId) -> TerminalHandle {
        TerminalHandle { viewer: Some(viewer), ..self.clone() }
    }

    pub(super) fn seat(&self) -> Seat {
        self.viewer.or_else(|| self.core.look().desk)
    }

    pub(super) fn core(&self) -> &Core {
        &self.core
    }

    pub(super) fn live(&self) -> &Live {
        &self.live
    }

    pub fn id(&self) -> TerminalId {
        self.live.id
    }

    /// Whoever this handle works for may change the terminal.
    fn check(&self) -> Result<()> {
        self.core.check_origin(self.live.id, self.live.origin)
    }

    /// Sends bytes to the child, in order. Never waits: `Busy` if the child does not read, `Closed` after a kill.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        self.check()?;
        self.core.terminals().was_used(&self.live);
        self.live.write(bytes)
    }

    /// Sends bytes to the child; while others wait for it to read, waits as long as it does.
    /// `Busy` if it takes nothing for a while, `Closed` after a kill.
    pub async fn write_all(&self, bytes: &[u8]) -> Result<()> {
        self.check()?;
        self.core.terminals().was_used(&self.live);
        loop {
            let mut room = std::pin::pin!(self.live.input.room());
            // Before the attempt, so that room made in between is not missed.
            room.as_mut().enable();
            match self.live.write(bytes) {
                Err(error) if error.kind() == ErrorKind::Busy => {
                    if tokio::time::timeout(READ_PATIENCE, room).await.is_err() {
                        return Err(error);
                    }
                }
                done => return done,
            }
        }
    }

    /// Types bytes: whoever types wants to see what comes of it, so the newest rows are shown again.
    pub(super) fn type_bytes(&self, bytes: &[u8]) -> Result<()> {
        self.check()?;
        self.live.send_by_hand(bytes)?;
        self.scroll_to_bottom();
        self.core.terminals().was_used(&self.live);
        Ok(())
    }

    /// Takes output as if the child had written it; returns when everything was done that it asks for.
    pub async fn feed_output(&self, bytes: Vec<u8>) -> Result<()> {
        self.check()?;
        let done = self.live.feed(bytes)?;
        done.await.map_err(|_| Error::closed("the terminal is closed"))
    }

    /// What the terminal itself sent to the child, as far as it is kept: keys, pastes, mouse, focus
    /// and answers, but nothing that was written past it.
    pub fn captured_input(&self, drain: bool) -> Vec<u8> {
        self.live.capture.read(drain)
    }

    /// Presses a key, encoded as the program asked for.
    pub fn press(&self, key: &KeyPress) -> Result<()> {
        let modes = self.modes();
        let bytes = encode(
            key,
            &KeyModes {
                application_cursor: modes.application_cursor,
                application_keypad: modes.application_keypad,
                modify_other_keys: modes.modify_other_keys,
                kitty_flags: modes.kitty_keyboard,
                ..KeyModes::default()
            },
        );
        if bytes.is_empty() {
            return Err(Error::invalid("key", format!("{key} cannot be sent to this program")));
        }
        self.type_bytes(&bytes)
    }

    /// Pastes text, in brackets when the program asked for that.
    pub fn paste(&self, text: &str) -> Result<()> {
        let bytes =
            if self.modes().bracketed_paste { paste::bracketed(text) } else { paste::plain(text) };
        self.type_bytes(&bytes)
    }

    /// Modes the program has turned on.
    pub fn modes(&self) -> Modes {
        self.live.with_engine(|engine| engine.screen().modes())
    }

    /// Changes the size of PTY and screen.
    pub async fn resize(&self, size: Size) -> Result<()> {
        self.check()?;
        let winsize = rustix::termios::Winsize {
            ws_row: size.rows(),
            ws_col: size.cols(),
            ws_xpixel: size.pixel_width,
            ws_ypixel: size.pixel_height,
        };
        rustix::termios::tcsetwinsize(&*self.live.pty, winsize)
            .map_err(|error| Error::failed(format!("cannot resize the terminal: {error}")))?;
        let now = self.live.clock.now();
        let mut effects = self.live.with_engine(|engine| engine.resize(size, now));
        self.live.carry_out(&mut effects);
        let id = self.live.id;
        self.core
            .transact_durably(|tx| {
                let terminal = tx.world.terminal_mut(id)?;
                if terminal.size != size {
                    terminal.size = size;
                    tx.save_terminal(id);
                    tx.emit(Event::TerminalResized { id, size });
                }
                Ok(())
            })
            .await
    }

    /// The screen now, as much of it as is wanted. Taken once per sequence number and shared.
    pub fn snapshot(&self, detail: Detail) -> Arc<Snapshot> {
        self.live.with_engine(|engine| engine.snapshot(detail))
    }

    pub fn size(&self) -> Size {
        self.live.size()
    }

    /// Raised by every chunk of output and every resize.
    pub fn sequence(&self) -> u64 {
        self.live.with_engine(|engine| engine.screen().sequence())
    }

    /// The newest part of everything the child ever wrote, escapes included.
    pub fn transcript(&self) -> Tail {
        self.live.with_engine(|engine| engine.transcript())
    }

    /// The screen as text, with this many rows of scrollback above it.
    pub fn text(&self, history_rows: usize) -> String {
        self.live.with_engine(|engine| engine.screen().text_with_history(history_rows))
    }

    /// Rows of scrollback above the screen.
    pub fn history_len(&self) -> usize {
        self.live.with_engine(|engine| engine.screen().history_len())
    }

    /// Waits until the condition holds, to see the screen of that moment as far as it is wanted.
    /// Dropping the future gives the wait up.
    pub async fn wait(
        &self,
        matcher: Matcher,
        detail: Detail,
        timeout: Duration,
    ) -> Result<Waited> {
        if matcher.depth() > matcher::MAX_DEPTH {
            return Err(Error::invalid("matcher", "matcher is nested too deeply"));
        }
        let started = self.live.clock.now();
        let watches_time = matcher.waits_for_stability();
        let begun = self
            .live
            .with_engine(|engine| engine.wait(matcher, detail, timeout.is_zero(), started))?;
        let (id, ended) = match begun {
            Ok(matched) => return Ok(self.waited(matched, started)),
            Err(pending) => pending,
        };
        let _guard = WaitGuard(&self.live, id);
        if watches_time {
            self.live.poke();
        }
        match tokio::time::timeout(timeout, ended).await {
            Ok(Ok(WaitEnd::Matched(matched))) => Ok(self.waited(matched, started)),
            Ok(Ok(WaitEnd::Closed) | Err(_)) => {
                Err(Error::closed("the program in the terminal has ended"))
            }
            Err(_) => Err(timed_out()),
        }
    }

    fn waited(&self, matched: Matched, started: Duration) -> Waited {
        Waited { matched, elapsed: self.live.clock.now().saturating_sub(started) }
    }

    /// Sends a signal to the child, or to its whole process group.
    pub fn signal(&self, signal: i32, whole_group: bool) -> Result<()> {
        self.check()?;
        if self.live.is_finished() {
            return Err(Error::closed("the program in the terminal has ended"));
        }
        let scope = if whole_group { Scope::Group } else { Scope::Child };
        self.live.note_signal(signal);
        self.core.inner.terminals.keeper.post(Request::Signal {
            terminal_id: self.live.id.get(),
            signal,
            scope,
        });
        Ok(())
    }

    /// Whether something else than the child itself, such as a command of a shell, is in the
    /// foreground of the terminal.
    pub fn has_foreground_job(&self) -> bool {
        self.foreground_group().is_some_and(|group| group != self.live.pid)
    }

    /// The group of processes in the foreground, if the terminal is open.
    pub(crate) fn foreground_group(&self) -> Option<u32> {
        let group = rustix::termios::tcgetpgrp(&*self.live.pty).ok()?;
        Some(group.as_raw_nonzero().get().unsigned_abs())
    }

    /// Ends the child: hangup, a moment of grace, then kill, with everything in its session. Gives
    /// what left the session and lives on, unless that is to end as well.
    /// Fails with `Closed` if it was killed before.
    pub async fn kill(&self, strays: StrayAction) -> Result<Vec<Leftover>> {
        self.check()?;
        self.live.begin_kill()?;
        Ok(self.end_child(strays).await)
    }

    /// Counts as ended from now on, whatever the child does.
    pub(crate) fn give_up(&self) {
        // Killed before is as good.
        let _ = self.live.begin_kill();
    }

    /// Hangs up and kills until the child is gone; bounded. Gives what lives on.
    pub(crate) async fn end_child(&self, strays: StrayAction) -> Vec<Leftover> {
        let root = self.root();
        let mut family = Family::default();
        if self.live.exit_status().is_none() {
            // What left the session is found below the child as long as that lives.
            family = self.core.terminals().sweep(root.clone(), false).await;
            for signal in [libc_signal::HUP, libc_signal::CONT] {
                let scope = Scope::Group;
                let request = Request::Signal { terminal_id: self.live.id.get(), signal, scope };
                self.core.inner.terminals.keeper.post(request);
            }
            let graceful = tokio::time::timeout(KILL_GRACE, self.live.exited()).await;
            if graceful.is_err() {
                family.join(self.core.terminals().sweep(root.clone(), true).await);
                if tokio::time::timeout(KILL_LIMIT, self.live.exited()).await.is_err() {
                    tracing::warn!(terminal = %self.live.id, "a killed program does not end");
                }
            }
        }
        family.join(self.core.terminals().sweep(root.clone(), true).await);
        if strays == StrayAction::End {
            for _ in 0..STRAY_ROUNDS {
                if family.has_no_strays() {
                    break;
                }
                family.kill_strays();
                // What they started in their last moment.
                family = self.core.terminals().sweep(root.clone(), false).await;
            }
        }
        let left = family.left();
        if !left.is_empty() {
            let each = left.iter().map(|one| format!("{} ({})", one.pid, one.name));
            let processes = each.collect::<Vec<_>>().join(", ");
            let terminal = self.live.id;
            tracing::info!(%terminal, processes, "processes outlive the terminal they left");
        }
        left
    }

    /// What its processes are found by.
    fn root(&self) -> Root {
        let uuid = Meta::decode(&self.live.meta).map(|meta| meta.uuid);
        Root { leader: self.live.pid, mark: uuid.map_or_else(String::new, session_mark) }
    }

    /// Whether the child is gone or was killed.
    pub fn is_finished(&self) -> bool {
        self.live.is_finished()
    }

    /// Whether a client follows the terminal's bytes.
    pub(crate) fn is_followed(&self) -> bool {
        self.live.with_engine(|engine| engine.taps().is_followed())
    }

    /// Follows the terminal's bytes from now on.
    pub fn attach(&self) -> Attachment {
        self.live.attach()
    }

    /// How far the terminal has come, as it changes.
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.live.progress()
    }

    /// Where the stream ends now, in bytes since the terminal was opened.
    pub fn transcript_end(&self) -> u64 {
        self.live.with_engine(|engine| engine.end_offset())
    }

    /// What was printed after an offset, as far as it is kept, and up to this number of characters before it.
    pub fn transcript_since(&self, offset: u64, context_chars: usize) -> TranscriptChunk {
        self.live.with_engine(|engine| engine.transcript_since(offset, context_chars))
    }

    /// The last bytes that were printed after an offset, up to a limit, and the offset of the first.
    pub fn last_bytes_since(&self, offset: u64, limit: usize) -> (Vec<u8>, u64) {
        self.live.with_engine(|engine| engine.last_bytes_since(offset, limit))
    }

    /// Everything that a judgement of the screen is made of, of one moment.
    pub fn scene(&self) -> Scene {
        self.live.with_engine(|engine| engine.scene())
    }

    /// Characters ever written to the transcript.
    pub fn chars_written(&self) -> u64 {
        self.live.with_engine(|engine| engine.screen().chars_written())
    }

    /// Process id of the child.
    pub fn pid(&self) -> u32 {
        self.live.pid
    }
}

/// Signal numbers that every Linux has.
mod libc_signal {
    pub(super) const HUP: i32 = rustix::process::Signal::HUP.as_raw();
    pub(super) const CONT: i32 = rustix::process::Signal::CONT.as_raw();
}

pub(crate) fn timed_out() -> Error {
    Error::new(ErrorKind::Timeout, "the time to wait ran out")
}
