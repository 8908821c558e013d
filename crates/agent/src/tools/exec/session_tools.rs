//! `exec_command`, `write_stdin` and `unified_exec`: commands that may go on after the call.

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::arguments;
use super::process::{Launch, clamped, command_limit, not_blank, shell_words, shorter};
use super::sessions::{News, Session};
use super::{report, status, within_tokens};
use crate::tool::{Tool, ToolContext, ToolOutput};

/// Default wait for output, in milliseconds.
const DEFAULT_WAIT: u64 = 1000;
/// How long output is waited for at most, in milliseconds.
const MAX_WAIT: u64 = 600_000;
/// Default limit of returned output.
const DEFAULT_TOKENS: usize = 6000;

pub(in super::super) const EXEC_COMMAND: Tool = Tool {
    name: "exec_command",
    kind: ToolKind::Exec,
    description: "Start a shell command. Returns when it ends or after yield_time_ms; if it still \
                  runs, go on with write_stdin and the session id.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<ExecArgs>,
    check: arguments::check::<ExecArgs>,
    run: |context, value| arguments::run(context, value, exec_command),
};

pub(in super::super) const WRITE_STDIN: Tool = Tool {
    name: "write_stdin",
    kind: ToolKind::Exec,
    description: "Type into a running command, or only wait, and return its output since the \
                  last time.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<WriteArgs>,
    check: arguments::check::<WriteArgs>,
    run: |context, value| arguments::run(context, value, write_stdin),
};

