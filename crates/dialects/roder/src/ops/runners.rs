//! Runners: listed, selected, opened, held, let go of and deleted.

use rookery_core::{
    Deleted, NewDestination, Opener, PortAction, RunnerAction, RunnerChange, RunnerState,
    TakenSnapshot,
};
use rookery_model as model;
use rookery_wire::rpc::NoParams;

use crate::context::Cx;
use crate::errors::Error;
use crate::show;
use crate::wire::dual::Dual;
use crate::wire::runner::{
    PortsAction, RunnerArtifact, RunnerCapabilities, RunnerLifecycle, RunnerMounts, RunnerPort,
    RunnerProvider, RunnerSessionState, RunnerSnapshot, RunnerStatus, RunnersActionResult,
    RunnersActiveResult, RunnersDeleteParams, RunnersDeleteResult, RunnersExportParams,
    RunnersExportResult, RunnersListResult, RunnersPortsParams, RunnersPortsResult,
    RunnersRejoinParams, RunnersSelectParams, RunnersSessionParams, RunnersSessionResult,
    RunnersSnapshotParams, RunnersSnapshotResult, RunnersThreadParams, ThreadRunner,
};

/// How long a label may be.
const MAX_LABEL: usize = 200;

pub(crate) async fn list(cx: Cx, _: NoParams) -> Result<RunnersListResult, Error> {
    let seen = cx.flushed(cx.core.runners().list()).await;
    let provider = |view: rookery_core::ProviderView| {
        let can = view.capabilities;
        Dual(RunnerProvider {
            provider_id: view.id.to_owned(),
            capabilities: Dual(RunnerCapabilities {
                command_exec: can.command_exec,
                file_read: can.file_read,
                file_write: can.file_write,
                port_preview: can.port_preview,
                snapshots: can.snapshots,
                cancellation: can.cancellation,
                artifact_export: can.artifact_export,
                pausable: can.pausable,
                detachable: can.detachable,
                mounts: Dual(RunnerMounts {
                    s3: false,
                    gcs: false,
                    r2: false,
                    azure_blob: false,
                    box_storage: false,
                    provider_native: can.mounts.provider_native,
                }),
            }),
            setup_hint: view.setup_hint,
        })
    };
    Ok(RunnersListResult {
        active: seen.active.map(status),
        providers: seen.providers.into_iter().map(provider).collect(),
        sessions: seen.sessions.into_iter().map(status).collect(),
    })
}

pub(crate) async fn select(
    cx: Cx,
    params: RunnersSelectParams,
) -> Result<RunnersActiveResult, Error> {
    let provider = params.provider_id.unwrap_or_else(|| params.destination_id.clone());
    let new = NewDestination {
        id: params.destination_id,
        provider,
        config: params.config,
        manifest: params.manifest,
        cwd: cx.cwd(),
    };
    let selected = cx.flushed(cx.core.runners().select(new)).await;
    let active = selected.map_err(Error::with_details)?;
    Ok(RunnersActiveResult { active: Some(status(active)) })
}

pub(crate) async fn session(
    cx: Cx,
    params: RunnersSessionParams,
) -> Result<RunnersSessionResult, Error> {
    let thread = thread(&cx, params.thread_id.as_deref())?;
    let runners = cx.core.runners();
    let by = Opener { client: cx.client.number(), thread };
    let session = cx.flushed(runners.session(by, params.ensure)).await?;
    let session = session.and_then(|session| {
        Some(Dual(RunnerSessionState {
            provider_id: session.status.provider,
            session_id: session.status.session?,
            destination_id: session.status.destination,
            snapshot: session.snapshot.map(snapshot_of),
            metadata: session.metadata,
        }))
    });
    Ok(RunnersSessionResult { active: runners.active(thread).map(status), session })
}

pub(crate) async fn snapshot(
    cx: Cx,
    params: RunnersSnapshotParams,
) -> Result<RunnersSnapshotResult, Error> {
    let thread = thread(&cx, params.thread_id.as_deref())?;
    let label = label(params.label)?;
    let taken = cx.flushed(cx.core.runners().snapshot(thread, label.as_deref())).await?;
    Ok(RunnersSnapshotResult { snapshot: taken.map(snapshot_of) })
}

pub(crate) async fn export(
    cx: Cx,
    params: RunnersExportParams,
) -> Result<RunnersExportResult, Error> {
    let thread = thread(&cx, params.thread_id.as_deref())?;
    let made = cx.core.runners().export(thread, &params.path, params.recursive).await?;
    let artifact = RunnerArtifact {
        path: made.path,
        artifact_id: made.id,
        url: made.url,
        metadata: made.metadata,
    };
    Ok(RunnersExportResult { artifact: Dual(artifact) })
}

pub(crate) async fn delete(
    cx: Cx,
    params: RunnersDeleteParams,
) -> Result<RunnersDeleteResult, Error> {
    let destination = params.destination_id.as_deref();
    let runners = cx.core.runners();
    let Deleted { deleted, kept } = cx.flushed(runners.delete(destination, params.force)).await?;
    let kept = kept.map(|path| path.to_string_lossy().into_owned());
    Ok(RunnersDeleteResult { deleted, kept })
}

