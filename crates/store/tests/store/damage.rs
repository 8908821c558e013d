//! A damaged store never stops the start, and never brings old numbers back.

use std::fs;
use std::path::{Path, PathBuf};

use rookery_model::{Event, EventSeq, NumberedEvent};
use rookery_store::{Batch, Damage, Loaded, Store, StoreError};

use crate::common::*;

/// Opens a store that must have been found damaged, uses it, and opens it again.
fn opens_afresh(dir: &Path, after: &Loaded) -> Damage {
    let (store, loaded) = Store::open(dir).unwrap();
    let damage = loaded.damage.clone().expect("damage is reported");
    assert!(loaded.projects.is_empty() && loaded.terminals.is_empty() && loaded.active.is_none());
    assert!(loaded.threads.is_empty() && loaded.open_turns.is_empty());
    assert!(loaded.requests.is_empty());
    assert!(loaded.next_event >= after.next_event);
    assert!(loaded.next_project >= after.next_project);
    assert!(loaded.next_terminal >= after.next_terminal);
    if let Some(moved_to) = &damage.moved_to {
        assert!(fs::symlink_metadata(moved_to).is_ok());
    }
    let mut next = loaded.next_event;
    ring(&store, &mut next, 2);
    drop(store);
    let (_, again) = Store::open(dir).unwrap();
    assert_eq!(again.damage, None);
    assert_eq!(again.next_event, next);
    damage
}

fn database(dir: &Path) -> PathBuf {
    dir.join("rookery.db")
}

#[test]
fn garbage_is_moved_aside() {
    let dir = scratch();
    let before = sample(dir.path(), 7);
    fs::write(database(dir.path()), b"this is not a database, and it is long enough".repeat(100))
        .unwrap();
    let damage = opens_afresh(dir.path(), &before);
    let moved_to = damage.moved_to.unwrap();
    assert!(moved_to.file_name().unwrap().to_str().unwrap().starts_with("rookery.db.damaged-"));
    assert!(fs::read(moved_to).unwrap().starts_with(b"this is not"));
}

#[test]
fn damage_twice_within_a_second_keeps_both_files() {
    let dir = scratch();
    let mut moved = Vec::new();
    let before = sample(dir.path(), 1);
    for _ in 0..3 {
        fs::write(database(dir.path()), [7; 5_000]).unwrap();
        moved.push(opens_afresh(dir.path(), &before).moved_to.unwrap());
    }
    moved.dedup();
    assert_eq!(moved.len(), 3);
}

#[test]
fn a_directory_a_missing_and_an_empty_file_are_survived() {
    let dir = scratch();
    let before = sample(dir.path(), 3);
    let database = database(dir.path());
    fs::remove_file(&database).unwrap();
    fs::create_dir(&database).unwrap();
    fs::write(database.join("inside"), "x").unwrap();
    let moved_to = opens_afresh(dir.path(), &before).moved_to.unwrap();
    assert!(moved_to.join("inside").exists());
    fs::write(&database, "").unwrap();
    opens_afresh(dir.path(), &before);
    fs::remove_file(&database).unwrap();
    fs::remove_file(dir.path().join("rookery.db-wal")).ok();
    fs::remove_file(dir.path().join("rookery.db-shm")).ok();
    assert_eq!(opens_afresh(dir.path(), &before).moved_to, None);
    fs::remove_file(&database).unwrap();
    std::os::unix::fs::symlink(dir.path().join("nowhere"), &database).unwrap();
    opens_afresh(dir.path(), &before);
    fs::remove_file(dir.path().join("rookery.db-wal")).ok();
    fs::create_dir(dir.path().join("rookery.db-wal")).unwrap();
    opens_afresh(dir.path(), &before);
}

#[test]
fn a_log_without_its_database_is_kept() {
    let dir = scratch();
    let (_, log, before) = crashed(dir.path());
    for empty in [false, true] {
        let dir = scratch();
        if empty {
            fs::write(database(dir.path()), "").unwrap();
        }
        fs::write(dir.path().join("rookery.db-wal"), &log).unwrap();
        let moved_to = opens_afresh(dir.path(), &before).moved_to.unwrap();
        let name = moved_to.to_str().unwrap();
        let name = if empty { format!("{name}-wal") } else { name.to_owned() };
        assert!(name.ends_with("-wal"));
        assert_eq!(fs::read(name).unwrap(), log);
    }
}

