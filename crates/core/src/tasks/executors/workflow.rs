//! Runs a workflow: a script that starts child agents. The run is one like any other; the task waits for
//! its end, and its cancel is the run's stop.

use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::BoxFuture;
use rookery_model::{Error, ErrorKind, LogStream, Result, TaskResult, Words as _};
use serde_json::{Map, Value};

use super::super::NewTask;
use super::{Demand, Executor, Job, Outcome, members, required, text};
use crate::workflows::{NewRun, RunEnd, RunStatus, ScriptKind, TaskInput};

/// The members of its input.
const MEMBERS: &[&str] = &["run_id", "script", "arguments", "thread_id", "turn_id", "start_paused"];
const SCRIPT_MEMBERS: &[&str] = &[
    "script_id",
    "name",
    "description",
    "source",
    "hash",
    "host_api_version",
    "arguments_schema",
    "body",
    "limits",
    "created_at",
    "updated_at",
];
/// The members of where a script comes from.
const SOURCE_MEMBERS: &[&str] = &["kind", "path", "command_name", "extension_id"];
/// The version of the functions that scripts use.
const HOST_API: u64 = 1;
/// What a hash may begin with.
const HASH_MARK: &str = "sha256:";

pub(super) const EXECUTOR: Executor = Executor {
    id: "dynamic-workflow",
    kind: "dynamic_workflow",
    description: "Run a workflow: a script that starts child agents and combines their answers",
    schema: include_str!("workflow.schema.json"),
    check: |input| parse(input).map(drop),
    at_runners: false,
    default_timeout: |settings| Some(Duration::from_secs(settings.workflows.run_timeout_seconds)),
    thread: |new| parse(&new.input).ok()?.new.thread.or(new.thread),
    demand: |new, workspace| Ok(Demand::Script(Box::new(input_of(new, workspace)?))),
    prepare: |_, _| Box::pin(std::future::ready(Ok(()))),
    settle: |_, _| Box::pin(std::future::ready(())),
    abandon: |_, _| Box::pin(std::future::ready(())),
    run: |job| Box::pin(run(job)),
};

/// The name of a member, by the members around it.
fn named(path: &[&str]) -> String {
    std::iter::once(&"input").chain(path).copied().collect::<Vec<_>>().join(".")
}

fn wrong(path: &[&str], why: &str) -> Error {
    Error::invalid("input", format!("{} {why}", named(path)))
}

fn no_member(path: &[&str], name: &str) -> Error {
    Error::invalid("input", format!("{} has no member \"{name}\"", named(path)))
}

fn parse(input: &Value) -> Result<TaskInput> {
    let members = members(input, MEMBERS)?;
    let run = required(members, "run_id")?.to_owned();
    let thread = text(members, "thread_id")?.map(str::parse).transpose();
    let turn = text(members, "turn_id")?.map(str::parse).transpose();
    let is_paused = match members.get("start_paused") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(paused)) => *paused,
        Some(_) => return Err(wrong(&["start_paused"], "must be true or false")),
    };
    let Some(Value::Object(script)) = members.get("script") else {
        return Err(wrong(&["script"], "must be an object"));
    };
    let new = NewRun {
        thread: thread.map_err(|_| wrong(&["thread_id"], "is not a thread id"))?,
        turn: turn.map_err(|_| wrong(&["turn_id"], "is not a turn id"))?,
        arguments: members.get("arguments").cloned().unwrap_or_default(),
        ..script_of(script)?
    };
    if new.turn.is_some() && new.thread.is_none() {
        return Err(wrong(&["turn_id"], "needs thread_id"));
    }
    Ok(TaskInput { run, new, is_paused })
}

