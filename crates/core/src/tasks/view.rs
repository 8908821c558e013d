//! Tasks as they are shown, cancelled and done again.

use std::sync::Arc;

use rookery_model::{
    Cancel, Error, ErrorKind, LogChunk, Result, Task, TaskId, TaskLog, TaskState, TerminalId,
    TerminalUuid, ThreadId,
};
use rookery_tasks::protocol::{self, Cancelled};
use rookery_tasks::rules;

use super::NODE;
use super::submit::{NewTask, Submitted};
use crate::clock;
use crate::core::blocking;
use crate::log::{ProcessStopping, ProgramName, Shows};
use crate::rooms::Tasks;
use crate::workflows::ClientGrant;

/// Which tasks are wanted.
#[derive(Clone, Debug, Default)]
pub struct TaskQuery {
    /// Only those of this thread.
    pub thread: Option<ThreadId>,
    /// Only those in one of these states; all if there is none.
    pub states: Vec<TaskState>,
    /// At most this number, the newest.
    pub limit: Option<usize>,
}

/// A task with the end of what it wrote.
#[derive(Clone, Debug)]
pub struct TaskPage {
    pub task: Arc<Task>,
    /// The pieces after the one that was named.
    pub chunks: Vec<LogChunk>,
    /// How many bytes of its log are gone.
    pub dropped: u64,
    /// The number after which the next piece comes.
    pub last_seq: u64,
}

/// Who cancels a task, and why.
#[derive(Clone, Debug)]
pub struct TaskCancel {
    /// Who.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

impl Tasks {
    /// Tasks that are wanted, the newest first.
    pub fn list(&self, query: &TaskQuery) -> Vec<Arc<Task>> {
        let world = self.core.look();
        let is_wanted = |task: &&Arc<Task>| {
            query.thread.is_none_or(|thread| task.thread == Some(thread))
                && (query.states.is_empty() || query.states.contains(&task.state))
        };
        let mut found: Vec<Arc<Task>> = world.tasks.shared().filter(is_wanted).cloned().collect();
        found.sort_by_key(|task| std::cmp::Reverse((task.created_at, task.message, task.id)));
        found.truncate(query.limit.unwrap_or(usize::MAX));
        found
    }

    /// A task.
    ///
    /// # Errors
    /// Not found if there is none.
    pub fn get(&self, id: TaskId) -> Result<Arc<Task>> {
        let world = self.core.look();
        let mut found = world.tasks.shared().filter(|task| task.id == id);
        found.next().cloned().ok_or_else(|| Error::not_found(format!("unknown task \"{id}\"")))
    }

    /// A task with what it wrote after a piece.
    ///
    /// # Errors
    /// Not found if there is none, or if its log cannot be read.
    pub async fn read(&self, id: TaskId, after: u64) -> Result<TaskPage> {
        let (task, log) = loop {
            let task = self.get(id)?;
            if let Some(live) = self.core.inner.tasks.live(id) {
                break (task, live.output.log());
            }
            let log = self.stored_log(id).await;
            // It may have begun while its log was read.
            if self.core.inner.tasks.live(id).is_none() {
                break (self.get(id)?, log);
            }
        };
        let TaskLog { mut chunks, dropped, last_seq, offset: _ } = log;
        chunks.retain(|chunk| chunk.seq > after);
        Ok(TaskPage { task, chunks, dropped, last_seq })
    }

    pub(super) async fn stored_log(&self, id: TaskId) -> TaskLog {
        let store = self.core.inner.store.clone();
        match blocking(move || store.task_log(id)).await {
            Ok(Ok(log)) => log,
            Ok(Err(error)) => {
                tracing::warn!(%error, task = %id, "the log of a task cannot be read");
                TaskLog::default()
            }
            Err(_) => TaskLog::default(),
        }
    }

    /// The terminal of a task's newest attempt, while it is open.
    pub fn terminal_of(&self, task: &Task) -> Option<TerminalId> {
        task.spec.terminal.as_ref()?;
        let uuid = terminal_uuid(task);
        let world = self.core.look();
        world.terminals.values().find(|terminal| terminal.uuid == uuid).map(|terminal| terminal.id)
    }

