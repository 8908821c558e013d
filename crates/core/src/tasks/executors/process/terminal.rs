//! A program in a terminal of the keeper: on this machine, or by a client of a runner.

use std::time::Duration;

use rookery_model::{Error, OnExit, Result, Size, Task, TaskState, TerminalId};
use rookery_runners::{InTerminals, TerminalLaunch};

use super::super::super::follow::{Followed, follow};
use super::super::super::view::terminal_uuid;
use super::super::{Job, Outcome};
use super::{GRACE, Site, command_id, done, ended, parse_of, request, variables};
use crate::commands::ExecRequest;
use crate::core::Core;
use crate::runners::TaskPlace;
use crate::terminals::{OpenTerminal, StrayAction};

/// Asks a program to end.
const TERM: i32 = 15;
/// How long a runner may take to end a command.
const END_LIMIT: Duration = Duration::from_secs(3);
/// Variables that would change which client runs, or where it leads to.
const OF_CLIENTS: [&str; 2] = ["PATH", "HOME"];
/// The same by how they begin.
const OF_CLIENTS_BEGIN: [&str; 2] = ["LD_", "DOCKER_"];

pub(super) async fn run(job: &Job) -> Result<Outcome> {
    let site = Site::of(&job.core, &job.task).await;
    let terminal = match (job.core.tasks().terminal_of(&job.task), &site) {
        // It is there already, whatever has become of its runner.
        (Some(terminal), _) => terminal,
        (None, Ok(site)) => open(job, site).await?,
        (None, Err(error)) => return Err(error.clone()),
    };
    let followed = follow(&job.core, terminal, &job.output, &job.stop).await?;
    let keeps = job.task.spec.terminal.as_ref().is_some_and(|terminal| terminal.keep);
    match (followed, site) {
        (Followed::Exited(code), Ok(site)) => Ok(ended(&job.core, &job.task, &site, code).await),
        (Followed::Exited(code), Err(_)) => {
            Ok(done(&job.core, &job.task, &job.task.spec.workspace, code))
        }
        (Followed::Closed, _) => Ok(Outcome::failed("its terminal was closed")),
        (Followed::Stopped, site) => {
            if let Some(place) = site.as_ref().ok().and_then(Site::place) {
                end_there(place, &job.task).await;
            }
            end(&job.core, terminal, keeps).await;
            Ok(Outcome::Left)
        }
    }
}

/// Closes the terminal of a task that is over, so that the end was recorded while its exit code could
/// still be asked for; ends what is not wanted any more.
pub(super) async fn settle(core: Core, task: Task) {
    let Some(terminal) = core.tasks().terminal_of(&task) else { return };
    let keeps = task.spec.terminal.as_ref().is_some_and(|terminal| terminal.keep);
    match task.state {
        TaskState::Done if keeps => {}
        TaskState::Done => {
            if let Err(error) = core.terminals().close_soon(terminal).await {
                tracing::debug!(%error, "a task's terminal was closed before");
            }
        }
        _ => end(&core, terminal, keeps).await,
    }
}

/// Ends the terminal of an attempt that is lost.
pub(super) async fn abandon(core: &Core, task: &Task) {
    if let Some(terminal) = core.tasks().terminal_of(task) {
        end(core, terminal, false).await;
    }
}

async fn open(job: &Job, site: &Site) -> Result<TerminalId> {
    let task = &job.task;
    let wanted = task.spec.terminal.clone().unwrap_or_default();
    let usual = Size::DEFAULT;
    let size = Size::new(wanted.rows.unwrap_or(usual.rows()), wanted.cols.unwrap_or(usual.cols()))?;
    let base = match site.place() {
        Some(place) if !place.is_here() => there(job, place).await?,
        _ => here(job, site).await?,
    };
    let request = OpenTerminal {
        size,
        project: wanted.project,
        title: wanted.title,
        on_exit: OnExit::Keep,
        uuid: Some(terminal_uuid(task)),
        origin: Some(task.origin),
        ..base
    };
    Ok(job.core.terminals().open(request).await?.id)
}

