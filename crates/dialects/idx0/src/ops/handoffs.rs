//! Handoffs.

use rookery_core::NewHandoff;
use rookery_model::{CheckpointId, ErrorKind, HandoffId};

use super::listed;
use crate::context::Cx;
use crate::envelope::Reply;
use crate::errors::Failure;
use crate::ids::{self, Payload, filled, text_or};
use crate::values::{list as parts, uuid};
use crate::wire::{Handoff, read_handoff_status};

pub(crate) async fn create(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let from = ids::session(&cx.core, &payload)?.id.into();
    let target = filled(&payload, "targetSession").map(|query| ids::resolve(&cx.core, query));
    let (to, warning) = match target {
        None => (None, None),
        Some(Ok(session)) => (Some(session.id), None),
        Some(Err(_)) => {
            let query = payload.get("targetSession").map_or("", String::as_str);
            (None, Some(format!("Unable to resolve session '{query}'; the handoff has no target")))
        }
    };
    let words = |key: &str| payload.get(key).map_or_else(Vec::new, |text| parts(text));
    let handoffs = cx.core.handoffs();
    let handoff = handoffs.create(NewHandoff {
        from,
        to,
        checkpoint: ids::id(&payload, "checkpointID").map(CheckpointId::new),
        title: text_or(&payload, "title", "Handoff"),
        summary: text_or(&payload, "summary", "Handoff requested"),
        risks: words("risks"),
        next_actions: words("nextActions"),
    });
    let reply = Reply::ok("Handoff created").with("handoffID", uuid(handoff.await?.id.get()));
    Ok(match warning {
        Some(warning) => reply.with("warning", warning),
        None => reply,
    })
}

pub(crate) async fn set_status(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let id = ids::id(&payload, "handoffID").ok_or_else(|| Failure::new("Missing handoffID"))?;
    let status = payload.get("status").and_then(|status| read_handoff_status(status));
    let status = status.ok_or_else(|| Failure::new("Missing or invalid handoff status"))?;
    match cx.core.handoffs().set_status(HandoffId::new(id), status).await {
        Ok(_) => Ok(Reply::ok("Handoff updated")),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(Failure::new("Handoff not found."))
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn list(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let session = match filled(&payload, "session") {
        Some(query) => Some(ids::resolve(&cx.core, query)?.id),
        None => None,
    };
    let handoffs = cx.core.handoffs().list();
    let wanted = handoffs.iter().filter(|handoff| {
        session.is_none_or(|session| {
            handoff.from.session() == Some(session) || handoff.to == Some(session)
        })
    });
    Ok(listed(&wanted.map(Handoff::from).collect::<Vec<_>>()))
}
