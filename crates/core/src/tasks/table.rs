//! Tasks, and which of them are over, so that no transaction goes through all that ever ran.

use std::ops::Deref;

use imbl::OrdSet;
use rookery_model::{Task, TaskId, Timestamp};

use crate::world::Table;

/// All tasks.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskTable {
    all: Table<TaskId, Task>,
    /// Those that are over, by their end.
    over: OrdSet<(Option<Timestamp>, TaskId)>,
}

impl TaskTable {
    /// Puts a task in; gives the one with the same id that was there before.
    pub(crate) fn insert(&mut self, id: TaskId, task: Task) -> Option<Task> {
        let before = self.remove(&id);
        if task.state.is_over() {
            self.over.insert((task.ended_at, id));
        }
        self.all.insert(id, task);
        before
    }

    pub(crate) fn remove(&mut self, id: &TaskId) -> Option<Task> {
        let task = self.all.remove(id)?;
        self.over.remove(&(task.ended_at, *id));
        Some(task)
    }

    /// How many wait or run.
    pub(super) fn open(&self) -> usize {
        self.all.len() - self.over.len()
    }

    /// The one that ended first, if more than this number are over.
    pub(super) fn surplus(&self, keep: usize) -> Option<TaskId> {
        let (_, id) = self.over.get_min()?;
        (self.over.len() > keep).then_some(*id)
    }
}

impl Deref for TaskTable {
    type Target = Table<TaskId, Task>;

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl FromIterator<(TaskId, Task)> for TaskTable {
    fn from_iter<I: IntoIterator<Item = (TaskId, Task)>>(pairs: I) -> Self {
        let mut table = TaskTable::default();
        pairs.into_iter().for_each(|(id, task)| drop(table.insert(id, task)));
        table
    }
}

#[cfg(test)]
mod tests {
    use rookery_model::TaskState;

    use super::*;
    use crate::world::tests::samples;

    fn task(id: u128, state: TaskState, end: Option<i64>) -> (TaskId, Task) {
        let mut task = samples::task(0);
        task.id = TaskId::new(id);
        task.state = state;
        task.ended_at = end.map(Timestamp::from_micros);
        (task.id, task)
    }

    #[test]
    fn the_one_that_ended_first_goes_first() {
        let mut tasks: TaskTable = [
            task(1, TaskState::Done, Some(30)),
            task(2, TaskState::Failed, Some(10)),
            task(3, TaskState::Running, None),
            task(4, TaskState::Cancelled, Some(20)),
        ]
        .into_iter()
        .collect();
        assert_eq!((tasks.len(), tasks.open()), (4, 1));
        assert_eq!(tasks.surplus(3), None);
        assert_eq!(tasks.surplus(2), Some(TaskId::new(2)));
        tasks.remove(&TaskId::new(2));
        assert_eq!((tasks.surplus(2), tasks.surplus(1)), (None, Some(TaskId::new(4))));
        let (id, again) = task(4, TaskState::Queued, None);
        tasks.insert(id, again);
        assert_eq!((tasks.open(), tasks.surplus(0)), (2, Some(TaskId::new(1))));
    }
}
