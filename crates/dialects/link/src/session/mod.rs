//! One viewer's session: what it asked for, how far it has come, and the task that sends it frames.

mod branches;
mod cards;
mod chosen;
mod entered;
mod notices;
pub(crate) mod rows;
mod run;
pub(crate) mod scene;
pub(crate) mod threads;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rookery_core::{InputMark, PendingInput, TerminalHandle};
use rookery_model::{RequestId, TerminalId, ThreadId, ViewerId};
use rookery_view::link::differ::Differ;
use rookery_view::link::{self, Bye, InboxWindow, Message, Scene};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use self::threads::OpenThread;
use crate::ops::terminal::Search;
pub(crate) use entered::Entered;
pub use notices::notice_of;
pub(crate) use run::start;

/// What a viewer said when it opened.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) viewer: ViewerId,
    pub(crate) fps: u16,
    pub(crate) wants_rows: bool,
    pub(crate) wants_notices: bool,
    pub(crate) wants_clips: bool,
    pub(crate) redacts: bool,
}

/// What methods of a connection and the task that sends its frames share.
#[derive(Default)]
pub(crate) struct Session {
    opened: OnceLock<Opened>,
    state: Mutex<State>,
    wake: Notify,
    /// Set when the connection has to end.
    ending: watch::Sender<Option<Bye>>,
    /// Held while input waits for something, so that no other overtakes it.
    pub(crate) input_turn: tokio::sync::Mutex<()>,
}

/// What changes while a viewer is open.
#[derive(Default)]
pub(crate) struct State {
    /// What the viewer was sent.
    pub(crate) differ: Differ,
    pub(crate) input: Inputs,
    /// What shall be told in full.
    pub(crate) resync: link::Resync,
    /// Whether there is something that the task has to look at.
    is_due: bool,
    /// Whether that may show around terminals.
    is_scene_due: bool,
    /// Since when the kernel has input of which the viewer does not know that.
    input_since: Option<Instant>,
    /// The terminal that was typed into last, until a frame has had something of it.
    typed: Option<TerminalId>,
    /// Whether the viewer waits to be informed of its input, whatever comes of it.
    is_input_asked: bool,
    /// Numbers that wait for the programs of terminals.
    held: HashMap<TerminalId, Vec<u64>>,
    /// Input that was refused, and why.
    pub(crate) refusals: Vec<String>,
    pub(crate) inbox: InboxWindow,
    /// The request whose card is open.
    pub(crate) card: Option<RequestId>,
    /// The thread that is open.
    pub(crate) thread: Option<ThreadId>,
    /// It itself, until the task follows it that sends frames.
    pub(crate) opening: Option<OpenThread>,
    pub(crate) message: Option<Message>,
    pub(crate) branches: branches::Places<String>,
    pub(crate) changes: branches::Places<u32>,
    /// What the user chose, and the settings that it was made of.
    pub(crate) chosen: Option<(rookery_view::settings::Settings, link::Chosen)>,
    /// Searches that go on.
    pub(crate) finds: HashMap<TerminalId, Search>,
    /// How many searches were begun in each terminal.
    pub(crate) searches: HashMap<TerminalId, u64>,
}

/// Numbered input: what the kernel has, and what waits for it.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    latest: u64,
    waiting: BTreeSet<u64>,
}

impl Inputs {
    /// The highest number up to which the kernel has everything.
    pub(crate) fn accepted(&self) -> u64 {
        self.waiting.first().map_or(self.latest, |first| first - 1).min(self.latest)
    }

    fn accept(&mut self, number: u64) {
        self.latest = self.latest.max(number);
        self.waiting.remove(&number);
    }

    fn wait(&mut self, number: u64) {
        if self.waiting.len() < MAX_WAITING {
            self.latest = self.latest.max(number);
            self.waiting.insert(number);
        }
    }
}

/// Numbers that may wait for programs that do not read; more are never acknowledged.
const MAX_WAITING: usize = 4_096;
/// Refusals that may wait to be told.
const MAX_REFUSALS: usize = 16;

impl State {
    /// A viewer wants to know when everything before this input shows.
    pub(crate) fn ask_for_input(&mut self, number: u64) {
        if number > 0 {
            self.input.accept(number);
            self.is_input_asked = true;
        }
    }

    fn refuse(&mut self, why: &str) {
        self.is_due = true;
        if self.refusals.len() < MAX_REFUSALS {
            self.refusals.push(format!("input refused: {why}"));
        }
    }

    /// What there is to look at: anything, and something around terminals.
    fn take_due(&mut self) -> (bool, bool) {
        (std::mem::take(&mut self.is_due), std::mem::take(&mut self.is_scene_due))
    }
}

impl Session {
    /// The viewer, once it is open.
    pub(crate) fn viewer(&self) -> Option<ViewerId> {
        self.opened.get().map(|opened| opened.viewer)
    }

    pub(crate) fn opened(&self) -> Option<&Opened> {
        self.opened.get()
    }

