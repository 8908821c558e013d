//! `rookery run`: a program as a task in a terminal of its own, its output and its exit code.

use std::process::ExitCode;
use std::time::Duration;

use rookery_native::{
    TerminalRef,
    wire::{
        Dump, Dumped, Exit, RetryOn, Task, TaskSubmit, TerminalClose, TerminalEnded, Wait, Waited,
        WhenLost,
    },
};
use rookery_wire::Client;
use serde::Serialize;

use super::close::print_left;
use super::open::directory;
use crate::{
    args, daemon_process,
    failure::{Failure, Outcome},
    link::{self, call},
    output, resolve,
};

/// The default timeout of a program: the daemon cuts it down to the most it allows.
const NO_LIMIT: Duration = Duration::from_secs(u32::MAX as u64);
/// More rows than any terminal keeps.
const ALL_ROWS: usize = 10_000_000;
/// The columns of its terminal: wide, so that few lines are wrapped.
const COLS: u16 = 200;

/// What a program came to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Ran {
    terminal: u64,
    exit: Option<Exit>,
    exit_code: u8,
    elapsed_ms: u64,
    output: String,
}

pub(super) async fn run(args: args::Run) -> Outcome {
    let homes = link::homes()?;
    let client = daemon_process::ensure(&homes).await?.0;
    let task = submit(&client, &args).await?;
    if args.detach {
        match args.json {
            true => output::json(&task)?,
            false => output::line(&task.id)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let Some(terminal) = task.terminal else {
        let error = task.error.unwrap_or_else(|| "the program was not started".to_owned());
        return Err(Failure::new(error));
    };
    let id = TerminalRef::Number(rookery_model::TerminalId::new(terminal));
    let waited = tokio::select! {
        waited = output::working("running", wait(&client, id, args.timeout)) => waited,
        _ = tokio::signal::ctrl_c() => {
            let message = format!("the program keeps running in terminal {terminal}");
            let hint = format!("see it with `rookery attach {terminal}`, end it with `rookery close {terminal}`");
            return Err(Failure::new(message).hint(hint).code(130));
        }
    };
    let waited = waited.map_err(|failure| {
        failure.hint(format!("the program keeps running; see it with `rookery attach {terminal}`"))
    })?;
    let params = Dump { terminal: id, history: ALL_ROWS, redact: !args.no_redact };
    let dumped: Dumped = call(&client, params).await?;
    if !args.keep {
        let params = TerminalClose { terminal: id, all_processes: false };
        let ended: TerminalEnded = call(&client, params).await?;
        print_left(&ended);
    }
    let exit_code = code(waited.exit);
    let text = dumped.text.trim_end();
    let output = if text.is_empty() { String::new() } else { format!("{text}\n") };
    if args.json {
        let (exit, elapsed_ms) = (waited.exit, waited.elapsed_ms);
        output::json(&Ran { terminal, exit, exit_code, elapsed_ms, output })?;
    } else {
        output::write(output.as_bytes())?;
    }
    Ok(ExitCode::from(exit_code))
}

/// Submits the task; unless it is detached, its terminal is open then and stays open.
async fn submit(client: &Client, args: &args::Run) -> Outcome<Task> {
    let project = match &args.project {
        Some(project) => Some(resolve::project(client, project).await?),
        None => None,
    };
    let request = TaskSubmit {
        argv: args.command.clone(),
        cwd: directory(args.cwd.clone(), project.is_some())?,
        env: args.env.iter().map(|it| (it.name.clone(), it.value.clone())).collect(),
        cols: Some(COLS),
        project,
        title: args.title.clone(),
        keep: args.keep || !args.detach,
        opened: !args.detach,
        retries: args.retries,
        retry_on: args.retry_on.iter().map(|it| retry_on(*it)).collect(),
        retry_backoff_seconds: args.retry_backoff,
        lost: args.lost.map(|it| match it {
            args::WhenLost::Hold => WhenLost::Hold,
            args::WhenLost::Fail => WhenLost::Fail,
        }),
        ..TaskSubmit::default()
    };
    call(client, &request).await
}

fn retry_on(what: args::RetryOn) -> RetryOn {
    match what {
        args::RetryOn::Lost => RetryOn::Lost,
        args::RetryOn::Failed => RetryOn::Failed,
    }
}

async fn wait(client: &Client, terminal: TerminalRef, limit: Option<Duration>) -> Outcome<Waited> {
    let limit = limit.unwrap_or(NO_LIMIT);
    let params = Wait {
        exit: Some(true),
        timeout_ms: Some(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
        ..Wait::new(terminal)
    };
    call(client, params).await
}

/// As shells say it.
fn code(exit: Option<Exit>) -> u8 {
    match exit {
        Some(Exit::Code(code)) => u8::try_from(code & 0xff).unwrap_or(1),
        Some(Exit::Signal(signal)) => u8::try_from(128 + signal).unwrap_or(255),
        Some(Exit::Unknown(_)) | None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_reported_as_shells_tell_them() {
        assert_eq!(code(Some(Exit::Code(7))), 7);
        assert_eq!(code(Some(Exit::Signal(9))), 137);
        assert_eq!(code(None), 1);
    }
}
