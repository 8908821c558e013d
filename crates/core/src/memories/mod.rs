//! Memories: what is to be known in other threads as well. Saved by people and agents, found by words,
//! and given to turns whose prompt they fit.
//!
//! Records and their ranking are the store's, scopes are resolved and secrets hidden here. The database
//! is opened when it is first needed; a turn never fails because of it.

mod change;
mod embed;
mod import;
mod providers;
mod recall;
mod room;
mod scope;
mod snippet;
#[cfg(test)]
mod tests;
mod tools;

use std::path::PathBuf;

use rookery_model::{
    Error, ErrorKind, Memory, MemoryScope, Result, ScopeName, ThreadId, Timestamp, TurnId,
};
use rookery_store::{FoundMemory, MOST_MEMORIES, MemoryDraft, MemoryQuery};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub use self::change::MemoryChange;
pub use self::providers::{MemoryChoice, MemoryModel, MemoryProviderView};
pub(crate) use self::recall::Recalled;
pub(crate) use self::room::Room;
pub use self::snippet::Citation;
use crate::log::NoticeBody;
use crate::rooms::Memories;
use crate::{clock, secrets};

/// The longest text of a memory, and of a query.
const LONGEST_TEXT: usize = 16_384;
/// The longest metadata, as JSON.
const LONGEST_METADATA: usize = 16_384;
/// Members that metadata may have in one another.
const DEEPEST_METADATA: usize = 16;

/// Where a request about memories comes from.
#[derive(Clone, Debug, Default)]
pub struct MemoryPlace {
    /// The directory whose project is meant where none is named.
    pub cwd: PathBuf,
    /// The turn that makes it, if one does.
    pub turn: Option<(ThreadId, TurnId)>,
}

/// Memories that were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryResults {
    /// The best first.
    pub hits: Vec<MemoryHit>,
    /// Whether the server that makes vectors could not be asked, so that only words counted.
    pub is_degraded: bool,
}

/// A memory that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryHit {
    /// The record.
    pub memory: Memory,
    /// How well it fits, above 0 and at most 1.
    pub score: f64,
    /// The part of it that fits.
    pub citation: Citation,
}

impl MemoryHit {
    fn new(found: FoundMemory) -> Self {
        let FoundMemory { memory, score, first_match } = found;
        let citation = Citation::new(&memory, score, first_match);
        Self { memory, score, citation }
    }
}

impl Memories {
    /// Keeps a text; gives its record, and whether its scope had the text already.
    ///
    /// # Errors
    /// If a part of it is wrong, there are too many, or it cannot be kept; nothing has happened then.
    pub async fn save(
        &self,
        place: &MemoryPlace,
        scope: ScopeName,
        text: String,
        metadata: Value,
    ) -> Result<(Memory, bool)> {
        let text = checked_text(text)?;
        let metadata = checked_metadata(&metadata)?;
        let scope = self.resolve(scope, &place.cwd).await?;
        let now = clock::wall();
        let draft = MemoryDraft {
            id: format!("mem-{}", uuid::Uuid::now_v7()),
            scope,
            content_hash: digest(&text),
            text,
            metadata,
            created_at: now,
            updated_at: now,
            use_count: 0,
        };
        let saved = self.with(move |database| database.save(&draft)).await?;
        let Some(saved) = saved else {
            let message = format!("there are {MOST_MEMORIES} memories already; delete some first");
            return Err(Error::new(ErrorKind::Busy, message));
        };
        self.notify(MemoryChange::Saved(Box::new(saved.memory.clone())));
        if let Some((thread, turn)) = place.turn {
            let memory = saved.memory.id.clone();
            self.notify(MemoryChange::Observed { thread, turn, memory });
        }
        self.embed_soon();
        Ok((saved.memory, saved.is_known))
    }

    /// Replaces the text of a memory, and its metadata if there is some.
    ///
    /// # Errors
    /// If a part of it is wrong, there is no such memory, or it cannot be kept.
    pub async fn update(&self, id: &str, text: String, metadata: Option<Value>) -> Result<Memory> {
        let text = checked_text(text)?;
        let metadata = metadata.as_ref().map(checked_metadata).transpose()?;
        let (wanted, hash, now) = (id.to_owned(), digest(&text), clock::wall());
        let changed = self
            .with(move |database| database.update(&wanted, &text, &hash, metadata.as_deref(), now));
        let memory = changed.await?.ok_or_else(|| unknown(id))?;
        self.notify(MemoryChange::Updated(Box::new(memory.clone())));
        self.embed_soon();
        Ok(memory)
    }

