//! The one reader of what happens to threads.

use std::sync::Arc;
use std::time::Duration;

use rookery_core::{
    News, Notice, NoticeBody, RequestChange, Subscription, ThreadChange, Topics, TurnChange,
};
use rookery_model::{ErrorKind, Event as CoreEvent, Thread, ThreadId, TurnStatus};

use super::routes::Route;
use super::{Entry, Inner, State};
use crate::project::{About, Task};
use crate::wire::{Bond, Change, Event};

/// How long the reader rests after a failure.
const PAUSE: Duration = Duration::from_secs(1);

impl Inner {
    pub(super) fn subscribe(&self) -> Subscription {
        self.core.log().subscribe(Topics::ALL, None)
    }
}

/// Watches until the daemon stops, also if what happens to one task makes the reader panic.
pub(super) async fn keep_watching(inner: Arc<Inner>, first: Subscription) {
    let mut subscription = first;
    while let Err(error) = tokio::spawn(watch(Arc::clone(&inner), subscription)).await {
        tracing::error!(%error, "the reader of tasks panicked");
        tokio::time::sleep(PAUSE).await;
        inner.state.lock().tasks.clear();
        subscription = inner.subscribe();
    }
}

/// Until the daemon stops.
async fn watch(inner: Arc<Inner>, mut subscription: Subscription) {
    inner.load_waiting().await;
    loop {
        let due = inner.state.lock().due();
        let timer = async {
            match due {
                Some(at) => tokio::time::sleep(inner.clock.until(at)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            batch = subscription.next() => match batch {
                Ok(batch) => {
                    for news in batch {
                        inner.handle(news).await;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Closed => return,
                Err(error) => {
                    tracing::warn!(%error, "events of tasks were lost");
                    if error.kind() != ErrorKind::Busy {
                        tokio::time::sleep(PAUSE).await;
                    }
                    subscription = inner.subscribe();
                    inner.read_again().await;
                }
            },
            () = timer => inner.tick(),
            () = inner.changed.notified() => {}
        }
    }
}

impl Inner {
    async fn handle(&self, news: News) {
        match news {
            News::Notice(notice) => self.take(&notice).await,
            News::Event(event) => {
                if let CoreEvent::ThreadDeleted { id } = event.event {
                    self.deleted(id);
                }
            }
            News::EventsMissed(_) | News::DeltasMissed(_) => {}
        }
    }

    /// Reads the tasks that wait for an answer, so that the next notice about them becomes an event.
    async fn load_waiting(&self) {
        let waiting = self.core.requests().list().into_iter().filter_map(|it| it.thread());
        for id in waiting {
            // One that is no task, or gone, is not missed.
            let _ = self.load(id).await;
        }
    }

    /// Reads what is at work once more, since some of what happened to it was missed.
    async fn read_again(&self) {
        let (at_work, expected) = {
            let mut state = self.state.lock();
            let open = state.tasks.iter().filter(|(_, entry)| !entry.task.is_idle());
            let at_work: Vec<ThreadId> = open.map(|(id, _)| *id).collect();
            state.tasks.clear();
            (at_work, std::mem::take(&mut state.expected))
        };
        let now = self.clock.now();
        for id in at_work {
            if self.load(id).await.is_ok()
                && let Some(entry) = self.state.lock().tasks.get_mut(&id)
            {
                entry.task.wait_again(now);
            }
        }
        for (id, waiting) in expected {
            if self.load(id).await.is_ok() {
                let mut state = self.state.lock();
                if let Some(entry) = state.tasks.get_mut(&id) {
                    entry.task.announce();
                }
                state.focus(id);
                state.flush(id);
            }
            for waiter in waiting {
                // Whoever waited may be gone.
                let _ = waiter.send(());
            }
        }
    }

    async fn take(&self, notice: &Notice) {
        let Some(id) = notice.thread else { return };
        let answered_by = match &notice.body {
            NoticeBody::Thread(ThreadChange::Started(thread, _)) => return self.started(thread),
            NoticeBody::Thread(ThreadChange::Assigned) => {
                self.reassigned(id);
                None
            }
            // Old news of a task that was brought back meanwhile.
            NoticeBody::Thread(ThreadChange::Archived) if self.is_open(id) => return,
            NoticeBody::Request(RequestChange::Settled(request, _)) => {
                Some(self.state.lock().pressed.remove(&request.id))
            }
            _ => None,
        };
        if !self.is_task(id, &notice.body).await {
            return;
        }
        let now = self.clock.now();
        let mut state = self.state.lock();
        let Some(entry) = state.tasks.get_mut(&id) else { return };
        entry.place.used = now;
        if let Some(by) = answered_by {
            entry.settled = Some((now, by));
        }
        entry.task.take(&notice.body, now);
        state.flush(id);
        match &notice.body {
            NoticeBody::Thread(ThreadChange::Archived) => {
                state.unfocus(id);
                state.hand_back(id, false);
            }
            NoticeBody::Turn(TurnChange::Ended(turn)) => match turn.status {
                TurnStatus::Completed => state.hand_back(id, true),
                TurnStatus::Interrupted if !state.is_closed(id) => state.focus(id),
                _ => {}
            },
            _ => {}
        }
    }

    fn is_open(&self, id: ThreadId) -> bool {
        self.core.threads().get(id).is_some_and(|seen| !seen.thread.archived)
    }

    /// Whether a thread is a task; reads it if it was not looked at yet.
    async fn is_task(&self, id: ThreadId, body: &NoticeBody) -> bool {
        let begun = match body {
            NoticeBody::Turn(TurnChange::Started(turn)) => Some(turn.id),
            _ => None,
        };
        self.load_without(id, begun).await.is_ok()
    }

    /// A thread that began.
    fn started(&self, thread: &Thread) {
        let Some(assignment) = &thread.assignment else { return };
        let id = thread.id;
        let place = self.place(id);
        let mut state = self.state.lock();
        if let Some(lead) = assignment.lead {
            let (task, child) = (lead.to_string(), id.to_string());
            let events = [
                Event::Family(Bond::Spawned, task.clone(), child.clone()),
                Event::Family(Bond::Delegated, task.clone(), child),
                Event::Task(Change::Paused, task.clone()),
                Event::Task(Change::Unfocused, task),
            ];
            state.send(lead, &events);
        }
        state.insert(id, Task::new(About::of(thread)), place);
        if let Some(entry) = state.tasks.get_mut(&id) {
            entry.task.announce();
        }
        state.focus(id);
        state.flush(id);
        for waiter in state.expected.remove(&id).into_iter().flatten() {
            // Whoever waited may be gone.
            let _ = waiter.send(());
        }
    }

    /// What was set for a thread is something else now.
    fn reassigned(&self, id: ThreadId) {
        let Some(seen) = self.core.threads().get(id) else { return };
        if let Some(entry) = self.state.lock().tasks.get_mut(&id) {
            entry.task.about = About::of(&seen.thread);
        }
    }

    /// A thread is gone with all that was said in it.
    fn deleted(&self, id: ThreadId) {
        let now = self.clock.now();
        let mut state = self.state.lock();
        if let Some(entry) = state.tasks.get_mut(&id) {
            entry.task.close(now);
        }
        state.flush(id);
        state.hand_back(id, false);
        state.unfocus(id);
        state.tasks.remove(&id);
    }

    /// Does what is due by itself.
    fn tick(self: &Arc<Self>) {
        let now = self.clock.now();
        let mut state = self.state.lock();
        let is_due = |task: &Task| task.due().is_some_and(|at| at <= now);
        let due = state.tasks.iter().filter(|(_, entry)| is_due(&entry.task));
        let due: Vec<ThreadId> = due.map(|(id, _)| *id).collect();
        let silent =
            state.routes.values_mut().filter(|route| route.due().is_some_and(|at| at <= now));
        silent.for_each(Route::observe);
        for id in due {
            let Some(entry) = state.tasks.get_mut(&id) else { continue };
            entry.task.tick(now);
            let wants_retry = entry.task.takes_retry();
            state.flush(id);
            if wants_retry {
                tokio::spawn(Arc::clone(self).retry(id));
            }
        }
    }
}

impl State {
    fn is_closed(&self, id: ThreadId) -> bool {
        self.tasks.get(&id).is_some_and(|entry| entry.task.is_closed())
    }

    /// A task is over; the one that waits for it goes on, unless it waits for others as well.
    fn hand_back(&mut self, child: ThreadId, is_completed: bool) {
        let Some(entry) = self.tasks.get(&child) else { return };
        let Some(lead) = entry.place.lineage.get(1).copied() else { return };
        let summary = entry.task.result().unwrap_or_default().to_owned();
        let is_waiting = |lead: &Task| lead.is_delegating() && !lead.is_closed();
        if !self.tasks.get(&lead).is_some_and(|entry| is_waiting(&entry.task)) {
            return;
        }
        let is_sibling = |(id, entry): &(&ThreadId, &Entry)| {
            **id != child
                && entry.place.lineage.get(1) == Some(&lead)
                && entry.task.is_unfinished()
                && !entry.task.is_closed()
        };
        let sibling = self.tasks.iter().find(is_sibling).map(|(id, _)| *id);
        let mut events = handed_back(lead, child, is_completed.then_some(summary));
        if sibling.is_some() {
            events.truncate(usize::from(is_completed));
        }
        self.focus(sibling.unwrap_or(lead));
        self.send(lead, &events);
    }
}

/// What happens to a task when the one that worked for it is over.
fn handed_back(lead: ThreadId, child: ThreadId, summary: Option<String>) -> Vec<Event> {
    let (task, child) = (lead.to_string(), child.to_string());
    let is_completed = summary.is_some();
    let mut events = Vec::new();
    if let Some(summary) = summary {
        let (task, child) = (task.clone(), child.clone());
        events.push(Event::DelegationCompleted { task, child, summary });
    }
    events.push(Event::Task(Change::Focused, task.clone()));
    events.push(Event::Task(Change::Unpaused, task.clone()));
    if is_completed {
        events.push(Event::Family(Bond::Resumed, task.clone(), child));
    }
    events.push(Event::Task(Change::Active, task));
    events
}
