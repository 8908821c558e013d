//! Checkpoints.

use rookery_core::NewCheckpoint;

use super::listed;
use crate::context::Cx;
use crate::envelope::Reply;
use crate::errors::Failure;
use crate::ids::{self, Payload, filled, text_or};
use crate::values::{is_true, uuid};
use crate::wire::Checkpoint;

pub(crate) async fn create(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let place = ids::session(&cx.core, &payload)?.id.into();
    cx.core.check_place(&place)?;
    let flag = |key: &str| payload.get(key).is_some_and(|value| is_true(value));
    let new = NewCheckpoint {
        place,
        title: text_or(&payload, "title", "Checkpoint"),
        summary: text_or(&payload, "summary", "Manual checkpoint"),
        review: flag("requestReview"),
    };
    let id = cx.core.checkpoints().new_id();
    if flag("wait") {
        cx.core.checkpoints().make_or_report(id, new).await?;
    } else {
        cx.core.checkpoints().make_soon(id, new).await?;
    }
    Ok(Reply::ok("Checkpoint requested").with("checkpointID", uuid(id.get())))
}

pub(crate) async fn list(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let session = match filled(&payload, "session") {
        Some(query) => Some(ids::resolve(&cx.core, query)?.id),
        None => None,
    };
    let all = cx.core.checkpoints().list();
    let wanted =
        all.iter().filter(|one| session.is_none_or(|session| one.place.session() == Some(session)));
    Ok(listed(&wanted.map(Checkpoint::from).collect::<Vec<_>>()))
}