    /// Deletes a memory. False if there is none.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub async fn delete(&self, id: &str) -> Result<bool> {
        let (wanted, now) = (id.to_owned(), clock::wall());
        let deleted = self.with(move |database| database.delete(&wanted, now)).await?;
        if deleted {
            self.notify(MemoryChange::Deleted(id.to_owned()));
        }
        Ok(deleted)
    }

    /// A memory by its id.
    ///
    /// # Errors
    /// If memories cannot be read.
    pub async fn read(&self, id: &str) -> Result<Option<Memory>> {
        let id = id.to_owned();
        self.with(move |database| database.get(&id)).await
    }

    /// Memories of a scope, or of all, the one that was changed last first.
    ///
    /// # Errors
    /// If the scope is wrong, or memories cannot be read.
    pub async fn list(
        &self,
        place: &MemoryPlace,
        scope: Option<ScopeName>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let scopes = self.scopes(place, scope, false).await?;
        self.newest(scopes, limit).await
    }

    /// Memories that fit a text, the best first; the newest if it is blank.
    ///
    /// # Errors
    /// If the text is too long, the scope is wrong, or memories cannot be read.
    pub async fn query(
        &self,
        place: &MemoryPlace,
        scope: Option<ScopeName>,
        text: &str,
        limit: usize,
        with_global: bool,
    ) -> Result<MemoryResults> {
        let scopes = self.scopes(place, scope, with_global).await?;
        let results = self.search(scopes.as_deref(), text, limit).await?;
        let scope = scopes.and_then(|mut scopes| (!scopes.is_empty()).then(|| scopes.remove(0)));
        let (query, count) = (secrets::hidden(text).into_owned(), results.hits.len());
        self.notify(MemoryChange::Queried { scope, query, count });
        Ok(results)
    }

    /// The same without a word to others.
    async fn search(
        &self,
        scopes: Option<&[MemoryScope]>,
        text: &str,
        limit: usize,
    ) -> Result<MemoryResults> {
        if text.len() > LONGEST_TEXT {
            return Err(too_long());
        }
        if !text.trim().is_empty() {
            return self.find(scopes, text, (text, false), limit).await;
        }
        let newest = self.newest(scopes.map(<[_]>::to_vec), limit).await?;
        let hit = |memory| MemoryHit::new(FoundMemory { memory, score: 1.0, first_match: 0 });
        Ok(MemoryResults { hits: newest.into_iter().map(hit).collect(), is_degraded: false })
    }

    /// Memories that have words of a query, or are like the text that it is made of. Prose is what was
    /// not written as a query.
    async fn find(
        &self,
        scopes: Option<&[MemoryScope]>,
        text: &str,
        (words, is_prose): (&str, bool),
        limit: usize,
    ) -> Result<MemoryResults> {
        let (vector, is_degraded) = self.vector_of(text).await;
        let keys = scopes.map(keys_of);
        let words = words.to_owned();
        let found = self.with(move |database| {
            database.search(&MemoryQuery {
                text: &words,
                scopes: keys.as_deref(),
                limit,
                is_prose,
                vector: vector.as_ref(),
            })
        });
        let hits = found.await?.into_iter().map(MemoryHit::new).collect();
        Ok(MemoryResults { hits, is_degraded })
    }

    async fn newest(&self, scopes: Option<Vec<MemoryScope>>, limit: usize) -> Result<Vec<Memory>> {
        let keys = scopes.as_deref().map(keys_of);
        self.with(move |database| database.newest(keys.as_deref(), limit)).await
    }

    /// Notes that a turn was given memories. What goes wrong is of no consequence to it.
    async fn note_use(&self, ids: Vec<String>, now: Timestamp) {
        let noted = self.with(move |database| {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            database.note_use(&ids, now)
        });
        if let Err(error) = noted.await {
            tracing::warn!(%error, "the use of memories was not noted");
        }
    }

    fn notify(&self, change: MemoryChange) {
        let body = NoticeBody::Memory(Box::new(change));
        self.core.inner.log.spine().send(None, [body]);
    }
}

fn keys_of(scopes: &[MemoryScope]) -> Vec<String> {
    scopes.iter().map(MemoryScope::key).collect()
}

fn unknown(id: &str) -> Error {
    let shown: String = id.chars().take(128).collect();
    Error::invalid("memory_id", format!("unknown memory_id: {shown}"))
}

fn too_long() -> Error {
    Error::invalid("text", format!("text must have at most {LONGEST_TEXT} bytes"))
}

/// A text as it is kept: without secrets.
fn checked_text(mut text: String) -> Result<String> {
    if text.trim().is_empty() {
        return Err(Error::invalid("text", "text must not be blank"));
    }
    if text.len() > LONGEST_TEXT {
        return Err(too_long());
    }
    secrets::hide(&mut text);
    Ok(text)
}

/// Metadata as they are kept: JSON without secrets.
fn checked_metadata(metadata: &Value) -> Result<String> {
    let invalid = |why: String| Error::invalid("metadata", format!("metadata {why}"));
    if depth(metadata) > DEEPEST_METADATA {
        return Err(invalid(format!("must not be nested deeper than {DEEPEST_METADATA} levels")));
    }
    let mut text = metadata.to_string();
    if text.len() > LONGEST_METADATA {
        return Err(invalid(format!("must have at most {LONGEST_METADATA} bytes as JSON")));
    }
    secrets::hide_in_json(&mut text);
    Ok(text)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// SHA-256 in hexadecimal digits.
fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
