//! Running commands, of all clients.

use rookery_core::{ProcessState, ProcessView, Shows};
use rookery_wire::rpc;

use crate::context::Cx;
use crate::errors::Error;
use crate::fit;
use crate::show;
use crate::wire::exec::OutputStream;
use crate::wire::notification::name;
use crate::wire::process::{
    self, Process, ProcessIdParams, ProcessOrigin, ProcessStatus, ProcessStopResult,
    ProcessesGetParams, ProcessesGetResult, ProcessesListParams, ProcessesListResult,
    ProcessesStopAllResult, ProcessesStopResult, ProcessesSubscribeParams,
    ProcessesSubscribeResult, ProcessesUpdated,
};

/// How much of a command's output is shown unless told.
const OUTPUT: u64 = 16 << 10;
/// The error of a command that took too long.
const TIMED_OUT: &str = "the command timed out";
/// Words in an argument that make it one to be left out of a summary.
const SECRETS: [&str; 8] =
    ["token", "secret", "password", "passwd", "apikey", "api_key", "authorization", "bearer"];
/// What stands in its place.
const REDACTED: &str = "<redacted>";

pub(crate) async fn list(
    cx: Cx,
    params: ProcessesListParams,
) -> Result<ProcessesListResult, Error> {
    Ok(ProcessesListResult { processes: all(&cx, params.include_completed, None) })
}

fn all(cx: &Cx, includes_ended: bool, only: Option<&str>) -> Vec<Process> {
    let views = cx.core.commands().list(includes_ended);
    let wanted = views.iter().filter(|view| only.is_none_or(|id| view.process_id == id));
    wanted.map(process).collect()
}

pub(crate) async fn get(cx: Cx, params: ProcessesGetParams) -> Result<ProcessesGetResult, Error> {
    let bytes = usize::try_from(params.output_bytes.unwrap_or(OUTPUT)).unwrap_or(usize::MAX);
    let found = cx.core.commands().get(&params.process_id, bytes)?;
    let process = process(&found.view);
    let stdout = String::from_utf8_lossy(&found.output).into_owned();
    let output = process::ProcessOutput {
        process_id: process.process_id.clone(),
        stream: OutputStream::Stdout,
        chunk: stdout.clone(),
        dropped_bytes: found.total.saturating_sub(found.output.len() as u64),
        timestamp: process.updated_at.clone(),
    };
    let output = (found.total > 0).then_some(output).into_iter().collect();
    Ok(ProcessesGetResult { process, output, stdout, stderr: String::new() })
}

pub(crate) async fn stop(cx: Cx, params: ProcessIdParams) -> Result<ProcessesStopResult, Error> {
    let process_id = params.process_id;
    let stopped = cx.core.commands().stop(&process_id).await?;
    let result = stop_result(&cx, process_id.clone(), stopped);
    Ok(ProcessesStopResult { result, process_id, stopped })
}

pub(crate) async fn stop_all(
    cx: Cx,
    _params: rpc::NoParams,
) -> Result<ProcessesStopAllResult, Error> {
    let stopped = cx.core.commands().stop_all().await;
    let results = stopped.iter().map(|id| stop_result(&cx, id.clone(), true)).collect();
    Ok(ProcessesStopAllResult { results, stopped_process_ids: stopped })
}

fn stop_result(cx: &Cx, process_id: String, stopped: bool) -> ProcessStopResult {
    let process = cx.core.commands().get(&process_id, 0).ok().map(|found| process(&found.view));
    ProcessStopResult { process_id, stopped, process }
}

/// Tells this client whenever a command begins or ends, until it is gone.
pub(crate) async fn subscribe(
    cx: Cx,
    params: ProcessesSubscribeParams,
) -> Result<ProcessesSubscribeResult, Error> {
    let mut changes = cx.core.log().changes(&[Shows::Commands]);
    let processes = all(&cx, true, params.process_id.as_deref());
    if cx.client.begins_to_watch_processes() {
        tokio::spawn(async move {
            let outbox = cx.connection.outbox().clone();
            loop {
                tokio::select! {
                    changed = changes.next() => if changed.is_err() { return },
                    () = outbox.cancelled() => return,
                }
                let processes = all(&cx, true, params.process_id.as_deref());
                let told = ProcessesUpdated { processes };
                let Ok(body) = fit::notification(name::PROCESSES_UPDATED, &told) else { continue };
                if outbox.send(body).await.is_err() {
                    return;
                }
            }
        });
    }
    let event_kinds = vec![name::PROCESSES_UPDATED.to_owned()];
    Ok(ProcessesSubscribeResult { subscribed: true, event_kinds, processes })
}

fn process(view: &ProcessView) -> Process {
    let state = match view.state {
        ProcessState::Running => process::ProcessState::Running,
        // Of one that ended unseen it is not known how.
        ProcessState::Exited { code } => {
            process::ProcessState::Exited { exit_code: Some(code).filter(|code| *code >= 0) }
        }
        ProcessState::Signaled { .. } => process::ProcessState::Stopped,
        ProcessState::TimedOut => process::ProcessState::Failed { error: TIMED_OUT.to_owned() },
    };
    let (status, exit_code) = match view.state {
        ProcessState::Running => (ProcessStatus::Running, None),
        ProcessState::Exited { code: 0 } => (ProcessStatus::Completed, Some(0)),
        ProcessState::Exited { code } => (ProcessStatus::Failed, Some(code)),
        ProcessState::Signaled { .. } => (ProcessStatus::Stopped, Some(-1)),
        ProcessState::TimedOut => (ProcessStatus::TimedOut, Some(-1)),
    };
    Process {
        process_id: view.process_id.clone(),
        origin: ProcessOrigin::CommandExec,
        stoppable: view.state == ProcessState::Running,
        state,
        command: view.command.clone(),
        command_summary: summary(&view.command),
        cwd: view.cwd.to_string_lossy().into_owned(),
        status,
        pid: Some(view.pid),
        exit_code,
        tty: view.tty,
        terminal_id: view.terminal.map(|terminal| terminal.to_string()),
        thread_id: None,
        turn_id: None,
        started_at: show::time(view.started_at),
        updated_at: show::time(view.ended_at.unwrap_or(view.started_at)),
        completed_at: view.ended_at.map(show::time),
    }
}

/// A command in one line, for lists that others may see.
fn summary(command: &[String]) -> String {
    let shown: Vec<String> = command.iter().map(|word| shown(word)).collect();
    shown.join(" ")
}

fn shown(word: &str) -> String {
    let lower = word.to_ascii_lowercase();
    if SECRETS.iter().any(|secret| lower.contains(secret)) {
        let name = word.split_once('=').map(|(name, _)| name);
        return name.map_or(REDACTED.to_owned(), |name| format!("{name}={REDACTED}"));
    }
    match word.is_empty() || word.contains(char::is_whitespace) {
        true => format!("{word:?}"),
        false => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_no_secrets() {
        let command = ["curl", "-H", "Authorization: Bearer x", "API_KEY=y", "a b", ""];
        let command = command.map(str::to_owned);
        assert_eq!(summary(&command), r#"curl -H <redacted> API_KEY=<redacted> "a b" """#);
    }
}
