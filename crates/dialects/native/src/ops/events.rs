//! The event log: read in pages, or followed by a subscription.

use std::sync::Arc;

use rookery_core::{News, Topics};
use rookery_model as model;
use rookery_wire::{Outbox, Rejected, rpc};

use crate::{
    Cx, Error, notification,
    wire::{
        Empty, Event, EventList, EventNotification, EventPage, Subscribe, Subscription, Unsubscribe,
    },
};

const DEFAULT_PAGE: usize = 100;
const LARGEST_PAGE: usize = 1000;

pub(crate) async fn list(cx: Cx, params: EventList) -> Result<EventPage, Error> {
    let limit = match params.limit {
        None => DEFAULT_PAGE,
        Some(0) => return Err(Error::invalid("limit", "limit must be at least 1")),
        Some(limit) => limit.min(LARGEST_PAGE),
    };
    let log = cx.core.log();
    let last = log.last().get();
    let after = params.after.min(last);
    let page = log.page(model::EventSeq::new(after), limit).await?;
    let events: Vec<Event> = page.events.iter().map(|event| (&**event).into()).collect();
    // Numbers have no gaps, so whatever is not there is no longer kept.
    let first = events.first().map_or(last + 1, |event| event.seq);
    let next = events.last().map_or(last, |event| event.seq);
    Ok(EventPage { missed: first.saturating_sub(after + 1), next, last, events })
}

pub(crate) async fn subscribe(cx: Cx, params: Subscribe) -> Result<Subscription, Error> {
    let log = cx.core.log();
    let last = log.last();
    let since = params.since.map_or(last, model::EventSeq::new);
    if since > last {
        let message = format!("event {since} has not happened yet, the last one is {last}");
        return Err(Error::invalid("since", message));
    }
    let stream = log.subscribe(Topics::EVENTS, Some(since));
    let outbox = cx.connection.outbox().clone();
    let subscription =
        cx.subscriptions.start(outbox.clone(), |number| forward(outbox, number, stream))?;
    Ok(Subscription { subscription, last: last.get() })
}

pub(crate) async fn unsubscribe(cx: Cx, params: Unsubscribe) -> Result<Empty, Error> {
    cx.subscriptions.stop(params.subscription)?;
    Ok(Empty {})
}

/// Sends every event of the stream; waits while the peer does not read.
async fn forward(outbox: Outbox, subscription: u64, mut stream: rookery_core::Subscription) {
    let mut missed = 0;
    while let Ok(batch) = stream.next().await {
        for news in batch {
            let event = match news {
                News::Event(event) => event,
                News::EventsMissed(count) => {
                    missed += count;
                    continue;
                }
                News::Notice(_) | News::DeltasMissed(_) => continue,
            };
            let missed = std::mem::take(&mut missed);
            if send(&outbox, subscription, missed, &event).await.is_err() {
                return;
            }
        }
    }
}

async fn send(
    outbox: &Outbox,
    subscription: u64,
    missed: u64,
    event: &Arc<model::NumberedEvent>,
) -> Result<(), Rejected> {
    let params = EventNotification { subscription, missed, event: (&**event).into() };
    match rpc::notification(notification::EVENT, &params) {
        Ok(body) => outbox.send(body).await,
        Err(error) => {
            tracing::error!(%error, seq = event.seq.get(), "event cannot be written as JSON");
            Ok(())
        }
    }
}
