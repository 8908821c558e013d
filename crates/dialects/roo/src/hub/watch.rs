//! The one reader of what happens to threads.

use std::sync::Arc;

use rookery_core::{
    News, Notice, NoticeBody, RequestChange, Subscription, ThreadChange, Topics, TurnChange,
};
use rookery_model::{ErrorKind, Thread, ThreadId};

use super::{Inner, Known};
use crate::project::{About, Task};
use crate::wire::{Bond, Change, Event};

impl Inner {
    pub(super) fn subscribe(&self) -> Subscription {
        self.core.log().subscribe(Topics::NOTICES, None)
    }
}

/// Until the daemon stops.
pub(super) async fn watch(inner: Arc<Inner>, mut subscription: Subscription) {
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
                        if let News::Notice(notice) = news {
                            inner.take(&notice).await;
                        }
                    }
                }
                Err(error) if error.kind() == ErrorKind::Busy => {
                    tracing::warn!("events of tasks were lost: the daemon cannot keep up");
                    // What was missed is read from the threads when they are looked at again.
                    inner.state.lock().tasks.clear();
                    subscription = inner.subscribe();
                }
                Err(_) => return,
            },
            () = timer => inner.tick(),
            () = inner.changed.notified() => {}
        }
    }
}

impl Inner {
    async fn take(self: &Arc<Self>, notice: &Notice) {
        let Some(id) = notice.thread else { return };
        if let NoticeBody::Thread(ThreadChange::Started(thread, _)) = &notice.body {
            return self.started(thread);
        }
        if matches!(notice.body, NoticeBody::Thread(ThreadChange::Assigned)) {
            self.reassigned(id);
        }
        if !self.is_known(id).await {
            return;
        }
        if let NoticeBody::Request(RequestChange::Settled(request, _)) = &notice.body {
            self.state.lock().answers.remove(&request.id);
        }
        let now = self.clock.now();
        let mut state = self.state.lock();
        let Some(entry) = state.task_mut(id) else { return };
        entry.used = now;
        entry.task.take(&notice.body, now);
        let family = entry.lineage.get(1).copied();
        let summary = entry.task.result().unwrap_or_default().to_owned();
        state.flush(id);
        if let (Some(lead), NoticeBody::Turn(TurnChange::Ended(turn))) = (family, &notice.body) {
            let is_completed = turn.status == rookery_model::TurnStatus::Completed;
            let events = handed_back(lead, id, is_completed.then_some(summary));
            state.focus(lead);
            state.send(lead, &events);
        }
    }

    /// Whether a thread is a task; reads it if it was not looked at yet.
    async fn is_known(&self, id: ThreadId) -> bool {
        match self.state.lock().tasks.get(&id) {
            Some(Known::Task(_)) => return true,
            Some(Known::Stranger) => return false,
            None => {}
        }
        let thread = self.core.threads().get(id).map(|seen| seen.thread);
        if !thread.is_some_and(|thread| thread.assignment.is_some()) {
            self.state.lock().tasks.insert(id, Known::Stranger);
            return false;
        }
        self.load(id).await.is_ok()
    }

    /// A thread that began.
    fn started(&self, thread: &Thread) {
        let (id, now) = (thread.id, self.clock.now());
        let mut state = self.state.lock();
        let Some(assignment) = &thread.assignment else {
            state.tasks.insert(id, Known::Stranger);
            return;
        };
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
        state.insert(id, Task::new(About::of(thread)), assignment.lead, now);
        if let Some(entry) = state.task_mut(id) {
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
        let mut state = self.state.lock();
        match state.tasks.get_mut(&id) {
            Some(Known::Task(entry)) => entry.task.about = About::of(&seen.thread),
            Some(Known::Stranger) => drop(state.tasks.remove(&id)),
            None => {}
        }
    }

    /// Does what is due by itself.
    fn tick(self: &Arc<Self>) {
        let now = self.clock.now();
        let mut state = self.state.lock();
        let due = |known: &Known| match known {
            Known::Task(entry) => entry.task.due().is_some_and(|at| at <= now),
            Known::Stranger => false,
        };
        let due: Vec<ThreadId> =
            state.tasks.iter().filter(|(_, known)| due(known)).map(|(id, _)| *id).collect();
        for id in due {
            let Some(entry) = state.task_mut(id) else { continue };
            entry.task.tick(now);
            let wants_retry = entry.task.takes_retry();
            state.flush(id);
            if wants_retry {
                tokio::spawn(Arc::clone(self).retry(id));
            }
        }
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
