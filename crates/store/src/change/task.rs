//! The SQL of background tasks.

use rookery_model::{Task, TaskId, TaskLog};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::encode;

fn key(id: TaskId) -> [u8; 16] {
    id.get().to_be_bytes()
}

pub(super) fn put(connection: &Connection, task: &Task) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO tasks (id, is_over, body) VALUES (?1, ?2, ?3)
             ON CONFLICT (id) DO UPDATE SET is_over = excluded.is_over, body = excluded.body",
        )?
        .execute(params![key(task.id), task.state.is_over(), encode::task_to_json(task)])
        .map(drop)
}

pub(super) fn put_log(connection: &Connection, id: TaskId, log: &TaskLog) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE tasks SET log = ?2 WHERE id = ?1")?
        .execute(params![key(id), encode::task_log_to_json(log)])
        .map(drop)
}

pub(super) fn delete(connection: &Connection, id: TaskId) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM tasks WHERE id = ?1")?
        .execute(params![key(id)])
        .map(drop)
}

/// What a task wrote. One that cannot be read is as good as none: it is no promise.
pub(crate) fn read_log(connection: &Connection, id: TaskId) -> rusqlite::Result<TaskLog> {
    let text: Option<String> = connection
        .prepare_cached("SELECT log FROM tasks WHERE id = ?1")?
        .query_row(params![key(id)], |row| row.get(0))
        .optional()?;
    let read = encode::task_log_from_json(&text.unwrap_or_default());
    Ok(read.unwrap_or_else(|error| {
        tracing::warn!(%error, task = %id, "the log of a task cannot be read");
        TaskLog::default()
    }))
}
