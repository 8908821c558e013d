//! `session.*`.

use std::sync::Arc;

use rookery_core::TerminalHandle;
use rookery_model::ErrorKind;
use rookery_term::Snapshot;
use rookery_watch as watch;
use rookery_wire::rpc::RpcError;

use super::{launch, process_of};
use crate::{
    Cx,
    errors::{self, io},
    ids,
    screen::View,
    waits::WaitTarget,
    wire::{
        session::{
            Closed, Create, Created, Described, Input, Killed, List, Named, ReadScreen,
            ReadTranscript, Resize, Resized, Sent, Sessions, Transcript,
        },
        snapshot::ScreenSnapshot,
        wait::{Wait, Waited},
    },
};

/// `session.create`.
pub(crate) async fn create(cx: Cx, params: Create) -> Result<Created, RpcError> {
    let terminal = launch::open(&cx, params).await?;
    Ok(Created { session: ids::spell(terminal.id) })
}

/// `session.list`.
pub(crate) async fn list(cx: Cx, params: List) -> Result<Sessions, RpcError> {
    let terminals = cx.core.terminals().list();
    let mut named: Vec<_> =
        terminals.iter().map(|terminal| (ids::spell(terminal.id), terminal)).collect();
    named.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    let details = params
        .details
        .then(|| named.iter().map(|(_, terminal)| Described::from(&***terminal)).collect());
    Ok(Sessions { sessions: named.into_iter().map(|(id, _)| id).collect(), details })
}

/// `session.input`.
pub(crate) async fn input(cx: Cx, params: Input) -> Result<Sent, RpcError> {
    let session = cx.session(&params.session)?;
    let marks = cx.shared.adapters.marks();
    watch::apply(&cx.core, marks, &session, params.action.into()).await.map_err(io)?;
    Ok(Sent::YES)
}

/// `session.wait`.
pub(crate) async fn wait(cx: Cx, params: Wait) -> Result<Waited, RpcError> {
    let session = cx.session(&params.session)?;
    let timeout = params.timeout();
    let view = params.look.view().await?;
    let (condition, _) = params.matcher.compiled().await?;
    let mut ticket = super::enter(&cx, params.wait_id.as_deref(), || {
        WaitTarget::Session(params.session.clone())
    })?;
    let waited = tokio::select! {
        waited = session.wait(condition, view.detail(), timeout) => waited.map_err(io)?,
        () = ticket.cancelled() => return Err(errors::cancelled()),
    };
    let matched = waited.matched;
    Ok(Waited {
        elapsed_ms: u64::try_from(waited.elapsed.as_millis()).unwrap_or(u64::MAX),
        matched: true,
        sequence: matched.snapshot.sequence,
        snapshot: show(&cx, &session, &view, &matched.snapshot),
        transcript_tail: view.tail(&matched.transcript_tail).into_owned(),
        process: process_of(&cx, session.id()),
    })
}

/// `session.snapshot`.
pub(crate) async fn snapshot(cx: Cx, params: ReadScreen) -> Result<ScreenSnapshot, RpcError> {
    let session = cx.session(&params.session)?;
    let view = params.look.view().await?;
    let mut screen = show(&cx, &session, &view, &session.snapshot(view.detail()));
    screen.process = process_of(&cx, session.id());
    Ok(screen)
}

/// `session.transcript`.
pub(crate) async fn transcript(cx: Cx, params: ReadTranscript) -> Result<Transcript, RpcError> {
    let session = cx.session(&params.session)?;
    let view = params.look.view().await?;
    Ok(Transcript { text: view.tail(&session.transcript()).into_owned() })
}

/// `session.resize`.
pub(crate) async fn resize(cx: Cx, params: Resize) -> Result<Resized, RpcError> {
    let session = cx.session(&params.session)?;
    let size = params.size().map_err(|error| io(error.into()))?;
    session.resize(size).await.map_err(io)?;
    Ok(Resized::YES)
}

/// `session.kill`.
pub(crate) async fn kill(cx: Cx, params: Named) -> Result<Killed, RpcError> {
    watch::kill(&cx.session(&params.session)?).await.map_err(io)?;
    Ok(Killed::YES)
}

/// `session.close`.
pub(crate) async fn close(cx: Cx, params: Named) -> Result<Closed, RpcError> {
    let id = cx.session(&params.session)?.id();
    cx.core.terminals().close(id).await.map_err(|error| match error.kind() {
        // Someone else was faster.
        ErrorKind::NotFound => errors::unknown_session(&params.session),
        _ => io(error),
    })?;
    cx.shared.adapters.marks().retain(|other| other != id);
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
