//! Processes of ours as this dialect shows them: one list of commands of clients, background tasks, and
//! what tools run, here and at runners.

use std::collections::HashMap;

use rookery_core::{ProcessState as State, ProcessView, RunnerProcess, TaskQuery};
use rookery_model::{self as model, TaskState, shown_destination};

use crate::context::Cx;
use crate::show;
use crate::wire::exec::OutputStream;
use crate::wire::process::{Process, ProcessOrigin, ProcessState, ProcessStatus};

/// The executor whose tasks are processes.
const PROCESS: &str = "process";
/// What the ids of tools' terminals begin with.
const TERMINAL: &str = "term_";
/// The error of a command that took too long.
const TIMED_OUT: &str = "the command timed out";
/// The kind of error of a task that took too long.
const DEADLINE: &str = "deadline_timeout";
/// Words in an argument that make it one to be left out of a summary.
const SECRETS: [&str; 8] =
    ["token", "secret", "password", "passwd", "apikey", "api_key", "authorization", "bearer"];
/// What stands in its place.
const REDACTED: &str = "<redacted>";

/// All processes in the order in which they began, those that ended only if they are wanted.
pub(crate) fn all(cx: &Cx, includes_ended: bool) -> Vec<Process> {
    let mut commands: HashMap<String, ProcessView> = HashMap::new();
    // Those that ended as well, for a task that ended may be there still.
    for view in cx.core.commands().list(true) {
        commands.insert(view.process_id.clone(), view);
    }
    let tasks = cx.core.tasks().list(&TaskQuery::default());
    let tasks = tasks.iter().filter(|task| task.spec.executor == PROCESS && has_begun(task));
    let mut all = Vec::new();
    for task in tasks {
        all.push(of_task(cx, task, commands.remove(&task.id.to_string()).as_ref()));
    }
    all.extend(commands.values().map(of_command));
    all.extend(cx.core.runners().processes(true).iter().map(of_runner));
    let of_tasks: Vec<String> = all.iter().filter_map(|one| one.terminal_id.clone()).collect();
    let tools = cx.core.threads().tool_terminals();
    let tools = tools.iter().map(|(thread, terminal)| of_tool(cx, *thread, terminal));
    all.extend(
        tools.filter(|tool| !of_tasks.iter().any(|id| Some(id) == tool.terminal_id.as_ref())),
    );
    all.retain(|one| includes_ended || one.state == ProcessState::Running);
    all.sort_by(|a, b| (&a.started_at, &a.process_id).cmp(&(&b.started_at, &b.process_id)));
    all
}

/// One process, if there is one of that name.
pub(crate) fn find(cx: &Cx, id: &str) -> Option<Process> {
    all(cx, true).into_iter().find(|one| one.process_id == id)
}

/// The terminal that the id of a tool's process names.
pub(crate) fn tool_terminal(id: &str) -> Option<model::TerminalId> {
    id.strip_prefix(TERMINAL)?.parse().ok().map(model::TerminalId::new)
}

/// What a tool's terminal is called as a process.
pub(crate) fn terminal_name(id: model::TerminalId) -> String {
    format!("{TERMINAL}{id}")
}

/// Where a task wrote, as published decoders read it.
pub(crate) fn stream(stream: model::LogStream) -> OutputStream {
    match stream {
        model::LogStream::Stdout | model::LogStream::Log => OutputStream::Stdout,
        model::LogStream::Stderr => OutputStream::Stderr,
    }
}

/// Whether a task was begun: what only waits, or was cancelled before, has no process.
fn has_begun(task: &model::Task) -> bool {
    task.started_at.is_some()
}

