//! A run that is not over: its record, how it is steered, and how both are kept.
//!
//! What people decided is on disk before anyone hears of it. What agents do is announced at once and
//! written a moment later; their results have a journal of their own.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rookery_agent::providers::Loan;
use rookery_model::{Error, RequestId, Result, Words as _};
use tokio::sync::{Semaphore, watch};

use super::encode::KeptRecord;
use super::files::RunFiles;
use super::progress::Progress;
use super::types::{
    AgentStatus, Phase, PhaseStatus, Run, RunAgent, RunChange, RunNotice, RunStatus,
};
use crate::clock;
use crate::core::{Core, blocking};
use crate::log::NoticeBody;

/// How long changes of agents are gathered before they are written.
const GATHER: Duration = Duration::from_millis(300);

/// How a run is steered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Control {
    /// No new agents start.
    pub(crate) is_paused: bool,
    /// How often the agents at work were called off, to be started again.
    pub(crate) called_off: u64,
    /// The agents that are to begin anew, and how often.
    pub(crate) restarted: HashMap<String, u64>,
    /// How often the script was to be run again.
    pub(crate) replays: u64,
    /// Whether agents that failed are not asked again when it is.
    pub(crate) reuses_failures: bool,
    /// Whether it is over.
    pub(crate) is_stopped: bool,
}

/// What the approval of a run waits for.
#[derive(Debug, Default)]
pub(crate) struct Asking {
    pub(crate) request: Option<RequestId>,
    /// Whether someone answers by the run's own method, who then also carries the answer out.
    pub(crate) is_answering: bool,
}

/// For whom something works.
#[derive(Clone, Debug, Default)]
pub struct ClientGrant {
    /// The connection whose mode holds.
    pub client: Option<u64>,
    /// The keys that it lends.
    pub keys: Vec<Loan>,
}

impl ClientGrant {
    /// What holds from now on: what another brings along, else what was there.
    pub(crate) fn renew(&mut self, other: ClientGrant) {
        self.client = other.client.or(self.client);
        if !other.keys.is_empty() {
            self.keys = other.keys;
        }
    }
}

/// A run that is not over.
pub(crate) struct LiveRun {
    pub(crate) id: String,
    pub(crate) core: Core,
    pub(crate) files: RunFiles,
    record: Mutex<Run>,
    /// Held while a decision is made and written.
    writer: tokio::sync::Mutex<()>,
    is_dirty: AtomicBool,
    pub(crate) control: watch::Sender<Control>,
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) asking: Mutex<Asking>,
    pub(crate) is_executing: AtomicBool,
    /// Whether a background task waits for its end.
    pub(crate) is_driven: AtomicBool,
    /// Raised when the run is over.
    pub(crate) ended: watch::Sender<bool>,
    pub(crate) grant: Mutex<ClientGrant>,
    /// What is new for those who follow it.
    pub(super) progress: Arc<Mutex<Progress>>,
    /// How many results were there already.
    pub(crate) reused: std::sync::atomic::AtomicU32,
}

impl LiveRun {
    pub(crate) fn new(
        core: Core,
        files: RunFiles,
        run: Run,
        client: Option<u64>,
        keys: Vec<Loan>,
    ) -> Arc<LiveRun> {
        let slots = usize::try_from(run.limits.max_concurrent_agents).unwrap_or(1).max(1);
        let control = Control { is_paused: run.status == RunStatus::Paused, ..Control::default() };
        Arc::new(LiveRun {
            id: run.id.clone(),
            core,
            files,
            record: Mutex::new(run),
            writer: tokio::sync::Mutex::new(()),
            is_dirty: AtomicBool::new(false),
            control: watch::Sender::new(control),
            slots: Arc::new(Semaphore::new(slots)),
            asking: Mutex::default(),
            is_executing: AtomicBool::new(false),
            is_driven: AtomicBool::new(false),
            ended: watch::Sender::new(false),
            grant: Mutex::new(ClientGrant { client, keys }),
            progress: Arc::default(),
            reused: std::sync::atomic::AtomicU32::new(0),
        })
    }

    /// The run as it is now.
    pub(crate) fn run(&self) -> Run {
        self.record.lock().clone()
    }

