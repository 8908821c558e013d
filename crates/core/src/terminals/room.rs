//! What belongs to terminals alone.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;
use rookery_model::{Result, TerminalId};
use tokio::sync::{broadcast, watch};

use super::notices::Notices;
use super::{AgentSeen, Live, PendingScans, Shards, Views};
use crate::clock::Clock;
use crate::core::Inner;
use crate::keeper_link::{KeeperLaunch, KeeperLink};

/// News of agents that may wait to be heard.
const MAX_AGENTS_SEEN: usize = 256;

/// Terminals at work, and the way to the keeper.
pub(crate) struct Room {
    pub(super) live: RwLock<HashMap<TerminalId, Arc<Live>>>,
    /// Read while a child runs whose terminal is not live yet; written by who waits for such.
    pub(super) openings: tokio::sync::RwLock<()>,
    pub(super) keeper: KeeperLink,
    /// Whether all that the last daemon had is known: its keeper answered, or ended since it held nothing.
    pub(super) is_past_known: OnceLock<bool>,
    pub(super) shards: Shards,
    pub(super) sweeps: PendingScans,
    /// Which terminals are shown in which.
    pub(super) views: Views,
    /// Agents that are started in terminals, and their ends.
    pub(super) agents_seen: broadcast::Sender<AgentSeen>,
    /// Raised whenever a terminal comes or goes.
    pub(super) roster: watch::Sender<u64>,
    pub(super) notices: Arc<Notices>,
    pub(super) clock: Clock,
}

impl Room {
    pub(crate) fn start(keeper: KeeperLaunch) -> Result<Room> {
        Ok(Room {
            live: RwLock::default(),
            openings: tokio::sync::RwLock::default(),
            keeper: KeeperLink::new(keeper),
            is_past_known: OnceLock::new(),
            shards: Shards::start()?,
            sweeps: PendingScans::default(),
            views: Views::default(),
            agents_seen: broadcast::Sender::new(MAX_AGENTS_SEEN),
            roster: watch::Sender::new(0),
            notices: Notices::new(),
            clock: Clock::start(),
        })
    }

    /// From now on the keeper's news reach this core.
    pub(crate) fn bind(&self, inner: &Arc<Inner>) {
        self.notices.bind(inner);
    }
}
