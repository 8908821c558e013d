//! Memories on disk: what was saved is there again, a damaged file is put aside, and words fit records.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rookery_model::{MemoryScope, Timestamp};
use rookery_store::{
    Embedded, Memories, MemoryDraft, MemoryProvider, MemoryQuery, StoreError, VectorQuery,
};

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

fn project() -> MemoryScope {
    MemoryScope::Project("/src/a".into())
}

fn draft(id: &str, scope: MemoryScope, text: &str, now: i64) -> MemoryDraft {
    MemoryDraft {
        id: id.to_owned(),
        scope,
        text: text.to_owned(),
        content_hash: format!("hash of {text}"),
        metadata: "null".to_owned(),
        created_at: at(now),
        updated_at: at(now),
        use_count: 0,
    }
}

fn save(memories: &Memories, id: &str, scope: MemoryScope, text: &str, now: i64) {
    memories.save(&draft(id, scope, text, now)).unwrap().unwrap();
}

fn ids(memories: &Memories, text: &str, scopes: Option<&[String]>) -> Vec<String> {
    let query = MemoryQuery { text, scopes, limit: 100, ..MemoryQuery::default() };
    let found = memories.search(&query).unwrap();
    found.into_iter().map(|found| found.memory.id).collect()
}

fn file(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("memory/memories.sqlite3")
}

