//! Processes of ours: listed, looked at, watched and stopped.

use std::sync::Arc;

use rookery_core::TaskCancel;
use rookery_model as model;

use crate::context::Cx;
use crate::errors::Error;
use crate::process_news;
use crate::processes;
use crate::show;
use crate::wire::exec::OutputStream;
use crate::wire::process::{
    Process, ProcessOutput, ProcessStopResult, ProcessesGetParams, ProcessesGetResult,
    ProcessesListParams, ProcessesListResult, ProcessesStopAllParams, ProcessesStopAllResult,
    ProcessesStopParams, ProcessesStopResult, ProcessesSubscribeParams, ProcessesSubscribeResult,
};

/// How much of a process's output is shown by default.
const OUTPUT: u64 = 16 << 10;

pub(crate) async fn list(
    cx: Cx,
    params: ProcessesListParams,
) -> Result<ProcessesListResult, Error> {
    Ok(ProcessesListResult { processes: processes::all(&cx, params.include_completed) })
}

pub(crate) async fn get(cx: Cx, params: ProcessesGetParams) -> Result<ProcessesGetResult, Error> {
    let bytes = usize::try_from(params.output_bytes.unwrap_or(OUTPUT)).unwrap_or(usize::MAX);
    let process = processes::find(&cx, &params.process_id);
    let output = match &process {
        Some(process) => output(&cx, process, bytes).await?,
        None => Vec::new(),
    };
    let text = |wanted: OutputStream| -> String {
        output.iter().filter(|one| one.stream == wanted).map(|one| one.chunk.as_str()).collect()
    };
    let (stdout, stderr) = (text(OutputStream::Stdout), text(OutputStream::Stderr));
    Ok(ProcessesGetResult { process, output, stdout, stderr })
}

fn unknown(id: &str) -> Error {
    // A name may be as long as a client likes.
    let shown: String = id.chars().take(64).collect();
    Error::invalid(format!("unknown processId: {shown}"))
}

/// The end of what a process wrote, up to a number of bytes.
async fn output(cx: &Cx, process: &Process, bytes: usize) -> Result<Vec<ProcessOutput>, Error> {
    if let Some(task) = task_of(cx, &process.process_id) {
        return of_task(cx, &task, bytes).await;
    }
    let piece = |text: String, total: u64| {
        let shown = text.len() as u64;
        let output = ProcessOutput {
            process_id: process.process_id.clone(),
            stream: OutputStream::Stdout,
            chunk: text,
            dropped_bytes: total.saturating_sub(shown),
            thread_id: process.thread_id.clone(),
            turn_id: process.turn_id.clone(),
            timestamp: process.updated_at.clone(),
        };
        (total > 0).then_some(output).into_iter().collect()
    };
    if let Ok(found) = cx.core.commands().get(&process.process_id, bytes) {
        let text = String::from_utf8_lossy(&found.output).into_owned();
        return Ok(piece(text, found.total));
    }
    // What tools print is in their items.
    Ok(Vec::new())
}

async fn of_task(cx: &Cx, task: &model::Task, bytes: usize) -> Result<Vec<ProcessOutput>, Error> {
    let page = cx.core.tasks().read(task.id, 0).await?;
    let mut left = bytes;
    let mut dropped = page.dropped;
    let mut shown = Vec::new();
    for chunk in page.chunks.iter().rev() {
        let mut from = chunk.text.len().saturating_sub(left);
        while !chunk.text.is_char_boundary(from) {
            from += 1;
        }
        dropped += from as u64;
        let text = &chunk.text[from..];
        left -= text.len().min(left);
        if text.is_empty() {
            continue;
        }
        shown.push(ProcessOutput {
            process_id: task.id.to_string(),
            stream: processes::stream(chunk.stream),
            chunk: text.to_owned(),
            dropped_bytes: 0,
            thread_id: task.thread.map(|id| id.to_string()),
            turn_id: task.turn.map(|id| id.to_string()),
            timestamp: show::time(chunk.at),
        });
    }
    shown.reverse();
    // What is not shown was written before.
    if let Some(first) = shown.first_mut() {
        first.dropped_bytes = dropped;
    }
    Ok(shown)
}

pub(crate) async fn stop(
    cx: Cx,
    params: ProcessesStopParams,
) -> Result<ProcessesStopResult, Error> {
    let process_id = params.process_id;
    let process = processes::find(&cx, &process_id).ok_or_else(|| unknown(&process_id))?;
    let stopped = cx.flushed(end(&cx, &process, params.reason)).await?;
    let result = stop_result(&cx, process_id.clone(), stopped);
    Ok(ProcessesStopResult { result, process_id, stopped })
}

/// Ends a process in the way of whatever it belongs to. False if it had ended before.
async fn end(cx: &Cx, process: &Process, reason: Option<String>) -> Result<bool, Error> {
    let id = process.process_id.as_str();
    if let Some(task) = task_of(cx, id) {
        // Ended from outside, it would count as completed.
        let asked = TaskCancel { by: "roder".to_owned(), reason };
        return Ok(cx.core.tasks().cancel(task.id, asked).await?);
    }
    if cx.core.runners().stop_process(id, reason.clone()) {
        return Ok(true);
    }
    match processes::tool_terminal(id) {
        Some(terminal) => Ok(cx.core.threads().stop_tool(terminal, reason).await?),
        // Of those at runners that ended nothing is left to stop.
        None if process.runner_destination_id.is_some() => Ok(false),
        None => Ok(cx.core.commands().stop(id, reason).await?),
    }
}

pub(crate) async fn stop_all(
    cx: Cx,
    params: ProcessesStopAllParams,
) -> Result<ProcessesStopAllResult, Error> {
    let running = processes::all(&cx, false);
    let ends = running.iter().map(|process| end(&cx, process, params.reason.clone()));
    let ended = cx.flushed(futures_util::future::join_all(ends)).await;
    let mut results = Vec::new();
    for (process, ended) in running.into_iter().zip(ended) {
        // One that may not be stopped, or has ended meanwhile, holds up no other.
        let stopped = ended.unwrap_or_else(|error| {
            tracing::debug!(%error, process = process.process_id, "a process was not stopped");
            false
        });
        results.push(stop_result(&cx, process.process_id, stopped));
    }
    let stopped = results.iter().filter(|result| result.stopped);
    let stopped_process_ids = stopped.map(|result| result.process_id.clone()).collect();
    Ok(ProcessesStopAllResult { results, stopped_process_ids })
}

fn stop_result(cx: &Cx, process_id: String, stopped: bool) -> ProcessStopResult {
    let process = processes::find(cx, &process_id);
    ProcessStopResult { process_id, stopped, process }
}

/// The background task whose program this is; its process bears its name.
fn task_of(cx: &Cx, process_id: &str) -> Option<Arc<model::Task>> {
    cx.core.tasks().get(process_id.parse().ok()?).ok()
}

/// Tells this client what happens to processes, until it is gone. One that asks again hears of those of both
/// requests.
pub(crate) async fn subscribe(
    cx: Cx,
    params: ProcessesSubscribeParams,
) -> Result<ProcessesSubscribeResult, Error> {
    let only = params.process_id;
    let mut processes = process_news::subscribe(&cx, only.as_deref());
    processes.retain(|one| match &only {
        Some(id) => one.process_id == *id,
        None => true,
    });
    let event_kinds = process_news::KINDS.map(str::to_owned).to_vec();
    Ok(ProcessesSubscribeResult { subscribed: true, event_kinds, processes })
}
