//! What happens to threads, told to subscribers as it happens. Turns never wait for a reader: one that is
//! too far behind misses deltas, and then is told no more.

use std::sync::Arc;

use rookery_agent::turn::Delta;
use rookery_core::{Core, FeedReader, Notice, NoticeBody, ThreadView};
use rookery_model as model;
use rookery_wire::{Outbox, Rejected, rpc};

use super::threads::find;
use crate::{
    Cx, Error, notification,
    wire::{
        DeltaOf, Empty, Item, Thread, ThreadNews, ThreadNotification, ThreadSubscribe,
        ThreadSubscription, ThreadUnsubscribe, format_time,
    },
};

pub(crate) async fn subscribe(
    cx: Cx,
    params: ThreadSubscribe,
) -> Result<ThreadSubscription, Error> {
    let thread = params.thread.as_deref().map(|text| find(&cx.core, text)).transpose()?;
    let (core, reader) = (cx.core.clone(), cx.core.threads().follow());
    let outbox = cx.connection.outbox().clone();
    let subscription = cx.thread_subscriptions.start(outbox.clone(), |number| {
        let teller = Teller { core, outbox, subscription: number, thread };
        teller.tell_all(reader)
    })?;
    Ok(ThreadSubscription { subscription })
}

pub(crate) async fn unsubscribe(cx: Cx, params: ThreadUnsubscribe) -> Result<Empty, Error> {
    cx.thread_subscriptions.stop(params.subscription)?;
    Ok(Empty {})
}

/// Tells one subscriber.
struct Teller {
    core: Core,
    outbox: Outbox,
    subscription: u64,
    /// The only thread that is told of.
    thread: Option<model::ThreadId>,
}

impl Teller {
    /// Until the peer or the world is gone; waits while the peer does not read.
    async fn tell_all(self, mut reader: FeedReader) {
        let mut last = model::Timestamp::from_micros(0);
        loop {
            let batch = match reader.next().await {
                Ok(batch) => batch,
                Err(error) => {
                    if error.kind() == model::ErrorKind::Busy {
                        let _ = self.send(None, last, ThreadNews::Lost {}).await;
                    }
                    return;
                }
            };
            last = batch.last().map_or(last, |notice| notice.at);
            for notice in batch.iter().filter(|notice| self.is_wanted(notice)) {
                if self.tell(notice).await.is_err() {
                    return;
                }
            }
        }
    }

    fn is_wanted(&self, notice: &Notice) -> bool {
        let is_about_delivery = matches!(notice.body, NoticeBody::DeltasDropped(_));
        is_about_delivery || self.thread.is_none() || notice.thread == self.thread
    }

    async fn tell(&self, notice: &Arc<Notice>) -> Result<(), Rejected> {
        match self.news(notice) {
            Some(news) => self.send(notice.thread, notice.at, news).await,
            None => Ok(()),
        }
    }

    async fn send(
        &self,
        thread: Option<model::ThreadId>,
        at: model::Timestamp,
        news: ThreadNews,
    ) -> Result<(), Rejected> {
        let thread = thread.map(|thread| thread.to_string());
        let (subscription, at) = (self.subscription, format_time(at));
        let params = ThreadNotification { subscription, thread, at, news };
        match rpc::notification(notification::THREAD, &params) {
            Ok(body) => self.outbox.send(body).await,
            Err(error) => {
                tracing::error!(%error, "news of a thread cannot be written as JSON");
                Ok(())
            }
        }
    }

    /// What happened as this dialect says it, if it does.
    fn news(&self, notice: &Notice) -> Option<ThreadNews> {
        Some(match &notice.body {
            NoticeBody::ThreadStarted(thread, status) => {
                let mode = self.core.threads().mode(Some(thread.id));
                let seen = ThreadView {
                    thread: (**thread).clone(),
                    status: status.clone(),
                    interrupted_at: None,
                    turns: None,
                    unreadable: 0,
                };
                ThreadNews::ThreadStarted { started: Box::new(Thread::of(&seen, mode)) }
            }
            NoticeBody::StatusChanged(status) => ThreadNews::ThreadStatus { status: status.into() },
            NoticeBody::TurnStarted(turn) => {
                ThreadNews::TurnStarted { turn: Box::new((&**turn).into()) }
            }
            NoticeBody::TurnEnded(turn) => {
                ThreadNews::TurnEnded { turn: Box::new((&**turn).into()) }
            }
            NoticeBody::ItemStarted(turn, item) => {
                ThreadNews::ItemStarted { turn: turn.to_string(), item: whole(item) }
            }
            NoticeBody::ItemCompleted(turn, item) => {
                ThreadNews::ItemCompleted { turn: turn.to_string(), item: whole(item) }
            }
            NoticeBody::ItemDelta(turn, item, delta) => {
                let (of, text) = grown(delta);
                let (turn, item) = (turn.to_string(), item.as_str().to_owned());
                ThreadNews::ItemDelta { turn, item, of, text: text.to_owned() }
            }
            NoticeBody::Requested(request) => {
                ThreadNews::RequestOpened { request: Box::new((&**request).into()) }
            }
            NoticeBody::Settled(request, _mode) => {
                ThreadNews::RequestSettled { request: Box::new((&**request).into()) }
            }
            NoticeBody::ModeChanged { previous, mode, reason } => ThreadNews::ModeChanged {
                from: (*previous).into(),
                to: (*mode).into(),
                reason: reason.clone(),
            },
            NoticeBody::PartialResult(turn, summary) => {
                ThreadNews::TurnPartial { turn: turn.to_string(), summary: summary.clone() }
            }
            NoticeBody::DeadlineExceeded(turn, _deadline, summary) => {
                ThreadNews::TurnTimedOut { turn: turn.to_string(), summary: summary.clone() }
            }
            NoticeBody::Archived => ThreadNews::ThreadArchived {},
            NoticeBody::Renamed(name) => ThreadNews::ThreadRenamed { name: name.clone() },
            NoticeBody::GoalUpdated(goal) => {
                ThreadNews::GoalChanged { objective: Some(goal.objective.clone()) }
            }
            NoticeBody::GoalCleared => ThreadNews::GoalChanged { objective: None },
            NoticeBody::ProvidersChanged => ThreadNews::ProvidersChanged {},
            NoticeBody::SettingsChanged => ThreadNews::SettingsChanged {},
            NoticeBody::Warning(message) => ThreadNews::Warning { message: message.clone() },
            NoticeBody::DeltasDropped(count) => ThreadNews::DeltasDropped { count: *count },
            // The turn itself tells it.
            NoticeBody::Lifecycle(_) => return None,
        })
    }
}

fn whole(item: &model::Item) -> Box<Item> {
    Box::new(item.into())
}

fn grown(delta: &Delta) -> (DeltaOf, &str) {
    match delta {
        Delta::Text { text, .. } => (DeltaOf::Text, text),
        Delta::Thought { text } => (DeltaOf::Thought, text),
        Delta::Summary { text, .. } => (DeltaOf::Summary, text),
        Delta::SummaryPart { .. } => (DeltaOf::SummaryPart, ""),
    }
}
