//! What belongs to children alone: who works, and how many may.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_agent::definitions::LANES;
use rookery_agent::settings::SubagentSettings;
use rookery_model::{Error, Lane, ParentTurn, Result, ThreadId, TraceId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::threads::LiveThread;

/// Children that may work or wait for their turn, all together.
const MOST: usize = 10_000;
/// How often it is said of a child at work that it is: clients expect it every ten seconds.
const PULSE: Duration = Duration::from_secs(5);

/// Children that are queued or at work.
pub(crate) struct Room {
    /// Places for all of them.
    all: Arc<Semaphore>,
    /// Places for those of each lane.
    lanes: Vec<(Lane, Arc<Semaphore>)>,
    active: Mutex<HashMap<ThreadId, Arc<Active>>>,
    /// How often it is said of a child at work that it is; tests are in a hurry.
    pub(super) pulse: Mutex<Duration>,
}

/// A child that is queued or at work.
pub(super) struct Active {
    /// The turn whose end stops it.
    pub(super) parent: Option<ParentTurn>,
    /// Its trace, and the thread that keeps it.
    pub(super) trace: Option<(TraceId, Arc<LiveThread>)>,
    /// Cancelled to stop it.
    pub(super) stop: CancellationToken,
    /// Whether it waits for a person.
    pub(super) waits: watch::Sender<bool>,
}

/// Places that a child takes while it works.
pub(super) struct Place {
    _lane: Option<OwnedSemaphorePermit>,
    _all: OwnedSemaphorePermit,
}

/// A child in the room; it leaves when this is dropped.
pub(super) struct Membership {
    pub(super) core: crate::core::Core,
    pub(super) child: ThreadId,
    pub(super) active: Arc<Active>,
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.core.inner.children.leave(self.child);
    }
}

impl Room {
    pub(crate) fn new(settings: &SubagentSettings) -> Self {
        let places = |count: u32| {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)))
        };
        let lane = |lane: Lane| (lane, places(settings.lane(lane).max_concurrent));
        Room {
            all: places(settings.max_concurrent),
            lanes: LANES.iter().map(|row| lane(row.lane)).collect(),
            active: Mutex::default(),
            pulse: Mutex::new(PULSE),
        }
    }

    /// Lets a child in.
    pub(super) fn enter(&self, child: ThreadId, active: Arc<Active>) -> Result<()> {
        let mut all = self.active.lock();
        if all.len() >= MOST {
            let message = format!("{MOST} child agents work or wait already; try again later");
            return Err(Error::busy(message));
        }
        all.insert(child, active);
        Ok(())
    }

    pub(super) fn leave(&self, child: ThreadId) {
        self.active.lock().remove(&child);
    }

    pub(super) fn get(&self, child: ThreadId) -> Option<Arc<Active>> {
        self.active.lock().get(&child).cloned()
    }

    /// How many are queued or at work.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.active.lock().len()
    }

    /// A place to work in, once there is one. That of the lane comes first: whoever waits for it keeps
    /// no place that others could take.
    pub(super) async fn place(&self, lane: Option<Lane>) -> Option<Place> {
        let own = self.lanes.iter().find(|(known, _)| Some(*known) == lane);
        let own = match own {
            Some((_, places)) => Some(Arc::clone(places).acquire_owned().await.ok()?),
            None => None,
        };
        let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Place { _lane: own, _all: all })
    }

    /// Stops what works for a turn that is over.
    pub(crate) fn stop_of(&self, parent: ParentTurn) {
        let all = self.active.lock();
        let of_turn = all.values().filter(|active| active.parent == Some(parent));
        of_turn.for_each(|active| active.stop.cancel());
    }
}
