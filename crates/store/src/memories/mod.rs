//! Memories: a database of its own beside the store, searched by words and, if there are any, by vectors.
//!
//! Every call blocks. Texts come without secrets; what a scope is called, who may see it and which
//! server makes vectors is not known here. How records are ranked is in [`search`].

mod index;
mod open;
mod schema;
mod search;
mod vectors;
mod words;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use rookery_model::{Memory, MemoryScope, Timestamp};
use rusqlite::{Connection, Row};

use self::index::Index;
use crate::StoreError;

pub use search::{FoundMemory, MemoryQuery};
pub use vectors::{Embedded, Unembedded, VectorQuery};
pub use write::{MemoryDraft, SavedMemory};

/// Memories that there may be, without those that were deleted.
pub const MOST_MEMORIES: usize = 250_000;

/// Connections for reading that are kept open.
const KEPT_READERS: usize = 4;

/// The columns of a record, in the order in which [`memory_of`] reads them.
const COLUMNS: &str = "seq, id, scope_id, text, content_hash, metadata, use_count, last_used_at, \
                       created_at, updated_at";

/// Where vectors come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryProvider {
    /// The provider's id.
    pub provider: String,
    /// The model's name there.
    pub model: String,
}

/// The memories of one file. Cheap to clone.
#[derive(Clone)]
pub struct Memories {
    inner: Arc<Inner>,
}

struct Inner {
    /// How the database is reached by another connection.
    place: Place,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    /// What ranking needs of every record; changed after the database was.
    index: RwLock<Index>,
}

enum Place {
    File(PathBuf),
    /// The name of a database in memory, which lives as long as a connection does.
    Memory(String),
}

impl Memories {
    /// Opens a file, or makes it. One that is damaged is moved aside; the second part says so.
    ///
    /// # Errors
    /// If the file cannot be used and is not damaged either: it stays as it is.
    pub fn open(path: &Path) -> Result<(Self, Option<String>), StoreError> {
        let (connection, damage) = open::file(path)?;
        let memories = Self::from_connection(Place::File(path.to_owned()), connection)?;
        Ok((memories, damage))
    }

    /// Memories that are forgotten with the last handle to them.
    ///
    /// # Errors
    /// If SQLite cannot be used at all.
    pub fn in_memory() -> Result<Self, StoreError> {
        let (name, connection) = open::memory()?;
        Self::from_connection(Place::Memory(name), connection)
    }

    fn from_connection(place: Place, writer: Connection) -> Result<Self, StoreError> {
        let index = Index::load(&writer).map_err(unreadable)?;
        let inner = Inner {
            place,
            writer: Mutex::new(writer),
            readers: Mutex::default(),
            index: RwLock::new(index),
        };
        Ok(Memories { inner: Arc::new(inner) })
    }

    /// A memory by its id; none if there is none, or it was deleted.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn get(&self, id: &str) -> Result<Option<Memory>, StoreError> {
        self.read(|connection| {
            let sql =
                format!("SELECT {COLUMNS} FROM rookery_memories WHERE id = ?1 AND is_deleted = 0");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([id])?;
            rows.next()?.map(memory_of).transpose()
        })
    }

    /// The newest memories of these scopes, or of all; the one that was changed last comes first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn newest(
        &self,
        scopes: Option<&[String]>,
        limit: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        let refs = self.inner.index.read().refs(scopes);
        self.read(|connection| {
            let within = match &refs {
                None => String::new(),
                Some(refs) => {
                    let list: Vec<String> = refs.iter().map(u32::to_string).collect();
                    format!("AND scope IN ({})", list.join(", "))
                }
            };
            let sql = format!(
                "SELECT {COLUMNS} FROM rookery_memories WHERE is_deleted = 0 {within} \
                 ORDER BY updated_at DESC, seq DESC LIMIT ?1"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let found = statement.query_map([limit], memory_of)?;
            found.collect()
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.inner.index.read().total()
    }

    /// Reads with a connection that no other has.
    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let kept = self.inner.readers.lock().pop();
        let connection = match kept {
            Some(connection) => connection,
            None => open::reader(&self.inner.place).map_err(unreadable)?,
        };
        let done = work(&connection).map_err(unreadable);
        let mut readers = self.inner.readers.lock();
        // After a failure its temporary tables may be in any state.
        if done.is_ok() && readers.len() < KEPT_READERS {
            readers.push(connection);
        }
        done
    }
}

fn unreadable(error: rusqlite::Error) -> StoreError {
    StoreError::Unreadable(error.to_string())
}

fn unavailable(error: rusqlite::Error) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

/// A record as it stands in a row of [`COLUMNS`].
fn memory_of(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let scope: String = row.get(2)?;
    let last_used: Option<i64> = row.get(7)?;
    Ok(Memory {
        id: row.get(1)?,
        // What is no scope was written by hand, and is shown to no project.
        scope: MemoryScope::from_id(&scope).unwrap_or(MemoryScope::Thread(scope)),
        text: row.get(3)?,
        content_hash: row.get(4)?,
        metadata: row.get(5)?,
        use_count: u64::try_from(row.get::<_, i64>(6)?).unwrap_or(0),
        last_used_at: last_used.map(Timestamp::from_micros),
        created_at: Timestamp::from_micros(row.get(8)?),
        updated_at: Timestamp::from_micros(row.get(9)?),
    })
}
