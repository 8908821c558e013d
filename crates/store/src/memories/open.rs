//! Opens the database of memories: looks at the file first, and moves a damaged one aside.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags};

use super::{Place, schema};
use crate::StoreError;
use crate::error::is_damage;
use crate::files::{self, Found};

/// Up to this size a database is checked page by page when it is opened.
const CHECKED_SIZE: u64 = 64 << 20;
/// How long a connection waits for another.
const BUSY: Duration = Duration::from_secs(5);

/// Why a database was not opened.
enum OpenError {
    Damaged(String),
    Stop(StoreError),
}

/// Opens a file for writing; the second part says what was moved aside.
pub(super) fn file(path: &Path) -> Result<(Connection, Option<String>), StoreError> {
    let unusable = |error: io::Error| StoreError::unusable(path, error);
    if let Some(dir) = path.parent() {
        files::make_dir(dir).map_err(unusable)?;
    }
    match open_file(path) {
        Ok(connection) => Ok((connection, None)),
        Err(OpenError::Stop(error)) => Err(error),
        Err(OpenError::Damaged(reason)) => {
            let aside = set_aside(path).map_err(unusable)?;
            tracing::warn!(reason, aside, "the memories were damaged and are moved aside");
            let opened = open_file(path).map_err(|trouble| match trouble {
                OpenError::Damaged(reason) => StoreError::unusable(path, reason),
                OpenError::Stop(error) => error,
            })?;
            Ok((opened, Some(format!("memories could not be read ({reason}): see {aside}"))))
        }
    }
}

fn open_file(path: &Path) -> Result<Connection, OpenError> {
    let stop = |error: io::Error| OpenError::Stop(StoreError::unusable(path, error));
    for suffix in ["-wal", "-shm"] {
        if matches!(files::look(&files::beside(path, suffix)).map_err(stop)?, Found::Other) {
            return Err(OpenError::Damaged("a file beside it is not a regular file".to_owned()));
        }
    }
    let length = match files::look(path).map_err(stop)? {
        Found::Other => return Err(OpenError::Damaged("it is not a regular file".to_owned())),
        Found::Nothing => {
            files::create_private(path).map_err(stop)?;
            0
        }
        Found::File(length) => {
            files::make_private(path);
            length
        }
    };
    let trouble = |error: rusqlite::Error| match is_damage(&error) {
        true => OpenError::Damaged(error.to_string()),
        false => OpenError::Stop(StoreError::unusable(path, error)),
    };
    let mut connection = connect(path, false).map_err(trouble)?;
    if length > 0 && length < CHECKED_SIZE {
        let said: String =
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(trouble)?;
        if said != "ok" {
            return Err(OpenError::Damaged(said));
        }
    }
    match schema::format(&connection).map_err(trouble)? {
        Some(found) if found > schema::FORMAT => {
            let (path, known) = (path.to_owned(), schema::FORMAT);
            return Err(OpenError::Stop(StoreError::TooNew { path, found, known }));
        }
        found => prepare(&mut connection, found.is_none()).map_err(trouble)?,
    }
    Ok(connection)
}

/// A database in memory, and its name.
pub(super) fn memory() -> Result<(String, Connection), StoreError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("file:/rookery-memories-{number}?vfs=memdb");
    let stop = |error: rusqlite::Error| StoreError::unusable(Path::new("memory"), error);
    let mut connection = connect_memory(&name).map_err(stop)?;
    prepare(&mut connection, true).map_err(stop)?;
    Ok((name, connection))
}

/// A further connection, for reading.
pub(super) fn reader(place: &Place) -> rusqlite::Result<Connection> {
    let connection = match place {
        Place::File(path) => connect(path, true)?,
        Place::Memory(name) => connect_memory(name)?,
    };
    schema::prepare_reader(&connection)?;
    Ok(connection)
}

fn connect(path: &Path, reads_only: bool) -> rusqlite::Result<Connection> {
    let mode = match reads_only {
        true => OpenFlags::SQLITE_OPEN_READ_ONLY,
        false => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY)?;
    Ok(connection)
}

fn connect_memory(name: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = Connection::open_with_flags(name, flags)?;
    connection.busy_timeout(BUSY)?;
    Ok(connection)
}

fn prepare(connection: &mut Connection, is_new: bool) -> rusqlite::Result<()> {
    connection
        .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0))?;
    // What was saved is promised, and seldom enough to be synced.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(32);
    match is_new {
        true => schema::create(connection),
        false => schema::mend_words(connection),
    }
}

/// Moves a database and what SQLite keeps beside it out of the way, and says where it now lies.
fn set_aside(path: &Path) -> io::Result<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let free = |target: &Path| fs::symlink_metadata(target).is_err();
    let mut target = files::beside(path, &format!(".corrupt-{now}"));
    for number in 2..1_000 {
        if free(&target) {
            break;
        }
        target = files::beside(path, &format!(".corrupt-{now}-{number}"));
    }
    for suffix in ["", "-wal", "-shm"] {
        match fs::rename(files::beside(path, suffix), files::beside(&target, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(target.display().to_string())
}
