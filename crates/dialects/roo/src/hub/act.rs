//! What clients do with tasks, as far as it concerns events.

use std::path::Path;
use std::sync::Arc;

use rookery_core::{NewTurn, ThreadQuery};
use rookery_model::{Question, RequestId, Result, ThreadId};
use tokio::sync::oneshot;

use super::routes::Ownership;
use super::{Hub, Inner, Known};
use crate::project::{About, Boundary, Task};
use crate::wire::{ClineMessage, TokenUsage};

/// How many threads are looked at to find the one that was last worked with.
const RECENT: usize = 64;

/// What became of an answer to a question.
pub(crate) enum Answered {
    /// Others are asked; all answers are not there yet.
    Partly,
    /// All answers are there: JSON text.
    Wholly(String),
    /// No question waits.
    NoQuestion,
}

impl Inner {
    /// Reads a thread as a task, unless it is known as one.
    pub(super) async fn load(&self, id: ThreadId) -> Result<()> {
        if matches!(self.state.lock().tasks.get(&id), Some(Known::Task(_))) {
            return Ok(());
        }
        let seen = self.core.threads().read(id).await?;
        let requests = self.core.requests().list().into_iter();
        let pending: Vec<_> = requests.filter(|request| request.thread() == Some(id)).collect();
        let now = self.clock.now();
        let mut task = Task::new(About::of(&seen.thread));
        task.replay(seen.turns.as_deref().unwrap_or_default(), &pending, now);
        let lead = seen.thread.assignment.as_deref().and_then(|it| it.lead);
        let mut state = self.state.lock();
        if !matches!(state.tasks.get(&id), Some(Known::Task(_))) {
            state.insert(id, task, lead, now);
        }
        Ok(())
    }

    /// Asks the provider of a task again.
    pub(super) async fn retry(self: Arc<Self>, id: ThreadId) {
        let turn = NewTurn { is_continued: true, must_be_new: true, ..NewTurn::default() };
        if let Err(error) = self.core.threads().start_turn(id, turn).await {
            tracing::debug!(%error, "a task was not tried again");
        }
    }
}

impl Hub {
    /// A connection starts or resumes a task: from now on it hears of its own. Gives what was before.
    pub(crate) fn own(&self, route: u64, task: ThreadId) -> Ownership {
        let mut state = self.inner.state.lock();
        state.routes.get_mut(&route).map(|route| route.own(task)).unwrap_or_default()
    }

    /// The task that a connection last started or resumed, if it is not closed.
    pub(crate) fn own_current(&self, route: u64) -> Option<ThreadId> {
        self.inner.state.lock().routes.get(&route)?.current
    }

    /// The task that a connection works with: its own last one, else the one of its workspace that was
    /// last looked at.
    pub(crate) fn current(&self, route: u64) -> Option<ThreadId> {
        let (workspace, focus) = {
            let state = self.inner.state.lock();
            let route = state.routes.get(&route)?;
            if let Some(current) = route.current {
                return Some(state.working_for(current));
            }
            (route.listener.workspace.clone(), state.focus.clone())
        };
        let is_open = |id: &ThreadId| self.is_open_in(*id, &workspace);
        focus.iter().rev().copied().find(is_open).or_else(|| self.latest_in(&workspace))
    }

    fn is_open_in(&self, id: ThreadId, workspace: &Path) -> bool {
        let seen = self.inner.core.threads().get(id);
        seen.is_some_and(|seen| {
            let thread = &seen.thread;
            thread.assignment.is_some() && !thread.archived && thread.cwd.starts_with(workspace)
        })
    }

    fn latest_in(&self, workspace: &Path) -> Option<ThreadId> {
        let query = ThreadQuery { limit: RECENT, ..ThreadQuery::default() };
        let page = self.inner.core.threads().list(&query);
        page.threads.iter().map(|seen| seen.thread.id).find(|id| self.is_open_in(*id, workspace))
    }

