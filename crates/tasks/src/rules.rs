//! What may follow from what. Every function takes the record as it was read and gives the record that
//! is to take its place; whoever sets it must find the same revision still there.

use std::time::Duration;

use rookery_model::{Attempt, Cancel, Fate, Holder, Lost, Task, TaskResult, TaskState, Timestamp};

/// The newest attempts that a record keeps.
pub const MAX_ATTEMPTS: usize = 16;
/// A record without a message is not looked at before it is this old.
const SWEPT_AFTER: Duration = Duration::from_secs(60);

/// The kind of failure of a task whose node is lost.
const NODE_LOST: &str = "node_lost";

/// What becomes of the message once the record is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageOutcome {
    /// It is done with.
    Ack,
    /// It comes again after this long.
    Again(Duration),
}

/// What a node makes of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Another message has taken its place, or the task is over: it is done with.
    Drop,
    /// The node holds the task already and goes on at the same epoch.
    Mine,
    /// Set this, and the node holds the task.
    Take(Box<Task>),
    /// The node that ran it is lost: set this, and then that.
    Lose(Box<Task>, MessageOutcome),
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It came to its end, whatever its exit code is.
    Done(TaskResult),
    Failed(TaskResult),
    /// It was ended because the task is cancelled.
    Cancelled,
}

/// What a cancel changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cancelling {
    /// Nothing: it was over.
    Over,
    /// Set this, and it is cancelled. If it ran, its holder ends it.
    Ends(Box<Task>),
    /// Set this; its holder, another node, ends it.
    Asks(Box<Task>),
}

/// The record is not this attempt's any more: another node has it, or it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another executor holds the task")]
pub struct Fenced;

/// Whether a task is done again elsewhere when its node is lost.
#[must_use]
pub fn may_move(task: &Task) -> bool {
    task.retry.on_lost && has_attempts_left(task)
}

fn has_attempts_left(task: &Task) -> bool {
    task.attempt_count <= u64::from(task.retry.max)
}

/// Whether a node holds a task at an epoch.
#[must_use]
pub fn holds(task: &Task, node: &str, epoch: u64) -> bool {
    let is_held = matches!(task.state, TaskState::Claimed | TaskState::Running);
    let is_node = task.holder.as_ref().is_some_and(|holder| holder.node == node);
    is_held && is_node && task.epoch == epoch
}

/// What a node makes of a message that was brought to it.
#[must_use]
pub fn deliver(task: &Task, message: u64, node: &str, now: Timestamp) -> Delivery {
    if task.state.is_over() || (task.message != 0 && task.message != message) {
        return Delivery::Drop;
    }
    match task.state {
        TaskState::Claimed | TaskState::Running if holds(task, node, task.epoch) => Delivery::Mine,
        TaskState::Running => {
            let (next, then) = lose(task, node_lost(), now);
            Delivery::Lose(Box::new(next), then)
        }
        TaskState::Queued | TaskState::Claimed => Delivery::Take(Box::new(claim(task, node, now))),
        TaskState::Done | TaskState::Failed | TaskState::Cancelled | TaskState::Lost => {
            Delivery::Drop
        }
    }
}

/// What a task that is lost for good says of itself.
#[must_use]
pub fn node_lost() -> TaskResult {
    TaskResult {
        error: Some("the node that ran it was lost".to_owned()),
        error_kind: Some(NODE_LOST.to_owned()),
        ..TaskResult::default()
    }
}

fn claim(task: &Task, node: &str, now: Timestamp) -> Task {
    let mut next = task.clone();
    // Of an attempt that only prepared nothing has happened.
    close_attempt(&mut next, Fate::Released, now);
    next.state = TaskState::Claimed;
    next.epoch += 1;
    next.holder = Some(Holder { node: node.to_owned(), since: now });
    next.attempt_count += 1;
    next.attempts.push(Attempt {
        epoch: next.epoch,
        node: node.to_owned(),
        from: now,
        to: None,
        fate: Fate::Running,
    });
    let surplus = next.attempts.len().saturating_sub(MAX_ATTEMPTS);
    next.attempts.drain(..surplus);
    next
}

fn close_attempt(task: &mut Task, fate: Fate, now: Timestamp) {
    if let Some(attempt) = task.attempts.last_mut().filter(|one| one.fate == Fate::Running) {
        attempt.fate = fate;
        // When an attempt ended that no one has seen is not known.
        attempt.to = (fate != Fate::Unknown).then_some(now);
    }
    task.holder = None;
}

fn end(task: &mut Task, state: TaskState, result: Option<TaskResult>, now: Timestamp) {
    task.state = state;
    task.result = result;
    task.ended_at = Some(now);
    task.holder = None;
}

