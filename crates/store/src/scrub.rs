//! Hides secrets in what was saved before there was a mask: once for each database, in small steps
//! between other work.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::change::Change;
use crate::encode;
use crate::kept::ValueKey;
use crate::writer::Mask;

const EDITION: &str = "1";

/// Events and decisions gone through in one transaction; a few milliseconds of work.
const STEP: i64 = 256;

/// A table whose rows are numbered, or one that is small enough for a single step.
struct Table {
    name: &'static str,
    is_numbered: bool,
    /// The row as it should be, if that differs.
    hide: fn(&str, Mask) -> Option<String>,
}

const TABLES: &[Table] = &[
    Table { name: "events", is_numbered: true, hide: event },
    Table { name: "decisions", is_numbered: true, hide: decision },
    Table { name: "projects", is_numbered: false, hide: project },
    Table { name: "terminals", is_numbered: false, hide: terminal },
    Table { name: "threads", is_numbered: false, hide: thread },
    Table { name: "turns", is_numbered: false, hide: turn },
    Table { name: "requests", is_numbered: false, hide: request },
    Table { name: "records", is_numbered: false, hide: record },
];

/// How far a database was gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scrub {
    /// Not looked at yet.
    Unknown,
    /// In this table, behind this number.
    At(usize, i64),
    /// All of it.
    Done,
}

impl Scrub {
    /// Takes one step.
    pub(crate) fn step(self, connection: &mut Connection, mask: Mask) -> rusqlite::Result<Scrub> {
        let (place, behind) = match self {
            Scrub::Done => return Ok(self),
            Scrub::Unknown if is_done(connection)? => return Ok(Scrub::Done),
            Scrub::Unknown => {
                // What is replaced must not stay in the file.
                overwrite(connection, true)?;
                return Ok(Scrub::At(0, i64::MIN));
            }
            Scrub::At(place, behind) => (place, behind),
        };
        let Some(table) = TABLES.get(place) else { return finish(connection) };
        let last = if table.is_numbered {
            numbered(connection, table, behind, mask)?
        } else {
            whole(connection, table, mask)?;
            None
        };
        Ok(last.map_or(Scrub::At(place + 1, i64::MIN), |last| Scrub::At(place, last)))
    }
}

/// Whether every row was gone through, by these rules.
pub(crate) fn is_done(connection: &Connection) -> rusqlite::Result<bool> {
    let found: Option<String> = connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([ValueKey::Masked.to_string()], |row| row.get(0))
        .optional()?;
    Ok(found.as_deref() == Some(EDITION))
}

fn finish(connection: &mut Connection) -> rusqlite::Result<Scrub> {
    Change::KeptSet { what: ValueKey::Masked, value: Some(EDITION.to_owned()) }
        .apply(connection)?;
    // The log has the old rows until it is emptied. A reader may keep it; then closing does it.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    overwrite(connection, false)?;
    Ok(Scrub::Done)
}

/// Whether what is removed or replaced is overwritten in the file.
fn overwrite(connection: &Connection, is_wanted: bool) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "secure_delete", is_wanted, |_| Ok(()))
}

/// Goes through some rows behind a number. The last of them, if there may be more.
fn numbered(
    connection: &mut Connection,
    table: &Table,
    behind: i64,
    mask: Mask,
) -> rusqlite::Result<Option<i64>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let name = table.name;
    let select = format!("SELECT seq, body FROM {name} WHERE seq > ?1 ORDER BY seq LIMIT ?2");
    let rows: Vec<(i64, String)> = transaction
        .prepare_cached(&select)?
        .query_map(params![behind, STEP], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let update = format!("UPDATE {name} SET body = ?2 WHERE seq = ?1");
    for (seq, body) in &rows {
        if let Some(hidden) = (table.hide)(body, mask) {
            transaction.prepare_cached(&update)?.execute(params![seq, hidden])?;
        }
    }
    transaction.commit()?;
    Ok(rows.last().map(|(seq, _)| *seq).filter(|_| rows.len() as i64 == STEP))
}

/// Goes through a small table. Rows are distinguished by what they say: those that say the same become
/// the same.
fn whole(connection: &mut Connection, table: &Table, mask: Mask) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let rows: Vec<String> = transaction
        .prepare_cached(&format!("SELECT body FROM {}", table.name))?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let update = format!("UPDATE {} SET body = ?2 WHERE body = ?1", table.name);
    for body in &rows {
        if let Some(hidden) = (table.hide)(body, mask) {
            transaction.prepare_cached(&update)?.execute(params![body, hidden])?;
        }
    }
    transaction.commit()
}

fn event(body: &str, mask: Mask) -> Option<String> {
    let before = encode::event_from_json(body).ok()?;
    let mut after = before.clone();
    (mask.event)(&mut after);
    (after != before).then(|| encode::event_to_json(&after))
}

/// A function that hides what one kind of row must not have. What cannot be read stays as it is.
macro_rules! hide {
    ($name:ident, $read:ident, $write:ident, $wrap:expr, $take:pat => $out:expr) => {
        fn $name(body: &str, mask: Mask) -> Option<String> {
            let mut change = $wrap(encode::$read(body).ok()?);
            let before = change.clone();
            (mask.change)(&mut change);
            match change {
                $take if change != before => Some(encode::$write($out)),
                _ => None,
            }
        }
    };
}

hide!(project, project_from_json, project_to_json, Change::ProjectUpserted,
    Change::ProjectUpserted(ref one) => one);
hide!(terminal, terminal_from_json, terminal_to_json, |one| Change::TerminalUpserted(Box::new(one)),
    Change::TerminalUpserted(ref one) => one);
hide!(thread, thread_from_json, thread_to_json, |one| Change::ThreadUpserted(Box::new(one)),
    Change::ThreadUpserted(ref one) => one);
hide!(turn, turn_from_json, turn_to_json, |one| Change::TurnUpserted(Box::new(one)),
    Change::TurnUpserted(ref one) => one);
hide!(request, request_from_json, request_to_json, |one| Change::RequestUpserted(Box::new(one)),
    Change::RequestUpserted(ref one) => one);
hide!(decision, decision_from_json, decision_to_json, |one| Change::DecisionMade(Box::new(one)),
    Change::DecisionMade(ref one) => one);
hide!(record, record_from_json, record_to_json, |one| Change::RecordUpserted(Box::new(one)),
    Change::RecordUpserted(ref one) => one);
