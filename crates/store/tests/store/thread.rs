//! Threads, turns, items and requests: written, read back, deleted, and quick to find.

use std::fs;
use std::time::{Duration, Instant};

use rookery_model::{
    ChangeRecord, Edit, FileOperation, Hunk, HunkLine, Item, ItemBody, ItemStatus, Lane, LineKind,
    ParentTurn, Rollback, Thread, Timestamp, Trace, TraceId, TraceStatus, TurnStatus,
};
use rookery_store::{Batch, Change, Loaded, Store, StoreError, ThreadContents};

use crate::common::*;
use crate::talk::*;

/// Far more than a loaded machine needs for what takes milliseconds; what grows with the square
/// of its size takes longer.
const PATIENCE: Duration = Duration::from_secs(5);

fn reopen(dir: &std::path::Path) -> (Store, Loaded) {
    let (store, loaded) = Store::open(dir).unwrap();
    assert_eq!(loaded.damage, None);
    (store, loaded)
}

#[test]
fn a_conversation_is_loaded_and_read_again() {
    let dir = scratch();
    let (store, first) = Store::open(dir.path()).unwrap();
    assert!(first.threads.is_empty() && first.open_turns.is_empty() && first.requests.is_empty());
    assert_eq!(store.thread_contents(thread_id(1)).unwrap(), ThreadContents::default());
    for number in [2, 1] {
        store.commit(changes(conversation(number))).wait_blocking().unwrap();
    }
    drop(store);
    let (store, loaded) = reopen(dir.path());
    assert_eq!(loaded.threads, [thread(1), thread(2)]);
    let open = TurnStatus::InProgress;
    assert_eq!(loaded.open_turns, [turn(11, 1, open), turn(22, 2, open)]);
    assert_eq!(loaded.requests, [request(11, 1, 11), request(22, 2, 22)]);
    let contents = store.thread_contents(thread_id(2)).unwrap();
    // The later number began earlier.
    assert_eq!(contents.turns, [turn(22, 2, open), turn(20, 2, TurnStatus::Completed)]);
    assert_eq!(contents.items, [stored(20, 0), stored(20, 1), stored(22, 2), stored(22, 3)]);
    assert_eq!(contents.skipped, 0);
    assert_eq!(store.request(request_id(11)).unwrap(), Some(request(11, 1, 11)));
    assert_eq!(store.request(request_id(10)).unwrap(), Some(settled(10, 1, 10)));
    assert_eq!(store.request(request_id(12)).unwrap(), None);
    assert_eq!(store.settled_requests(thread_id(1)).unwrap(), [settled(10, 1, 10)]);
    assert_eq!(store.settled_requests(thread_id(3)).unwrap(), []);
}

#[test]
fn items_of_versions_that_noted_no_time_began_with_their_turn() {
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    let mut all = conversation(1);
    for change in &mut all {
        if let Change::ItemUpserted { item, .. } = change {
            item.at = Timestamp::default();
        }
    }
    store.commit(changes(all)).wait_blocking().unwrap();
    let contents = store.thread_contents(thread_id(1)).unwrap();
    let began = |id| contents.turns.iter().find(|turn| turn.id == id).unwrap().started_at;
    assert_eq!(contents.items.len(), 4);
    assert!(contents.items.iter().all(|stored| stored.item.at == began(stored.turn)));
}

#[test]
fn what_is_stored_again_replaces_what_was_there() {
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    let renamed = Thread { name: None, archived: true, ..thread(1) };
    let body = ItemBody::Error { message: "other".to_owned() };
    let changed = Item { status: ItemStatus::Failed, body, ..item(3) };
    let mut all = conversation(1);
    all.extend([
        Change::ThreadUpserted(Box::new(renamed.clone())),
        put_turn(11, 1, TurnStatus::Failed),
        Change::ItemUpserted {
            thread: thread_id(1),
            turn: turn_id(10),
            position: 3,
            item: Box::new(changed.clone()),
        },
        put_request(settled(11, 1, 11)),
    ]);
    store.commit(changes(all)).wait_blocking().unwrap();
    let contents = store.thread_contents(thread_id(1)).unwrap();
    assert_eq!(contents.turns[0], turn(11, 1, TurnStatus::Failed));
    assert_eq!(contents.items.len(), 4);
    assert_eq!((contents.items[3].turn, &contents.items[3].item), (turn_id(10), &changed));
    assert_eq!(
        store.settled_requests(thread_id(1)).unwrap(),
        [settled(10, 1, 10), settled(11, 1, 11)]
    );
    drop(store);
    let (_, loaded) = reopen(dir.path());
    assert_eq!(loaded.threads, [renamed]);
    assert!(loaded.open_turns.is_empty() && loaded.requests.is_empty());
}

