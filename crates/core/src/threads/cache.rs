//! Which threads are in memory: those with a turn, those kept nowhere else, and a few used lately.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rookery_model::{Error, Result, ThreadId};

use super::live::LiveThread;
use crate::rooms::Threads;
use crate::world::no_thread;

/// Threads kept in memory without need.
const KEPT: usize = 64;

#[derive(Default)]
pub(crate) struct LiveThreads {
    threads: Mutex<HashMap<ThreadId, (u64, Arc<LiveThread>)>>,
    /// Held while a thread is loaded, so that it is loaded once.
    loading: tokio::sync::Mutex<()>,
}

impl LiveThreads {
    fn get(&self, id: ThreadId) -> Option<Arc<LiveThread>> {
        let mut threads = self.threads.lock();
        let newest = threads.values().map(|(used, _)| *used).max().unwrap_or(0);
        threads.get_mut(&id).map(|(used, live)| {
            *used = newest + 1;
            Arc::clone(live)
        })
    }

    pub(crate) fn insert(&self, live: &Arc<LiveThread>) {
        let mut threads = self.threads.lock();
        let newest = threads.values().map(|(used, _)| *used).max().unwrap_or(0);
        threads.insert(live.id, (newest + 1, Arc::clone(live)));
    }

    pub(crate) fn remove(&self, id: ThreadId) {
        self.threads.lock().remove(&id);
    }

    /// Those in memory, by their names.
    #[cfg(test)]
    pub(crate) fn all(&self) -> Vec<Arc<LiveThread>> {
        let mut all: Vec<_> =
            self.threads.lock().values().map(|(_, live)| Arc::clone(live)).collect();
        all.sort_by_key(|live| live.id);
        all
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.threads.lock().len()
    }

    /// Lets go of those that were not used for longest and that `may_go`.
    fn shrink(&self, may_go: impl Fn(ThreadId) -> bool) {
        let mut threads = self.threads.lock();
        if threads.len() <= KEPT {
            return;
        }
        let mut ages: Vec<(u64, ThreadId)> = threads
            .iter()
            .filter(|(id, (_, live))| Arc::strong_count(live) == 1 && may_go(**id))
            .map(|(id, (used, _))| (*used, *id))
            .collect();
        ages.sort_unstable();
        let surplus = threads.len() - KEPT;
        for (_, id) in ages.into_iter().take(surplus) {
            threads.remove(&id);
        }
    }
}

impl Threads {
    /// The thread with all that was said in it.
    pub(crate) async fn live(&self, id: ThreadId) -> Result<Arc<LiveThread>> {
        let is_ephemeral = self.core.look().thread(id)?.thread.ephemeral;
        let live_threads = &self.core.inner.threads.live_threads;
        if let Some(live) = live_threads.get(id) {
            return Ok(live);
        }
        let _loading = live_threads.loading.lock().await;
        if let Some(live) = live_threads.get(id) {
            return Ok(live);
        }
        if is_ephemeral {
            return Err(no_thread(id));
        }
        let store = self.core.inner.store.clone();
        let stored = tokio::task::spawn_blocking(move || store.thread_contents(id))
            .await
            .map_err(|error| Error::failed(error.to_string()))??;
        if stored.skipped > 0 {
            tracing::warn!(thread = %id, skipped = stored.skipped, "records could not be read");
        }
        let live = Arc::new(LiveThread::from_stored(id, stored));
        live_threads.insert(&live);
        self.release_unused();
        Ok(live)
    }

    /// Lets go of threads that are not in use; they can be read again.
    pub(super) fn release_unused(&self) {
        // Held, so that no turn begins in one of those that go.
        let world = self.core.hold();
        self.core.inner.threads.live_threads.shrink(|id| {
            world
                .threads
                .get(&id)
                .is_none_or(|state| !state.thread.ephemeral && state.active.is_none())
        });
    }
}
