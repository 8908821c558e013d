//! May a run begin? One request of the one room of requests, answered there or by the run's own method.

use std::sync::Arc;

use rookery_agent::tools::shown_in_part;
use rookery_model::{
    Answer, Asked, Asker, Error, Request, RequestId, RequestState, Result, ToolKind, Words as _,
};
use serde_json::json;
use tokio::sync::oneshot;

use super::encode::Consent;
use super::live::LiveRun;
use super::room::Entry;
use super::types::{Run, RunApproval, RunChange, RunDecision, RunStatus, beginning};
use crate::clock;
use crate::core::blocking;
use crate::requests::{ApprovalStatus, WORKFLOW as TOOL};
use crate::rooms::Workflows;

/// Characters of the prompt that are shown with the question.
const SHOWN: usize = 4_000;
/// What a run fails with that may not begin.
pub(super) const DENIED: &str = "workflow approval denied";
/// Why a run starts that was consented to.
const CONSENTED: &str = "the script was approved for this workspace before";
/// Consents that are kept; the oldest makes room.
const MAX_CONSENTS: usize = 500;

impl Workflows {
    /// Asks for approval, and carries out the answer when it comes.
    pub(super) async fn ask(&self, live: &Arc<LiveRun>) -> Result<()> {
        let run = live.run();
        let request = self.request(&run);
        let (id, deadline) = (request.id, request.deadline);
        live.asking.lock().request = Some(id);
        let answer = self.core.requests().ask(request, None).await?;
        live.announce_change(RunChange::ApprovalRequested(Box::new(run.trimmed(false, false))));
        self.listen(live, id, answer, deadline);
        Ok(())
    }

    fn listen(
        &self,
        live: &Arc<LiveRun>,
        id: RequestId,
        answer: oneshot::Receiver<Answer>,
        deadline: Option<rookery_model::Timestamp>,
    ) {
        let (workflows, live) = (self.core.detached().workflows(), Arc::clone(live));
        self.core.inner.runtime.spawn(async move {
            workflows.await_answer(live, id, answer, deadline).await;
        });
    }

    pub(super) fn request(&self, run: &Run) -> Request {
        let known = run.thread.filter(|thread| self.core.threads().get(*thread).is_some());
        let agents = run.cost.max_agents;
        let input = json!({
            "run_id": run.id,
            "name": run.script.name,
            "script_hash": run.script.hash,
            "max_agents": agents,
            "source": run.script.kind.word(),
            "path": run.script.path.as_ref().map(|path| path.to_string_lossy()),
            "nested": run.nested,
            "prompt": beginning(&run.prompt, SHOWN),
        });
        Request {
            id: RequestId::new(uuid::Uuid::now_v7().as_u128()),
            asker: known.map_or(Asker::Client, Asker::Caller),
            call_id: run.id.clone(),
            tool: TOOL.to_owned(),
            asked: Asked::Approval {
                kind: ToolKind::Internal,
                reason: reason(run),
                input: input.to_string(),
                argv: Vec::new(),
                cwd: run.workspace.clone().unwrap_or_default(),
                env: Vec::new(),
                preview: run.script.body.as_deref().map(shown_in_part),
            },
            asked_at: clock::wall(),
            deadline: self.core.requests().approval_deadline(),
            is_deferred: false,
            given: Vec::new(),
            state: RequestState::Pending,
        }
    }

    async fn await_answer(
        &self,
        live: Arc<LiveRun>,
        id: RequestId,
        answer: oneshot::Receiver<Answer>,
        deadline: Option<rookery_model::Timestamp>,
    ) {
        // None comes any more when the daemon stops; the next one waits for it.
        let Ok(answer) = self.core.requests().await_answer(id, answer, deadline).await else {
            return;
        };
        if live.asking.lock().is_answering {
            return;
        }
        let (decision, reason) = decision_of(answer);
        if let Err(error) = self.carry_out(&live, decision, reason).await {
            tracing::warn!(%error, run = live.id, "a decision about a workflow was not carried out");
        }
    }

