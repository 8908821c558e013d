//! Reads threads, open turns and waiting requests back at start. Whatever belongs to a row that
//! is missing or cannot be read is moved to `damaged_rows` with it; turns that have ended, and
//! items, are not decoded here but when they are asked for.

use rookery_model::{Request, Thread, Turn};
use rusqlite::types::Value;
use rusqlite::{Row, Transaction, params};

use super::now;
use crate::thread::{read_request, read_thread, read_turn};

/// What is stored of agents, as far as it is needed from the start.
pub(super) struct Agents {
    pub(super) threads: Vec<Thread>,
    pub(super) open_turns: Vec<Turn>,
    pub(super) requests: Vec<Request>,
    pub(super) damaged_rows: u64,
}

/// Rows that have to go: those of a thread, or of one turn of it.
struct Lost {
    thread: Value,
    turn: Value,
    reason: String,
}

/// A table whose rows may be lost.
struct Table {
    name: &'static str,
    /// The number that stands in `damaged_rows`; ids of 16 bytes do not fit there.
    row: &'static str,
    /// What else names the row, set before its content.
    key: &'static str,
    /// The rows of thread `?1`, or only those of its turn `?2`.
    lost: &'static str,
}

const REQUESTS: Table = Table {
    name: "requests",
    row: "0",
    key: "hex(id) || ' ' || coalesce(hex(thread), '') || ' ' || coalesce(hex(turn), '')",
    lost: "thread = ?1 AND (?2 IS NULL OR turn = ?2)",
};

/// Children first: deleting a parent would delete them before they are kept.
const TABLES: [Table; 6] = [
    REQUESTS,
    Table {
        name: "traces",
        row: "0",
        key: "hex(id) || ' ' || hex(thread) || ' ' || hex(turn)",
        lost: "thread = ?1 AND (?2 IS NULL OR turn = ?2)",
    },
    Table {
        name: "changes",
        row: "number",
        key: "hex(thread) || ' ' || coalesce(hex(turn), '')",
        lost: "thread = ?1 AND (?2 IS NULL OR turn = ?2)",
    },
    Table {
        name: "items",
        row: "position",
        key: "hex(thread) || ' ' || hex(turn)",
        lost: "thread = ?1 AND (?2 IS NULL OR turn = ?2)",
    },
    Table {
        name: "turns",
        row: "0",
        key: "hex(id) || ' ' || hex(thread)",
        lost: "thread = ?1 AND (?2 IS NULL OR id = ?2)",
    },
    Table { name: "threads", row: "0", key: "hex(id)", lost: "id = ?1 AND ?2 IS NULL" },
];

/// Threads that turns, and turns that items and requests belong to, though they do not exist.
const ORPHANS: [(&str, &str); 7] = [
    (
        "SELECT DISTINCT thread, NULL FROM turns
         WHERE NOT EXISTS (SELECT 1 FROM threads WHERE threads.id = turns.thread)",
        "its thread is missing",
    ),
    (
        "SELECT thread, turn FROM (SELECT DISTINCT thread, turn FROM items) AS used
         WHERE NOT EXISTS (
            SELECT 1 FROM turns WHERE turns.thread = used.thread AND turns.id = used.turn)",
        "its turn is missing",
    ),
    (
        "SELECT thread, turn FROM (SELECT DISTINCT thread, turn FROM traces) AS used
         WHERE NOT EXISTS (
            SELECT 1 FROM turns WHERE turns.thread = used.thread AND turns.id = used.turn)",
        "its turn is missing",
    ),
    (
        "SELECT DISTINCT thread, NULL FROM changes
         WHERE NOT EXISTS (SELECT 1 FROM threads WHERE threads.id = changes.thread)",
        "its thread is missing",
    ),
    (
        "SELECT thread, turn FROM (SELECT DISTINCT thread, turn FROM changes) AS used
         WHERE turn IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM turns WHERE turns.thread = used.thread AND turns.id = used.turn)",
        "its turn is missing",
    ),
    (
        // What a client asks in a thread has no turn.
        "SELECT DISTINCT thread, NULL FROM requests
         WHERE thread IS NOT NULL AND turn IS NULL
            AND NOT EXISTS (SELECT 1 FROM threads WHERE threads.id = requests.thread)",
        "its thread is missing",
    ),
    (
        "SELECT thread, turn FROM (SELECT DISTINCT thread, turn FROM requests) AS used
         WHERE turn IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM turns WHERE turns.thread = used.thread AND turns.id = used.turn)",
        "its turn is missing",
    ),
];

