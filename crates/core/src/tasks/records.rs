//! The records and the queue of this one node: the world with its store, and a list in memory.
//!
//! A record and its message cannot part here: whatever is not over gets a message at each start.

use std::time::Duration;

use rookery_model::{Category, Error, Related, Result, Source, Task, TaskId, TaskState};
use rookery_store::Change;
use rookery_tasks::{Message, Queue, Records, SetError};

use super::NODE;
use crate::log::TaskChange;
use crate::queue::NewItem;
use crate::rooms::Tasks;
use crate::sessions::session_of_thread;
use crate::world::Tx;

/// Tasks that are over and kept. The oldest makes room.
const MAX_OVER: usize = 200;

impl Records for Tasks {
    type Error = Error;

    async fn read(&self, id: TaskId) -> Result<Option<Task>> {
        Ok(self.core.look().tasks.get(&id).cloned())
    }

    async fn create(&self, task: Task) -> std::result::Result<Task, SetError<Error>> {
        if self.core.look().tasks.contains_key(&task.id) {
            return Err(SetError::Changed);
        }
        // Saved or forgotten, before anyone is promised that it will be done.
        let change = Change::TaskUpserted(Box::new(task.clone()));
        self.core.promise([change]).await.map_err(SetError::Unknown)?;
        let kept = self.core.transact(|tx| {
            if tx.world.tasks.contains_key(&task.id) {
                return Ok(false);
            }
            tx.world.tasks.insert(task.id, task.clone());
            tx.announce(task.thread, TaskChange::Queued(Box::new(task.clone())));
            Ok(true)
        });
        match kept {
            Ok((true, _)) => Ok(task),
            Ok((false, _)) => Err(SetError::Changed),
            Err(error) => {
                // It is not in the world, so it must not be found at the next start.
                let _ = self.core.retract(Change::TaskDeleted(task.id)).await;
                Err(SetError::Unknown(error))
            }
        }
    }

    async fn set(&self, task: Task) -> std::result::Result<Task, SetError<Error>> {
        let waiting = self.core.inner.tasks.waiting();
        let set = self.core.transact_durably(|tx| {
            let Some(before) = tx.world.tasks.get(&task.id) else { return Ok(None) };
            if before.revision != task.revision {
                return Ok(None);
            }
            let (before, mut kept) = (before.state, task.clone());
            kept.revision += 1;
            tx.put_task(kept.clone());
            tx.ask_about_lost(before, &kept);
            if let Some(change) = change_between(before, &kept, waiting) {
                tx.announce(kept.thread, change);
            }
            Ok(Some(kept))
        });
        match set.await {
            Ok(Some(kept)) => {
                if kept.state.is_over() {
                    self.core.inner.tasks.state.lock().grants.remove(&kept.id);
                }
                Ok(kept)
            }
            Ok(None) => Err(SetError::Changed),
            Err(error) => Err(SetError::Unknown(error)),
        }
    }
}

/// What those who follow tasks hear of a change. That it is over they hear once, for nothing leads back.
fn change_between(before: TaskState, task: &Task, waiting: usize) -> Option<TaskChange> {
    let now = task.state;
    match now {
        _ if now == before => None,
        TaskState::Queued => Some(TaskChange::Queued(Box::new(task.clone()))),
        TaskState::Claimed => None,
        TaskState::Running => Some(TaskChange::Started(Box::new(task.clone()), waiting)),
        TaskState::Done | TaskState::Failed | TaskState::Cancelled | TaskState::Lost => {
            Some(TaskChange::Ended(Box::new(task.clone())))
        }
    }
}

impl Tx<'_> {
    /// A person decides about a task that is lost; once it is not, there is nothing to decide.
    fn ask_about_lost(&mut self, before: TaskState, task: &Task) {
        let related = Related::Task(task.id);
        if task.state != TaskState::Lost {
            if before == TaskState::Lost {
                self.resolve_related(related);
            }
            return;
        }
        let node = task.attempts.last().map_or(NODE, |attempt| attempt.node.as_str());
        let session = task.thread.map(session_of_thread);
        self.file_once(NewItem {
            session,
            related: Some(related),
            category: Category::Blocked,
            title: format!("Task lost on {node}"),
            subtitle: Some(format!("it may have run; `rookery task retry {}`", task.id)),
            source: Source::Report,
        });
    }

    /// Keeps a task as it is now, and lets go of the oldest ones that are over.
    fn put_task(&mut self, task: Task) {
        self.save(Change::TaskUpserted(Box::new(task.clone())));
        self.world.tasks.insert(task.id, task);
        while let Some(id) = self.world.tasks.surplus(MAX_OVER) {
            self.world.tasks.remove(&id);
            self.save(Change::TaskDeleted(id));
            self.resolve_related(Related::Task(id));
        }
    }
}

impl Queue for Tasks {
    type Error = Error;

    async fn publish(&self, task: &Task) -> Result<u64> {
        let number = self.core.inner.tasks.next_message();
        let message = Message { number, task: task.id };
        match task.spec.is_unasked {
            // A person waits for it.
            true => self.begin_at_once(message),
            false => self.core.inner.tasks.state.lock().waiting.push_back(message),
        }
        Ok(number)
    }

    async fn ack(&self, _message: Message) -> Result<()> {
        // It left the list when it was taken.
        Ok(())
    }

    async fn nak(&self, message: Message, after: Duration) -> Result<()> {
        if after.is_zero() {
            // Now, so that none that came later is put before it.
            self.put_back(message);
            return Ok(());
        }
        let core = self.core.detached();
        let again = async move {
            tokio::select! {
                () = tokio::time::sleep(after) => {}
                () = core.stopping() => return,
            }
            core.tasks().put_back(message);
        };
        self.core.inner.runtime.spawn(again);
        Ok(())
    }
}

impl Tasks {
    fn put_back(&self, message: Message) {
        self.core.inner.tasks.state.lock().put_back(message);
        self.hand_out();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::core_in;

    #[tokio::test]
    async fn what_was_only_prepared_keeps_its_place() {
        let home = tempfile::tempdir().unwrap();
        let core = core_in(home.path()).await;
        let tasks = core.tasks();
        let message = |number: u64| Message { number, task: TaskId::new(number.into()) };
        {
            let mut state = core.inner.tasks.state.lock();
            // As at the start, before anything is handed out.
            state.is_open = false;
            state.waiting = [3, 7].map(message).into();
        }
        for number in [2, 5, 1] {
            tasks.nak(message(number), Duration::ZERO).await.unwrap();
        }
        let state = core.inner.tasks.state.lock();
        let waiting: Vec<u64> = state.waiting.iter().map(|one| one.number).collect();
        assert_eq!(waiting, [1, 2, 3, 5, 7]);
    }
}
