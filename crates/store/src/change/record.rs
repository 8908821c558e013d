//! The SQL of what supervision keeps: one table for all lists, distinguished by a word.

use rookery_model::{Record, RecordKind, Words as _};
use rusqlite::{Connection, params};

use crate::encode;

pub(super) fn put(connection: &Connection, record: &Record) -> rusqlite::Result<()> {
    let (kind, id) = record.key();
    connection
        .prepare_cached(
            "INSERT INTO records (kind, id, body) VALUES (?1, ?2, ?3)
             ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body",
        )?
        .execute(params![kind.word(), id.to_be_bytes(), encode::record_to_json(record)])
        .map(drop)
}

pub(super) fn delete(connection: &Connection, kind: RecordKind, id: u128) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM records WHERE kind = ?1 AND id = ?2")?
        .execute(params![kind.word(), id.to_be_bytes()])
        .map(drop)
}
