//! Reads the world back at start. A row that cannot be read is moved to `damaged_rows`,
//! so that one bad row costs one thing and not all.

use std::path::PathBuf;

use rookery_model::{
    EventSeq, Project, ProjectId, Record, Request, Task, Terminal, TerminalId, Thread, Timestamp,
    Turn,
};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::encode::{self, DecodeError};
use crate::files;
use crate::kept::ValueKey;
use crate::reserved::{LARGEST, Numbers};
use crate::scrub;
use crate::thread::lately_settled;

mod record;
mod task;
mod thread;

/// How many settled requests are read at start.
const SETTLED: usize = 1_000;

/// What the database holds.
pub(crate) struct Contents {
    pub(crate) projects: Vec<Project>,
    pub(crate) terminals: Vec<Terminal>,
    /// How the panes of projects are arranged.
    pub(crate) layouts: Vec<(ProjectId, String)>,
    pub(crate) active: Option<TerminalId>,
    /// The selected project, if it still exists.
    pub(crate) active_project: Option<ProjectId>,
    /// All threads.
    pub(crate) threads: Vec<Thread>,
    /// The turns that have not ended.
    pub(crate) open_turns: Vec<Turn>,
    /// The requests that wait.
    pub(crate) requests: Vec<Request>,
    /// The newest of those that were settled.
    pub(crate) settled: Vec<Request>,
    /// What supervision keeps.
    pub(crate) records: Vec<Record>,
    /// Background tasks.
    pub(crate) tasks: Vec<Task>,
    /// The next numbers as written down; `None` in a database that was never in use.
    pub(crate) written: Option<Numbers>,
    /// The next numbers as the rows themselves tell.
    pub(crate) seen: Numbers,
    /// Rows that had to be moved aside.
    pub(crate) damaged_rows: u64,
    /// Whether the mask was over every row.
    pub(crate) is_masked: bool,
}

/// Reads everything that is needed from the start, and repairs what can be repaired; for
/// `find_orphans` see [`thread::load`].
pub(crate) fn load(connection: &mut Connection, find_orphans: bool) -> rusqlite::Result<Contents> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (written, active) = world(&transaction)?;
    let mut damaged_rows = mend_projects(&transaction)?;
    adopt_orphans(&transaction)?;
    damaged_rows += mend_terminals(&transaction)?;
    let agents = thread::load(&transaction, find_orphans)?;
    let settled = lately_settled(&transaction, SETTLED)?;
    let (records, damaged_records) = record::load(&transaction)?;
    let (tasks, damaged_tasks) = task::load(&transaction)?;
    damaged_rows += agents.damaged_rows + damaged_records + damaged_tasks;
    // Only now: a damaged id may be anything.
    let seen = Numbers {
        event: EventSeq::new(highest(&transaction, "SELECT max(seq) FROM events WHERE seq < ?1")?)
            .next(),
        project: ProjectId::new(highest(
            &transaction,
            "SELECT max(id) FROM projects WHERE id < ?1",
        )?)
        .next(),
        terminal: TerminalId::new(highest(
            &transaction,
            "SELECT max(id) FROM terminals WHERE id < ?1",
        )?)
        .next(),
    };
    let projects = rows(&transaction, PROJECTS)?;
    let projects: Vec<_> = projects.iter().filter_map(|row| row.project().ok()).collect();
    let terminals = rows(&transaction, TERMINALS)?;
    let terminals: Vec<_> = terminals.iter().filter_map(|row| row.terminal().ok()).collect();
    let layouts = layouts(&transaction)?;
    let active_project = selected_project(&transaction)?;
    let is_masked = scrub::is_done(&transaction)?;
    transaction.commit()?;
    let active_project =
        active_project.filter(|id| projects.iter().any(|project| project.id == *id));
    let active = active.filter(|id| terminals.iter().any(|terminal| terminal.id == *id));
    Ok(Contents {
        projects,
        terminals,
        layouts,
        active,
        active_project,
        threads: agents.threads,
        open_turns: agents.open_turns,
        requests: agents.requests,
        settled,
        records,
        tasks,
        written,
        seen,
        damaged_rows,
        is_masked,
    })
}

const PROJECTS: &str = "SELECT id, body, id, position FROM projects ORDER BY position, id";
const TERMINALS: &str = "SELECT terminals.id, terminals.body, terminals.project, terminals.position
    FROM terminals JOIN projects ON projects.id = terminals.project
    ORDER BY projects.position, projects.id, terminals.position, terminals.id";

fn highest(transaction: &Transaction<'_>, sql: &str) -> rusqlite::Result<u64> {
    let highest: Option<i64> = transaction.query_row(sql, [LARGEST as i64], |row| row.get(0))?;
    Ok(highest.and_then(|id| u64::try_from(id).ok()).unwrap_or(0))
}

fn world(transaction: &Transaction<'_>) -> rusqlite::Result<(Option<Numbers>, Option<TerminalId>)> {
    let row: Option<[Option<i64>; 4]> = transaction
        .query_row("SELECT next_event, next_project, next_terminal, active FROM world", [], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
        })
        .optional()?;
    let Some(row) = row else { return Ok((None, None)) };
    let [event, project, terminal, active] = row.map(|number| {
        let number = u64::try_from(number?).ok()?;
        (1..=LARGEST).contains(&number).then_some(number)
    });
    // Numbers that cannot be ours are as good as none: the sidecar knows better.
    let numbers = match (event, project, terminal) {
        (Some(event), Some(project), Some(terminal)) => Some(Numbers {
            event: EventSeq::new(event),
            project: ProjectId::new(project),
            terminal: TerminalId::new(terminal),
        }),
        _ => None,
    };
    Ok((numbers, active.map(TerminalId::new)))
}

