//! Dynamic workflows: planned, approved, steered, and their scripts.

use std::path::PathBuf;

use rookery_core::{NewRun, Run, RunDecision, ScriptKind, ScriptQuery};

use crate::context::Cx;
use crate::errors::Error;
use crate::wire::workflow::{
    Decision, SaveScope, ScriptDiagnostic, ScriptSourceKind, WorkflowsApproveParams,
    WorkflowsApproveResult, WorkflowsGetParams, WorkflowsListParams, WorkflowsListResult,
    WorkflowsPauseParams, WorkflowsPlanParams, WorkflowsPlanResult, WorkflowsRestartAgentParams,
    WorkflowsRestartAgentResult, WorkflowsResumeParams, WorkflowsRunResult, WorkflowsSaveParams,
    WorkflowsScriptResult, WorkflowsScriptsDeleteParams, WorkflowsScriptsDeleteResult,
    WorkflowsScriptsListParams, WorkflowsScriptsListResult, WorkflowsScriptsReadParams,
    WorkflowsStopParams,
};
use crate::{ids, runs};

/// Who decides, as the log has it.
const BY: &str = "roder";

fn run_id(text: &str) -> Result<&str, Error> {
    ids::file_name("runId", text)
}

fn script_id(text: &str) -> Result<&str, Error> {
    ids::file_name("scriptId", text)
}

/// A run without what is long, as every reply has it that is not asked for more.
fn shown(run: &Run) -> crate::wire::workflow::Run {
    let summary = run.summary();
    let mut run = runs::run(run, &summary);
    run.script.body = None;
    run.agents = Vec::new();
    run
}

pub(crate) async fn plan(
    cx: Cx,
    params: WorkflowsPlanParams,
) -> Result<WorkflowsPlanResult, Error> {
    cx.client.check_not_drained()?;
    let grant = cx.grant().await?;
    let workspace = params.workspace.map(PathBuf::from);
    let thread = params.thread_id.as_deref().map(ids::thread).transpose()?;
    let new = NewRun {
        prompt: params.prompt,
        thread,
        turn: params.turn_id.as_deref().map(ids::turn).transpose()?,
        // Without a thread the client works where it was started.
        workspace: workspace.or_else(|| thread.is_none().then(|| cx.cwd())),
        arguments: params.arguments,
        script: params.script,
        name: params.name,
        client: grant.client,
        keys: grant.keys,
        ..NewRun::default()
    };
    let planned = cx.core.workflows().plan(new).await;
    cx.flush().await;
    let planned = planned?;
    Ok(WorkflowsPlanResult { run: shown(&planned.run), approval_required: planned.needs_approval })
}

pub(crate) async fn approve(
    cx: Cx,
    params: WorkflowsApproveParams,
) -> Result<WorkflowsApproveResult, Error> {
    let decision = match params.decision {
        Decision::RunOnce => RunDecision::RunOnce,
        Decision::AlwaysForScriptAndWorkspace => RunDecision::AlwaysForScriptAndWorkspace,
        Decision::Deny => RunDecision::Deny,
    };
    let run = run_id(&params.run_id)?;
    let decided = cx.core.workflows().approve(run, decision, params.reason, BY).await;
    cx.flush().await;
    let (run, approval) = decided?;
    Ok(WorkflowsApproveResult { run: shown(&run), approval: runs::approval(&approval) })
}

pub(crate) async fn list(
    cx: Cx,
    params: WorkflowsListParams,
) -> Result<WorkflowsListResult, Error> {
    // A thread that is not known has none.
    let thread = match params.thread_id.as_deref().map(str::parse) {
        None => None,
        Some(Ok(thread)) => Some(thread),
        Some(Err(_)) => return Ok(WorkflowsListResult { runs: Vec::new() }),
    };
    let limit = params.limit.map(|limit| limit as usize);
    let runs = cx.core.workflows().list(thread, params.include_terminal, limit).await;
    Ok(WorkflowsListResult { runs: runs.iter().map(runs::summary).collect() })
}

pub(crate) async fn get(cx: Cx, params: WorkflowsGetParams) -> Result<WorkflowsRunResult, Error> {
    let run = cx.core.workflows().get(run_id(&params.run_id)?, true, true).await?;
    let mut shown = runs::run(&run, &run.summary());
    if !params.include_script_body {
        shown.script.body = None;
    }
    if !params.include_agents {
        shown.agents = Vec::new();
    }
    Ok(WorkflowsRunResult { run: shown })
}

