//! Bad rows of threads, turns, items and requests cost themselves and what belongs to them.

use std::path::Path;

use rookery_model::{Asker, Request, Thread, TurnStatus};
use rookery_store::{Change, Loaded, Store, StoreError};
use rusqlite::Connection;

use crate::common::*;
use crate::talk::*;

/// Three conversations in a store that was closed again.
fn three(dir: &Path) {
    let (store, _) = Store::open(dir).unwrap();
    for number in 1..=3 {
        store.commit(changes(conversation(number))).wait_blocking().unwrap();
    }
    store.close().unwrap();
}

/// Opens, expects this number of rows to be moved aside, and opens once more without damage.
fn mended(dir: &Path, rows: u64) -> (Store, Loaded) {
    let (store, loaded) = Store::open(dir).unwrap();
    let damage = loaded.damage.clone().expect("damage is reported");
    assert_eq!((damage.moved_to, damage.rows), (None, rows));
    drop(store);
    let (store, again) = Store::open(dir).unwrap();
    assert_eq!(again, Loaded { damage: None, ..loaded });
    (store, again)
}

/// What was moved aside, as `source row` with the text behind it.
fn aside(dir: &Path) -> Vec<(String, Vec<u8>, String)> {
    let connection = Connection::open(dir.join("rookery.db")).unwrap();
    let mut statement = connection
        .prepare("SELECT source || ' ' || row, content, reason FROM damaged_rows ORDER BY 1, 2")
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn names(rows: &[(String, Vec<u8>, String)]) -> Vec<&str> {
    rows.iter().map(|row| row.0.as_str()).collect()
}

fn hex(id: u128) -> String {
    format!("{id:032X}")
}

fn numbers_of(threads: &[Thread]) -> Vec<u64> {
    threads.iter().map(|thread| thread.id.get() as u64).collect()
}

#[test]
fn a_bad_thread_goes_with_all_that_belongs_to_it() {
    for spoil in [
        "UPDATE threads SET body = '{' WHERE id = ID",
        "UPDATE threads SET body = cast(x'ff' AS TEXT) WHERE id = ID",
        "UPDATE threads SET body = '[]' WHERE id = ID",
        "UPDATE threads SET body = json_set(body, '$.id', json_quote('unknown')) WHERE id = ID",
        "UPDATE threads SET body = (SELECT max(body) FROM threads) WHERE id = ID",
    ] {
        let dir = scratch();
        three(dir.path());
        let id = hex(thread_id(2).get());
        sql(dir.path(), &spoil.replace("ID", &format!("x'{id}'")));
        let (store, loaded) = mended(dir.path(), 9);
        assert_eq!(loaded.threads, [thread(1), thread(3)], "{spoil}");
        assert_eq!(loaded.open_turns.len(), 2);
        assert_eq!(loaded.requests, [request(11, 1, 11), request(33, 3, 33)]);
        assert!(store.thread_contents(thread_id(2)).unwrap().turns.is_empty());
        assert_eq!(store.thread_contents(thread_id(3)).unwrap().items.len(), 4);
        let kept = aside(dir.path());
        assert_eq!(
            names(&kept),
            [
                "items 0",
                "items 1",
                "items 2",
                "items 3",
                "requests 0",
                "requests 0",
                "threads 0",
                "turns 0",
                "turns 0"
            ]
        );
        // Each says whose it was.
        assert!(kept.iter().all(|(_, content, _)| {
            String::from_utf8_lossy(content).lines().next().unwrap().contains(&id)
        }));
        assert!(kept[0].1.ends_with(b"}"));
        // The id may be used again.
        store.commit(changes(conversation(2))).wait_blocking().unwrap();
    }
}

#[test]
fn what_was_kept_of_a_bad_row_is_what_was_there() {
    let dir = scratch();
    three(dir.path());
    let id = hex(thread_id(1).get());
    sql(
        dir.path(),
        &format!("UPDATE threads SET body = cast(x'00ff7b' AS TEXT) WHERE id = x'{id}'"),
    );
    mended(dir.path(), 9);
    let kept = aside(dir.path());
    let (_, content, _) = kept.iter().find(|row| row.0 == "threads 0").unwrap();
    assert_eq!(content, &[id.as_bytes(), b"\n\0\xff{"].concat());
}

#[test]
fn a_bad_open_turn_goes_with_its_items_and_requests() {
    for spoil in [
        "UPDATE turns SET body = 'x' WHERE id = ID",
        "UPDATE turns SET body = json_set(body, '$.status', 'completed') WHERE id = ID",
        "UPDATE turns SET body = (SELECT max(body) FROM turns) WHERE id = ID",
    ] {
        let dir = scratch();
        three(dir.path());
        let id = hex(turn_id(11).get());
        sql(dir.path(), &spoil.replace("ID", &format!("x'{id}'")));
        let (store, loaded) = mended(dir.path(), 4);
        assert_eq!(numbers_of(&loaded.threads), [1, 2, 3]);
        let open: Vec<_> = loaded.open_turns.iter().map(|turn| turn.id).collect();
        assert_eq!(open, [turn_id(22), turn_id(33)], "{spoil}");
        assert_eq!(loaded.requests.len(), 2);
        let contents = store.thread_contents(thread_id(1)).unwrap();
        assert_eq!(contents.turns, [turn(10, 1, TurnStatus::Completed)]);
        assert_eq!((contents.items.len(), contents.skipped), (2, 0));
        assert_eq!(names(&aside(dir.path())), ["items 2", "items 3", "requests 0", "turns 0"]);
    }
}

#[test]
fn a_bad_request_that_waits_goes_alone() {
    for spoil in [
        "UPDATE requests SET body = '' WHERE id = ID",
        "UPDATE requests SET is_pending = 1 WHERE id = ID",
        "UPDATE requests SET is_pending = 1, body = json_set(body, '$.turn', '') WHERE id = ID",
    ] {
        let dir = scratch();
        three(dir.path());
        let number = if spoil.contains("is_pending") { 10 } else { 11 };
        let id = hex(request_id(number).get());
        sql(dir.path(), &spoil.replace("ID", &format!("x'{id}'")));
        let (store, loaded) = mended(dir.path(), 1);
        assert_eq!((loaded.threads.len(), loaded.open_turns.len()), (3, 3));
        assert!(!loaded.requests.iter().any(|request| request.id == request_id(number)));
        assert_eq!(store.request(request_id(number)).unwrap(), None);
        assert_eq!(names(&aside(dir.path())), ["requests 0"]);
    }
}

#[test]
fn what_a_client_asks_in_a_thread_has_no_turn_and_costs_nothing() {
    let dir = scratch();
    three(dir.path());
    let by_client = |request: Request| {
        let asker = Asker::Caller(thread_id(2));
        Request { asker, ..request }
    };
    let (pending, over) = (by_client(request(90, 2, 20)), by_client(settled(91, 2, 20)));
    let (store, before) = Store::open(dir.path()).unwrap();
    let contents = store.thread_contents(thread_id(2)).unwrap();
    let saved = [&pending, &over].map(|one| Change::RequestUpserted(Box::new(one.clone())));
    store.commit(changes(saved.to_vec())).wait_blocking().unwrap();
    store.close().unwrap();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!((&loaded.damage, &loaded.threads), (&None, &before.threads));
    assert!(loaded.requests.contains(&pending));
    assert_eq!(store.request(over.id).unwrap(), Some(over.clone()));
    assert_eq!(store.thread_contents(thread_id(2)).unwrap(), contents);
    // They go with the thread.
    store.commit(changes(vec![Change::ThreadDeleted(thread_id(2))])).wait_blocking().unwrap();
    assert_eq!([pending.id, over.id].map(|id| store.request(id).unwrap()), [None, None]);
    store.close().unwrap();
    let (_store, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!((loaded.damage, loaded.threads.len()), (None, 2));
}

#[test]
fn orphans_are_moved_aside() {
    let dir = scratch();
    three(dir.path());
    let gone = format!(
        "PRAGMA foreign_keys = OFF;
         DELETE FROM threads WHERE id = x'{}';
         DELETE FROM turns WHERE id IN (x'{}', x'{}');",
        hex(thread_id(1).get()),
        hex(turn_id(20).get()),
        hex(turn_id(33).get()),
    );
    sql(dir.path(), &gone);
    // All eight rows of the first thread; two items and a request of each turn that is missing.
    let (store, loaded) = mended(dir.path(), 8 + 3 + 3);
    assert_eq!(loaded.threads, [thread(2), thread(3)]);
    assert_eq!(loaded.open_turns, [turn(22, 2, TurnStatus::InProgress)]);
    assert_eq!(loaded.requests, [request(22, 2, 22)]);
    assert_eq!(store.thread_contents(thread_id(2)).unwrap().items, [stored(22, 2), stored(22, 3)]);
    assert!(aside(dir.path()).iter().all(|row| row.2.ends_with("is missing")));
    let connection = Connection::open(dir.path().join("rookery.db")).unwrap();
    let mut check = connection.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(!check.exists([]).unwrap());
}

#[test]
fn what_cannot_be_read_of_a_thread_is_skipped_and_counted() {
    let dir = scratch();
    three(dir.path());
    let (store, mut loaded) = Store::open(dir.path()).unwrap();
    let spoil = format!(
        "UPDATE items SET body = '{{\"id\":1}}' WHERE thread = x'{one}' AND position = 1;
         UPDATE items SET position = -1 WHERE thread = x'{one}' AND position = 2;
         UPDATE turns SET body = '' WHERE id = x'{turn}';
         UPDATE requests SET body = '' WHERE id = x'{request}';",
        one = hex(thread_id(1).get()),
        turn = hex(turn_id(20).get()),
        request = hex(request_id(30).get()),
    );
    sql(dir.path(), &spoil);
    let contents = store.thread_contents(thread_id(1)).unwrap();
    assert_eq!((contents.items, contents.skipped), (vec![stored(10, 0), stored(11, 3)], 2));
    // Its turn, and both items of that.
    let contents = store.thread_contents(thread_id(2)).unwrap();
    assert_eq!(contents.turns, [turn(22, 2, TurnStatus::InProgress)]);
    assert_eq!((contents.items, contents.skipped), (vec![stored(22, 2), stored(22, 3)], 3));
    assert!(matches!(store.request(request_id(30)), Err(StoreError::Unreadable(_))));
    assert_eq!(store.settled_requests(thread_id(3)).unwrap(), []);
    drop(store);
    // None of these is needed to start, so they stay where they are.
    let (_, again) = Store::open(dir.path()).unwrap();
    loaded.settled.retain(|request| request.id != request_id(30));
    assert_eq!(again, loaded);
}
