//! Queueing, group commit, publication and refusals.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use rookery_model::{EventSeq, NumberedEvent, ProjectId, TerminalId};
use rookery_store::{Batch, Change, Options, Store, StoreError, ValueKey};
use rusqlite::Connection;

use crate::common::*;

/// Lets this many batches pile up by holding the database locked from outside.
struct Lock(Connection);

impl Lock {
    fn take(dir: &Path) -> Lock {
        let connection = Connection::open(dir.join("rookery.db")).unwrap();
        connection.busy_timeout(Duration::from_secs(60)).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        Lock(connection)
    }

    fn release(self) {
        self.0.execute_batch("ROLLBACK").unwrap();
    }
}

fn collected(store: &Store) -> mpsc::Receiver<Vec<u64>> {
    let (sender, receiver) = mpsc::channel();
    store.on_published(Box::new(move |events: &[Arc<NumberedEvent>]| {
        let _ = sender.send(events.iter().map(|event| event.seq.get()).collect());
    }));
    receiver
}

#[test]
fn batches_that_pile_up_are_published_together_and_in_order() {
    let dir = scratch();
    let options = Options { busy_timeout: Duration::from_secs(60), ..Options::default() };
    let (store, loaded) = Store::open_with(dir.path(), options).unwrap();
    let published = collected(&store);
    flush(&store);
    let lock = Lock::take(dir.path());
    let mut next = loaded.next_event;
    let tickets: Vec<_> = (0..1_000)
        .map(|_| {
            let events = vec![bell(next), bell(next.next())];
            next = next.next().next();
            store.commit(Batch { changes: Vec::new(), events })
        })
        .collect();
    assert_eq!(store.queued(), 1_000);
    assert!(published.try_recv().is_err());
    lock.release();
    for ticket in tickets {
        ticket.wait_blocking().unwrap();
    }
    assert_eq!(store.queued(), 0);
    let groups: Vec<Vec<u64>> = published.try_iter().collect();
    // The writer may have begun with the first batches alone; all others share one transaction.
    assert!(groups.len() <= 2, "{} groups", groups.len());
    assert_eq!(groups.concat(), (1..=2_000).collect::<Vec<_>>());
    assert_eq!(numbers(&store), (1..=2_000).collect::<Vec<_>>());
}

#[test]
fn events_are_durable_before_they_are_published_and_tickets_come_last() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let (sender, receiver) = mpsc::channel();
    let other = Connection::open(dir.path().join("rookery.db")).unwrap();
    store.on_published(Box::new(move |events| {
        let last = events.last().unwrap().seq.get();
        let stored: i64 =
            other.query_row("SELECT max(seq) FROM events", [], |row| row.get(0)).unwrap();
        sender.send((last, stored)).unwrap();
    }));
    let mut next = loaded.next_event;
    for round in 1..=50 {
        ring(&store, &mut next, 1);
        let (shown, stored) = receiver.try_recv().expect("published before the ticket completed");
        assert_eq!((shown, stored), (round, round as i64));
        let tail = store.tail(EventSeq::new(round)).unwrap();
        assert_eq!(tail.len(), 1);
    }
}

#[test]
fn a_panicking_sink_does_not_end_the_store() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    store.on_published(Box::new(|_| panic!("a bug elsewhere")));
    let mut next = loaded.next_event;
    ring(&store, &mut next, 3);
    assert_eq!(numbers(&store), [1, 2, 3]);
    store.close().unwrap();
}

#[test]
fn while_saving_fails_tickets_fail_and_nothing_is_lost() {
    let dir = scratch();
    let options = Options { busy_timeout: Duration::ZERO, ..Options::default() };
    let (store, loaded) = Store::open_with(dir.path(), options).unwrap();
    let published = collected(&store);
    let mut next = loaded.next_event;
    ring(&store, &mut next, 1);
    let lock = Lock::take(dir.path());
    let commit = |next: &mut EventSeq| {
        let batch = Batch { changes: Vec::new(), events: vec![bell(*next)] };
        *next = next.next();
        store.commit(batch)
    };
    for _ in 0..2 {
        let error = commit(&mut next).wait_blocking().unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    }
    assert_eq!(store.queued(), 2);
    assert_eq!(numbers(&store), [1]);
    assert_eq!(store.tail(EventSeq::new(1)).unwrap().len(), 1);
    lock.release();
    // This ticket may still be informed of the failure; publication tells when saving worked.
    drop(commit(&mut next));
    let mut shown = Vec::new();
    while shown.len() < 4 {
        shown.extend(published.recv_timeout(Duration::from_secs(60)).unwrap());
    }
    assert_eq!(shown, [1, 2, 3, 4]);
    assert_eq!(numbers(&store), [1, 2, 3, 4]);
    flush(&store);
    assert_eq!(store.queued(), 0);
}

