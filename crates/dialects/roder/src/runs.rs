//! Runs of workflows as this dialect shows them, and what happens to them as its notifications.

use std::path::Path;

use rookery_core as core;
use rookery_core::RunChange;
use rookery_model::{self as model, Words as _};

use crate::show;
use crate::wire::notification::name;
use crate::wire::workflow::{
    CostEstimate, Decision, KeptWorktree, Limits, Phase, Run, RunAgent, RunApproval, RunSummary,
    Script, ScriptSource, ScriptSourceKind, WorkflowBody, WorkflowNotification,
};

/// The version of the functions that scripts use.
const HOST_API_VERSION: u32 = 1;
/// What an approval is for.
const CAPABILITY: &str = "childAgents";
/// The lanes that clients know; a script may call one as it likes.
const LANES: [&str; 4] = ["scout", "editor", "reviewer", "runner"];

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The id by which the approval of a run is known in this family.
fn approval_id(run: &str) -> String {
    format!("approval-{run}")
}

fn status(status: core::RunStatus) -> String {
    let word = match status {
        core::RunStatus::AwaitingApproval => "awaitingApproval",
        core::RunStatus::Queued => "queued",
        core::RunStatus::Running => "running",
        core::RunStatus::Paused => "paused",
        core::RunStatus::Completed => "completed",
        core::RunStatus::Failed => "failed",
        core::RunStatus::Stopped => "stopped",
    };
    word.to_owned()
}

pub(crate) fn kind(kind: core::ScriptKind) -> ScriptSourceKind {
    match kind {
        core::ScriptKind::Generated => ScriptSourceKind::Generated,
        core::ScriptKind::BuiltIn => ScriptSourceKind::BuiltIn,
        core::ScriptKind::User => ScriptSourceKind::User,
        core::ScriptKind::Workspace => ScriptSourceKind::Workspace,
    }
}

fn limits(values: [u64; 6]) -> Limits {
    let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let [concurrent, agents, agent, run, checkpoint, report] = values;
    Limits {
        max_concurrent_agents: small(concurrent),
        max_agents_per_run: small(agents),
        default_agent_timeout_seconds: agent,
        default_run_timeout_seconds: run,
        default_checkpoint_bytes: checkpoint,
        max_report_bytes: report,
    }
}

pub(crate) fn script(script: &core::ScriptInfo, with_body: bool) -> Script {
    Script {
        script_id: script.id.clone(),
        name: script.name.clone(),
        description: script.description.clone(),
        source: ScriptSource { kind: kind(script.kind), path: script.path.as_deref().map(path) },
        hash: script.hash.clone(),
        host_api_version: HOST_API_VERSION,
        arguments_schema: script.arguments_schema.clone().unwrap_or_default(),
        body: script.body.clone().filter(|_| with_body),
        limits: limits(script.limits.values()),
        created_at: show::time(script.created_at),
        updated_at: show::time(script.updated_at),
    }
}

fn phase(phase: &core::Phase) -> Phase {
    Phase {
        phase_id: phase.id.clone(),
        name: phase.name.clone(),
        status: phase.status.word().to_owned(),
        description: phase.description.clone(),
        queued_agents: phase.queued_agents,
        completed_agents: phase.completed_agents,
        failed_agents: phase.failed_agents,
        started_at: phase.started_at.map(show::time),
        completed_at: phase.completed_at.map(show::time),
    }
}

pub(crate) fn agent(agent: &core::RunAgent) -> RunAgent {
    RunAgent {
        agent_id: agent.id.clone(),
        phase_id: agent.phase.clone(),
        description: agent.description.clone(),
        label: agent.label.clone(),
        status: agent.status.word().to_owned(),
        lane: agent.lane.clone().filter(|lane| LANES.contains(&lane.as_str())),
        model: agent.model.clone(),
        thread_id: agent.thread.map(|thread| thread.to_string()),
        turn_id: agent.turn.map(|turn| turn.to_string()),
        usage: agent.usage.map(show::usage),
        exit_reason: agent.exit_reason.clone(),
        error: agent.error.clone(),
        output_preview: agent.output_preview.clone(),
        cached: agent.is_cached,
        attempt: agent.attempt,
        worktree: agent
            .worktree
            .as_ref()
            .map(|tree| KeptWorktree { path: path(&tree.path), branch: tree.branch.clone() }),
        started_at: agent.started_at.map(show::time),
        completed_at: agent.completed_at.map(show::time),
    }
}

pub(crate) fn approval(approval: &core::RunApproval) -> RunApproval {
    RunApproval {
        approval_id: approval_id(&approval.run),
        run_id: approval.run.clone(),
        script_hash: approval.script_hash.clone(),
        workspace: approval.workspace.as_deref().map(path),
        decision: match approval.decision {
            core::RunDecision::RunOnce => Decision::RunOnce,
            core::RunDecision::AlwaysForScriptAndWorkspace => Decision::AlwaysForScriptAndWorkspace,
            core::RunDecision::Deny => Decision::Deny,
        },
        approved_capabilities: match approval.decision {
            core::RunDecision::Deny => Vec::new(),
            core::RunDecision::RunOnce | core::RunDecision::AlwaysForScriptAndWorkspace => {
                vec![CAPABILITY.to_owned()]
            }
        },
        reason: approval.reason.clone(),
        decided_at: show::time(approval.decided_at),
    }
}

pub(crate) fn summary(run: &core::RunSummary) -> RunSummary {
    RunSummary {
        run_id: run.id.clone(),
        status: status(run.status),
        title: run.title.clone(),
        phase_count: run.phases,
        completed_phase_count: run.completed_phases,
        agent_count: run.agents,
        completed_agent_count: run.completed_agents,
        failed_agent_count: run.failed_agents,
        concurrency_peak: run.concurrency_peak,
        usage: run.usage.map(show::usage),
        elapsed_ms: run.elapsed_ms,
        report_preview: run.report_preview.clone(),
    }
}

