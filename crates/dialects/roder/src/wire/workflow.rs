//! Dynamic workflows: scripts, runs, and what happens to them.

use super::thread::Usage;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Declares types of this wire: camelCase, read and written, with their schemas.
macro_rules! wire {
    ($($(#[$doc:meta])* pub struct $Name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
            #[serde(rename_all = "camelCase")]
            pub struct $Name {
                $($(#[$field_doc])* pub $field: $type,)*
            }
        )*
    };
}

/// Where a script comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ScriptSourceKind {
    Generated,
    BuiltIn,
    User,
    Workspace,
    Extension,
}

/// What is decided about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    RunOnce,
    AlwaysForScriptAndWorkspace,
    Deny,
}

/// For whom a script is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SaveScope {
    User,
    Workspace,
}

wire! {
    /// Where a script comes from, with its place.
    pub struct ScriptSource {
        kind: ScriptSourceKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    }

    /// Limits of a run.
    pub struct Limits {
        max_concurrent_agents: u32,
        max_agents_per_run: u32,
        default_agent_timeout_seconds: u64,
        default_run_timeout_seconds: u64,
        default_checkpoint_bytes: u64,
        max_report_bytes: u64,
    }

    /// A script that can be run.
    pub struct Script {
        script_id: String,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        source: ScriptSource,
        /// SHA-256 of its text.
        hash: String,
        host_api_version: u32,
        #[serde(default)]
        arguments_schema: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<String>,
        limits: Limits,
        created_at: String,
        updated_at: String,
    }

    /// A part of a run.
    pub struct Phase {
        phase_id: String,
        name: String,
        status: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        queued_agents: u32,
        completed_agents: u32,
        failed_agents: u32,
        started_at: Option<String>,
        completed_at: Option<String>,
    }

    /// An agent of a run.
    pub struct RunAgent {
        agent_id: String,
        phase_id: String,
        description: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        status: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lane: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_preview: Option<String>,
        /// Whether its answer was kept from before.
        cached: bool,
        /// How often it was started.
        attempt: u32,
        /// The worktree that it had to itself, if its work is still there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree: Option<KeptWorktree>,
        started_at: Option<String>,
        completed_at: Option<String>,
    }

    /// A worktree with changes in it.
    pub struct KeptWorktree {
        path: String,
        /// None if its head is detached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
    }

    /// A decision about a run.
    pub struct RunApproval {
        approval_id: String,
        run_id: String,
        script_hash: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        decision: Decision,
        approved_capabilities: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        decided_at: String,
    }

    /// What a run may cost.
    pub struct CostEstimate {
        min_child_agents: u32,
        max_child_agents: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        warning: Option<String>,
    }

    /// A run in short.
    pub struct RunSummary {
        run_id: String,
        status: String,
        title: String,
        phase_count: u32,
        completed_phase_count: u32,
        agent_count: u32,
        completed_agent_count: u32,
        failed_agent_count: u32,
        /// The most agents that worked at the same time.
        concurrency_peak: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        elapsed_ms: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report_preview: Option<String>,
    }

    /// A run.
    pub struct Run {
        run_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
        script: Script,
        status: String,
        /// Why it is paused, stopped or denied.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        limits: Limits,
        phases: Vec<Phase>,
        agents: Vec<RunAgent>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval: Option<RunApproval>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_estimate: Option<CostEstimate>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<RunSummary>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        prompt: String,
        #[serde(default)]
        arguments: Value,
        created_at: String,
        updated_at: String,
        started_at: Option<String>,
        completed_at: Option<String>,
    }

    /// Params of `workflows/plan`.
    pub struct WorkflowsPlanParams {
        /// What is asked for.
        prompt: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        #[serde(default)]
        arguments: Value,
        /// The text of the script.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        script: Option<String>,
        /// The name of a saved script.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    }

    /// Result of `workflows/plan`.
    pub struct WorkflowsPlanResult {
        run: Run,
        approval_required: bool,
    }

    /// Params of `workflows/approve`.
    pub struct WorkflowsApproveParams {
        run_id: String,
        decision: Decision,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }

    /// Result of `workflows/approve`.
    pub struct WorkflowsApproveResult {
        run: Run,
        approval: RunApproval,
    }

    /// Params of `workflows/list`.
    #[derive(Default)]
    pub struct WorkflowsListParams {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread_id: Option<String>,
        /// Whether runs that are over are listed too.
        #[serde(default, deserialize_with = "super::or_default")]
        include_terminal: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }

    /// Result of `workflows/list`.
    pub struct WorkflowsListResult {
        runs: Vec<RunSummary>,
    }

    /// Params of `workflows/get`.
    pub struct WorkflowsGetParams {
        run_id: String,
        #[serde(default, deserialize_with = "super::or_default")]
        include_script_body: bool,
        #[serde(default, deserialize_with = "super::or_default")]
        include_agents: bool,
    }

    /// Result of methods that give a run.
    pub struct WorkflowsRunResult {
        run: Run,
    }

    /// Params of `workflows/pause`.
    pub struct WorkflowsPauseParams {
        run_id: String,
        /// Whether agents at work are called off; they begin anew when the run goes on.
        #[serde(default, deserialize_with = "super::or_default")]
        cancel_running_agents: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }

    /// Params of `workflows/resume`.
    pub struct WorkflowsResumeParams {
        run_id: String,
    }

    /// Params of `workflows/stop`.
    pub struct WorkflowsStopParams {
        run_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }

    /// Params of `workflows/restartAgent`.
    pub struct WorkflowsRestartAgentParams {
        run_id: String,
        agent_id: String,
    }

    /// Result of `workflows/restartAgent`.
    pub struct WorkflowsRestartAgentResult {
        run: Run,
        agent: RunAgent,
    }

    /// Params of `workflows/save`.
    pub struct WorkflowsSaveParams {
        run_id: String,
        /// The script's own name.
        name: String,
        scope: SaveScope,
        #[serde(default, deserialize_with = "super::or_default")]
        overwrite: bool,
    }

    /// Result of methods that give a script.
    pub struct WorkflowsScriptResult {
        script: Script,
    }

    /// Params of `workflows/scripts/list`.
    #[derive(Default)]
    pub struct WorkflowsScriptsListParams {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        #[serde(default, deserialize_with = "super::or_default")]
        include_user: bool,
        #[serde(default, deserialize_with = "super::or_default")]
        include_builtin: bool,
    }

    /// A file that is no script.
    pub struct ScriptDiagnostic {
        path: String,
        message: String,
    }

    /// Result of `workflows/scripts/list`.
    pub struct WorkflowsScriptsListResult {
        scripts: Vec<Script>,
        diagnostics: Vec<ScriptDiagnostic>,
    }

    /// Params of `workflows/scripts/read`.
    #[derive(Default)]
    pub struct WorkflowsScriptsReadParams {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        script_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<ScriptSourceKind>,
        #[serde(default, deserialize_with = "super::or_default")]
        include_body: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
    }

    /// Params of `workflows/scripts/delete`.
    pub struct WorkflowsScriptsDeleteParams {
        script_id: String,
        /// Whether its file is deleted.
        #[serde(default, deserialize_with = "super::or_default")]
        delete_file: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
    }

    /// Result of `workflows/scripts/delete`.
    pub struct WorkflowsScriptsDeleteResult {
        script_id: String,
        /// Whether the file went.
        deleted: bool,
    }
}

/// What happened to a run: params of all notifications of this family.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowNotification {
    pub run_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The rest.
    #[serde(flatten)]
    pub body: WorkflowBody,
    pub timestamp: String,
}

/// What a notification says, by its method.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum WorkflowBody {
    Drafted { run: Box<Run> },
    ApprovalRequested { approval_id: String, run: Box<Run> },
    Approval { approval: Box<RunApproval> },
    Status { status: String },
    Phase { phase: Phase },
    Agent { agent: Box<RunAgent> },
    AgentFailed { agent: Box<RunAgent>, error: String },
    Output { phase_id: Option<String>, output: String, truncated: bool },
    Checkpoint { phase_id: Option<String>, key: String, byte_count: u64 },
    Reason { reason: Option<String> },
    Completed { summary: Box<RunSummary> },
    Failed { error: String, summary: Option<Box<RunSummary>> },
}