    /// Looks at the run.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Run) -> T) -> T {
        look(&self.record.lock())
    }

    pub(crate) fn status(&self) -> RunStatus {
        self.record.lock().status
    }

    fn announce(&self, run: &Run, changes: Vec<RunChange>) {
        self.progress.lock().note(&changes);
        let body = |change| {
            let notice = RunNotice { run: run.id.clone(), turn: run.turn, change };
            NoticeBody::Workflow(Box::new(notice))
        };
        self.core.inner.log.spine().send(run.thread, changes.into_iter().map(body));
    }

    /// Changes what agents and the script do to the run, and announces it. Nothing happens to a run
    /// that is over.
    pub(crate) fn change<T>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Run, &mut Vec<RunChange>) -> T,
    ) -> Option<T> {
        let mut run = self.record.lock();
        if run.status.is_terminal() {
            return None;
        }
        let mut changes = Vec::new();
        let done = change(&mut run, &mut changes);
        run.updated_at = clock::wall();
        self.announce(&run, changes);
        drop(run);
        self.save_soon();
        Some(done)
    }

    /// Carries out a decision: written first, then announced. The change is made twice, once for the
    /// disk, and must be the same both times.
    pub(crate) async fn decide(
        &self,
        decide: impl Fn(&mut Run, &mut Vec<RunChange>) -> Result<()>,
    ) -> Result<Run> {
        let _writing = self.writer.lock().await;
        let mut planned = self.run();
        decide(&mut planned, &mut Vec::new())?;
        planned.updated_at = clock::wall();
        let files = self.files.clone();
        blocking(move || files.save(&planned)).await??;
        let mut run = self.record.lock();
        let mut changes = Vec::new();
        decide(&mut run, &mut changes)?;
        run.updated_at = clock::wall();
        self.announce(&run, changes);
        let is_over = run.status.is_terminal();
        let decided = run.clone();
        drop(run);
        if is_over {
            self.ended.send_replace(true);
        }
        Ok(decided)
    }

    /// Announces something that changes nothing.
    pub(crate) fn announce_change(&self, change: RunChange) {
        let run = self.record.lock();
        if !run.status.is_terminal() {
            self.announce(&run, vec![change]);
        }
    }

    /// Writes the run in a moment, with whatever else happens until then.
    fn save_soon(self: &Arc<Self>) {
        if self.is_dirty.swap(true, Ordering::AcqRel) || !self.files.is_kept() {
            return;
        }
        let live = Arc::clone(self);
        self.core.inner.runtime.spawn(async move {
            tokio::time::sleep(GATHER).await;
            if let Err(error) = live.save().await {
                tracing::warn!(%error, run = live.id, "the state of a workflow is not on disk yet");
            }
        });
    }

    /// Whether something happened that is not written yet.
    pub(crate) fn has_unsaved(&self) -> bool {
        self.is_dirty.load(Ordering::Acquire)
    }

    /// Writes the run as it is now.
    pub(crate) async fn save(&self) -> Result<()> {
        let _writing = self.writer.lock().await;
        self.is_dirty.store(false, Ordering::Release);
        let (files, run) = (self.files.clone(), self.run());
        blocking(move || files.save(&run)).await?
    }

    /// Steers the run.
    pub(crate) fn steer(&self, steer: impl FnOnce(&mut Control)) {
        self.control.send_modify(steer);
    }

    /// Refuses what a run that is over cannot do.
    pub(crate) fn ensure(&self, is: impl Fn(RunStatus) -> bool, what: &str) -> Result<()> {
        let status = self.status();
        match is(status) {
            true => Ok(()),
            false => Err(Error::failed(format!(
                "the run is {}: {what}",
                status.word().replace('_', " ")
            ))),
        }
    }
}

