//! Carrying out actions: the one place where something is done to a session, for every kind of request.

use rookery_core::{Core, StrayAction, TerminalHandle};
use rookery_model::{Error, ErrorKind, Size, SizeError};
use rookery_term::paste;
use rookery_wire::rpc::RpcError;
use rustix::{io::Errno, process::Signal};

use crate::{
    errors::{self, Origin},
    marks::Marks,
    wire::action::{Action, SignalName},
};

const INTERRUPT: &[u8] = b"\x03";
const EOF: &[u8] = b"\x04";

/// An error of the machine, in this dialect's words.
pub(super) fn io(error: Error) -> RpcError {
    errors::rpc(Origin::Io, &error)
}

/// Does something to a session.
pub(super) async fn apply(
    core: &Core,
    marks: &Marks,
    session: &TerminalHandle,
    action: Action,
) -> Result<(), RpcError> {
    match action {
        Action::Text(text) | Action::Paste(text) => {
            session.write_all(text.as_bytes()).await.map_err(io)
        }
        Action::BracketedPaste(text) => {
            session.write_all(&paste::bracketed(&text)).await.map_err(io)
        }
        Action::Key(key) => session.write_all(key.0.legacy_bytes()).await.map_err(io),
        Action::Resize(size) => resize(session, size.size()).await,
        Action::Interrupt => session.write(INTERRUPT).map_err(io),
        Action::Eof => session.write(EOF).map_err(io),
        Action::Kill => end(session).await,
        Action::Signal(signal) => send_signal(session, signal).await,
        Action::MarkTranscript(mark) => {
            marks.retain(|id| core.terminal(id).is_ok());
            marks.set(session.id(), mark.label, session.chars_written());
            Ok(())
        }
    }
}

/// Changes the size of a session.
pub(super) async fn resize(
    session: &TerminalHandle,
    size: Result<Size, SizeError>,
) -> Result<(), RpcError> {
    let size = size.map_err(|error| io(error.into()))?;
    session.resize(size).await.map_err(io)
}

/// Kills the child of a session.
pub(super) async fn end(session: &TerminalHandle) -> Result<(), RpcError> {
    session.kill(StrayAction::Name).await.map(drop).map_err(|error| match error.kind() {
        // Killed and reaped before: the original asks the kernel again and passes its answer on.
        ErrorKind::Closed => {
            errors::failed(Origin::Io, &std::io::Error::from(Errno::SRCH).to_string())
        }
        _ => io(error),
    })
}

async fn send_signal(session: &TerminalHandle, signal: SignalName) -> Result<(), RpcError> {
    let signal = match signal {
        SignalName::Int => return session.write(INTERRUPT).map_err(io),
        SignalName::Kill => return end(session).await,
        SignalName::Term => Signal::TERM,
        SignalName::Hup => Signal::HUP,
        SignalName::Quit => Signal::QUIT,
        SignalName::User1 => Signal::USR1,
        SignalName::User2 => Signal::USR2,
    };
    match session.signal(signal.as_raw(), false) {
        // A child that ended by itself takes signals in silence, just as it takes input; one that
        // was killed takes neither.
        Err(error) if error.kind() == ErrorKind::Closed => session.write(&[]).map_err(io),
        sent => sent.map_err(io),
    }
}
