//! Runs a program: on pipes, where it ends with the daemon, or in a terminal, where it lives on; on this
//! machine, or at a runner and then nowhere else.

mod pipes;
mod remote;
mod terminal;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rookery_model::{Error, Result, Task, TaskResult, TaskRunner, shown_destination};
use rookery_runners::InTerminals;
use serde_json::{Value, json};

use super::super::{ID_VARIABLE, NewTask};
use super::{Demand, Executor, Job, Outcome, members, required, text, texts};
use crate::commands::{ExecRequest, ExecRunner};
use crate::core::{Core, blocking};
use crate::rooms::Tasks;
use crate::runners::TaskPlace;

/// The members of its input.
const MEMBERS: &[&str] = &["command", "args", "cwd", "env_overrides", "pty"];
/// The member that asks for a terminal.
const PTY: &str = "pty";
/// How long a program may take to end once it was asked to.
const GRACE: Duration = Duration::from_millis(250);
/// How long a killed one may take to be gone.
const REAP_LIMIT: Duration = Duration::from_secs(1);
/// What is said of a program whose runner is gone.
const LOST: &str = "the runner session was lost while the program ran";

pub(super) const EXECUTOR: Executor = Executor {
    id: "process",
    kind: "process",
    description: "Run a program in the workspace",
    schema: include_str!("process.schema.json"),
    check,
    at_runners: true,
    default_timeout: |_| None,
    thread: |_| None,
    demand,
    prepare: |core, task| Box::pin(prepare(core, task)),
    settle: |core, task| Box::pin(terminal::settle(core, task)),
    abandon: |core, task| Box::pin(abandon(core, task)),
    run: |job| Box::pin(run(job)),
};

/// What is asked for.
struct Input {
    argv: Vec<String>,
    cwd: Option<PathBuf>,
    env: Vec<(String, Option<String>)>,
}

fn parse(input: &Value) -> Result<Input> {
    let members = members(input, MEMBERS)?;
    let command = required(members, "command")?.to_owned();
    let args = texts(members, "args")?.unwrap_or_default();
    let cwd = text(members, "cwd")?.filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
    let wrong = |what: &str| Error::invalid("input", format!("input.{what}"));
    if !matches!(members.get("pty"), None | Some(Value::Null | Value::Bool(_))) {
        return Err(wrong("pty must be true or false"));
    }
    let env = match members.get("env_overrides") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(set)) => {
            let each = set.iter().map(|(name, value)| {
                let value =
                    value.as_str().ok_or_else(|| wrong("env_overrides must have strings only"));
                Ok((name.clone(), Some(value?.to_owned())))
            });
            each.collect::<Result<_>>()?
        }
        Some(_) => return Err(wrong("env_overrides must be an object")),
    };
    Ok(Input { argv: std::iter::once(command).chain(args).collect(), cwd, env })
}

fn check(input: &Value) -> Result<()> {
    parse(input).map(drop)
}

fn demand(new: &NewTask, workspace: PathBuf) -> Result<Demand> {
    let input = parse(&new.input)?;
    Ok(Demand::Command(Box::new(ExecRequest {
        command: input.argv,
        cwd: Some(input.cwd.map_or(workspace.clone(), |cwd| workspace.join(cwd))),
        env: input.env,
        owner: new.client,
        thread: new.thread,
        words: new.words,
        ..ExecRequest::default()
    })))
}

impl Tasks {
    /// Checks whether a runner can do what a task wants of it, and gives how policy sees it.
    pub(in crate::tasks) fn check_runner(
        &self,
        new: &NewTask,
        runner: &TaskRunner,
    ) -> Result<ExecRunner> {
        let destination = runner.destination.clone();
        let way = self.core.runners().in_terminals(&destination)?;
        if way == InTerminals::Never && new.wants_terminal() {
            let shown = shown_destination(&destination);
            let message = format!(
                "input.{PTY}: runner destination {shown} cannot run a program in a terminal; submit it without"
            );
            return Err(Error::invalid("input", message));
        }
        Ok(ExecRunner { destination, is_elsewhere: way != InTerminals::Here })
    }
}