#[test]
fn closing_while_saving_fails_gives_up_and_says_so() {
    let dir = scratch();
    let options = Options { busy_timeout: Duration::ZERO, ..Options::default() };
    let (store, loaded) = Store::open_with(dir.path(), options).unwrap();
    flush(&store);
    let lock = Lock::take(dir.path());
    let ticket = store.commit(Batch { changes: Vec::new(), events: vec![bell(loaded.next_event)] });
    assert!(matches!(store.close(), Err(StoreError::Unavailable(_))));
    assert!(matches!(ticket.wait_blocking(), Err(StoreError::Unavailable(_))));
    lock.release();
    drop(store);
    let (_, again) = Store::open(dir.path()).unwrap();
    assert_eq!(again.next_event, loaded.next_event);
}

#[test]
fn a_contradicting_batch_loses_its_changes_but_not_its_events() {
    let dir = scratch();
    let options = Options { busy_timeout: Duration::from_secs(60), ..Options::default() };
    let (store, loaded) = Store::open_with(dir.path(), options).unwrap();
    let first = loaded.next_event;
    flush(&store);
    // Held, so that all three land in one transaction.
    let lock = Lock::take(dir.path());
    let good = store.commit(Batch { changes: vec![put_project(1, 0)], events: vec![bell(first)] });
    let bad = store.commit(Batch {
        changes: vec![put_project(2, 1), put_terminal(1, 99, 0)],
        events: vec![bell(first.next())],
    });
    let also_good = store.commit(Batch {
        changes: vec![put_terminal(2, 1, 0)],
        events: vec![bell(first.next().next())],
    });
    lock.release();
    good.wait_blocking().unwrap();
    assert!(matches!(bad.wait_blocking(), Err(StoreError::Refused(_))));
    also_good.wait_blocking().unwrap();
    assert_eq!(numbers(&store), [1, 2, 3]);
    drop(store);
    let (_, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(project_ids(&loaded), [1]);
    assert_eq!(terminal_ids(&loaded), [2]);
}

#[test]
fn an_id_that_cannot_be_stored_is_refused_and_spoils_nothing() {
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    for id in [u64::MAX, i64::MAX as u64, i64::MAX as u64 / 2 + 1] {
        let refused = store.commit(changes(vec![put_project(id, 0)])).wait_blocking();
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    }
    store.commit(changes(vec![put_project(5, 0)])).wait_blocking().unwrap();
    drop(store);
    let (_, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!((project_ids(&loaded), loaded.next_project), (vec![5], ProjectId::new(6)));
}

#[test]
fn events_out_of_order_are_not_taken() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let mut next = loaded.next_event;
    ring(&store, &mut next, 2);
    for events in
        [vec![bell(next.next())], vec![bell(next), bell(next)], vec![bell(loaded.next_event)]]
    {
        let error =
            store.commit(Batch { changes: vec![put_project(1, 0)], events }).wait_blocking();
        assert!(matches!(error, Err(StoreError::OutOfOrder { .. })), "{error:?}");
    }
    ring(&store, &mut next, 1);
    assert_eq!(numbers(&store), [1, 2, 3]);
    drop(store);
    assert!(Store::open(dir.path()).unwrap().1.projects.is_empty());
}

#[test]
fn after_closing_commits_fail_and_reading_goes_on() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let mut next = loaded.next_event;
    ring(&store, &mut next, 1);
    store.close().unwrap();
    store.close().unwrap();
    assert_eq!(store.commit(Batch::default()).wait_blocking(), Err(StoreError::Closed));
    assert_eq!(numbers(&store), [1]);
    let log = dir.path().join("rookery.db-wal");
    assert_eq!(std::fs::metadata(log).map_or(0, |meta| meta.len()), 0);
}

