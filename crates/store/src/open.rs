//! Opens the store: finds out what state its files are in, moves damaged ones aside, and
//! settles which numbers come next.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rookery_model::{
    EventSeq, Project, ProjectId, Record, Request, Task, Terminal, TerminalId, Thread, Turn,
};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{is_cannot_open, is_damage};
use crate::files::{self, Found};
use crate::load::{self, Contents};
use crate::reserved::{Mark, Numbers, Reserved, Sidecar};
use crate::salvage::{Salvage, salvage};
use crate::{StoreError, change, schema};

/// Up to this size a database is checked page by page and row by row at start; it takes some
/// tenths of a second.
const CHECKED_SIZE: u64 = 64 << 20;

/// The write-ahead log is cut back to this size after it was copied into the database.
const KEPT_LOG_SIZE: i64 = 16 << 20;

/// Where what can be read of a damaged database is gathered.
const SALVAGED: &str = "rookery.db.salvaged";

/// The world as it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// All projects, in order.
    pub projects: Vec<Project>,
    /// All terminals, in the order of their projects and then in order within them.
    pub terminals: Vec<Terminal>,
    /// How the panes of projects are arranged, in the words of who set it.
    pub layouts: Vec<(ProjectId, String)>,
    /// The active terminal, if it still exists.
    pub active: Option<TerminalId>,
    /// The selected project, if it still exists.
    pub active_project: Option<ProjectId>,
    /// All threads, by id.
    pub threads: Vec<Thread>,
    /// The turns that had not ended.
    pub open_turns: Vec<Turn>,
    /// The open requests, by id.
    pub requests: Vec<Request>,
    /// The newest of those that were settled, oldest first.
    pub settled: Vec<Request>,
    /// What supervision keeps.
    pub records: Vec<Record>,
    /// Background tasks, those that are over among them.
    pub tasks: Vec<Task>,
    /// The number of the next event; no event ever had it.
    pub next_event: EventSeq,
    /// The id of the next project; no project ever had it.
    pub next_project: ProjectId,
    /// The id of the next terminal; no terminal ever had it.
    pub next_terminal: TerminalId,
    /// Whether the mask was over everything here, when it was saved or afterwards. What was salvaged
    /// may be older than that.
    pub is_masked: bool,
    /// What had to be moved aside, to be reported to the user.
    pub damage: Option<Damage>,
}

/// Something stored could not be read and was moved aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where the whole database now lies, if it had to go. `None` if it was missing, or if only
    /// single rows were bad; those are in its table `damaged_rows`.
    pub moved_to: Option<PathBuf>,
    /// How many single rows were moved aside.
    pub rows: u64,
    /// What was saved from the whole database, if it had to go.
    pub salvage: Option<Salvage>,
    /// What was wrong.
    pub reason: String,
}

/// Everything the running store needs.
pub(crate) struct Opened {
    pub(crate) writing: Connection,
    pub(crate) reading: Connection,
    pub(crate) reserved: Reserved,
    pub(crate) next: Numbers,
    pub(crate) commits: u64,
    pub(crate) loaded: Loaded,
}

/// Why a database could not be opened.
enum OpenError {
    /// It is bad and may be moved aside.
    Damaged(String),
    /// It must stay where it is.
    Stop(StoreError),
}

impl OpenError {
    /// The error, where nothing more can be done.
    fn of(self, database: &Path) -> StoreError {
        match self {
            OpenError::Damaged(reason) => StoreError::unusable(database, reason),
            OpenError::Stop(error) => error,
        }
    }
}