    /// The connection has to end. Only the first reason counts.
    pub(crate) fn part(&self, bye: Bye) {
        self.ending.send_if_modified(|ending| {
            let is_first = ending.is_none();
            ending.get_or_insert(bye);
            is_first
        });
    }

    /// Whether the connection has to end, whatever becomes of the world.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.borrow().is_some()
    }

    /// Resolves when the connection has to end.
    pub(crate) async fn closed(&self) -> Bye {
        let mut ending = self.ending.subscribe();
        match ending.wait_for(Option::is_some).await {
            Ok(bye) => bye.unwrap_or(Bye::Stopping),
            // The sender lives as long as the session.
            Err(_) => Bye::Stopping,
        }
    }

    /// Notes what a viewer said; false if one is open already.
    pub(crate) fn open(&self, opened: Opened) -> bool {
        let mut state = self.state.lock();
        state.inbox = InboxWindow { count: INBOX_ROWS, ..InboxWindow::default() };
        self.opened.set(opened).is_ok()
    }

    /// What the viewer knows from the answer to its opening.
    pub(crate) fn begin(&self, scene: Scene, has_sums: bool) {
        self.state.lock().differ = Differ::new(scene, has_sums);
    }

    /// Changes something that frames are made of.
    pub(crate) fn change<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        self.change_beside(|state| {
            state.is_scene_due = true;
            work(state)
        })
    }

    /// The same for what does not show around terminals.
    pub(crate) fn change_beside<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock();
        state.is_due = true;
        let value = work(&mut state);
        drop(state);
        self.wake.notify_one();
        value
    }

    /// The kernel has this input. The viewer is told with whatever comes of it, which is not there yet.
    fn accept(&self, number: u64) {
        let mut state = self.state.lock();
        state.input.accept(number);
        state.input_since.get_or_insert_with(Instant::now);
        drop(state);
        self.wake.notify_one();
    }

    /// Looks at the state, or changes what no frame is made of.
    pub(crate) fn look<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock())
    }

    /// A frame was painted.
    pub(crate) fn acknowledge(&self, number: u64) {
        let mut state = self.state.lock();
        // What was never sent cannot have been painted.
        state.differ.acknowledge(number);
        drop(state);
        self.wake.notify_one();
    }

    /// Whether another frame may be sent.
    fn has_room(&self) -> bool {
        self.state.lock().differ.may_send()
    }

    async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Numbered input was given to a terminal since a moment: it is acknowledged once the kernel has it.
    pub(crate) fn given(self: &Arc<Self>, number: u64, handle: &TerminalHandle, since: InputMark) {
        if number == 0 {
            return;
        }
        self.look(|state| state.typed = Some(handle.id()));
        let Some(pending) = handle.pending_input(since) else { return self.accept(number) };
        let id = handle.id();
        let is_first = self.look(|state| {
            state.input.wait(number);
            let held = state.held.entry(id).or_default();
            held.push(number);
            held.len() == 1
        });
        // One task waits for all that is typed into a terminal.
        if !is_first {
            return;
        }
        let session = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                let is_taken = pending.taken().await;
                let Some(session) = session.upgrade() else { return };
                if session.settle(id, &pending, is_taken) {
                    return;
                }
            }
        });
    }

    /// What was typed into a terminal is where it belongs, or is lost. False if more was typed meanwhile.
    fn settle(&self, id: TerminalId, pending: &PendingInput, is_taken: bool) -> bool {
        let mut state = self.state.lock();
        if !pending.is_settled() {
            return false;
        }
        for number in state.held.remove(&id).unwrap_or_default() {
            state.input.accept(number);
        }
        if is_taken {
            state.input_since.get_or_insert_with(Instant::now);
        } else {
            state.refuse("the program in the terminal has ended");
        }
        drop(state);
        self.wake.notify_one();
        true
    }

    /// Numbered input that is for no program.
    pub(crate) fn taken(&self, number: u64) {
        if number > 0 {
            self.accept(number);
        }
    }

    /// Input was refused, which is told with the next frame; with that its number is dealt with.
    pub(crate) fn refuse(&self, number: u64, why: &str) {
        self.change_beside(|state| {
            state.refuse(why);
            if number > 0 {
                state.input.accept(number);
            }
        });
    }
}

/// Rows of the inbox that a viewer gets before it asks for others.
const INBOX_ROWS: u32 = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_acknowledged_in_order() {
        let mut inputs = Inputs::default();
        assert_eq!(inputs.accepted(), 0);
        inputs.accept(1);
        inputs.wait(2);
        inputs.accept(3);
        assert_eq!(inputs.accepted(), 1);
        inputs.accept(2);
        assert_eq!(inputs.accepted(), 3);
    }

    #[test]
    fn what_was_never_sent_is_not_acknowledged() {
        let session = Session::default();
        session.acknowledge(7);
        assert!(session.has_room());
        for number in 1..=2 {
            session.look(|state| state.differ.finish(number, link::Frame::default()));
        }
        assert!(!session.has_room());
        session.acknowledge(1);
        assert!(session.has_room());
    }
}
