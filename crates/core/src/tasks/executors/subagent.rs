//! Has a child agent do a piece of work.

use std::time::Duration;

use rookery_model::{
    ChildExit, Error, Lane, Lifetime, LogStream, Result, Task, TaskResult, TaskState, Usage, Words,
};
use serde_json::{Map, Value, json};

use super::{Demand, Executor, Job, Outcome, members, required, text, texts};
use crate::children::{ChildDone, NewChild};
use crate::log::Shows;

/// The members of its input.
const MEMBERS: &[&str] = &[
    "description",
    "prompt",
    "subagent_type",
    "model",
    "tools",
    "lane",
    "max_concurrent",
    "allowed_tools",
    "parent_deadline_seconds",
    "inputs",
    "timeout_seconds",
];

/// What it is called.
const ID: &str = "subagent";

pub(super) const EXECUTOR: Executor = Executor {
    id: ID,
    kind: "subagent",
    description: "Have a child agent do a piece of work",
    schema: include_str!("subagent.schema.json"),
    check: |input| parse(input).map(drop),
    at_runners: false,
    default_timeout: |settings| Some(settings.subagents.timeout),
    thread: |_| None,
    demand: |_, _| Ok(Demand::Agent),
    prepare: |_, _| Box::pin(std::future::ready(Ok(()))),
    settle: |_, _| Box::pin(std::future::ready(())),
    abandon: |_, _| Box::pin(std::future::ready(())),
    run: |job| Box::pin(run(job)),
};

fn parse(input: &Value) -> Result<NewChild> {
    let members = members(input, MEMBERS)?;
    let (description, prompt) = (required(members, "description")?, required(members, "prompt")?);
    let lane = text(members, "lane")?.map(|word| {
        let wrong = || wrong("lane", "must be scout, editor, reviewer or runner");
        Lane::from_word(word).ok_or_else(wrong)
    });
    number(members, "max_concurrent")?;
    let limits = [number(members, "timeout_seconds")?, number(members, "parent_deadline_seconds")?];
    let narrowed = [texts(members, "tools")?, texts(members, "allowed_tools")?];
    let inputs = match members.get("inputs") {
        None | Some(Value::Null) => None,
        Some(inputs @ Value::Object(_)) => Some(inputs),
        Some(_) => return Err(wrong("inputs", "must be an object")),
    };
    Ok(NewChild {
        description: description.to_owned(),
        prompt: match inputs {
            Some(inputs) => format!("{prompt}\n\nInputs:\n{inputs:#}"),
            None => prompt.to_owned(),
        },
        agent_type: text(members, "subagent_type")?.map(str::to_owned),
        lane: lane.transpose()?,
        model: text(members, "model")?.map(str::to_owned),
        tools: narrowest(narrowed),
        timeout: limits.into_iter().flatten().min().map(Duration::from_secs),
        ..NewChild::default()
    })
}

/// Only what both lists allow; a list that is not there allows all.
fn narrowest([first, second]: [Option<Vec<String>>; 2]) -> Option<Vec<String>> {
    match (first, second) {
        (Some(first), Some(second)) => {
            Some(first.into_iter().filter(|tool| second.contains(tool)).collect())
        }
        (one, other) => one.or(other),
    }
}

fn wrong(member: &str, why: &str) -> Error {
    Error::invalid("input", format!("input.{member} {why}"))
}

fn number(members: &Map<String, Value>, name: &str) -> Result<Option<u64>> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64().filter(|number| *number >= 1) {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(name, "must be at least 1")),
        },
    }
}

