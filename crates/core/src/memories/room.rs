//! The database of memories, opened when it is first needed.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;
use rookery_model::Result;
use rookery_store::{Memories as Database, StoreError};
use tokio::sync::OnceCell;

use super::{MemoryChoice, import};
use crate::core::blocking;
use crate::rooms::Memories;

/// The file of memories in the directory of data.
pub(crate) struct Room {
    /// Where they are; none forgets them with this process.
    path: Option<PathBuf>,
    database: OnceCell<Database>,
    /// Where vectors come from, once the database is open.
    pub(super) chosen: RwLock<Option<MemoryChoice>>,
    /// Whether a task makes vectors.
    pub(super) is_embedding: AtomicBool,
    /// Whether there may be more to do than it knows.
    pub(super) has_more: AtomicBool,
}

impl Room {
    pub(crate) fn new(path: Option<PathBuf>) -> Room {
        Room {
            path,
            database: OnceCell::new(),
            chosen: RwLock::default(),
            is_embedding: AtomicBool::new(false),
            has_more: AtomicBool::new(false),
        }
    }
}

impl Memories {
    pub(super) fn room(&self) -> &Room {
        &self.core.inner.memories
    }

    /// Works with the database, off the runtime's threads.
    pub(super) async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database) -> std::result::Result<T, StoreError> + Send + 'static,
    ) -> Result<T> {
        let database = self.database().await?;
        Ok(blocking(move || work(&database)).await??)
    }

    async fn database(&self) -> Result<Database> {
        let room = self.room();
        let is_new = !room.database.initialized();
        let opened = room.database.get_or_try_init(async || {
            let path = room.path.clone();
            let Opened { database, chosen, damage } = blocking(move || open(path)).await??;
            *room.chosen.write() = chosen;
            if let Some(damage) = damage {
                self.core.say_damage("The file of memories was damaged", damage);
            }
            Ok::<_, rookery_model::Error>(database)
        });
        let database = opened.await?.clone();
        if is_new {
            // What was saved while the server could not be asked.
            self.embed_soon();
        }
        Ok(database)
    }

    /// Whether anything can be remembered: looking for it would only make an empty file.
    pub(super) async fn may_have_some(&self) -> bool {
        let room = self.room();
        if room.database.initialized() {
            return true;
        }
        let Some(path) = room.path.clone() else { return false };
        let exists =
            move || import::waits(&path) || rookery_host::files::open_regular(&path).is_ok();
        blocking(exists).await.unwrap_or(false)
    }

    /// Says that records may lack vectors; true for the one who has to see to it.
    pub(super) fn takes_embedding(&self) -> bool {
        self.room().has_more.store(true, Ordering::Release);
        !self.room().is_embedding.swap(true, Ordering::AcqRel)
    }
}

/// What opening the file comes to.
struct Opened {
    database: Database,
    chosen: Option<MemoryChoice>,
    /// Why another file was moved aside.
    damage: Option<String>,
}

/// Opens the file and takes in what an older program left beside it.
fn open(path: Option<PathBuf>) -> std::result::Result<Opened, StoreError> {
    let (database, damage) = match &path {
        None => (Database::in_memory()?, None),
        Some(path) => {
            let (database, damage) = Database::open(path)?;
            import::take_in(path, &database);
            (database, damage)
        }
    };
    let chosen = database.provider()?.map(MemoryChoice::from);
    Ok(Opened { database, chosen, damage })
}
