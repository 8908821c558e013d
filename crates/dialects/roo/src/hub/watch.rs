//! The one reader of what happens to threads.

use std::sync::Arc;

use rookery_core::{
    News, Notice, NoticeBody, RequestChange, Subscription, ThreadChange, Topics, TurnChange,
};
use rookery_model::{ErrorKind, Event as CoreEvent, Thread, ThreadId, TurnStatus};

use super::routes::Route;
use super::{Inner, State};
use crate::project::{About, Task};
use crate::wire::{Bond, Change, Event};

impl Inner {
    pub(super) fn subscribe(&self) -> Subscription {
        self.core.log().subscribe(Topics::ALL, None)
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
                        inner.hear(news).await;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Busy => {
                    tracing::warn!("events of tasks were lost: the daemon cannot keep up");
                    subscription = inner.subscribe();
                    inner.read_again().await;
                }
                Err(_) => return,
            },
            () = timer => inner.tick(),
            () = inner.changed.notified() => {}
        }
    }
}

impl Inner {
    async fn hear(self: &Arc<Self>, news: News) {
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

    /// Reads what is at work once more, since some of what happened to it was missed.
    async fn read_again(self: &Arc<Self>) {
        let at_work: Vec<ThreadId> = {
            let mut state = self.state.lock();
            let open = state.tasks.iter().filter(|(_, entry)| !entry.task.is_idle());
            let at_work = open.map(|(id, _)| *id).collect();
            state.tasks.clear();
            // Whoever waits for a task learns of it from the world.
            state.expected.drain().flat_map(|(_, waiting)| waiting).for_each(|waiter| {
                let _ = waiter.send(());
            });
            at_work
        };
        let now = self.clock.now();
        for id in at_work {
            if self.load(id).await.is_ok() {
                let mut state = self.state.lock();
                if let Some(entry) = state.tasks.get_mut(&id) {
                    entry.task.wait_again(now);
                }
            }
        }
    }

    async fn take(self: &Arc<Self>, notice: &Notice) {
        let Some(id) = notice.thread else { return };
        match &notice.body {
            NoticeBody::Thread(ThreadChange::Started(thread, _)) => return self.started(thread),
            NoticeBody::Thread(ThreadChange::Assigned) => self.reassigned(id),
            _ => {}
        }
        if !self.is_task(id).await {
            return;
        }
        let now = self.clock.now();
        let mut state = self.state.lock();
        let Some(entry) = state.tasks.get_mut(&id) else { return };
        entry.used = now;
        entry.task.take(&notice.body, now);
        state.flush(id);
        match &notice.body {
            NoticeBody::Request(RequestChange::Settled(request, _)) => {
                let by = state.pressed.remove(&request.id);
                if let Some(entry) = state.tasks.get_mut(&id) {
                    entry.settled = Some((now, by));
                }
            }
            NoticeBody::Thread(ThreadChange::Archived) => {
                state.unfocus(id);
                state.hand_back(id, false);
            }
            NoticeBody::Turn(TurnChange::Ended(turn)) if turn.status == TurnStatus::Completed => {
                state.hand_back(id, true);
            }
            _ => {}
        }
    }

    /// Whether a thread is a task; reads it if it was not looked at yet.
    async fn is_task(&self, id: ThreadId) -> bool {
        if self.state.lock().tasks.contains_key(&id) {
            return true;
        }
        self.core.threads().is_assigned(id) && self.load(id).await.is_ok()
    }

    /// A thread that began.
    fn started(&self, thread: &Thread) {
        let Some(assignment) = &thread.assignment else { return };
        let (id, now) = (thread.id, self.clock.now());
        let number = self.number(id);
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
        state.insert(id, Task::new(About::of(thread)), assignment.lead, (number, now));
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
        let Some(entry) = state.tasks.get_mut(&id) else { return };
        entry.task.close(now);
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
    /// A task is over; the one that waits for it goes on.
    fn hand_back(&mut self, child: ThreadId, is_completed: bool) {
        let Some(entry) = self.tasks.get(&child) else { return };
        let Some(lead) = entry.lineage.get(1).copied() else { return };
        let summary = entry.task.result().unwrap_or_default().to_owned();
        let is_waiting = |lead: &Task| lead.is_delegating() && !lead.is_closed();
        if !self.tasks.get(&lead).is_some_and(|entry| is_waiting(&entry.task)) {
            return;
        }
        let events = handed_back(lead, child, is_completed.then_some(summary));
        self.focus(lead);
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
