//! Background tasks: submitted, listed, looked at, cancelled and followed.

use std::path::PathBuf;
use std::time::Duration;

use rookery_core::{ExecWords, NewTask, Submitted, TaskCancel, TaskQuery, TaskSite};
use rookery_model::spelling::{camel, snake};
use rookery_model::{self as model, TaskState as State};
use serde_json::{Map, Value};

use crate::context::Cx;
use crate::errors::Error;
use crate::ids;
use crate::show;
use crate::tasks::{self, KINDS, TaskFilter, WORKFLOW};
use crate::wire::dual::Dual;
use crate::wire::task::{
    TaskLifetime, TaskLost, TaskRetry, TaskRetryOn, TaskState, TasksCancelParams,
    TasksCancelResult, TasksGetParams, TasksGetResult, TasksListParams, TasksListResult,
    TasksSubmitParams, TasksSubmitResult, TasksSubscribeParams, TasksSubscribeResult,
    TasksUnsubscribeParams, TasksUnsubscribeResult,
};

/// The words by which policy knows a command of a client, so that what was decided for one holds for
/// the other.
const WORDS: ExecWords = ExecWords { tool: "command/exec", process_id: "processId" };
pub(crate) async fn submit(cx: Cx, params: TasksSubmitParams) -> Result<TasksSubmitResult, Error> {
    cx.client.check_not_drained()?;
    cx.bring_mode().await?;
    let input = match params.executor_id.as_str() {
        WORKFLOW => workflow_input(params.input),
        _ => snake_members(params.input),
    };
    let new = NewTask {
        executor: params.executor_id,
        input,
        workspace: params.workspace.map(PathBuf::from),
        usual_workspace: Some(cx.cwd()),
        thread: params.thread_id.as_deref().map(ids::thread).transpose()?,
        turn: params.turn_id.as_deref().map(ids::turn).transpose()?,
        lifetime: params.lifetime.map(|lifetime| match lifetime {
            TaskLifetime::Turn => model::Lifetime::Turn,
            TaskLifetime::Thread => model::Lifetime::Thread,
            TaskLifetime::Server => model::Lifetime::Server,
        }),
        timeout: params.timeout_seconds.map(Duration::from_secs),
        key: params.key,
        retry: params.retry.map(retry).unwrap_or_default(),
        lost: match params.lost {
            Some(TaskLost::Hold) => model::Lost::Hold,
            Some(TaskLost::Fail) | None => model::Lost::Fail,
        },
        site: TaskSite::Chosen,
        client: cx.client.number(),
        keys: cx.client.keys(),
        words: WORDS,
        ..NewTask::default()
    };
    match cx.core.tasks().submit(new).await? {
        Submitted::Task(task) => Ok(TasksSubmitResult { task: Dual(tasks::handle(&cx, &task)) }),
        Submitted::Denied { reason, mode, was_asked: false } => {
            let message = format!("tasks/submit denied by policy: {reason}");
            Err(Error::denied(message, &show::mode(&cx, mode)))
        }
        Submitted::Denied { reason, mode, was_asked: true } => {
            let message = format!("tasks/submit was not approved: {reason}");
            Err(Error::approval_denied(message, &show::mode(&cx, mode)))
        }
    }
}

fn retry(wanted: TaskRetry) -> model::Retry {
    let is_on = |what| wanted.max > 0 && wanted.on.contains(&what);
    model::Retry {
        max: wanted.max,
        on_lost: is_on(TaskRetryOn::Lost) || (wanted.max > 0 && wanted.on.is_empty()),
        on_failed: is_on(TaskRetryOn::Failed),
        backoff: Duration::from_secs(wanted.backoff_seconds),
    }
}

/// The members of an input in snake_case, as executors read them. What is below them stays as it is.
fn snake_members(input: Value) -> Value {
    respelled(input, snake)
}

fn respelled(value: Value, spelling: fn(&str) -> String) -> Value {
    let Value::Object(members) = value else { return value };
    let folded = members.into_iter().map(|(name, value)| (spelling(&name), value));
    Value::Object(folded.collect::<Map<_, _>>())
}

/// The input of a workflow: its script is a value of this dialect's, its arguments are the client's.
fn workflow_input(input: Value) -> Value {
    let mut input = snake_members(input);
    let Some(script) = input.get_mut("script") else { return input };
    *script = snake_members(script.take());
    if let Some(limits) = script.get_mut("limits") {
        *limits = respelled(limits.take(), camel);
    }
    if let Some(source) = script.get_mut("source") {
        *source = snake_members(source.take());
        if let Some(Value::String(kind)) = source.get_mut("kind") {
            *kind = snake(kind);
        }
    }
    input
}

