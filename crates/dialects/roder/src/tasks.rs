//! Background tasks as this dialect shows them: handles, log entries, and who hears of what.

use rookery_core::{RunEnd, TaskChange, TaskOutput as Written};
use rookery_model::spelling::camel;
use rookery_model::{self as model, TaskState as State, Words as _};
use serde_json::{Value, json};

use crate::context::Cx;
use crate::runs;
use crate::show;
use crate::wire::dual::Dual;
use crate::wire::notification::name;
use crate::wire::task::{
    TaskAttempt, TaskCancelled, TaskCompleted, TaskFailed, TaskHandle, TaskLifetime, TaskLogEntry,
    TaskOutput, TaskPlace, TaskSpec, TaskStarted, TaskState,
};

/// The executor whose input is a value of this dialect, in camelCase.
pub(crate) const WORKFLOW: &str = "dynamic-workflow";

/// The notifications of tasks.
pub(crate) const KINDS: [&str; 5] = [
    name::TASK_STARTED,
    name::TASK_OUTPUT,
    name::TASK_COMPLETED,
    name::TASK_FAILED,
    name::TASK_CANCELLED,
];

/// What a client wants to hear of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskFilter {
    /// Only of this one.
    pub(crate) task: Option<model::TaskId>,
    /// Only of those of this thread.
    pub(crate) thread: Option<model::ThreadId>,
    /// Only these notifications.
    pub(crate) kinds: Vec<String>,
}

impl TaskFilter {
    fn wants(&self, kind: &str, change: &TaskChange) -> bool {
        let (id, thread) = match change {
            TaskChange::Queued(task) | TaskChange::Started(task, _) | TaskChange::Ended(task) => {
                (task.id, task.thread)
            }
            TaskChange::Output(written) => (written.task, written.thread),
        };
        self.task.is_none_or(|task| task == id)
            && self.thread.is_none_or(|wanted| thread == Some(wanted))
            && self.kinds.iter().any(|wanted| wanted == kind)
    }
}

/// The notification of a change, if one of the filters wants it.
pub(crate) fn notification(
    cx: &Cx,
    at: model::Timestamp,
    change: &TaskChange,
) -> Option<(&'static str, Value)> {
    let kind = match change {
        TaskChange::Queued(_) => return None,
        TaskChange::Started(..) => name::TASK_STARTED,
        TaskChange::Output(_) => name::TASK_OUTPUT,
        TaskChange::Ended(task) => match state(task.state) {
            TaskState::Completed => name::TASK_COMPLETED,
            TaskState::Cancelled => name::TASK_CANCELLED,
            TaskState::Failed | TaskState::Queued | TaskState::Running => name::TASK_FAILED,
        },
    };
    if !cx.client.task_filters().iter().any(|filter| filter.wants(kind, change)) {
        return None;
    }
    let params = match change {
        TaskChange::Queued(_) => return None,
        TaskChange::Started(task, waiting) => serde_json::to_value(Dual(TaskStarted {
            task_id: task.id.to_string(),
            executor_id: task.spec.executor.clone(),
            task_kind: spec(cx, task).kind,
            queue_depth: *waiting,
            place: place(task, at),
        })),
        TaskChange::Output(written) => serde_json::to_value(Dual(output(written, at))),
        TaskChange::Ended(task) => ended(task, kind, at),
    };
    params.ok().map(|params| (kind, params))
}

fn place(task: &model::Task, at: model::Timestamp) -> TaskPlace {
    TaskPlace {
        thread_id: task.thread.map(|id| id.to_string()),
        turn_id: task.turn.map(|id| id.to_string()),
        timestamp: show::time(at),
    }
}

fn output(written: &Written, at: model::Timestamp) -> TaskOutput {
    TaskOutput {
        task_id: written.task.to_string(),
        stream: written.chunk.stream.word().to_owned(),
        chunk: written.chunk.text.clone(),
        dropped_bytes: written.dropped,
        seq: written.chunk.seq,
        place: TaskPlace {
            thread_id: written.thread.map(|id| id.to_string()),
            turn_id: written.turn.map(|id| id.to_string()),
            timestamp: show::time(at),
        },
    }
}

fn ended(task: &model::Task, kind: &str, at: model::Timestamp) -> serde_json::Result<Value> {
    let (task_id, place) = (task.id.to_string(), place(task, at));
    let result = task.result.clone().unwrap_or_default();
    match kind {
        name::TASK_COMPLETED => {
            let (exit_code, payload) = (result.exit_code, payload(task));
            serde_json::to_value(Dual(TaskCompleted { task_id, exit_code, payload, place }))
        }
        name::TASK_CANCELLED => {
            let reason = task.cancel.as_ref().and_then(|cancel| cancel.reason.clone());
            serde_json::to_value(Dual(TaskCancelled { task_id, reason, place }))
        }
        _ => serde_json::to_value(Dual(TaskFailed {
            task_id,
            error: result.error.unwrap_or_default(),
            error_kind: result.error_kind,
            partial_result: result.partial,
            place,
        })),
    }
}

