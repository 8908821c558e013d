//! `rookery task`: background tasks, listed, shown, followed, cancelled and done again.

use std::process::ExitCode;

use rookery_native::notification;
use rookery_native::wire::{
    Task, TaskCancel, TaskCancelled, TaskList, TaskLogPiece, TaskLogged, TaskLogs, TaskNews,
    TaskNotification, TaskRetry, TaskShow, TaskState, Tasks,
};
use rookery_view::safe;
use rookery_wire::Client;

use crate::{
    args::{self, TaskAction},
    commands::done,
    failure::{Failure, Outcome},
    link::{self, ask},
    output::{self, Colors, Table, Tone, shorten},
    talk::{age, requests::short_id},
};

/// What to do when a task is not found.
const SEE: &str = "run `rookery task ls` to list tasks";
/// Columns of a command.
const SUMMARY_WIDTH: usize = 56;

pub(super) async fn run(action: TaskAction) -> Outcome {
    let client = link::connect().await?;
    match action {
        TaskAction::Ls(args) => list(&client, args).await,
        TaskAction::Show(args) => show(&client, args).await,
        TaskAction::Logs(args) => logs(&client, args).await,
        TaskAction::Cancel(args) => cancel(&client, args).await,
        TaskAction::Retry(args) => retry(&client, args).await,
    }
}

async fn list(client: &Client, args: args::TaskLs) -> Outcome {
    let states = match args.open {
        true => vec![TaskState::Queued, TaskState::Claimed, TaskState::Running],
        false => Vec::new(),
    };
    let list: Tasks = ask(client, TaskList { states, limit: args.limit }, SEE).await?;
    if args.json {
        output::json(&list)?;
    } else if list.tasks.is_empty() {
        output::note("no tasks; submit one with `rookery run --detach -- COMMAND`");
    } else {
        table(&list.tasks, age::now()).print()?;
    }
    done()
}

fn table(all: &[Task], now: i64) -> Table {
    let mut table = Table::new(&["ID", "AGE", "STATE", "TERMINAL", "TASK"]);
    let ids = all.iter().map(|one| &*one.id);
    for one in all {
        let tone = match one.state {
            TaskState::Failed | TaskState::Lost => Tone::Strong,
            TaskState::Queued | TaskState::Claimed | TaskState::Running => Tone::Plain,
            TaskState::Done | TaskState::Cancelled => Tone::Faint,
        };
        table.row(vec![
            (Tone::Strong, short_id(&one.id, ids.clone()).to_owned()),
            (Tone::Faint, age::since_text(&one.created_at, now)),
            (tone, state(one)),
            (Tone::Plain, one.terminal.map_or("-".to_owned(), |id| id.to_string())),
            (Tone::Plain, shorten(&safe::line(&one.summary), SUMMARY_WIDTH)),
        ]);
    }
    table
}

/// The state in a few words, with the exit code and the mark of what may have been done twice.
fn state(task: &Task) -> String {
    let word = match task.state {
        TaskState::Queued | TaskState::Claimed => "queued",
        TaskState::Running => "running",
        TaskState::Done => "done",
        TaskState::Failed => "failed",
        TaskState::Cancelled => "cancelled",
        TaskState::Lost => "lost",
    };
    let code = task.exit_code.filter(|_| task.state == TaskState::Done);
    let code = code.map_or(String::new(), |code| format!(" ({code})"));
    let twice = if task.maybe_twice { ", maybe twice" } else { "" };
    format!("{word}{code}{twice}")
}

async fn show(client: &Client, args: args::TaskIdArg) -> Outcome {
    let one: Task = ask(client, TaskShow { task: args.id }, SEE).await?;
    match args.json {
        true => output::json(&one)?,
        false => output::write(described(&one, Colors::of_stdout()).as_bytes())?,
    }
    done()
}

fn described(one: &Task, colors: Colors) -> String {
    let mut out = format!("{}\n", colors.paint(Tone::Strong, &safe::line(&one.summary)));
    let mut say = |name: &str, value: &str| {
        let name = colors.paint(Tone::Faint, &format!("{name:<9}"));
        out += &format!("{name} {}\n", safe::line(value));
    };
    say("id", &one.id);
    say("state", &state(one));
    say("executor", &one.executor);
    say("cwd", &one.workspace.to_string_lossy());
    say("submitted", &one.created_at);
    let optional = [
        ("started", one.started_at.clone()),
        ("ended", one.ended_at.clone()),
        ("terminal", one.terminal.map(|id| id.to_string())),
        ("thread", one.thread.clone()),
        ("error", one.error.clone()),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            say(name, &value);
        }
    }
    for attempt in &one.attempts {
        say("attempt", &format!("{} on {}: {}", attempt.epoch, attempt.node, attempt.fate));
    }
    if one.maybe_twice {
        say("note", "it may have had its effect more than once");
    }
    out
}

