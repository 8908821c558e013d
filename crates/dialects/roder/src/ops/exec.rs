//! Commands that a client runs, and typing into them.

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rookery_core::{
    Artifact as CoreArtifact, ExecChunk, ExecRequest, ExecStart, ExecStream, ExecWords, Execution,
};
use rookery_model as model;
use rookery_wire::rpc;

use crate::context::Cx;
use crate::errors::Error;
use crate::fit;
use crate::ids::{self, APP_SERVER, RequestKind};
use crate::show;
use crate::wire::Empty;
use crate::wire::exec::{
    Artifact, CommandExecOutputDelta, CommandExecParams, CommandExecResizeParams,
    CommandExecResult, CommandExecTerminateParams, CommandExecWriteParams, OutputStream, TtySize,
};
use crate::wire::notification::twin;

/// How approvals, rules and the record of decisions call a command of a client.
const WORDS: ExecWords = ExecWords { tool: "command/exec", process_id: "processId" };

pub(crate) async fn exec(cx: Cx, params: CommandExecParams) -> Result<CommandExecResult, Error> {
    cx.client.check_not_drained()?;
    cx.bring_mode().await?;
    let limit = params.timeout_ms;
    let request = request(&cx, params)?;
    let (streams, process) = (request.streams || request.tty, request.process_id.clone());
    let mut execution = match cx.core.commands().run(request).await.map_err(spawn_error)? {
        ExecStart::Running(execution) => execution,
        ExecStart::Denied { reason, mode } => {
            let message = format!("command/exec denied by policy: {reason}");
            return Err(Error::denied(message, &show::mode(&cx, mode)));
        }
        ExecStart::NeedsApproval { reason, mode, approval } => {
            let message = format!("command/exec requires approval: {reason}");
            let approval = RequestKind::Approval.spell(approval);
            return Err(Error::approval_required(message, &show::mode(&cx, mode), &approval));
        }
    };
    if streams {
        stream(&cx, &mut execution, process.as_deref().unwrap_or_default()).await;
    }
    let turn = execution.process_id().to_owned();
    let end = execution.finish().await;
    // What it changed is sent before what it came to.
    cx.flush().await;
    let end = end?;
    let (stdout, stderr) = (text(&end.stdout), text(&end.stderr));
    if end.timed_out {
        let limit = limit.unwrap_or(ExecRequest::USUAL_TIMEOUT.as_millis() as u64);
        return Err(Error::command_timed_out(limit, &stdout, &stderr));
    }
    let artifact = |kept: Option<CoreArtifact>, kind: &str| {
        kept.map(|kept| Artifact {
            id: kept.id,
            kind: kind.to_owned(),
            thread_id: APP_SERVER.to_owned(),
            turn_id: turn.clone(),
            byte_count: kept.byte_count,
            line_count: kept.line_count,
            truncated: kept.dropped_bytes > 0,
            dropped_bytes: kept.dropped_bytes,
            created_at: show::time(kept.created_at),
        })
    };
    Ok(CommandExecResult {
        exit_code: end.exit_code,
        stdout: if streams { String::new() } else { stdout },
        stderr: if streams { String::new() } else { stderr },
        stdout_artifact: artifact(end.stdout_artifact, "command_stdout"),
        stderr_artifact: artifact(end.stderr_artifact, "command_stderr"),
        signal: end.signal,
        duration_ms: u64::try_from(end.duration.as_millis()).unwrap_or(u64::MAX),
        timed_out: false,
    })
}