#[test]
fn what_belongs_to_a_deleted_one_goes_with_it_and_nothing_else() {
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    for number in 1..=3 {
        store.commit(changes(conversation(number))).wait_blocking().unwrap();
    }
    let other = store.thread_contents(thread_id(3)).unwrap();
    let deleted = changes(vec![
        Change::ThreadDeleted(thread_id(1)),
        Change::TurnDeleted(turn_id(22)),
        // Neither is there.
        Change::ThreadDeleted(thread_id(77)),
        Change::TurnDeleted(turn_id(77)),
    ]);
    store.commit(deleted).wait_blocking().unwrap();
    assert_eq!(store.thread_contents(thread_id(1)).unwrap(), ThreadContents::default());
    assert_eq!(store.settled_requests(thread_id(1)).unwrap(), []);
    let rest = store.thread_contents(thread_id(2)).unwrap();
    assert_eq!(rest.turns, [turn(20, 2, TurnStatus::Completed)]);
    assert_eq!((rest.items, rest.skipped), (vec![stored(20, 0), stored(20, 1)], 0));
    for gone in [10, 11, 22] {
        assert_eq!(store.request(request_id(gone)).unwrap(), None, "{gone}");
    }
    assert_eq!(store.settled_requests(thread_id(2)).unwrap(), [settled(20, 2, 20)]);
    assert_eq!(store.thread_contents(thread_id(3)).unwrap(), other);
    // The place of a deleted item is free again.
    store.commit(changes(vec![put_item(2, 20, 2)])).wait_blocking().unwrap();
    drop(store);
    let (_, loaded) = reopen(dir.path());
    assert_eq!(loaded.threads, [thread(2), thread(3)]);
    assert_eq!(loaded.open_turns, [turn(33, 3, TurnStatus::InProgress)]);
    assert_eq!(loaded.requests, [request(33, 3, 33)]);
    let connection = rusqlite::Connection::open(dir.path().join("rookery.db")).unwrap();
    for (table, rows) in [("threads", 2), ("turns", 3), ("items", 7), ("requests", 3)] {
        let count = format!("SELECT count(*) FROM {table}");
        let count: i64 = connection.query_row(&count, [], |row| row.get(0)).unwrap();
        assert_eq!(count, rows, "{table}");
    }
}

#[test]
fn what_has_no_parent_is_refused() {
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    store.commit(changes(conversation(1))).wait_blocking().unwrap();
    store.commit(changes(vec![put_thread(2)])).wait_blocking().unwrap();
    let refused = [
        put_turn(30, 3, TurnStatus::InProgress),
        // A turn stays in its thread.
        put_turn(10, 2, TurnStatus::InProgress),
        put_item(1, 12, 4),
        put_item(2, 10, 0),
        put_request(request(12, 1, 12)),
        put_request(request(12, 2, 11)),
        Change::ItemUpserted {
            thread: thread_id(1),
            turn: turn_id(10),
            position: u64::MAX,
            item: Box::new(item(1)),
        },
    ];
    for change in refused {
        let error = store.commit(changes(vec![change.clone()])).wait_blocking();
        assert!(matches!(error, Err(StoreError::Refused(_))), "{change:?}: {error:?}");
    }
    assert_eq!(store.thread_contents(thread_id(1)).unwrap().items.len(), 4);
}

