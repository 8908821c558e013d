//! The events of one connection: one pump at most, which sends every event that passes its filter
//! once and in order, and can tell how far it is.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream, stream::BoxStream};
use parking_lot::Mutex;
use rookery_core::{News, Topics};
use rookery_model::{ErrorKind, EventSeq, NumberedEvent};
use rookery_wire::{Outbox, framing::DEFAULT_FRAME_LIMIT};
use tokio::{
    sync::{oneshot, watch},
    task::AbortHandle,
};

use crate::{
    errors::Error,
    events::to_wire,
    wire::{
        Int64,
        envelope::EventFrame,
        events::{EventsSubscribe, Subscribed},
    },
};

/// How long a full out-queue may stay full before the connection is cut off.
const PATIENCE: Duration = Duration::from_secs(2);

/// Events in order, without gaps; an error ends them.
pub(crate) type Feed = BoxStream<'static, Result<Vec<Arc<NumberedEvent>>, String>>;

/// The event log, as far as a subscription needs it.
pub(crate) trait Log: Send + Sync + 'static {
    /// Number of the newest event.
    fn last(&self) -> u64;

    /// Every event after that number, as they come.
    fn follow(&self, since: u64) -> Feed;

    /// Whether every event after that number can still be read.
    fn keeps(&self, since: u64) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send + '_>>;
}

impl Log for rookery_core::Log {
    fn last(&self) -> u64 {
        rookery_core::Log::last(self).get()
    }

    fn follow(&self, since: u64) -> Feed {
        let source = self.subscribe(Topics::EVENTS, Some(EventSeq::new(since)));
        stream::unfold(source, |mut source| async move {
            let batch = match source.next().await {
                Ok(news) => news.into_iter().filter_map(event).collect(),
                // The daemon stops: what is at work is still answered.
                Err(error) if error.kind() == ErrorKind::Closed => return None,
                Err(error) => Err(error.to_string()),
            };
            Some((batch, source))
        })
        .boxed()
    }

    fn keeps(&self, since: u64) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send + '_>> {
        Box::pin(async move {
            if since >= rookery_core::Log::last(self).get() {
                return Ok(true);
            }
            let page = self.page(EventSeq::new(since), 1).await?;
            Ok(page.events.first().is_some_and(|event| event.seq.get() == since + 1))
        })
    }
}

fn event(news: News) -> Option<Result<Arc<NumberedEvent>, String>> {
    match news {
        News::Event(event) => Some(Ok(event)),
        News::EventsMissed(_) => Some(Err("events are no longer kept".to_owned())),
        News::Notice(_) | News::DeltasMissed(_) => None,
    }
}

/// The subscription of one connection, if it has one.
pub(crate) struct Subscription {
    log: Arc<dyn Log>,
    outbox: Outbox,
    pump: Mutex<Option<Pump>>,
}

/// The task that sends events, as seen from outside.
struct Pump {
    /// Number of the last event that was sent or passed over.
    delivered: watch::Receiver<u64>,
    /// Asks it to end once it has come to this event.
    stop_at: watch::Sender<Option<u64>>,
    /// Kept closed until the reply to the subscription is written.
    gate: Option<oneshot::Sender<()>>,
    task: AbortHandle,
}

/// What a pump sends.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// Only events about this tab, unless 0.
    tab: Int64,
    numbered: bool,
}

impl Subscription {
    pub(crate) fn new(outbox: Outbox, log: impl Log) -> Self {
        Self { log: Arc::new(log), outbox, pump: Mutex::new(None) }
    }

    /// Whether events are sent.
    pub(crate) fn is_on(&self) -> bool {
        self.pump.lock().is_some()
    }

    /// Begins to send events, or goes on under another filter.
    ///
    /// Must be called in turn, and the reply must follow without waiting: the events that follow
    /// are held back until [`replied`](Self::replied).
    pub(crate) async fn subscribe(&self, params: &EventsSubscribe) -> Result<Subscribed, Error> {
        let replay = match params.since {
            Some(Int64(since)) => u64::try_from(since).ok(),
            None => None,
        };
        if let Some(since) = replay {
            self.check_replay(since).await?;
        }
        let reached = self.stop_pump().await;
        let since = replay.unwrap_or(reached);
        let plan = Plan { tab: params.tab_id_filter, numbered: params.since.is_some() };
        self.start_pump(since, plan);
        let newest = if replay.is_some() { self.log.last() } else { reached };
        Ok(Subscribed { seq: plan.numbered.then(|| EventSeq::new(newest).into()) })
    }

