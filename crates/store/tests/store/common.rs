//! Sample values and small steps that all tests share.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use rookery_model::{
    Activity, Event, EventSeq, ExitStatus, LaunchSpec, NumberedEvent, OnExit, Project, ProjectId,
    Size, Terminal, TerminalId, TerminalState, TerminalUuid, Timestamp,
};
use rookery_store::{Batch, Change, Loaded, Store};
use rusqlite::Connection;

use crate::talk;

pub(crate) fn project(id: u64) -> Project {
    Project {
        id: ProjectId::new(id),
        name: format!("project {id}"),
        root: OsString::from_vec(vec![b'/', 0xff, b'a']).into(),
        position: i32::from(id == 2),
        selected: None,
        created_at: Timestamp::from_micros(1_000),
    }
}

pub(crate) fn terminal(id: u64, project: u64) -> Terminal {
    Terminal {
        id: TerminalId::new(id),
        uuid: TerminalUuid((u128::MAX - u128::from(id)).to_be_bytes()),
        project: ProjectId::new(project),
        // As the sample places them.
        position: i32::from(id == 2),
        launch: LaunchSpec {
            argv: vec!["/bin/sh".to_owned(), "\0 and \u{1f426}".to_owned()],
            cwd: OsString::from_vec(vec![b'/', 0x80]).into(),
            env: vec![("NAME".to_owned(), "value".to_owned())],
        },
        pid: 4_000_000_000,
        size: Size::new(50, 132).unwrap().with_pixels(3, 4),
        program_title: Some("vi".to_owned()),
        user_title: None,
        reported_cwd: Some("/tmp".into()),
        state: TerminalState::Exited(ExitStatus::Signal(9)),
        created_at: Timestamp::from_micros(-1),
        exited_at: Some(Timestamp::from_micros(i64::MAX)),
        last_active: Timestamp::from_micros(12),
        on_exit: OnExit::Close,
        activity: Activity::default(),
        checkout: None,
        origin: rookery_model::Origin::Person,
    }
}

/// Now-ish: far enough from the epoch not to be pruned.
pub(crate) fn now() -> Timestamp {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap())
}

pub(crate) fn bell(seq: EventSeq) -> NumberedEvent {
    NumberedEvent { seq, at: now(), event: Event::TerminalBell { id: TerminalId::new(seq.get()) } }
}

pub(crate) fn changes(changes: Vec<Change>) -> Batch {
    Batch { changes, events: Vec::new() }
}

pub(crate) fn put_project(id: u64, position: i32) -> Change {
    Change::ProjectUpserted(Project { position, ..project(id) })
}

pub(crate) fn put_terminal(id: u64, project: u64, position: i32) -> Change {
    Change::TerminalUpserted(Box::new(Terminal { position, ..terminal(id, project) }))
}

pub(crate) fn select(terminal: Option<u64>) -> Change {
    let project = terminal.map(|_| ProjectId::new(1));
    Change::ActiveSet { project, terminal: terminal.map(TerminalId::new) }
}

/// Commits this many events, one batch each, and waits until they are durable.
pub(crate) fn ring(store: &Store, next: &mut EventSeq, count: usize) {
    let mut last = None;
    for _ in 0..count {
        last = Some(store.commit(Batch { changes: Vec::new(), events: vec![bell(*next)] }));
        *next = next.next();
    }
    last.map_or(Ok(()), |ticket| ticket.wait_blocking()).unwrap();
}

/// Waits until all that was committed before is durable.
pub(crate) fn flush(store: &Store) {
    store.commit(Batch::default()).wait_blocking().unwrap();
}

/// The numbers of all stored events.
pub(crate) fn numbers(store: &Store) -> Vec<u64> {
    let page = store.events(EventSeq::new(0), usize::MAX).unwrap();
    page.events.iter().map(|event| event.seq.get()).collect()
}

pub(crate) fn project_ids(loaded: &Loaded) -> Vec<u64> {
    loaded.projects.iter().map(|project| project.id.get()).collect()
}

pub(crate) fn terminal_ids(loaded: &Loaded) -> Vec<u64> {
    loaded.terminals.iter().map(|terminal| terminal.id.get()).collect()
}

/// Runs SQL behind the store's back.
pub(crate) fn sql(dir: &Path, sql: &str) {
    Connection::open(dir.join("rookery.db")).unwrap().execute_batch(sql).unwrap();
}

/// A store with two projects, three terminals and some events, closed again.
pub(crate) fn sample(dir: &Path, events: usize) -> Loaded {
    let (store, loaded) = Store::open(dir).unwrap();
    let mut next = loaded.next_event;
    let ticket = store.commit(changes(vec![
        put_project(1, 0),
        put_project(2, 1),
        put_terminal(1, 1, 0),
        put_terminal(2, 1, 1),
        put_terminal(3, 2, 0),
        select(Some(2)),
    ]));
    ticket.wait_blocking().unwrap();
    let ticket = store.commit(changes(talk::conversation(1)));
    ticket.wait_blocking().unwrap();
    ring(&store, &mut next, events);
    store.close().unwrap();
    drop(store);
    let (store, loaded) = Store::open(dir).unwrap();
    store.close().unwrap();
    loaded
}

/// A directory for one test; in memory if possible, because hundreds of opens sync hundreds of
/// times, and a busy disk would make that slow.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