/// Where a task works: within its workspace, wherever links lead.
async fn directory(task: &Task) -> Result<PathBuf> {
    let asked = parse_of(task)?.cwd;
    let (workspace, is_unasked) = (task.spec.workspace.clone(), task.spec.is_unasked);
    let found = blocking(move || {
        let none = |path: &Path| Error::failed(format!("{} is not a directory", path.display()));
        let root = workspace.canonicalize().map_err(|_| none(&workspace))?;
        let wanted = asked.map_or(root.clone(), |cwd| root.join(cwd));
        let found = wanted.canonicalize().map_err(|_| match is_outside(&wanted, &root) {
            true => escapes(&wanted, &root),
            false => none(&wanted),
        })?;
        match found.starts_with(&root) || is_unasked {
            true if found.is_dir() => Ok(found),
            true => Err(none(&found)),
            false => Err(escapes(&wanted, &root)),
        }
    });
    found.await?
}

fn is_outside(wanted: &Path, root: &Path) -> bool {
    !wanted.starts_with(root)
        || wanted.components().any(|part| part == std::path::Component::ParentDir)
}

fn escapes(wanted: &Path, root: &Path) -> Error {
    let (wanted, root) = (wanted.display(), root.display());
    Error::failed(format!("cwd {wanted} escapes workspace root {root}"))
}

fn parse_of(task: &Task) -> Result<Input> {
    let input = serde_json::from_str(&task.spec.input).unwrap_or(Value::Null);
    parse(&input)
}

/// Where the program of a task runs.
enum Site {
    /// On this machine, in this directory.
    Here(PathBuf),
    Runner(TaskPlace),
}

impl Site {
    async fn of(core: &Core, task: &Task) -> Result<Site> {
        match &task.spec.runner {
            None => directory(task).await.map(Site::Here),
            Some(runner) => {
                let cwd = parse_of(task)?.cwd;
                core.runners()
                    .task_place(runner, cwd.as_deref(), task.thread)
                    .await
                    .map(Site::Runner)
            }
        }
    }

    fn cwd(&self) -> &Path {
        match self {
            Site::Here(cwd) => cwd,
            Site::Runner(place) => &place.cwd,
        }
    }

    fn place(&self) -> Option<&TaskPlace> {
        match self {
            Site::Here(_) => None,
            Site::Runner(place) => Some(place),
        }
    }
}

async fn prepare(core: Core, task: Task) -> Result<()> {
    Site::of(&core, &task).await.map(drop)
}

async fn run(job: Job) -> Outcome {
    let ran = async {
        if job.task.spec.terminal.is_some() {
            return terminal::run(&job).await;
        }
        match Site::of(&job.core, &job.task).await? {
            Site::Runner(place) if !place.is_here() => remote::run(&job, &place).await,
            site => pipes::run(&job, &site).await,
        }
    };
    ran.await.unwrap_or_else(|error| Outcome::failed(error.message()))
}

/// The variables of a task's program: those that were asked for, and what tells it whose it is.
fn variables(task: &Task, env: Vec<(String, Option<String>)>) -> Vec<(String, Option<String>)> {
    let own = [
        (ID_VARIABLE, task.id.to_string()),
        ("ROOKERY_TASK_EPOCH", task.epoch.to_string()),
        ("ROOKERY_TASK_KEY", task.key.clone()),
    ];
    let runner = task.spec.runner.as_ref();
    let runner = runner.map(|runner| (ExecRunner::VARIABLE, runner.destination.clone()));
    let own = own.into_iter().chain(runner);
    let own = own.map(|(name, value)| (name.to_owned(), Some(value)));
    env.into_iter().chain(own).collect()
}

