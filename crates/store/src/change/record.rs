//! The SQL of what supervision keeps: one table for all lists, told apart by a word.

use rookery_model::{Record, RecordKind};
use rusqlite::{Connection, params};

use crate::encode;

/// The word of a list in the table.
pub(crate) fn word(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Queue => "queue",
        RecordKind::Review => "review",
        RecordKind::Checkpoint => "checkpoint",
        RecordKind::Handoff => "handoff",
        RecordKind::Timeline => "timeline",
        RecordKind::Handled => "handled",
        RecordKind::Accepted => "accepted",
    }
}

pub(super) fn put(connection: &Connection, record: &Record) -> rusqlite::Result<()> {
    let (kind, id) = record.key();
    connection
        .prepare_cached(
            "INSERT INTO records (kind, id, body) VALUES (?1, ?2, ?3)
             ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body",
        )?
        .execute(params![word(kind), id.to_be_bytes(), encode::record_to_json(record)])
        .map(drop)
}

pub(super) fn delete(connection: &Connection, kind: RecordKind, id: u128) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM records WHERE kind = ?1 AND id = ?2")?
        .execute(params![word(kind), id.to_be_bytes()])
        .map(drop)
}
