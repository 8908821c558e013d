//! Handoffs: work that another session continues.

use rookery_core::NewHandoff;

use super::named::{pick, place, session, session_filter, text_or, tree_filter};
use crate::{
    Cx, Error,
    wire::{Handoff, HandoffCreate, HandoffList, HandoffSetStatus, Handoffs},
};

pub(crate) async fn list(cx: Cx, params: HandoffList) -> Result<Handoffs, Error> {
    let session = session_filter(&cx.core, params.session.as_deref())?;
    let tree = tree_filter(&cx.core, params.tree.as_deref()).await?;
    let all = cx.core.handoffs().list();
    let wanted = all.iter().filter(|one| {
        session.is_none_or(|id| one.from.session() == Some(id) || one.to == Some(id))
            && (tree.as_deref())
                .is_none_or(|tree| cx.core.sessions().is_about(&one.from, one.checkpoint, tree))
    });
    Ok(Handoffs { handoffs: wanted.map(Handoff::from).collect() })
}

pub(crate) async fn create(cx: Cx, params: HandoffCreate) -> Result<Handoff, Error> {
    let (from, tree) = (params.from.as_deref(), params.tree.as_deref());
    let from = place(&cx.core, "from", from, tree).await?;
    let to = match &params.to {
        Some(word) => Some(session(&cx.core, "to", word)?.id),
        None => None,
    };
    let checkpoint = match &params.checkpoint {
        Some(text) => {
            let id = cx.checkpoint_id(text)?;
            Some(cx.core.checkpoints().get(id)?.id)
        }
        None => None,
    };
    let new = NewHandoff {
        from,
        to,
        checkpoint,
        title: text_or(params.title, "Handoff"),
        summary: text_or(params.summary, "Handoff requested"),
        risks: params.risks,
        next_actions: params.next_actions,
    };
    Ok(Handoff::from(&cx.core.handoffs().create(new).await?))
}

pub(crate) async fn set_status(cx: Cx, params: HandoffSetStatus) -> Result<Handoff, Error> {
    let known = cx.core.handoffs().list().into_iter().map(|one| one.id);
    let id = pick("handoff", known, &params.id)?;
    let handoff = cx.core.handoffs().set_status(id, params.status.into()).await?;
    Ok(Handoff::from(&handoff))
}
