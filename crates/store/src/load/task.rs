//! Reads background tasks back. A row that cannot be read is moved to `damaged_rows`.

use rookery_model::Task;
use rusqlite::types::ValueRef;
use rusqlite::{Row, Transaction, params};

use super::now;
use crate::encode;

/// All tasks, and how many rows had to be moved aside.
pub(super) fn load(transaction: &Transaction<'_>) -> rusqlite::Result<(Vec<Task>, u64)> {
    let mut tasks = Vec::new();
    let mut lost = Vec::new();
    let mut statement = transaction.prepare("SELECT id, body FROM tasks")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        match read(row) {
            Ok(task) => tasks.push(task),
            Err(reason) => lost.push((row.get::<_, Vec<u8>>(0)?, reason)),
        }
    }
    for (id, reason) in &lost {
        tracing::warn!(reason, "a stored task cannot be read and is set aside");
        transaction.execute(
            "INSERT INTO damaged_rows (source, row, content, reason, at)
             SELECT 'tasks', 0, CAST(hex(id) || char(10) || body AS BLOB), ?2, ?3
             FROM tasks WHERE id = ?1",
            params![id, reason, now().as_micros()],
        )?;
        transaction.execute("DELETE FROM tasks WHERE id = ?1", params![id])?;
    }
    Ok((tasks, lost.len() as u64))
}

/// Reads columns `id, body` of a task.
fn read(row: &Row<'_>) -> Result<Task, String> {
    let text = |error: rusqlite::Error| error.to_string();
    let body = match row.get_ref(1).map_err(text)? {
        ValueRef::Text(body) => std::str::from_utf8(body).map_err(|error| error.to_string())?,
        _ => return Err("its body is no text".to_owned()),
    };
    let task = encode::task_from_json(body).map_err(|error| error.to_string())?;
    let is_same = row.get::<_, [u8; 16]>(0).map_err(text)? == task.id.get().to_be_bytes();
    if is_same { Ok(task) } else { Err("its key is another in the table".to_owned()) }
}