fn of_task(cx: &Cx, task: &model::Task, view: Option<&ProcessView>) -> Process {
    let input: serde_json::Value = serde_json::from_str(&task.spec.input).unwrap_or_default();
    let program = input.get("command").and_then(serde_json::Value::as_str);
    let args = input.get("args").and_then(serde_json::Value::as_array).into_iter().flatten();
    let args = args.filter_map(serde_json::Value::as_str);
    let command: Vec<String> = program.into_iter().chain(args).map(str::to_owned).collect();
    let result = task.result.clone().unwrap_or_default();
    let (state, status) = match task.state {
        TaskState::Queued | TaskState::Claimed | TaskState::Running => {
            (ProcessState::Running, ProcessStatus::Running)
        }
        TaskState::Done if result.exit_code == Some(0) => {
            (ProcessState::Exited { exit_code: Some(0) }, ProcessStatus::Completed)
        }
        TaskState::Done => {
            (ProcessState::Exited { exit_code: result.exit_code }, ProcessStatus::Failed)
        }
        TaskState::Failed | TaskState::Lost => {
            let is_late = result.error_kind.as_deref() == Some(DEADLINE);
            let status = if is_late { ProcessStatus::TimedOut } else { ProcessStatus::Failed };
            (ProcessState::Failed { error: result.error.clone().unwrap_or_default() }, status)
        }
        TaskState::Cancelled => (ProcessState::Stopped, ProcessStatus::Stopped),
    };
    let runner = task.spec.runner.as_ref().map(|runner| runner.destination.clone());
    let is_away = runner.as_deref().is_some_and(|it| cx.core.runners().runs_elsewhere(it));
    let started = task.started_at.unwrap_or(task.created_at);
    let shown = |name: &str| {
        let payload = result.payload.as_deref().and_then(|text| serde_json::from_str(text).ok());
        payload.and_then(|payload: serde_json::Value| Some(payload.get(name)?.as_str()?.to_owned()))
    };
    let usual = || task.spec.workspace.to_string_lossy().into_owned();
    Process {
        process_id: task.id.to_string(),
        origin: if is_away { ProcessOrigin::RemoteRunner } else { ProcessOrigin::BackgroundTask },
        stoppable: state == ProcessState::Running,
        state,
        command_summary: summary(&command),
        command,
        cwd: view
            .map(|view| view.cwd.to_string_lossy().into_owned())
            .or_else(|| shown("cwd"))
            .unwrap_or_else(usual),
        status,
        pid: view.map(|view| view.pid),
        exit_code: result.exit_code,
        tty: task.spec.terminal.is_some(),
        terminal_id: cx.core.tasks().terminal_of(task).map(|id| id.to_string()),
        task_id: Some(task.id.to_string()),
        runner_session_id: runner.as_deref().and_then(|it| cx.core.runners().session_of(it)),
        runner_destination_id: runner.as_deref().map(shown_destination).map(str::to_owned),
        thread_id: task.thread.map(|id| id.to_string()),
        turn_id: task.turn.map(|id| id.to_string()),
        started_at: show::time(started),
        updated_at: show::time(task.ended_at.unwrap_or(started)),
        completed_at: task.ended_at.map(show::time),
    }
}

fn of_command(view: &ProcessView) -> Process {
    let (state, status, exit_code) = match view.state {
        State::Running => (ProcessState::Running, ProcessStatus::Running, None),
        // Of one that ended unseen it is not known how.
        State::Exited { code } => {
            let status = if code == 0 { ProcessStatus::Completed } else { ProcessStatus::Failed };
            let known = Some(code).filter(|code| *code >= 0);
            (ProcessState::Exited { exit_code: known }, status, Some(code))
        }
        State::Signaled { .. } => (ProcessState::Stopped, ProcessStatus::Stopped, Some(-1)),
        State::TimedOut => {
            let error = TIMED_OUT.to_owned();
            (ProcessState::Failed { error }, ProcessStatus::TimedOut, Some(-1))
        }
    };
    Process {
        process_id: view.process_id.clone(),
        origin: ProcessOrigin::CommandExec,
        stoppable: view.state == State::Running,
        state,
        command: view.command.clone(),
        command_summary: summary(&view.command),
        cwd: view.cwd.to_string_lossy().into_owned(),
        status,
        pid: Some(view.pid),
        exit_code,
        tty: view.tty,
        terminal_id: view.terminal.map(|terminal| terminal.to_string()),
        task_id: None,
        runner_destination_id: None,
        runner_session_id: None,
        thread_id: None,
        turn_id: None,
        started_at: show::time(view.started_at),
        updated_at: show::time(view.ended_at.unwrap_or(view.started_at)),
        completed_at: view.ended_at.map(show::time),
    }
}