#[test]
fn without_a_sidecar_numbers_come_from_the_clock() {
    for sidecar in [None, Some("rubbish")] {
        let dir = scratch();
        let before = sample(dir.path(), 3);
        let reserved = dir.path().join("reserved");
        match sidecar {
            None => fs::remove_file(reserved).unwrap(),
            Some(text) => fs::write(reserved, text).unwrap(),
        }
        let (_, healthy) = Store::open(dir.path()).unwrap();
        assert_eq!(healthy.next_event, before.next_event);
        fs::write(dir.path().join("reserved"), "rubbish").unwrap();
        fs::write(database(dir.path()), [7; 5_000]).unwrap();
        let (_, loaded) = Store::open(dir.path()).unwrap();
        assert!(loaded.damage.is_some());
        let since = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        assert!(loaded.next_event > EventSeq::new((since - 600) * 1_000));
        assert!(loaded.next_terminal.get() > (since - 600) * 1_000);
    }
}

#[test]
fn a_directory_in_place_of_the_sidecar_is_survived() {
    let dir = scratch();
    let before = sample(dir.path(), 3);
    fs::remove_file(dir.path().join("reserved")).unwrap();
    fs::create_dir(dir.path().join("reserved")).unwrap();
    let (_, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(loaded, before);
    assert!(fs::read_to_string(dir.path().join("reserved")).is_ok());
}

#[test]
fn a_newer_format_is_left_alone() {
    let dir = scratch();
    sample(dir.path(), 3);
    sql(dir.path(), "PRAGMA user_version = 4711; PRAGMA wal_checkpoint(TRUNCATE)");
    let before = fs::read(database(dir.path())).unwrap();
    let sidecar = fs::read(dir.path().join("reserved")).unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::TooNew { found: 4711, .. }), "{error}");
    assert!(error.to_string().contains("4711"));
    assert_eq!(fs::read(database(dir.path())).unwrap(), before);
    assert_eq!(fs::read(dir.path().join("reserved")).unwrap(), sidecar);
    assert!(fs::read_dir(dir.path()).unwrap().count() <= 4);
}

#[test]
fn a_foreign_database_is_moved_aside() {
    let dir = scratch();
    sql(dir.path(), "CREATE TABLE world (x); INSERT INTO world VALUES (1)");
    let (_, loaded) = Store::open(dir.path()).unwrap();
    assert!(loaded.damage.unwrap().moved_to.is_some());
    let dir = scratch();
    let before = sample(dir.path(), 1);
    sql(dir.path(), "DROP TABLE events");
    let (_, loaded) = Store::open(dir.path()).unwrap();
    assert!(loaded.damage.unwrap().moved_to.is_some());
    assert_eq!(loaded.terminals, before.terminals);
    assert!(loaded.next_event >= before.next_event);
}

#[test]
fn an_unusable_directory_is_an_error_that_names_it() {
    let dir = scratch();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Store::open(&file.join("state")).unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }));
    assert!(error.to_string().contains("file/state"), "{error}");
}

#[test]
fn a_single_bad_row_costs_only_itself() {
    let dir = scratch();
    let before = sample(dir.path(), 3);
    sql(
        dir.path(),
        "UPDATE projects SET body = '{' WHERE id = 1;
         UPDATE terminals SET body = cast(x'ff' AS TEXT) WHERE id = 2;
         UPDATE terminals SET body = json_set(body, '$.id', 77) WHERE id = 3;",
    );
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let damage = loaded.damage.clone().unwrap();
    assert_eq!((damage.moved_to, damage.rows), (None, 3));
    // The project still has a terminal, so something stands in for it.
    assert_eq!(loaded.projects[0].name, "recovered 1");
    assert_eq!(loaded.projects[1], project(2));
    assert_eq!(loaded.terminals, [terminal(1, 1)]);
    assert_eq!(loaded.active, None);
    assert_eq!(loaded.next_terminal, before.next_terminal);
    drop(store);
    let (_, again) = Store::open(dir.path()).unwrap();
    assert_eq!(again, Loaded { damage: None, ..loaded });
    let connection = rusqlite::Connection::open(database(dir.path())).unwrap();
    let kept: Vec<u8> = connection
        .query_row("SELECT content FROM damaged_rows WHERE row = 2", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, [0xff]);
}

