//! Commands at work, whoever started them.

use rookery_core::{ProcessState, ProcessView};
use rookery_wire::rpc;

use crate::context::Cx;
use crate::errors::Error;
use crate::fit;
use crate::show;
use crate::wire::notification::name;
use crate::wire::process::{
    Process, ProcessIdParams, ProcessStatus, ProcessesGetParams, ProcessesGetResult,
    ProcessesListParams, ProcessesListResult, ProcessesStopAllResult, ProcessesStopResult,
    ProcessesSubscribeParams, ProcessesSubscribeResult,
};

/// How much of a command's output is shown unless told.
const OUTPUT: u64 = 16 << 10;

pub(crate) async fn list(
    cx: Cx,
    params: ProcessesListParams,
) -> Result<ProcessesListResult, Error> {
    Ok(ProcessesListResult { processes: all(&cx, params.include_completed, None) })
}

fn all(cx: &Cx, includes_ended: bool, only: Option<&str>) -> Vec<Process> {
    let views = cx.core.processes(includes_ended);
    let wanted = views.iter().filter(|view| only.is_none_or(|id| view.process_id == id));
    wanted.map(process).collect()
}

pub(crate) async fn get(cx: Cx, params: ProcessesGetParams) -> Result<ProcessesGetResult, Error> {
    let bytes = usize::try_from(params.output_bytes.unwrap_or(OUTPUT)).unwrap_or(usize::MAX);
    let found = cx.core.process(&params.process_id, bytes)?;
    Ok(ProcessesGetResult {
        process: process(&found.view),
        stdout: String::from_utf8_lossy(&found.output).into_owned(),
        stderr: String::new(),
    })
}

pub(crate) async fn stop(cx: Cx, params: ProcessIdParams) -> Result<ProcessesStopResult, Error> {
    let stopped = cx.core.stop_process(&params.process_id).await?;
    Ok(ProcessesStopResult { process_id: params.process_id, stopped })
}

pub(crate) async fn stop_all(
    cx: Cx,
    _params: rpc::NoParams,
) -> Result<ProcessesStopAllResult, Error> {
    Ok(ProcessesStopAllResult { stopped_process_ids: cx.core.stop_processes().await })
}

/// Tells this client whenever a command begins or ends, until it is gone.
pub(crate) async fn subscribe(
    cx: Cx,
    params: ProcessesSubscribeParams,
) -> Result<ProcessesSubscribeResult, Error> {
    let mut changes = cx.core.process_changes();
    changes.mark_unchanged();
    let processes = all(&cx, true, params.process_id.as_deref());
    if cx.client.begins_to_watch_processes() {
        tokio::spawn(async move {
            let outbox = cx.connection.outbox().clone();
            loop {
                tokio::select! {
                    changed = changes.changed() => if changed.is_err() { return },
                    () = outbox.cancelled() => return,
                }
                let processes = all(&cx, true, params.process_id.as_deref());
                let told = ProcessesSubscribeResult { processes };
                let Ok(body) = fit::notification(name::PROCESSES_UPDATED, &told) else { continue };
                if outbox.send(body).await.is_err() {
                    return;
                }
            }
        });
    }
    Ok(ProcessesSubscribeResult { processes })
}

fn process(view: &ProcessView) -> Process {
    let (status, exit_code) = match view.state {
        ProcessState::Running => (ProcessStatus::Running, None),
        ProcessState::Exited { code: 0 } => (ProcessStatus::Completed, Some(0)),
        ProcessState::Exited { code } => (ProcessStatus::Failed, Some(code)),
        ProcessState::Signaled { .. } => (ProcessStatus::Stopped, Some(-1)),
        ProcessState::TimedOut => (ProcessStatus::TimedOut, Some(-1)),
    };
    Process {
        process_id: view.process_id.clone(),
        command: view.command.clone(),
        cwd: view.cwd.to_string_lossy().into_owned(),
        status,
        pid: Some(view.pid),
        exit_code,
        tty: view.tty,
        terminal_id: view.terminal.map(|terminal| terminal.to_string()),
        thread_id: None,
        turn_id: None,
        started_at: show::time(view.started_at),
        completed_at: view.ended_at.map(show::time),
    }
}
