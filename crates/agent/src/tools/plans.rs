//! `update_plan` and `task_ledger.update`: what the agent means to do, and how far it is.

use std::collections::HashSet;

use rookery_model::{PlanStep, PlanStepStatus, ToolKind, Words as _};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments;
use crate::tool::{Tool, ToolContext, ToolOutput};

/// How many steps or tasks there may be.
const MAX_TASKS: usize = 200;

pub(super) const UPDATE_PLAN: Tool = Tool {
    name: "update_plan",
    kind: ToolKind::Internal,
    description: "Replace the plan of this thread. At most one step is in_progress.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<PlanArgs>,
    check: arguments::check::<PlanArgs>,
    run: |context, value| arguments::run(context, value, update_plan),
};

pub(super) const UPDATE_LEDGER: Tool = Tool {
    name: "task_ledger.update",
    kind: ToolKind::Internal,
    description: "Replace the task ledger of this thread. Ids are unique, at most one task is \
                  in_progress.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<LedgerArgs>,
    check: arguments::check::<LedgerArgs>,
    run: |context, value| arguments::run(context, value, update_ledger),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlanArgs {
    explanation: Option<String>,
    plan: Vec<Step>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Step {
    step: String,
    status: StepStatus,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StepStatus {
    Pending,
    InProgress,
    Completed,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct LedgerArgs {
    tasks: Vec<LedgerTask>,
    /// Whether completed tasks must have evidence.
    require_completion_evidence: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LedgerTask {
    id: String,
    content: String,
    status: LedgerStatus,
    /// What shows that it is done.
    evidence: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LedgerStatus {
    Pending,
    InProgress,
    Completed,
    Blocked,
}

impl From<StepStatus> for PlanStepStatus {
    fn from(status: StepStatus) -> Self {
        match status {
            StepStatus::Pending => Self::Pending,
            StepStatus::InProgress => Self::InProgress,
            StepStatus::Completed => Self::Completed,
        }
    }
}

impl From<LedgerStatus> for PlanStepStatus {
    fn from(status: LedgerStatus) -> Self {
        match status {
            LedgerStatus::Pending => Self::Pending,
            LedgerStatus::InProgress => Self::InProgress,
            LedgerStatus::Completed => Self::Completed,
            LedgerStatus::Blocked => Self::Blocked,
        }
    }
}

async fn update_plan(context: ToolContext, args: PlanArgs) -> Result<ToolOutput, String> {
    let tasks: Vec<PlanStep> = args
        .plan
        .into_iter()
        .map(|step| PlanStep {
            id: String::new(),
            content: step.step,
            status: step.status.into(),
            evidence: None,
        })
        .collect();
    validate("plan", &tasks)?;
    let plan: Vec<Value> = tasks
        .iter()
        .map(|task| json!({"step": task.content, "status": task.status.word()}))
        .collect();
    let (text, done) = summary("Plan", &tasks);
    let data = json!({
        "plan": plan, "explanation": args.explanation, "completed": done, "total": tasks.len(),
    });
    context.world.set_plan(context.thread, tasks).await?;
    Ok(ToolOutput::new(text, data))
}

async fn update_ledger(context: ToolContext, args: LedgerArgs) -> Result<ToolOutput, String> {
    let tasks: Vec<PlanStep> = args
        .tasks
        .into_iter()
        .map(|task| PlanStep {
            id: task.id,
            content: task.content,
            status: task.status.into(),
            evidence: task.evidence.filter(|evidence| !evidence.trim().is_empty()),
        })
        .collect();
    validate("tasks", &tasks)?;
    let mut ids = HashSet::new();
    for (index, task) in tasks.iter().enumerate() {
        arguments::not_blank(&format!("tasks[{index}].id"), &task.id)?;
        if !ids.insert(task.id.as_str()) {
            return Err(arguments::invalid("tasks", &format!("the id {:?} occurs twice", task.id)));
        }
        let is_required = args.require_completion_evidence.unwrap_or(false);
        if is_required && task.status == PlanStepStatus::Completed && task.evidence.is_none() {
            let why = format!("task {:?} is completed without evidence", task.id);
            return Err(arguments::invalid("tasks", &why));
        }
    }
    let ledger: Vec<Value> = tasks
        .iter()
        .map(|task| {
            let mut told =
                json!({"id": task.id, "content": task.content, "status": task.status.word()});
            if let Some(evidence) = &task.evidence {
                told["evidence"] = evidence.as_str().into();
            }
            told
        })
        .collect();
    let (text, done) = summary("Task ledger", &tasks);
    let data = json!({"tasks": ledger, "completed": done, "total": tasks.len()});
    context.world.set_ledger(context.thread, tasks).await?;
    Ok(ToolOutput::new(text, data))
}

fn validate(member: &str, tasks: &[PlanStep]) -> Result<(), String> {
    if tasks.len() > MAX_TASKS {
        return Err(arguments::invalid(member, &format!("more than {MAX_TASKS}")));
    }
    for (index, task) in tasks.iter().enumerate() {
        arguments::not_blank(&format!("{member}[{index}]"), &task.content)?;
    }
    if tasks.iter().filter(|task| task.status == PlanStepStatus::InProgress).count() > 1 {
        return Err(arguments::invalid(member, "more than one is in_progress"));
    }
    Ok(())
}

/// How far it is, and a line for each task.
fn summary(what: &str, tasks: &[PlanStep]) -> (String, usize) {
    let done = tasks.iter().filter(|task| task.status == PlanStepStatus::Completed).count();
    let mut text = format!("{what}: {done}/{} completed", tasks.len());
    for task in tasks {
        let name = if task.id.is_empty() { String::new() } else { format!("{}: ", task.id) };
        text.push_str(&format!("\n- [{}] {name}{}", task.status.word(), task.content));
        if let Some(evidence) = &task.evidence {
            text.push_str(&format!(" ({evidence})"));
        }
    }
    (text, done)
}

#[cfg(test)]
mod tests {
    use super::super::test_world::Bench;
    use super::*;

    #[tokio::test]
    async fn a_plan_replaces_the_one_before() {
        let bench = Bench::new();
        let step = |step: &str, status: &str| json!({"step": step, "status": status});
        let plan = json!({"explanation": "why", "plan": [step("a", "completed"), step("b", "in_progress")]});
        let output = bench.run("update_plan", plan).await;
        assert_eq!(output.text, "Plan: 1/2 completed\n- [completed] a\n- [in_progress] b");
        assert_eq!(output.data["plan"][1], step("b", "in_progress"));
        assert_eq!(bench.world.plan().len(), 2);
        for (plan, why) in [
            (json!([step("a", "in_progress"), step("b", "in_progress")]), "plan: more than one"),
            (json!([step(" ", "pending")]), "plan[0]: must not be blank"),
            (json!([step("a", "blocked")]), "plan[0].status: unknown variant"),
        ] {
            let output = bench.run("update_plan", json!({"plan": plan})).await;
            assert!(output.is_error && output.text.contains(why), "{}", output.text);
        }
        assert_eq!(bench.world.plan().len(), 2);
    }

    #[tokio::test]
    async fn a_ledger_has_unique_ids_and_evidence_where_it_is_required() {
        let bench = Bench::new();
        let task = |id: &str, status: &str| json!({"id": id, "content": "do it", "status": status});
        let mut done = task("1", "completed");
        done["evidence"] = "tests pass".into();
        let good =
            json!({"tasks": [done, task("2", "blocked")], "requireCompletionEvidence": true});
        let output = bench.run("task_ledger.update", good).await;
        assert_eq!(
            output.text,
            "Task ledger: 1/2 completed\n- [completed] 1: do it (tests pass)\n- [blocked] 2: do it"
        );
        assert_eq!(output.data["tasks"][0]["evidence"], "tests pass");
        assert_eq!(bench.world.ledger()[1].status, PlanStepStatus::Blocked);
        for (arguments, why) in [
            (
                json!({"tasks": [task("1", "pending"), task("1", "pending")]}),
                "the id \"1\" occurs twice",
            ),
            (
                json!({"tasks": [task("1", "in_progress"), task("2", "in_progress")]}),
                "more than one",
            ),
            (json!({"tasks": [task("", "pending")]}), "tasks[0].id: must not be blank"),
            (
                json!({"tasks": [task("1", "completed")], "requireCompletionEvidence": true}),
                "without evidence",
            ),
            (json!({}), "missing field `tasks`"),
        ] {
            let output = bench.run("task_ledger.update", arguments).await;
            assert!(output.is_error && output.text.contains(why), "{}", output.text);
        }
    }
}
