//! The course of one attempt: claimed, prepared, begun, run within its time, ended.

use std::sync::Arc;
use std::time::Duration;

use rookery_model::{LogStream, Task, TaskId, TaskLog, TaskResult, TaskState};
use rookery_tasks::Message;
use rookery_tasks::protocol::{self, TakeOutcome};
use rookery_tasks::rules::Ending;
use tokio_util::sync::CancellationToken;

use super::NODE;
use super::executors::{self, Job, Outcome};
use super::output::Output;
use super::room::Live;
use crate::clock;
use crate::rooms::Tasks;
use crate::workflows::ClientGrant;

/// How long an executor may take to end what is not wanted any more.
const STOP_LIMIT: Duration = Duration::from_secs(5);
/// How often an end is said that the records do not take.
const FINISH_TRIES: usize = 5;
/// The kind of failure of a task that ran out of time.
const DEADLINE: &str = "deadline_timeout";

impl Tasks {
    /// Hands out messages while there are free places.
    pub(super) fn hand_out(&self) {
        let room = &self.core.inner.tasks;
        loop {
            // The lock is not held while an attempt begins.
            let Some(message) = room.state.lock().take(room.limit) else { return };
            let core = self.core.detached();
            self.core.inner.runtime.spawn(async move {
                let _place = Place(core.tasks());
                core.tasks().attempt(message).await;
            });
        }
    }

    /// Begins what does not wait for a place.
    pub(super) fn begin_at_once(&self, message: Message) {
        let core = self.core.detached();
        self.core.inner.runtime.spawn(async move { core.tasks().attempt(message).await });
    }

    async fn attempt(&self, message: Message) {
        let taken = protocol::take(self, self, message, NODE, clock::wall()).await;
        let task = match taken {
            Ok(TakeOutcome::Claimed(task)) => task,
            Ok(TakeOutcome::Nothing | TakeOutcome::Mine(_) | TakeOutcome::Lost(_)) => return,
            Err(error) => {
                tracing::error!(%error, task = %message.task, "a task cannot be taken");
                return;
            }
        };
        // An earlier attempt may have written something.
        let earlier = match task.attempt_count {
            0 | 1 => TaskLog::default(),
            _ => TaskLog { offset: 0, ..self.stored_log(task.id).await },
        };
        let live = self.enter(&task, earlier);
        let ending = self.prepare_and_run(&task, &live).await;
        self.leave(message, &task, &live, ending).await;
    }

    /// Goes on with an attempt that the last daemon began, at the same epoch.
    pub(super) async fn resume(&self, message: Message, task: Task) {
        let log = self.stored_log(task.id).await;
        let live = self.enter(&task, log);
        let ending = self.run(&task, &live).await;
        self.leave(message, &task, &live, ending).await;
    }

    fn enter(&self, task: &Task, log: TaskLog) -> Live {
        let output = Arc::new(Output::new(self.core.clone(), task, log));
        let live = Live { epoch: task.epoch, stop: CancellationToken::new(), output };
        self.core.inner.tasks.state.lock().live.insert(task.id, live.clone());
        live
    }

    /// None if it is left to the next daemon, or in other hands.
    async fn prepare_and_run(&self, task: &Task, live: &Live) -> Option<Ending> {
        let Some(executor) = executors::find(&task.spec.executor) else {
            let error = format!("there is no executor {:?} any more", task.spec.executor);
            return Some(failed(error));
        };
        if let Err(error) = (executor.prepare)(self.core.clone(), task.clone()).await {
            return Some(failed(error.message().to_owned()));
        }
        match protocol::start(self, task, NODE, clock::wall()).await {
            Ok(Some(begun)) => self.run(&begun, live).await,
            Ok(None) => None,
            Err(error) => {
                tracing::error!(%error, task = %task.id, "that a task begins cannot be recorded");
                None
            }
        }
    }

    fn grant_of(&self, id: TaskId) -> ClientGrant {
        self.core.inner.tasks.state.lock().grants.get(&id).cloned().unwrap_or_default()
    }

