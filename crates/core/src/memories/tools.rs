//! What tools want of memories, for the thread that they work for.

use rookery_agent::tools::{MemoryAnswer, MemoryCall};
use rookery_model::{Result, ThreadId, TurnId};

use super::MemoryPlace;
use crate::rooms::Memories;

impl Memories {
    /// Does what a tool of a thread wants.
    ///
    /// # Errors
    /// As the method that it comes to.
    pub(crate) async fn for_tool(
        &self,
        thread: ThreadId,
        turn: Option<(ThreadId, TurnId)>,
        call: MemoryCall,
    ) -> Result<MemoryAnswer> {
        let seen = self.core.threads().get(thread);
        let cwd = seen.ok_or_else(|| crate::world::no_thread(thread))?.thread.cwd;
        let place = MemoryPlace { cwd, turn };
        Ok(match call {
            MemoryCall::Save { scope, text, metadata } => {
                let (memory, is_known) = self.save(&place, scope, text, metadata).await?;
                MemoryAnswer::Saved(Box::new(memory), is_known)
            }
            MemoryCall::Query { scope, text, limit } => {
                let found = self.query(&place, scope, &text, limit, false).await?;
                let found = found.hits.into_iter().map(|hit| (hit.memory, hit.score));
                MemoryAnswer::Found(found.collect())
            }
            MemoryCall::Read(id) => MemoryAnswer::Read(self.read(&id).await?.map(Box::new)),
            MemoryCall::Update { id, text, metadata } => {
                MemoryAnswer::Updated(Box::new(self.update(&id, text, metadata).await?))
            }
            MemoryCall::Delete(id) => MemoryAnswer::Deleted(self.delete(&id).await?),
        })
    }
}