pub(crate) async fn list(cx: Cx, params: TasksListParams) -> Result<TasksListResult, Error> {
    // A thread that is not known has none.
    let thread = match params.thread_id.as_deref().map(str::parse) {
        None => None,
        Some(Ok(thread)) => Some(thread),
        Some(Err(_)) => return Ok(TasksListResult { tasks: Vec::new() }),
    };
    let query = TaskQuery {
        thread,
        states: params.state.map(states).unwrap_or_default(),
        limit: params.limit,
    };
    let found = cx.core.tasks().list(&query);
    cx.flush().await;
    Ok(TasksListResult { tasks: found.iter().map(|task| Dual(tasks::handle(&cx, task))).collect() })
}

fn states(state: TaskState) -> Vec<State> {
    match state {
        TaskState::Queued => vec![State::Queued, State::Claimed],
        TaskState::Running => vec![State::Running],
        TaskState::Completed => vec![State::Done],
        TaskState::Failed => vec![State::Failed, State::Lost],
        TaskState::Cancelled => vec![State::Cancelled],
    }
}

fn task_id(text: &str) -> Result<model::TaskId, Error> {
    let shown: String = text.chars().take(64).collect();
    text.parse().map_err(|_| Error::invalid(format!("unknown task \"{shown}\"")))
}

pub(crate) async fn get(cx: Cx, params: TasksGetParams) -> Result<Dual<TasksGetResult>, Error> {
    let id = task_id(&params.task_id)?;
    let tasks = cx.core.tasks();
    let page = cx.flushed(tasks.read(id, params.after_seq.unwrap_or(0))).await?;
    Ok(Dual(TasksGetResult {
        task: Dual(tasks::handle(&cx, &page.task)),
        logs: page.chunks.iter().map(tasks::log_entry).collect(),
        dropped_bytes: page.dropped,
        payload: tasks::payload(&page.task),
        next_seq: page.last_seq + 1,
    }))
}

pub(crate) async fn cancel(cx: Cx, params: TasksCancelParams) -> Result<TasksCancelResult, Error> {
    let id = task_id(&params.task_id)?;
    let asked = TaskCancel { by: "roder".to_owned(), reason: params.reason };
    Ok(TasksCancelResult { cancelled: cx.flushed(cx.core.tasks().cancel(id, asked)).await? })
}

pub(crate) async fn subscribe(
    cx: Cx,
    params: TasksSubscribeParams,
) -> Result<Dual<TasksSubscribeResult>, Error> {
    let task = params.task_id.as_deref().map(task_id).transpose()?;
    if let Some(task) = task {
        cx.core.tasks().get(task)?;
    }
    let thread = params.thread_id.as_deref().map(ids::thread).transpose()?;
    let kinds = params.event_kinds.unwrap_or_else(|| KINDS.map(str::to_owned).to_vec());
    if let Some(unknown) = kinds.iter().find(|kind| !KINDS.contains(&kind.as_str())) {
        let message = format!("unknown event kind \"{unknown}\"; there are: {}", KINDS.join(", "));
        return Err(Error::invalid(message));
    }
    let filter = TaskFilter { task, thread, kinds: kinds.clone() };
    let subscription_id = cx.client.subscribe_tasks(filter)?;
    Ok(Dual(TasksSubscribeResult { subscribed: true, event_kinds: kinds, subscription_id }))
}

pub(crate) async fn unsubscribe(
    cx: Cx,
    params: TasksUnsubscribeParams,
) -> Result<TasksUnsubscribeResult, Error> {
    match &params.subscription_id {
        Some(id) => cx.client.unsubscribe_tasks(id)?,
        None => cx.client.unsubscribe_all_tasks(),
    }
    Ok(TasksUnsubscribeResult { subscribed: false })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn inputs_are_read_in_both_spellings() {
        let input = json!({ "command": "env", "envOverrides": { "myKey": "v" } });
        let read = json!({ "command": "env", "env_overrides": { "myKey": "v" } });
        assert_eq!(snake_members(input), read);
        assert_eq!(snake_members(read.clone()), read);
        assert_eq!(snake_members(json!(3)), json!(3));
        let script = json!({ "scriptId": "s", "source": { "kind": "builtIn", "commandName": "c" },
                             "limits": { "max_agents_per_run": 1 } });
        let input = json!({ "runId": "r", "arguments": { "myKey": 1 }, "script": script });
        let script = json!({ "script_id": "s", "source": { "kind": "built_in", "command_name": "c" },
                             "limits": { "maxAgentsPerRun": 1 } });
        let read = json!({ "run_id": "r", "arguments": { "myKey": 1 }, "script": script });
        assert_eq!(workflow_input(input), read);
        assert_eq!(workflow_input(read.clone()), read);
        assert_eq!(workflow_input(json!({ "script": 3 })), json!({ "script": 3 }));
    }
}