/// Immediately before the first effect.
///
/// # Errors
/// If the node does not hold it at this epoch, or began before.
pub fn start(task: &Task, node: &str, epoch: u64, now: Timestamp) -> Result<Task, Fenced> {
    if task.state != TaskState::Claimed || !holds(task, node, epoch) {
        return Err(Fenced);
    }
    let mut next = task.clone();
    next.state = TaskState::Running;
    next.started_at = Some(now);
    Ok(next)
}

/// An attempt ended.
///
/// # Errors
/// If the node does not hold it at this epoch: what it did is superseded.
pub fn finish(
    task: &Task,
    node: &str,
    epoch: u64,
    ending: Ending,
    now: Timestamp,
) -> Result<(Task, MessageOutcome), Fenced> {
    if !holds(task, node, epoch) {
        return Err(Fenced);
    }
    let mut next = task.clone();
    let ending = if next.cancel.is_some() { Ending::Cancelled } else { ending };
    match ending {
        Ending::Done(result) => {
            close_attempt(&mut next, Fate::Done, now);
            end(&mut next, TaskState::Done, Some(result), now);
        }
        Ending::Cancelled => {
            close_attempt(&mut next, Fate::Cancelled, now);
            end(&mut next, TaskState::Cancelled, None, now);
        }
        Ending::Failed(_) if next.retry.on_failed && has_attempts_left(&next) => {
            close_attempt(&mut next, Fate::Failed, now);
            next.state = TaskState::Queued;
            let then = MessageOutcome::Again(next.retry.backoff);
            return Ok((next, then));
        }
        Ending::Failed(result) => {
            close_attempt(&mut next, Fate::Failed, now);
            end(&mut next, TaskState::Failed, Some(result), now);
        }
    }
    Ok((next, MessageOutcome::Ack))
}

/// The node that ran it is lost, so that it may have had its effect.
#[must_use]
pub fn lose(task: &Task, failure: TaskResult, now: Timestamp) -> (Task, MessageOutcome) {
    let mut next = task.clone();
    close_attempt(&mut next, Fate::Unknown, now);
    next.maybe_twice = true;
    if next.cancel.is_some() {
        end(&mut next, TaskState::Cancelled, None, now);
    } else if may_move(&next) {
        next.state = TaskState::Queued;
        let then = MessageOutcome::Again(next.retry.backoff);
        return (next, then);
    } else {
        let mut failure = failure;
        let state = match next.lost {
            Lost::Hold => TaskState::Lost,
            Lost::Fail => TaskState::Failed,
        };
        if state == TaskState::Lost {
            failure.error_kind.get_or_insert_with(|| NODE_LOST.to_owned());
        }
        end(&mut next, state, Some(failure), now);
    }
    (next, MessageOutcome::Ack)
}

/// The node gives back what it only prepared.
///
/// # Errors
/// If it does not hold it at this epoch, or has begun.
pub fn release(task: &Task, node: &str, epoch: u64, now: Timestamp) -> Result<Task, Fenced> {
    if task.state != TaskState::Claimed || !holds(task, node, epoch) {
        return Err(Fenced);
    }
    let mut next = task.clone();
    close_attempt(&mut next, Fate::Released, now);
    next.state = TaskState::Queued;
    Ok(next)
}

/// A task is to be cancelled, by a caller on the node `node`.
#[must_use]
pub fn cancel(task: &Task, cancel: Cancel, node: &str, now: Timestamp) -> Cancelling {
    if task.state.is_over() {
        return Cancelling::Over;
    }
    let mut next = task.clone();
    next.cancel.get_or_insert(cancel);
    // One that runs is ended by its holder; if that is this node, it says so at once.
    if task.state == TaskState::Running && !holds(task, node, task.epoch) {
        return match task.cancel {
            Some(_) => Cancelling::Over,
            None => Cancelling::Asks(Box::new(next)),
        };
    }
    let fate = if task.state == TaskState::Running { Fate::Cancelled } else { Fate::Released };
    close_attempt(&mut next, fate, now);
    end(&mut next, TaskState::Cancelled, None, now);
    Cancelling::Ends(Box::new(next))
}

/// A person wants a lost task done again; none if it is not lost.
#[must_use]
pub fn retry(task: &Task) -> Option<Task> {
    let mut next = (task.state == TaskState::Lost).then(|| task.clone())?;
    next.state = TaskState::Queued;
    (next.result, next.ended_at) = (None, None);
    // A new message brings it to nodes.
    next.message = 0;
    Some(next)
}

/// Whether a task has to be published again, since no message brings it to a node any more.
#[must_use]
pub fn is_stranded(task: &Task, has_message: bool, is_holder_seen: bool, now: Timestamp) -> bool {
    let age = now.as_micros().saturating_sub(task.created_at.as_micros()).max(0).unsigned_abs();
    let is_old = Duration::from_micros(age) > SWEPT_AFTER;
    is_old && !task.state.is_over() && !has_message && !is_holder_seen
}

#[cfg(test)]
pub(crate) mod tests;
