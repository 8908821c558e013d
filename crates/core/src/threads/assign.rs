//! Assignments of threads: what clients that drive them as pieces of work set for them.

use rookery_model::{Assignment, Result, ThreadId};

use crate::log::ThreadChange;
use crate::rooms::Threads;

impl Threads {
    /// Sets what a thread is to do by itself, or that it is talked with again.
    ///
    /// # Errors
    /// If there is no such thread.
    pub async fn assign(&self, id: ThreadId, assignment: Option<Assignment>) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                tx.world.thread_mut(id)?.thread.assignment = assignment.map(Box::new);
                tx.save_thread(id);
                tx.announce(id, ThreadChange::Assigned);
                Ok(())
            })
            .await
    }
}
