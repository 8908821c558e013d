//! What clients do with tasks, as far as it concerns events.

use std::path::Path;
use std::sync::Arc;

use rookery_core::{NewTurn, ThreadQuery};
use rookery_model::{Error, RequestId, Result, ThreadId, TurnId};
use tokio::sync::oneshot;

use super::{Entry, GUARD, Hub, Inner, Place};
use crate::project::{About, Boundary, Task};
use crate::wire::{ClineMessage, TokenUsage};

/// How many threads are looked at to find the one that was last worked with.
const RECENT: usize = 64;

impl Inner {
    /// Reads a thread as a task, unless it is known as one.
    pub(super) async fn load(&self, id: ThreadId) -> Result<()> {
        self.load_without(id, None).await
    }

    /// The same without a turn whose events are still to come.
    pub(super) async fn load_without(&self, id: ThreadId, turn: Option<TurnId>) -> Result<()> {
        if self.state.lock().tasks.contains_key(&id) {
            return Ok(());
        }
        if !self.core.threads().is_assigned(id) {
            return Err(no_task(id));
        }
        let task = self.read(id, turn).await?;
        let place = self.place(id);
        let mut state = self.state.lock();
        if !state.tasks.contains_key(&id) {
            state.insert(id, task, place);
        }
        Ok(())
    }

    /// A thread as a task.
    async fn read(&self, id: ThreadId, without: Option<TurnId>) -> Result<Task> {
        let seen = self.core.threads().read(id).await?;
        let requests = self.core.requests().list().into_iter();
        let pending: Vec<_> = requests.filter(|request| request.thread() == Some(id)).collect();
        let mut turns = seen.turns.unwrap_or_default();
        turns.retain(|view| Some(view.turn.id) != without);
        let mut task = Task::new(About::of(&seen.thread));
        task.replay(&turns, &pending, self.clock.now());
        Ok(task)
    }

