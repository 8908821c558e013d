//! What the keeper says by itself: ends of children, and that it is gone.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rookery_keeper::protocol;
use rookery_model::{Event, ExitStatus, TerminalId, TerminalState, Timestamp};

use crate::core::{Core, Inner};
use crate::keeper_link::KeeperNotices;

/// What the keeper says finds its way to the core, which may be gone by then.
pub(crate) struct Notices {
    core: Mutex<Weak<Inner>>,
    runtime: tokio::runtime::Handle,
    /// Ends of children whose terminals are not live yet: a short program is faster than its opening.
    pub(super) early: Mutex<HashMap<TerminalId, (ExitStatus, Timestamp)>>,
}

impl Notices {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Notices {
            core: Mutex::new(Weak::new()),
            runtime: tokio::runtime::Handle::current(),
            early: Mutex::default(),
        })
    }

    pub(super) fn bind(&self, inner: &Arc<Inner>) {
        *self.core.lock() = Arc::downgrade(inner);
    }
}

impl KeeperNotices for Notices {
    fn child_exited(&self, terminal_id: u64, status: protocol::ExitStatus, at_micros: u64) {
        let Some(inner) = self.core.lock().upgrade() else { return };
        let id = TerminalId::new(terminal_id);
        let at = Timestamp::from_micros(i64::try_from(at_micros).unwrap_or(i64::MAX));
        // Held while looking, so that a terminal that becomes live now finds what is left for it.
        let mut early = self.early.lock();
        match inner.terminals.live.read().get(&id) {
            Some(live) => live.child_exited(exit_status(status), at),
            None => drop(early.insert(id, (exit_status(status), at))),
        }
    }

    fn keeper_lost(&self) {
        let Some(inner) = self.core.lock().upgrade() else { return };
        let core = Core::unbound(inner);
        tracing::error!(
            "the keeper died; terminals go on, but their exit status will not be known"
        );
        let marked = core.transact(|tx| {
            let lost: Vec<TerminalId> = tx
                .world
                .terminals
                .values()
                .filter(|terminal| terminal.state == TerminalState::Running)
                .map(|terminal| terminal.id)
                .collect();
            for id in lost {
                tx.world.terminal_mut(id)?.state = TerminalState::Lost;
                tx.save_terminal(id);
                tx.emit(Event::TerminalLost { id });
            }
            Ok(())
        });
        if let Err(error) = marked {
            tracing::error!(%error, "cannot record the loss of the keeper");
        }
        self.runtime.spawn(async move { core.terminals().readopt().await });
    }
}

pub(crate) fn exit_status(status: protocol::ExitStatus) -> ExitStatus {
    match status {
        protocol::ExitStatus::Code(code) => ExitStatus::Code(code),
        protocol::ExitStatus::Signal(signal) => ExitStatus::Signal(signal),
        protocol::ExitStatus::Unknown => ExitStatus::Unknown,
    }
}