#[test]
fn a_bad_project_without_terminals_goes_and_orphans_are_adopted() {
    let dir = scratch();
    sample(dir.path(), 0);
    sql(
        dir.path(),
        "PRAGMA foreign_keys = OFF;
         DELETE FROM terminals WHERE id = 3;
         UPDATE projects SET body = '[]' WHERE id = 2;
         DELETE FROM projects WHERE id = 1;",
    );
    let (_, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(project_ids(&loaded), [1]);
    assert_eq!(loaded.projects[0].name, "recovered 1");
    assert_eq!(loaded.terminals, [terminal(1, 1), terminal(2, 1)]);
}

#[test]
fn impossible_numbers_are_not_believed() {
    let dir = scratch();
    let before = sample(dir.path(), 3);
    sql(
        dir.path(),
        "INSERT INTO events VALUES (9223372036854775807, 0, '');
         UPDATE terminals SET id = 9223372036854775807 WHERE id = 3;",
    );
    let (_, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(loaded.damage.unwrap().rows, 1);
    assert_eq!(loaded.next_event, before.next_event);
    assert_eq!(loaded.next_terminal, before.next_terminal);
    sql(dir.path(), "UPDATE world SET next_event = -1");
    let (store, loaded) = Store::open(dir.path()).unwrap();
    assert!(loaded.next_event >= before.next_event);
    let mut next = loaded.next_event;
    ring(&store, &mut next, 1);
}

/// A database and a log with content in both, as a killed process leaves them.
fn crashed(dir: &Path) -> (Vec<u8>, Vec<u8>, Loaded) {
    sample(dir, 40);
    let (store, loaded) = Store::open(dir).unwrap();
    let title = "x".repeat(700);
    let mut next = loaded.next_event;
    for id in 4..8 {
        let event = Event::DaemonStarted { version: title.clone(), restored: id };
        let events = vec![NumberedEvent { seq: next, at: now(), event }];
        next = next.next();
        let batch = Batch { changes: vec![put_terminal(id, 1, 0)], events };
        store.commit(batch).wait_blocking().unwrap();
    }
    let files = (fs::read(database(dir)).unwrap(), fs::read(dir.join("rookery.db-wal")).unwrap());
    drop(store);
    (files.0, files.1, loaded)
}

/// Puts these files in place and opens them; whatever happens, the store works afterwards.
fn survives(database_bytes: &[u8], log_bytes: &[u8], sidecar: &[u8], what: &str) -> Loaded {
    let dir = scratch();
    fs::write(database(dir.path()), database_bytes).unwrap();
    fs::write(dir.path().join("rookery.db-wal"), log_bytes).unwrap();
    fs::write(dir.path().join("reserved"), sidecar).unwrap();
    let (store, loaded) = Store::open(dir.path()).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut next = loaded.next_event;
    ring(&store, &mut next, 1);
    store.close().unwrap();
    loaded
}

#[test]
fn files_cut_at_any_sector_are_survived() {
    let dir = scratch();
    let (database, log, _) = crashed(dir.path());
    let sidecar = fs::read(dir.path().join("reserved")).unwrap();
    assert!(database.len() > 8 * 512 && log.len() > 8 * 512);
    let whole = survives(&database, &log, &sidecar, "whole");
    assert_eq!((whole.damage.as_ref(), whole.terminals.len()), (None, 7));
    for cut in (0..database.len()).step_by(512) {
        let loaded = survives(&database[..cut], &log, &sidecar, &format!("database cut at {cut}"));
        assert!(loaded.damage.is_some() || loaded == whole, "database cut at {cut}");
        assert!(loaded.next_event >= whole.next_event, "database cut at {cut}");
        survives(&database[..cut], &[], &sidecar, &format!("database cut at {cut}, no log"));
    }
    for cut in (0..log.len()).step_by(512) {
        // What came before the cut is good; that something was lost is reported.
        let loaded = survives(&database, &log[..cut], &sidecar, &format!("log cut at {cut}"));
        assert!(loaded.damage.is_some(), "log cut at {cut}");
        assert!(loaded.next_event >= whole.next_event, "log cut at {cut}");
    }
}

#[test]
fn scribbled_pages_are_survived() {
    let dir = scratch();
    let (database, log, _) = crashed(dir.path());
    let sidecar = fs::read(dir.path().join("reserved")).unwrap();
    for start in (0..database.len()).step_by(512) {
        let mut bad = database.clone();
        bad[start..start + 512].fill(0xa5);
        survives(&bad, &[], &sidecar, &format!("scribble at {start}, no log"));
        survives(&bad, &log, &sidecar, &format!("scribble at {start}"));
    }
    for start in (0..log.len() - 512).step_by(512) {
        let mut bad = log.clone();
        bad[start..start + 512].fill(0xa5);
        survives(&database, &bad, &sidecar, &format!("log scribble at {start}"));
    }
}
