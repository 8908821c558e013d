//! Projects.

use super::check_name;
use crate::{
    Cx, Error,
    wire::{
        Empty, ListProjects, Project, ProjectCreate, ProjectDelete, ProjectList, ProjectRename,
        ProjectReorder,
    },
};

pub(crate) async fn list(cx: Cx, _params: ListProjects) -> Result<ProjectList, Error> {
    let projects = cx.core.workspace().projects().iter().map(Project::from).collect();
    Ok(ProjectList { projects })
}

pub(crate) async fn create(cx: Cx, params: ProjectCreate) -> Result<Project, Error> {
    if !params.root.is_absolute() {
        return Err(Error::invalid("root", "root must be an absolute path"));
    }
    check_name("name", &params.name)?;
    let project = cx.core.workspace().create_project(params.name, params.root).await?;
    Ok(Project::from(&project))
}

pub(crate) async fn rename(cx: Cx, params: ProjectRename) -> Result<Empty, Error> {
    check_name("name", &params.name)?;
    cx.core.workspace().rename_project(params.project.0, params.name).await?;
    Ok(Empty {})
}

pub(crate) async fn reorder(cx: Cx, params: ProjectReorder) -> Result<Empty, Error> {
    let ids: Vec<_> = params.projects.iter().map(|project| project.0).collect();
    if ids.iter().enumerate().any(|(index, id)| ids[..index].contains(id)) {
        return Err(Error::invalid("projects", "projects names one of them twice"));
    }
    cx.core.workspace().reorder_projects(ids).await?;
    Ok(Empty {})
}

pub(crate) async fn delete(cx: Cx, params: ProjectDelete) -> Result<Empty, Error> {
    cx.core.workspace().delete_project(params.project.0).await?;
    Ok(Empty {})
}
