//! What tasks are kept in, and what brings them to nodes.

use std::time::Duration;

use rookery_model::{Task, TaskId};

/// Why a record was not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError<E> {
    /// It is another one meanwhile.
    #[error("the record has changed meanwhile")]
    Changed,
    /// It may have been set or not: the answer was lost.
    #[error("{0}")]
    Unknown(E),
}

/// The records of tasks. A record's `revision` is what compare-and-set compares.
pub trait Records: Sync {
    /// What can go wrong.
    type Error: Send;

    /// The record as it is now.
    fn read(&self, id: TaskId) -> impl Future<Output = Result<Option<Task>, Self::Error>> + Send;

    /// Keeps a record that was not there before. Durable when it returns.
    fn create(
        &self,
        task: Task,
    ) -> impl Future<Output = Result<Task, SetError<Self::Error>>> + Send;

    /// Replaces the record whose revision is that of `task`; gives it with its new revision. Durable
    /// when it returns.
    fn set(&self, task: Task) -> impl Future<Output = Result<Task, SetError<Self::Error>>> + Send;
}

/// A message that brings a task to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its number, which no other message ever has.
    pub number: u64,
    pub task: TaskId,
}

/// What brings tasks to nodes: every message at least once, to one node at a time as far as leases hold.
pub trait Queue: Sync {
    /// What can go wrong.
    type Error: Send;

    /// Publishes a task; gives the number of its message.
    fn publish(&self, task: &Task) -> impl Future<Output = Result<u64, Self::Error>> + Send;

    /// The message is done with.
    fn ack(&self, message: Message) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// The message is to come again, after this long.
    fn nak(
        &self,
        message: Message,
        after: Duration,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}
