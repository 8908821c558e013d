//! How the card stands that a viewer has open.

use rookery_core::Core;
use rookery_view::link::CardNews;

use super::Session;
use crate::make;

/// The state of the open card, if it is another than was told.
pub(super) fn news(core: &Core, session: &Session, sent: &mut Vec<CardNews>) -> Vec<CardNews> {
    let open = session.look(|state| state.card);
    let now: Vec<CardNews> = open
        .and_then(|id| core.requests().recent(id))
        .map(|request| {
            let (state, by, at) = make::request_state(&request);
            CardNews { request: request.id.to_string(), state: state.to_owned(), by, at }
        })
        .into_iter()
        .collect();
    if *sent == now {
        return Vec::new();
    }
    sent.clone_from(&now);
    now
}
