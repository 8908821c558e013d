//! What happens to threads, sent to subscribers as it happens. Turns never wait for a reader: one that is
//! too far behind misses deltas, and is then cut off.

use rookery_agent::turn::Delta;
use rookery_core::{
    Core, ItemChange, News, Notice, NoticeBody, RequestChange, SettingsChange, Subscription,
    ThreadChange, ThreadView, Topics, TurnChange,
};
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
    let topics = thread.map_or(Topics::NOTICES, |thread| Topics::NOTICES.of_thread(thread));
    let (core, reader) = (cx.core.clone(), cx.core.log().subscribe(topics, None));
    let outbox = cx.connection.outbox().clone();
    let subscription = cx.thread_subscriptions.start(outbox.clone(), |number| {
        let teller = ThreadNotifier { core, outbox, subscription: number, thread };
        teller.run(reader)
    })?;
    Ok(ThreadSubscription { subscription })
}

pub(crate) async fn unsubscribe(cx: Cx, params: ThreadUnsubscribe) -> Result<Empty, Error> {
    cx.thread_subscriptions.stop(params.subscription)?;
    Ok(Empty {})
}

/// Tells one subscriber.
struct ThreadNotifier {
    core: Core,
    outbox: Outbox,
    subscription: u64,
    /// The only thread whose news are sent.
    thread: Option<model::ThreadId>,
}

impl ThreadNotifier {
    /// Until the peer or the world is gone; waits while the peer does not read.
    async fn run(self, mut reader: Subscription) {
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
            for news in &batch {
                last = news.notice().map_or(last, |notice| notice.at);
                if self.send_news(news, last).await.is_err() {
                    return;
                }
            }
        }
    }

    async fn send_news(&self, news: &News, at: model::Timestamp) -> Result<(), Rejected> {
        match news {
            News::Notice(notice) if self.thread.is_none() || notice.thread == self.thread => {
                match self.news(notice) {
                    Some(news) => self.send(notice.thread, at, news).await,
                    None => Ok(()),
                }
            }
            News::DeltasMissed(count) => {
                self.send(None, at, ThreadNews::DeltasDropped { count: *count }).await
            }
            News::Notice(_) | News::Event(_) | News::EventsMissed(_) => Ok(()),
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
            NoticeBody::Thread(change) => return self.of_thread(change),
            NoticeBody::Turn(change) => return of_turn(change),
            NoticeBody::Item(turn, change) => of_item(*turn, change),
            NoticeBody::Request(
                RequestChange::Asked(request) | RequestChange::Reworded(request),
            ) => ThreadNews::RequestOpened { request: Box::new((&**request).into()) },
            // It waits as before.
            NoticeBody::Request(RequestChange::Part(_)) => return None,
            NoticeBody::Request(RequestChange::Settled(request, _mode)) => {
                ThreadNews::RequestSettled { request: Box::new((&**request).into()) }
            }
            // A child agent is a thread of its own, whose news are told.
            NoticeBody::Trace(_) => return None,
            // Runners are this machine's own business; no thread is informed of them here.
            NoticeBody::Runner(_) | NoticeBody::Stopping(_) => return None,
            // This dialect knows no teams; what their members do is reported of their threads.
            NoticeBody::Team(_) => return None,
            NoticeBody::Settings(SettingsChange::Providers) => ThreadNews::ProvidersChanged {},
            NoticeBody::Settings(SettingsChange::Other) => ThreadNews::SettingsChanged {},
            // Tasks have subscribers of their own; changes of files and reviews have lists.
            NoticeBody::Task(_) | NoticeBody::Files(_) | NoticeBody::Plan(_) => return None,
            // Runs have a subscription of their own.
            NoticeBody::Workflow(_) => return None,
            // Memories and imports belong to no thread.
            NoticeBody::Memory(_) | NoticeBody::Import(_) => return None,
            // Images are in the items that brought them.
            NoticeBody::Marketplace(_) | NoticeBody::Media(_) => return None,
            NoticeBody::Warning(message) => ThreadNews::Warning { message: message.clone() },
        })
    }

    fn of_thread(&self, change: &ThreadChange) -> Option<ThreadNews> {
        Some(match change {
            ThreadChange::Started(thread, status) => {
                let mode = self.core.threads().mode(Some(thread.id));
                let seen = ThreadView {
                    thread: (**thread).clone(),
                    status: status.clone(),
                    interrupted_at: None,
                    turns: None,
                    unreadable: 0,
                    queued: Vec::new(),
                };
                ThreadNews::ThreadStarted { started: Box::new(Thread::of(&seen, mode)) }
            }
            ThreadChange::Status(status) => ThreadNews::ThreadStatus { status: status.into() },
            ThreadChange::Mode { previous, mode, reason } => ThreadNews::ModeChanged {
                from: (*previous).into(),
                to: (*mode).into(),
                reason: reason.clone(),
            },
            ThreadChange::Archived => ThreadNews::ThreadArchived {},
            ThreadChange::Renamed(name) => ThreadNews::ThreadRenamed { name: name.clone() },
            ThreadChange::GoalSet(goal) => {
                ThreadNews::GoalChanged { objective: Some(goal.objective.clone()) }
            }
            ThreadChange::GoalCleared => ThreadNews::GoalChanged { objective: None },
            // This dialect does not show what other clients set for a thread.
            ThreadChange::Assigned | ThreadChange::Role { .. } | ThreadChange::Queued(_) => {
                return None;
            }
        })
    }
}

fn of_turn(change: &TurnChange) -> Option<ThreadNews> {
    Some(match change {
        TurnChange::Started(turn) => ThreadNews::TurnStarted { turn: Box::new((&**turn).into()) },
        TurnChange::Ended(turn) => ThreadNews::TurnEnded { turn: Box::new((&**turn).into()) },
        TurnChange::PartialResult(turn, summary) => {
            ThreadNews::TurnPartial { turn: turn.to_string(), summary: summary.clone() }
        }
        TurnChange::DeadlineExceeded(turn, _deadline, summary) => {
            ThreadNews::TurnTimedOut { turn: turn.to_string(), summary: summary.clone() }
        }
        // The turn itself tells it.
        TurnChange::Lifecycle(_)
        | TurnChange::CallStarted(..)
        | TurnChange::CallEnded(..)
        | TurnChange::ToolRuns(..) => {
            return None;
        }
    })
}

fn of_item(turn: model::TurnId, change: &ItemChange) -> ThreadNews {
    let turn = turn.to_string();
    match change {
        ItemChange::Started(item) => ThreadNews::ItemStarted { turn, item: whole(item) },
        ItemChange::Completed(item) => ThreadNews::ItemCompleted { turn, item: whole(item) },
        ItemChange::Delta(item, delta) => {
            let (of, text) = grown(delta);
            let item = item.as_str().to_owned();
            ThreadNews::ItemDelta { turn, item, of, text: text.to_owned() }
        }
        ItemChange::Output(item, text) => {
            let item = item.as_str().to_owned();
            ThreadNews::ItemDelta { turn, item, of: DeltaOf::Output, text: text.clone() }
        }
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
