//! Typing as a person does: the text first, a look at what became of it, then the key. The one place
//! where something is done to a session, whoever asked.
//!
//! A program that finds a text and a key in one read may take the key for a part of the text (Claude
//! Code 2.1 left its first prompt unsent in 8 of 9 tries), or let it act on what it drew last (Gemini
//! CLI 0.61). The bytes are the same; only the moment of the key differs.

use rookery_core::{Core, StrayAction, TerminalHandle, drawn};
use rookery_model::{Error, ErrorKind, Result};
use rookery_term::paste;
use rustix::{io::Errno, process::Signal};

use crate::{
    action::{Action, SignalName},
    marks::Marks,
};

const INTERRUPT: &[u8] = b"\x03";
const EOF: &[u8] = b"\x04";

/// Carries out actions one after another.
///
/// # Errors
/// At the first one that fails; those before it are done.
pub async fn type_all(
    core: &Core,
    marks: &Marks,
    session: &TerminalHandle,
    actions: Vec<Action>,
) -> Result<()> {
    let mut typed = None;
    for action in actions {
        if let (Action::Key(_), Some(progress)) = (&action, typed.take()) {
            drawn(progress).await;
        }
        if is_text(&action) {
            typed = Some(session.progress());
        }
        apply(core, marks, session, action).await?;
    }
    Ok(())
}

fn is_text(action: &Action) -> bool {
    match action {
        Action::Text(text) | Action::Paste(text) | Action::BracketedPaste(text) => !text.is_empty(),
        _ => false,
    }
}

/// Does something to a session.
///
/// # Errors
/// If the session takes no input any more, or a size is out of bounds.
pub async fn apply(
    core: &Core,
    marks: &Marks,
    session: &TerminalHandle,
    action: Action,
) -> Result<()> {
    match action {
        Action::Text(text) | Action::Paste(text) => session.write_all(text.as_bytes()).await,
        Action::BracketedPaste(text) => session.write_all(&paste::bracketed(&text)).await,
        Action::Key(key) => session.write_all(key.0.legacy_bytes()).await,
        Action::Resize(size) => session.resize(size.size()?).await,
        Action::Interrupt => session.write(INTERRUPT),
        Action::Eof => session.write(EOF),
        Action::Kill => kill(session).await,
        Action::Signal(signal) => send_signal(session, signal).await,
        Action::MarkTranscript(mark) => {
            marks.retain(|id| core.terminals().get(id).is_ok());
            marks.set(session.id(), mark.label, session.chars_written());
            Ok(())
        }
    }
}

/// Kills the child of a session.
///
/// # Errors
/// If it is gone already.
pub async fn kill(session: &TerminalHandle) -> Result<()> {
    session.kill(StrayAction::Report).await.map(drop).map_err(|error| match error.kind() {
        // Killed and reaped before: what the kernel would say if it were asked again.
        ErrorKind::Closed => Error::failed(std::io::Error::from(Errno::SRCH).to_string()),
        _ => error,
    })
}

async fn send_signal(session: &TerminalHandle, signal: SignalName) -> Result<()> {
    let signal = match signal {
        SignalName::Int => return session.write(INTERRUPT),
        SignalName::Kill => return kill(session).await,
        SignalName::Term => Signal::TERM,
        SignalName::Hup => Signal::HUP,
        SignalName::Quit => Signal::QUIT,
        SignalName::User1 => Signal::USR1,
        SignalName::User2 => Signal::USR2,
    };
    match session.signal(signal.as_raw(), false) {
        // A child that ended by itself takes signals in silence, just as it takes input; one that
        // was killed takes neither.
        Err(error) if error.kind() == ErrorKind::Closed => session.write(&[]),
        sent => sent,
    }
}
