//! Memories saved, changed, used and deleted; each in one transaction with its words.

use rookery_model::{Memory, MemoryScope, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Transaction};
use serde_json::Value;

use super::index::Entry;
use super::{COLUMNS, MOST_MEMORIES, Memories, memory_of, unavailable};
use crate::StoreError;

/// Deleted memories that are kept; older ones are forgotten for good.
const KEPT_DELETED: i64 = 10_000;

/// A memory to be saved.
#[derive(Clone, Debug)]
pub struct MemoryDraft {
    /// The id that it gets if it is new.
    pub id: String,
    /// Whom it is for.
    pub scope: MemoryScope,
    /// Its text, without secrets.
    pub text: String,
    /// SHA-256 of the text, in hexadecimal digits.
    pub content_hash: String,
    /// A JSON text.
    pub metadata: String,
    /// When it was made; now, unless it comes from elsewhere.
    pub created_at: Timestamp,
    /// When it was changed.
    pub updated_at: Timestamp,
    /// How often it was used elsewhere.
    pub use_count: u64,
}

/// What became of a memory that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedMemory {
    /// The record as it is now.
    pub memory: Memory,
    /// Whether its scope had the text already.
    pub is_known: bool,
}

impl Memories {
    /// Saves a memory. A text that its scope has already keeps its record, which gets the new metadata
    /// beside what it had. None if there are too many.
    ///
    /// # Errors
    /// If it cannot be kept; nothing has happened then.
    pub fn save(&self, draft: &MemoryDraft) -> Result<Option<SavedMemory>, StoreError> {
        let mut connection = self.inner.writer.lock();
        let is_full = self.inner.index.read().total() >= MOST_MEMORIES;
        let transaction = connection.transaction().map_err(unavailable)?;
        let scope = scope_ref(&transaction, &draft.scope).map_err(unavailable)?;
        let known = known(&transaction, scope, draft).map_err(unavailable)?;
        if known.is_none() && is_full {
            return Ok(None);
        }
        let seq = match &known {
            Some((seq, memory)) => again(&transaction, *seq, memory, draft),
            None => insert(&transaction, scope, draft),
        };
        let seq = seq.map_err(unavailable)?;
        let memory = by_seq(&transaction, seq).map_err(unavailable)?;
        transaction.commit().map_err(unavailable)?;
        let mut index = self.inner.index.write();
        index.add_scope(&draft.scope.key(), scope);
        index.put(seq, entry(scope, &memory));
        Ok(Some(SavedMemory { memory, is_known: known.is_some() }))
    }

    /// Saves memories that come from elsewhere, with their ids; those whose id is known are left out.
    /// Gives how many are new.
    ///
    /// # Errors
    /// If they cannot be kept; none is then.
    pub fn import(&self, drafts: &[MemoryDraft]) -> Result<usize, StoreError> {
        let mut connection = self.inner.writer.lock();
        let room = MOST_MEMORIES.saturating_sub(self.inner.index.read().total());
        let transaction = connection.transaction().map_err(unavailable)?;
        let mut added = Vec::new();
        for draft in drafts {
            let is_known = "SELECT 1 FROM rookery_memories WHERE id = ?1";
            let is_known = transaction
                .query_row(is_known, [&draft.id], |_| Ok(()))
                .optional()
                .map_err(unavailable)?;
            if is_known.is_some() || added.len() >= room {
                continue;
            }
            let scope = scope_ref(&transaction, &draft.scope).map_err(unavailable)?;
            let seq = insert(&transaction, scope, draft).map_err(unavailable)?;
            let memory = by_seq(&transaction, seq).map_err(unavailable)?;
            added.push((seq, scope, memory));
        }
        transaction.commit().map_err(unavailable)?;
        let mut index = self.inner.index.write();
        for (seq, scope, memory) in &added {
            index.add_scope(&memory.scope.key(), *scope);
            index.put(*seq, entry(*scope, memory));
        }
        Ok(added.len())
    }

