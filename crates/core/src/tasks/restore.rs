//! Taking up what the last daemon left: what waited waits again, what only was prepared is begun anew,
//! what lives on in a terminal is found again, and what died with the daemon is said to have.

use rookery_model::{Task, TaskResult, TaskState};
use rookery_runners::InTerminals;
use rookery_tasks::{Message, protocol};

use super::NODE;
use super::course::has_begun;
use super::executors;
use super::view::terminal_uuid;
use crate::clock;
use crate::rooms::Tasks;

/// What is said of a task that died with the daemon.
const RESTARTED: &str = "daemon restarted";

impl Tasks {
    /// Looks at everything that is not over, oldest first, and then begins to hand out.
    pub(crate) async fn restore(&self) {
        let mut open: Vec<Task> = {
            let world = self.core.look();
            let last = world.tasks.values().map(|task| task.message).max().unwrap_or(0);
            self.core.inner.tasks.state.lock().last_message = last;
            world.tasks.values().filter(|task| !task.state.is_over()).cloned().collect()
        };
        open.sort_by_key(|task| (task.message == 0, task.message, task.created_at, task.id));
        self.settle_over();
        for task in open {
            let id = task.id;
            if let Err(error) = self.restore_one(task).await {
                tracing::error!(%error, task = %id, "a task cannot be taken up");
            }
        }
        self.core.inner.tasks.state.lock().is_open = true;
        self.hand_out();
        self.attend_lifetimes();
    }

    /// Of tasks that were over when the last daemon ended, something may be left to do.
    fn settle_over(&self) {
        let over: Vec<Task> = {
            let world = self.core.look();
            let over = world.tasks.values().filter(|task| task.state.is_over());
            over.filter(|task| self.terminal_of(task).is_some()).cloned().collect()
        };
        for task in over {
            let core = self.core.detached();
            self.core.inner.runtime.spawn(async move { core.tasks().settle(task).await });
        }
    }

    /// Whether a task is at work in its terminal without us. One that needs a connection of the last
    /// daemon is not.
    fn lives_on(&self, task: &Task) -> bool {
        let runner = task.spec.runner.as_ref();
        let way = runner.map(|it| self.core.runners().in_terminals(&it.destination));
        let ended_with_daemon = matches!(way, Some(Ok(InTerminals::WithDaemon)));
        self.terminal_of(task).is_some() && !ended_with_daemon
    }

    /// Whether the last daemon died after it had recorded that a task begins, and before the keeper got
    /// its terminal: then it begins now, at the same epoch.
    async fn has_not_begun(&self, task: &Task) -> bool {
        if task.spec.terminal.is_none() || self.terminal_of(task).is_some() {
            return false;
        }
        let since = task.started_at.unwrap_or(task.created_at);
        self.core.terminals().never_was(terminal_uuid(task), since).await
    }

    async fn restore_one(&self, task: Task) -> rookery_model::Result<()> {
        let message = Message { number: task.message, task: task.id };
        let mine = (NODE, task.epoch);
        if task.state == TaskState::Claimed {
            protocol::release(self, self, message, mine, clock::wall()).await?;
            return Ok(());
        }
        if !has_begun(&task) {
            protocol::publish(self, self, task).await?;
            return Ok(());
        }
        if self.lives_on(&task) || self.has_not_begun(&task).await {
            let core = self.core.detached();
            self.core.inner.tasks.state.lock().taken += usize::from(!task.spec.is_unasked);
            self.core.inner.runtime.spawn(async move {
                let is_counted = !task.spec.is_unasked;
                core.tasks().resume(message, task).await;
                if is_counted {
                    core.inner.tasks.state.lock().taken -= 1;
                    core.tasks().hand_out();
                }
            });
            return Ok(());
        }
        if let Some(executor) = executors::find(&task.spec.executor) {
            (executor.abandon)(self.core.detached(), task.clone()).await;
        }
        let failure = TaskResult { error: Some(RESTARTED.to_owned()), ..TaskResult::default() };
        protocol::lose(self, self, message, mine, failure, clock::wall()).await?;
        Ok(())
    }
}
