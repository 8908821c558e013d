//! A disk that is full: what is refused has no effect later.

use std::time::Duration;

use rookery_store::{Batch, Options, Store, StoreError};
use rusqlite::Connection;

use crate::common::*;

/// Keeps the store from saving, as a full disk does, until it is dropped.
struct Full(Connection);

impl Full {
    fn new(dir: &std::path::Path) -> Full {
        let connection = Connection::open(dir.join("rookery.db")).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        Full(connection)
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        self.0.execute_batch("ROLLBACK").unwrap();
    }
}

#[test]
fn refused_changes_are_forgotten_and_others_are_kept() {
    let dir = scratch();
    let options = Options { busy_timeout: Duration::ZERO, ..Options::default() };
    let (store, loaded) = Store::open_with(dir.path(), options).unwrap();
    store.commit(changes(vec![put_project(1, 0)])).wait_blocking().unwrap();
    assert!(!store.is_failing());
    let full = Full::new(dir.path());
    let refused = store.commit_or_forget(vec![put_terminal(1, 1, 0)]);
    let error = refused.wait_blocking().unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    assert!(!store.is_failing(), "nothing waits, so the next may try");
    assert_eq!(store.queued(), 0);
    // What has a number stays.
    let events = vec![bell(loaded.next_event)];
    let kept = store.commit(Batch { changes: vec![put_terminal(2, 1, 0)], events });
    let also_refused = store.commit_or_forget(vec![put_terminal(3, 1, 0)]);
    assert!(kept.wait_blocking().is_err() && also_refused.wait_blocking().is_err());
    assert!(store.is_failing());
    drop(full);
    // Tickets may be informed of the failure once more; the queue is empty when it is over.
    while store.queued() > 0 {
        let _ = store.commit(Batch::default()).wait_blocking();
    }
    assert!(!store.is_failing());
    store.close().unwrap();
    drop(store);
    let (_, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(terminal_ids(&loaded), [2]);
}

#[test]
fn changes_that_were_not_refused_are_saved() {
    let dir = scratch();
    let (store, _) = Store::open(dir.path()).unwrap();
    store.commit_or_forget(vec![put_project(1, 0)]).wait_blocking().unwrap();
    drop(store);
    let (_, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(project_ids(&loaded), [1]);
}