    async fn run(&self, task: &Task, live: &Live) -> Option<Ending> {
        let executor = executors::find(&task.spec.executor)?;
        let stop = CancellationToken::new();
        let job = Job {
            core: self.core.clone(),
            task: task.clone(),
            output: Arc::clone(&live.output),
            stop: stop.clone(),
            grant: self.grant_of(task.id),
        };
        let mut work = (executor.run)(job);
        let is_late = tokio::select! {
            outcome = &mut work => return ending_of(outcome),
            () = live.stop.cancelled() => false,
            () = deadline_of(task) => true,
            // What lives on without us is found again; the rest is reported by the next daemon.
            () = self.core.stopping() => return None,
        };
        let partial = live.output.last_words();
        if is_late {
            let seconds = task.spec.timeout.unwrap_or_default().as_secs_f64();
            live.output.push(LogStream::Log, &format!("the task timed out after {seconds} s\n"));
        }
        stop.cancel();
        if tokio::time::timeout(STOP_LIMIT, &mut work).await.is_err() {
            tracing::warn!(task = %task.id, "a task that was stopped does not end");
        }
        is_late.then(|| {
            Ending::Failed(TaskResult {
                error: Some("the task ran out of time".to_owned()),
                error_kind: Some(DEADLINE.to_owned()),
                partial: Some(partial),
                ..TaskResult::default()
            })
        })
    }

    /// Records the end of an attempt; nothing is written after it.
    async fn leave(&self, message: Message, task: &Task, live: &Live, ending: Option<Ending>) {
        live.output.close();
        live.output.save().await;
        if let Some(ending) = ending
            && let Some(ended) = self.record_end(message, task, ending).await
        {
            self.settle(ended).await;
        }
        let mut state = self.core.inner.tasks.state.lock();
        if state.live.get(&task.id).is_some_and(|one| one.epoch == live.epoch) {
            state.live.remove(&task.id);
        }
    }

    /// Does what an executor has left to do for a task that is over.
    pub(super) async fn settle(&self, task: Task) {
        if let Some(executor) = executors::find(&task.spec.executor)
            && task.state.is_over()
        {
            (executor.settle)(self.core.clone(), task).await;
        }
    }

    /// The task as it is recorded; none if it is in other hands, or cannot be recorded.
    async fn record_end(&self, message: Message, task: &Task, ending: Ending) -> Option<Task> {
        let mine = (NODE, task.epoch);
        for _ in 0..FINISH_TRIES {
            let (ending, now) = (ending.clone(), clock::wall());
            match protocol::finish(self, self, message, mine, ending, now).await {
                // None if it was cancelled meanwhile.
                Ok(ended) => return ended,
                Err(error) => {
                    tracing::warn!(%error, task = %task.id, "the end of a task is not recorded yet");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        }
        tracing::error!(task = %task.id, "the end of a task cannot be recorded; the next start reports it");
        None
    }
}

/// A place among those that run, given back with this.
struct Place(Tasks);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.core.inner.tasks.state.lock().taken -= 1;
        self.0.hand_out();
    }
}

/// Resolves when a task has run for as long as it may.
async fn deadline_of(task: &Task) {
    let Some(limit) = task.spec.timeout else { return std::future::pending().await };
    let begun = task.started_at.unwrap_or(task.created_at).as_micros();
    let ran = clock::wall().as_micros().saturating_sub(begun).max(0).unsigned_abs();
    tokio::time::sleep(limit.saturating_sub(Duration::from_micros(ran))).await;
}

fn ending_of(outcome: Outcome) -> Option<Ending> {
    match outcome {
        Outcome::Done(result) => Some(Ending::Done(result)),
        Outcome::Failed(result) => Some(Ending::Failed(result)),
        Outcome::Left => None,
    }
}

pub(super) fn failed(error: String) -> Ending {
    Ending::Failed(TaskResult { error: Some(error), ..TaskResult::default() })
}

/// Whether an attempt of the last daemon may still be at work.
pub(super) fn has_begun(task: &Task) -> bool {
    task.state == TaskState::Running
}
