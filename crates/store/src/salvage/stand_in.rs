//! Heads for conversations whose own were lost: what was said in them is still there.

use rookery_model::{
    Choice, Thread, ThreadId, Timestamp, Turn, TurnError, TurnErrorKind, TurnId, TurnSettings,
    TurnStatus, Usage,
};
use rusqlite::{Transaction, params};

use crate::change::Key;
use crate::{encode, files};

/// What a turn says whose record is lost.
const LOST: &str = "the record of this turn was on a damaged page of the store";

/// Makes turns for items without one, and threads for turns without one. Says how many.
pub(super) fn fill(transaction: &Transaction<'_>) -> rusqlite::Result<u64> {
    let turns = keys(
        transaction,
        "SELECT DISTINCT thread, turn FROM items WHERE NOT EXISTS (
            SELECT 1 FROM turns WHERE turns.thread = items.thread AND turns.id = items.turn)
         UNION SELECT DISTINCT thread, turn FROM requests
         WHERE thread IS NOT NULL AND turn IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM turns WHERE turns.thread = requests.thread AND turns.id = requests.turn)",
    )?;
    for (thread, id) in &turns {
        let turn = turn(ThreadId::new(*thread), TurnId::new(*id));
        transaction.execute(
            "INSERT OR IGNORE INTO turns (thread, id, is_open, body) VALUES (?1, ?2, 0, ?3)",
            params![turn.thread.key(), turn.id.key(), encode::turn_to_json(&turn)],
        )?;
    }
    let threads = keys(
        transaction,
        "SELECT DISTINCT thread, thread FROM turns WHERE NOT EXISTS (
            SELECT 1 FROM threads WHERE threads.id = turns.thread)",
    )?;
    for (id, _) in &threads {
        let thread = thread(ThreadId::new(*id));
        transaction.execute(
            "INSERT OR IGNORE INTO threads (id, body) VALUES (?1, ?2)",
            params![thread.id.key(), encode::thread_to_json(&thread)],
        )?;
    }
    Ok((turns.len() + threads.len()) as u64)
}

fn keys(transaction: &Transaction<'_>, sql: &str) -> rusqlite::Result<Vec<(u128, u128)>> {
    let mut statement = transaction.prepare(sql)?;
    let number = |bytes: [u8; 16]| u128::from_be_bytes(bytes);
    let rows = statement.query_map([], |row| Ok((number(row.get(0)?), number(row.get(1)?))))?;
    rows.collect()
}

/// Ids begin with the time in milliseconds at which they were drawn.
fn drawn_at(id: u128) -> Timestamp {
    Timestamp::from_micros(i64::try_from(id >> 80).unwrap_or(0).saturating_mul(1_000))
}

fn turn(thread: ThreadId, id: TurnId) -> Turn {
    let error = TurnError { message: LOST.to_owned(), kind: TurnErrorKind::Other };
    Turn {
        id,
        thread,
        status: TurnStatus::Failed,
        error: Some(error),
        started_at: drawn_at(id.get()),
        completed_at: None,
        usage: Usage::default(),
        finish_reason: None,
        settings: TurnSettings::default(),
        calls: Vec::new(),
    }
}

fn thread(id: ThreadId) -> Thread {
    Thread {
        id,
        created_at: drawn_at(id.get()),
        updated_at: drawn_at(id.get()),
        name: Some("Recovered thread".to_owned()),
        preview: String::new(),
        choice: Choice::default(),
        // Where it worked is lost, and its tools must not work just anywhere.
        cwd: "/nonexistent".into(),
        root: "/nonexistent".into(),
        ephemeral: false,
        archived: false,
        // What it was allowed to do is not known any more.
        mode: Some(rookery_model::Mode::Default),
        tool_allowlist: None,
        developer_instructions: None,
        external_tools: Vec::new(),
        parent: None,
        usage: Usage::default(),
        message_count: 0,
        goal: None,
        plan: Vec::new(),
        ledger: Vec::new(),
        // Above all that its notifications were ever counted to.
        seq_reserved: files::unix_seconds().saturating_mul(1_000),
        place: None,
        retired: Vec::new(),
        assignment: None,
        runner: None,
        child: None,
    }
}
