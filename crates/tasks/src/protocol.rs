//! The rules carried out over records and a queue, by nodes that may die between any two steps and
//! whose answers may be lost. A change that was beaten by another is worked out anew from what is there.

use rookery_model::{Cancel, Task, TaskId, TaskResult, Timestamp};

use crate::backend::{Message, Queue, Records, SetError};
use crate::rules::{self, Cancelling, Delivery, Ending, MessageOutcome};

/// How often a set is repeated whose answer was lost.
const TRIES: usize = 3;

/// What came of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakeOutcome {
    /// Nothing for this node.
    Nothing,
    /// The node holds the task now, and prepares it.
    Claimed(Box<Task>),
    /// The node held it before, at the same epoch: it goes on, or says that it is lost.
    Mine(Box<Task>),
    /// The node that ran it is lost; this is what became of it.
    Lost(Box<Task>),
}

/// What came of a cancel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// There is no such task.
    Unknown,
    Over,
    /// It is cancelled; before, it was this.
    Ended(Box<Task>),
    /// Its holder, another node, is asked to end it.
    Asked,
}

/// Counts sets whose answers were lost.
struct Tries(usize);

impl Tries {
    /// Another look is worth it, unless answers keep getting lost.
    fn after<E>(&mut self, error: SetError<E>) -> Result<(), E> {
        match error {
            // Another change has gone through, so this is not for ever.
            SetError::Changed => Ok(()),
            SetError::Unknown(error) => {
                self.0 += 1;
                if self.0 < TRIES { Ok(()) } else { Err(error) }
            }
        }
    }
}

/// Submits a task: recorded, then published, then its message noted. Safe to repeat after any failure;
/// a task that is there already is given back as it is.
///
/// # Errors
/// What the records or the queue say. Repeat it then.
pub async fn submit<E, R, Q>(records: &R, queue: &Q, task: Task) -> Result<Task, E>
where
    E: Send,
    R: Records<Error = E>,
    Q: Queue<Error = E>,
{
    let mut tries = Tries(0);
    let kept = loop {
        match records.create(task.clone()).await {
            Ok(kept) => break kept,
            Err(error) => {
                tries.after(error)?;
                if let Some(there) = records.read(task.id).await? {
                    break there;
                }
            }
        }
    };
    if kept.message != 0 || kept.state.is_over() {
        return Ok(kept);
    }
    publish(records, queue, kept).await
}

/// Publishes a task and notes its message, unless it is over meanwhile.
///
/// # Errors
/// What the records or the queue say. Repeat it then.
pub async fn publish<E, R, Q>(records: &R, queue: &Q, task: Task) -> Result<Task, E>
where
    E: Send,
    R: Records<Error = E>,
    Q: Queue<Error = E>,
{
    let before = task.message;
    let number = queue.publish(&task).await?;
    let (mut now, mut tries) = (task, Tries(0));
    loop {
        // Another's message may have been noted meanwhile; then ours is the one too many.
        if now.state.is_over() || now.message != before {
            return Ok(now);
        }
        match records.set(Task { message: number, ..now.clone() }).await {
            Ok(set) => return Ok(set),
            Err(error) => {
                tries.after(error)?;
                let Some(read) = records.read(now.id).await? else { return Ok(now) };
                now = read;
            }
        }
    }
}

/// Takes what a message brings.
///
/// # Errors
/// What the records say. The message is left alone then, and comes again.
pub async fn take<E, R, Q>(
    records: &R,
    queue: &Q,
    message: Message,
    node: &str,
    now: Timestamp,
) -> Result<TakeOutcome, E>
where
    E: Send,
    R: Records<Error = E>,
    Q: Queue<Error = E>,
{
    let (mut tries, mut claimed) = (Tries(0), None);
    loop {
        let Some(task) = records.read(message.task).await? else {
            settle(queue, message, MessageOutcome::Ack).await;
            return Ok(TakeOutcome::Nothing);
        };
        let (next, then) = match rules::deliver(&task, message.number, node, now) {
            Delivery::Drop => {
                settle(queue, message, MessageOutcome::Ack).await;
                return Ok(TakeOutcome::Nothing);
            }
            // The answer to our own claim was lost, or we held it before.
            Delivery::Mine if claimed == Some(task.epoch) => {
                return Ok(TakeOutcome::Claimed(task.into()));
            }
            Delivery::Mine => return Ok(TakeOutcome::Mine(task.into())),
            Delivery::Take(next) => (next, None),
            Delivery::Lose(next, then) => (next, Some(then)),
        };
        if then.is_none() {
            claimed = Some(next.epoch);
        }
        match (records.set(*next).await, then) {
            (Ok(set), None) => return Ok(TakeOutcome::Claimed(set.into())),
            (Ok(set), Some(then)) => {
                settle(queue, message, then).await;
                return Ok(TakeOutcome::Lost(set.into()));
            }
            (Err(error), _) => tries.after(error)?,
        }
    }
}

/// Says that a task begins, immediately before its first effect. None if it is in other hands.
///
/// # Errors
/// What the records say. Nothing may be begun then.
pub async fn start<E, R>(
    records: &R,
    held: &Task,
    node: &str,
    now: Timestamp,
) -> Result<Option<Task>, E>
where
    E: Send,
    R: Records<Error = E>,
{
    let (mut task, mut tries, mut is_tried) = (held.clone(), Tries(0), false);
    loop {
        let Ok(next) = rules::start(&task, node, held.epoch, now) else {
            // The answer to our own set was lost.
            let is_begun = is_tried && rules::holds(&task, node, held.epoch);
            return Ok(is_begun.then_some(task));
        };
        is_tried = true;
        match records.set(next).await {
            Ok(set) => return Ok(Some(set)),
            Err(error) => {
                tries.after(error)?;
                let Some(read) = records.read(held.id).await? else { return Ok(None) };
                task = read;
            }
        }
    }
}

