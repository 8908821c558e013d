//! Databases that older versions wrote are brought up to date, with all that is in them.

use rookery_model::{ProjectId, TerminalId};
use rookery_store::{Store, ValueKey};
use rusqlite::Connection;

use crate::common::*;
use crate::talk;

/// The first format, as it was released.
const FIRST: &str = "
    CREATE TABLE world (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        next_event INTEGER NOT NULL,
        next_project INTEGER NOT NULL,
        next_terminal INTEGER NOT NULL,
        active INTEGER
    ) STRICT;
    CREATE TABLE projects (
        id INTEGER PRIMARY KEY,
        position INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE TABLE terminals (
        id INTEGER PRIMARY KEY,
        project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX terminals_by_project ON terminals (project);
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE TABLE meta (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE damaged_rows (
        source TEXT NOT NULL,
        row INTEGER NOT NULL,
        content BLOB NOT NULL,
        reason TEXT NOT NULL,
        at INTEGER NOT NULL
    ) STRICT;
    PRAGMA user_version = 1;
    INSERT INTO world VALUES (1, 8, 5, 6, 3);
    INSERT INTO projects VALUES (2, 0, '{\"id\":2,\"name\":\"old\",\"root\":\"/\",\"created_at\":1}');
    INSERT INTO terminals VALUES (3, 2, 0, '{\"id\":3,\"uuid\":\"0102030405060708090a0b0c0d0e0fff\",
        \"project\":2,\"argv\":[\"sh\"],\"cwd\":\"/\",\"pid\":77,\"size\":{\"rows\":24,\"cols\":80},
        \"state\":\"running\",\"created_at\":5}');
    INSERT INTO meta VALUES ('policy_mode', 'plan'), ('active_project', '2');
    INSERT INTO damaged_rows VALUES ('terminals', 9, x'ff', 'torn', 1);
";

fn version(dir: &std::path::Path) -> i64 {
    let connection = Connection::open(dir.join("rookery.db")).unwrap();
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn the_first_format_is_brought_up_to_date() {
    let dir = scratch();
    sql(dir.path(), FIRST);
    let event = format!(
        r#"INSERT INTO events VALUES (7, {}, '{{"kind":"terminal_bell","id":7}}')"#,
        now().as_micros()
    );
    sql(dir.path(), &event);
    let (store, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(loaded.damage, None);
    assert_eq!((project_ids(&loaded), terminal_ids(&loaded)), (vec![2], vec![3]));
    assert_eq!(loaded.active, Some(TerminalId::new(3)));
    assert_eq!(loaded.active_project, Some(ProjectId::new(2)));
    assert_eq!((loaded.next_event.get(), loaded.next_project.get()), (8, 5));
    assert!(loaded.threads.is_empty() && loaded.open_turns.is_empty());
    assert_eq!(numbers(&store), [7]);
    assert_eq!(store.kept(&ValueKey::Mode).unwrap().as_deref(), Some("plan"));
    store.commit(changes(talk::conversation(1))).wait_blocking().unwrap();
    drop(store);
    assert_eq!(version(dir.path()), 7);
    let (store, again) = Store::open(dir.path()).unwrap();
    assert_eq!((again.threads.len(), again.terminals), (1, loaded.terminals));
    assert_eq!(store.thread_contents(talk::thread_id(1)).unwrap().items.len(), 4);
    let connection = Connection::open(dir.path().join("rookery.db")).unwrap();
    let kept: i64 =
        connection.query_row("SELECT count(*) FROM damaged_rows", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 1);
}

#[test]
fn an_upgrade_that_was_cut_short_is_taken_up_again() {
    // Each step is one transaction, so what a crash leaves is the old format and an empty log.
    let dir = scratch();
    sql(dir.path(), FIRST);
    sql(dir.path(), "PRAGMA journal_mode = wal");
    for _ in 0..2 {
        let (store, loaded) = Store::open(dir.path()).unwrap();
        assert_eq!((loaded.damage, loaded.terminals.len()), (None, 1));
        store.close().unwrap();
    }
    assert_eq!(version(dir.path()), 7);
}

#[test]
fn a_half_made_table_in_the_old_format_is_damage_and_not_an_error() {
    let dir = scratch();
    sql(dir.path(), FIRST);
    sql(dir.path(), "CREATE TABLE threads (id)");
    let (store, loaded) = Store::open(dir.path()).unwrap();
    assert!(loaded.damage.unwrap().moved_to.is_some());
    store.commit(changes(talk::conversation(1))).wait_blocking().unwrap();
}
