//! Images that wait for the next turn of a thread, by the ids of their artifacts: kept, since they were
//! accepted.

use std::sync::Arc;

use rookery_model::{Error, ErrorKind, Result, ThreadId};
use rookery_store::Change;

use crate::core::blocking;
use crate::rooms::Threads;
use crate::world::Tx;

/// How many images may wait in a thread.
const MOST: usize = 16;

impl Threads {
    /// Has an image wait for the next turn; one that waits already does so once.
    ///
    /// # Errors
    /// If there is no such thread, or too many wait.
    pub(crate) async fn attach(&self, id: ThreadId, artifact: String) -> Result<()> {
        self.attached(id).await;
        self.core
            .transact_durably(|tx| {
                let state = tx.world.thread_mut(id)?;
                let waiting = state.attached.get_or_insert_default();
                if waiting.contains(&artifact) {
                    return Ok(());
                }
                if waiting.len() >= MOST {
                    let message = format!("{MOST} images wait already; start a turn first");
                    return Err(Error::new(ErrorKind::Busy, message));
                }
                Arc::make_mut(waiting).push(artifact);
                tx.keep_attached(id);
                Ok(())
            })
            .await
    }

    /// The artifacts that wait for the next turn.
    pub(super) async fn attached(&self, id: ThreadId) -> Arc<Vec<String>> {
        let (known, is_kept) = match self.core.look().threads.get(&id) {
            Some(state) => (state.attached.clone(), !state.thread.ephemeral),
            None => return Arc::default(),
        };
        if let Some(known) = known {
            return known;
        }
        let store = self.core.inner.store.clone();
        let read = move || store.attached(id).unwrap_or_default();
        let list = match is_kept {
            true => blocking(read).await.unwrap_or_default(),
            false => Vec::new(),
        };
        self.core.adjust(|world| match world.attached(id) {
            // Another may have been faster.
            Some(known) => Arc::clone(known.get_or_insert_with(|| Arc::new(list))),
            None => Arc::default(),
        })
    }
}

impl Tx<'_> {
    /// A turn begins with these images, which wait no more.
    pub(super) fn take_attached(&mut self, id: ThreadId, taken: &[String]) {
        let Ok(state) = self.world.thread_mut(id) else { return };
        let Some(waiting) = &mut state.attached else { return };
        if taken.is_empty() {
            return;
        }
        Arc::make_mut(waiting).retain(|artifact| !taken.contains(artifact));
        self.keep_attached(id);
    }

    fn keep_attached(&mut self, id: ThreadId) {
        let Ok(state) = self.world.thread(id) else { return };
        if state.thread.ephemeral {
            return;
        }
        let waiting = state.attached.clone().unwrap_or_default();
        self.save(Change::ArtifactsAttached(id, waiting.to_vec()));
    }
}
