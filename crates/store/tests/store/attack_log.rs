//! A write-ahead log that is torn, gone or of another time: no number is given twice, and the loss
//! is reported.

use std::fs;
use std::path::Path;

use rookery_store::{Batch, Store};

use crate::common::*;

struct Crashed {
    database: Vec<u8>,
    log: Vec<u8>,
    older_log: Vec<u8>,
    sidecar: Vec<u8>,
    next: u64,
}

/// The files of a process that was killed after it had shown events up to `next`.
fn crashed() -> Crashed {
    let dir = scratch();
    sample(dir.path(), 40);
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let mut next = loaded.next_event;
    let read = |name: &str| fs::read(dir.path().join(name)).unwrap();
    ring(&store, &mut next, 5);
    let older_log = read("rookery.db-wal");
    for id in 4..9 {
        let batch = Batch { changes: vec![put_terminal(id, 1, 0)], events: vec![bell(next)] };
        next = next.next();
        store.commit(batch).wait_blocking().unwrap();
    }
    let next = next.get();
    let (database, log) = (read("rookery.db"), read("rookery.db-wal"));
    Crashed { database, log, older_log, sidecar: read("reserved"), next }
}

fn open(crashed: &Crashed, log: Option<&[u8]>) -> (tempfile::TempDir, rookery_store::Loaded) {
    let dir = scratch();
    fs::write(dir.path().join("rookery.db"), &crashed.database).unwrap();
    fs::write(dir.path().join("reserved"), &crashed.sidecar).unwrap();
    if let Some(log) = log {
        fs::write(dir.path().join("rookery.db-wal"), log).unwrap();
    }
    let (store, loaded) = Store::open(dir.path()).unwrap();
    store.close().unwrap();
    (dir, loaded)
}

fn is_healthy_again(dir: &Path) {
    let (_, again) = Store::open(dir).unwrap();
    assert_eq!(again.damage, None);
}

#[test]
fn a_whole_log_goes_on_without_a_gap() {
    let crashed = crashed();
    let (_dir, loaded) = open(&crashed, Some(&crashed.log));
    assert_eq!(loaded.damage, None);
    assert_eq!(loaded.next_event.get(), crashed.next);
}

#[test]
fn a_log_cut_anywhere_gives_no_number_twice_and_is_reported() {
    let crashed = crashed();
    for cut in (0..crashed.log.len()).step_by(512) {
        let (dir, loaded) = open(&crashed, Some(&crashed.log[..cut]));
        assert!(loaded.next_event.get() >= crashed.next, "cut at {cut}: {}", loaded.next_event);
        let damage = loaded.damage.unwrap_or_else(|| panic!("cut at {cut} is not reported"));
        assert!(damage.reason.contains("commits are lost"), "{}", damage.reason);
        is_healthy_again(dir.path());
    }
}

#[test]
fn garbage_zeros_a_missing_and_an_older_log_give_no_number_twice_and_are_reported() {
    let crashed = crashed();
    let length = crashed.log.len();
    let mut noisy_end = crashed.log.clone();
    noisy_end[length - 6_000..].fill(0xa5);
    let mut zero_end = crashed.log.clone();
    zero_end[length / 2..].fill(0);
    let zeros = vec![0; length];
    let logs = [
        ("garbage at its end", Some(&noisy_end)),
        ("zeros at its end", Some(&zero_end)),
        ("zeros", Some(&zeros)),
        ("an older copy", Some(&crashed.older_log)),
        ("none", None),
    ];
    for (what, log) in logs {
        let (dir, loaded) = open(&crashed, log.map(Vec::as_slice));
        assert!(loaded.next_event.get() >= crashed.next, "{what}: {}", loaded.next_event);
        assert!(loaded.next_terminal.get() >= 9, "{what}: {}", loaded.next_terminal);
        assert!(loaded.damage.is_some(), "{what} is not reported");
        is_healthy_again(dir.path());
    }
}

#[test]
fn garbage_behind_a_whole_log_is_no_loss() {
    let crashed = crashed();
    let longer = [crashed.log.as_slice(), &[0xa5; 9_000]].concat();
    let (_dir, loaded) = open(&crashed, Some(&longer));
    assert_eq!(loaded.damage, None);
    assert_eq!(loaded.next_event.get(), crashed.next);
}

#[test]
fn a_commit_without_events_is_missed_as_well() {
    let dir = scratch();
    sample(dir.path(), 3);
    let (store, _) = Store::open(dir.path()).unwrap();
    store.commit(changes(vec![put_terminal(1, 2, 5)])).wait_blocking().unwrap();
    let left = scratch();
    for name in ["rookery.db", "reserved"] {
        fs::copy(dir.path().join(name), left.path().join(name)).unwrap();
    }
    let (_, loaded) = Store::open(left.path()).unwrap();
    assert!(loaded.damage.unwrap().reason.contains("commits are lost, no event"));
}