pub(crate) async fn ports(cx: Cx, params: RunnersPortsParams) -> Result<RunnersPortsResult, Error> {
    let thread = thread(&cx, params.thread_id.as_deref())?;
    let port = params.port.filter(|port| *port > 0);
    let missing = || Error::invalid("port must be 1 to 65535");
    let action = match params.action {
        PortsAction::List => PortAction::List,
        PortsAction::Expose => PortAction::Expose(port.ok_or_else(missing)?, label(params.label)?),
        PortsAction::Close => PortAction::Close(port.ok_or_else(missing)?),
    };
    let ports = cx.flushed(cx.core.runners().ports(thread, action)).await?;
    let ports = ports.into_iter().map(|it| {
        let (port, url, label, local_port) = (it.port, it.url, it.label, it.local_port);
        Dual(RunnerPort { port, url, label, local_port })
    });
    Ok(RunnersPortsResult { ports: ports.collect() })
}

pub(crate) async fn pause(
    cx: Cx,
    params: RunnersThreadParams,
) -> Result<Dual<RunnersActionResult>, Error> {
    act(cx, &params.thread_id, RunnerAction::Pause, None).await
}

pub(crate) async fn resume(
    cx: Cx,
    params: RunnersThreadParams,
) -> Result<Dual<RunnersActionResult>, Error> {
    act(cx, &params.thread_id, RunnerAction::Resume, None).await
}

pub(crate) async fn detach(
    cx: Cx,
    params: RunnersThreadParams,
) -> Result<Dual<RunnersActionResult>, Error> {
    act(cx, &params.thread_id, RunnerAction::Detach, None).await
}

pub(crate) async fn rejoin(
    cx: Cx,
    params: RunnersRejoinParams,
) -> Result<Dual<RunnersActionResult>, Error> {
    act(cx, &params.thread_id, RunnerAction::Rejoin, params.sandbox.as_deref()).await
}

async fn act(
    cx: Cx,
    id: &str,
    action: RunnerAction,
    sandbox: Option<&str>,
) -> Result<Dual<RunnersActionResult>, Error> {
    let id = id.parse().map_err(|_| Error::invalid(format!("unknown thread: {id}")))?;
    let done = cx.flushed(cx.core.runners().act(id, action, sandbox)).await?;
    let word = match action {
        RunnerAction::Pause => "pause",
        RunnerAction::Resume => "resume",
        RunnerAction::Detach => "detach",
        RunnerAction::Rejoin => "rejoin",
    };
    Ok(Dual(RunnersActionResult {
        action: word.to_owned(),
        provider_id: done.provider,
        session_id: done.session,
        paused: done.is_paused,
        detached: done.is_detached,
    }))
}

/// The thread that a request names; one that is not there is an error.
fn thread(cx: &Cx, id: Option<&str>) -> Result<Option<model::ThreadId>, Error> {
    let Some(id) = id else { return Ok(None) };
    let found = id.parse().ok().filter(|id| cx.core.threads().get(*id).is_some());
    found.map(Some).ok_or_else(|| Error::invalid(format!("unknown thread: {id}")))
}

fn label(label: Option<String>) -> Result<Option<String>, Error> {
    let fits = |label: &String| label.len() <= MAX_LABEL && !label.contains(char::is_control);
    match label.as_ref().is_none_or(fits) {
        true => Ok(label),
        false => {
            Err(Error::invalid(format!("label must be at most {MAX_LABEL} bytes of plain text")))
        }
    }
}

fn status(status: rookery_core::RunnerStatus) -> Dual<RunnerStatus> {
    Dual(RunnerStatus {
        destination_id: status.destination,
        provider_id: status.provider,
        state: word(status.state).to_owned(),
        session_id: status.session,
    })
}

fn snapshot_of(taken: TakenSnapshot) -> Dual<RunnerSnapshot> {
    let TakenSnapshot { provider, id, metadata } = taken;
    Dual(RunnerSnapshot { provider_id: provider, snapshot_id: id, metadata })
}

fn word(state: RunnerState) -> &'static str {
    match state {
        RunnerState::Configured => "configured",
        RunnerState::Active => "active",
        RunnerState::Paused => "paused",
        RunnerState::Detached => "detached",
        RunnerState::Failed => "failed",
        RunnerState::Deleted => "deleted",
    }
}

/// A change of a destination as it is told.
pub(crate) fn lifecycle(at: model::Timestamp, change: &RunnerChange) -> Dual<RunnerLifecycle> {
    Dual(RunnerLifecycle {
        destination_id: change.destination.clone(),
        provider_id: change.provider.clone(),
        state: word(change.state).to_owned(),
        session_id: change.session.clone(),
        timestamp: show::time(at),
    })
}

/// Where the tools of a thread run.
pub(crate) fn of_thread(cx: &Cx, bound: &model::RunnerBinding) -> ThreadRunner {
    let text = |path: &std::path::PathBuf| path.to_string_lossy().into_owned();
    let status = cx.core.runners().status_of(bound);
    let state = status.as_ref().map_or(RunnerState::Deleted, |status| status.state);
    ThreadRunner {
        destination_id: model::shown_destination(&bound.destination).to_owned(),
        provider_id: bound.provider.clone(),
        workspace: text(&bound.workspace),
        read_roots: bound.read_roots.iter().map(text).collect(),
        state: word(state).to_owned(),
        session_id: status.and_then(|status| status.session),
    }
}