/// A run as it is, with the summary of all of its agents.
pub(crate) fn run(run: &core::Run, of: &core::RunSummary) -> Run {
    Run {
        run_id: run.id.clone(),
        thread_id: run.thread.map(|thread| thread.to_string()),
        turn_id: run.turn.map(|turn| turn.to_string()),
        script: script(&run.script, true),
        status: status(run.status),
        reason: run.reason.clone(),
        limits: limits(run.limits.values()),
        phases: run.phases.iter().map(phase).collect(),
        agents: run.agents.iter().map(agent).collect(),
        approval: run.approval.as_ref().map(approval),
        cost_estimate: Some(CostEstimate {
            min_child_agents: run.cost.min_agents,
            max_child_agents: run.cost.max_agents,
            warning: run.cost.warning.clone(),
        }),
        summary: Some(summary(of)),
        error: run.error.clone(),
        report: run.report.clone(),
        workspace: run.workspace.as_deref().map(path),
        prompt: run.prompt.clone(),
        arguments: run.arguments.clone(),
        created_at: show::time(run.created_at),
        updated_at: show::time(run.updated_at),
        started_at: run.started_at.map(show::time),
        completed_at: run.completed_at.map(show::time),
    }
}

/// What happened to a run: the name of the notification, and its params.
pub(crate) fn notification(
    notice: &core::RunNotice,
    thread: Option<String>,
    at: model::Timestamp,
) -> (&'static str, WorkflowNotification) {
    let (name, body) = body(notice);
    let params = WorkflowNotification {
        run_id: notice.run.clone(),
        thread_id: thread,
        turn_id: notice.turn.map(|turn| turn.to_string()),
        body,
        timestamp: show::time(at),
    };
    (name, params)
}

fn body(notice: &core::RunNotice) -> (&'static str, WorkflowBody) {
    let whole = |shown: &core::Run| Box::new(run(shown, &shown.summary()));
    let of_agent = |shown: &core::RunAgent| WorkflowBody::Agent { agent: Box::new(agent(shown)) };
    match &notice.change {
        RunChange::Drafted(run) => {
            (name::WORKFLOW_DRAFTED, WorkflowBody::Drafted { run: whole(run) })
        }
        RunChange::ApprovalRequested(run) => {
            let (approval_id, run) = (approval_id(&notice.run), whole(run));
            (
                name::WORKFLOW_APPROVAL_REQUESTED,
                WorkflowBody::ApprovalRequested { approval_id, run },
            )
        }
        RunChange::Approved(decided) => (
            name::WORKFLOW_APPROVED,
            WorkflowBody::Approval { approval: Box::new(approval(decided)) },
        ),
        RunChange::Denied(decided) => (
            name::WORKFLOW_DENIED,
            WorkflowBody::Approval { approval: Box::new(approval(decided)) },
        ),
        RunChange::Queued(now) => {
            (name::WORKFLOW_QUEUED, WorkflowBody::Status { status: status(*now) })
        }
        RunChange::Started(now) => {
            (name::WORKFLOW_STARTED, WorkflowBody::Status { status: status(*now) })
        }
        RunChange::PhaseStarted(one) => {
            (name::WORKFLOW_PHASE_STARTED, WorkflowBody::Phase { phase: phase(one) })
        }
        RunChange::PhaseCompleted(one) => {
            (name::WORKFLOW_PHASE_COMPLETED, WorkflowBody::Phase { phase: phase(one) })
        }
        RunChange::AgentQueued(agent) => (name::WORKFLOW_AGENT_QUEUED, of_agent(agent)),
        RunChange::AgentStarted(agent) => (name::WORKFLOW_AGENT_STARTED, of_agent(agent)),
        RunChange::AgentCompleted(agent) => (name::WORKFLOW_AGENT_COMPLETED, of_agent(agent)),
        RunChange::AgentFailed(failed, error) => {
            let (agent, error) = (Box::new(agent(failed)), error.clone());
            (name::WORKFLOW_AGENT_FAILED, WorkflowBody::AgentFailed { agent, error })
        }
        RunChange::Output { phase, text, is_truncated } => {
            let (phase_id, output) = (phase.clone(), text.clone());
            let truncated = *is_truncated;
            (name::WORKFLOW_OUTPUT_RECORDED, WorkflowBody::Output { phase_id, output, truncated })
        }
        RunChange::Checkpoint { phase, key, bytes } => {
            let (phase_id, key, byte_count) = (phase.clone(), key.clone(), *bytes);
            (
                name::WORKFLOW_CHECKPOINT_RECORDED,
                WorkflowBody::Checkpoint { phase_id, key, byte_count },
            )
        }
        RunChange::Paused(reason) => {
            (name::WORKFLOW_PAUSED, WorkflowBody::Reason { reason: reason.clone() })
        }
        RunChange::Resumed(now) => {
            (name::WORKFLOW_RESUMED, WorkflowBody::Status { status: status(*now) })
        }
        RunChange::Stopped(reason) => {
            (name::WORKFLOW_STOPPED, WorkflowBody::Reason { reason: reason.clone() })
        }
        RunChange::Completed(done) => {
            (name::WORKFLOW_COMPLETED, WorkflowBody::Completed { summary: Box::new(summary(done)) })
        }
        RunChange::Failed(error, done) => {
            let (error, summary) = (error.clone(), Some(Box::new(summary(done))));
            (name::WORKFLOW_FAILED, WorkflowBody::Failed { error, summary })
        }
    }
}