async fn logs(client: &Client, args: args::TaskLogsArgs) -> Outcome {
    let mut news = client.notifications().ok_or_else(|| Failure::new("no notifications"))?;
    let params = TaskLogs { task: args.id, after: None, follow: args.follow };
    let logged: TaskLogged = ask(client, params, SEE).await?;
    if logged.dropped > 0 {
        output::note(format!("the first {} bytes are no longer kept", logged.dropped));
    }
    for piece in &logged.pieces {
        print(piece, args.json)?;
    }
    if !args.follow {
        return done();
    }
    let Some(subscription) = logged.subscription else { return ended(&logged.task) };
    while let Some(message) = news.recv().await {
        if message.method != notification::TASK {
            continue;
        }
        let read = serde_json::from_str::<TaskNotification>(message.params.get());
        let Ok(read) = read else { continue };
        match read.news {
            _ if read.subscription != subscription => {}
            TaskNews::Started { .. } => {}
            TaskNews::Output { piece } => print(&piece, args.json)?,
            TaskNews::Dropped { count } => output::note(format!("{count} pieces were dropped")),
            TaskNews::Ended { task } => return ended(&task),
        }
    }
    let hint = "the task keeps running if it runs in a terminal; see `rookery task ls`";
    Err(Failure::new("the daemon stopped").hint(hint))
}

fn print(piece: &TaskLogPiece, json: bool) -> Outcome<()> {
    match json {
        true => output::json_line(piece),
        false => output::write(piece.text.as_bytes()),
    }
}

/// Exits as a task did.
fn ended(task: &Task) -> Outcome {
    match (task.state, task.exit_code) {
        (TaskState::Done, code) => {
            Ok(ExitCode::from(code.map_or(0, |code| u8::try_from(code & 0xff).unwrap_or(1))))
        }
        (TaskState::Cancelled, _) => Err(Failure::new("the task was cancelled")),
        _ => {
            let error = task.error.as_deref().unwrap_or("the task failed");
            Err(Failure::new(safe::line(error)))
        }
    }
}

async fn cancel(client: &Client, args: args::TaskCancelArgs) -> Outcome {
    let mut is_any_over = false;
    for task in args.ids {
        let params = TaskCancel { task, reason: args.reason.clone() };
        let one: TaskCancelled = ask(client, params, SEE).await?;
        is_any_over |= !one.cancelled;
        match (args.json, one.cancelled) {
            (true, _) => output::json_line(&one)?,
            (false, true) => output::line(&one.task)?,
            (false, false) => output::note(format!("task {} was over already", one.task)),
        }
    }
    Ok(ExitCode::from(u8::from(is_any_over) * 4))
}

async fn retry(client: &Client, args: args::TaskIdArg) -> Outcome {
    let one: Task = ask(client, TaskRetry { task: args.id }, SEE).await?;
    match args.json {
        true => output::json(&one)?,
        false => output::line(&one.id)?,
    }
    done()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(state: TaskState, exit_code: Option<i32>) -> Task {
        Task {
            id: "0".into(),
            executor: "process".into(),
            summary: "make test".into(),
            state,
            workspace: "/".into(),
            key: "k".into(),
            thread: None,
            created_at: "2026-11-18T08:00:00Z".into(),
            started_at: None,
            ended_at: None,
            exit_code,
            error: None,
            error_kind: None,
            payload: None,
            terminal: None,
            epoch: 1,
            maybe_twice: false,
            attempts: Vec::new(),
            attempt_count: 1,
        }
    }

    #[test]
    fn a_state_says_the_exit_code_and_the_mark() {
        assert_eq!(state(&task(TaskState::Done, Some(3))), "done (3)");
        assert_eq!(state(&task(TaskState::Claimed, None)), "queued");
        let twice = Task { maybe_twice: true, ..task(TaskState::Failed, None) };
        assert_eq!(state(&twice), "failed, maybe twice");
        assert!(described(&twice, Colors::none()).contains("more than once"));
    }
}