#[test]
fn confirmed_items_survive_a_kill() {
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    let opened = vec![put_thread(1), put_turn(10, 1, TurnStatus::InProgress)];
    store.commit(changes(opened)).wait_blocking().unwrap();
    for position in 0..20 {
        store.commit(changes(vec![put_item(1, 10, position)])).wait_blocking().unwrap();
        let left = scratch();
        for name in ["rookery.db", "rookery.db-wal", "reserved"] {
            fs::copy(dir.path().join(name), left.path().join(name)).unwrap();
        }
        // The last record may be torn; what came before it is read all the same.
        let torn = scratch();
        for name in ["rookery.db", "reserved"] {
            fs::copy(dir.path().join(name), torn.path().join(name)).unwrap();
        }
        let log = fs::read(dir.path().join("rookery.db-wal")).unwrap();
        fs::write(torn.path().join("rookery.db-wal"), &log[..log.len() - 100]).unwrap();
        for (place, least) in [(&left, position + 1), (&torn, position)] {
            let (copy, loaded) = Store::open(place.path()).unwrap();
            // A torn record is a loss, and said to be one.
            assert!(loaded.damage.is_none() || least == position);
            assert_eq!(loaded.threads, [thread(1)]);
            assert_eq!(loaded.open_turns, [turn(10, 1, TurnStatus::InProgress)]);
            let contents = copy.thread_contents(thread_id(1)).unwrap();
            assert!(contents.items.len() as u64 >= least);
            let expected: Vec<_> =
                (0..contents.items.len() as u64).map(|position| stored(10, position)).collect();
            assert_eq!(contents.items, expected);
        }
    }
}

#[test]
fn ten_thousand_threads_are_loaded_quickly() {
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    for chunk in 0..10 {
        let numbers = 1 + chunk * 1_000..=(chunk + 1) * 1_000;
        let all = numbers.flat_map(|number| {
            let ended = put_turn(number, number, TurnStatus::Completed);
            [put_thread(number), ended, put_item(number, number, 0)]
        });
        store.commit(changes(all.collect())).wait_blocking().unwrap();
    }
    store.close().unwrap();
    drop(store);
    let begun = Instant::now();
    let (_, loaded) = reopen(dir.path());
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    assert_eq!(loaded.threads.len(), 10_000);
    assert!(loaded.threads.is_sorted_by_key(|thread| thread.id));
    assert_eq!(loaded.threads[4_711], thread(4_712));
}

#[test]
fn five_thousand_items_are_read_quickly_and_in_order() {
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    let ended = TurnStatus::Completed;
    store.commit(changes(vec![put_thread(1), put_turn(10, 1, ended)])).wait_blocking().unwrap();
    let backwards = (0..5_000).rev().map(|position| put_item(1, 10, position)).collect();
    store.commit(changes(backwards)).wait_blocking().unwrap();
    let begun = Instant::now();
    let contents = store.thread_contents(thread_id(1)).unwrap();
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    assert_eq!((contents.items.len(), contents.skipped), (5_000, 0));
    assert!(contents.items.iter().enumerate().all(|(at, item)| *item == stored(10, at as u64)));
}

#[test]
fn appending_one_by_one_and_large_items_work_in_memory_too() {
    let (store, _) = Store::in_memory().unwrap();
    store.commit(changes(conversation(1))).wait_blocking().unwrap();
    let text = "long \u{1f426} ".repeat(200_000);
    let body = ItemBody::Raw { payload: text };
    let large = Item { body, ..item(4) };
    let change = Change::ItemUpserted {
        thread: thread_id(1),
        turn: turn_id(11),
        position: 4,
        item: Box::new(large.clone()),
    };
    store.commit(changes(vec![change])).wait_blocking().unwrap();
    for position in 5..500 {
        drop(store.commit(changes(vec![put_item(1, 11, position)])));
    }
    store.commit(Batch::default()).wait_blocking().unwrap();
    let contents = store.thread_contents(thread_id(1)).unwrap();
    assert_eq!(contents.items.len(), 500);
    assert_eq!(contents.items[4].item, large);
}