    /// Resolves when a thread that was started is announced.
    pub(crate) fn expect(&self, id: ThreadId) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.inner.state.lock().expected.entry(id).or_default().push(sender);
        receiver
    }

    /// A thread that was expected will not come: its connection hears of what it heard of before.
    pub(crate) fn give_up(&self, route: u64, id: ThreadId, before: Ownership) {
        let mut state = self.inner.state.lock();
        state.expected.remove(&id);
        if let Some(route) = state.routes.get_mut(&route) {
            route.disown(id, before);
        }
    }

    /// The tasks from the one that the others work for to the one that works now.
    pub(crate) fn stack(&self, route: u64) -> Vec<String> {
        let Some(current) = self.current(route) else { return Vec::new() };
        let mut stack = vec![current];
        // A task cannot work for itself, and what works for it is bounded.
        while let Some(last) = stack.last().copied() {
            let thread = self.inner.core.threads().get(last).map(|seen| seen.thread);
            let lead = thread.and_then(|thread| thread.assignment?.lead);
            match lead.filter(|lead| !stack.contains(lead)) {
                Some(lead) => stack.push(lead),
                None => break,
            }
        }
        stack.iter().rev().map(ToString::to_string).collect()
    }

    /// Where a task waits between its turns.
    pub(crate) async fn boundary(&self, id: ThreadId) -> Result<Option<Boundary>> {
        self.with(id, Task::boundary).await
    }

    /// A task that waits to ask its provider again does not.
    pub(crate) async fn stop_retrying(&self, id: ThreadId) -> Result<()> {
        self.inner.load(id).await?;
        let now = self.now();
        let mut state = self.inner.state.lock();
        if let Some(entry) = state.task_mut(id) {
            entry.task.stop_retrying(now);
        }
        state.flush(id);
        drop(state);
        self.inner.changed.notify_one();
        Ok(())
    }

    /// Tells that a connection came back to a task.
    pub(crate) async fn resume(&self, id: ThreadId) -> Result<()> {
        self.inner.load(id).await?;
        let is_running =
            self.inner.core.threads().get(id).is_some_and(|it| it.status.active_turn.is_some());
        let now = self.now();
        let mut state = self.inner.state.lock();
        if let Some(entry) = state.task_mut(id) {
            entry.used = now;
            entry.task.resume(is_running, now);
        }
        state.focus(id);
        state.flush(id);
        drop(state);
        self.inner.changed.notify_one();
        Ok(())
    }

    /// Tells that a task was closed.
    pub(crate) async fn close(&self, id: ThreadId) -> Result<()> {
        self.inner.load(id).await?;
        let now = self.now();
        let mut state = self.inner.state.lock();
        if let Some(entry) = state.task_mut(id) {
            entry.task.close(now);
        }
        state.focus.retain(|other| *other != id);
        state.flush(id);
        for route in state.routes.values_mut() {
            route.drop_current(id);
        }
        Ok(())
    }

    /// The messages of a task.
    pub(crate) async fn messages(&self, id: ThreadId) -> Result<Vec<ClineMessage>> {
        self.with(id, |task| task.messages().to_vec()).await
    }

    /// The tokens of a task.
    pub(crate) async fn usage(&self, id: ThreadId) -> Result<TokenUsage> {
        self.with(id, Task::usage).await
    }

    async fn with<T>(&self, id: ThreadId, look: impl FnOnce(&Task) -> T) -> Result<T> {
        self.inner.load(id).await?;
        let mut state = self.inner.state.lock();
        match state.task_mut(id) {
            Some(entry) => Ok(look(&entry.task)),
            None => Err(rookery_model::Error::not_found(format!("there is no task {id}"))),
        }
    }

    /// Takes an answer to the question of a request that waits; the next one is asked if there is one.
    pub(crate) async fn answer(
        &self,
        id: ThreadId,
        request: RequestId,
        questions: &[Question],
        text: &str,
    ) -> Answered {
        if self.inner.load(id).await.is_err() {
            return Answered::NoQuestion;
        }
        let now = self.now();
        let mut state = self.inner.state.lock();
        let given = state.answers.entry(request).or_default();
        let Some(question) = questions.iter().find(|it| !given.contains_key(&it.id)) else {
            return Answered::NoQuestion;
        };
        given.insert(question.id.clone(), text.to_owned());
        if given.len() < questions.len() {
            if let Some(entry) = state.task_mut(id) {
                entry.task.answer_question(request, text, now);
            }
            state.flush(id);
            drop(state);
            self.inner.changed.notify_one();
            return Answered::Partly;
        }
        let all = state.answers.remove(&request).unwrap_or_default();
        Answered::Wholly(serde_json::to_string(&all).unwrap_or_default())
    }
}