    /// Where a task stands among others: its number in the order in which they began, and the tasks that
    /// it works for.
    pub(super) fn place(&self, id: ThreadId) -> Place {
        let threads = self.core.threads();
        let number = threads.assigned().iter().position(|other| *other == id).unwrap_or(0);
        let mut lineage = vec![id];
        while let Some(last) = lineage.last().copied() {
            let lead = threads.get(last).and_then(|seen| seen.thread.assignment?.lead);
            match lead.filter(|lead| !lineage.contains(lead)) {
                Some(lead) => lineage.push(lead),
                None => break,
            }
        }
        Place { number: number as u64 + 1, lineage, used: self.clock.now() }
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
    /// A command came: one that starts or resumes a task has its connection hear of its own tasks.
    pub(crate) fn begin(&self, route: u64, is_owning: bool) {
        if let Some(route) = self.inner.state.lock().routes.get_mut(&route) {
            if is_owning { route.begin_own() } else { route.observe() }
        }
    }

    /// A command that was to start or resume a task failed.
    pub(crate) fn give_up(&self, route: u64) {
        if let Some(route) = self.inner.state.lock().routes.get_mut(&route) {
            route.observe();
        }
    }

    /// A connection starts or resumes a task. Gives its task before.
    pub(crate) fn own(&self, route: u64, task: ThreadId) -> Option<ThreadId> {
        self.inner.state.lock().routes.get_mut(&route)?.own(task)
    }

    /// The task that a connection last started or resumed, if it is not closed.
    pub(crate) fn own_current(&self, route: u64) -> Option<ThreadId> {
        self.inner.state.lock().routes.get(&route)?.current
    }

    /// The task that a connection works with: its own last one; before it has any, the one of its
    /// workspace that was last looked at.
    pub(crate) fn current(&self, route: u64) -> Option<ThreadId> {
        let (workspace, focus) = {
            let state = self.inner.state.lock();
            let route = state.routes.get(&route)?;
            if let Some(current) = route.current {
                return Some(state.working_for(current));
            }
            if route.has_owned() {
                return None;
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

    /// A thread that was expected will not come.
    pub(crate) fn disown(&self, route: u64, id: ThreadId, before: Option<ThreadId>) {
        let mut state = self.inner.state.lock();
        state.expected.remove(&id);
        if let Some(route) = state.routes.get_mut(&route) {
            route.disown(id, before);
        }
    }

    /// The tasks from the one that the others work for to the one that works now.
    pub(crate) fn stack(&self, route: u64) -> Vec<ThreadId> {
        let Some(current) = self.current(route) else { return Vec::new() };
        let mut stack = self.inner.place(current).lineage;
        stack.reverse();
        stack
    }

    /// Where a task waits between its turns.
    pub(crate) async fn boundary(&self, id: ThreadId) -> Result<Option<Boundary>> {
        self.with(id, Task::boundary).await
    }

    /// The request of a task that a button of this connection answers now; none if none can be answered,
    /// or if the one that it may be meant for was answered elsewhere a moment ago.
    pub(crate) async fn press(&self, route: u64, id: ThreadId) -> Result<Option<RequestId>> {
        self.inner.load(id).await?;
        let now = self.now();
        let state = self.inner.state.lock();
        let Some(entry) = state.tasks.get(&id) else { return Ok(None) };
        let is_taken = |(at, by): (u64, Option<u64>)| at + GUARD > now && by != Some(route);
        Ok(entry.task.answerable().filter(|_| !entry.settled.is_some_and(is_taken)))
    }

    /// A connection answers a request right now.
    pub(crate) fn answers(&self, route: u64, request: RequestId) {
        self.inner.state.lock().pressed.insert(request, route);
    }

    /// It answered nothing after all.
    pub(crate) fn release(&self, request: RequestId) {
        self.inner.state.lock().pressed.remove(&request);
    }

    /// A task that waits to ask its provider again does not.
    pub(crate) async fn stop_retrying(&self, id: ThreadId) -> Result<()> {
        self.inner.load(id).await?;
        let now = self.now();
        self.with_entry(id, |entry| entry.task.stop_retrying(now));
        Ok(())
    }

    /// Tells that a connection came back to a task, and to those that work for it.
    pub(crate) async fn resume(&self, id: ThreadId) -> Result<()> {
        self.resume_one(id).await?;
        if !self.is_delegating(id) {
            return Ok(());
        }
        for child in self.inner.core.threads().below(id) {
            self.inner.load(child).await?;
            if self.with(child, Task::is_unfinished).await? {
                self.resume_one(child).await?;
            }
        }
        Ok(())
    }

    async fn resume_one(&self, id: ThreadId) -> Result<()> {
        self.inner.load(id).await?;
        let seen = self.inner.core.threads().get(id);
        let is_running = seen.as_ref().is_some_and(|seen| seen.status.active_turn.is_some());
        let queued = seen.map(|seen| seen.queued).unwrap_or_default();
        let now = self.now();
        self.inner.state.lock().focus(id);
        self.with_entry(id, |entry| {
            entry.place.used = now;
            entry.task.resume(is_running, &queued, now);
        });
        Ok(())
    }

    fn is_delegating(&self, id: ThreadId) -> bool {
        let state = self.inner.state.lock();
        state.tasks.get(&id).is_some_and(|entry| entry.task.is_delegating())
    }

    /// Does something to a task that is known, and sends what comes of it.
    fn with_entry(&self, id: ThreadId, act: impl FnOnce(&mut Entry)) {
        let mut state = self.inner.state.lock();
        if let Some(entry) = state.tasks.get_mut(&id) {
            act(entry);
        }
        state.flush(id);
        drop(state);
        self.inner.changed.notify_one();
    }

    /// Tells that a task was closed.
    pub(crate) async fn close(&self, id: ThreadId) -> Result<()> {
        self.inner.load(id).await?;
        let now = self.now();
        self.with_entry(id, |entry| entry.task.close(now));
        self.inner.state.lock().unfocus(id);
        Ok(())
    }

    /// The messages of a thread, as those of a task.
    pub(crate) async fn messages(&self, id: ThreadId) -> Result<Vec<ClineMessage>> {
        self.with(id, |task| task.messages().to_vec()).await
    }

    /// The tokens of a thread, as those of a task.
    pub(crate) async fn usage(&self, id: ThreadId) -> Result<TokenUsage> {
        self.with(id, Task::usage).await
    }

    /// Looks at a thread as a task. One that is no task stays none.
    async fn with<T>(&self, id: ThreadId, look: impl FnOnce(&Task) -> T) -> Result<T> {
        if !self.inner.core.threads().is_assigned(id) {
            return Ok(look(&self.inner.read(id, None).await?));
        }
        self.inner.load(id).await?;
        let state = self.inner.state.lock();
        match state.tasks.get(&id) {
            Some(entry) => Ok(look(&entry.task)),
            None => Err(no_task(id)),
        }
    }
}

fn no_task(id: ThreadId) -> Error {
    Error::not_found(format!("there is no task {id}"))
}
