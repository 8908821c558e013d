//! `shell`: runs a command to its end in a terminal.

use std::sync::Arc;
use std::time::Duration;

use rookery_model::{TerminalId, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::super::arguments;
use super::clean::Cleaner;
use super::process::{Launch, Process, clamped, command_limit, exit_code, not_blank, shorter};
use super::{dropped, report, status};
use crate::tool::{TerminalOutput, Tool, ToolContext, ToolOutput};

/// Default timeout of a command, in seconds.
const DEFAULT_SECONDS: u64 = 120;
/// How long a command may take at most, in seconds.
const MAX_SECONDS: u64 = 600;
/// How long the last words of a command that was ended are waited for.
const LAST_WORDS: Duration = Duration::from_secs(2);

pub(in super::super) const SHELL: Tool = Tool {
    name: "shell",
    kind: ToolKind::Exec,
    description: "Run a shell command to its end and return its exit code and output.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<Args>,
    check: arguments::check::<Args>,
    run: |context, value| arguments::run(context, value, run),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    command: String,
    /// Directory to run in; the workspace by default.
    workdir: Option<String>,
    /// 1 to 600; default 120.
    timeout_seconds: Option<u64>,
}

/// The command of a call.
pub(in super::super) fn preview_shell(_: &ToolContext, arguments: Value) -> Result<String, String> {
    arguments::decode::<Args>(arguments).map(|args| args.command)
}

async fn run(context: ToolContext, args: Args) -> Result<ToolOutput, String> {
    not_blank("command", &args.command)?;
    let launch = Launch::new(&context, &args.command, args.workdir.as_deref())?.without_input();
    let asked = args.timeout_seconds.unwrap_or_else(|| usual_seconds(&context, &args.command));
    let limit = Duration::from_secs(asked.clamp(1, MAX_SECONDS));
    let limit = shorter(Some(limit), command_limit(&context, &args.command));
    let limit = clamped(&context, limit).unwrap_or(Duration::from_secs(MAX_SECONDS));
    let started = Instant::now();
    let process = Attended::start(&launch, &context).await?;
    let (output, was_late) = attend(&context, process.get(), limit).await?;
    let terminal = process.done();
    let wall_time = started.elapsed();
    let mut cleaner = Cleaner::default();
    cleaner.push(&output.bytes);
    let mut text = cleaner.take();
    if output.lost > 0 {
        text.insert_str(0, &dropped(output.lost));
    }
    if was_late {
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        text.push_str(&format!("{end}[timed out after {} seconds]", limit.as_secs()));
    }
    let code = if was_late { -1 } else { output.ended.map_or(-1, exit_code) };
    let data = json!({
        "command": launch.command,
        "cwd": launch.cwd,
        "shell": launch.shell,
        "aggregated_output": text,
        "exit_code": code,
        "duration_ms": wall_time.as_millis() as u64,
        "requested_timeout_seconds": asked,
        "effective_timeout_seconds": limit.as_secs(),
        "status": status(Some((code, was_late))),
        "timed_out": was_late,
        "dropped_bytes": output.lost,
    });
    Ok(ToolOutput {
        is_error: code != 0,
        exit_code: Some(code),
        terminal,
        ..ToolOutput::new(report(&format!("Exit code: {code}"), wall_time, &text), data)
    })
}

/// How long a command may take if the call does not say it: where a limit was set, as long as that lets it.
fn usual_seconds(context: &ToolContext, command: &str) -> u64 {
    match &context.command_limit {
        None => DEFAULT_SECONDS,
        Some(set) => set.of(command).map_or(MAX_SECONDS, |limit| limit.as_secs()),
    }
}

/// A running command with a waiting caller. Dropped before it is done, it is ended.
struct Attended {
    process: Arc<Process>,
    is_done: bool,
}

impl Attended {
    /// Starts a command. If the caller goes away meanwhile, it is ended as soon as it runs.
    async fn start(launch: &Launch, context: &ToolContext) -> Result<Self, String> {
        let (sender, started) = oneshot::channel();
        let (launch, context) = (launch.clone(), context.clone());
        tokio::spawn(async move {
            let process = launch.start(&context).await;
            let attended =
                process.map(|process| Self { process: Arc::new(process), is_done: false });
            // Without a caller it is dropped here, which ends it.
            let _ = sender.send(attended);
        });
        started.await.map_err(|_| "the command could not be started".to_owned())?
    }

    fn get(&self) -> &Process {
        &self.process
    }

    /// The command has ended. Tells the terminal it ran in.
    fn done(mut self) -> Option<TerminalId> {
        self.is_done = true;
        self.process.terminal()
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        if let Ok(runtime) = Handle::try_current() {
            let process = self.process.clone();
            runtime.spawn(async move { process.end().await });
        }
    }
}

/// Waits for the end of a command, and ends it at its timeout or when the caller is cancelled.
async fn attend(
    context: &ToolContext,
    process: &Process,
    limit: Duration,
) -> Result<(TerminalOutput, bool), String> {
    let output = tokio::select! {
        biased;
        () = context.cancel.cancelled() => {
            process.end().await;
            return Err("the command was cancelled".into());
        }
        output = process.output(0, limit) => output?,
    };
    if output.ended.is_some() {
        return Ok((output, false));
    }
    process.end().await;
    let last = process.output(0, LAST_WORDS).await.unwrap_or(output);
    Ok((last, true))
}