    /// Takes up a run that waited when the last daemon ended: its request still waits, or it was answered
    /// and that daemon had no time to carry the answer out.
    pub(super) async fn ask_again(&self, live: &Arc<LiveRun>) -> Result<()> {
        let asked = {
            let world = self.core.look();
            let mut of_run = world.requests.values().filter(|it| is_of(it, &live.id));
            of_run.next().map(|request| (request.id, request.deadline))
        };
        if let Some((id, deadline)) = asked {
            let requests = self.core.requests();
            live.asking.lock().request = Some(id);
            let answer = requests.expect_answer(id);
            // It may have been answered before anyone listened.
            if requests.get(id).is_some() {
                self.listen(live, id, answer, deadline);
                return Ok(());
            }
        }
        let answered = {
            let world = self.core.look();
            let of_run = world.settled.values().filter(|it| is_of(it, &live.id));
            let answers = of_run.filter_map(|request| match &request.state {
                RequestState::Settled(settled) => Some((request.asked_at, settled.answer.clone())),
                RequestState::Pending => None,
            });
            // What a daemon took back when it ended is no answer.
            let given = answers.filter(|(_, answer)| {
                matches!(answer, Answer::Approved { .. } | Answer::Denied { .. })
            });
            given.max_by_key(|(at, _)| *at).map(|(_, answer)| answer)
        };
        match answered {
            Some(answer) => {
                let (decision, reason) = decision_of(answer);
                self.carry_out(live, decision, reason).await.map(drop)
            }
            None => self.ask(live).await,
        }
    }

    /// Takes back what the last daemon asked for runs that do not wait any more.
    pub(super) async fn drop_questions(&self) -> Result<()> {
        let waits = |run: &str| {
            let found = self.known(run);
            matches!(found, Some(Entry::Live(live)) if live.status() == RunStatus::AwaitingApproval)
        };
        let left: Vec<RequestId> = {
            let world = self.core.look();
            let asked = world.requests.values().filter(|it| it.is_of_client(TOOL));
            asked.filter(|it| !waits(&it.call_id)).map(|it| it.id).collect()
        };
        if left.is_empty() {
            return Ok(());
        }
        self.core
            .transact_durably(|tx| {
                tx.cancel_requests(left, "restart");
                Ok(())
            })
            .await
    }

    /// Decides about a run that waits for approval.
    ///
    /// # Errors
    /// If there is no such run, it does not wait, or the caller may not decide.
    pub async fn approve(
        &self,
        run: &str,
        decision: RunDecision,
        reason: Option<String>,
        by: &str,
    ) -> Result<(Run, RunApproval)> {
        let live = match self.entry(run).await? {
            Entry::Live(live) => live,
            Entry::Ended(_) => return Err(settled()),
        };
        live.ensure(|status| status == RunStatus::AwaitingApproval, "nothing is to be decided")?;
        let is_always = decision == RunDecision::AlwaysForScriptAndWorkspace;
        if is_always && !self.settings().allows_always {
            let message = "decision: the settings do not allow to approve a script for good";
            return Err(Error::invalid("decision", message));
        }
        let request = {
            let mut asking = live.asking.lock();
            if asking.is_answering {
                return Err(settled());
            }
            asking.is_answering = true;
            asking.request
        };
        let decided = self.decide_by(&live, request, decision, reason, by).await;
        live.asking.lock().is_answering = false;
        let run = decided?;
        let approval = run.approval.clone().ok_or_else(settled)?;
        Ok((run, approval))
    }

    async fn decide_by(
        &self,
        live: &Arc<LiveRun>,
        request: Option<RequestId>,
        decision: RunDecision,
        reason: Option<String>,
        by: &str,
    ) -> Result<Run> {
        let Some(id) = request else { return Err(settled()) };
        let answer = match decision {
            RunDecision::Deny => Answer::Denied { message: reason.clone() },
            RunDecision::RunOnce | RunDecision::AlwaysForScriptAndWorkspace => {
                Answer::Approved { remember: false }
            }
        };
        let resolved = self.core.requests().resolve(id, answer, by).await?;
        if resolved.is_now() {
            return self.carry_out(live, decision, reason).await;
        }
        // Another answer was first; whoever waited for it left it to us.
        let was_approved = self.core.requests().approval(id).map(|it| it.status);
        let other = match was_approved {
            Some(ApprovalStatus::Approved) => RunDecision::RunOnce,
            _ => RunDecision::Deny,
        };
        self.carry_out(live, other, None).await?;
        Err(settled())
    }

