//! Finds memories, the best first. The ranking, exactly:
//!
//! The records of the wanted scopes are the collection; `N` is their number, 1,000 at least, and `n(t)`
//! the number of those that have the word `t`, 1 at least. The weight of a word is that of BM25,
//! `idf(t) = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))`. A record's lexical score is the sum of the weights
//! of those different words of the query that it has, divided by the sum of the weights of all of them:
//! BM25 with `k1 = 0`, the one form in which a record with every word scores exactly 1. The bounds below
//! keep small collections sensible, where words that no record has would weigh more than all others.
//!
//! A text that was not written to find anything, as a prompt is, has many words that no record has. Where the
//! query says so, these weigh a tenth, so that they cannot hide a record that has the others.
//!
//! With a vector for the query the score is half of that and half of the cosine, if that is positive.
//! Records that score 0 are left out. Of records with one score the one that was used more often comes
//! first, then the one that was changed last, then the one with the lesser id.

use rookery_model::Memory;
use rusqlite::Connection;

use super::index::{Entry, Index};
use super::vectors::{self, VectorQuery};
use super::{COLUMNS, Memories, memory_of, words};
use crate::StoreError;

/// Different words of a query that count; those that stand first do.
const MOST_TERMS: usize = 64;
/// What a word that no record has counts for in a text that was not written as a query.
const SHARE_OF_UNKNOWN: f64 = 0.1;
/// A collection is taken to have this many records at least.
const SMALLEST_COLLECTION: usize = 1_000;

/// What is searched for.
#[derive(Clone, Debug, Default)]
pub struct MemoryQuery<'a> {
    /// The words.
    pub text: &'a str,
    /// The keys of scopes to search in; none for all.
    pub scopes: Option<&'a [String]>,
    /// The most records that are wanted.
    pub limit: usize,
    /// Whether it is a text that was not written as a query.
    pub is_prose: bool,
    /// A vector for the query.
    pub vector: Option<&'a VectorQuery>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FoundMemory {
    /// The record.
    pub memory: Memory,
    /// How well it fits, above 0 and at most 1.
    pub score: f64,
    /// Where its first word of the query begins, in bytes; 0 if it has none.
    pub first_match: usize,
}

impl Memories {
    /// Memories that have words of the query, or are like it, the best first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn search(&self, query: &MemoryQuery<'_>) -> Result<Vec<FoundMemory>, StoreError> {
        self.read(|connection| {
            let terms = words::terms(connection, query.text, MOST_TERMS)?;
            let best: Vec<(usize, f64)> = {
                let index = self.inner.index.read();
                let refs = index.refs(query.scopes);
                let refs = refs.as_deref();
                let mut scores = lexical(connection, &index, refs, &terms, query.is_prose)?;
                if let Some(vector) = query.vector {
                    scores.iter_mut().for_each(|score| *score *= 0.5);
                    vectors::cosines(connection, vector, |seq, cosine| {
                        if let Some(score) = scores.get_mut(seq)
                            && index.within(seq, refs).is_some()
                        {
                            *score += 0.5 * cosine.clamp(0.0, 1.0);
                        }
                    })?;
                }
                best_of(&scores, &index, query.limit)
            };
            let mut found = Vec::with_capacity(best.len());
            for (seq, score) in best {
                // One that was deleted meanwhile is no result.
                if let Some(memory) = by_seq(connection, seq)? {
                    let first_match = words::first_match(connection, &memory.text, &terms)?;
                    found.push(FoundMemory { memory, score, first_match });
                }
            }
            Ok(found)
        })
    }
}

/// The lexical score of every row; 0 for those of other scopes.
fn lexical(
    connection: &Connection,
    index: &Index,
    scopes: Option<&[u32]>,
    terms: &[String],
    is_prose: bool,
) -> rusqlite::Result<Vec<f64>> {
    let mut scores = vec![0.0; index.end()];
    let collection = index.count(scopes).max(SMALLEST_COLLECTION);
    let (mut best, mut having) = (0.0, Vec::new());
    let sql = "SELECT doc FROM rookery_memory_vocabulary WHERE term = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    for term in terms {
        having.clear();
        let mut rows = statement.query([term])?;
        while let Some(row) = rows.next()? {
            let seq = usize::try_from(row.get::<_, i64>(0)?).unwrap_or(usize::MAX);
            if index.within(seq, scopes).is_some() {
                having.push(seq);
            }
        }
        let weight = weight(collection, having.len());
        best += match having.is_empty() && is_prose {
            true => weight * SHARE_OF_UNKNOWN,
            false => weight,
        };
        for &seq in &having {
            scores[seq] += weight;
        }
    }
    if best > 0.0 {
        scores.iter_mut().for_each(|score| *score /= best);
    }
    Ok(scores)
}

/// What a word is worth that this number of a collection's records have.
fn weight(collection: usize, having: usize) -> f64 {
    let (all, having) = (collection as f64, having.max(1) as f64);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

/// The best rows with their scores, in order.
fn best_of(scores: &[f64], index: &Index, limit: usize) -> Vec<(usize, f64)> {
    let scored = scores.iter().enumerate().filter(|(_, score)| **score > 0.0);
    let scored = scored.filter_map(|(seq, score)| Some((seq, *score, index.get(seq)?)));
    let mut scored: Vec<(usize, f64, &Entry)> = scored.collect();
    let order = |one: &(usize, f64, &Entry), two: &(usize, f64, &Entry)| {
        two.1.total_cmp(&one.1).then_with(|| one.2.order(two.2))
    };
    if limit == 0 {
        return Vec::new();
    }
    if scored.len() > limit {
        scored.select_nth_unstable_by(limit - 1, order);
        scored.truncate(limit);
    }
    scored.sort_by(order);
    scored.into_iter().map(|(seq, score, _)| (seq, score)).collect()
}

fn by_seq(connection: &Connection, seq: usize) -> rusqlite::Result<Option<Memory>> {
    let sql = format!("SELECT {COLUMNS} FROM rookery_memories WHERE seq = ?1 AND is_deleted = 0");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([i64::try_from(seq).unwrap_or(i64::MAX)])?;
    rows.next()?.map(memory_of).transpose()
}
