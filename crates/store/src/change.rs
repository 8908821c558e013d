//! What can be written: a closed list of changes, and the SQL of each.

use rookery_model::{
    ChangeRecord, Decision, EventSeq, Item, NumberedEvent, Project, ProjectId, QueuedMessage,
    Record, RecordKind, Request, Steer, Task, TaskId, TaskLog, Terminal, TerminalId, Thread,
    ThreadId, Trace, Turn, TurnId,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::kept::ValueKey;
use crate::reserved::{LARGEST, Numbers};
use crate::{decision, encode};

mod record;
mod task;
mod thread;

pub(crate) use task::read_log as task_log;
pub(crate) use thread::{Key, is_open, is_pending};

/// One change to what is stored.
///
/// Positions of projects and terminals need neither be dense nor unique; what shares one is
/// ordered by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A project is new or has changed.
    ProjectUpserted(Project),
    /// A project is gone, and so are its terminals.
    ProjectDeleted(ProjectId),
    /// A terminal is new or has changed. Its project is stored already.
    TerminalUpserted(Box<Terminal>),
    /// A terminal is gone.
    TerminalDeleted(TerminalId),
    /// The panes of a project are arranged anew; `None` if each of its tabs stands alone. Its project is
    /// stored already.
    LayoutSet(ProjectId, Option<String>),
    /// What a terminal wrote was noted up to this offset. The terminal is stored already.
    OutputNoted(TerminalId, u64),
    /// Another project and terminal are selected.
    ActiveSet {
        /// The selected project, if any.
        project: Option<ProjectId>,
        /// The selected terminal, if any.
        terminal: Option<TerminalId>,
    },
    /// A single value has changed; `None` removes it.
    KeptSet {
        /// Which one.
        what: ValueKey,
        value: Option<String>,
    },
    /// A thread is new or has changed.
    ThreadUpserted(Box<Thread>),
    /// A thread is gone, and so are its turns, items, traces, changes and requests.
    ThreadDeleted(ThreadId),
    /// The artifacts whose images wait for the next turn of a thread, which is stored already.
    ArtifactsAttached(ThreadId, Vec<String>),
    /// The messages that wait until the agent of a thread takes what a user says. The thread is stored
    /// already.
    MessagesQueued(ThreadId, Vec<QueuedMessage>),
    /// What the user said to a running turn and no item holds yet. The turn is stored already.
    SteersSet(TurnId, Vec<Steer>),
    /// A turn is new or has changed. Its thread is stored already and stays the same.
    TurnUpserted(Box<Turn>),
    /// A turn is gone, and so are its items, traces, changes and requests.
    TurnDeleted(TurnId),
    /// An item is new or has changed. Its turn is stored already.
    ItemUpserted {
        thread: ThreadId,
        /// Its turn, which belongs to the thread.
        turn: TurnId,
        /// Its place in the thread. What was there before is replaced.
        position: u64,
        item: Box<Item>,
    },
    /// What a child agent did is new or has changed. The turn that it works for is stored already.
    TraceUpserted(Box<Trace>),
    /// What happened to files is new or has changed. Its thread and its turn are stored already.
    ChangeUpserted(Box<ChangeRecord>),
    /// What happened to files is forgotten.
    ChangeDeleted(ThreadId, u64),
    /// A request is new or was settled. Its turn is stored already.
    RequestUpserted(Box<Request>),
    /// The policy, or a person, decided something.
    DecisionMade(Box<Decision>),
    /// Something that supervision keeps is new or has changed.
    RecordUpserted(Box<Record>),
    /// Something that supervision kept is gone.
    RecordDeleted(RecordKind, u128),
    /// A background task is new or has changed.
    TaskUpserted(Box<Task>),
    /// The end of what a task wrote. The task is stored already.
    TaskLogged(TaskId, Box<TaskLog>),
    /// A background task is gone, and so is its log.
    TaskDeleted(TaskId),
}

/// Changes and events that become durable together or not at all.
///
/// An empty batch is a barrier: its ticket completes once all batches before it are durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub changes: Vec<Change>,
    /// What happened, numbered without a gap.
    pub events: Vec<NumberedEvent>,
}

/// A number as SQLite stores it. One that is too large to count on from is refused.
pub(crate) fn sql_int(number: u64) -> rusqlite::Result<i64> {
    match i64::try_from(number) {
        Ok(fitting) if number <= LARGEST => Ok(fitting),
        _ => {
            let reason = format!("{number} is larger than {LARGEST}");
            Err(rusqlite::Error::ToSqlConversionFailure(reason.into()))
        }
    }
}

impl Change {
    /// What the next numbers are at least, once this change is made. Ids that will be refused
    /// do not count.
    pub(crate) fn raises(&self, next: Numbers) -> Numbers {
        match self {
            Change::ProjectUpserted(project) if project.id.get() < LARGEST => {
                Numbers { project: next.project.max(project.id.next()), ..next }
            }
            Change::TerminalUpserted(terminal) if terminal.id.get() < LARGEST => {
                Numbers { terminal: next.terminal.max(terminal.id.next()), ..next }
            }
            _ => next,
        }
    }

