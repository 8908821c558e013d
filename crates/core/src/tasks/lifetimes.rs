//! Tasks that end with something else: with their turn, or when their thread is archived or deleted.

use rookery_model::{Lifetime, Task, TaskId};

use super::view::TaskCancel;
use crate::log::Shows;
use crate::rooms::Tasks;
use crate::world::World;

impl Tasks {
    /// From now on, ends what outlives what it belongs to.
    pub(super) fn attend_lifetimes(&self) {
        let core = self.core.detached();
        let mut changes = self.core.log().changes(&[Shows::Threads, Shows::Tasks]);
        self.core.inner.runtime.spawn(async move {
            loop {
                core.tasks().end_outlived().await;
                if changes.next().await.is_err() {
                    return;
                }
            }
        });
    }

    async fn end_outlived(&self) {
        let outlived: Vec<(TaskId, &str)> = {
            let world = self.core.look();
            world
                .tasks
                .values()
                .filter_map(|task| Some((task.id, outlives(&world, task)?)))
                .collect()
        };
        for (id, reason) in outlived {
            let asked = TaskCancel { reason: Some(reason.to_owned()), by: "lifetime".to_owned() };
            if let Err(error) = self.cancel_anyway(id, asked).await {
                tracing::warn!(%error, task = %id, "a task outlives what it belongs to");
            }
        }
    }
}

/// Why a task has nothing to live for any more.
fn outlives(world: &World, task: &Task) -> Option<&'static str> {
    if task.state.is_over() {
        return None;
    }
    let thread = world.threads.get(&task.thread?);
    match task.lifetime {
        Lifetime::Server => None,
        Lifetime::Thread => {
            let is_there = thread.is_some_and(|state| !state.thread.archived);
            (!is_there).then_some("its thread was archived or deleted")
        }
        Lifetime::Turn => {
            let active = thread.and_then(|state| state.active.as_ref()).map(|active| active.turn);
            (active != task.turn).then_some("its turn is over")
        }
    }
}
