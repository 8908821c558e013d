//! Looking through the table of processes for terminals that end: one look, on one thread, for all that
//! ask at the same time. A thousand terminals closed at once take a few looks, not thousands.

use std::time::Duration;

use parking_lot::Mutex;
use rookery_host::{Family, Root};
use tokio::sync::oneshot;

use crate::rooms::Terminals;

/// Terminals closed before freed memory is given back to the system.
const CLOSED_BEFORE_RELEASE: usize = 32;

/// How long the last of them may take to let go of theirs.
const RELEASE_DELAY: Duration = Duration::from_secs(1);

/// What waits for the next look.
#[derive(Default)]
pub(crate) struct PendingScans(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    requests: Vec<SweepRequest>,
    /// Whether a thread looks, and will look again for what came meanwhile.
    is_looking: bool,
    /// Terminals that were let go of since memory was given back.
    closed: usize,
}

struct SweepRequest {
    root: Root,
    kills_session: bool,
    found: oneshot::Sender<Family>,
}

impl Terminals {
    /// Finds the processes of a terminal, and may kill those in its session on the way.
    pub(super) async fn sweep(&self, root: Root, kills_session: bool) -> Family {
        let (found, result) = oneshot::channel();
        let must_look = {
            let mut waiting = self.core.inner.terminals.sweeps.0.lock();
            waiting.requests.push(SweepRequest { root, kills_session, found });
            !std::mem::replace(&mut waiting.is_looking, true)
        };
        if must_look {
            let core = self.core.clone();
            self.core.inner.runtime.spawn_blocking(move || core.terminals().look_for_all());
        }
        // A runtime that ends takes the look with it; then there is nothing to report.
        result.await.unwrap_or_default()
    }

    /// A terminal was let go of. After many of them the allocator holds much that nothing uses.
    pub(super) fn release_memory_soon(&self) {
        let mut waiting = self.core.inner.terminals.sweeps.0.lock();
        waiting.closed += 1;
        if waiting.closed != CLOSED_BEFORE_RELEASE {
            return;
        }
        let core = self.core.clone();
        self.core.inner.runtime.spawn(async move {
            let mut seen = 0;
            // As long as more are closed, there will be more to give back.
            loop {
                tokio::time::sleep(RELEASE_DELAY).await;
                let mut waiting = core.inner.terminals.sweeps.0.lock();
                if waiting.closed == seen {
                    waiting.closed = 0;
                    break;
                }
                seen = waiting.closed;
            }
            let _ = tokio::task::spawn_blocking(rookery_host::release_freed).await;
        });
    }

    /// Looks until nothing waits any more.
    fn look_for_all(&self) {
        loop {
            let requests = {
                let mut waiting = self.core.inner.terminals.sweeps.0.lock();
                let requests = std::mem::take(&mut waiting.requests);
                waiting.is_looking = !requests.is_empty();
                requests
            };
            if requests.is_empty() {
                return;
            }
            let roots: Vec<Root> = requests.iter().map(|one| one.root.clone()).collect();
            let keeper: Vec<u32> = self.core.inner.terminals.keeper.pid().into_iter().collect();
            for (one, family) in requests.into_iter().zip(Family::of(&roots, &keeper)) {
                if one.kills_session {
                    family.kill_session();
                }
                // Whoever asked may have gone away.
                let _ = one.found.send(family);
            }
        }
    }
}