    pub(crate) fn apply(&self, connection: &Connection) -> rusqlite::Result<()> {
        let run = |sql: &str, params: &[&dyn rusqlite::ToSql]| {
            connection.prepare_cached(sql)?.execute(params).map(drop)
        };
        match self {
            Change::ProjectUpserted(project) => run(
                "INSERT INTO projects (id, position, body) VALUES (?1, ?2, ?3)
                 ON CONFLICT (id) DO UPDATE SET position = excluded.position, body = excluded.body",
                params![
                    sql_int(project.id.get())?,
                    project.position,
                    encode::project_to_json(project)
                ],
            ),
            Change::ProjectDeleted(id) => {
                run("DELETE FROM projects WHERE id = ?1", params![sql_int(id.get())?])
            }
            Change::TerminalUpserted(terminal) => run(
                "INSERT INTO terminals (id, project, position, body) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (id) DO UPDATE
                 SET project = excluded.project, position = excluded.position, body = excluded.body",
                params![
                    sql_int(terminal.id.get())?,
                    sql_int(terminal.project.get())?,
                    terminal.position,
                    encode::terminal_to_json(terminal)
                ],
            ),
            Change::TerminalDeleted(id) => {
                run("DELETE FROM terminals WHERE id = ?1", params![sql_int(id.get())?])
            }
            Change::LayoutSet(id, layout) => run(
                "UPDATE projects SET layout = ?2 WHERE id = ?1",
                params![sql_int(id.get())?, layout],
            ),
            Change::OutputNoted(id, offset) => run(
                "UPDATE terminals SET noted = ?2 WHERE id = ?1",
                params![sql_int(id.get())?, sql_int(*offset)?],
            ),
            Change::ActiveSet { project, terminal } => {
                let terminal = terminal.map(|id| sql_int(id.get())).transpose()?;
                run("UPDATE world SET active = ?1", params![terminal])?;
                let value = project.map(|id| id.to_string());
                Change::KeptSet { what: ValueKey::ActiveProject, value }.apply(connection)
            }
            Change::KeptSet { what, value: Some(value) } => run(
                "INSERT INTO meta (key, value) VALUES (?1, ?2)
                 ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                params![what.to_string(), value],
            ),
            Change::KeptSet { what, value: None } => {
                run("DELETE FROM meta WHERE key = ?1", params![what.to_string()])
            }
            Change::ThreadUpserted(changed) => thread::put_thread(connection, changed),
            Change::ThreadDeleted(id) => thread::delete_thread(connection, *id),
            Change::ArtifactsAttached(id, artifacts) => {
                thread::put_attached(connection, *id, artifacts)
            }
            Change::MessagesQueued(id, messages) => thread::put_queued(connection, *id, messages),
            Change::SteersSet(turn, steers) => thread::put_steers(connection, *turn, steers),
            Change::TurnUpserted(turn) => thread::put_turn(connection, turn),
            Change::TurnDeleted(id) => thread::delete_turn(connection, *id),
            Change::ItemUpserted { thread, turn, position, item } => {
                thread::put_item(connection, *thread, *turn, *position, item)
            }
            Change::TraceUpserted(trace) => thread::put_trace(connection, trace),
            Change::ChangeUpserted(record) => thread::put_change(connection, record),
            Change::ChangeDeleted(thread, number) => {
                thread::delete_change(connection, *thread, *number)
            }
            Change::RequestUpserted(request) => thread::put_request(connection, request),
            Change::DecisionMade(decision) => decision::append(connection, decision),
            Change::RecordUpserted(changed) => record::put(connection, changed),
            Change::RecordDeleted(kind, id) => record::delete(connection, *kind, *id),
            Change::TaskUpserted(changed) => task::put(connection, changed),
            Change::TaskLogged(id, log) => task::put_log(connection, *id, log),
            Change::TaskDeleted(id) => task::delete(connection, *id),
        }
    }
}

/// Appends an event to the log.
pub(crate) fn append_event(connection: &Connection, event: &NumberedEvent) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO events (seq, at, body) VALUES (?1, ?2, ?3)")?
        .execute(params![
            sql_int(event.seq.get())?,
            event.at.as_micros(),
            encode::event_to_json(&event.event)
        ])
        .map(drop)
}

/// Writes down which numbers come next.
pub(crate) fn set_numbers(connection: &Connection, next: Numbers) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO world (one, next_event, next_project, next_terminal) VALUES (1, ?1, ?2, ?3)
             ON CONFLICT (one) DO UPDATE SET next_event = excluded.next_event,
             next_project = excluded.next_project, next_terminal = excluded.next_terminal",
        )?
        .execute(params![
            sql_int(next.event.get())?,
            sql_int(next.project.get())?,
            sql_int(next.terminal.get())?
        ])
        .map(drop)
}

/// Writes down how many commits there were.
pub(crate) fn set_commits(connection: &Connection, commits: u64) -> rusqlite::Result<()> {
    let (what, value) = (ValueKey::Commits, Some(commits.to_string()));
    Change::KeptSet { what, value }.apply(connection)
}

/// How many commits there were, as far as is known.
pub(crate) fn commits(connection: &Connection) -> rusqlite::Result<u64> {
    let value: Option<String> = connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([ValueKey::Commits.to_string()], |row| row.get(0))
        .optional()?;
    Ok(value.and_then(|value| value.parse().ok()).unwrap_or(0))
}

/// The number the next event will get, as far as the log is durable.
pub(crate) fn next_event(connection: &Connection) -> rusqlite::Result<EventSeq> {
    let next: Option<i64> = connection
        .prepare_cached("SELECT next_event FROM world")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(EventSeq::new(next.and_then(|next| u64::try_from(next).ok()).unwrap_or(1)))
}
