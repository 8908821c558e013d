//! What happens to memories, for all who follow it.

use rookery_model::{Memory, MemoryScope, ThreadId, TurnId};

use super::{Citation, MemoryChoice};

/// Something that happened to memories.
#[derive(Clone, Debug)]
pub enum MemoryChange {
    /// One was saved, for the first time or again.
    Saved(Box<Memory>),
    /// One was changed.
    Updated(Box<Memory>),
    /// One was deleted.
    Deleted(String),
    /// They were searched.
    Queried {
        /// Where first; none for everywhere.
        scope: Option<MemoryScope>,
        /// By which words, without secrets.
        query: String,
        /// How many were found.
        count: usize,
    },
    /// A turn is given some.
    Recalled {
        thread: ThreadId,
        turn: TurnId,
        /// Which, the best first.
        citations: Vec<Citation>,
    },
    /// Vectors come from elsewhere from now on.
    ProviderChanged(MemoryChoice),
    /// All records get vectors from there, one after another.
    ReembedQueued(MemoryChoice),
    /// A turn saved one.
    Observed { thread: ThreadId, turn: TurnId, memory: String },
}

impl MemoryChange {
    /// About how much memory it takes beside itself.
    pub(crate) fn size(&self) -> usize {
        let of_memory = |memory: &Memory| {
            size_of::<Memory>() + memory.text.len() + memory.metadata.len() + memory.id.len()
        };
        match self {
            MemoryChange::Saved(memory) | MemoryChange::Updated(memory) => of_memory(memory),
            MemoryChange::Deleted(id) | MemoryChange::Observed { memory: id, .. } => id.len(),
            MemoryChange::Queried { query, .. } => query.len(),
            MemoryChange::Recalled { citations, .. } => {
                citations.iter().map(|one| size_of::<Citation>() + one.snippet.len()).sum()
            }
            MemoryChange::ProviderChanged(choice) | MemoryChange::ReembedQueued(choice) => {
                choice.provider.len() + choice.model.len()
            }
        }
    }
}