/// How the terminal of a program of this machine is opened.
async fn here(job: &Job, site: &Site) -> Result<OpenTerminal> {
    let (task, request) = (&job.task, request(&job.task, site)?);
    if !task.spec.is_unasked {
        return job.core.commands().permitted_terminal(&request, task.spec.is_reading).await;
    }
    Ok(OpenTerminal {
        argv: request.command,
        cwd: request.cwd,
        env: request.env.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        integrate: true,
        ..OpenTerminal::default()
    })
}

/// How the terminal of the client is opened by which a program runs elsewhere.
async fn there(job: &Job, place: &TaskPlace) -> Result<OpenTerminal> {
    let task = &job.task;
    let input = parse_of(task)?;
    let title = input.argv.join(" ");
    let env: Vec<(String, Option<String>)> = variables(task, input.env);
    let launch = TerminalLaunch {
        id: Some(command_id(task)),
        argv: input.argv,
        cwd: Some(place.cwd.to_string_lossy().into_owned()),
        env: env.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?))).collect(),
        has_terminal: true,
    };
    let wrapped = place.session.in_terminal(&launch);
    let wrapped = wrapped.map_err(|error| Error::failed(error.to_string()))?;
    let wrapped = wrapped.ok_or_else(|| {
        Error::failed(format!("runner {} has no terminals", place.session.info().provider))
    })?;
    // A client that lives on by itself takes values from its own environment; others have them in the
    // command, and theirs stays as it is.
    let takes_env = job.core.runners().in_terminals(&place.destination)? == InTerminals::Lasting;
    let env = if takes_env { checked(env)? } else { Vec::new() };
    let client = ExecRequest {
        command: wrapped.argv,
        cwd: Some(job.core.inner.config.home.clone()),
        env,
        ..ExecRequest::default()
    };
    let base = job.core.commands().permitted_terminal(&client, false).await?;
    let title: String = title.chars().filter(|letter| !letter.is_control()).take(64).collect();
    Ok(OpenTerminal { first_title: Some(title).filter(|title| !title.trim().is_empty()), ..base })
}

/// Variables that may be set for a client of ours as well.
fn checked(env: Vec<(String, Option<String>)>) -> Result<Vec<(String, Option<String>)>> {
    let is_clients = |name: &str| {
        OF_CLIENTS.contains(&name) || OF_CLIENTS_BEGIN.iter().any(|begin| name.starts_with(begin))
    };
    match env.iter().find(|(name, _)| is_clients(name)) {
        Some((name, _)) => {
            let message =
                format!("{name} cannot be set for a program in a terminal of this runner");
            Err(Error::failed(message))
        }
        None => Ok(env),
    }
}

/// Ends a command elsewhere, where its client may not take the request along.
async fn end_there(place: &TaskPlace, task: &Task) {
    if place.is_here() {
        return;
    }
    let id = command_id(task);
    if tokio::time::timeout(END_LIMIT, place.session.end_command(&id)).await.is_err() {
        tracing::warn!(task = %task.id, "a command at a runner may live on");
    }
}

/// Asks the group of a terminal to end, kills it when it does not, and closes the terminal.
async fn end(core: &Core, terminal: TerminalId, keeps: bool) {
    let Ok(handle) = core.terminals().get(terminal) else { return };
    let _ = handle.signal(TERM, true);
    let mut progress = handle.progress();
    let gone = progress.wait_for(|progress| progress.exit.is_some() || progress.is_closed);
    let is_gone = tokio::time::timeout(GRACE, gone).await.is_ok();
    let ended = match (is_gone, keeps) {
        (true, true) => Ok(()),
        (false, true) => handle.kill(StrayAction::End).await.map(drop),
        (_, false) => core.terminals().close_with(terminal, StrayAction::End).await.map(drop),
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a task's terminal was closed before");
    }
}
