//! Kinds of child agents. What they are told is for their model alone.

use std::path::PathBuf;

use rookery_agent::definitions::{AgentDefinition, Permission, is_for_children};
use rookery_agent::tools::TOOLS;

use crate::context::Cx;
use crate::errors::Error;
use crate::ids;
use crate::wire::discovery::{
    AgentDiagnostic, AgentSpec, AgentsListParams, AgentsListResult, PermissionMode,
};
use crate::wire::dual::Dual;

pub(crate) async fn list(cx: Cx, params: AgentsListParams) -> Result<AgentsListResult, Error> {
    let workspace = workspace(&cx, params)?;
    let (agents, diagnostics) = cx.core.children().definitions(workspace).await;
    let diagnostic = |one: rookery_agent::definitions::Diagnostic| AgentDiagnostic {
        path: one.path.to_string_lossy().into_owned(),
        message: one.message,
    };
    Ok(AgentsListResult {
        agents: agents.into_iter().map(|agent| Dual(spec(agent))).collect(),
        diagnostics: diagnostics.into_iter().map(diagnostic).collect(),
    })
}

/// The directory whose definitions are meant: that which is named, that of a thread, or the usual one.
fn workspace(cx: &Cx, params: AgentsListParams) -> Result<PathBuf, Error> {
    if let Some(named) = params.workspace {
        let named = PathBuf::from(named);
        return match named.is_absolute() {
            true => Ok(named),
            false => Err(Error::invalid("workspace must be an absolute path")),
        };
    }
    let Some(text) = params.thread_id else { return Ok(cx.cwd()) };
    let seen = cx.core.threads().get(ids::thread(&text)?);
    seen.map(|seen| seen.thread.root).ok_or_else(|| ids::thread_not_found(&text))
}

fn spec(agent: AgentDefinition) -> AgentSpec {
    let every = || {
        let own = TOOLS.iter().filter(|tool| !tool.needs_assignment && is_for_children(tool.name));
        own.map(|tool| tool.name.to_owned()).collect()
    };
    AgentSpec {
        agent_type: agent.name,
        description: agent.description,
        tools: agent.tools.unwrap_or_else(every),
        model: agent.model,
        permission_mode: match agent.permission {
            Permission::ReadOnly => PermissionMode::ReadOnly,
            Permission::Default => PermissionMode::Default,
            Permission::AutoEdit => PermissionMode::AutoEdit,
        },
        max_turns: agent.max_turns,
        max_result_chars: agent.max_result_chars,
    }
}