    /// What follows from a decision.
    pub(super) async fn carry_out(
        &self,
        live: &Arc<LiveRun>,
        decision: RunDecision,
        reason: Option<String>,
    ) -> Result<Run> {
        let approval = live.look(|run| RunApproval::of(run, decision, reason.clone()));
        if decision == RunDecision::AlwaysForScriptAndWorkspace {
            self.keep_consent(&live.run()).await?;
        }
        let decided = live
            .decide(|run, changes| {
                if run.status != RunStatus::AwaitingApproval {
                    return Err(settled());
                }
                run.approval = Some(approval.clone());
                if decision == RunDecision::Deny {
                    run.end(RunStatus::Failed, changes);
                    run.error = Some(DENIED.to_owned());
                    run.reason.clone_from(&approval.reason);
                    changes.push(RunChange::Denied(Box::new(approval.clone())));
                } else {
                    run.status = RunStatus::Queued;
                    changes.push(RunChange::Approved(Box::new(approval.clone())));
                    changes.push(RunChange::Queued(run.status));
                }
                Ok(())
            })
            .await?;
        if decision == RunDecision::Deny {
            self.retire(live);
        } else {
            self.execute(live);
        }
        Ok(decided)
    }

    /// Why a run may start at once, if it was consented to.
    pub(super) async fn consent_for(&self, run: &Run) -> Option<&'static str> {
        let now = clock::wall();
        let mut consents = self.room().consents.lock().await;
        let known = self.loaded_consents(&mut consents).await;
        let is_meant = |consent: &Consent| {
            consent.script_hash == run.script.hash
                && consent.nested == run.nested
                && consent.workspace == run.workspace
                && consent.path == run.script.path
                && consent.expires_at.is_none_or(|end| end > now)
        };
        known.iter().any(is_meant).then_some(CONSENTED)
    }

    async fn keep_consent(&self, run: &Run) -> Result<()> {
        let ttl = self.settings().consent_ttl;
        let now = clock::wall();
        let mut consents = self.room().consents.lock().await;
        let known = self.loaded_consents(&mut consents).await;
        let new = Consent {
            script_hash: run.script.hash.clone(),
            nested: run.nested.clone(),
            workspace: run.workspace.clone(),
            path: run.script.path.clone(),
            decided_at: now,
            expires_at: ttl.map(clock::after),
        };
        let mut kept = known.clone();
        kept.retain(|one| {
            let is_same = one.script_hash == new.script_hash
                && one.workspace == new.workspace
                && one.path == new.path;
            !is_same && one.expires_at.is_none_or(|end| end > now)
        });
        kept.push(new);
        if kept.len() > MAX_CONSENTS {
            kept.remove(0);
        }
        let (files, written) = (self.room().files.clone(), kept.clone());
        blocking(move || files.save_consents(&written)).await??;
        *consents = Some(kept);
        Ok(())
    }

    async fn loaded_consents<'a>(
        &self,
        consents: &'a mut Option<Vec<Consent>>,
    ) -> &'a mut Vec<Consent> {
        if consents.is_none() {
            let files = self.room().files.clone();
            *consents = blocking(move || files.consents()).await.ok();
        }
        consents.get_or_insert_default()
    }
}

/// Whether a request asks for the approval of a run.
fn is_of(request: &Request, run: &str) -> bool {
    request.is_of_client(TOOL) && request.call_id == run
}

/// What an answer means for the run.
fn decision_of(answer: Answer) -> (RunDecision, Option<String>) {
    match answer {
        Answer::Approved { .. } => (RunDecision::RunOnce, None),
        Answer::Denied { message } => (RunDecision::Deny, message),
        Answer::TimedOut => (RunDecision::Deny, Some("no answer came in time".to_owned())),
        Answer::Cancelled | Answer::AtTerminal | Answer::Given(_) | Answer::Output { .. } => {
            (RunDecision::Deny, Some("the request was taken back".to_owned()))
        }
    }
}

/// What the run asks for.
fn reason(run: &Run) -> String {
    let (name, agents) = (&run.script.name, run.cost.max_agents);
    let nested: Vec<&str> = run.nested.keys().map(String::as_str).collect();
    let also = match nested.is_empty() {
        true => String::new(),
        false => format!(", and run the workflows {}", nested.join(", ")),
    };
    format!("the workflow {name} may start up to {agents} agents{also}")
}

fn settled() -> Error {
    Error::failed("the run does not wait for approval any more")
}
