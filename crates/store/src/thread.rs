//! Reading threads, turns, items and requests: how a row becomes a value, and what a thread
//! consists of. A row whose columns and body differ is as unreadable as one that is torn.

use std::collections::HashMap;

use rookery_model::{
    ChangeRecord, Item, QueuedMessage, Request, RequestId, Steer, Thread, ThreadId, Timestamp,
    Trace, Turn, TurnId,
};
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::change::{Key, is_open, is_pending};
use crate::encode::{self, DecodeError};

/// An item with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredItem {
    /// The turn it belongs to.
    pub turn: TurnId,
    /// Its place in the thread; no other item of the thread has it.
    pub position: u64,
    pub item: Item,
}

/// What was said and done in a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadContents {
    /// Its turns, in the order in which they began.
    pub turns: Vec<Turn>,
    /// Its items, by position. The turn of each is among the turns.
    pub items: Vec<StoredItem>,
    /// What child agents did for its turns, in the order in which they were asked for.
    pub traces: Vec<Trace>,
    /// What happened to files, by number.
    pub changes: Vec<ChangeRecord>,
    /// Turns and items left out because this version cannot read them, and items of such turns:
    /// a newer version wrote them, or they are damaged. They stay where they are.
    pub skipped: u64,
}

/// A column of one row, by its id; nothing if it is empty or there is no such row.
fn column(connection: &Connection, sql: &str, id: impl Key) -> rusqlite::Result<Option<String>> {
    let mut statement = connection.prepare_cached(sql)?;
    let found: Option<Option<String>> =
        statement.query_row([id.key()], |row| row.get(0)).optional()?;
    Ok(found.flatten())
}

pub(crate) fn attached(connection: &Connection, id: ThreadId) -> rusqlite::Result<Vec<String>> {
    let text = column(connection, "SELECT attached FROM threads WHERE id = ?1", id)?;
    Ok(text.as_deref().map(encode::texts_from_json).unwrap_or_default())
}

pub(crate) fn queued(
    connection: &Connection,
    id: ThreadId,
) -> rusqlite::Result<Vec<QueuedMessage>> {
    let text = column(connection, "SELECT queued FROM threads WHERE id = ?1", id)?;
    Ok(text.as_deref().map(encode::queued_from_json).unwrap_or_default())
}

pub(crate) fn steers(connection: &Connection, id: TurnId) -> rusqlite::Result<Vec<Steer>> {
    let text = column(connection, "SELECT steers FROM turns WHERE id = ?1", id)?;
    Ok(text.as_deref().map(encode::steers_from_json).unwrap_or_default())
}

/// Reads columns `id, body` of a thread.
pub(crate) fn read_thread(row: &Row<'_>) -> Result<Thread, String> {
    let thread = decode(row, 1, encode::thread_from_json)?;
    same_id(row, 0, "id", thread.id)?;
    Ok(thread)
}

/// Reads columns `thread, id, is_open, body` of a turn.
pub(crate) fn read_turn(row: &Row<'_>) -> Result<Turn, String> {
    let turn = decode(row, 3, encode::turn_from_json)?;
    same_id(row, 0, "thread", turn.thread)?;
    same_id(row, 1, "id", turn.id)?;
    same_flag(row, 2, "is_open", is_open(&turn))?;
    Ok(turn)
}

/// Reads columns `thread, id, turn, body` of a trace.
fn read_trace(row: &Row<'_>) -> Result<Trace, String> {
    let trace = decode(row, 3, encode::trace_from_json)?;
    same_id(row, 0, "thread", trace.parent.thread)?;
    same_id(row, 1, "id", trace.id)?;
    same_id(row, 2, "turn", trace.parent.turn)?;
    Ok(trace)
}