/// What is run: the text itself, or a script that was saved.
fn script_of(script: &Map<String, Value>) -> Result<NewRun> {
    if let Some(name) = script.keys().find(|name| !SCRIPT_MEMBERS.contains(&name.as_str())) {
        return Err(no_member(&["script"], name));
    }
    let text = |name: &str| match script.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(&["script", name], "must be a string")),
    };
    let (body, kind) = match script.get("source") {
        None | Some(Value::Null) => (text("body")?, None),
        Some(Value::String(source)) if text("body")?.is_none_or(|body| body == *source) => {
            (Some(source.clone()), None)
        }
        Some(Value::String(_)) => return Err(wrong(&["script"], "has both body and source")),
        Some(Value::Object(source)) => (text("body")?, kind_of(source)?),
        Some(_) => return Err(wrong(&["script", "source"], "must be a string or an object")),
    };
    if body.as_ref().is_some_and(|body| body.trim().is_empty()) {
        return Err(wrong(&["script", "body"], "must not be blank"));
    }
    check_version(script)?;
    check_hash(text("hash")?, body.as_deref())?;
    for name in ["created_at", "updated_at"] {
        text(name)?;
    }
    let (id, name, described) = (text("script_id")?, text("name")?, text("description")?);
    if body.is_none() && id.is_none() && name.is_none() {
        return Err(wrong(&["script"], "needs body, or script_id or name of a saved one"));
    }
    let limits = script.get("limits").filter(|limits| !limits.is_null()).cloned();
    if limits.as_ref().is_some_and(|limits| !limits.is_object()) {
        return Err(wrong(&["script", "limits"], "must be an object"));
    }
    let prompt = described.or_else(|| name.clone()).or_else(|| id.clone());
    let prompt = prompt.filter(|text| !text.trim().is_empty());
    let is_saved = body.is_none();
    Ok(NewRun {
        prompt: prompt.unwrap_or_else(|| "run a workflow".to_owned()),
        script: body,
        // The text speaks for itself; the record around it may come from elsewhere.
        name: name.filter(|_| is_saved),
        script_id: id.filter(|_| is_saved),
        kind: kind.filter(|_| is_saved),
        limits,
        ..NewRun::default()
    })
}

fn kind_of(source: &Map<String, Value>) -> Result<Option<ScriptKind>> {
    if let Some(name) = source.keys().find(|name| !SOURCE_MEMBERS.contains(&name.as_str())) {
        return Err(no_member(&["script", "source"], name));
    }
    let wrong =
        || wrong(&["script", "source", "kind"], "must be generated, built_in, user or workspace");
    match source.get("kind") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(word)) => ScriptKind::from_word(word).map(Some).ok_or_else(wrong),
        Some(_) => Err(wrong()),
    }
}

fn check_version(script: &Map<String, Value>) -> Result<()> {
    match script.get("host_api_version") {
        None | Some(Value::Null) => Ok(()),
        Some(version) if version.as_u64() == Some(HOST_API) => Ok(()),
        Some(_) => Err(wrong(&["script", "host_api_version"], "must be 1")),
    }
}

/// A hash that comes along is that of the text, so that what was looked at is what runs.
fn check_hash(hash: Option<String>, body: Option<&str>) -> Result<()> {
    let (Some(hash), Some(body)) = (hash, body) else { return Ok(()) };
    let said = hash.strip_prefix(HASH_MARK).unwrap_or(&hash);
    match said.eq_ignore_ascii_case(&rookery_scripts::hash(body.as_bytes())) {
        true => Ok(()),
        false => Err(wrong(&["script", "hash"], "is not that of the body")),
    }
}

/// The input together with what the task says of itself.
fn input_of(new: &NewTask, workspace: PathBuf) -> Result<TaskInput> {
    let mut input = parse(&new.input)?;
    let run = &mut input.new;
    if run.thread.is_none() {
        (run.thread, run.turn) = (new.thread, new.turn);
    }
    run.workspace = Some(workspace);
    (run.client, run.keys) = (new.grant().client, new.keys.clone());
    Ok(input)
}

fn run(job: Job) -> BoxFuture<'static, Outcome> {
    Box::pin(run_inner(job))
}

async fn run_inner(job: Job) -> Outcome {
    let task = &job.task;
    let new = NewTask {
        input: serde_json::from_str(&task.spec.input).unwrap_or(Value::Null),
        workspace: Some(task.spec.workspace.clone()),
        thread: task.thread,
        turn: task.turn,
        client: job.grant.client.unwrap_or_default(),
        keys: job.grant.keys.clone(),
        ..NewTask::default()
    };
    let input = match input_of(&new, task.spec.workspace.clone()) {
        Ok(input) => input,
        Err(error) => return Outcome::failed(error.message()),
    };
    let workflows = job.core.workflows();
    let handle = match workflows.start_as_task(input).await {
        Ok(handle) => handle,
        Err(error) => return Outcome::failed(error.message()),
    };
    let end = tokio::select! {
        end = handle.wait() => end,
        () = job.stop.cancelled() => {
            let reason = Some("its background task ended".to_owned());
            if let Err(error) = workflows.stop(handle.id(), reason).await {
                tracing::warn!(%error, run = handle.id(), "the run of a task was not stopped");
                return Outcome::Left;
            }
            handle.wait().await
        }
    };
    if let Some(report) = end.run.report.as_ref().filter(|report| !report.is_empty()) {
        job.output.push(LogStream::Log, report);
    }
    outcome(&end)
}

