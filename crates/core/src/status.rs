//! What the daemon says about itself.

use rookery_model::{EventSeq, TerminalState, Timestamp};

use crate::core::Core;

/// Whether there is a keeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeeperState {
    /// None runs; the first terminal starts one.
    Absent,
    /// Connected.
    Connected {
        /// Its process id.
        pid: u32,
    },
}

/// The state of the daemon in numbers.
#[derive(Clone, Debug)]
pub struct Status {
    /// Version of the daemon.
    pub version: &'static str,
    /// Process id.
    pub pid: u32,
    /// When it started.
    pub started_at: Timestamp,
    /// Number of projects.
    pub projects: usize,
    /// Terminals whose child runs.
    pub running: usize,
    /// Terminals whose child ended.
    pub exited: usize,
    /// Terminals whose keeper died.
    pub lost: usize,
    /// Pending waits on all terminals.
    pub pending_waits: usize,
    /// Whether there is a keeper.
    pub keeper: KeeperState,
    /// Number of the newest durable event.
    pub last_event: EventSeq,
    /// Batches waiting to be stored.
    pub store_queue: usize,
    /// What was wrong with the store at start, if anything was.
    pub damage: Option<String>,
}

impl Core {
    /// The state of the daemon in numbers.
    pub fn status(&self) -> Status {
        let (projects, counts) = {
            let world = self.inner.world.lock();
            let mut counts = [0usize; 3];
            for terminal in world.terminals.values() {
                let slot = match terminal.state {
                    TerminalState::Running => 0,
                    TerminalState::Exited(_) => 1,
                    TerminalState::Lost => 2,
                };
                counts[slot] += 1;
            }
            (world.projects.len(), counts)
        };
        Status {
            version: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
            started_at: self.inner.started_at,
            projects,
            running: counts[0],
            exited: counts[1],
            lost: counts[2],
            pending_waits: self.live_terminals().iter().map(|live| live.pending_waits()).sum(),
            keeper: match self.inner.keeper.pid() {
                Some(pid) => KeeperState::Connected { pid },
                None => KeeperState::Absent,
            },
            last_event: self.events().last(),
            store_queue: self.inner.store.queued(),
            damage: self.inner.damage.clone(),
        }
    }
}

impl Core {
    /// Puts what was wrong with the store into the queue, so that it is seen where people look.
    pub(crate) fn report_damage(&self) {
        let Some(damage) = self.inner.damage.clone() else { return };
        let filed = self.transact(|tx| {
            tx.file(crate::supervision::NewItem {
                session: rookery_model::SessionId::new(0),
                related: None,
                category: rookery_model::Category::Error,
                title: "The store was damaged".to_owned(),
                subtitle: Some(damage),
                source: rookery_model::Source::Protocol,
            });
            Ok(())
        });
        if let Err(error) = filed {
            tracing::error!(%error, "the damage of the store is not in the queue");
        }
    }
}
