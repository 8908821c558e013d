//! Params and results about workflows: scripts that start child agents, and their runs.

use std::path::PathBuf;

use rookery_core as core;
use rookery_model::Words as _;
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::format_time;

/// Params of `rookery/workflows/plan`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowPlan {
    /// What is asked for.
    pub prompt: String,
    /// Where its agents work; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// What the script is given.
    #[serde(default)]
    pub arguments: Value,
    /// The text of the script; the chosen model writes one if neither this nor `name` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// The name of a saved script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it is only looked at: nothing is kept, asked for or started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preview: bool,
}

call!("rookery/workflows/plan" WorkflowPlan -> WorkflowPlanned);

/// Result of `rookery/workflows/plan`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowPlanned {
    /// Its id is `preview` if it is only looked at.
    pub run: WorkflowRun,
    /// Whether it waits for approval; else it starts, unless it is only looked at.
    pub needs_approval: bool,
    /// The text of a script that was written for a preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
}

/// What is decided about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkflowDecision {
    RunOnce,
    AlwaysForScriptAndWorkspace,
    Deny,
}

/// Params of `rookery/workflows/approve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowApprove {
    pub run: String,
    pub decision: WorkflowDecision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

call!("rookery/workflows/approve" WorkflowApprove -> WorkflowRun);

/// Params of `rookery/workflows/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowList {
    /// Whether runs that are over are listed too.
    #[serde(default)]
    pub all: bool,
    /// The newest of this number; 50 if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

call!("rookery/workflows/list" WorkflowList -> WorkflowRuns);

/// Result of `rookery/workflows/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowRuns {
    /// The runs, newest first.
    pub runs: Vec<WorkflowHead>,
}

/// Params of `rookery/workflows/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowGet {
    pub run: String,
}

call!("rookery/workflows/get" WorkflowGet -> WorkflowRun);

/// Params of `rookery/workflows/wait`: answered once the run is not as it was at `seen` or `since`, waits
/// for other answers than those in `waiting`, or is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowWait {
    pub run: String,
    /// The `updated_at` that the caller knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The `revision` that the caller knows: then only phases and agents that changed are given, until the
    /// run is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u64>,
    /// With `seen`: the requests that the caller knows of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
}

call!("rookery/workflows/wait" WorkflowWait -> WorkflowProgress);

/// Result of `rookery/workflows/wait`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowProgress {
    #[serde(flatten)]
    pub run: WorkflowRun,
    /// What the next `seen` is; it fits no other daemon.
    pub revision: u64,
    /// Lines of the script that are new, at most the newest 200.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<WorkflowLine>,
    /// What it waits for a person to answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WorkflowWaiting>,
}

/// A line that a script logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowLine {
    /// Its number; what is missing before it is not kept.
    pub number: u64,
    pub text: String,
}

/// A request that holds an agent of a run up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowWaiting {
    /// The request, as `rookery/requests/list` has it.
    pub request: String,
    /// The agent of the run.
    pub agent: String,
}

/// Params of `rookery/workflows/pause`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowPause {
    pub run: String,
    /// Whether agents at work are called off; they begin anew when the run goes on.
    #[serde(default)]
    pub cancel_agents: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

call!("rookery/workflows/pause" WorkflowPause -> WorkflowRun);

/// Params of `rookery/workflows/resume`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowResume {
    pub run: String,
}

call!("rookery/workflows/resume" WorkflowResume -> WorkflowRun);

/// Params of `rookery/workflows/stop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStop {
    pub run: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

call!("rookery/workflows/stop" WorkflowStop -> WorkflowRun);

