//! What a crash leaves behind, and what the next open makes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rookery_model::{EventSeq, ProjectId, TerminalId};
use rookery_store::{Batch, Store};

use crate::common::*;

/// Copies the files as a killed process would leave them.
fn crash(from: &Path, to: &Path) {
    for name in ["rookery.db", "rookery.db-wal", "reserved"] {
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

#[test]
fn what_tickets_confirmed_survives_a_kill_and_numbers_go_on() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let mut next = loaded.next_event;
    store.commit(changes(vec![put_project(1, 0)])).wait_blocking().unwrap();
    for round in 1..=20 {
        let change = put_terminal(round, 1, 0);
        let batch = Batch { changes: vec![change], events: vec![bell(next)] };
        next = next.next();
        store.commit(batch).wait_blocking().unwrap();
        let left = scratch();
        crash(dir.path(), left.path());
        let (copy, loaded) = Store::open(left.path()).unwrap();
        assert_eq!(loaded.damage, None);
        assert_eq!(loaded.next_event, next);
        assert_eq!(loaded.next_terminal, TerminalId::new(round + 1));
        assert_eq!(loaded.terminals.len() as u64, round);
        assert_eq!(numbers(&copy), (1..=round).collect::<Vec<_>>());
        let mut next = loaded.next_event;
        ring(&copy, &mut next, 2);
        assert_eq!(numbers(&copy), (1..=round + 2).collect::<Vec<_>>());
    }
}

#[test]
fn a_kill_after_many_checkpoints_loses_nothing() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let mut next = loaded.next_event;
    for _ in 0..4 {
        ring(&store, &mut next, 7_000);
        let left = scratch();
        crash(dir.path(), left.path());
        let (copy, loaded) = Store::open(left.path()).unwrap();
        assert_eq!(loaded.next_event, next);
        assert_eq!(numbers(&copy), (1..next.get()).collect::<Vec<_>>());
    }
}

#[test]
fn reopening_gives_the_same_world() {
    let dir = scratch();
    let first = sample(dir.path(), 10);
    assert_eq!(project_ids(&first), [1, 2]);
    assert_eq!(first.terminals, [terminal(1, 1), terminal(2, 1), terminal(3, 2)]);
    assert_eq!(first.active, Some(TerminalId::new(2)));
    assert_eq!(first.next_event, EventSeq::new(11));
    for _ in 0..3 {
        let (_, again) = Store::open(dir.path()).unwrap();
        assert_eq!(again, first);
    }
}

#[test]
fn after_the_machine_went_down_numbers_skip_ahead() {
    let dir = scratch();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let mut next = loaded.next_event;
    ring(&store, &mut next, 5);
    let left = scratch();
    crash(dir.path(), left.path());
    fs::write(left.path().join("reserved"), "10001 1001 1001 another-boot\n").unwrap();
    let (copy, loaded) = Store::open(left.path()).unwrap();
    assert_eq!(loaded.damage, None);
    assert_eq!(loaded.next_event, EventSeq::new(10_001));
    assert_eq!(loaded.next_project, ProjectId::new(1_001));
    let mut next = loaded.next_event;
    ring(&copy, &mut next, 1);
    assert_eq!(numbers(&copy), [1, 2, 3, 4, 5, 10_001]);
    assert_eq!(copy.events(EventSeq::new(6), 10).unwrap().events.len(), 1);
    copy.close().unwrap();
    // A clean close is not taken for an interruption.
    let (_, again) = Store::open(left.path()).unwrap();
    assert_eq!(again.next_event, next);
}

#[test]
fn an_old_backup_put_in_place_does_not_bring_old_numbers_back() {
    let dir = scratch();
    let old = scratch();
    sample(dir.path(), 3);
    crash(dir.path(), old.path());
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let mut next = loaded.next_event;
    ring(&store, &mut next, 30_000);
    store.close().unwrap();
    drop(store);
    fs::remove_file(dir.path().join("rookery.db-wal")).ok();
    fs::copy(old.path().join("rookery.db"), dir.path().join("rookery.db")).unwrap();
    let (_, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(loaded.terminals.len(), 3);
    assert!(loaded.next_event >= next, "{}", loaded.next_event);
}

#[test]
fn files_are_for_the_owner_only() {
    let parent = scratch();
    let dir = parent.path().join("a").join("state");
    let (store, loaded) = Store::open(&dir).unwrap();
    let mut next = loaded.next_event;
    ring(&store, &mut next, 1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&dir), 0o700);
    let mut names = Vec::new();
    for entry in fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    names.sort();
    assert_eq!(names, ["reserved", "rookery.db", "rookery.db-shm", "rookery.db-wal"]);
}

#[test]
fn a_loose_or_read_only_file_gets_the_right_mode() {
    let dir = scratch();
    let first = sample(dir.path(), 1);
    let database = dir.path().join("rookery.db");
    for mode in [0o644, 0o400, 0o000] {
        fs::set_permissions(&database, fs::Permissions::from_mode(mode)).unwrap();
        let (store, loaded) = Store::open(dir.path()).unwrap();
        assert_eq!(loaded, first);
        assert_eq!(fs::metadata(&database).unwrap().permissions().mode() & 0o7777, 0o600);
        store.commit(changes(vec![select(Some(2))])).wait_blocking().unwrap();
    }
}