#[test]
fn what_is_queued_is_saved_when_the_last_handle_goes() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let mut next = loaded.next_event;
    for _ in 0..500 {
        drop(store.commit(Batch { changes: Vec::new(), events: vec![bell(next)] }));
        next = next.next();
    }
    drop(store);
    let (store, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(loaded.next_event, next);
    assert_eq!(numbers(&store).len(), 500);
}

#[test]
fn a_handle_may_go_on_the_writers_own_thread() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let (sender, receiver) = mpsc::channel::<Store>();
    let (done, went) = mpsc::channel();
    store.on_published(Box::new(move |_| {
        drop(receiver.recv().unwrap());
        done.send(()).unwrap();
    }));
    let ticket = store.commit(Batch { changes: Vec::new(), events: vec![bell(loaded.next_event)] });
    sender.send(store).unwrap();
    went.recv_timeout(Duration::from_secs(60)).unwrap();
    ticket.wait_blocking().unwrap();
}

#[test]
fn every_change_is_loaded_again() {
    let dir = scratch();
    let (store, first) = Store::open(dir.path()).unwrap();
    assert_eq!((first.next_project, first.next_terminal), (ProjectId::new(1), TerminalId::new(1)));
    let mut renamed = project(2);
    renamed.name = "other".to_owned();
    let mut moved = terminal(4, 2);
    moved.user_title = Some(String::new());
    (renamed.position, moved.position) = (2, 5);
    let ticket = store.commit(changes(vec![
        put_project(1, 0),
        put_project(2, 1),
        put_project(3, 2),
        put_project(4, 3),
        put_terminal(1, 1, 0),
        put_terminal(2, 1, 1),
        put_terminal(3, 1, 2),
        put_terminal(4, 1, 3),
        put_terminal(5, 4, 0),
        put_terminal(6, 1, 9),
        Change::ProjectUpserted(renamed.clone()),
        Change::TerminalUpserted(Box::new(moved.clone())),
        put_project(3, 0),
        put_project(1, 1),
        put_terminal(3, 1, 0),
        put_terminal(1, 1, 1),
        put_terminal(2, 1, 2),
        Change::TerminalDeleted(TerminalId::new(6)),
        Change::ProjectDeleted(ProjectId::new(4)),
        select(Some(3)),
    ]));
    ticket.wait_blocking().unwrap();
    store.close().unwrap();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let places: Vec<_> = loaded.projects.iter().map(|p| (p.id.get(), p.position)).collect();
    assert_eq!(places, [(3, 0), (1, 1), (2, 2)]);
    assert_eq!(loaded.projects[2], renamed);
    let places: Vec<_> = loaded.terminals.iter().map(|t| (t.id.get(), t.position)).collect();
    assert_eq!(places, [(3, 0), (1, 1), (2, 2), (4, 5)]);
    assert_eq!(loaded.terminals[3], moved);
    assert_eq!(loaded.active_project, Some(ProjectId::new(1)));
    assert_eq!(loaded.active, Some(TerminalId::new(3)));
    // The deleted ones do not give their ids back.
    assert_eq!(loaded.next_project, ProjectId::new(5));
    assert_eq!(loaded.next_terminal, TerminalId::new(7));
    assert_eq!(loaded.damage, None);
    store
        .commit(changes(vec![Change::TerminalDeleted(TerminalId::new(3))]))
        .wait_blocking()
        .unwrap();
    drop(store);
    let (_, again) = Store::open(dir.path()).unwrap();
    assert_eq!(again.active, None);
}

#[test]
fn kept_values_are_set_replaced_and_removed() {
    let theme = ValueKey::Dialect("theme".into());
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    assert_eq!(store.kept(&theme).unwrap(), None);
    for value in [Some("dark"), Some("light"), None, Some(""), Some("a\0b\u{1f426}")] {
        store.keep(theme.clone(), value).wait_blocking().unwrap();
        assert_eq!(store.kept(&theme).unwrap().as_deref(), value);
    }
}