/// Reads columns `thread, number, turn, body` of what happened to files.
fn read_change(row: &Row<'_>) -> Result<ChangeRecord, String> {
    let record = decode(row, 3, encode::change_from_json)?;
    same_id(row, 0, "thread", record.thread())?;
    match record.turn() {
        Some(turn) => same_id(row, 2, "turn", turn)?,
        None => none_there(row, 2, "turn")?,
    }
    let number = row.get::<_, i64>(1).map_err(|error| error.to_string())?;
    match u64::try_from(number) == Ok(record.number()) {
        true => Ok(record),
        false => Err("its number is another in the table".to_owned()),
    }
}

/// Reads columns `id, thread, turn, is_pending, body` of a request.
pub(crate) fn read_request(row: &Row<'_>) -> Result<Request, String> {
    let request = decode(row, 4, encode::request_from_json)?;
    same_id(row, 0, "id", request.id)?;
    match request.thread() {
        Some(thread) => same_id(row, 1, "thread", thread)?,
        None => none_there(row, 1, "thread")?,
    }
    match request.turn() {
        Some(turn) => same_id(row, 2, "turn", turn)?,
        None => none_there(row, 2, "turn")?,
    }
    same_flag(row, 3, "is_pending", is_pending(&request))?;
    Ok(request)
}

/// Reads columns `position, turn, body` of an item.
fn read_item(row: &Row<'_>) -> Result<StoredItem, String> {
    let text = |error: rusqlite::Error| error.to_string();
    let position = row.get::<_, i64>(0).map_err(text)?;
    Ok(StoredItem {
        turn: TurnId::new(u128::from_be_bytes(row.get(1).map_err(text)?)),
        position: u64::try_from(position).map_err(|error| error.to_string())?,
        item: decode(row, 2, encode::item_from_json)?,
    })
}

fn decode<T>(
    row: &Row<'_>,
    column: usize,
    decode: impl Fn(&str) -> Result<T, DecodeError>,
) -> Result<T, String> {
    let text = row.get_ref(column).map_err(|error| error.to_string())?;
    let text = text.as_str().map_err(|error| error.to_string())?;
    decode(text).map_err(|error| error.to_string())
}

fn same_id(
    row: &Row<'_>,
    column: usize,
    what: &str,
    body: impl Key + ToString + Copy,
) -> Result<(), String> {
    match row.get_ref(column) {
        Ok(ValueRef::Blob(bytes)) if bytes == body.key() => Ok(()),
        _ => Err(format!("{what} is {} in the body and another in the table", body.to_string())),
    }
}

fn none_there(row: &Row<'_>, column: usize, what: &str) -> Result<(), String> {
    match row.get_ref(column) {
        Ok(ValueRef::Null) => Ok(()),
        _ => Err(format!("{what} is none in the body and one in the table")),
    }
}

fn same_flag(row: &Row<'_>, column: usize, what: &str, body: bool) -> Result<(), String> {
    match row.get::<_, bool>(column) {
        Ok(flag) if flag == body => Ok(()),
        _ => Err(format!("{what} is {body} in the body and another in the table")),
    }
}

