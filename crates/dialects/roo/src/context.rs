//! What commands work with: the world on behalf of one client, and its place in the hub.

use std::sync::Arc;

use rookery_core::Core;
use rookery_model::{Thread, ThreadId};

use crate::errors::Failure;
use crate::hub::Hub;
use crate::listener::Listener;

/// The name under which answers of this dialect are recorded.
pub(crate) const BY: &str = "roo";

/// The context of one connection. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Cx {
    pub(crate) core: Core,
    pub(crate) hub: Hub,
    pub(crate) listener: Arc<Listener>,
    /// The connection, as the hub knows it.
    pub(crate) route: u64,
}

impl Cx {
    /// The task of this id.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn task(&self, text: &str) -> Result<ThreadId, Failure> {
        let id: Option<ThreadId> = text.parse().ok();
        // Ids are exact: another spelling of the same number is another id.
        let id = id.filter(|id| id.to_string() == text);
        id.filter(|id| self.core.threads().get(*id).is_some()).ok_or_else(|| Failure::no_task(text))
    }

    /// The same for a thread that is a task already.
    pub(crate) fn assigned(&self, text: &str) -> Result<ThreadId, Failure> {
        let id = self.task(text)?;
        match self.core.threads().is_assigned(id) {
            true => Ok(id),
            false => Err(no_task_yet(id)),
        }
    }

    /// The task of this id, or the current one.
    pub(crate) fn task_or_current(&self, text: Option<&str>) -> Result<Option<ThreadId>, Failure> {
        match text {
            Some(text) => self.task(text).map(Some),
            None => Ok(self.hub.current(self.route)),
        }
    }

    /// A task that is open.
    pub(crate) fn open(&self, id: ThreadId) -> Result<Thread, Failure> {
        let thread = self.core.threads().get(id).map(|seen| seen.thread);
        let thread = thread.ok_or_else(|| Failure::no_task(&id.to_string()))?;
        if thread.assignment.is_none() {
            return Err(no_task_yet(id));
        }
        if thread.archived {
            let mut failure = Failure::no_task(&id.to_string());
            failure.message = format!("task {id} was closed: bring it back with ResumeTask");
            return Err(failure);
        }
        Ok(thread)
    }
}

fn no_task_yet(id: ThreadId) -> Failure {
    let message = format!("thread {id} is not a task: make it one with ResumeTask");
    Failure { message, ..Failure::no_task(&id.to_string()) }
}