/// What its executor gave back, in both spellings; null if nothing.
pub(crate) fn payload(task: &model::Task) -> Value {
    let text = task.result.as_ref().and_then(|result| result.payload.as_deref());
    let Some(text) = text else { return Value::Null };
    let payload = match RunEnd::of_payload(text).filter(|_| task.spec.executor == WORKFLOW) {
        Some(end) => run_payload(&end),
        None => serde_json::from_str(text).unwrap_or_default(),
    };
    let mut payload = dual(payload);
    if let Some(usage) = payload.get_mut("usage") {
        *usage = dual(usage.take());
    }
    payload
}

/// A run is shown as its own family shows it.
fn run_payload(end: &RunEnd) -> Value {
    let run = runs::run(&end.run, &end.run.summary());
    let (report, reused) = (&end.run.report, end.reused_results);
    json!({ "run": run, "report": report, "reused_agent_results": reused })
}

fn dual(value: Value) -> Value {
    serde_json::to_value(Dual(value)).unwrap_or_default()
}

pub(crate) fn log_entry(chunk: &model::LogChunk) -> TaskLogEntry {
    TaskLogEntry {
        seq: chunk.seq,
        stream: chunk.stream.word().to_owned(),
        chunk: chunk.text.clone(),
        timestamp: show::time(chunk.at),
    }
}

fn spec(cx: &Cx, task: &model::Task) -> TaskSpec {
    let known = cx.core.tasks().executors().into_iter().find(|one| one.id == task.spec.executor);
    let default_timeout = known.as_ref().and_then(|known| known.default_timeout);
    let (kind, description, input_schema) = match known {
        Some(known) => {
            let schema = match known.id {
                WORKFLOW => camel_schema(known.schema),
                _ => known.schema,
            };
            (known.kind.to_owned(), known.description.to_owned(), schema)
        }
        // It ran before this version, which does not know it any more.
        None => (task.spec.executor.clone(), String::new(), json!({})),
    };
    let default_timeout_seconds = default_timeout.map(|limit| limit.as_secs().max(1));
    TaskSpec { kind, description, input_schema, default_timeout_seconds, metadata: json!({}) }
}

/// A schema with the names of members in camelCase.
fn camel_schema(schema: Value) -> Value {
    let Value::Object(members) = schema else { return schema };
    let shown = members.into_iter().map(|(name, value)| {
        let value = match (name.as_str(), value) {
            ("properties", Value::Object(named)) => {
                let named = named.into_iter().map(|(name, of)| (camel(&name), camel_schema(of)));
                Value::Object(named.collect())
            }
            ("required", Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).map(camel).collect()
            }
            ("oneOf", Value::Array(choices)) => choices.into_iter().map(camel_schema).collect(),
            (_, value) => value,
        };
        (name, value)
    });
    Value::Object(shown.collect())
}

fn state(state: State) -> TaskState {
    match state {
        State::Queued | State::Claimed => TaskState::Queued,
        State::Running => TaskState::Running,
        State::Done => TaskState::Completed,
        State::Failed | State::Lost => TaskState::Failed,
        State::Cancelled => TaskState::Cancelled,
    }
}

/// A task as clients see it.
pub(crate) fn handle(cx: &Cx, task: &model::Task) -> TaskHandle {
    let result = task.result.clone().unwrap_or_default();
    let attempt = |one: &model::Attempt| TaskAttempt {
        epoch: one.epoch,
        node: one.node.clone(),
        from: show::time(one.from),
        to: one.to.map(show::time),
        fate: one.fate.word().to_owned(),
    };
    TaskHandle {
        task_id: task.id.to_string(),
        executor_id: task.spec.executor.clone(),
        spec: Dual(spec(cx, task)),
        state: state(task.state),
        status: state(task.state),
        created_at: show::time(task.created_at),
        started_at: task.started_at.map(show::time),
        finished_at: task.ended_at.map(show::time),
        thread_id: task.thread.map(|id| id.to_string()),
        turn_id: task.turn.map(|id| id.to_string()),
        workspace: task.spec.workspace.to_string_lossy().into_owned(),
        exit_code: result.exit_code,
        error: result.error,
        error_kind: result.error_kind,
        lifetime: match task.lifetime {
            model::Lifetime::Turn => TaskLifetime::Turn,
            model::Lifetime::Thread => TaskLifetime::Thread,
            model::Lifetime::Server => TaskLifetime::Server,
        },
        node: task.attempts.last().map(|attempt| attempt.node.clone()),
        epoch: task.epoch,
        maybe_twice: task.maybe_twice,
        attempts: task.attempts.iter().map(attempt).collect(),
        attempt_count: task.attempt_count,
        terminal_id: cx.core.tasks().terminal_of(task).map(|id| id.to_string()),
    }
}