    /// Replaces the text of a memory, and its metadata if there is some. None if there is no such memory.
    ///
    /// # Errors
    /// If it cannot be kept; nothing has happened then.
    pub fn update(
        &self,
        id: &str,
        text: &str,
        content_hash: &str,
        metadata: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<Memory>, StoreError> {
        let mut connection = self.inner.writer.lock();
        let transaction = connection.transaction().map_err(unavailable)?;
        let Some((seq, before)) = by_id(&transaction, id).map_err(unavailable)? else {
            return Ok(None);
        };
        let write = || -> rusqlite::Result<Memory> {
            forget_words(&transaction, seq, &before.text)?;
            transaction.execute(
                "UPDATE rookery_memories SET text = ?2, content_hash = ?3, metadata = ?4, \
                 updated_at = ?5 WHERE seq = ?1",
                (
                    seq,
                    text,
                    content_hash,
                    metadata.unwrap_or(&before.metadata),
                    after(before.updated_at, now).as_micros(),
                ),
            )?;
            add_words(&transaction, seq, text)?;
            forget_vector(&transaction, seq)?;
            by_seq(&transaction, seq)
        };
        let memory = write().map_err(unavailable)?;
        transaction.commit().map_err(unavailable)?;
        let updated_at = memory.updated_at.as_micros();
        self.inner.index.write().change(seq, |entry| entry.updated_at = updated_at);
        Ok(Some(memory))
    }

    /// Deletes a memory, so that it is never shown again. False if there is none.
    ///
    /// # Errors
    /// If that cannot be kept; nothing has happened then.
    pub fn delete(&self, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let mut connection = self.inner.writer.lock();
        let transaction = connection.transaction().map_err(unavailable)?;
        let Some((seq, before)) = by_id(&transaction, id).map_err(unavailable)? else {
            return Ok(false);
        };
        let write = || -> rusqlite::Result<()> {
            forget_words(&transaction, seq, &before.text)?;
            forget_vector(&transaction, seq)?;
            transaction.execute(
                "UPDATE rookery_memories SET is_deleted = 1, updated_at = ?2 WHERE seq = ?1",
                (seq, now.as_micros()),
            )?;
            transaction.execute(
                "DELETE FROM rookery_memories WHERE is_deleted = 1 AND updated_at < \
                 (SELECT updated_at FROM rookery_memories WHERE is_deleted = 1 \
                  ORDER BY updated_at DESC LIMIT 1 OFFSET ?1)",
                [KEPT_DELETED - 1],
            )?;
            Ok(())
        };
        write().map_err(unavailable)?;
        transaction.commit().map_err(unavailable)?;
        self.inner.index.write().remove(seq);
        Ok(true)
    }

    /// Notes that these memories were given to a turn.
    ///
    /// # Errors
    /// If that cannot be kept; none is noted then.
    pub fn note_use(&self, ids: &[&str], now: Timestamp) -> Result<(), StoreError> {
        let mut connection = self.inner.writer.lock();
        let transaction = connection.transaction().map_err(unavailable)?;
        let mut noted = Vec::new();
        for id in ids {
            let sql = "UPDATE rookery_memories SET use_count = use_count + 1, last_used_at = ?2 \
                       WHERE id = ?1 AND is_deleted = 0 RETURNING seq, use_count";
            let row: Option<(i64, i64)> = transaction
                .query_row(sql, (id, now.as_micros()), |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
                .map_err(unavailable)?;
            noted.extend(row);
        }
        transaction.commit().map_err(unavailable)?;
        let mut index = self.inner.index.write();
        for (seq, count) in noted {
            index.change(seq, |entry| entry.use_count = u64::try_from(count).unwrap_or(0));
        }
        Ok(())
    }
}

fn entry(scope: u32, memory: &Memory) -> Entry {
    Entry {
        id: memory.id.as_str().into(),
        scope,
        use_count: memory.use_count,
        updated_at: memory.updated_at.as_micros(),
    }
}

/// The number of a scope, which it gets with its first record.
fn scope_ref(transaction: &Transaction<'_>, scope: &MemoryScope) -> rusqlite::Result<u32> {
    let key = scope.key();
    transaction.execute("INSERT OR IGNORE INTO rookery_memory_scopes (key) VALUES (?1)", [&key])?;
    let sql = "SELECT ref FROM rookery_memory_scopes WHERE key = ?1";
    transaction.query_row(sql, [&key], |row| row.get(0))
}

/// The record of a scope that has this text.
fn known(
    transaction: &Transaction<'_>,
    scope: u32,
    draft: &MemoryDraft,
) -> rusqlite::Result<Option<(i64, Memory)>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM rookery_memories \
         WHERE scope = ?1 AND content_hash = ?2 AND text = ?3 AND is_deleted = 0 \
         ORDER BY seq LIMIT 1"
    );
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, memory_of(row)?));
    transaction.query_row(&sql, (scope, &draft.content_hash, &draft.text), row).optional()
}