    /// Waits until a task has its terminal, or is over.
    ///
    /// # Errors
    /// Not found if there is no such task; closed if the daemon stops.
    pub async fn opened(&self, id: TaskId) -> Result<(Arc<Task>, Option<TerminalId>)> {
        let mut changes = self.core.log().changes(&[Shows::Tasks, Shows::Terminals]);
        loop {
            let task = self.get(id)?;
            let terminal = self.terminal_of(&task);
            if terminal.is_some() || task.state.is_over() {
                return Ok((task, terminal));
            }
            changes.next().await?;
        }
    }

    /// Cancels a task. False if it was over.
    ///
    /// # Errors
    /// Not found if there is none, denied if it is not the caller's, or if it cannot be recorded.
    pub async fn cancel(&self, id: TaskId, asked: TaskCancel) -> Result<bool> {
        self.check_own(&*self.get(id)?)?;
        self.cancel_anyway(id, asked).await
    }

    pub(super) async fn cancel_anyway(&self, id: TaskId, asked: TaskCancel) -> Result<bool> {
        let now = clock::wall();
        let cancel = Cancel { by: asked.by, reason: asked.reason, at: now };
        let live = self.core.inner.tasks.live(id);
        if live.is_some() {
            let (program, reason) = (ProgramName::Task(id), cancel.reason.clone());
            self.core.announce_stopping(ProcessStopping { program, reason });
        }
        // Nothing may be written after it was said to be over.
        live.iter().for_each(|live| live.output.close());
        let cancelled = protocol::cancel(self, id, cancel, NODE, now).await;
        match cancelled {
            Ok(Cancelled::Ended(_)) => {
                // It may have begun since it was looked for.
                let live = self.core.inner.tasks.live(id).or(live);
                live.iter().for_each(|live| {
                    live.output.close();
                    live.stop.cancel();
                });
                Ok(true)
            }
            Ok(Cancelled::Asked) => Ok(true),
            Ok(Cancelled::Over) => Ok(false),
            Ok(Cancelled::Unknown) => Err(Error::not_found(format!("unknown task \"{id}\""))),
            Err(error) => {
                live.iter().for_each(|live| live.output.reopen());
                Err(error)
            }
        }
    }

    /// Has a task done again, in the mode and with the keys that the caller brings along: a lost one itself,
    /// one that is over as a new one.
    ///
    /// # Errors
    /// Not found if there is none, conflict if it is not over, denied if it is not the caller's.
    pub async fn retry(&self, id: TaskId, grant: ClientGrant) -> Result<Submitted> {
        let task = self.get(id)?;
        self.check_own(&task)?;
        if let Some(again) = rules::retry(&task) {
            let set = rookery_tasks::Records::set(self, again).await;
            let set = set
                .map_err(|_| Error::conflict("the task has changed meanwhile; look at it again"))?;
            self.core.inner.tasks.state.lock().grants.insert(id, grant);
            let task = protocol::publish(self, self, set).await?;
            self.hand_out();
            return Ok(Submitted::Task(Box::new(task)));
        }
        if !task.state.is_over() {
            return Err(Error::conflict(format!("task {id} is not over; cancel it first")));
        }
        self.submit(NewTask::again(&task, grant)).await
    }

    /// Refuses an agent what is not its own.
    fn check_own(&self, task: &Task) -> Result<()> {
        match self.core.caller().may_use(task.origin) {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::Denied,
                format!(
                    "task {} is not the agent's own: a program that an agent runs may only use tasks that it submitted",
                    task.id
                ),
            )),
        }
    }
}

/// The name of an attempt's terminal. It follows from the record, so that it is found again however
/// early the daemon died.
pub(super) fn terminal_uuid(task: &Task) -> TerminalUuid {
    let id = uuid::Uuid::from_u128(task.id.get());
    let name = format!("rookery/task/{}", task.epoch);
    TerminalUuid(*uuid::Uuid::new_v5(&id, name.as_bytes()).as_bytes())
}