fn trace(number: u128, turn: u64) -> Trace {
    Trace {
        id: TraceId::new(number),
        parent: ParentTurn { thread: thread_id(1), turn: turn_id(turn) },
        child: thread_id(9),
        child_turn: None,
        title: "look".to_owned(),
        agent: "explore".to_owned(),
        model: None,
        lane: Some(Lane::Scout),
        status: TraceStatus::Running,
        created_at: Timestamp::from_micros(1),
        started_at: None,
        ended_at: None,
        usage: None,
        activity: None,
        exit: None,
        error: None,
        entries: Vec::new(),
    }
}

#[test]
fn traces_are_read_with_their_thread_and_go_with_their_turn() {
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    let conversation = vec![
        Change::ThreadUpserted(Box::new(thread(1))),
        Change::TurnUpserted(Box::new(turn(1, 1, TurnStatus::Completed))),
        Change::TurnUpserted(Box::new(turn(2, 1, TurnStatus::Completed))),
    ];
    store.commit(changes(conversation)).wait_blocking().unwrap();
    let done = Trace { status: TraceStatus::Completed, ..trace(7, 2) };
    let made = [trace(8, 1), trace(7, 2), done.clone()];
    let made = made.map(|trace| Change::TraceUpserted(Box::new(trace))).to_vec();
    store.commit(changes(made)).wait_blocking().unwrap();
    drop(store);
    let (store, _) = Store::open(dir.path()).unwrap();
    let read = || store.thread_contents(thread_id(1)).unwrap().traces;
    assert_eq!(read(), [done, trace(8, 1)]);
    store.commit(changes(vec![Change::TurnDeleted(turn_id(2))])).wait_blocking().unwrap();
    assert_eq!(read(), [trace(8, 1)]);
    store.commit(changes(vec![Change::ThreadDeleted(thread_id(1))])).wait_blocking().unwrap();
    assert_eq!(read(), []);
}

fn hunk(number: u64, turn: Option<u64>) -> ChangeRecord {
    let edit = Edit {
        path: "a".to_owned(),
        old_path: None,
        operation: FileOperation::Create,
        old_start: 0,
        old_lines: 0,
        new_start: 1,
        new_lines: 1,
        lines: vec![HunkLine { kind: LineKind::Added, text: "x\n".to_owned() }],
        mode: None,
        obstacle: None,
    };
    ChangeRecord::Hunk(Hunk {
        number,
        id: format!("c-hunk-{number}"),
        thread: thread_id(1),
        turn: turn.map(turn_id),
        call: "c".to_owned(),
        tool: "write_file".to_owned(),
        edit,
        plan: None,
        step: None,
        checkpoint: None,
        rollback: Rollback::Available,
        is_begun: false,
        undone: None,
        at: Timestamp::from_micros(1),
    })
}

#[test]
fn changes_of_files_are_read_with_their_thread_and_go_with_their_turn() {
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    let conversation = vec![
        Change::ThreadUpserted(Box::new(thread(1))),
        Change::TurnUpserted(Box::new(turn(1, 1, TurnStatus::Completed))),
        Change::TurnUpserted(Box::new(turn(2, 1, TurnStatus::Completed))),
    ];
    store.commit(changes(conversation)).wait_blocking().unwrap();
    let all = [hunk(4, Some(2)), hunk(1, Some(1)), hunk(2, None), hunk(3, None)];
    let made = all.map(|record| Change::ChangeUpserted(Box::new(record)));
    let made = made.into_iter().chain([Change::ChangeDeleted(thread_id(1), 3)]);
    store.commit(changes(made.collect())).wait_blocking().unwrap();
    drop(store);
    let (store, _) = Store::open(dir.path()).unwrap();
    let read = || store.thread_contents(thread_id(1)).unwrap().changes;
    assert_eq!(read(), [hunk(1, Some(1)), hunk(2, None), hunk(4, Some(2))]);
    store.commit(changes(vec![Change::TurnDeleted(turn_id(2))])).wait_blocking().unwrap();
    assert_eq!(read(), [hunk(1, Some(1)), hunk(2, None)]);
    store.commit(changes(vec![Change::ThreadDeleted(thread_id(1))])).wait_blocking().unwrap();
    assert_eq!(read(), []);
}