/// A run in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowHead {
    pub id: String,
    pub name: String,
    /// `awaiting_approval`, `queued`, `running`, `paused`, `completed`, `failed` or `stopped`.
    pub status: String,
    pub agents: u32,
    pub completed_agents: u32,
    pub failed_agents: u32,
    pub concurrency_peak: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    pub created_at: String,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowRun {
    #[serde(flatten)]
    pub head: WorkflowHead,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// SHA-256 of the script.
    pub script_hash: String,
    /// Where the script comes from: `generated`, `built_in`, `user` or `workspace`.
    pub source: String,
    /// The file of the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Saved workflows that it may run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<String>,
    pub prompt: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// The most agents that it may start.
    pub max_agents: u32,
    pub max_concurrent_agents: u32,
    pub agent_timeout_seconds: u64,
    pub run_timeout_seconds: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    pub phases: Vec<WorkflowPhase>,
    pub agent_list: Vec<WorkflowAgent>,
    /// Why it is paused, stopped or denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    pub updated_at: String,
}

/// A part of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowPhase {
    pub id: String,
    pub name: String,
    pub status: String,
}

/// An agent of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowAgent {
    pub id: String,
    pub phase: String,
    pub description: String,
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_preview: Option<String>,
    /// Whether its answer was kept from before.
    pub cached: bool,
    /// How often it was started.
    pub attempt: u32,
}

impl From<&core::RunSummary> for WorkflowHead {
    fn from(run: &core::RunSummary) -> Self {
        WorkflowHead {
            id: run.id.clone(),
            name: run.title.clone(),
            status: run.status.word().to_owned(),
            agents: run.agents,
            completed_agents: run.completed_agents,
            failed_agents: run.failed_agents,
            concurrency_peak: run.concurrency_peak,
            elapsed_ms: run.elapsed_ms,
            created_at: format_time(run.created_at),
        }
    }
}

impl From<&core::Run> for WorkflowRun {
    fn from(run: &core::Run) -> Self {
        let phase = |phase: &core::Phase| WorkflowPhase {
            id: phase.id.clone(),
            name: phase.name.clone(),
            status: phase.status.word().to_owned(),
        };
        WorkflowRun {
            head: (&run.summary()).into(),
            description: run.script.description.clone(),
            script_hash: run.script.hash.clone(),
            source: run.script.kind.word().to_owned(),
            path: run.script.path.clone(),
            nested: run.nested.keys().cloned().collect(),
            prompt: run.prompt.clone(),
            workspace: run.workspace.clone(),
            max_agents: run.cost.max_agents,
            max_concurrent_agents: run.limits.max_concurrent_agents,
            agent_timeout_seconds: run.limits.agent_timeout_seconds,
            run_timeout_seconds: run.limits.run_timeout_seconds,
            warning: run.cost.warning.clone(),
            phases: run.phases.iter().map(phase).collect(),
            agent_list: run.agents.iter().map(WorkflowAgent::from).collect(),
            reason: run.reason.clone(),
            error: run.error.clone(),
            report: run.report.clone(),
            updated_at: format_time(run.updated_at),
        }
    }
}

impl From<&core::RunProgress> for WorkflowProgress {
    fn from(progress: &core::RunProgress) -> Self {
        let line =
            |line: &core::RunLine| WorkflowLine { number: line.number, text: line.text.clone() };
        let waiting = |waiting: &core::RunWaiting| WorkflowWaiting {
            request: waiting.request.to_string(),
            agent: waiting.agent.clone(),
        };
        WorkflowProgress {
            run: (&progress.run).into(),
            revision: progress.revision,
            lines: progress.lines.iter().map(line).collect(),
            waiting: progress.waiting.iter().map(waiting).collect(),
        }
    }
}

impl From<&core::RunAgent> for WorkflowAgent {
    fn from(agent: &core::RunAgent) -> Self {
        WorkflowAgent {
            id: agent.id.clone(),
            phase: agent.phase.clone(),
            description: agent.description.clone(),
            status: agent.status.word().to_owned(),
            model: agent.model.clone(),
            thread: agent.thread.map(|thread| thread.to_string()),
            error: agent.error.clone(),
            output_preview: agent.output_preview.clone(),
            cached: agent.is_cached,
            attempt: agent.attempt,
        }
    }
}
