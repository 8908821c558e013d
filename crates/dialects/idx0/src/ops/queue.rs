//! The queue and the timeline.

use rookery_model::QueueItemId;

use super::listed;
use crate::context::Cx;
use crate::envelope::Reply;
use crate::errors::Failure;
use crate::ids::{self, Payload, filled};
use crate::wire::{SupervisionQueueItem, TimelineItem};

/// Lines of the timeline unless more or fewer are asked for.
const LINES: usize = 100;

pub(crate) async fn list(cx: Cx, _: Payload) -> Result<Reply, Failure> {
    let items = cx.core.queue().list();
    Ok(listed(&items.iter().map(SupervisionQueueItem::from).collect::<Vec<_>>()))
}

pub(crate) async fn resolve(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let id = ids::id(&payload, "queueID").ok_or_else(|| Failure::new("Missing queueID"))?;
    cx.core.queue().resolve(QueueItemId::new(id)).await?;
    Ok(Reply::ok("Queue item resolved"))
}

pub(crate) async fn timeline(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let session = match filled(&payload, "session") {
        Some(query) => Some(ids::resolve(&cx.core, query)?.id),
        None => None,
    };
    let limit = match filled(&payload, "limit") {
        Some(limit) => limit.parse().map_err(|_| Failure::new("Invalid limit"))?,
        None => LINES,
    };
    let lines = cx.core.queue().timeline(session, limit);
    Ok(listed(&lines.iter().map(TimelineItem::from).collect::<Vec<_>>()))
}
