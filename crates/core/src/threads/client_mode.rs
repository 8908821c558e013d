//! Modes that clients brought along: each holds for what that client itself starts, wherever no mode
//! was set since, and ends with its connection. They are kept in memory only and settle nothing.

use std::collections::{BTreeMap, HashMap};

use rookery_model::{Asker, Mode, Result, ThreadId, TurnId};

use crate::log::ThreadChange;
use crate::rooms::Threads;
use crate::world::Tx;
use crate::world::World;

/// The modes of clients, by the numbers of their connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientModes(BTreeMap<u64, ClientMode>);

#[derive(Clone, Debug)]
struct ClientMode {
    mode: Mode,
    /// Threads in which it is another: one that a plan led to, or none since the thread's own was set.
    threads: HashMap<ThreadId, Option<Mode>>,
}

impl ClientModes {
    fn of(&self, client: u64, thread: Option<ThreadId>) -> Option<Mode> {
        let own = self.0.get(&client)?;
        match thread.and_then(|thread| own.threads.get(&thread)) {
            Some(changed) => *changed,
            None => Some(own.mode),
        }
    }

    /// A thread was given a mode of its own, which counts from now on.
    pub(super) fn release(&mut self, thread: ThreadId) {
        for own in self.0.values_mut() {
            own.threads.insert(thread, None);
        }
    }

    /// What a client starts from now on has a mode of its own.
    pub(crate) fn set(&mut self, client: u64, mode: Mode) {
        self.0.insert(client, ClientMode { mode, threads: HashMap::new() });
    }

    pub(super) fn end(&mut self, client: u64) {
        self.0.remove(&client);
    }
}

impl World {
    /// The mode that holds for a turn: that of the client which started it, else its thread's.
    pub(crate) fn mode_in(&self, thread: ThreadId, turn: TurnId) -> Mode {
        match self.led_by(thread) {
            Some(_) => self.mode_of(thread),
            None => self.mode_of_turn(thread, turn),
        }
    }

    /// The same for a turn that works for no other.
    pub(crate) fn mode_of_turn(&self, thread: ThreadId, turn: TurnId) -> Mode {
        let own = || self.threads.get(&thread).and_then(|state| state.thread.mode);
        self.client_of(thread, turn)
            .and_then(|client| self.client_modes.of(client, Some(thread)))
            .or_else(own)
            .unwrap_or(self.mode)
    }

    /// The mode that holds for whoever asks.
    pub(crate) fn mode_of_asker(&self, asker: Asker) -> Mode {
        match asker {
            Asker::Turn { thread, turn } => self.mode_in(thread, turn),
            Asker::Caller(thread) => self.mode_of(thread),
            Asker::Client | Asker::Session(_) => self.mode,
        }
    }

    /// Whether a turn runs in the mode of the client that started it.
    pub(crate) fn has_client_mode(&self, thread: ThreadId, turn: TurnId) -> bool {
        let parent = self.led_by(thread);
        let (thread, turn) = parent.map_or((thread, turn), |it| (it.thread, it.turn));
        self.has_mode_of_client(thread, turn)
    }

    /// The same for a turn that works for no other.
    pub(crate) fn has_mode_of_client(&self, thread: ThreadId, turn: TurnId) -> bool {
        self.client_of(thread, turn)
            .is_some_and(|client| self.client_modes.of(client, Some(thread)).is_some())
    }

    pub(super) fn client_of(&self, thread: ThreadId, turn: TurnId) -> Option<u64> {
        let active = self.threads.get(&thread)?.active.as_ref()?;
        active.client.filter(|_| active.turn == turn)
    }

    fn mode_for(&self, client: u64, thread: Option<ThreadId>) -> Mode {
        let usual = || thread.map_or(self.mode, |thread| self.mode_of(thread));
        self.client_modes.of(client, thread).unwrap_or_else(usual)
    }
}

impl Threads {
    /// What this client starts from now on has a mode of its own, until it is gone: the caller ends it
    /// by [`Threads::end_client_mode`].
    ///
    /// # Errors
    /// If the daemon is stopping.
    pub fn set_client_mode(&self, client: u64, mode: Mode) -> Result<()> {
        // Nothing of it is stored, so there is nothing to wait for.
        let ((), _ticket) = self.core.transact(|tx| {
            tx.world.client_modes.set(client, mode);
            Ok(())
        })?;
        Ok(())
    }

    /// The client is gone, or has set another mode. Its turns that still run fall back to the modes of
    /// their threads; what waits goes on waiting.
    pub fn end_client_mode(&self, client: u64) {
        let ended = self.core.transact(|tx| {
            tx.end_client_mode(client);
            Ok(())
        });
        if let Err(error) = ended {
            tracing::debug!(%error, "the mode of a client ends with the daemon");
        }
    }

    /// The mode that holds for what this client starts, in a thread or by itself.
    pub fn mode_for(&self, client: u64, thread: Option<ThreadId>) -> Mode {
        self.core.look().mode_for(client, thread)
    }
}

impl Tx<'_> {
    /// Ends the mode that a client brought along, and announces it where one of its turns still runs.
    pub(super) fn end_client_mode(&mut self, client: u64) {
        let running = self.world.threads.running();
        let running = running.filter(|(_, _, active)| active.client == Some(client));
        let running: Vec<(ThreadId, Mode)> =
            running.map(|(id, ..)| (id, self.world.mode_for(client, Some(id)))).collect();
        self.world.client_modes.end(client);
        for (thread, previous) in running {
            let mode = self.world.mode_of(thread);
            if previous != mode {
                let reason = Some("the client that brought its own mode is gone".to_owned());
                self.announce(thread, ThreadChange::Mode { previous, mode, reason });
            }
        }
    }

    /// A plan was approved in a turn with its client's mode: from here on that client has another mode
    /// in this thread. False if the turn has none.
    pub(crate) fn change_client_mode(
        &mut self,
        thread: ThreadId,
        turn: TurnId,
        mode: Mode,
        reason: &str,
    ) -> bool {
        if !self.world.has_client_mode(thread, turn) {
            return false;
        }
        let previous = self.world.mode_in(thread, turn);
        let client = self.world.client_of(thread, turn);
        if let Some(own) = client.and_then(|client| self.world.client_modes.0.get_mut(&client)) {
            own.threads.insert(thread, Some(mode));
        }
        if previous != mode {
            let reason = Some(reason.to_owned());
            self.announce(thread, ThreadChange::Mode { previous, mode, reason });
        }
        true
    }
}
