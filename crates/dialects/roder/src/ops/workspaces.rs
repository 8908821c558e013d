//! Workspaces: listed, made, changed, forgotten.

use std::path::PathBuf;

use rookery_agent::workspaces as agent;
use rookery_core::NewRoot;
use rookery_wire::rpc::NoParams;

use crate::context::Cx;
use crate::errors::Error;
use crate::wire::workspace::{
    Root, RootParams, Workspace, WorkspaceCreateParams, WorkspaceForgetParams,
    WorkspaceForgetResult, WorkspaceListResult, WorkspaceResult, WorkspaceUpdateParams,
};

pub(crate) async fn list(cx: Cx, _: NoParams) -> Result<WorkspaceListResult, Error> {
    // The directory that this client's server was started in is always among them, before all others.
    let own = cx.core.agents().place_for(None, None, None, &cx.cwd()).await.ok();
    let mut all = cx.core.agents().workspaces();
    all.sort_by_key(|workspace| own.as_ref().is_none_or(|own| own.workspace_id != workspace.id));
    Ok(WorkspaceListResult { workspaces: all.into_iter().map(shown).collect() })
}

pub(crate) async fn create(
    cx: Cx,
    params: WorkspaceCreateParams,
) -> Result<WorkspaceResult, Error> {
    let default = params.default_root_path.map(PathBuf::from);
    let made = cx.core.agents().create_workspace(params.name, roots(params.roots), default).await?;
    Ok(WorkspaceResult { workspace: shown(made) })
}

pub(crate) async fn update(
    cx: Cx,
    params: WorkspaceUpdateParams,
) -> Result<WorkspaceResult, Error> {
    let (id, roots) = (params.workspace_id, params.roots.map(roots));
    let changed =
        cx.core.agents().update_workspace(&id, params.name, roots, params.default_root_id).await?;
    Ok(WorkspaceResult { workspace: shown(changed) })
}

pub(crate) async fn forget(
    cx: Cx,
    params: WorkspaceForgetParams,
) -> Result<WorkspaceForgetResult, Error> {
    let forgotten = cx.core.agents().forget_workspace(&params.workspace_id).await?;
    Ok(WorkspaceForgetResult { workspace_id: params.workspace_id, forgotten })
}

fn roots(roots: Vec<RootParams>) -> Vec<NewRoot> {
    roots.into_iter().map(|root| NewRoot { path: root.path.into(), name: root.name }).collect()
}

fn shown(workspace: agent::Workspace) -> Workspace {
    let root = |root: agent::Root| Root {
        id: root.id,
        path: root.path.to_string_lossy().into_owned(),
        name: root.name,
    };
    Workspace {
        id: workspace.id,
        name: workspace.name,
        roots: workspace.roots.into_iter().map(root).collect(),
        default_root_id: workspace.default_root,
        updated_at: workspace.updated_at,
    }
}