/// The end of a program without a name of its own.
fn ending(is_running: bool, code: Option<i32>) -> (ProcessState, ProcessStatus) {
    match (is_running, code) {
        (true, _) => (ProcessState::Running, ProcessStatus::Running),
        (false, None) => (ProcessState::Stopped, ProcessStatus::Stopped),
        (false, Some(0)) => (ProcessState::Exited { exit_code: Some(0) }, ProcessStatus::Completed),
        (false, code) => (ProcessState::Exited { exit_code: code }, ProcessStatus::Failed),
    }
}

fn of_runner(one: &RunnerProcess) -> Process {
    let (state, status) = ending(one.ended_at.is_none(), one.code);
    Process {
        process_id: one.id.clone(),
        origin: ProcessOrigin::RemoteRunner,
        stoppable: state == ProcessState::Running,
        state,
        command: one.command.clone(),
        command_summary: summary(&one.command),
        cwd: one.cwd.to_string_lossy().into_owned(),
        status,
        pid: None,
        exit_code: one.code,
        tty: false,
        terminal_id: None,
        task_id: None,
        runner_destination_id: Some(shown_destination(&one.destination).to_owned()),
        runner_session_id: Some(one.session.clone()),
        thread_id: Some(one.thread.to_string()),
        turn_id: None,
        started_at: show::time(one.started_at),
        updated_at: show::time(one.ended_at.unwrap_or(one.started_at)),
        completed_at: one.ended_at.map(show::time),
    }
}

fn of_tool(cx: &Cx, thread: model::ThreadId, terminal: &model::Terminal) -> Process {
    let code = match terminal.state {
        model::TerminalState::Exited(model::ExitStatus::Code(code)) => Some(code),
        model::TerminalState::Exited(model::ExitStatus::Signal(_) | model::ExitStatus::Unknown)
        | model::TerminalState::Running
        | model::TerminalState::Lost => None,
    };
    let (state, status) = ending(terminal.is_alive(), code);
    let bound = cx.core.threads().get(thread).and_then(|seen| seen.thread.runner);
    let runner = bound.map(|bound| bound.destination);
    let is_away = runner.as_deref().is_some_and(|it| cx.core.runners().runs_elsewhere(it));
    // What really runs is a program of ours around it.
    let command = vec![terminal.title().into_owned()];
    Process {
        process_id: terminal_name(terminal.id),
        origin: if is_away { ProcessOrigin::RemoteRunner } else { ProcessOrigin::ShellTool },
        stoppable: state == ProcessState::Running,
        state,
        command_summary: summary(&command),
        command,
        cwd: terminal.cwd().to_string_lossy().into_owned(),
        status,
        pid: Some(terminal.pid),
        exit_code: code,
        tty: true,
        terminal_id: Some(terminal.id.to_string()),
        task_id: None,
        runner_session_id: runner.as_deref().and_then(|it| cx.core.runners().session_of(it)),
        runner_destination_id: runner.as_deref().map(shown_destination).map(str::to_owned),
        thread_id: Some(thread.to_string()),
        turn_id: None,
        started_at: show::time(terminal.created_at),
        updated_at: show::time(terminal.exited_at.unwrap_or(terminal.created_at)),
        completed_at: terminal.exited_at.map(show::time),
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

    #[test]
    fn the_terminals_of_tools_are_named_by_their_number() {
        assert_eq!(tool_terminal("term_7"), Some(model::TerminalId::new(7)));
        assert_eq!(tool_terminal("7"), None);
        assert_eq!(tool_terminal("term_x"), None);
    }
}
