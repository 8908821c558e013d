//! The queue and the timeline.

use super::named::{pick, session_filter};
use crate::{
    Cx, Error,
    wire::{
        Queue, QueueEntry, QueueList, QueueResolve, QueueResolved, Timeline, TimelineItem,
        TimelineList,
    },
};

/// The default and maximum number of timeline entries.
const USUAL_LINES: usize = 100;
const MOST_LINES: usize = 1_000;

pub(crate) async fn list(cx: Cx, params: QueueList) -> Result<Queue, Error> {
    let session = session_filter(&cx.core, params.session.as_deref())?;
    let items = cx.core.queue().list();
    let wanted = items.iter().filter(|item| session.is_none_or(|id| item.session == Some(id)));
    let items = wanted.map(|item| QueueEntry {
        item: item.into(),
        session_title: (item.session.and_then(|id| cx.core.sessions().get(id)))
            .map(|session| session.title),
        tree: (item.related.and_then(|related| cx.core.sessions().tree_of(related)))
            .map(|tree| tree.to_string_lossy().into_owned()),
    });
    Ok(Queue { items: items.collect() })
}

pub(crate) async fn resolve(cx: Cx, params: QueueResolve) -> Result<QueueResolved, Error> {
    let open = cx.core.queue().list().into_iter().map(|item| item.id);
    let id = pick("queue item", open, &params.id)?;
    let resolved = cx.core.queue().resolve(id).await?;
    Ok(QueueResolved { id: id.to_string(), resolved })
}

pub(crate) async fn timeline(cx: Cx, params: TimelineList) -> Result<Timeline, Error> {
    let session = session_filter(&cx.core, params.session.as_deref())?;
    let limit = params.limit.unwrap_or(USUAL_LINES).min(MOST_LINES);
    let items = cx.core.queue().timeline(session, limit);
    Ok(Timeline { items: items.iter().map(TimelineItem::from).collect() })
}
