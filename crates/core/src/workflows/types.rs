//! Runs of workflows, as everyone sees them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rookery_model::{ThreadId, Timestamp, TurnId, Usage};
use rookery_scripts::{LaunchKey, Limits};
use serde_json::Value;

use crate::worktrees::KeptTree;

/// Where a script comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScriptKind {
    /// Written for one run.
    Generated,
    /// Ships with us.
    BuiltIn,
    /// A file of the user.
    User,
    /// A file of a workspace.
    Workspace,
}

/// A script that can be run.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptInfo {
    /// Its id: never a path.
    pub id: String,
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Where it comes from.
    pub kind: ScriptKind,
    /// Its file.
    pub path: Option<PathBuf>,
    /// SHA-256 of its text, in hexadecimal.
    pub hash: String,
    pub arguments_schema: Option<Value>,
    /// Its text.
    pub body: Option<String>,
    /// The limits that hold for it.
    pub limits: Limits,
    /// When it was made; the file's time if it has one.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// It waits for approval.
    AwaitingApproval,
    /// It waits for others to end.
    Queued,
    /// It runs.
    Running,
    /// No new agents start.
    Paused,
    /// Its script came to its end.
    Completed,
    /// Its script threw, went beyond a limit, or was denied.
    Failed,
    Stopped,
}

impl RunStatus {
    /// Whether it is over.
    pub fn is_terminal(self) -> bool {
        matches!(self, RunStatus::Completed | RunStatus::Failed | RunStatus::Stopped)
    }
}

/// Where a phase stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseStatus {
    /// Declared, and not begun.
    Queued,
    /// Begun.
    Running,
    /// Over.
    Completed,
    /// The run failed in it.
    Failed,
    /// Never begun.
    Skipped,
}

/// A part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its id in the run.
    pub id: String,
    pub name: String,
    /// Where it stands.
    pub status: PhaseStatus,
    /// What happens in it.
    pub description: Option<String>,
    /// Agents that have not ended.
    pub queued_agents: u32,
    /// Agents that answered.
    pub completed_agents: u32,
    /// Agents that did not.
    pub failed_agents: u32,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it was over.
    pub completed_at: Option<Timestamp>,
}

/// Where an agent of a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentStatus {
    /// It waits for its turn.
    Queued,
    /// It works.
    Running,
    /// It answered.
    Completed,
    Failed,
    /// Its time was over.
    Timeout,
    /// It was stopped.
    Cancelled,
}

impl AgentStatus {
    /// Whether it has ended.
    pub fn is_over(self) -> bool {
        !matches!(self, AgentStatus::Queued | AgentStatus::Running)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct RunAgent {
    /// Its id in the run.
    pub id: String,
    /// By what its result is found again.
    pub key: LaunchKey,
    /// The phase it belongs to.
    pub phase: String,
    /// In a few words.
    pub description: String,
    /// What the script calls it.
    pub label: Option<String>,
    /// Where it stands.
    pub status: AgentStatus,
    pub lane: Option<String>,
    pub model: Option<String>,
    pub thread: Option<ThreadId>,
    pub turn: Option<TurnId>,
    /// What it used.
    pub usage: Option<Usage>,
    /// How it ended, in a word.
    pub exit_reason: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// The beginning of its answer.
    pub output_preview: Option<String>,
    /// Whether its answer was kept from before.
    pub is_cached: bool,
    /// How often it was started.
    pub attempt: u32,
    /// The worktree that it had to itself, if there is work in it.
    pub worktree: Option<KeptTree>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
}

/// What was decided about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunDecision {
    /// It may run.
    RunOnce,
    /// It may run, and so may the same script in the same workspace from now on.
    AlwaysForScriptAndWorkspace,
    /// It may not.
    Deny,
}

/// A decision about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunApproval {
    pub run: String,
    /// What was decided on.
    pub script_hash: String,
    /// Where it works.
    pub workspace: Option<PathBuf>,
    /// What was decided.
    pub decision: RunDecision,
    /// Why.
    pub reason: Option<String>,
    /// When.
    pub decided_at: Timestamp,
}

/// What a run may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostEstimate {
    /// The fewest agents it starts.
    pub min_agents: u32,
    /// The most agents it starts.
    pub max_agents: u32,
    /// What is to be known.
    pub warning: Option<String>,
}

/// A run of a workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: String,
    /// The thread it belongs to.
    pub thread: Option<ThreadId>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// What it runs.
    pub script: ScriptInfo,
    /// Where it stands.
    pub status: RunStatus,
    /// Why it is paused or stopped.
    pub reason: Option<String>,
    /// The limits that hold.
    pub limits: Limits,
    pub phases: Vec<Phase>,
    /// Its agents, in the order in which they were started.
    pub agents: Vec<RunAgent>,
    /// What was decided about it.
    pub approval: Option<RunApproval>,
    /// Saved scripts that it may run, by name, with the hash that each had when the run was planned.
    pub nested: BTreeMap<String, String>,
    /// What it may cost.
    pub cost: CostEstimate,
    /// Why it failed.
    pub error: Option<String>,
    /// What came of it.
    pub report: Option<String>,
    /// Where its agents work.
    pub workspace: Option<PathBuf>,
    /// What was asked for.
    pub prompt: String,
    /// What the script is given.
    pub arguments: Value,
    /// The most agents that worked at the same time.
    pub concurrency_peak: u32,
    /// Lines that the script logged.
    pub lines: u32,
    /// When it was planned.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it was over.
    pub completed_at: Option<Timestamp>,
}