    async fn check_replay(&self, since: u64) -> Result<(), Error> {
        let last = self.log.last();
        if since > last {
            let message = format!("event {since} has not happened yet, the last one is {last}");
            return Err(Error::invalid("since", message));
        }
        if !self.log.keeps(since).await? {
            let message = format!("events after {since} are no longer kept");
            return Err(Error::invalid("since", message));
        }
        Ok(())
    }

    /// Lets a running pump come to the newest event and end; returns where events go on.
    async fn stop_pump(&self) -> u64 {
        let now = self.log.last();
        let stopping = self.pump.lock().as_mut().map(|pump| {
            pump.open();
            pump.stop_at.send_replace(Some(now));
            pump.delivered.clone()
        });
        let Some(mut delivered) = stopping else { return now };
        // It is over when its end of the watch is gone; the last value stays.
        while delivered.changed().await.is_ok() {}
        let reached = *delivered.borrow();
        reached.max(now)
    }

    fn start_pump(&self, since: u64, plan: Plan) {
        let (delivered_sender, delivered) = watch::channel(since);
        let (stop_at, stop_receiver) = watch::channel(None);
        let (gate, opened) = oneshot::channel();
        let feed = self.log.follow(since);
        let outbox = self.outbox.clone();
        let task = tokio::spawn(async move {
            let work = Work { feed, plan, outbox: outbox.clone(), delivered: delivered_sender };
            tokio::select! {
                () = work.run(opened, stop_receiver) => {}
                () = outbox.cancelled() => {}
            }
        });
        let pump = Pump { delivered, stop_at, gate: Some(gate), task: task.abort_handle() };
        *self.pump.lock() = Some(pump);
    }

    /// A reply is written: events may follow it.
    pub(crate) fn replied(&self) {
        if let Some(pump) = self.pump.lock().as_mut() {
            pump.open();
        }
    }

    /// Waits until every event so far is in the out-queue.
    pub(crate) async fn caught_up(&self) {
        let last = self.log.last();
        let delivered = self.pump.lock().as_ref().and_then(Pump::progress);
        if let Some(mut delivered) = delivered {
            // Fails only when the pump is gone, and then the connection is.
            let _ = delivered.wait_for(|number| *number >= last).await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(pump) = self.pump.get_mut() {
            pump.task.abort();
        }
    }
}

impl Pump {
    fn open(&mut self) {
        if let Some(gate) = self.gate.take() {
            // Fails only when the pump has ended with its connection.
            let _ = gate.send(());
        }
    }

    /// How far it is; nothing while it is held back, because then no request may wait for it.
    fn progress(&self) -> Option<watch::Receiver<u64>> {
        self.gate.is_none().then(|| self.delivered.clone())
    }
}

/// The inside of a pump.
struct Work {
    feed: Feed,
    plan: Plan,
    outbox: Outbox,
    delivered: watch::Sender<u64>,
}

impl Work {
    async fn run(mut self, opened: oneshot::Receiver<()>, stop: watch::Receiver<Option<u64>>) {
        if opened.await.is_err() {
            return;
        }
        while let Some(batch) = self.next(stop.clone()).await {
            for event in batch {
                if self.is_done(*stop.borrow()) {
                    return;
                }
                if !self.send(&event).await {
                    return;
                }
                self.delivered.send_replace(event.seq.get());
            }
        }
    }

    fn is_done(&self, stop_at: Option<u64>) -> bool {
        stop_at.is_some_and(|number| *self.delivered.borrow() >= number)
    }

    /// The next events; nothing once this pump shall end.
    async fn next(
        &mut self,
        mut stop: watch::Receiver<Option<u64>>,
    ) -> Option<Vec<Arc<NumberedEvent>>> {
        let reached = *self.delivered.borrow();
        let stopped = stop.wait_for(|number| number.is_some_and(|number| reached >= number));
        let batch = tokio::select! {
            biased;
            _ = stopped => return None,
            batch = self.feed.next() => batch?,
        };
        batch.map_err(|reason| self.outbox.close(reason)).ok()
    }

    /// Queues the event if it is asked for; false if the connection is over.
    async fn send(&mut self, numbered: &NumberedEvent) -> bool {
        let Some(event) = to_wire(&numbered.event) else { return true };
        if self.plan.tab != Int64(0) && event.tab_id() != self.plan.tab {
            return true;
        }
        let seq = self.plan.numbered.then(|| numbered.seq.into());
        let body = match serde_json::to_vec(&EventFrame { event, seq }) {
            Ok(body) if body.len() <= DEFAULT_FRAME_LIMIT => body,
            _ => {
                self.outbox.close(format!("event {} cannot be written", numbered.seq));
                return false;
            }
        };
        match tokio::time::timeout(PATIENCE, self.outbox.send(body)).await {
            Ok(sent) => sent.is_ok(),
            Err(_) => {
                self.outbox.close("peer does not read its events");
                false
            }
        }
    }
}
