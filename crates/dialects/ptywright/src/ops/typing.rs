//! Typing as a person does: the text first, a look at what became of it, then the key.
//!
//! A program that finds a text and a key in one read may take the key for a part of the text (Claude
//! Code 2.1 left its first prompt unsent in 8 of 9 tries), or let it act on what it drew last (Gemini
//! CLI 0.61). The bytes are the same; only the moment of the key differs.

use rookery_core::{Core, TerminalHandle, drawn};
use rookery_wire::rpc::RpcError;

use super::act;
use crate::{marks::Marks, wire::action::Action};

/// Carries out actions one after another.
pub(crate) async fn type_all(
    core: &Core,
    marks: &Marks,
    session: &TerminalHandle,
    actions: Vec<Action>,
) -> Result<(), RpcError> {
    let mut typed = None;
    for action in actions {
        if let (Action::Key(_), Some(progress)) = (&action, typed.take()) {
            drawn(progress).await;
        }
        if is_text(&action) {
            typed = Some(session.progress());
        }
        act::apply(core, marks, session, action).await?;
    }
    Ok(())
}

fn is_text(action: &Action) -> bool {
    match action {
        Action::Text(text) | Action::Paste(text) | Action::BracketedPaste(text) => !text.is_empty(),
        _ => false,
    }
}
