//! What a thread is meant to reach, its plan and its ledger of tasks.

use rookery_model::{Error, Goal, GoalStatus, PlanStep, Result, ThreadId, Timestamp};

use crate::clock;
use crate::log::ThreadChange;
use crate::rooms::Threads;

/// How long a goal may be, in characters.
const LONGEST_GOAL: usize = 4_000;

#[derive(Clone, Debug, Default)]
pub struct GoalChange {
    /// Its words; a goal that is not there yet needs them.
    pub objective: Option<String>,
    /// Where it stands.
    pub status: Option<GoalStatus>,
    /// Tokens it may cost.
    pub token_budget: Option<Option<u64>>,
}

impl Threads {
    /// Sets or changes the goal of a thread.
    ///
    /// # Errors
    /// If there is no such thread, or no goal to change, or the words are too many or none.
    pub async fn set_goal(&self, id: ThreadId, change: GoalChange) -> Result<Goal> {
        self.core
            .transact_durably(|tx| {
                let now = clock::wall();
                let state = tx.world.thread_mut(id)?;
                let goal = changed(state.thread.goal.clone(), change, now)?;
                state.thread.goal = Some(goal.clone());
                state.thread.updated_at = now;
                tx.save_thread(id);
                tx.announce(id, ThreadChange::GoalSet(Box::new(goal.clone())));
                Ok(goal)
            })
            .await
    }

    /// Takes the goal of a thread away; false if it had none.
    pub async fn clear_goal(&self, id: ThreadId) -> Result<bool> {
        self.core
            .transact_durably(|tx| {
                let had_one = tx.world.thread_mut(id)?.thread.goal.take().is_some();
                if had_one {
                    tx.save_thread(id);
                    tx.announce(id, ThreadChange::GoalCleared);
                }
                Ok(had_one)
            })
            .await
    }

    pub(crate) async fn set_tasks(
        &self,
        id: ThreadId,
        tasks: Vec<PlanStep>,
        is_ledger: bool,
    ) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                let thread = &mut tx.world.thread_mut(id)?.thread;
                match is_ledger {
                    true => thread.ledger = tasks,
                    false => thread.plan = tasks,
                }
                tx.save_thread(id);
                Ok(())
            })
            .await
    }
}

fn changed(old: Option<Goal>, change: GoalChange, now: Timestamp) -> Result<Goal> {
    let objective = match (&change.objective, &old) {
        (Some(words), _) => words.trim().to_owned(),
        (None, Some(old)) => old.objective.clone(),
        (None, None) => {
            return Err(Error::invalid("objective", "the thread has no goal; objective is needed"));
        }
    };
    if objective.is_empty() || objective.chars().count() > LONGEST_GOAL {
        let message = format!("objective must have 1 to {LONGEST_GOAL} characters");
        return Err(Error::invalid("objective", message));
    }
    // Other words are another goal, which starts to count anew.
    let kept = old.filter(|old| change.objective.is_none() || old.objective == objective);
    let mut goal = kept.unwrap_or(Goal {
        objective,
        status: GoalStatus::Active,
        token_budget: None,
        tokens_used: 0,
        seconds_used: 0,
        created_at: now,
        updated_at: now,
    });
    goal.updated_at = now;
    goal.status = change.status.unwrap_or(goal.status);
    goal.token_budget = change.token_budget.unwrap_or(goal.token_budget);
    Ok(goal)
}