/// Records the end of an attempt, then acknowledges or requeues its message. None if another node owns the task;
/// nothing is recorded then.
///
/// # Errors
/// What the records say. Repeat it then.
pub async fn finish<E, R, Q>(
    records: &R,
    queue: &Q,
    message: Message,
    (node, epoch): (&str, u64),
    ending: Ending,
    now: Timestamp,
) -> Result<Option<Task>, E>
where
    E: Send,
    R: Records<Error = E>,
    Q: Queue<Error = E>,
{
    leave(records, queue, message, |task| {
        rules::finish(task, node, epoch, ending.clone(), now).ok()
    })
    .await
}

/// Says that an attempt of this node was lost, such as by a restart that its process did not survive.
/// None if it is in other hands.
///
/// # Errors
/// What the records say. Repeat it then.
pub async fn lose<E, R, Q>(
    records: &R,
    queue: &Q,
    message: Message,
    (node, epoch): (&str, u64),
    failure: TaskResult,
    now: Timestamp,
) -> Result<Option<Task>, E>
where
    E: Send,
    R: Records<Error = E>,
    Q: Queue<Error = E>,
{
    leave(records, queue, message, |task| {
        let is_ours = rules::holds(task, node, epoch);
        is_ours.then(|| rules::lose(task, failure.clone(), now))
    })
    .await
}

/// Gives back a task that was only prepared. None if it is in other hands, or has begun.
///
/// # Errors
/// What the records say. Repeat it then.
pub async fn release<E, R, Q>(
    records: &R,
    queue: &Q,
    message: Message,
    (node, epoch): (&str, u64),
    now: Timestamp,
) -> Result<Option<Task>, E>
where
    E: Send,
    R: Records<Error = E>,
    Q: Queue<Error = E>,
{
    leave(records, queue, message, |task| {
        let next = rules::release(task, node, epoch, now).ok()?;
        Some((next, MessageOutcome::Again(std::time::Duration::ZERO)))
    })
    .await
}

/// Lets go of a task by a change that is fenced by its epoch.
async fn leave<E, R, Q>(
    records: &R,
    queue: &Q,
    message: Message,
    change: impl Fn(&Task) -> Option<(Task, MessageOutcome)> + Send + Sync,
) -> Result<Option<Task>, E>
where
    E: Send,
    R: Records<Error = E>,
    Q: Queue<Error = E>,
{
    let (mut tries, mut tried) = (Tries(0), None::<(Task, MessageOutcome)>);
    loop {
        let Some(task) = records.read(message.task).await? else { return Ok(None) };
        let Some((next, then)) = change(&task) else {
            // Fenced off, unless the record shows that the set whose answer was lost had gone through.
            let done = tried.filter(|(wanted, _)| shows(&task, wanted));
            if let Some((_, then)) = done {
                settle(queue, message, then).await;
                return Ok(Some(task));
            }
            return Ok(None);
        };
        tried = Some((next.clone(), then));
        match records.set(next).await {
            Ok(set) => {
                settle(queue, message, then).await;
                return Ok(Some(set));
            }
            Err(error) => tries.after(error)?,
        }
    }
}

/// Whether a record shows that this change went through, whatever came after it.
fn shows(task: &Task, wanted: &Task) -> bool {
    let fate = wanted.attempts.last().map(|attempt| (attempt.epoch, attempt.fate));
    let has =
        |(epoch, fate)| task.attempts.iter().any(|one| one.epoch == epoch && one.fate == fate);
    fate.is_some_and(has)
}

/// Cancels a task, for a caller on this node.
///
/// # Errors
/// What the records say. It may be cancelled or not then; repeat it.
pub async fn cancel<E, R>(
    records: &R,
    id: TaskId,
    asked: Cancel,
    node: &str,
    now: Timestamp,
) -> Result<Cancelled, E>
where
    E: Send,
    R: Records<Error = E>,
{
    let (mut tries, mut is_tried) = (Tries(0), None::<Task>);
    loop {
        let Some(task) = records.read(id).await? else { return Ok(Cancelled::Unknown) };
        let (next, done) = match rules::cancel(&task, asked.clone(), node, now) {
            Cancelling::Over => {
                // The answer to our own set was lost.
                let ours = is_tried.filter(|_| task.cancel.as_ref() == Some(&asked));
                return Ok(match ours {
                    Some(before) if task.state.is_over() => Cancelled::Ended(before.into()),
                    Some(_) => Cancelled::Asked,
                    None => Cancelled::Over,
                });
            }
            Cancelling::Ends(next) => (next, true),
            Cancelling::Asks(next) => (next, false),
        };
        is_tried = Some(task.clone());
        match records.set(*next).await {
            Ok(_) if done => return Ok(Cancelled::Ended(task.into())),
            Ok(_) => return Ok(Cancelled::Asked),
            Err(error) => tries.after(error)?,
        }
    }
}

/// What becomes of a message. One whose answer is lost comes again and is dropped then, so that is no
/// failure.
async fn settle<Q: Queue>(queue: &Q, message: Message, then: MessageOutcome) {
    let _ = match then {
        MessageOutcome::Ack => queue.ack(message).await,
        MessageOutcome::Again(after) => queue.nak(message, after).await,
    };
}

#[cfg(test)]
mod simulation;
