//! Background tasks and the end of what they wrote.

use rookery_model::{
    Lifetime, LogChunk, LogStream, Lost, Origin, Retry, Task, TaskId, TaskLog, TaskSpec, TaskState,
    Timestamp,
};
use rookery_store::{Change, Store};

use crate::common::*;

fn task(number: u128) -> Task {
    Task {
        id: TaskId::new(number << 64 | 7),
        space: "local".into(),
        by: "person".into(),
        key: format!("key {number}"),
        needs: Vec::new(),
        spec: TaskSpec {
            executor: "process".into(),
            input: r#"{"command":"true"}"#.into(),
            workspace: "/".into(),
            timeout: None,
            terminal: None,
            runner: None,
            is_reading: false,
            is_unasked: false,
        },
        thread: None,
        turn: None,
        lifetime: Lifetime::Server,
        origin: Origin::Person,
        retry: Retry::default(),
        lost: Lost::Fail,
        state: TaskState::Queued,
        epoch: 0,
        message: 1,
        holder: None,
        maybe_twice: false,
        attempts: Vec::new(),
        attempt_count: 0,
        cancel: None,
        created_at: Timestamp::from_micros(1),
        started_at: None,
        ended_at: None,
        result: None,
        revision: 1,
    }
}

fn log(text: &str) -> TaskLog {
    let at = Timestamp::from_micros(2);
    let chunk = LogChunk { seq: 1, stream: LogStream::Stdout, at, text: text.to_owned() };
    TaskLog { chunks: vec![chunk], dropped: 3, last_seq: 1, offset: 9 }
}

/// A task whose row is larger than a page.
pub(crate) fn put(number: u128) -> Vec<Change> {
    let task = task(number);
    let logged = Change::TaskLogged(task.id, Box::new(log(&"line\n".repeat(1500))));
    vec![Change::TaskUpserted(Box::new(task)), logged]
}

#[test]
fn a_task_keeps_its_log_when_it_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(loaded.tasks, []);
    let first = task(1);
    let logged = Change::TaskLogged(first.id, Box::new(log("hello\n")));
    let put = Change::TaskUpserted(Box::new(first.clone()));
    store.commit(changes(vec![put, logged])).wait_blocking().unwrap();
    let over = Task { state: TaskState::Done, revision: 2, ..first.clone() };
    let second = Change::TaskUpserted(Box::new(task(2)));
    store
        .commit(changes(vec![Change::TaskUpserted(Box::new(over.clone())), second]))
        .wait_blocking()
        .unwrap();
    store.close().unwrap();

    let (store, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(loaded.tasks, [over, task(2)]);
    assert_eq!(store.task_log(first.id).unwrap(), log("hello\n"));
    assert_eq!(store.task_log(task(2).id).unwrap(), TaskLog::default());
    store.commit(changes(vec![Change::TaskDeleted(first.id)])).wait_blocking().unwrap();
    assert_eq!(store.task_log(first.id).unwrap(), TaskLog::default());
    store.close().unwrap();
    assert_eq!(Store::open(dir.path()).unwrap().1.tasks, [task(2)]);
}

#[test]
fn a_task_that_cannot_be_read_costs_itself_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(dir.path()).unwrap();
    let both = [1, 2].map(|number| Change::TaskUpserted(Box::new(task(number))));
    store.commit(changes(both.to_vec())).wait_blocking().unwrap();
    store.close().unwrap();
    let connection = rusqlite::Connection::open(dir.path().join("rookery.db")).unwrap();
    let bad = task(1).id.get().to_be_bytes();
    connection.execute("UPDATE tasks SET body = '{}' WHERE id = ?1", [bad]).unwrap();
    drop(connection);
    let (_store, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(loaded.tasks, [task(2)]);
    assert_eq!(loaded.damage.unwrap().rows, 1);
}