fn names(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_was_saved_is_there_again_and_found_by_its_words() {
    let dir = tempfile::tempdir().unwrap();
    {
        let (memories, damage) = Memories::open(&file(&dir)).unwrap();
        assert_eq!(damage, None);
        save(&memories, "m1", project(), "Releases are made on Fridays", 1);
        save(&memories, "m2", MemoryScope::Global, "The café is closed", 2);
        // The file is not closed in an orderly way.
        std::mem::forget(memories);
    }
    let (memories, damage) = Memories::open(&file(&dir)).unwrap();
    assert_eq!((damage, memories.count()), (None, 2));
    for (text, found) in [
        ("release", vec!["m1"]),
        ("RELEASING friday", vec!["m1"]),
        ("cafe", vec!["m2"]),
        ("closes made", vec!["m1", "m2"]),
        ("nothing of it", vec![]),
        ("???", vec![]),
        ("", vec![]),
    ] {
        let mut seen = ids(&memories, text, None);
        seen.sort();
        assert_eq!(seen, found, "{text}");
    }
    let mode = fs::metadata(file(&dir)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn scopes_are_kept_apart_and_a_workspace_is_its_project() {
    let memories = Memories::in_memory().unwrap();
    save(&memories, "m1", project(), "deploy by hand", 1);
    save(&memories, "m2", MemoryScope::Workspace("/src/a".into()), "deploy at night", 2);
    save(&memories, "m3", MemoryScope::Project("/src/b".into()), "deploy never", 3);
    save(&memories, "m4", MemoryScope::Global, "deploy with care", 4);
    let here = [project().key()];
    assert_eq!(ids(&memories, "deploy", Some(&here)), ["m2", "m1"]);
    let both = [project().key(), MemoryScope::Global.key()];
    assert_eq!(ids(&memories, "deploy", Some(&both)), ["m4", "m2", "m1"]);
    assert_eq!(ids(&memories, "deploy", Some(&["project:/none".to_owned()])).len(), 0);
    assert_eq!(ids(&memories, "deploy", None).len(), 4);
    let newest = |scopes: Option<&[String]>, limit| -> Vec<String> {
        let found = memories.newest(scopes, limit).unwrap();
        found.into_iter().map(|memory| memory.id).collect()
    };
    assert_eq!(newest(None, 2), ["m4", "m3"]);
    assert_eq!(newest(Some(&here), 9), ["m2", "m1"]);
    assert_eq!(memories.get("m2").unwrap().unwrap().scope.id(), "workspace:/src/a");
}

#[test]
fn the_same_text_is_one_record_of_its_scope() {
    let memories = Memories::in_memory().unwrap();
    let first =
        MemoryDraft { metadata: r#"{"a":1,"b":1}"#.into(), ..draft("m1", project(), "one", 5) };
    assert!(!memories.save(&first).unwrap().unwrap().is_known);
    let again = MemoryDraft { metadata: r#"{"b":2}"#.into(), ..draft("m2", project(), "one", 5) };
    let saved = memories.save(&again).unwrap().unwrap();
    assert!(saved.is_known);
    assert_eq!((saved.memory.id.as_str(), &*saved.memory.metadata), ("m1", r#"{"a":1,"b":2}"#));
    assert_eq!((saved.memory.created_at, saved.memory.updated_at), (at(5), at(6)));
    assert!(!memories.save(&draft("m3", MemoryScope::Global, "one", 7)).unwrap().unwrap().is_known);
    assert_eq!(memories.count(), 2);
}

#[test]
fn changed_and_deleted_memories_are_found_by_what_they_are_now() {
    let memories = Memories::in_memory().unwrap();
    save(&memories, "m1", project(), "paint it red", 1);
    memories.note_use(&["m1", "gone"], at(2)).unwrap();
    let changed = memories.update("m1", "paint it blue", "h", None, at(3)).unwrap().unwrap();
    assert_eq!((changed.use_count, changed.last_used_at), (1, Some(at(2))));
    assert_eq!((changed.created_at, changed.updated_at), (at(1), at(3)));
    assert_eq!(ids(&memories, "red", None).len(), 0);
    assert_eq!(ids(&memories, "blue", None), ["m1"]);
    assert_eq!(memories.update("m9", "x", "h", None, at(4)).unwrap(), None);
    assert!(memories.delete("m1", at(5)).unwrap());
    assert!(!memories.delete("m1", at(6)).unwrap());
    assert_eq!(memories.update("m1", "x", "h", None, at(7)).unwrap(), None);
    assert_eq!((memories.get("m1").unwrap(), memories.count()), (None, 0));
    assert_eq!(ids(&memories, "blue", None).len(), 0);
    // Its text may come back as another record.
    save(&memories, "m2", project(), "paint it blue", 8);
    assert_eq!(ids(&memories, "blue", None), ["m2"]);
}

#[test]
fn of_records_with_one_score_use_then_time_then_id_decides() {
    let memories = Memories::in_memory().unwrap();
    for (id, now) in [("d", 1), ("b", 2), ("a", 2), ("c", 3)] {
        save(&memories, id, MemoryScope::Global, &format!("word {id}{id}{id}"), now);
    }
    assert_eq!(ids(&memories, "word", None), ["c", "a", "b", "d"]);
    memories.note_use(&["d"], at(4)).unwrap();
    assert_eq!(ids(&memories, "word", None), ["d", "c", "a", "b"]);
}

#[test]
fn vectors_find_what_words_do_not() {
    let memories = Memories::in_memory().unwrap();
    let provider = MemoryProvider { provider: "p".into(), model: "m".into() };
    memories.set_provider(Some(&provider)).unwrap();
    assert_eq!(memories.provider().unwrap(), Some(provider.clone()));
    save(&memories, "m1", MemoryScope::Global, "cats purr", 1);
    save(&memories, "m2", MemoryScope::Global, "dogs bark", 2);
    save(&memories, "m3", MemoryScope::Global, "stones lie", 3);
    let without = memories.unembedded(10).unwrap();
    assert_eq!(without.len(), 3);
    let vector = |seq: usize, values: &[f32]| Embedded {
        seq: without[seq].seq,
        content_hash: without[seq].content_hash.clone(),
        values: values.to_vec(),
    };
    let made = [vector(0, &[2.0, 0.0]), vector(1, &[3.0, 4.0]), vector(2, &[-1.0, 0.0])];
    assert_eq!(memories.put_vectors(&provider, &made).unwrap(), 3);
    let vector = VectorQuery::new(&[5.0, 0.0]).unwrap();
    let query = MemoryQuery { text: "bark", limit: 9, vector: Some(&vector), ..Default::default() };
    let found = memories.search(&query).unwrap();
    let found: Vec<(&str, f64)> =
        found.iter().map(|found| (found.memory.id.as_str(), found.score)).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((found[0].0, found[1].0), ("m2", "m1"));
    assert!((found[0].1 - 0.8).abs() < 1e-6 && (found[1].1 - 0.5).abs() < 1e-6, "{found:?}");
    // A text that changed has no vector until it got a new one.
    memories.update("m1", "cats sleep", "other", None, at(4)).unwrap();
    assert_eq!(memories.unembedded(10).unwrap().len(), 1);
    assert_eq!(memories.put_vectors(&provider, &made[..1]).unwrap(), 0, "it is of another text");
    // Those of another provider are forgotten.
    let other = MemoryProvider { provider: "q".into(), model: "m".into() };
    memories.set_provider(Some(&other)).unwrap();
    assert_eq!(memories.put_vectors(&provider, &made[1..]).unwrap(), 0);
    assert_eq!(memories.unembedded(10).unwrap().len(), 3);
    assert!(VectorQuery::new(&[0.0, 0.0]).is_none() && VectorQuery::new(&[f32::NAN]).is_none());
}

#[test]
fn memories_from_elsewhere_keep_their_ids_and_come_once() {
    let memories = Memories::in_memory().unwrap();
    let old = MemoryDraft { use_count: 3, ..draft("theirs-1", project(), "an old fact", 1) };
    let list = [old, draft("theirs-2", MemoryScope::Global, "another", 2)];
    assert_eq!(memories.import(&list).unwrap(), 2);
    assert_eq!(memories.import(&list).unwrap(), 0);
    assert_eq!(ids(&memories, "fact", None), ["theirs-1"]);
    assert_eq!(memories.get("theirs-1").unwrap().unwrap().use_count, 3);
}

#[test]
fn a_damaged_file_is_put_aside_and_a_new_one_begins_empty() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(file(&dir).parent().unwrap()).unwrap();
    fs::write(file(&dir), "this is no database, however long it may be".repeat(100)).unwrap();
    let (memories, damage) = Memories::open(&file(&dir)).unwrap();
    assert!(damage.unwrap().contains(".corrupt-"));
    save(&memories, "m1", project(), "a new beginning", 1);
    let seen = names(file(&dir).parent().unwrap());
    assert_eq!(seen.iter().filter(|name| name.contains(".corrupt-")).count(), 1, "{seen:?}");
    drop(memories);
    let (memories, damage) = Memories::open(&file(&dir)).unwrap();
    assert_eq!((damage, memories.count()), (None, 1));
}

#[test]
fn a_page_that_is_overwritten_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    {
        let (memories, _) = Memories::open(&file(&dir)).unwrap();
        for number in 0..400 {
            let text = format!("a fact with the number {number} and some more words");
            save(&memories, &format!("m{number}"), project(), &text, number);
        }
    }
    let mut bytes = fs::read(file(&dir)).unwrap();
    assert!(bytes.len() > 5 * 4096, "{}", bytes.len());
    bytes[2 * 4096..5 * 4096].fill(0x5a);
    fs::write(file(&dir), bytes).unwrap();
    let (memories, damage) = Memories::open(&file(&dir)).unwrap();
    assert!(damage.is_some());
    assert_eq!(memories.count(), 0);
}

#[test]
fn a_directory_is_no_database() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(file(&dir)).unwrap();
    let (memories, damage) = Memories::open(&file(&dir)).unwrap();
    assert!(damage.is_some());
    save(&memories, "m1", project(), "kept", 1);
}

#[test]
fn a_newer_format_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    drop(Memories::open(&file(&dir)).unwrap());
    let connection = rusqlite::Connection::open(file(&dir)).unwrap();
    connection.execute("UPDATE rookery_memory SET format = 99", []).unwrap();
    drop(connection);
    let refused = Memories::open(&file(&dir)).err();
    assert!(matches!(refused, Some(StoreError::TooNew { found: 99, .. })), "{refused:?}");
}

#[test]
fn words_that_do_not_fit_the_records_are_indexed_anew() {
    let dir = tempfile::tempdir().unwrap();
    {
        let (memories, _) = Memories::open(&file(&dir)).unwrap();
        save(&memories, "m1", project(), "lost and found", 1);
    }
    let connection = rusqlite::Connection::open(file(&dir)).unwrap();
    let forget = "INSERT INTO rookery_memory_words (rookery_memory_words) VALUES ('delete-all')";
    connection.execute(forget, []).unwrap();
    drop(connection);
    let (memories, damage) = Memories::open(&file(&dir)).unwrap();
    assert_eq!(damage, None);
    assert_eq!(ids(&memories, "found", None), ["m1"]);
}

#[test]
fn tables_of_another_program_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(file(&dir).parent().unwrap()).unwrap();
    let connection = rusqlite::Connection::open(file(&dir)).unwrap();
    let theirs = "CREATE TABLE memories (id TEXT, text TEXT);
                  INSERT INTO memories VALUES ('x', 'theirs');";
    connection.execute_batch(theirs).unwrap();
    drop(connection);
    let (memories, damage) = Memories::open(&file(&dir)).unwrap();
    assert_eq!(damage, None);
    save(&memories, "m1", project(), "ours", 1);
    drop(memories);
    let connection = rusqlite::Connection::open(file(&dir)).unwrap();
    let text: String =
        connection.query_row("SELECT text FROM memories", [], |row| row.get(0)).unwrap();
    assert_eq!(text, "theirs");
}

#[test]
fn readers_and_writers_work_at_the_same_time() {
    let dir = tempfile::tempdir().unwrap();
    let (memories, _) = Memories::open(&file(&dir)).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let memories = memories.clone();
            scope.spawn(move || {
                for number in 0..50 {
                    let id = format!("m{writer}-{number}");
                    save(&memories, &id, MemoryScope::Global, &format!("fact {id}"), number);
                }
            });
        }
        for _ in 0..4 {
            let memories = memories.clone();
            scope.spawn(move || {
                for _ in 0..50 {
                    assert!(ids(&memories, "fact", None).len() <= 100);
                }
            });
        }
    });
    assert_eq!((memories.count(), ids(&memories, "fact", None).len()), (100, 100));
}
