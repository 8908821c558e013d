//! Databases that older versions wrote are brought up to date, with all that is in them.

use rookery_model::{ProjectId, Steer, TerminalId, ThreadId, TurnId};
use rookery_store::{Change, Store, ValueKey};
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

/// Values of rows as the first formats kept them, by name; the last ones are of rows that are gone.
const VALUES: &str = "
    INSERT INTO meta VALUES ('layout/2', 'r5000(3,4)'), ('noted/3', '41'),
        ('layout/9', 'r5000(7,8)'), ('noted/77', '5'), ('closing/77', '');
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
    assert_eq!(version(dir.path()), 8);
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
    assert_eq!(version(dir.path()), 8);
}

#[test]
fn a_half_made_table_in_the_old_format_is_damage_and_not_an_error() {
    let dir = scratch();
    sql(dir.path(), FIRST);
    sql(dir.path(), "CREATE TABLE threads (id)");
    sql(dir.path(), VALUES);
    let (store, loaded) = Store::open(dir.path()).unwrap();
    assert!(loaded.damage.unwrap().moved_to.is_some());
    assert_eq!(loaded.layouts, [(ProjectId::new(2), "r5000(3,4)".to_owned())]);
    assert_eq!(store.noted(TerminalId::new(3)).unwrap(), Some(41));
    store.commit(changes(talk::conversation(1))).wait_blocking().unwrap();
}

/// What belongs to a thread or a turn, by name, as the seventh format kept it.
fn values_of(thread: ThreadId, turn: TurnId) -> String {
    format!(
        r#"INSERT INTO meta VALUES ('attached/{thread}', '["art-1"]'),
           ('queued/{thread}', '[{{"id":"{:032x}","at":5,"text":"later","images":["i"]}}]'),
           ('steers/{turn}', '[{{"text":"now","images":[],"context":["c"]}}]'),
           ('attached/{turn}', '["of none"]')"#,
        7
    )
}

#[test]
fn values_of_rows_move_into_them() {
    let dir = scratch();
    let (thread, turn) = (talk::thread_id(1), talk::turn_id(11));
    let store = Store::open(dir.path()).unwrap().0;
    let mut batch = vec![put_project(2, 0), put_terminal(3, 2, 0)];
    batch.extend(talk::conversation(1));
    store.commit(changes(batch)).wait_blocking().unwrap();
    drop(store);
    // Back to the format before.
    for (table, column) in [
        ("projects", "layout"),
        ("terminals", "noted"),
        ("threads", "attached"),
        ("threads", "queued"),
        ("turns", "steers"),
    ] {
        sql(dir.path(), &format!("ALTER TABLE {table} DROP COLUMN {column}"));
    }
    sql(dir.path(), "PRAGMA user_version = 7");
    sql(dir.path(), VALUES);
    sql(dir.path(), &values_of(thread, turn));
    let (store, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(loaded.damage, None);
    assert_eq!(loaded.layouts, [(ProjectId::new(2), "r5000(3,4)".to_owned())]);
    assert_eq!(store.noted(TerminalId::new(3)).unwrap(), Some(41));
    assert_eq!(store.attached(thread).unwrap(), ["art-1"]);
    let queued = store.queued_messages(thread).unwrap();
    assert_eq!((queued.len(), queued[0].id, queued[0].text.as_str()), (1, 7, "later"));
    let steers = store.steers(turn).unwrap();
    assert_eq!((steers[0].text.as_str(), &steers[0].context[..]), ("now", &["c".to_owned()][..]));
    let left = "SELECT group_concat(key) FROM (SELECT key FROM meta WHERE key LIKE '%/%')";
    let connection = Connection::open(dir.path().join("rookery.db")).unwrap();
    let left: String = connection.query_row(left, [], |row| row.get(0)).unwrap();
    assert_eq!(left, "closing/77");
}

#[test]
fn values_of_rows_stay_and_go_with_them() {
    let dir = scratch();
    let (thread, turn) = (talk::thread_id(1), talk::turn_id(11));
    let store = Store::open(dir.path()).unwrap().0;
    let steer = Steer { text: "now".to_owned(), ..Steer::default() };
    let mut batch = vec![put_project(2, 0), put_terminal(3, 2, 0)];
    batch.extend(talk::conversation(1));
    batch.extend([
        Change::LayoutSet(ProjectId::new(2), Some("r5000(3,4)".to_owned())),
        Change::OutputNoted(TerminalId::new(3), 41),
        Change::ArtifactsAttached(thread, vec!["art-1".to_owned()]),
        Change::SteersSet(turn, vec![steer.clone()]),
        // What changes the row leaves them as they are.
        put_project(2, 4),
        put_terminal(3, 2, 4),
    ]);
    batch.extend(talk::conversation(1));
    store.commit(changes(batch)).wait_blocking().unwrap();
    drop(store);
    let (store, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(loaded.layouts, [(ProjectId::new(2), "r5000(3,4)".to_owned())]);
    assert_eq!(store.noted(TerminalId::new(3)).unwrap(), Some(41));
    assert_eq!(store.attached(thread).unwrap(), ["art-1"]);
    assert_eq!(store.steers(turn).unwrap(), [steer]);
    let gone = [
        Change::LayoutSet(ProjectId::new(2), None),
        Change::TerminalDeleted(TerminalId::new(3)),
        Change::ThreadDeleted(thread),
        // Too late: they are lost, and nothing else is.
        Change::OutputNoted(TerminalId::new(3), 42),
        Change::SteersSet(turn, vec![Steer::default()]),
    ];
    store.commit(changes(gone.into())).wait_blocking().unwrap();
    assert_eq!(store.noted(TerminalId::new(3)).unwrap(), None);
    assert!(store.attached(thread).unwrap().is_empty() && store.steers(turn).unwrap().is_empty());
    drop(store);
    assert!(Store::open(dir.path()).unwrap().1.layouts.is_empty());
}
