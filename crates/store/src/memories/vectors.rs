//! Vectors of records, all of one provider and model: those of another are forgotten when it is chosen.

use rusqlite::{Connection, OptionalExtension as _, Transaction};

use super::{Memories, MemoryProvider, unavailable, unreadable};
use crate::StoreError;

/// A query's vector, of length one.
#[derive(Clone, Debug)]
pub struct VectorQuery {
    values: Vec<f32>,
}

impl VectorQuery {
    /// From what a model says; none if it has no direction.
    pub fn new(values: &[f32]) -> Option<Self> {
        unit(values).map(|values| VectorQuery { values })
    }
}

/// A record that has no vector yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unembedded {
    /// The number of its row.
    pub seq: i64,
    /// What its text is now.
    pub content_hash: String,
    pub text: String,
}

/// A record with the vector of the text that has this hash.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    /// The number of its row.
    pub seq: i64,
    /// The text that it was made of.
    pub content_hash: String,
    /// The vector.
    pub values: Vec<f32>,
}

impl Memories {
    /// Where vectors come from, if that was chosen.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn provider(&self) -> Result<Option<MemoryProvider>, StoreError> {
        self.read(provider)
    }

    /// Chooses where vectors come from; those of another provider or model are forgotten.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub fn set_provider(&self, chosen: Option<&MemoryProvider>) -> Result<(), StoreError> {
        let mut connection = self.inner.writer.lock();
        let transaction = connection.transaction().map_err(unavailable)?;
        change_provider(&transaction, chosen).map_err(unavailable)?;
        transaction.commit().map_err(unavailable)
    }

    /// Records without a vector, at most this number.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn unembedded(&self, limit: usize) -> Result<Vec<Unembedded>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT seq, content_hash, text FROM rookery_memories \
                 WHERE is_deleted = 0 AND seq NOT IN (SELECT seq FROM rookery_memory_vectors) \
                 ORDER BY seq LIMIT ?1",
            )?;
            let found = statement.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                Ok(Unembedded { seq: row.get(0)?, content_hash: row.get(1)?, text: row.get(2)? })
            })?;
            found.collect()
        })
    }

    /// Keeps vectors that this provider made, of records whose text is still the same. Gives how many
    /// were kept: none once another provider was chosen.
    ///
    /// # Errors
    /// If they cannot be kept.
    pub fn put_vectors(
        &self,
        from: &MemoryProvider,
        vectors: &[Embedded],
    ) -> Result<usize, StoreError> {
        let mut connection = self.inner.writer.lock();
        let transaction = connection.transaction().map_err(unavailable)?;
        if provider(&transaction).map_err(unreadable)?.as_ref() != Some(from) {
            return Ok(0);
        }
        let mut kept = 0;
        for vector in vectors {
            kept += put_vector(&transaction, vector).map_err(unavailable)?;
        }
        transaction.commit().map_err(unavailable)?;
        Ok(kept)
    }
}

fn provider(connection: &Connection) -> rusqlite::Result<Option<MemoryProvider>> {
    let sql = "SELECT provider, model FROM rookery_memory";
    let pair: (Option<String>, Option<String>) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(match pair {
        (Some(provider), Some(model)) => Some(MemoryProvider { provider, model }),
        _ => None,
    })
}

fn change_provider(
    transaction: &Transaction<'_>,
    chosen: Option<&MemoryProvider>,
) -> rusqlite::Result<()> {
    if provider(transaction)?.as_ref() == chosen {
        return Ok(());
    }
    let (provider, model) = chosen.map(|it| (&it.provider, &it.model)).unzip();
    let sql = "UPDATE rookery_memory SET provider = ?1, model = ?2";
    transaction.execute(sql, (provider, model))?;
    transaction.execute("DELETE FROM rookery_memory_vectors", [])?;
    Ok(())
}

fn put_vector(transaction: &Transaction<'_>, vector: &Embedded) -> rusqlite::Result<usize> {
    let sql = "SELECT 1 FROM rookery_memories \
               WHERE seq = ?1 AND content_hash = ?2 AND is_deleted = 0";
    let is_same = transaction
        .query_row(sql, (vector.seq, &vector.content_hash), |_| Ok(()))
        .optional()?
        .is_some();
    // A vector without a direction is like nothing; it is kept, so that it is not made again.
    let values = unit(&vector.values).unwrap_or_default();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    match is_same {
        false => Ok(0),
        true => transaction.execute(
            "INSERT OR REPLACE INTO rookery_memory_vectors (seq, vector) VALUES (?1, ?2)",
            (vector.seq, bytes),
        ),
    }
}

/// Tells the cosine of every record that has a vector of the same size.
pub(super) fn cosines(
    connection: &Connection,
    query: &VectorQuery,
    mut tell: impl FnMut(usize, f64),
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("SELECT seq, vector FROM rookery_memory_vectors")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(1)?.as_blob()?;
        if bytes.len() != query.values.len() * 4 {
            continue;
        }
        let values = bytes
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        let cosine: f64 =
            values.zip(&query.values).map(|(one, two)| f64::from(one) * f64::from(*two)).sum();
        tell(usize::try_from(row.get::<_, i64>(0)?).unwrap_or(usize::MAX), cosine);
    }
    Ok(())
}

/// The vector of length one in the same direction; none if there is none.
fn unit(values: &[f32]) -> Option<Vec<f32>> {
    let length = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    (length.is_finite() && length > 0.0)
        .then(|| values.iter().map(|value| (f64::from(*value) / length) as f32).collect())
}