pub(crate) fn open(dir: &Path, busy_timeout: Duration) -> Result<Opened, StoreError> {
    let unusable = |error: std::io::Error| StoreError::unusable(dir, error);
    files::make_dir(dir).map_err(unusable)?;
    let database = dir.join(files::DATABASE);
    if matches!(files::look(&database), Ok(Found::Nothing))
        && is_readable(&dir.join(SALVAGED))
        && files::put_in_place(dir, SALVAGED).is_ok()
    {
        tracing::warn!("what was saved of a damaged store is put in its place");
    }
    let mut sidecar = Sidecar::read(dir);
    let new_is_fine = sidecar == Sidecar::Absent;
    let (mut writing, contents, damage) = match open_database(&database, new_is_fine, busy_timeout)
    {
        Ok((connection, contents)) => (connection, contents, None),
        Err(OpenError::Stop(error)) => return Err(error),
        Err(OpenError::Damaged(reason)) => {
            if sidecar.bounds().is_none() {
                // Before the database goes: should we die in between, it would not be known any
                // more that numbers were ever given out.
                let reserved = Reserved::open(dir, Sidecar::Absent, Numbers::from_clock(), 0);
                drop(reserved.map_err(unusable)?);
                sidecar = Sidecar::read(dir);
            }
            let (connection, contents, damage) = replace_damaged(dir, reason, busy_timeout)?;
            (connection, contents, Some(damage))
        }
    };
    let stop = |error: rusqlite::Error| StoreError::unusable(&database, error);
    let commits = change::commits(&writing).map_err(stop)?;
    let (next, loss) = next_numbers(&contents, sidecar, commits, damage.is_some());
    let commits = sidecar.mark().map_or(commits, |mark| mark.commits.max(commits)) + 1;
    let transaction = writing.transaction().map_err(stop)?;
    change::set_numbers(&transaction, next).map_err(stop)?;
    change::set_commits(&transaction, commits).map_err(stop)?;
    transaction.commit().map_err(stop)?;
    let reserved = Reserved::open(dir, sidecar, next, commits).map_err(unusable)?;
    let reading = open_for_reading(&database, busy_timeout).map_err(stop)?;
    let damage = damage.or(loss);
    Ok(Opened { writing, reading, reserved, next, commits, loaded: loaded(contents, next, damage) })
}

/// Moves a damaged database aside and puts a new one in its place, with what can be read of it. The
/// new one is whole before the other one goes: whenever we die, one of them is there to start from.
fn replace_damaged(
    dir: &Path,
    reason: String,
    busy_timeout: Duration,
) -> Result<(Connection, Contents, Damage), StoreError> {
    let database = dir.join(files::DATABASE);
    let cannot = |error: std::io::Error| {
        StoreError::unusable(&database, format!("{reason}; and it cannot be moved aside: {error}"))
    };
    let salvage = match is_readable(&database) {
        true => Some(salvage_beside(dir, &database, busy_timeout)?),
        false => None,
    };
    let moved_to = files::set_aside(dir).map_err(cannot)?;
    tracing::warn!(reason, moved_to = ?moved_to, "the store was damaged and is moved aside");
    if salvage.is_some() {
        files::put_in_place(dir, SALVAGED).map_err(cannot)?;
    }
    let opened = open_database(&database, true, busy_timeout);
    let (connection, contents) = opened.map_err(|trouble| trouble.of(&database))?;
    let summary = salvage.as_ref().map(|saved| format!("; {}", saved.summary()));
    let reason = format!("{reason}{}", summary.unwrap_or_default());
    let rows = contents.damaged_rows;
    Ok((connection, contents, Damage { moved_to, rows, salvage, reason }))
}

/// Makes a new database beside the damaged one, of all that can be read of it.
fn salvage_beside(
    dir: &Path,
    database: &Path,
    busy_timeout: Duration,
) -> Result<Salvage, StoreError> {
    let target = dir.join(SALVAGED);
    // Left over from a process that died at this.
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(files::beside(&target, suffix));
    }
    let opened = open_database(&target, true, busy_timeout);
    let (mut connection, _) = opened.map_err(|trouble| trouble.of(&target))?;
    let stop = |error: rusqlite::Error| StoreError::unusable(&target, error);
    let saved = salvage(database, &mut connection).map_err(stop)?;
    tracing::warn!(summary = saved.summary(), "what could be read of the store was saved");
    connection.close().map_err(|(_, error)| stop(error))?;
    Ok(saved)
}

/// Whether there is something to be read at all.
fn is_readable(path: &Path) -> bool {
    matches!(files::look(path), Ok(Found::File(length)) if length > 0)
}

