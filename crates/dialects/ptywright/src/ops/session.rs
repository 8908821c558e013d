//! `session.*`.

use std::sync::Arc;

use rookery_core::TerminalHandle;
use rookery_model::{Error, ErrorKind, Size, SizeError};
use rookery_term::{Snapshot, paste};
use rookery_wire::rpc::{NoParams, RpcError};
use rustix::{io::Errno, process::Signal};

use super::launch;
use crate::{
    Cx,
    errors::{self, Origin},
    ids,
    screen::View,
    wire::{
        action::{Action, SignalName},
        redaction,
        session::{
            Closed, Create, Created, Input, Killed, Named, ReadScreen, ReadTranscript, Resize,
            Resized, Sent, Sessions, Transcript,
        },
        snapshot::ScreenSnapshot,
        wait::{Wait, Waited},
    },
};

const INTERRUPT: &[u8] = b"\x03";
const EOF: &[u8] = b"\x04";

fn io(error: Error) -> RpcError {
    errors::rpc(Origin::Io, &error)
}

/// `session.create`.
pub(crate) async fn create(cx: Cx, params: Create) -> Result<Created, RpcError> {
    let shared = Arc::clone(&cx.shared);
    let request = tokio::task::spawn_blocking(move || launch::request(params, &shared.home))
        .await
        .map_err(|error| RpcError::internal(error.to_string()))??;
    let opened = cx.core.open(request).await;
    let terminal = opened.map_err(|error| errors::rpc(Origin::Pty, &error))?;
    Ok(Created { session: ids::spell(terminal.id) })
}

/// `session.list`.
pub(crate) async fn list(cx: Cx, _params: NoParams) -> Result<Sessions, RpcError> {
    let mut sessions: Vec<_> =
        cx.core.terminals().iter().map(|terminal| ids::spell(terminal.id)).collect();
    sessions.sort_unstable();
    Ok(Sessions { sessions })
}

/// `session.input`.
pub(crate) async fn input(cx: Cx, params: Input) -> Result<Sent, RpcError> {
    let session = cx.session(&params.session)?;
    match params.action {
        Action::Text(text) | Action::Paste(text) => session.write(text.as_bytes()).map_err(io)?,
        Action::BracketedPaste(text) => session.write(&paste::bracketed(&text)).map_err(io)?,
        Action::Key(key) => session.write(key.0.legacy_bytes()).map_err(io)?,
        Action::Resize(size) => apply_size(&session, size.size()).await?,
        Action::Interrupt => session.write(INTERRUPT).map_err(io)?,
        Action::Eof => session.write(EOF).map_err(io)?,
        Action::Kill => end(&session).await?,
        Action::Signal(signal) => send_signal(&session, signal).await?,
        Action::MarkTranscript(mark) => {
            cx.shared.marks.retain(|id| cx.core.terminal(id).is_ok());
            cx.shared.marks.set(session.id(), mark.label, session.sequence());
        }
    }
    Ok(Sent::YES)
}

/// `session.wait`.
pub(crate) async fn wait(cx: Cx, params: Wait) -> Result<Waited, RpcError> {
    let session = cx.session(&params.session)?;
    let timeout = params.timeout();
    let policy = redaction::policy(params.redact.unwrap_or(false), params.redaction)?;
    let view = View { policy, cells: params.cells.unwrap_or(true) };
    let waited = session.wait(params.matcher.into_condition()?, timeout).await.map_err(io)?;
    let matched = waited.matched;
    Ok(Waited {
        elapsed_ms: u64::try_from(waited.elapsed.as_millis()).unwrap_or(u64::MAX),
        matched: true,
        sequence: matched.snapshot.sequence,
        snapshot: show(&cx, &session, &view, &matched.snapshot),
        transcript_tail: view.text(&matched.transcript_tail).into_owned(),
    })
}

/// `session.snapshot`.
pub(crate) async fn snapshot(cx: Cx, params: ReadScreen) -> Result<ScreenSnapshot, RpcError> {
    let session = cx.session(&params.session)?;
    let policy = redaction::policy(params.redact.unwrap_or(true), params.redaction)?;
    let view = View { policy, cells: params.cells.unwrap_or(true) };
    Ok(show(&cx, &session, &view, &session.snapshot()))
}

/// `session.transcript`.
pub(crate) async fn transcript(cx: Cx, params: ReadTranscript) -> Result<Transcript, RpcError> {
    let session = cx.session(&params.session)?;
    let policy = redaction::policy(params.redact.unwrap_or(true), params.redaction)?;
    let view = View { policy, cells: false };
    Ok(Transcript { text: view.text(&session.transcript()).into_owned() })
}

/// `session.resize`.
pub(crate) async fn resize(cx: Cx, params: Resize) -> Result<Resized, RpcError> {
    let session = cx.session(&params.session)?;
    apply_size(&session, params.size()).await?;
    Ok(Resized::YES)
}

/// `session.kill`.
pub(crate) async fn kill(cx: Cx, params: Named) -> Result<Killed, RpcError> {
    end(&cx.session(&params.session)?).await?;
    Ok(Killed::YES)
}

/// `session.close`.
pub(crate) async fn close(cx: Cx, params: Named) -> Result<Closed, RpcError> {
    let id = cx.session(&params.session)?.id();
    cx.core.close(id).await.map_err(|error| match error.kind() {
        // Someone else was faster.
        ErrorKind::NotFound => errors::unknown_session(&params.session),
        _ => io(error),
    })?;
    cx.shared.marks.retain(|other| other != id);
    Ok(Closed::YES)
}

fn show(
    cx: &Cx,
    session: &TerminalHandle,
    view: &View,
    snapshot: &Arc<Snapshot>,
) -> ScreenSnapshot {
    view.screen(snapshot, session.size(), &cx.shared.cells)
}

async fn apply_size(
    session: &TerminalHandle,
    size: Result<Size, SizeError>,
) -> Result<(), RpcError> {
    let size = size.map_err(|error| io(error.into()))?;
    session.resize(size).await.map_err(io)
}

async fn end(session: &TerminalHandle) -> Result<(), RpcError> {
    session.kill().await.map_err(|error| match error.kind() {
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
