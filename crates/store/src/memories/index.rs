//! What ranking needs to know of every record, in memory: its scope, and what decides between records of
//! one score. As large as the list of records, not as their texts.

use std::cmp::Ordering;
use std::collections::HashMap;

use rusqlite::Connection;

/// A record that was not deleted.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) id: Box<str>,
    pub(super) scope: u32,
    pub(super) use_count: u64,
    pub(super) updated_at: i64,
}

impl Entry {
    /// Which of two records of one score comes first.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let (one, two) = (other.use_count, other.updated_at);
        one.cmp(&self.use_count)
            .then(two.cmp(&self.updated_at))
            .then_with(|| self.id.cmp(&other.id))
    }
}

/// All records, by the number of their row.
#[derive(Debug, Default)]
pub(super) struct Index {
    entries: Vec<Option<Entry>>,
    scopes: HashMap<String, u32>,
    /// How many records each scope has.
    counts: HashMap<u32, usize>,
    total: usize,
}

impl Index {
    pub(super) fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let mut index = Index::default();
        let mut scopes = connection.prepare("SELECT ref, key FROM rookery_memory_scopes")?;
        let mut rows = scopes.query([])?;
        while let Some(row) = rows.next()? {
            index.scopes.insert(row.get(1)?, row.get(0)?);
        }
        let mut records = connection.prepare(
            "SELECT seq, id, scope, use_count, updated_at FROM rookery_memories \
             WHERE is_deleted = 0",
        )?;
        let mut rows = records.query([])?;
        while let Some(row) = rows.next()? {
            let entry = Entry {
                id: row.get::<_, String>(1)?.into(),
                scope: row.get(2)?,
                use_count: u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0),
                updated_at: row.get(4)?,
            };
            index.put(row.get(0)?, entry);
        }
        Ok(index)
    }

    /// The numbers of scopes by their keys; one that has no record has none.
    pub(super) fn refs(&self, keys: Option<&[String]>) -> Option<Vec<u32>> {
        keys.map(|keys| keys.iter().filter_map(|key| self.scopes.get(key).copied()).collect())
    }

    pub(super) fn add_scope(&mut self, key: &str, scope: u32) {
        self.scopes.insert(key.to_owned(), scope);
    }

    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// How many records these scopes have.
    pub(super) fn count(&self, scopes: Option<&[u32]>) -> usize {
        match scopes {
            None => self.total,
            Some(scopes) => {
                scopes.iter().map(|scope| self.counts.get(scope).copied().unwrap_or(0)).sum()
            }
        }
    }

    /// One more than the highest number of a row.
    pub(super) fn end(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, seq: usize) -> Option<&Entry> {
        self.entries.get(seq)?.as_ref()
    }

    /// The record of a row, if it is in one of these scopes.
    pub(super) fn within(&self, seq: usize, scopes: Option<&[u32]>) -> Option<&Entry> {
        self.get(seq).filter(|entry| scopes.is_none_or(|scopes| scopes.contains(&entry.scope)))
    }

    pub(super) fn put(&mut self, seq: i64, entry: Entry) {
        let Ok(seq) = usize::try_from(seq) else { return };
        self.take(seq);
        if self.entries.len() <= seq {
            self.entries.resize(seq + 1, None);
        }
        *self.counts.entry(entry.scope).or_default() += 1;
        self.total += 1;
        self.entries[seq] = Some(entry);
    }

    pub(super) fn change(&mut self, seq: i64, change: impl FnOnce(&mut Entry)) {
        let entry = usize::try_from(seq).ok().and_then(|seq| self.entries.get_mut(seq)?.as_mut());
        if let Some(entry) = entry {
            change(entry);
        }
    }

    pub(super) fn remove(&mut self, seq: i64) {
        if let Ok(seq) = usize::try_from(seq) {
            self.take(seq);
        }
    }

    fn take(&mut self, seq: usize) {
        let taken = self.entries.get_mut(seq).and_then(Option::take);
        if let Some(entry) = taken {
            self.total -= 1;
            if let Some(count) = self.counts.get_mut(&entry.scope) {
                *count -= 1;
            }
        }
    }
}