/// A store that is forgotten with the last of its connections.
pub(crate) fn open_in_memory(busy_timeout: Duration) -> Result<Opened, StoreError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // The name is known to this process alone; it lets both connections find the same database.
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("file:/rookery-{number}?vfs=memdb");
    let stop = |error: rusqlite::Error| StoreError::unusable(Path::new("memory"), error);
    let flags = OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connect = |mode| -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(&name, flags | mode)?;
        connection.busy_timeout(busy_timeout)?;
        Ok(connection)
    };
    let creating = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut writing = connect(creating).map_err(stop)?;
    configure(&writing).map_err(stop)?;
    schema::migrate(&mut writing).map_err(stop)?;
    let contents = load::load(&mut writing, false).map_err(stop)?;
    let next = Numbers::FIRST;
    change::set_numbers(&writing, next).map_err(stop)?;
    let reading = connect(OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(stop)?;
    let reserved = Reserved::in_memory(next);
    let loaded = loaded(contents, next, None);
    Ok(Opened { writing, reading, reserved, next, commits: 0, loaded })
}

fn loaded(contents: Contents, next: Numbers, damage: Option<Damage>) -> Loaded {
    let rows = contents.damaged_rows;
    let damage = damage.or_else(|| {
        let reason = format!("{rows} rows could not be read");
        (rows > 0).then_some(Damage { moved_to: None, rows, salvage: None, reason })
    });
    Loaded {
        projects: contents.projects,
        terminals: contents.terminals,
        layouts: contents.layouts,
        active: contents.active,
        active_project: contents.active_project,
        threads: contents.threads,
        open_turns: contents.open_turns,
        requests: contents.requests,
        settled: contents.settled,
        records: contents.records,
        tasks: contents.tasks,
        next_event: next.event,
        next_project: next.project,
        next_terminal: next.terminal,
        is_masked: contents.is_masked && damage.is_none(),
        damage,
    }
}

/// Continues without a gap where the database can be trusted to know all numbers, and else
/// beyond the reserved ones. Tells what was lost, if the database knows less than was shown.
fn next_numbers(
    contents: &Contents,
    sidecar: Sidecar,
    commits: u64,
    is_damaged: bool,
) -> (Numbers, Option<Damage>) {
    let known = contents.seen.max(contents.written.unwrap_or(Numbers::FIRST));
    let is_new = contents.written.is_none();
    if let Sidecar::Known { bounds, mark: Some(mark), .. } = sidecar
        && !(is_damaged || is_new)
        && (commits < mark.commits || known.max(mark.next) != known)
    {
        let reason = lost_commits(known, commits, mark);
        tracing::error!(reason, "the store is older than what was shown; numbers skip ahead");
        let damage = Damage { moved_to: None, rows: 0, salvage: None, reason };
        return (known.max(bounds), Some(damage));
    }
    let next = match sidecar {
        Sidecar::Known { bounds, .. } if is_new || is_damaged => known.max(bounds),
        Sidecar::Known { bounds, is_mark_torn: true, .. } => {
            tracing::warn!("what was shown cannot be told; numbers skip ahead");
            known.max(bounds)
        }
        Sidecar::Known { bounds, interrupted: true, .. } => {
            tracing::warn!("the machine went down while the store was in use; numbers skip ahead");
            known.max(bounds)
        }
        Sidecar::Known { bounds, .. } if known.is_stale(bounds) => {
            tracing::warn!("an older database was put in place; numbers skip ahead");
            known.max(bounds)
        }
        Sidecar::Damaged if is_new => known.max(Numbers::from_clock()),
        Sidecar::Known { .. } | Sidecar::Damaged | Sidecar::Absent => known,
    };
    (next, None)
}

/// What is missing, in words for people.
fn lost_commits(known: Numbers, commits: u64, mark: Mark) -> String {
    let missing = mark.commits.saturating_sub(commits);
    let (first, end) = (known.event.get(), mark.next.event.get());
    let events = match end.saturating_sub(first) {
        0 => "no event among them".to_owned(),
        1 => format!("with them event {first}"),
        _ => format!("with them events {first} to {}", end - 1),
    };
    format!(
        "the write-ahead log of the store is torn, missing or of another time: \
         the newest {missing} commits are lost, {events}"
    )
}

