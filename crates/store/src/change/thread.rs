//! The SQL of changes to threads, turns, items and requests.

use rookery_model::{
    ChangeRecord, Item, ItemStatus, QueuedMessage, RecordKind, Request, RequestId, RequestState,
    Steer, Thread, ThreadId, Trace, TraceId, Turn, TurnId, TurnStatus, Words as _,
};
use rusqlite::{Connection, ToSql, params};

use super::{Change, sql_int};
use crate::encode;

/// A long id as it is stored: big endian, so that ids sort as numbers do.
pub(crate) trait Key {
    /// The bytes.
    fn key(self) -> [u8; 16];
}

impl Key for ThreadId {
    fn key(self) -> [u8; 16] {
        self.get().to_be_bytes()
    }
}

impl Key for TurnId {
    fn key(self) -> [u8; 16] {
        self.get().to_be_bytes()
    }
}

impl Key for TraceId {
    fn key(self) -> [u8; 16] {
        self.get().to_be_bytes()
    }
}

impl Key for RequestId {
    fn key(self) -> [u8; 16] {
        self.get().to_be_bytes()
    }
}

/// Whether a turn with this status is found again as an open one.
pub(crate) fn is_open(turn: &Turn) -> bool {
    turn.status == TurnStatus::InProgress
}

/// Whether a request is found again as one that waits.
pub(crate) fn is_pending(request: &Request) -> bool {
    request.state == RequestState::Pending
}

impl Change {
    /// Whether this must be on the disk itself before it is confirmed to anyone. That holds for what
    /// an agent brought to an end, and for what a person was promised or has decided: unlike a
    /// terminal, it does not end with the machine. A verdict of the policy alone is no promise.
    pub(crate) fn needs_disk(&self) -> bool {
        match self {
            Change::TurnUpserted(turn) => !is_open(turn),
            Change::ItemUpserted { item, .. } => item.status != ItemStatus::InProgress,
            Change::TraceUpserted(trace) => trace.status.is_final(),
            // A file was changed; without the record that could not be taken back.
            Change::ChangeUpserted(_) => true,
            Change::RequestUpserted(_) => true,
            Change::DecisionMade(decision) => decision.by.is_some(),
            Change::RecordUpserted(record) => is_promise(record.key().0),
            // It is done once, so what was begun must be known after a crash of the machine, too.
            Change::TaskUpserted(_) => true,
            _ => false,
        }
    }
}

/// Whether records of this list are promises; the others only say again what happened.
fn is_promise(kind: RecordKind) -> bool {
    match kind {
        RecordKind::Review
        | RecordKind::Checkpoint
        | RecordKind::Handoff
        | RecordKind::Accepted => true,
        RecordKind::Queue | RecordKind::Timeline | RecordKind::Handled => false,
    }
}

fn run(connection: &Connection, sql: &str, params: &[&dyn ToSql]) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute(params).map(drop)
}

pub(super) fn put_thread(connection: &Connection, thread: &Thread) -> rusqlite::Result<()> {
    run(
        connection,
        "INSERT INTO threads (id, body) VALUES (?1, ?2)
         ON CONFLICT (id) DO UPDATE SET body = excluded.body",
        params![thread.id.key(), encode::thread_to_json(thread)],
    )
}

pub(super) fn delete_thread(connection: &Connection, id: ThreadId) -> rusqlite::Result<()> {
    // Those of a turn go with the thread.
    let asked = "DELETE FROM requests WHERE thread = ?1 AND turn IS NULL";
    run(connection, asked, params![id.key()])?;
    run(connection, "DELETE FROM threads WHERE id = ?1", params![id.key()])
}

/// A list as it is stored: nothing if it is empty.
fn list<T>(list: &[T], write: fn(&[T]) -> String) -> Option<String> {
    (!list.is_empty()).then(|| write(list))
}

pub(super) fn put_attached(
    connection: &Connection,
    id: ThreadId,
    artifacts: &[String],
) -> rusqlite::Result<()> {
    let artifacts = list(artifacts, encode::texts_to_json);
    run(connection, "UPDATE threads SET attached = ?2 WHERE id = ?1", params![id.key(), artifacts])
}

pub(super) fn put_queued(
    connection: &Connection,
    id: ThreadId,
    messages: &[QueuedMessage],
) -> rusqlite::Result<()> {
    let messages = list(messages, encode::queued_to_json);
    run(connection, "UPDATE threads SET queued = ?2 WHERE id = ?1", params![id.key(), messages])
}

pub(super) fn put_steers(
    connection: &Connection,
    id: TurnId,
    steers: &[Steer],
) -> rusqlite::Result<()> {
    let steers = list(steers, encode::steers_to_json);
    run(connection, "UPDATE turns SET steers = ?2 WHERE id = ?1", params![id.key(), steers])
}

pub(super) fn put_turn(connection: &Connection, turn: &Turn) -> rusqlite::Result<()> {
    run(
        connection,
        "INSERT INTO turns (thread, id, is_open, body) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (thread, id) DO UPDATE SET is_open = excluded.is_open, body = excluded.body",
        params![turn.thread.key(), turn.id.key(), is_open(turn), encode::turn_to_json(turn)],
    )
}

pub(super) fn delete_turn(connection: &Connection, id: TurnId) -> rusqlite::Result<()> {
    run(connection, "DELETE FROM turns WHERE id = ?1", params![id.key()])
}

pub(super) fn put_item(
    connection: &Connection,
    thread: ThreadId,
    turn: TurnId,
    position: u64,
    item: &Item,
) -> rusqlite::Result<()> {
    run(
        connection,
        "INSERT INTO items (thread, position, turn, body) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (thread, position) DO UPDATE SET turn = excluded.turn, body = excluded.body",
        params![thread.key(), sql_int(position)?, turn.key(), encode::item_to_json(item)],
    )
}

pub(super) fn put_trace(connection: &Connection, trace: &Trace) -> rusqlite::Result<()> {
    run(
        connection,
        "INSERT INTO traces (thread, id, turn, body) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (thread, id) DO UPDATE SET turn = excluded.turn, body = excluded.body",
        params![
            trace.parent.thread.key(),
            trace.id.key(),
            trace.parent.turn.key(),
            encode::trace_to_json(trace)
        ],
    )
}

pub(super) fn put_change(connection: &Connection, record: &ChangeRecord) -> rusqlite::Result<()> {
    run(
        connection,
        "INSERT INTO changes (thread, number, kind, turn, body) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (thread, number) DO UPDATE
         SET kind = excluded.kind, turn = excluded.turn, body = excluded.body",
        params![
            record.thread().key(),
            sql_int(record.number())?,
            record.kind().word(),
            record.turn().map(Key::key),
            encode::change_to_json(record)
        ],
    )
}

pub(super) fn delete_change(
    connection: &Connection,
    thread: ThreadId,
    number: u64,
) -> rusqlite::Result<()> {
    run(
        connection,
        "DELETE FROM changes WHERE thread = ?1 AND number = ?2",
        params![thread.key(), sql_int(number)?],
    )
}

pub(super) fn put_request(connection: &Connection, request: &Request) -> rusqlite::Result<()> {
    run(
        connection,
        "INSERT INTO requests (id, thread, turn, is_pending, body) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO UPDATE SET thread = excluded.thread, turn = excluded.turn,
         is_pending = excluded.is_pending, body = excluded.body",
        params![
            request.id.key(),
            request.thread().map(Key::key),
            request.turn().map(Key::key),
            is_pending(request),
            encode::request_to_json(request)
        ],
    )
}
