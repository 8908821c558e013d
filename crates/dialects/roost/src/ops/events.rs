//! Asking for events.

use crate::{
    context::Cx,
    errors::Error,
    wire::events::{EventsSubscribe, Subscribed},
};

pub(crate) async fn subscribe(cx: Cx, params: EventsSubscribe) -> Result<Subscribed, Error> {
    cx.link.subscription.subscribe(&params).await
}