fn outcome(end: &RunEnd) -> Outcome {
    let payload = Some(end.to_payload());
    let run = &end.run;
    let failure = match run.status {
        RunStatus::Completed => {
            return Outcome::Done(TaskResult { payload, ..TaskResult::default() });
        }
        RunStatus::Stopped => match &run.reason {
            Some(reason) => format!("the workflow was stopped: {reason}"),
            None => "the workflow was stopped".to_owned(),
        },
        RunStatus::Failed
        | RunStatus::AwaitingApproval
        | RunStatus::Queued
        | RunStatus::Running
        | RunStatus::Paused => run.error.clone().unwrap_or_else(|| "the workflow failed".into()),
    };
    Outcome::Failed(TaskResult { payload, error: Some(failure), ..TaskResult::default() })
}

/// An error of the run's room, as one about the task's input.
pub(in crate::tasks) fn about_input(error: Error) -> Error {
    let message = error.message();
    let about = |path: &[&str]| Error::invalid("input", format!("{}: {message}", named(path)));
    match error.kind() {
        ErrorKind::Invalid if error.field() == Some("limits") => about(&["script", "limits"]),
        ErrorKind::Invalid => Error::invalid("input", format!("{}.{message}", named(&[]))),
        ErrorKind::NotFound => about(&["thread_id"]),
        ErrorKind::Conflict => about(&["run_id"]),
        ErrorKind::Failed => about(&["script"]),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BODY: &str = "export const meta = { name: 'n', description: 'd' }\nreturn 1";

    fn with(member: &str, value: Value) -> Value {
        let mut input = json!({ "run_id": "r-1", "script": { "body": BODY } });
        input[member] = value;
        input
    }

    #[test]
    fn an_input_is_checked_member_by_member() {
        let refusal =
            |input: Value| parse(&input).map_or_else(|error| error.to_string(), |_| String::new());
        let script = |script: Value| refusal(with("script", script));
        assert_eq!(refusal(json!(1)), "input must be an object");
        assert_eq!(refusal(json!({})), "input.run_id must be a non-blank string");
        assert_eq!(
            refusal(json!({ "run_id": "r" })),
            wrong(&["script"], "must be an object").message()
        );
        assert_eq!(refusal(with("other", json!(1))), "input has no member \"other\"");
        assert_eq!(
            refusal(with("start_paused", json!(1))),
            wrong(&["start_paused"], "must be true or false").message()
        );
        assert_eq!(
            refusal(with("thread_id", json!("x"))),
            wrong(&["thread_id"], "is not a thread id").message()
        );
        assert_eq!(refusal(with("turn_id", json!(7))), "input.turn_id must be a string");
        assert_eq!(script(json!("text")), wrong(&["script"], "must be an object").message());
        assert_eq!(
            script(json!({})),
            wrong(&["script"], "needs body, or script_id or name of a saved one").message()
        );
        assert_eq!(script(json!({ "body": " " })), "input.script.body must not be blank");
        assert_eq!(script(json!({ "body": 1 })), "input.script.body must be a string");
        assert_eq!(
            script(json!({ "body": "a", "source": "b" })),
            wrong(&["script"], "has both body and source").message()
        );
        assert_eq!(
            script(json!({ "name": "n", "host_api_version": 2 })),
            "input.script.host_api_version must be 1"
        );
        assert_eq!(
            script(json!({ "body": BODY, "hash": "sha256:00" })),
            "input.script.hash is not that of the body"
        );
        assert_eq!(
            script(json!({ "name": "n", "limits": 3 })),
            "input.script.limits must be an object"
        );
        assert_eq!(
            script(json!({ "name": "n", "source": { "kind": "x" } })),
            "input.script.source.kind must be generated, built_in, user or workspace"
        );
        assert_eq!(script(json!({ "x": 1 })), "input.script has no member \"x\"");
    }

    #[test]
    fn a_script_comes_as_its_text_or_by_its_name() {
        let new = |script: Value| parse(&with("script", script)).unwrap().new;
        let hash = format!("sha256:{}", rookery_scripts::hash(BODY.as_bytes()));
        let whole = new(json!({
            "script_id": "s", "name": "n", "description": "what it is for", "body": BODY,
            "source": { "kind": "generated" }, "hash": hash, "host_api_version": 1,
            "limits": { "maxAgentsPerRun": 2 }, "created_at": "2026-01-01T00:00:00Z",
        }));
        assert_eq!(
            (whole.script.as_deref(), whole.name, whole.script_id),
            (Some(BODY), None, None)
        );
        assert_eq!((whole.prompt.as_str(), whole.limits.is_some()), ("what it is for", true));
        assert_eq!(new(json!({ "source": BODY })).script.as_deref(), Some(BODY));
        let saved = new(json!({ "name": "n", "source": { "kind": "user" } }));
        assert_eq!((saved.name.as_deref(), saved.kind), (Some("n"), Some(ScriptKind::User)));
        assert_eq!(
            new(json!({ "script_id": "workspace:n" })).script_id.as_deref(),
            Some("workspace:n")
        );
    }
}
