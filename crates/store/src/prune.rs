//! How long events are kept, and the small steps in which old ones are removed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rookery_model::EventSeq;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::change::sql_int;

/// Events removed in one transaction; a few milliseconds of work.
const STEP: i64 = 2_000;

/// How long events are kept. Whichever bound is reached first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How many numbers are kept, the newest.
    pub max_events: u64,
    /// Events older than this are removed.
    pub max_age: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { max_events: 100_000, max_age: Duration::from_secs(30 * 24 * 60 * 60) }
    }
}

impl Retention {
    /// The oldest time, in microseconds, at which an event may have been committed.
    fn oldest(&self) -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(now.saturating_sub(self.max_age).as_micros()).unwrap_or(0)
    }
}

/// Removes some of the events that are past their time, oldest first and never leaving a hole.
/// Says whether there may be more.
pub(crate) fn step(
    connection: &mut Connection,
    retention: &Retention,
    next: EventSeq,
) -> rusqlite::Result<bool> {
    let first_kept = sql_int(next.get().saturating_sub(retention.max_events))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let removed = transaction
        .prepare_cached(
            "WITH oldest AS MATERIALIZED (SELECT seq, at FROM events ORDER BY seq LIMIT ?1)
             DELETE FROM events WHERE seq <= (SELECT max(seq) FROM oldest) AND seq < coalesce(
                (SELECT min(seq) FROM oldest WHERE seq >= ?2 AND at >= ?3), ?4)",
        )?
        .execute(params![STEP, first_kept, retention.oldest(), i64::MAX])?;
    transaction.commit()?;
    Ok(removed as i64 == STEP)
}