async fn run(job: Job) -> Outcome {
    let input = serde_json::from_str(&job.task.spec.input).unwrap_or(Value::Null);
    // The end of a turn stops its children, so that only a task which ends with it works for it.
    let turn = job.task.turn.filter(|_| job.task.lifetime == Lifetime::Turn);
    let child = match parse(&input) {
        Ok(child) => NewChild {
            parent: job.task.thread.zip(turn),
            thread: job.task.thread,
            cwd: Some(job.task.spec.workspace.clone()),
            client: job.grant.client,
            keys: job.grant.keys.clone(),
            ..child
        },
        Err(error) => return Outcome::failed(error.message()),
    };
    let most = input.get("max_concurrent").and_then(Value::as_u64);
    tokio::select! {
        () = turn_among(&job, most) => {}
        () = job.stop.cancelled() => return Outcome::failed("the task was stopped"),
    }
    let child = match job.core.children().start(child).await {
        Ok(child) => child,
        Err(error) => return Outcome::failed(error.message()),
    };
    let stop = child.canceller();
    let mut done = std::pin::pin!(child.wait());
    let done = tokio::select! {
        done = &mut done => done,
        () = job.stop.cancelled() => {
            stop.cancel();
            done.await
        }
    };
    if !done.message.is_empty() {
        job.output.push(LogStream::Log, &done.message);
    }
    outcome(&done)
}

/// Waits until fewer agent tasks of the same thread than that are at work which began earlier.
async fn turn_among(job: &Job, most: Option<u64>) {
    let Some(most) = most else { return };
    let mut changes = job.core.log().changes(&[Shows::Tasks]);
    loop {
        let is_before = |other: &Task| {
            other.spec.executor == ID
                && other.state == TaskState::Running
                && other.thread == job.task.thread
                && (other.started_at, other.id) < (job.task.started_at, job.task.id)
        };
        let before = job.core.look().tasks.values().filter(|other| is_before(other)).count();
        if u64::try_from(before).unwrap_or(u64::MAX) < most || changes.next().await.is_err() {
            return;
        }
    }
}

fn outcome(done: &ChildDone) -> Outcome {
    let payload = Some(payload(done).to_string());
    match done.exit {
        ChildExit::Completed | ChildExit::MaxTurns => {
            Outcome::Done(TaskResult { payload, ..TaskResult::default() })
        }
        ChildExit::Timeout | ChildExit::Cancelled | ChildExit::Failed => {
            let error = done.error.clone();
            let error =
                error.unwrap_or_else(|| format!("the child agent ended: {}", done.exit.word()));
            Outcome::Failed(TaskResult { payload, error: Some(error), ..TaskResult::default() })
        }
    }
}

fn payload(done: &ChildDone) -> Value {
    json!({
        "thread_id": done.thread.to_string(),
        "turn_id": done.turn.map(|turn| turn.to_string()),
        "agent_type": done.agent_type,
        "model": done.model,
        "final_message": done.message,
        "usage": done.usage.map(usage),
        "exit_reason": done.exit.word(),
        "metadata": {},
    })
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "cached_tokens": usage.cached,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_checked_member_by_member() {
        let refusal =
            |input: Value| parse(&input).map_or_else(|error| error.to_string(), |_| String::new());
        let with = |name: &str, value: Value| {
            let mut input = json!({ "description": "d", "prompt": "p" });
            input[name] = value;
            refusal(input)
        };
        assert_eq!(with("lane", json!("scout")), "");
        assert_eq!(
            refusal(json!({ "prompt": "p" })),
            "input.description must be a non-blank string"
        );
        assert_eq!(
            with("lane", json!("x")),
            wrong("lane", "must be scout, editor, reviewer or runner").message()
        );
        assert_eq!(with("max_concurrent", json!(0)), "input.max_concurrent must be at least 1");
        assert_eq!(with("timeout_seconds", json!("1")), "input.timeout_seconds must be at least 1");
        assert_eq!(with("inputs", json!([])), wrong("inputs", "must be an object").message());
        assert_eq!(with("tools", json!("a")), "input.tools must be a list of strings");
        assert_eq!(with("other", json!(1)), "input has no member \"other\"");
    }

    #[test]
    fn two_lists_of_tools_allow_what_both_do() {
        let list = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(narrowest([list(&["a", "b"]), list(&["b", "c"])]), list(&["b"]));
        assert_eq!(narrowest([None, list(&["b"])]), list(&["b"]));
        assert_eq!(narrowest([None, None]), None);
    }
}