fn insert(transaction: &Transaction<'_>, scope: u32, draft: &MemoryDraft) -> rusqlite::Result<i64> {
    transaction.execute(
        "INSERT INTO rookery_memories \
         (id, scope, scope_id, text, content_hash, metadata, use_count, created_at, updated_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (
            &draft.id,
            scope,
            draft.scope.id(),
            &draft.text,
            &draft.content_hash,
            &draft.metadata,
            i64::try_from(draft.use_count).unwrap_or(i64::MAX),
            draft.created_at.as_micros(),
            draft.updated_at.as_micros(),
        ),
    )?;
    let seq = transaction.last_insert_rowid();
    add_words(transaction, seq, &draft.text)?;
    Ok(seq)
}

/// The same text was saved again.
fn again(
    transaction: &Transaction<'_>,
    seq: i64,
    memory: &Memory,
    draft: &MemoryDraft,
) -> rusqlite::Result<i64> {
    let metadata = merged(&memory.metadata, &draft.metadata);
    let at = after(memory.updated_at, draft.updated_at).as_micros();
    let sql = "UPDATE rookery_memories SET metadata = ?2, updated_at = ?3 WHERE seq = ?1";
    transaction.execute(sql, (seq, metadata, at))?;
    Ok(seq)
}

/// A time that shows that something changed, even if the clock went back.
fn after(before: Timestamp, now: Timestamp) -> Timestamp {
    now.max(Timestamp::from_micros(before.as_micros().saturating_add(1)))
}

/// The members of both; where both have one, the newer counts. What is no object is replaced, unless it
/// is replaced by nothing.
fn merged(before: &str, now: &str) -> String {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    match (read(before), read(now)) {
        (_, Value::Null) => before.to_owned(),
        (Value::Object(mut all), Value::Object(newer)) => {
            all.extend(newer);
            Value::Object(all).to_string()
        }
        (_, newer) => newer.to_string(),
    }
}

fn add_words(connection: &Connection, seq: i64, text: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO rookery_memory_words (rowid, text) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute((seq, text)).map(drop)
}

fn forget_words(connection: &Connection, seq: i64, text: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO rookery_memory_words (rookery_memory_words, rowid, text) \
               VALUES ('delete', ?1, ?2)";
    connection.prepare_cached(sql)?.execute((seq, text)).map(drop)
}

fn forget_vector(connection: &Connection, seq: i64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM rookery_memory_vectors WHERE seq = ?1";
    connection.prepare_cached(sql)?.execute([seq]).map(drop)
}

fn by_id(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<(i64, Memory)>> {
    let sql = format!("SELECT {COLUMNS} FROM rookery_memories WHERE id = ?1 AND is_deleted = 0");
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, memory_of(row)?));
    transaction.query_row(&sql, [id], row).optional()
}

fn by_seq(transaction: &Transaction<'_>, seq: i64) -> rusqlite::Result<Memory> {
    let sql = format!("SELECT {COLUMNS} FROM rookery_memories WHERE seq = ?1");
    transaction.query_row(&sql, [seq], memory_of)
}

#[cfg(test)]
mod tests {
    use super::merged;

    #[test]
    fn metadata_is_merged() {
        for (before, now, both) in [
            ("null", "null", "null"),
            (r#"{"a":1}"#, "null", r#"{"a":1}"#),
            (r#"{"a":1,"b":2}"#, r#"{"b":3,"c":4}"#, r#"{"a":1,"b":3,"c":4}"#),
            ("[1]", r#"{"b":3}"#, r#"{"b":3}"#),
            (r#"{"b":3}"#, "7", "7"),
        ] {
            assert_eq!(merged(before, now), both);
        }
    }
}
