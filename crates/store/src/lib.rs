//! The durable memory of Rookery: projects, terminals, conversations with agents and the numbered
//! event log, in SQLite.
//!
//! This is the only room that knows SQL. It knows nothing of wires, dialects or async
//! runtimes. Writes are described by [`Change`]s and queued in commit order; one thread
//! saves them, publishes their events and completes their [`Ticket`]s, in that order.
//! What a ticket confirmed, or a subscriber was shown, survives `kill -9` of the process.

mod change;
mod decision;
mod encode;
mod error;
mod files;
mod kept;
mod load;
mod memories;
mod open;
mod prune;
mod reserved;
mod salvage;
mod schema;
mod scrub;
mod store;
mod tail;
mod thread;
mod ticket;
mod writer;

pub use change::{Batch, Change};
pub use error::StoreError;
pub use kept::ValueKey;
pub use memories::{
    Embedded, FoundMemory, MOST_MEMORIES, Memories, MemoryDraft, MemoryProvider, MemoryQuery,
    SavedMemory, Unembedded, VectorQuery,
};
pub use open::{Damage, Loaded};
pub use prune::Retention;
pub use salvage::Salvage;
pub use store::{EventPage, MAX_QUEUED, Options, Store};
pub use thread::{StoredItem, ThreadContents};
pub use ticket::Ticket;
pub use writer::{After, Mask, Sink};
