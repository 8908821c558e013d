//! Runs are paused, resumed, stopped, and have an agent begin anew.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rookery_model::{Answer, Error, Result, Words as _};

use super::live::{ClientGrant, LiveRun};
use super::room::Entry;
use super::types::{AgentStatus, Run, RunAgent, RunChange, RunStatus};
use crate::core::blocking;
use crate::rooms::Workflows;

/// Who takes the request of a stopped run back.
const BY: &str = "workflow";

impl Workflows {
    async fn live(&self, run: &str, what: &str) -> Result<Arc<LiveRun>> {
        match self.entry(run).await? {
            Entry::Live(live) => Ok(live),
            Entry::Ended(summary) => {
                let status = summary.status.word();
                Err(Error::failed(format!("the run is {status}: {what}")))
            }
        }
    }

    /// Lets no new agents start; with `cancels` those at work are called off and begin anew later.
    ///
    /// # Errors
    /// If there is no such run, or it does not run.
    pub async fn pause(&self, run: &str, cancels: bool, reason: Option<String>) -> Result<Run> {
        let live = self.live(run, "it cannot be paused").await?;
        if live.status() == RunStatus::Paused {
            return Ok(live.run());
        }
        let can = |status| matches!(status, RunStatus::Running | RunStatus::Queued);
        live.ensure(can, "it cannot be paused")?;
        // First, so that none starts between the decision and its effect.
        live.steer(|control| control.is_paused = true);
        let paused = live
            .decide(|run, changes| {
                if !can(run.status) {
                    return Err(Error::failed("the run is over: it cannot be paused"));
                }
                run.status = RunStatus::Paused;
                run.reason.clone_from(&reason);
                changes.push(RunChange::Paused(reason.clone()));
                Ok(())
            })
            .await;
        let is_paused = paused.is_ok();
        live.steer(|control| {
            control.is_paused = is_paused;
            control.called_off += u64::from(cancels && is_paused);
        });
        paused
    }

    /// Goes on, in the mode and with the keys that the caller brings along. A run that the last daemon ran is
    /// run again with the answers that it had.
    ///
    /// # Errors
    /// If there is no such run, or it is not paused.
    pub async fn resume(&self, run: &str, grant: ClientGrant) -> Result<Run> {
        let live = self.live(run, "only a paused run is resumed").await?;
        live.ensure(|status| status == RunStatus::Paused, "only a paused run is resumed")?;
        let resumed = live
            .decide(|run, changes| {
                if run.status != RunStatus::Paused {
                    return Err(Error::failed("only a paused run is resumed"));
                }
                run.status = RunStatus::Running;
                run.reason = None;
                run.started_at.get_or_insert_with(crate::clock::wall);
                changes.push(RunChange::Resumed(run.status));
                Ok(())
            })
            .await?;
        live.grant.lock().renew(grant);
        let begins = !live.is_executing.load(Ordering::Acquire);
        live.steer(|control| {
            control.is_paused = false;
            control.reuses_failures &= !begins;
        });
        self.execute(&live);
        Ok(resumed)
    }

    /// Stops a run with all its agents. One that is over stays as it is.
    ///
    /// # Errors
    /// If there is no such run, or it cannot be written.
    pub async fn stop(&self, run: &str, reason: Option<String>) -> Result<Run> {
        let Entry::Live(live) = self.entry(run).await? else { return self.read(run).await };
        let was_waiting = live.status() == RunStatus::AwaitingApproval;
        let stopped = live
            .decide(|run, changes| {
                if run.status.is_terminal() {
                    return Ok(());
                }
                run.end(RunStatus::Stopped, changes);
                run.reason.clone_from(&reason);
                changes.push(RunChange::Stopped(reason.clone()));
                Ok(())
            })
            .await?;
        live.steer(|control| {
            control.is_stopped = true;
            control.is_paused = false;
        });
        let request = live.asking.lock().request.filter(|_| was_waiting);
        if let Some(request) = request {
            let taken_back = |tx: &mut crate::world::Tx<'_>| {
                tx.resolve_request(request, Answer::Cancelled, BY);
                Ok(())
            };
            self.core.transact_durably(taken_back).await?;
        }
        if !live.is_executing.load(Ordering::Acquire) {
            self.retire(&live);
        }
        Ok(stopped)
    }

    /// Has an agent begin anew: its answer is dropped and asked for again.
    ///
    /// While the agent works it is called off and started again. If it had answered, the script is run
    /// again from its beginning, with what came of all others. It works in the mode and with the keys that the
    /// caller brings along.
    ///
    /// # Errors
    /// If there is no such run or agent, or the run was stopped or never began.
    pub async fn restart_agent(
        &self,
        run: &str,
        agent: &str,
        grant: ClientGrant,
    ) -> Result<(Run, RunAgent)> {
        let record = self.read(run).await?;
        let Some(found) = record.agent(agent) else {
            let shown: String = agent.chars().take(128).collect();
            return Err(Error::failed(format!("the run has no agent {shown}")));
        };
        let began = matches!(
            record.status,
            RunStatus::Running | RunStatus::Paused | RunStatus::Completed | RunStatus::Failed
        );
        if !began {
            let status = record.status.word().replace('_', " ");
            return Err(Error::failed(format!("the run is {status}: no agent can be restarted")));
        }
        let was_over = found.status.is_over();
        let (files, id, name) = (self.room().files.clone(), run.to_owned(), agent.to_owned());
        blocking(move || files.drop_result(&id, &name)).await??;
        let live = match self.entry(run).await? {
            Entry::Live(live) => live,
            Entry::Ended(_) => self.add_live(record, None, Vec::new()),
        };
        let restarted = live
            .decide(|run, changes| {
                let was_terminal = run.status.is_terminal();
                let Some(agent) = run.agents.iter_mut().find(|one| one.id == agent) else {
                    return Err(Error::failed("the agent is gone"));
                };
                agent.status = AgentStatus::Queued;
                agent.is_cached = false;
                (agent.error, agent.exit_reason, agent.completed_at) = (None, None, None);
                agent.output_preview = None;
                if was_terminal {
                    run.status = RunStatus::Queued;
                    (run.error, run.report, run.completed_at) = (None, None, None);
                    run.count_phases();
                    changes.push(RunChange::Queued(run.status));
                }
                Ok(())
            })
            .await?;
        live.grant.lock().renew(grant);
        self.revive(&live);
        live.ended.send_replace(false);
        live.steer(|control| {
            if was_over {
                control.replays += 1;
                control.reuses_failures = true;
            } else {
                *control.restarted.entry(agent.to_owned()).or_default() += 1;
            }
        });
        if restarted.status != RunStatus::Paused {
            self.execute(&live);
        }
        let agent = restarted.agent(agent).cloned();
        let agent = agent.ok_or_else(|| Error::failed("the agent is gone"))?;
        Ok((restarted, agent))
    }
}
