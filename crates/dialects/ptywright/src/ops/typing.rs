//! Typing as a person does: the text first, a look at what became of it, then the key.
//!
//! A program that finds a text and a key in one read may take the key for a part of the text (Claude
//! Code 2.1 left its first prompt unsent in 8 of 9 tries), or let it act on what it drew last (Gemini
//! CLI 0.61). The bytes are the same; only the moment of the key differs.

use std::time::Duration;

use rookery_core::{Core, Progress, TerminalHandle};
use rookery_wire::rpc::RpcError;
use tokio::{
    sync::watch::Receiver,
    time::{Instant, timeout},
};

use super::act;
use crate::{marks::Marks, wire::action::Action};

/// How long a program may take to show a text. One that shows nothing (a password) gets the key then.
const ECHO: Duration = Duration::from_millis(150);
/// How long the screen must be still for the text to count as drawn.
const STILL: Duration = Duration::from_millis(25);
/// A screen that never is still gets the key after this.
const LONGEST: Duration = Duration::from_millis(400);

/// Carries out actions one after another.
pub(crate) async fn type_all(
    core: &Core,
    marks: &Marks,
    session: &TerminalHandle,
    actions: Vec<Action>,
) -> Result<(), RpcError> {
    let mut drawn = None;
    for action in actions {
        if let (Action::Key(_), Some(progress)) = (&action, drawn.take()) {
            settle(progress).await;
        }
        if is_text(&action) {
            drawn = Some(session.progress());
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

/// Waits until the program has drawn what was typed, as far as that can be seen.
async fn settle(mut progress: Receiver<Progress>) {
    let longest = Instant::now() + LONGEST;
    let mut patience = ECHO;
    while timeout(patience, progress.changed()).await.is_ok_and(|changed| changed.is_ok()) {
        if Instant::now() >= longest {
            return;
        }
        patience = STILL;
    }
}