/// Reads what is needed. Orphans are looked for if the caller has the time; else they stay where
/// they are, and readers do not see them.
pub(super) fn load(transaction: &Transaction<'_>, find_orphans: bool) -> rusqlite::Result<Agents> {
    let mut damaged_rows = 0;
    let whole_thread = |row: &Row<'_>| Ok((row.get(0)?, Value::Null));
    let threads = readable(
        transaction,
        "SELECT id, body FROM threads ORDER BY id",
        read_thread,
        whole_thread,
    )?;
    damaged_rows += set_aside_all(transaction, &threads.1)?;
    if find_orphans {
        for (sql, reason) in ORPHANS {
            damaged_rows += set_aside_all(transaction, &orphans(transaction, sql, reason)?)?;
        }
    }
    let one_turn = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let turns = readable(
        transaction,
        "SELECT thread, id, is_open, body FROM turns WHERE is_open = 1 ORDER BY thread, id",
        |row| {
            let turn = read_turn(row)?;
            let known = threads.0.binary_search_by_key(&turn.thread, |thread| thread.id);
            known.map(|_| turn).map_err(|_| "its thread is missing".to_owned())
        },
        one_turn,
    )?;
    damaged_rows += set_aside_all(transaction, &turns.1)?;
    let requests = requests(transaction, &mut damaged_rows)?;
    Ok(Agents { threads: threads.0, open_turns: turns.0, requests, damaged_rows })
}

fn requests(
    transaction: &Transaction<'_>,
    damaged_rows: &mut u64,
) -> rusqlite::Result<Vec<Request>> {
    let (requests, lost) = readable(
        transaction,
        "SELECT id, thread, turn, is_pending, body, thread IS NULL OR CASE
            WHEN turn IS NULL THEN EXISTS (
                SELECT 1 FROM threads WHERE threads.id = requests.thread)
            ELSE EXISTS (
                SELECT 1 FROM turns WHERE turns.thread = requests.thread AND turns.id = requests.turn)
            END
         FROM requests WHERE is_pending = 1 ORDER BY id",
        |row| match row.get(5) {
            Ok(true) => read_request(row),
            _ => Err("its thread or turn is missing".to_owned()),
        },
        |row| Ok((row.get(0)?, Value::Null)),
    )?;
    for Lost { thread: id, turn, reason } in &lost {
        let one = Table { lost: "id = ?1 AND ?2 IS NULL", ..REQUESTS };
        *damaged_rows += set_aside(transaction, &one, id, turn, reason)?;
    }
    Ok(requests)
}

/// All rows that can be read, each decoded once, and the keys of those that cannot.
fn readable<T>(
    transaction: &Transaction<'_>,
    sql: &str,
    read: impl Fn(&Row<'_>) -> Result<T, String>,
    key: impl Fn(&Row<'_>) -> rusqlite::Result<(Value, Value)>,
) -> rusqlite::Result<(Vec<T>, Vec<Lost>)> {
    let mut statement = transaction.prepare(sql)?;
    let mut rows = statement.query([])?;
    let (mut found, mut lost) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        match read(row) {
            Ok(value) => found.push(value),
            Err(reason) => {
                let (thread, turn) = key(row)?;
                lost.push(Lost { thread, turn, reason });
            }
        }
    }
    Ok((found, lost))
}

fn orphans(transaction: &Transaction<'_>, sql: &str, reason: &str) -> rusqlite::Result<Vec<Lost>> {
    let mut statement = transaction.prepare(sql)?;
    let lost = statement.query_map([], |row| {
        Ok(Lost { thread: row.get(0)?, turn: row.get(1)?, reason: reason.to_owned() })
    })?;
    lost.collect()
}

fn set_aside_all(transaction: &Transaction<'_>, lost: &[Lost]) -> rusqlite::Result<u64> {
    let mut moved = 0;
    for Lost { thread, turn, reason } in lost {
        for table in &TABLES {
            moved += set_aside(transaction, table, thread, turn, reason)?;
        }
    }
    Ok(moved)
}

/// Moves the rows of one table to `damaged_rows` and says how many there were.
fn set_aside(
    transaction: &Transaction<'_>,
    table: &Table,
    thread: &Value,
    turn: &Value,
    reason: &str,
) -> rusqlite::Result<u64> {
    let Table { name, row, key, lost } = table;
    let keep = format!(
        "INSERT INTO damaged_rows (source, row, content, reason, at)
         SELECT '{name}', {row}, CAST({key} || char(10) || body AS BLOB), ?3, ?4
         FROM {name} WHERE {lost}"
    );
    let at = now().as_micros();
    let moved = transaction.prepare_cached(&keep)?.execute(params![thread, turn, reason, at])?;
    if moved > 0 {
        tracing::warn!(source = *name, rows = moved, reason, "stored rows are set aside");
        let delete = format!("DELETE FROM {name} WHERE {lost}");
        transaction.prepare_cached(&delete)?.execute(params![thread, turn])?;
    }
    Ok(moved as u64)
}