/// A run in short.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    pub id: String,
    pub thread: Option<ThreadId>,
    /// Where it stands.
    pub status: RunStatus,
    /// The name of its script.
    pub title: String,
    /// Phases that are known.
    pub phases: u32,
    /// Phases that are over.
    pub completed_phases: u32,
    /// Agents that were started.
    pub agents: u32,
    /// Agents that answered.
    pub completed_agents: u32,
    /// Agents that did not.
    pub failed_agents: u32,
    /// The most agents that worked at the same time.
    pub concurrency_peak: u32,
    /// What all agents used.
    pub usage: Option<Usage>,
    /// How long it has run, in milliseconds.
    pub elapsed_ms: Option<u64>,
    /// The beginning of the report.
    pub report_preview: Option<String>,
    /// When it was planned.
    pub created_at: Timestamp,
}

/// Characters of a report that are shown in short.
const REPORT_PREVIEW: usize = 512;

impl Run {
    /// The run in short.
    pub fn summary(&self) -> RunSummary {
        let count = |is: fn(AgentStatus) -> bool| {
            let meant = self.agents.iter().filter(|agent| is(agent.status)).count();
            u32::try_from(meant).unwrap_or(u32::MAX)
        };
        let used = self.agents.iter().filter_map(|agent| agent.usage.as_ref());
        let usage = used.fold(None, |sum: Option<Usage>, one| {
            let mut sum = sum.unwrap_or_default();
            sum.add(*one);
            Some(sum)
        });
        let over =
            self.phases.iter().filter(|phase| phase.status == PhaseStatus::Completed).count();
        let end = self.completed_at.unwrap_or(self.updated_at);
        let elapsed = self.started_at.map(|begin| {
            u64::try_from(end.as_micros().saturating_sub(begin.as_micros()) / 1_000).unwrap_or(0)
        });
        RunSummary {
            id: self.id.clone(),
            thread: self.thread,
            status: self.status,
            title: self.script.name.clone(),
            phases: u32::try_from(self.phases.len()).unwrap_or(u32::MAX),
            completed_phases: u32::try_from(over).unwrap_or(u32::MAX),
            agents: u32::try_from(self.agents.len()).unwrap_or(u32::MAX),
            completed_agents: count(|status| status == AgentStatus::Completed),
            failed_agents: count(|status| status.is_over() && status != AgentStatus::Completed),
            concurrency_peak: self.concurrency_peak,
            usage,
            elapsed_ms: elapsed,
            report_preview: self.report.as_ref().map(|report| beginning(report, REPORT_PREVIEW)),
            created_at: self.created_at,
        }
    }

    /// The same without what is long.
    pub(crate) fn trimmed(&self, with_body: bool, with_agents: bool) -> Run {
        let mut run = self.clone();
        if !with_body {
            run.script.body = None;
        }
        if !with_agents {
            run.agents = Vec::new();
        }
        run
    }
}

/// The first characters of a text.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Something that happened to a run.
#[derive(Clone, Debug)]
pub struct RunNotice {
    pub run: String,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// What happened.
    pub change: RunChange,
}

/// What happens to runs.
#[derive(Clone, Debug)]
pub enum RunChange {
    /// It was planned.
    Drafted(Box<Run>),
    /// It waits for approval.
    ApprovalRequested(Box<Run>),
    /// It may run.
    Approved(Box<RunApproval>),
    /// It may not.
    Denied(Box<RunApproval>),
    /// It waits for others to end.
    Queued(RunStatus),
    /// It runs.
    Started(RunStatus),
    /// A phase began.
    PhaseStarted(Box<Phase>),
    /// A phase is over.
    PhaseCompleted(Box<Phase>),
    /// An agent waits for its turn.
    AgentQueued(Box<RunAgent>),
    /// An agent works.
    AgentStarted(Box<RunAgent>),
    /// An agent answered.
    AgentCompleted(Box<RunAgent>),
    /// An agent did not.
    AgentFailed(Box<RunAgent>, String),
    /// The script said something, or reported.
    Output {
        phase: Option<String>,
        /// What it said.
        text: String,
        /// Whether that is not all.
        is_truncated: bool,
    },
    /// The script keeps a value.
    Checkpoint {
        phase: Option<String>,
        /// Its name.
        key: String,
        /// Its size.
        bytes: u64,
    },
    /// No new agents start.
    Paused(Option<String>),
    /// It goes on.
    Resumed(RunStatus),
    Stopped(Option<String>),
    /// It came to its end.
    Completed(Box<RunSummary>),
    Failed(String, Box<RunSummary>),
}

impl RunChange {
    /// About how much memory it takes besides itself.
    pub(crate) fn size(&self) -> usize {
        match self {
            RunChange::Drafted(run) | RunChange::ApprovalRequested(run) => {
                let body = run.script.body.as_ref().map_or(0, String::len);
                size_of::<Run>() + body + run.prompt.len() + 1024
            }
            RunChange::AgentFailed(_, error) => size_of::<RunAgent>() + 512 + error.len(),
            RunChange::AgentQueued(_)
            | RunChange::AgentStarted(_)
            | RunChange::AgentCompleted(_) => size_of::<RunAgent>() + 512,
            RunChange::Output { text, .. } => text.len(),
            RunChange::Completed(_) | RunChange::Failed(..) => size_of::<RunSummary>() + 1024,
            RunChange::Approved(_)
            | RunChange::Denied(_)
            | RunChange::PhaseStarted(_)
            | RunChange::PhaseCompleted(_)
            | RunChange::Checkpoint { .. } => 512,
            RunChange::Queued(_)
            | RunChange::Started(_)
            | RunChange::Paused(_)
            | RunChange::Resumed(_)
            | RunChange::Stopped(_) => 64,
        }
    }
}
