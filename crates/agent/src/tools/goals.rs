//! `get_goal`, `create_goal` and `update_goal`: what the thread is meant to reach.

use std::num::NonZeroU64;

use rookery_model::{Goal, GoalStatus, ThreadId, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments;
use crate::tool::{Tool, ToolContext, ToolOutput};

/// How long an objective may be, in characters.
const MAX_OBJECTIVE: usize = 4000;

pub(super) const GET_GOAL: Tool = Tool {
    name: "get_goal",
    kind: ToolKind::Internal,
    description: "Get the goal of this thread, with its status and what it has cost.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<GetArgs>,
    check: arguments::check::<GetArgs>,
    run: |context, value| arguments::run(context, value, get),
};

pub(super) const CREATE_GOAL: Tool = Tool {
    name: "create_goal",
    kind: ToolKind::Internal,
    description: "Set a goal for this thread, only when the user asks for one. \
                  Fails while another is not complete.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<CreateArgs>,
    check: arguments::check::<CreateArgs>,
    run: |context, value| arguments::run(context, value, create),
};

pub(super) const UPDATE_GOAL: Tool = Tool {
    name: "update_goal",
    kind: ToolKind::Internal,
    description: "Say that the goal is complete: all of it is reached and shown to be; \
                  or blocked: you cannot go on without the user.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<UpdateArgs>,
    check: arguments::check::<UpdateArgs>,
    run: |context, value| arguments::run(context, value, update),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetArgs {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateArgs {
    objective: String,
    /// Only if the user named one.
    token_budget: Option<NonZeroU64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateArgs {
    status: Ending,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Ending {
    Complete,
    Blocked,
}

async fn get(context: ToolContext, _args: GetArgs) -> Result<ToolOutput, String> {
    Ok(match context.world.goal(context.thread) {
        Some(goal) => output(context.thread, &goal),
        None => ToolOutput::new("No active goal.", json!({"goal": null})),
    })
}

async fn create(context: ToolContext, args: CreateArgs) -> Result<ToolOutput, String> {
    arguments::not_blank("objective", &args.objective)?;
    if args.objective.chars().count() > MAX_OBJECTIVE {
        let why = format!("must have at most {MAX_OBJECTIVE} characters");
        return Err(arguments::invalid("objective", &why));
    }
    if context.world.goal(context.thread).is_some_and(|goal| goal.status != GoalStatus::Complete) {
        return Err("the thread has a goal that is not complete".into());
    }
    let budget = args.token_budget.map(NonZeroU64::get);
    let goal = context.world.set_goal(context.thread, args.objective, budget).await?;
    Ok(output(context.thread, &goal))
}

async fn update(context: ToolContext, args: UpdateArgs) -> Result<ToolOutput, String> {
    if context.world.goal(context.thread).is_none() {
        return Err("the thread has no goal".into());
    }
    let status = match args.status {
        Ending::Complete => GoalStatus::Complete,
        Ending::Blocked => GoalStatus::Blocked,
    };
    let goal = context.world.update_goal(context.thread, status).await?;
    Ok(output(context.thread, &goal))
}

fn output(thread: ThreadId, goal: &Goal) -> ToolOutput {
    let status = status_name(goal.status);
    let budget = goal.token_budget.map(|budget| format!(" of {budget}")).unwrap_or_default();
    let text = format!(
        "Goal {status}: {}\nUsed: {}{budget} tokens, {} seconds",
        goal.objective, goal.tokens_used, goal.seconds_used
    );
    let mut told = json!({
        "threadId": thread.to_string(),
        "objective": goal.objective,
        "status": status,
        "tokensUsed": goal.tokens_used,
        "timeUsedSeconds": goal.seconds_used,
        "createdAt": goal.created_at.to_string(),
        "updatedAt": goal.updated_at.to_string(),
    });
    if let Some(budget) = goal.token_budget {
        told["tokenBudget"] = budget.into();
    }
    let left = goal.token_budget.map(|budget| budget.saturating_sub(goal.tokens_used));
    let data = json!({
        "goal": told,
        "hasActiveGoal": goal.status == GoalStatus::Active,
        "remainingTokens": left.map_or(Value::Null, Value::from),
    });
    ToolOutput::new(text, data)
}

fn status_name(status: GoalStatus) -> &'static str {
    match status {
        GoalStatus::Active => "active",
        GoalStatus::Paused => "paused",
        GoalStatus::Blocked => "blocked",
        GoalStatus::UsageLimited => "usageLimited",
        GoalStatus::BudgetLimited => "budgetLimited",
        GoalStatus::Complete => "complete",
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_world::Bench;
    use super::*;

    #[tokio::test]
    async fn a_goal_is_set_looked_at_and_reached() {
        let bench = Bench::new();
        let none = bench.run("get_goal", json!({})).await;
        assert_eq!((none.text.as_str(), &none.data), ("No active goal.", &json!({"goal": null})));
        let missing = bench.run("update_goal", json!({"status": "complete"})).await;
        assert_eq!((missing.is_error, missing.text.as_str()), (true, "the thread has no goal"));
        let made = bench.run("create_goal", json!({"objective": "win", "token_budget": 100})).await;
        assert_eq!(made.text, "Goal active: win\nUsed: 0 of 100 tokens, 0 seconds");
        assert_eq!(
            (&made.data["goal"]["tokenBudget"], &made.data["remainingTokens"]),
            (&json!(100), &json!(100))
        );
        assert_eq!(made.data["goal"]["createdAt"], "1970-01-01T00:00:00.000000Z");
        let second = bench.run("create_goal", json!({"objective": "more"})).await;
        assert_eq!(second.text, "the thread has a goal that is not complete");
        let done = bench.run("update_goal", json!({"status": "complete"})).await;
        assert_eq!(done.data["goal"]["status"], "complete");
        assert_eq!(bench.run("get_goal", json!({})).await.data, done.data);
        assert!(!bench.run("create_goal", json!({"objective": "more"})).await.is_error);
    }

    #[tokio::test]
    async fn bad_goals_are_errors() {
        let bench = Bench::new();
        for (tool, arguments, why) in [
            ("get_goal", json!({"x": 1}), "unknown field `x`"),
            ("create_goal", json!({"objective": " "}), "objective: must not be blank"),
            (
                "create_goal",
                json!({"objective": "x".repeat(4001)}),
                "objective: must have at most 4000",
            ),
            ("create_goal", json!({"objective": "x", "token_budget": 0}), "token_budget: "),
            ("update_goal", json!({"status": "paused"}), "status: unknown variant"),
        ] {
            let output = bench.run(tool, arguments).await;
            assert!(output.is_error && output.text.contains(why), "{}", output.text);
        }
    }
}
