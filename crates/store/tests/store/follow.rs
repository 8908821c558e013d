//! What is done once a batch is durable: when, in which order, and for which batches.

use std::sync::mpsc;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use rookery_model::{EventSeq, NumberedEvent, TurnStatus};
use rookery_store::{Batch, Options, Store, StoreError, ValueKey};
use rusqlite::Connection;

use crate::common::*;
use crate::talk::{put_item, put_thread, put_turn};

#[test]
fn many_threads_are_followed_in_commit_order() {
    const THREADS: u64 = 8;
    const EACH: u64 = 200;
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let opened = vec![put_thread(1), put_turn(10, 1, TurnStatus::InProgress)];
    store.commit(changes(opened)).wait_blocking().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let shown = seen.clone();
    store.on_published(Box::new(move |events: &[Arc<NumberedEvent>]| {
        let mut shown = shown.lock().unwrap();
        shown.extend(events.iter().map(|event| ("shown", event.seq.get())));
    }));
    let next = Mutex::new(loaded.next_event);
    let start = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                start.wait();
                for _ in 0..EACH {
                    let mut next = next.lock().unwrap();
                    let number = next.get();
                    let batch =
                        Batch { changes: vec![put_item(1, 10, number)], events: vec![bell(*next)] };
                    let followed = seen.clone();
                    let after = move || followed.lock().unwrap().push(("followed", number));
                    let ticket = store.commit_then(batch, Box::new(after));
                    *next = next.next();
                    drop(next);
                    if number.is_multiple_of(7) {
                        ticket.wait_blocking().unwrap();
                        assert!(seen.lock().unwrap().contains(&("followed", number)));
                    }
                }
            });
        }
    });
    flush(&store);
    let seen = seen.lock().unwrap();
    let of = |kind| seen.iter().filter(move |(is, _)| *is == kind).map(|(_, number)| *number);
    let all: Vec<u64> = (1..=THREADS * EACH).collect();
    assert_eq!(of("shown").collect::<Vec<_>>(), all);
    assert_eq!(of("followed").collect::<Vec<_>>(), all);
    for number in [1, 700, THREADS * EACH] {
        let place = |kind| seen.iter().position(|step| *step == (kind, number)).unwrap();
        assert!(place("shown") < place("followed"), "{number}");
    }
}

#[test]
fn what_follows_finds_the_batch_on_disk_and_comes_before_the_ticket() {
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    let opened = vec![put_thread(1), put_turn(10, 1, TurnStatus::InProgress)];
    store.commit(changes(opened)).wait_blocking().unwrap();
    let (sender, receiver) = mpsc::channel();
    for position in 0..20 {
        let other = Connection::open(dir.path().join("rookery.db")).unwrap();
        let sender = sender.clone();
        let after = move || {
            let sql = "SELECT count(*) FROM items";
            let count: i64 = other.query_row(sql, [], |row| row.get(0)).unwrap();
            sender.send((count, std::thread::current().name().map(str::to_owned))).unwrap();
        };
        let batch = changes(vec![put_item(1, 10, position)]);
        store.commit_then(batch, Box::new(after)).wait_blocking().unwrap();
        let (count, thread) = receiver.try_recv().expect("followed before the ticket completed");
        assert_eq!(count as u64, position + 1);
        assert_eq!(thread.as_deref(), Some("store"));
    }
}

#[test]
fn a_refused_batch_is_followed_and_one_that_was_not_queued_is_not() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let (sender, receiver) = mpsc::channel();
    let after = |name: &'static str| {
        let sender = sender.clone();
        Box::new(move || sender.send(name).unwrap())
    };
    let refused = store.commit_then(changes(vec![put_item(1, 1, 1)]), after("refused"));
    assert!(matches!(refused.wait_blocking(), Err(StoreError::Refused(_))));
    assert_eq!(receiver.try_recv(), Ok("refused"));
    let events = vec![bell(loaded.next_event.next())];
    let wrong = store.commit_then(Batch { changes: Vec::new(), events }, after("wrong"));
    assert!(matches!(wrong.wait_blocking(), Err(StoreError::OutOfOrder { .. })));
    drop(store.commit_then(Batch::default(), after("queued")));
    store.close().unwrap();
    assert_eq!(receiver.try_recv(), Ok("queued"));
    let closed = store.commit_then(Batch::default(), after("closed"));
    assert_eq!(closed.wait_blocking(), Err(StoreError::Closed));
    drop(sender);
    assert!(receiver.recv().is_err());
}

#[test]
fn a_panic_is_contained_and_what_follows_may_commit_again() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let bug = Box::new(|| panic!("a bug elsewhere"));
    let events = vec![bell(loaded.next_event)];
    store.commit_then(Batch { changes: Vec::new(), events }, bug).wait_blocking().unwrap();
    let (sender, receiver) = mpsc::channel();
    let handle = store.clone();
    let again =
        move || sender.send(handle.keep(ValueKey::Dialect("from".into()), Some("after"))).unwrap();
    store.commit_then(Batch::default(), Box::new(again)).wait_blocking().unwrap();
    receiver.recv().unwrap().wait_blocking().unwrap();
    assert_eq!(store.kept(&ValueKey::Dialect("from".into())).unwrap().as_deref(), Some("after"));
    assert_eq!(numbers(&store), [1]);
    store.close().unwrap();
}

#[test]
fn while_saving_fails_nothing_follows_until_it_works_again() {
    let dir = scratch();
    let options = Options { busy_timeout: Duration::ZERO, ..Options::default() };
    let (store, _) = Store::open_with(dir.path(), options).unwrap();
    flush(&store);
    let lock = Connection::open(dir.path().join("rookery.db")).unwrap();
    lock.busy_timeout(Duration::from_secs(60)).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (sender, receiver) = mpsc::channel();
    let event = bell(EventSeq::new(1));
    let batch = Batch { changes: vec![put_thread(1)], events: vec![event] };
    let ticket = store.commit_then(batch, Box::new(move || sender.send(()).unwrap()));
    assert!(matches!(ticket.wait_blocking(), Err(StoreError::Unavailable(_))));
    assert!(receiver.try_recv().is_err());
    lock.execute_batch("ROLLBACK").unwrap();
    receiver.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(numbers(&store), [1]);
}
