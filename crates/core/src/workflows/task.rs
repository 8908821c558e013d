//! Runs that a background task drives: started without being asked for, since the task was.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rookery_model::{Error, Request, Result};
use serde_json::{Value, json};

use super::files::is_name;
use super::live::{ClientGrant, LiveRun};
use super::plan::NewRun;
use super::room::Entry;
use super::types::{Run, RunApproval, RunChange, RunDecision, RunStatus};
use crate::rooms::Workflows;

/// Why a run of a task begins without an answer of its own.
const BY_TASK: &str = "started by a background task";
/// How much of a run a task keeps; the agents of a larger one are only with the run itself.
const MAX_KEPT: usize = 256 << 10;

/// What a task says about its run.
#[derive(Clone, Debug, Default)]
pub struct TaskInput {
    /// The id of the run. One that is paused goes on, if it is of the same script.
    pub run: String,
    /// What is run.
    pub new: NewRun,
    /// Whether no agent starts until it is resumed.
    pub is_paused: bool,
}

/// A run that a task drives.
pub struct RunHandle {
    live: Arc<LiveRun>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// The run, without the text of its script.
    pub run: Run,
    /// How many results were there already.
    pub reused_results: u32,
}

/// A run that a task may start.
struct Drafted {
    run: Run,
    /// The run that is taken up instead, if there is one.
    known: Option<Arc<LiveRun>>,
}

impl Workflows {
    /// Checks what a task would run. What has to be approved first is given back as a request.
    ///
    /// # Errors
    /// As for [`Workflows::start_as_task`]; nothing has happened either way.
    pub(crate) async fn check_task(&self, input: &TaskInput) -> Result<Option<Request>> {
        let Drafted { run, .. } = self.draft_task(input).await?;
        let is_free = !self.settings().requires_approval || self.consent_for(&run).await.is_some();
        Ok((!is_free).then(|| self.request(&run)))
    }

    /// Starts a run for a task, or takes a paused one up. Whoever submitted the task answers for it:
    /// nothing more is asked.
    ///
    /// # Errors
    /// If the input is wrong, the id is taken, or an agent's own program wants it.
    pub async fn start_as_task(&self, input: TaskInput) -> Result<RunHandle> {
        let Drafted { run, known } = self.draft_task(&input).await?;
        if let Some(live) = known {
            return self.take_up_for_task(live, input).await;
        }
        self.make_room().await?;
        let approval = RunApproval::of(&run, RunDecision::RunOnce, Some(BY_TASK.to_owned()));
        let status = if input.is_paused { RunStatus::Paused } else { RunStatus::Queued };
        // Approved before it is written, so that no later daemon asks for it.
        let run = Run { status, approval: Some(approval.clone()), ..run };
        let live = self.add_live(run, input.new.client, input.new.keys);
        live.is_driven.store(true, Ordering::Release);
        let drafted = live.decide(|run, changes| {
            changes.push(RunChange::Drafted(Box::new(run.trimmed(false, false))));
            changes.push(RunChange::Approved(Box::new(approval.clone())));
            changes.push(RunChange::Queued(RunStatus::Queued));
            if run.status == RunStatus::Paused {
                changes.push(RunChange::Paused(None));
            }
            Ok(())
        });
        if let Err(error) = drafted.await {
            self.forget(&live.id);
            return Err(error);
        }
        if !input.is_paused {
            self.execute(&live);
        }
        Ok(RunHandle { live })
    }

    /// A run that waits, perhaps since the last daemon, goes on for a task.
    async fn take_up_for_task(&self, live: Arc<LiveRun>, input: TaskInput) -> Result<RunHandle> {
        if live.is_driven.swap(true, Ordering::AcqRel) {
            return Err(taken(&live.id));
        }
        let handle = RunHandle { live };
        let grant = ClientGrant { client: input.new.client, keys: input.new.keys };
        match input.is_paused {
            true => handle.live.grant.lock().renew(grant),
            false => drop(self.resume(&handle.live.id, grant).await?),
        }
        Ok(handle)
    }

    async fn draft_task(&self, input: &TaskInput) -> Result<Drafted> {
        self.core.refuse_agents()?;
        if !is_name(&input.run) {
            let message = "run_id must consist of letters, digits, and . _ : - and begin with a letter or digit";
            return Err(Error::invalid("run_id", message));
        }
        let run = self.draft(&input.new, input.run.clone()).await?;
        let known = match self.entry(&input.run).await {
            Err(_) => return Ok(Drafted { run, known: None }),
            Ok(Entry::Live(live)) => live,
            Ok(Entry::Ended(_)) => return Err(taken(&input.run)),
        };
        let is_same = known.look(|known| {
            known.status == RunStatus::Paused && known.script.hash == run.script.hash
        });
        match is_same && !known.is_driven.load(Ordering::Acquire) {
            true => Ok(Drafted { run, known: Some(known) }),
            false => Err(taken(&input.run)),
        }
    }
}

fn taken(run: &str) -> Error {
    Error::conflict(format!("there is a run {run} already; only a paused one is taken up"))
}

impl RunHandle {
    /// The id of the run.
    pub fn id(&self) -> &str {
        &self.live.id
    }

    /// Waits until the run is over.
    pub async fn wait(&self) -> RunEnd {
        let mut ended = self.live.ended.subscribe();
        // Its sender is in the run that we hold.
        let _ = ended.wait_for(|ended| *ended).await;
        let run = self.live.run().trimmed(false, true);
        RunEnd { run, reused_results: self.live.reused.load(Ordering::Relaxed) }
    }
}

impl Drop for RunHandle {
    fn drop(&mut self) {
        self.live.is_driven.store(false, Ordering::Release);
    }
}

impl RunEnd {
    /// As its task keeps it.
    pub(crate) fn to_payload(&self) -> String {
        let payload = |run: &Run| {
            let (run, report) = (run.to_json(), run.report.clone());
            json!({ "run": run, "report": report, "reused_results": self.reused_results })
        };
        let whole = payload(&self.run).to_string();
        match whole.len() <= MAX_KEPT {
            true => whole,
            false => payload(&self.run.trimmed(false, false)).to_string(),
        }
    }

    /// What a task kept; none if that is something else.
    pub fn of_payload(payload: &str) -> Option<RunEnd> {
        let value: Value = serde_json::from_str(payload).ok()?;
        let run = Run::from_json(value.get("run")?)?;
        let reused = value.get("reused_results")?.as_u64()?;
        Some(RunEnd { run, reused_results: u32::try_from(reused).ok()? })
    }
}
