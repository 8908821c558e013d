//! Memories of an older program: a file of lines beside the database, taken in once.

use std::path::{Path, PathBuf};

use rookery_host::files;
use rookery_model::spelling::camel;
use rookery_model::{MemoryScope, Timestamp};
use rookery_store::{Memories as Database, MemoryDraft};
use serde_json::Value;

use super::{checked_metadata, checked_text, digest};
use crate::clock;

const FILE: &str = "memories.jsonl";
/// Says that it was taken in.
const MARKER: &str = ".memories-jsonl-imported";
/// The longest file.
const LONGEST: u64 = 64 << 20;
/// The longest id that is taken over.
const LONGEST_ID: usize = 128;

/// Whether a file waits to be taken in. Blocks.
pub(super) fn waits(database: &Path) -> bool {
    let is_there = |name: &str| files::open_regular(&beside(database, name)).is_ok();
    is_there(FILE) && !is_there(MARKER)
}

/// Takes a file in, if there is one that was not. Lines that are no memories are left out. Blocks.
pub(super) fn take_in(path: &Path, database: &Database) {
    if !waits(path) {
        return;
    }
    let bytes = match files::read_range(&beside(path, FILE), 0, None, LONGEST) {
        Ok(bytes) => bytes,
        Err(error) => {
            tracing::warn!(?error, "the file of older memories cannot be read");
            return;
        }
    };
    let (drafts, skipped) = read(&String::from_utf8_lossy(&bytes));
    match database.import(&drafts) {
        Ok(count) => {
            tracing::info!(count, skipped, "older memories were taken in");
            if let Err(error) = files::replace(&beside(path, MARKER), b"") {
                tracing::warn!(%error, "older memories are looked at again at the next start");
            }
        }
        Err(error) => tracing::warn!(%error, "older memories could not be taken in"),
    }
}

fn beside(path: &Path, name: &str) -> PathBuf {
    path.with_file_name(name)
}

/// The memories in a text of lines, and how many lines are none.
fn read(text: &str) -> (Vec<MemoryDraft>, usize) {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let (mut drafts, mut skipped) = (Vec::new(), 0);
    for line in lines {
        match serde_json::from_str(line).ok().and_then(|value| draft(&value)) {
            Some(Line::Memory(draft)) => drafts.push(*draft),
            Some(Line::Deleted) => {}
            None => skipped += 1,
        }
    }
    (drafts, skipped)
}

enum Line {
    Memory(Box<MemoryDraft>),
    Deleted,
}

fn draft(line: &Value) -> Option<Line> {
    let member = |snake: &str, camel: &str| line.get(snake).or_else(|| line.get(camel));
    if line.get("deleted").and_then(Value::as_bool) == Some(true) {
        return Some(Line::Deleted);
    }
    let text = checked_text(line.get("text")?.as_str()?.to_owned()).ok()?;
    let time = |snake: &str, camel: &str| {
        let text = member(snake, camel)?.as_str()?;
        let time: jiff::Timestamp = text.parse().ok()?;
        Some(Timestamp::from_micros(time.as_microsecond()))
    };
    let created_at = time("created_at", &camel("created_at")).unwrap_or_else(clock::wall);
    let usage = line.get("usage");
    let use_count =
        usage.and_then(|usage| usage.get("use_count").or(usage.get(camel("use_count"))));
    let id = line.get("id").and_then(Value::as_str).filter(|id| is_id(id));
    Some(Line::Memory(Box::new(MemoryDraft {
        id: id.map_or_else(|| format!("mem-{}", digest(line.to_string().as_str())), str::to_owned),
        scope: scope(line.get("scope")?)?,
        content_hash: digest(&text),
        text,
        metadata: checked_metadata(line.get("metadata").unwrap_or(&Value::Null)).ok()?,
        created_at,
        updated_at: time("updated_at", &camel("updated_at")).unwrap_or(created_at),
        use_count: use_count.and_then(Value::as_u64).unwrap_or(0),
    })))
}

/// A scope as it was written: a word, or one member with the id.
fn scope(value: &Value) -> Option<MemoryScope> {
    if let Some(text) = value.as_str() {
        return MemoryScope::from_id(&text.to_lowercase()).or_else(|| MemoryScope::from_id(text));
    }
    let (kind, id) = value.as_object().filter(|members| members.len() == 1)?.iter().next()?;
    MemoryScope::from_id(&format!("{}:{}", kind.to_lowercase(), id.as_str()?))
}

fn is_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    let begins_well = id.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
    begins_well && id.len() <= LONGEST_ID && id.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_spellings_are_read_and_others_are_counted() {
        let text = r#"
{"id":"m-1","scope":{"Project":"/a"},"text":"one","metadata":{"k":1},"usage":{"useCount":2},"createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-02T00:00:00Z"}
{"id":"../x","scope":"Global","text":"two","created_at":"2026-01-01T00:00:00Z"}
{"id":"m-3","scope":"Global","text":"gone","deleted":true}
{"id":"m-4","scope":"Planet","text":"where"}
{"id":"m-5","scope":"Global","text":"   "}
no json
"#;
        let (drafts, skipped) = read(text);
        assert_eq!((drafts.len(), skipped), (2, 3));
        assert_eq!((drafts[0].id.as_str(), drafts[0].use_count), ("m-1", 2));
        assert_eq!(drafts[0].scope, MemoryScope::Project("/a".into()));
        assert_eq!(drafts[0].updated_at.to_string(), "2026-01-02T00:00:00.000000Z");
        assert!(drafts[1].id.starts_with("mem-"), "{}", drafts[1].id);
        assert_eq!(drafts[1].created_at, drafts[1].updated_at);
        // The same line gets the same id, so that it comes once.
        assert_eq!(read(text).0[1].id, drafts[1].id);
    }
}
