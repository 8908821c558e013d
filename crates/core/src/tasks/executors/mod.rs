//! What tasks can do: one row for each executor.

mod process;
mod subagent;
mod workflow;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rookery_agent::settings::Settings;
use rookery_model::{Error, Result, Task, TaskResult, ThreadId};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::output::Output;
use super::submit::NewTask;
use crate::commands::ExecRequest;
use crate::core::Core;
use crate::rooms::Tasks;
use crate::workflows::{ClientGrant, TaskInput};

pub(super) use workflow::about_input;

type Future<T> = Pin<Box<dyn std::future::Future<Output = T> + Send>>;

pub(super) struct Executor {
    /// What it is called.
    pub(super) id: &'static str,
    /// The kind of work that it does.
    pub(super) kind: &'static str,
    /// What it does, for people.
    pub(super) description: &'static str,
    /// The JSON Schema of its input.
    pub(super) schema: &'static str,
    /// Whether an input is one.
    pub(super) check: fn(&Value) -> Result<()>,
    /// Whether its program can run at a runner.
    pub(super) at_runners: bool,
    /// How long its work may take unless it is said; it holds that by itself.
    pub(super) default_timeout: fn(&Settings) -> Option<Duration>,
    /// The thread in whose directory it works unless another is named.
    pub(super) thread: fn(&NewTask) -> Option<ThreadId>,
    /// What it would do, which has to be allowed first.
    pub(super) demand: fn(&NewTask, PathBuf) -> Result<Demand>,
    /// What can fail before anything has happened.
    pub(super) prepare: fn(Core, Task) -> Future<Result<()>>,
    /// What is left to do once the end of an attempt is recorded.
    pub(super) settle: fn(Core, Task) -> Future<()>,
    /// Ends what is left of an attempt that is lost.
    pub(super) abandon: fn(Core, Task) -> Future<()>,
    /// Does the work. When `stop` is raised, it ends what it began and returns soon.
    pub(super) run: fn(Job) -> Future<Outcome>,
}

/// What a task would do.
pub(super) enum Demand {
    /// Run a command, which is judged as those of clients are.
    Command(Box<ExecRequest>),
    /// Start an agent, each of whose steps is judged by itself.
    Agent,
    /// Run a script that starts such agents.
    Script(Box<TaskInput>),
}

const EXECUTORS: &[Executor] = &[process::EXECUTOR, subagent::EXECUTOR, workflow::EXECUTOR];

/// One attempt, as its executor sees it.
pub(super) struct Job {
    pub(super) core: Core,
    pub(super) task: Task,
    pub(super) output: Arc<Output>,
    pub(super) stop: CancellationToken,
    /// For whom it is done; the client may be gone.
    pub(super) grant: ClientGrant,
}

/// How an attempt ended.
pub(super) enum Outcome {
    Done(TaskResult),
    Failed(TaskResult),
    /// It goes on without this daemon.
    Left,
}

impl Outcome {
    pub(super) fn failed(error: impl Into<String>) -> Outcome {
        Outcome::Failed(TaskResult { error: Some(error.into()), ..TaskResult::default() })
    }
}

/// An executor as clients see it.
#[derive(Clone, Debug)]
pub struct ExecutorInfo {
    /// What it is called.
    pub id: &'static str,
    /// The kind of work that it does.
    pub kind: &'static str,
    /// What it does.
    pub description: &'static str,
    /// The JSON Schema of its input.
    pub schema: Value,
    /// How long one may take unless it is said.
    pub default_timeout: Option<Duration>,
}

pub(super) fn all() -> &'static [Executor] {
    EXECUTORS
}

pub(super) fn find(id: &str) -> Option<&'static Executor> {
    EXECUTORS.iter().find(|executor| executor.id == id)
}

impl Tasks {
    /// The executors that there are.
    pub fn executors(&self) -> Vec<ExecutorInfo> {
        let settings = self.core.agents().settings();
        let info = |one: &Executor| ExecutorInfo {
            id: one.id,
            kind: one.kind,
            description: one.description,
            schema: serde_json::from_str(one.schema).unwrap_or_default(),
            default_timeout: (one.default_timeout)(&settings),
        };
        EXECUTORS.iter().map(info).collect()
    }
}

/// The members of an input. Every check names the member that is wrong.
pub(super) fn members<'a>(input: &'a Value, known: &[&str]) -> Result<&'a Map<String, Value>> {
    let Value::Object(members) = input else {
        return Err(Error::invalid("input", "input must be an object"));
    };
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Error::invalid("input", format!("input has no member \"{name}\""))),
        None => Ok(members),
    }
}

/// A member that is text; `null` is as good as none.
pub(super) fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Error::invalid("input", format!("input.{name} must be a string"))),
    }
}

/// A member that is text and says something.
pub(super) fn required<'a>(members: &'a Map<String, Value>, name: &str) -> Result<&'a str> {
    match text(members, name)? {
        Some(text) if !text.trim().is_empty() => Ok(text),
        _ => Err(Error::invalid("input", format!("input.{name} must be a non-blank string"))),
    }
}

/// A member that is a list of texts.
pub(super) fn texts(members: &Map<String, Value>, name: &str) -> Result<Option<Vec<String>>> {
    let wrong = || Error::invalid("input", format!("input.{name} must be a list of strings"));
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(values)) => {
            let each = values.iter().map(|value| value.as_str().map(str::to_owned));
            each.collect::<Option<Vec<String>>>().map(Some).ok_or_else(wrong)
        }
        Some(_) => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_names_the_members_that_are_read() {
        for executor in EXECUTORS {
            let schema: Value = serde_json::from_str(executor.schema).unwrap();
            let members = schema["properties"].as_object().unwrap();
            assert!(!members.is_empty());
            for name in members.keys() {
                let mut input = serde_json::json!({});
                input[name] = serde_json::json!([[]]);
                let refused = (executor.check)(&input).unwrap_err().to_string();
                assert!(!refused.contains("has no member"), "{}: {refused}", executor.id);
            }
        }
    }
}
