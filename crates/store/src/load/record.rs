//! Reads back what supervision keeps. A row that cannot be read is moved to `damaged_rows`.

use rookery_model::{Record, Words as _};
use rusqlite::types::ValueRef;
use rusqlite::{Row, Transaction, params};

use super::now;
use crate::encode;

/// All records, and how many rows had to be moved aside.
pub(super) fn load(transaction: &Transaction<'_>) -> rusqlite::Result<(Vec<Record>, u64)> {
    let mut records = Vec::new();
    let mut lost = Vec::new();
    let mut statement = transaction.prepare("SELECT kind, id, body FROM records")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        match read(row) {
            Ok(record) => records.push(record),
            Err(reason) => lost.push((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?, reason)),
        }
    }
    for (kind, id, reason) in &lost {
        tracing::warn!(kind, reason, "a stored record cannot be read and is set aside");
        transaction.execute(
            "INSERT INTO damaged_rows (source, row, content, reason, at)
             SELECT 'records', 0, CAST(kind || ' ' || hex(id) || char(10) || body AS BLOB), ?3, ?4
             FROM records WHERE kind = ?1 AND id = ?2",
            params![kind, id, reason, now().as_micros()],
        )?;
        transaction
            .execute("DELETE FROM records WHERE kind = ?1 AND id = ?2", params![kind, id])?;
    }
    Ok((records, lost.len() as u64))
}

/// Reads columns `kind, id, body` of a record.
fn read(row: &Row<'_>) -> Result<Record, String> {
    let text = |error: rusqlite::Error| error.to_string();
    let body = match row.get_ref(2).map_err(text)? {
        ValueRef::Text(body) => std::str::from_utf8(body).map_err(|error| error.to_string())?,
        _ => return Err("its body is no text".to_owned()),
    };
    let record = encode::record_from_json(body).map_err(|error| error.to_string())?;
    let (kind, id) = record.key();
    let is_same = row.get::<_, String>(0).map_err(text)? == kind.word()
        && row.get::<_, [u8; 16]>(1).map_err(text)? == id.to_be_bytes();
    if is_same { Ok(record) } else { Err("its key is another in the table".to_owned()) }
}
