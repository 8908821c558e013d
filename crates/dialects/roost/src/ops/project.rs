//! Projects.

use super::project_id;
use crate::{
    context::Cx,
    convert::project,
    errors::Error,
    wire::{
        Empty,
        project::{ProjectCreate, ProjectDelete, ProjectRename, ProjectReorder, ProjectReply},
    },
};

pub(crate) async fn create(cx: Cx, params: ProjectCreate) -> Result<ProjectReply, Error> {
    let created = cx.core.workspace().create_project(params.name, params.cwd.into()).await?;
    Ok(ProjectReply { project: project(&created, Vec::new()) })
}

pub(crate) async fn rename(cx: Cx, params: ProjectRename) -> Result<Empty, Error> {
    cx.core.workspace().rename_project(project_id(params.project_id)?, params.name).await?;
    Ok(Empty {})
}

pub(crate) async fn delete(cx: Cx, params: ProjectDelete) -> Result<Empty, Error> {
    cx.core.workspace().delete_project(project_id(params.project_id)?).await?;
    Ok(Empty {})
}

pub(crate) async fn reorder(cx: Cx, params: ProjectReorder) -> Result<Empty, Error> {
    let ids: Result<Vec<_>, Error> = params.project_ids.into_iter().map(project_id).collect();
    cx.core.workspace().reorder_projects(ids?).await?;
    Ok(Empty {})
}