pub(crate) async fn pause(
    cx: Cx,
    params: WorkflowsPauseParams,
) -> Result<WorkflowsRunResult, Error> {
    let workflows = cx.core.workflows();
    let run = run_id(&params.run_id)?;
    let paused = workflows.pause(run, params.cancel_running_agents, params.reason).await;
    cx.flush().await;
    Ok(WorkflowsRunResult { run: shown(&paused?) })
}

pub(crate) async fn resume(
    cx: Cx,
    params: WorkflowsResumeParams,
) -> Result<WorkflowsRunResult, Error> {
    let grant = cx.grant().await?;
    let resumed = cx.core.workflows().resume(run_id(&params.run_id)?, grant).await;
    cx.flush().await;
    Ok(WorkflowsRunResult { run: shown(&resumed?) })
}

pub(crate) async fn stop(cx: Cx, params: WorkflowsStopParams) -> Result<WorkflowsRunResult, Error> {
    let stopped = cx.core.workflows().stop(run_id(&params.run_id)?, params.reason).await;
    cx.flush().await;
    Ok(WorkflowsRunResult { run: shown(&stopped?) })
}

pub(crate) async fn restart_agent(
    cx: Cx,
    params: WorkflowsRestartAgentParams,
) -> Result<WorkflowsRestartAgentResult, Error> {
    let run = run_id(&params.run_id)?;
    let grant = cx.grant().await?;
    let restarted = cx.core.workflows().restart_agent(run, &params.agent_id, grant).await;
    cx.flush().await;
    let (run, agent) = restarted?;
    Ok(WorkflowsRestartAgentResult { run: shown(&run), agent: runs::agent(&agent) })
}

pub(crate) async fn save(
    cx: Cx,
    params: WorkflowsSaveParams,
) -> Result<WorkflowsScriptResult, Error> {
    let kind = match params.scope {
        SaveScope::User => ScriptKind::User,
        SaveScope::Workspace => ScriptKind::Workspace,
    };
    let workflows = cx.core.workflows();
    let (run, name) = (run_id(&params.run_id)?, ids::file_name("name", &params.name)?);
    let script = workflows.save(run, name, kind, params.overwrite).await?;
    Ok(WorkflowsScriptResult { script: runs::script(&script, false) })
}

pub(crate) async fn list_scripts(
    cx: Cx,
    params: WorkflowsScriptsListParams,
) -> Result<WorkflowsScriptsListResult, Error> {
    let query = ScriptQuery {
        workspace: Some(params.workspace.map_or_else(|| cx.cwd(), PathBuf::from)),
        with_user: params.include_user,
        with_built_in: params.include_builtin,
    };
    let found = cx.core.workflows().scripts(query).await?;
    let problems = found.problems.into_iter().map(|problem| ScriptDiagnostic {
        path: problem.path.to_string_lossy().into_owned(),
        message: problem.message,
    });
    Ok(WorkflowsScriptsListResult {
        scripts: found.scripts.iter().map(|script| runs::script(script, false)).collect(),
        diagnostics: problems.collect(),
    })
}

pub(crate) async fn read_script(
    cx: Cx,
    params: WorkflowsScriptsReadParams,
) -> Result<WorkflowsScriptResult, Error> {
    let kind = match params.source {
        None => None,
        Some(ScriptSourceKind::Generated) => Some(ScriptKind::Generated),
        Some(ScriptSourceKind::BuiltIn) => Some(ScriptKind::BuiltIn),
        Some(ScriptSourceKind::User) => Some(ScriptKind::User),
        Some(ScriptSourceKind::Workspace) => Some(ScriptKind::Workspace),
        Some(ScriptSourceKind::Extension) => {
            return Err(Error::runtime("no workflow comes from an extension"));
        }
    };
    let id = params.script_id.as_deref().map(script_id).transpose()?;
    let name = params.name.as_deref();
    let workspace = Some(params.workspace.map_or_else(|| cx.cwd(), PathBuf::from));
    let script = cx.core.workflows().script(id, name, kind, workspace).await?;
    Ok(WorkflowsScriptResult { script: runs::script(&script, params.include_body) })
}

pub(crate) async fn delete_script(
    cx: Cx,
    params: WorkflowsScriptsDeleteParams,
) -> Result<WorkflowsScriptsDeleteResult, Error> {
    let workspace = Some(params.workspace.map_or_else(|| cx.cwd(), PathBuf::from));
    let workflows = cx.core.workflows();
    let id = script_id(&params.script_id)?;
    let deleted = workflows.delete_script(id, params.delete_file, workspace).await?;
    Ok(WorkflowsScriptsDeleteResult { script_id: params.script_id, deleted })
}