/// The number in the id of an agent.
pub(super) fn number(id: &str) -> u64 {
    id.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

impl Run {
    /// An agent by its id.
    pub(crate) fn agent(&self, id: &str) -> Option<&RunAgent> {
        self.agents.iter().find(|agent| agent.id == id)
    }

    /// An agent as it will be once it is settled.
    pub(super) fn record_of(&self, id: &str, settle: impl Fn(&mut RunAgent)) -> Option<KeptRecord> {
        let mut agent = self.agent(id)?.clone();
        settle(&mut agent);
        let phase = self.phases.iter().find(|phase| phase.id == agent.phase)?;
        Some(KeptRecord { phase: phase.name.clone(), agent })
    }

    /// Takes in agents that have answered, where the record was not written since.
    pub(super) fn recall(&mut self, kept: impl IntoIterator<Item = KeptRecord>) {
        let mut kept: Vec<KeptRecord> = kept.into_iter().collect();
        kept.sort_by_key(|one| number(&one.agent.id));
        for KeptRecord { phase, mut agent } in kept {
            let known = self.agents.iter().position(|one| one.id == agent.id);
            if known.is_some_and(|at| self.agents[at].status.is_over()) {
                continue;
            }
            agent.phase = self.enter_phase(&phase, &mut Vec::new());
            match known {
                Some(at) => self.agents[at] = agent,
                None => self.agents.push(agent),
            }
        }
        self.agents.sort_by_key(|agent| number(&agent.id));
    }

    /// A phase begins, or goes on; gives its id. Without an announcement if it had begun before.
    pub(super) fn enter_phase(&mut self, title: &str, changes: &mut Vec<RunChange>) -> String {
        let now = clock::wall();
        let place = self.phases.iter().position(|phase| phase.name == title);
        let place = place.unwrap_or_else(|| {
            self.phases.push(Phase {
                id: format!("phase-{}", self.phases.len() + 1),
                name: title.to_owned(),
                status: PhaseStatus::Queued,
                description: None,
                queued_agents: 0,
                completed_agents: 0,
                failed_agents: 0,
                started_at: None,
                completed_at: None,
            });
            self.phases.len() - 1
        });
        let phase = &mut self.phases[place];
        if phase.status == PhaseStatus::Queued || phase.status == PhaseStatus::Skipped {
            phase.status = PhaseStatus::Running;
            phase.started_at = Some(now);
            changes.push(RunChange::PhaseStarted(Box::new(phase.clone())));
        }
        phase.id.clone()
    }

    /// Counts the agents of each phase anew, in one pass: there may be a thousand of both.
    pub(super) fn count_phases(&mut self) {
        let mut counts: HashMap<&str, [u32; 3]> = HashMap::new();
        for agent in &self.agents {
            let at = match agent.status {
                status if !status.is_over() => 0,
                AgentStatus::Completed => 1,
                _ => 2,
            };
            counts.entry(agent.phase.as_str()).or_default()[at] += 1;
        }
        for phase in &mut self.phases {
            let counted = counts.get(phase.id.as_str()).copied().unwrap_or_default();
            [phase.queued_agents, phase.completed_agents, phase.failed_agents] = counted;
        }
    }

    /// Phases that are behind and have no agents at work are over.
    pub(super) fn settle_phases(&mut self, current: Option<&str>, changes: &mut Vec<RunChange>) {
        self.count_phases();
        let now = clock::wall();
        for phase in &mut self.phases {
            let is_behind = Some(phase.id.as_str()) != current && phase.queued_agents == 0;
            if phase.status == PhaseStatus::Running && is_behind {
                phase.status = PhaseStatus::Completed;
                phase.completed_at = Some(now);
                changes.push(RunChange::PhaseCompleted(Box::new(phase.clone())));
            }
        }
    }

    /// Everything of the run is over with it.
    pub(super) fn end(&mut self, status: RunStatus, changes: &mut Vec<RunChange>) {
        let now = clock::wall();
        self.status = status;
        self.completed_at = Some(now);
        for agent in self.agents.iter_mut().filter(|agent| !agent.status.is_over()) {
            agent.status = AgentStatus::Cancelled;
            agent.exit_reason = Some(super::dispatch::Exit::Cancelled.word().to_owned());
            agent.completed_at = Some(now);
            changes.push(super::host::settled(agent));
        }
        self.count_phases();
        for phase in &mut self.phases {
            match phase.status {
                PhaseStatus::Queued => phase.status = PhaseStatus::Skipped,
                PhaseStatus::Running => {
                    let is_good = status == RunStatus::Completed;
                    phase.status =
                        if is_good { PhaseStatus::Completed } else { PhaseStatus::Failed };
                    phase.completed_at = Some(now);
                    changes.push(RunChange::PhaseCompleted(Box::new(phase.clone())));
                }
                PhaseStatus::Completed | PhaseStatus::Failed | PhaseStatus::Skipped => {}
            }
        }
    }
}