pub(in super::super) const UNIFIED_EXEC: Tool = Tool {
    name: "unified_exec",
    kind: ToolKind::Exec,
    description: "Without session_id: run input as a shell command in a terminal. With it: type \
                  input into that command. Returns the new output.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<UnifiedArgs>,
    check: arguments::check::<UnifiedArgs>,
    run: |context, value| arguments::run(context, value, unified_exec),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExecArgs {
    cmd: String,
    /// Directory to run in; the workspace by default.
    workdir: Option<String>,
    /// Another shell than the user's.
    shell: Option<String>,
    /// Run in a terminal; default false.
    tty: Option<bool>,
    /// Default 1000.
    yield_time_ms: Option<u64>,
    /// Default 6000.
    max_output_tokens: Option<NonZeroUsize>,
    /// Use a login shell; default true.
    login: Option<bool>,
    /// End the command after this time; none by default.
    timeout_ms: Option<NonZeroU64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteArgs {
    session_id: u64,
    /// Empty to only wait.
    chars: Option<String>,
    /// Default 1000.
    yield_time_ms: Option<u64>,
    /// Default 6000.
    max_output_tokens: Option<NonZeroUsize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UnifiedArgs {
    input: String,
    session_id: Option<SessionName>,
    /// How long to wait for output; default 1000.
    timeout_ms: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum SessionName {
    Number(u64),
    Text(String),
}

impl SessionName {
    fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Program and arguments that a call of one of these tools becomes if `shell` is the user's. None if
/// the call starts no shell: another tool, or one that types into a program which runs already.
pub fn shell_argv(shell: &str, tool: &str, arguments: &Value) -> Option<Vec<String>> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let (shell, is_login, command) = match tool {
        "shell" => (shell, true, text("command")?),
        "exec_command" => {
            let named = text("shell").map(str::trim).filter(|shell| !shell.is_empty());
            let login = arguments.get("login").and_then(Value::as_bool).unwrap_or(true);
            (named.unwrap_or(shell), login, text("cmd")?)
        }
        "unified_exec" if arguments.get("session_id").is_none_or(Value::is_null) => {
            (shell, true, text("input")?)
        }
        _ => return None,
    };
    Some(shell_words(shell, is_login, command))
}

/// The command of a call.
pub(in super::super) fn preview_exec_command(
    _: &ToolContext,
    arguments: Value,
) -> Result<String, String> {
    arguments::decode::<ExecArgs>(arguments).map(|args| args.cmd)
}

/// What a call types into which command; nothing if it only waits.
pub(in super::super) fn preview_write_stdin(
    context: &ToolContext,
    arguments: Value,
) -> Result<String, String> {
    let args: WriteArgs = arguments::decode(arguments)?;
    typed(context, Some(args.session_id), &args.chars.unwrap_or_default())
}

/// The command of a call, or what it types into which command.
pub(in super::super) fn preview_unified_exec(
    context: &ToolContext,
    arguments: Value,
) -> Result<String, String> {
    let args: UnifiedArgs = arguments::decode(arguments)?;
    match args.session_id {
        None => Ok(args.input),
        Some(name) => typed(context, name.number(), &args.input),
    }
}

fn typed(context: &ToolContext, id: Option<u64>, text: &str) -> Result<String, String> {
    let session = id.and_then(|id| context.sessions.find(context.thread, id));
    let session = session.ok_or("there is no such session")?;
    Ok(format!("{}\n< {text:?}", session.launch.command))
}

/// How a call wants its answer.
struct AnswerOptions {
    wait: Option<u64>,
    tokens: Option<NonZeroUsize>,
    /// How sessions are named in the answer.
    name: fn(u64) -> Value,
}

async fn exec_command(context: ToolContext, args: ExecArgs) -> Result<ToolOutput, String> {
    not_blank("cmd", &args.cmd)?;
    let mut launch = Launch::new(&context, &args.cmd, args.workdir.as_deref())?;
    if let Some(shell) = args.shell.filter(|shell| !shell.trim().is_empty()) {
        launch = launch.with_shell(shell.trim())?;
    }
    launch.is_login = args.login.unwrap_or(true);
    launch.has_terminal = args.tty.unwrap_or(false);
    let limit = args.timeout_ms.map(|limit| Duration::from_millis(limit.get()));
    let session = start(&context, launch, limit).await?;
    let options = AnswerOptions {
        wait: args.yield_time_ms,
        tokens: args.max_output_tokens,
        name: Value::from,
    };
    answer(&context, session, options).await
}

async fn write_stdin(context: ToolContext, args: WriteArgs) -> Result<ToolOutput, String> {
    let Some(session) = context.sessions.find(context.thread, args.session_id) else {
        return Ok(not_found(args.session_id.into(), &args.session_id.to_string()));
    };
    type_into(&session, args.chars.as_deref().unwrap_or_default()).await?;
    let options = AnswerOptions {
        wait: args.yield_time_ms,
        tokens: args.max_output_tokens,
        name: Value::from,
    };
    answer(&context, session, options).await
}

async fn unified_exec(context: ToolContext, args: UnifiedArgs) -> Result<ToolOutput, String> {
    let session = match args.session_id {
        None => {
            not_blank("input", &args.input)?;
            let launch = Launch::new(&context, &args.input, None)?;
            start(&context, launch, None).await?
        }
        Some(name) => {
            let found = name.number().and_then(|id| context.sessions.find(context.thread, id));
            let Some(session) = found else {
                return Ok(not_found(name.text().into(), &name.text()));
            };
            type_into(&session, &args.input).await?;
            session
        }
    };
    let name = |id: u64| Value::from(id.to_string());
    answer(&context, session, AnswerOptions { wait: args.timeout_ms, tokens: None, name }).await
}

async fn start(
    context: &ToolContext,
    launch: Launch,
    limit: Option<Duration>,
) -> Result<Arc<Session>, String> {
    context.sessions.make_room(context.thread).await?;
    let process = launch.start(context).await?;
    let limit = clamped(context, shorter(limit, command_limit(context, &launch.command)));
    Ok(context.sessions.add(context.thread, launch, process, limit))
}

/// Types into a command. One that has ended meanwhile is no failure: its last words are wanted.
async fn type_into(session: &Session, text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    let Err(why) = session.process.write(text).await else { return Ok(()) };
    let ended = session.process.output(u64::MAX, Duration::ZERO).await?.ended;
    if ended.is_some() { Ok(()) } else { Err(why) }
}

/// Waits for news of a command and tells them.
async fn answer(
    context: &ToolContext,
    session: Arc<Session>,
    options: AnswerOptions,
) -> Result<ToolOutput, String> {
    let wait = Duration::from_millis(options.wait.unwrap_or(DEFAULT_WAIT).min(MAX_WAIT));
    let wait = clamped(context, Some(wait)).unwrap_or(wait);
    let news = tokio::select! {
        biased;
        () = context.cancel.cancelled() => {
            context.sessions.forget(session.id);
            session.process.end().await;
            return Err("the command was cancelled".into());
        }
        news = session.news(wait) => news?,
    };
    if news.ended.is_some() {
        context.sessions.forget(session.id);
    }
    Ok(tool_output(&session, &news, &options))
}

fn tool_output(session: &Session, news: &News, options: &AnswerOptions) -> ToolOutput {
    let tokens = options.tokens.map_or(DEFAULT_TOKENS, NonZeroUsize::get);
    let output = within_tokens(&news.text, tokens);
    let wall_time = session.started.elapsed();
    let code = news.ended.map(|(code, _)| code);
    let first = match code {
        Some(code) => format!("Exit code: {code}"),
        None => format!("Session id: {}", session.id),
    };
    let data = json!({
        "command": session.launch.command,
        "cwd": session.launch.cwd,
        "shell": session.launch.shell,
        "session_id": (options.name)(session.id),
        "aggregated_output": output,
        "exit_code": code,
        "duration_ms": wall_time.as_millis() as u64,
        "effective_timeout_ms": session.timeout.map(|limit| limit.as_millis() as u64),
        "status": status(news.ended),
        "timed_out": news.ended.is_some_and(|(_, was_late)| was_late),
        "tty": session.launch.has_terminal,
        "dropped_bytes": news.lost,
    });
    ToolOutput {
        is_error: code.is_some_and(|code| code != 0),
        exit_code: code,
        terminal: session.process.terminal(),
        ..ToolOutput::new(report(&first, wall_time, &output), data)
    }
}

fn not_found(id: Value, shown: &str) -> ToolOutput {
    let data = json!({"session_id": id, "status": "not_found"});
    ToolOutput {
        is_error: true,
        ..ToolOutput::new(format!("exec session {shown} not found"), data)
    }
}