/// The command as it runs on this machine.
fn request(task: &Task, site: &Site) -> Result<ExecRequest> {
    let Input { argv, env, .. } = parse_of(task)?;
    let mut env = variables(task, env);
    if let Some(place) = site.place() {
        // By this the session finds what runs in it.
        let mark = rookery_host::SessionMark::VARIABLE.to_owned();
        env.push((mark, Some(place.session_id().to_owned())));
    }
    Ok(ExecRequest {
        command: argv,
        cwd: Some(site.cwd().to_owned()),
        env,
        timeout: None,
        cap: None,
        process_id: Some(task.id.to_string()),
        streams: true,
        ..ExecRequest::default()
    })
}

/// By what the command of an attempt is ended at a runner, whichever daemon does it.
fn command_id(task: &Task) -> String {
    format!("task-{}-{}", uuid::Uuid::from_u128(task.id.get()).simple(), task.epoch)
}

fn done(core: &Core, task: &Task, cwd: &Path, exit_code: Option<i32>) -> Outcome {
    let argv = parse_of(task).map(|input| input.argv).unwrap_or_default();
    let mut payload = json!({
        "command": argv.first(),
        "args": argv.get(1..).unwrap_or_default(),
        "cwd": cwd.to_string_lossy(),
        "success": exit_code == Some(0),
    });
    if let Some(runner) = &task.spec.runner {
        payload["runner_destination"] = shown_destination(&runner.destination).into();
        payload["runner_session"] = core.runners().session_of(&runner.destination).into();
    }
    let payload = Some(payload.to_string());
    Outcome::Done(TaskResult { exit_code, payload, ..TaskResult::default() })
}

/// How a program at a runner ended: by itself, or because the runner is gone.
async fn ended(core: &Core, task: &Task, site: &Site, code: Option<i32>) -> Outcome {
    match site.place() {
        Some(place) if core.runners().is_lost(place, code).await => Outcome::failed(LOST),
        _ => done(core, task, site.cwd(), code),
    }
}

/// Ends what is left of an attempt of the last daemon.
async fn abandon(core: Core, task: Task) {
    terminal::abandon(&core, &task).await;
    let id = task.id.to_string();
    // Its supervisor ends it as well, but perhaps not yet; and what is held to reading has none.
    let killed = blocking(move || rookery_host::kill_marked(ID_VARIABLE, &id)).await;
    if let Err(error) = killed {
        tracing::warn!(%error, "what a task has started may live on");
    }
    let Some(runner) = task.spec.runner.clone() else { return };
    // On this machine it is gone by now, and what needs the daemon's connection went with that.
    let lives_on = core.runners().in_terminals(&runner.destination).is_ok_and(|way| match way {
        InTerminals::Here | InTerminals::WithDaemon => false,
        InTerminals::Lasting | InTerminals::Never => true,
    });
    if lives_on {
        // A runner that cannot be reached must not hold up the start.
        core.clone().inner.runtime.spawn(async move {
            match core.runners().task_place(&runner, None, task.thread).await {
                Ok(place) => drop(place.session.end_command(&command_id(&task)).await),
                Err(error) => {
                    tracing::warn!(%error, task = %task.id, "a command at a runner may live on");
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_checked_member_by_member() {
        let refusal =
            |input: Value| check(&input).map_or_else(|error| error.to_string(), |()| String::new());
        assert_eq!(
            refusal(json!({ "command": "true", "args": ["a"], "cwd": null, "pty": true })),
            ""
        );
        assert_eq!(refusal(json!(null)), "input must be an object");
        assert_eq!(refusal(json!({})), "input.command must be a non-blank string");
        assert_eq!(refusal(json!({ "command": " " })), "input.command must be a non-blank string");
        assert_eq!(
            refusal(json!({ "command": "a", "args": [1] })),
            "input.args must be a list of strings"
        );
        assert_eq!(refusal(json!({ "command": "a", "shell": 1 })), "input has no member \"shell\"");
        assert_eq!(refusal(json!({ "command": "a", "pty": 1 })), "input.pty must be true or false");
        let env = json!({ "command": "a", "env_overrides": { "A": 1 } });
        assert_eq!(refusal(env), "input.env_overrides must have strings only");
    }
}