fn request(cx: &Cx, params: CommandExecParams) -> Result<ExecRequest, Error> {
    let size = params.size.as_ref().map(size).transpose()?;
    let asked = params.timeout_ms.map(Duration::from_millis);
    let cap = params.output_bytes_cap.map(|cap| usize::try_from(cap).unwrap_or(usize::MAX));
    let thread = match params.thread_id.as_deref() {
        None => None,
        Some(text) => {
            let id = ids::thread(text)?;
            Some(cx.core.threads().get(id).ok_or_else(|| ids::thread_not_found(text))?.thread)
        }
    };
    let usual = || thread.as_ref().map_or_else(|| cx.cwd(), |thread| thread.cwd.clone());
    let request = ExecRequest {
        command: params.command,
        cwd: Some(params.cwd.map_or_else(usual, PathBuf::from)),
        env: params.env.into_iter().collect(),
        timeout: ExecRequest::timeout_of(asked, params.disable_timeout)?,
        cap: ExecRequest::cap_of(cap, params.disable_output_cap)?,
        process_id: params.process_id,
        streams: params.stream_stdout_stderr,
        tty: params.tty,
        stdin: params.stream_stdin,
        size,
        owner: cx.client.number(),
        shows: Some(fit::outputs),
        words: WORDS,
        thread: thread.as_ref().map(|thread| thread.id),
        ..ExecRequest::default()
    };
    request.check()?;
    Ok(request)
}

fn size(size: &TtySize) -> Result<model::Size, Error> {
    Ok(model::Size::new(size.rows, size.cols).map_err(model::Error::from)?)
}

/// What the system said when the command was to be started is told as such.
fn spawn_error(error: model::Error) -> Error {
    match error.kind() {
        model::ErrorKind::Failed => Error::spawn_failed(error.message()),
        model::ErrorKind::NotFound
        | model::ErrorKind::Invalid
        | model::ErrorKind::Conflict
        | model::ErrorKind::Denied
        | model::ErrorKind::Timeout
        | model::ErrorKind::Closed
        | model::ErrorKind::Busy
        | model::ErrorKind::Internal => error.into(),
    }
}

/// Tells this client what the command writes, as it does.
async fn stream(cx: &Cx, execution: &mut Execution, process: &str) {
    let preferences = cx.client.preferences();
    while let Some(chunk) = execution.next().await {
        let params = delta(process, &chunk);
        for name in twin::COMMAND_OUTPUT_DELTA {
            if preferences.unwanted.contains(name) {
                continue;
            }
            match rpc::notification(name, &params) {
                // A client that is gone reads nothing; its command ends with this call.
                Ok(body) => drop(cx.connection.outbox().send(body).await),
                Err(error) => tracing::error!(%error, "output cannot be written"),
            }
        }
    }
}

fn delta(process: &str, chunk: &ExecChunk) -> CommandExecOutputDelta {
    CommandExecOutputDelta {
        process_id: process.to_owned(),
        stream: match chunk.stream {
            ExecStream::Stdout => OutputStream::Stdout,
            ExecStream::Stderr => OutputStream::Stderr,
        },
        delta_base64: STANDARD.encode(&chunk.bytes),
        cap_reached: chunk.cap_reached,
    }
}

/// Text that may have been cut within a character: the rest of that one is left out.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) async fn write(cx: Cx, params: CommandExecWriteParams) -> Result<Empty, Error> {
    let decoded = params.delta_base64.map(|text| STANDARD.decode(text)).transpose();
    let bytes = decoded.map_err(|_| Error::invalid("deltaBase64 is no Base64"))?;
    let bytes = bytes.unwrap_or_default();
    cx.core
        .commands()
        .write(cx.client.number(), &params.process_id, &bytes, params.close_stdin)
        .await?;
    Ok(Empty {})
}

pub(crate) async fn resize(cx: Cx, params: CommandExecResizeParams) -> Result<Empty, Error> {
    cx.core.commands().resize(cx.client.number(), &params.process_id, size(&params.size)?).await?;
    Ok(Empty {})
}

pub(crate) async fn terminate(cx: Cx, params: CommandExecTerminateParams) -> Result<Empty, Error> {
    cx.core.commands().terminate(cx.client.number(), &params.process_id)?;
    Ok(Empty {})
}
