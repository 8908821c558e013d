//! Goals of threads.

use rookery_core::GoalChange;
use rookery_model as model;

use crate::context::Cx;
use crate::errors::Error;
use crate::wire::upkeep::{
    GoalStatus, ThreadGoalClearResult, ThreadGoalResult, ThreadGoalSetParams, ThreadIdParams,
};
use crate::{ids, show};

pub(crate) async fn get(cx: Cx, params: ThreadIdParams) -> Result<ThreadGoalResult, Error> {
    let id = ids::thread(&params.thread_id)?;
    let seen = cx.core.threads().get(id).ok_or_else(|| ids::thread_not_found(&params.thread_id))?;
    let goal = seen.thread.goal.as_ref().map(|goal| show::goal(&params.thread_id, goal));
    Ok(ThreadGoalResult { goal })
}

pub(crate) async fn set(cx: Cx, params: ThreadGoalSetParams) -> Result<ThreadGoalResult, Error> {
    let id = ids::thread(&params.thread_id)?;
    let change = GoalChange {
        objective: params.objective,
        status: params.status.map(status),
        token_budget: params.token_budget.map(Some),
    };
    let goal = cx.core.threads().set_goal(id, change).await?;
    Ok(ThreadGoalResult { goal: Some(show::goal(&params.thread_id, &goal)) })
}

pub(crate) async fn clear(cx: Cx, params: ThreadIdParams) -> Result<ThreadGoalClearResult, Error> {
    let id = ids::thread(&params.thread_id)?;
    Ok(ThreadGoalClearResult { cleared: cx.core.threads().clear_goal(id).await? })
}

fn status(status: GoalStatus) -> model::GoalStatus {
    match status {
        GoalStatus::Active => model::GoalStatus::Active,
        GoalStatus::Paused => model::GoalStatus::Paused,
        GoalStatus::Blocked => model::GoalStatus::Blocked,
        GoalStatus::UsageLimited => model::GoalStatus::UsageLimited,
        GoalStatus::BudgetLimited => model::GoalStatus::BudgetLimited,
        GoalStatus::Complete => model::GoalStatus::Complete,
    }
}
