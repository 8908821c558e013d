//! Reading and pruning the event log.

use std::time::Duration;

use rookery_model::{EventSeq, NumberedEvent, Timestamp};
use rookery_store::{Batch, Options, Retention, Store};

use crate::common::*;

#[test]
fn pages_follow_each_other_without_gap_or_repeat() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let empty = store.events(EventSeq::new(1), 10).unwrap();
    assert_eq!(
        (empty.oldest, empty.next, empty.end),
        (EventSeq::new(1), EventSeq::new(1), EventSeq::new(1))
    );
    let mut next = loaded.next_event;
    ring(&store, &mut next, 25);
    let mut from = EventSeq::new(1);
    let mut read = Vec::new();
    while from < next {
        let page = store.events(from, 10).unwrap();
        assert_eq!((page.oldest, page.end, page.skipped), (EventSeq::new(1), next, 0));
        assert!(page.events.len() <= 10);
        read.extend(page.events.iter().map(|event| event.seq.get()));
        from = page.next;
    }
    assert_eq!(read, (1..=25).collect::<Vec<_>>());
    let beyond = store.events(EventSeq::new(u64::MAX), 10).unwrap();
    assert!(beyond.events.is_empty());
    assert_eq!(beyond.end, next);
}

#[test]
fn the_tail_and_the_log_tell_the_same() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let mut next = loaded.next_event;
    ring(&store, &mut next, 5_000);
    assert_eq!(store.tail(EventSeq::new(1)), None);
    let from = EventSeq::new(4_000);
    assert_eq!(store.tail(from).unwrap(), store.events(from, usize::MAX).unwrap().events);
    assert_eq!(store.tail(next), Some(Vec::new()));
    assert_eq!(store.tail(next.next()), None);
    drop(store);
    let (store, _) = Store::open(dir.path()).unwrap();
    assert_eq!(store.tail(next), Some(Vec::new()));
    assert_eq!(store.tail(from), None);
}

#[test]
fn events_of_a_newer_version_are_skipped_and_kept() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let mut next = loaded.next_event;
    ring(&store, &mut next, 4);
    sql(
        dir.path(),
        r#"UPDATE events SET body = '{"kind":"terminal_levitated"}' WHERE seq = 2;
           UPDATE events SET body = 'nonsense' WHERE seq = 4;"#,
    );
    let page = store.events(EventSeq::new(1), 10).unwrap();
    assert_eq!(numbers(&store), [1, 3]);
    assert_eq!((page.skipped, page.next), (2, next));
    let page = store.events(EventSeq::new(2), 1).unwrap();
    assert_eq!((page.events.len(), page.skipped, page.next), (0, 1, EventSeq::new(3)));
}

#[test]
fn the_number_of_stored_events_is_bounded() {
    let dir = scratch();
    let retention = Retention { max_events: 100, ..Retention::default() };
    let options = Options { retention, ..Options::default() };
    let (store, loaded) = Store::open_with(dir.path(), options).unwrap();
    let mut next = loaded.next_event;
    ring(&store, &mut next, 5_000);
    store.close().unwrap();
    let kept = numbers(&store);
    assert!((100..=1_100).contains(&kept.len()), "{} kept", kept.len());
    drop(store);
    let (store, loaded) = Store::open_with(dir.path(), options).unwrap();
    assert_eq!(loaded.next_event, next);
    store.close().unwrap();
    assert_eq!(numbers(&store), (4_901..=5_000).collect::<Vec<_>>());
    assert_eq!(store.events(EventSeq::new(1), 1).unwrap().oldest, EventSeq::new(4_901));
}

#[test]
fn old_events_go_and_their_numbers_do_not_come_again() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let day = 24 * 60 * 60 * 1_000_000;
    let mut next = loaded.next_event;
    for age in [40, 31, 29, 50] {
        let at = Timestamp::from_micros(now().as_micros() - age * day);
        let event = NumberedEvent { at, ..bell(next) };
        store.commit(Batch { changes: Vec::new(), events: vec![event] }).wait_blocking().unwrap();
        next = next.next();
    }
    drop(store);
    let (store, _) = Store::open(dir.path()).unwrap();
    store.close().unwrap();
    // The last has a date from a wrong clock; removing it would leave a hole.
    assert_eq!(numbers(&store), [3, 4]);
    drop(store);
    let retention = Retention { max_age: Duration::ZERO, ..Retention::default() };
    let options = Options { retention, ..Options::default() };
    let (store, _) = Store::open_with(dir.path(), options).unwrap();
    store.close().unwrap();
    let page = store.events(EventSeq::new(1), 10).unwrap();
    assert!(page.events.is_empty());
    assert_eq!((page.oldest, page.next, page.end), (next, next, next));
    drop(store);
    assert_eq!(Store::open(dir.path()).unwrap().1.next_event, next);
}

#[test]
fn a_store_in_memory_works_like_any_other_and_is_its_own() {
    let (store, loaded) = Store::in_memory().unwrap();
    let mut next = loaded.next_event;
    assert_eq!((next.get(), loaded.next_terminal.get()), (1, 1));
    let made = store.commit(changes(vec![put_project(1, 0), put_terminal(1, 1, 0)]));
    made.wait_blocking().unwrap();
    // More than one block of numbers, and more than the tail keeps.
    ring(&store, &mut next, 10_500);
    let page = store.events(EventSeq::new(1), 5).unwrap();
    assert_eq!((page.events.len(), page.next.get(), page.end), (5, 6, next));
    let (other, loaded) = Store::in_memory().unwrap();
    assert!(loaded.projects.is_empty() && loaded.next_event.get() == 1);
    other.close().unwrap();
    store.close().unwrap();
}