fn layouts(transaction: &Transaction<'_>) -> rusqlite::Result<Vec<(ProjectId, String)>> {
    let sql = "SELECT id, layout FROM projects WHERE layout IS NOT NULL ORDER BY id";
    let mut statement = transaction.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?;
    let known = rows
        .map(|row| row.map(|(id, layout)| Some((ProjectId::new(u64::try_from(id).ok()?), layout))));
    Ok(known.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn selected_project(transaction: &Transaction<'_>) -> rusqlite::Result<Option<ProjectId>> {
    let sql = "SELECT value FROM meta WHERE key = ?1";
    let id: Option<String> = transaction
        .query_row(sql, [ValueKey::ActiveProject.to_string()], |row| row.get(0))
        .optional()?;
    Ok(id.and_then(|id| id.parse().ok()))
}

/// A row of `projects` or `terminals`, not yet decoded.
struct Row {
    id: i64,
    body: Vec<u8>,
    project: i64,
    position: i64,
}

fn rows(transaction: &Transaction<'_>, sql: &str) -> rusqlite::Result<Vec<Row>> {
    let mut statement = transaction.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let body = match row.get_ref(1)? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => Vec::new(),
        };
        Ok(Row { id: row.get(0)?, body, project: row.get(2)?, position: row.get(3)? })
    })?;
    rows.collect()
}

impl Row {
    fn decode<T>(&self, decode: impl Fn(&str) -> Result<T, DecodeError>) -> Result<T, String> {
        let text = std::str::from_utf8(&self.body).map_err(|error| error.to_string())?;
        decode(text).map_err(|error| error.to_string())
    }

    fn place(&self) -> i32 {
        i32::try_from(self.position).unwrap_or(i32::MAX)
    }

    fn project(&self) -> Result<Project, String> {
        let mut project = self.decode(encode::project_from_json)?;
        project.position = self.place();
        same("id", project.id.get(), self.id)?;
        Ok(project)
    }

    fn terminal(&self) -> Result<Terminal, String> {
        let mut terminal = self.decode(encode::terminal_from_json)?;
        terminal.position = self.place();
        same("id", terminal.id.get(), self.id)?;
        same("project", terminal.project.get(), self.project)?;
        Ok(terminal)
    }

    fn set_aside(
        &self,
        transaction: &Transaction<'_>,
        source: &str,
        reason: &str,
    ) -> rusqlite::Result<()> {
        tracing::warn!(
            source,
            row = self.id,
            reason,
            "a stored row cannot be read and is set aside"
        );
        transaction
            .execute(
                "INSERT INTO damaged_rows (source, row, content, reason, at) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![source, self.id, self.body, reason, now().as_micros()],
            )
            .map(drop)
    }
}

/// Columns and body tell the same; a difference means that one of them is damaged.
fn same(what: &str, body: u64, column: i64) -> Result<(), String> {
    if i64::try_from(body) == Ok(column) {
        Ok(())
    } else {
        Err(format!("{what} is {body} in the body and {column} in the table"))
    }
}

fn now() -> Timestamp {
    Timestamp::from_micros(
        i64::try_from(files::unix_seconds()).unwrap_or(0).saturating_mul(1_000_000),
    )
}

fn mend_projects(transaction: &Transaction<'_>) -> rusqlite::Result<u64> {
    let mut damaged = 0;
    for row in rows(transaction, PROJECTS)? {
        let Err(reason) = row.project() else { continue };
        row.set_aside(transaction, "projects", &reason)?;
        damaged += 1;
        match stand_in(row.id) {
            // Not deleted while it has terminals: they would be deleted with it.
            Some(project) if has_terminals(transaction, row.id)? => transaction.execute(
                "UPDATE projects SET body = ?1 WHERE id = ?2",
                params![encode::project_to_json(&project), row.id],
            )?,
            _ => transaction.execute("DELETE FROM projects WHERE id = ?1", [row.id])?,
        };
    }
    Ok(damaged)
}

fn has_terminals(transaction: &Transaction<'_>, project: i64) -> rusqlite::Result<bool> {
    transaction.query_row(
        "SELECT EXISTS (SELECT 1 FROM terminals WHERE project = ?1)",
        [project],
        |row| row.get(0),
    )
}

/// The project that terminals belong to when their own cannot be read.
fn stand_in(id: i64) -> Option<Project> {
    let id = u64::try_from(id).ok()?;
    Some(Project {
        id: ProjectId::new(id),
        name: format!("recovered {id}"),
        root: PathBuf::from("/"),
        position: i32::MAX,
        selected: None,
        created_at: now(),
    })
}

fn adopt_orphans(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare(
        "SELECT DISTINCT project FROM terminals WHERE project NOT IN (SELECT id FROM projects)",
    )?;
    let missing: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for project in missing.into_iter().filter_map(stand_in) {
        tracing::warn!(project = %project.id, "terminals without a project get a stand-in");
        transaction.execute(
            "INSERT INTO projects (id, position, body) VALUES (?1, ?2, ?3)",
            params![project.id.get() as i64, i32::MAX, encode::project_to_json(&project)],
        )?;
    }
    Ok(())
}

fn mend_terminals(transaction: &Transaction<'_>) -> rusqlite::Result<u64> {
    let mut damaged = 0;
    for row in rows(transaction, "SELECT id, body, project, position FROM terminals")? {
        let Err(reason) = row.terminal() else { continue };
        row.set_aside(transaction, "terminals", &reason)?;
        transaction.execute("DELETE FROM terminals WHERE id = ?1", [row.id])?;
        damaged += 1;
    }
    Ok(damaged)
}
