//! The record of decisions: appended to, read from its end, and cut at its beginning.

use rookery_model::{Decision, DecisionQuery, NumberedDecision, Timestamp};
use rusqlite::{Connection, params};

use crate::change::Key;
use crate::encode;

/// How many are kept, the newest.
const MAX_DECISIONS: i64 = 100_000;
/// Removed in one transaction.
const STEP: i64 = 2_000;

pub(crate) fn append(connection: &Connection, decision: &Decision) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO decisions (at, thread, body) VALUES (?1, ?2, ?3)")?
        .execute(params![
            decision.at.as_micros(),
            decision.thread.map(Key::key),
            encode::decision_to_json(decision)
        ])
        .map(drop)
}

/// The newest that are wanted, oldest first. Those that cannot be read are left out.
pub(crate) fn read(
    connection: &Connection,
    query: &DecisionQuery,
    limit: usize,
) -> rusqlite::Result<Vec<NumberedDecision>> {
    let before = query.before.and_then(|number| i64::try_from(number).ok()).unwrap_or(i64::MAX);
    let since = query.since.map_or(i64::MIN, Timestamp::as_micros);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let wanted = match query.thread {
        Some(_) => "thread = ?4 AND",
        None => "?4 IS NULL AND",
    };
    let sql = format!(
        "SELECT seq, body FROM decisions WHERE {wanted} seq < ?1 AND at >= ?2
         ORDER BY seq DESC LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![before, since, limit, query.thread.map(Key::key)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let number = u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0);
        let decoded = row.get_ref(1)?.as_str().ok().map(encode::decision_from_json);
        if let Some(Ok(decision)) = decoded {
            found.push(NumberedDecision { number, decision });
        }
    }
    found.reverse();
    Ok(found)
}

/// Removes some of the oldest beyond those that are kept. Says whether there may be more.
pub(crate) fn prune(connection: &Connection) -> rusqlite::Result<bool> {
    prune_to(connection, MAX_DECISIONS)
}

fn prune_to(connection: &Connection, kept: i64) -> rusqlite::Result<bool> {
    let removed = connection
        .prepare_cached(
            "DELETE FROM decisions WHERE seq IN (
                SELECT seq FROM decisions
                WHERE seq <= (SELECT max(seq) FROM decisions) - ?1 ORDER BY seq LIMIT ?2)",
        )?
        .execute(params![kept, STEP])?;
    Ok(removed as i64 == STEP)
}

#[cfg(test)]
mod tests {
    use rookery_model::{DecisionSource, DecisionVerdict, Mode, ThreadId};

    use super::*;
    use crate::schema;

    fn decision(thread: Option<u128>, at: i64) -> Decision {
        Decision {
            at: Timestamp::from_micros(at),
            thread: thread.map(ThreadId::new),
            session: None,
            turn: None,
            request: None,
            tool_id: at.to_string(),
            tool: "shell".into(),
            mode: Mode::Plan,
            verdict: DecisionVerdict::Denied,
            by: None,
            reason: Some("no".into()),
            rule: None,
            source: DecisionSource::Client,
            subject: "{}".into(),
            decider: None,
        }
    }

    fn times(connection: &Connection, query: DecisionQuery, limit: usize) -> Vec<i64> {
        let found = read(connection, &query, limit).unwrap();
        found.iter().map(|one| one.decision.at.as_micros()).collect()
    }

    fn filled() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection).unwrap();
        for at in 1..=10 {
            append(&connection, &decision((at % 2 == 0).then_some(7), at)).unwrap();
        }
        connection
    }

    #[test]
    fn the_newest_are_read_in_order() {
        let connection = filled();
        let all = DecisionQuery::default();
        assert_eq!(times(&connection, all, 3), [8, 9, 10]);
        assert_eq!(times(&connection, DecisionQuery { before: Some(8), ..all }, 2), [6, 7]);
        let thread = DecisionQuery { thread: Some(ThreadId::new(7)), ..all };
        assert_eq!(times(&connection, thread, 100), [2, 4, 6, 8, 10]);
        let since = Some(Timestamp::from_micros(5));
        assert_eq!(times(&connection, DecisionQuery { since, ..thread }, 100), [6, 8, 10]);
        let other = DecisionQuery { thread: Some(ThreadId::new(8)), ..all };
        assert!(times(&connection, other, 100).is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_left_out_and_the_oldest_go() {
        let connection = filled();
        connection.execute("UPDATE decisions SET body = '{' WHERE seq = 9", []).unwrap();
        let all = DecisionQuery::default();
        assert_eq!(times(&connection, all, 3), [8, 10]);
        assert!(!prune_to(&connection, 4).unwrap());
        assert_eq!(times(&connection, all, 100), [7, 8, 10]);
        append(&connection, &decision(None, 11)).unwrap();
        assert_eq!(read(&connection, &all, 1).unwrap()[0].number, 11);
    }
}