/// All of a thread; nothing if there is no such thread.
pub(crate) fn contents(
    connection: &mut Connection,
    thread: ThreadId,
) -> rusqlite::Result<ThreadContents> {
    // One transaction, so that turns and items are of the same moment.
    let transaction = connection.transaction()?;
    let mut contents = ThreadContents::default();
    let mut statement = transaction
        .prepare_cached("SELECT thread, id, is_open, body FROM turns WHERE thread = ?1")?;
    let mut rows = statement.query([thread.key()])?;
    while let Some(row) = rows.next()? {
        match read_turn(row) {
            Ok(turn) => contents.turns.push(turn),
            Err(reason) => contents.skip("turn", thread, &reason),
        }
    }
    contents.turns.sort_by_key(|turn| (turn.started_at, turn.id));
    let turns: HashMap<TurnId, Timestamp> =
        contents.turns.iter().map(|turn| (turn.id, turn.started_at)).collect();
    let mut statement = transaction.prepare_cached(
        "SELECT position, turn, body FROM items WHERE thread = ?1 ORDER BY position",
    )?;
    let mut rows = statement.query([thread.key()])?;
    while let Some(row) = rows.next()? {
        match read_item(row) {
            Ok(mut item) => match turns.get(&item.turn) {
                Some(began) => {
                    // Noted since items have a time of their own.
                    if item.item.at == Timestamp::default() {
                        item.item.at = *began;
                    }
                    contents.items.push(item);
                }
                None => contents.skip("item", thread, "its turn is missing"),
            },
            Err(reason) => contents.skip("item", thread, &reason),
        }
    }
    let mut statement = transaction.prepare_cached(
        "SELECT thread, id, turn, body FROM traces WHERE thread = ?1 ORDER BY id",
    )?;
    let mut rows = statement.query([thread.key()])?;
    while let Some(row) = rows.next()? {
        match read_trace(row) {
            Ok(trace) if turns.contains_key(&trace.parent.turn) => contents.traces.push(trace),
            Ok(_) => contents.skip("trace", thread, "its turn is missing"),
            Err(reason) => contents.skip("trace", thread, &reason),
        }
    }
    let mut statement = transaction.prepare_cached(
        "SELECT thread, number, turn, body FROM changes WHERE thread = ?1 ORDER BY number",
    )?;
    let mut rows = statement.query([thread.key()])?;
    while let Some(row) = rows.next()? {
        let is_known = |turn: TurnId| turns.contains_key(&turn);
        match read_change(row) {
            Ok(record) if record.turn().is_none_or(is_known) => contents.changes.push(record),
            Ok(_) => contents.skip("change", thread, "its turn is missing"),
            Err(reason) => contents.skip("change", thread, &reason),
        }
    }
    Ok(contents)
}

impl ThreadContents {
    fn skip(&mut self, what: &str, thread: ThreadId, reason: &str) {
        tracing::warn!(%thread, reason, "a stored {what} cannot be read and is skipped");
        self.skipped += 1;
    }
}

/// One request.
pub(crate) fn request(
    connection: &mut Connection,
    id: RequestId,
) -> rusqlite::Result<Option<Request>> {
    connection
        .prepare_cached("SELECT id, thread, turn, is_pending, body FROM requests WHERE id = ?1")?
        .query_row([id.key()], |row| {
            read_request(row).map_err(|reason| {
                rusqlite::Error::FromSqlConversionFailure(4, Type::Text, reason.into())
            })
        })
        .optional()
}

/// Requests that were settled lately, oldest first. Unreadable ones are left out.
pub(crate) fn lately_settled(
    connection: &Connection,
    limit: usize,
) -> rusqlite::Result<Vec<Request>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, thread, turn, is_pending, body FROM requests
         WHERE is_pending = 0 ORDER BY id DESC LIMIT ?1",
    )?;
    let mut rows = statement.query([i64::try_from(limit).unwrap_or(i64::MAX)])?;
    let mut settled = Vec::new();
    while let Some(row) = rows.next()? {
        settled.extend(read_request(row));
    }
    settled.reverse();
    Ok(settled)
}

/// The requests of a thread that were settled, oldest first. Unreadable ones are left out.
pub(crate) fn settled_requests(
    connection: &mut Connection,
    thread: ThreadId,
) -> rusqlite::Result<Vec<Request>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, thread, turn, is_pending, body FROM requests
         WHERE thread = ?1 AND is_pending = 0 ORDER BY id",
    )?;
    let mut rows = statement.query([thread.key()])?;
    let mut settled = Vec::new();
    while let Some(row) = rows.next()? {
        match read_request(row) {
            Ok(request) => settled.push(request),
            Err(reason) => {
                tracing::warn!(%thread, reason, "a stored request cannot be read and is skipped");
            }
        }
    }
    Ok(settled)
}