fn open_database(
    database: &Path,
    new_is_fine: bool,
    busy_timeout: Duration,
) -> Result<(Connection, Contents), OpenError> {
    let length = prepare(database, new_is_fine)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let trouble = |error| trouble(database, error);
    let mut connection = Connection::open_with_flags(database, flags).map_err(trouble)?;
    connection.busy_timeout(busy_timeout).map_err(trouble)?;
    let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    // Until we know that the format is ours, not even closing may change the file.
    connection.set_db_config(no_checkpoint, true).map_err(trouble)?;
    let found = schema::version(&connection).map_err(trouble)?;
    if found > schema::VERSION {
        let path = database.to_owned();
        return Err(OpenError::Stop(StoreError::TooNew { path, found, known: schema::VERSION }));
    }
    if connection.is_readonly("main").map_err(trouble)? {
        return Err(OpenError::Damaged("the database file may not be written".to_owned()));
    }
    if length < CHECKED_SIZE {
        let said: String =
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(trouble)?;
        if said != "ok" {
            return Err(OpenError::Damaged(said));
        }
    }
    connection.set_db_config(no_checkpoint, false).map_err(trouble)?;
    configure(&connection).map_err(trouble)?;
    schema::migrate(&mut connection).map_err(trouble)?;
    let contents = load::load(&mut connection, length < CHECKED_SIZE).map_err(trouble)?;
    Ok((connection, contents))
}

/// Looks at the files before SQLite does, and gives its length once a usable file is there.
fn prepare(database: &Path, new_is_fine: bool) -> Result<u64, OpenError> {
    let stop = |error: std::io::Error| OpenError::Stop(StoreError::unusable(database, error));
    let damaged = |reason: &str| Err(OpenError::Damaged(reason.to_owned()));
    let mut log_length = 0;
    for suffix in ["-wal", "-shm"] {
        match files::look(&files::beside(database, suffix)).map_err(stop)? {
            Found::File(length) if suffix == "-wal" => log_length = length,
            Found::File(_) | Found::Nothing => {}
            Found::Other => return damaged("a file beside the database is not a regular file"),
        }
    }
    // SQLite would throw the log of an empty database away, and all that is in it.
    let may_be_new = new_is_fine && log_length == 0;
    match files::look(database).map_err(stop)? {
        Found::Other => damaged("the database is not a regular file"),
        Found::Nothing if may_be_new => {
            files::create_private(database).map_err(stop)?;
            Ok(0)
        }
        Found::Nothing => damaged("the database file is missing"),
        Found::File(0) if !may_be_new => damaged("the database file is empty"),
        Found::File(length) => {
            // Before SQLite opens it: the files that it creates beside it get the same mode.
            files::make_private(database);
            Ok(length)
        }
    }
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0))?;
    // A commit is in the kernel's hands before its ticket completes, so it survives the death of
    // this process. Only a crash of the machine can lose the newest commits, and with it every
    // terminal they speak of; paying an fsync for each commit would not bring those back. The
    // sidecar sees to it that no number repeats even then. The writer pays for those commits
    // whose worth does not end with the machine.
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update_and_check(None, "journal_size_limit", KEPT_LOG_SIZE, |row| {
        row.get::<_, i64>(0)
    })?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}

fn open_for_reading(database: &Path, busy_timeout: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database, flags)?;
    connection.busy_timeout(busy_timeout)?;
    Ok(connection)
}

fn trouble(database: &Path, error: rusqlite::Error) -> OpenError {
    // "Cannot open" may be the file's fault (its mode) or the machine's (no descriptors left);
    // a healthy database must not be moved aside for the latter.
    let forbidden = || {
        std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(database)
            .is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
    };
    if is_damage(&error) || (is_cannot_open(&error) && forbidden()) {
        OpenError::Damaged(error.to_string())
    } else {
        OpenError::Stop(StoreError::unusable(database, error))
    }
}
