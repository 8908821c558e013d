//! `roostctl project …`.

use rookery_roost::wire::{
    Int64,
    project::{ProjectCreate, ProjectDelete, ProjectRename, ProjectReorder},
    tab::TabList,
};

use super::{args::Project, link::Link, shown, tabs::directory};
use crate::{failure::Outcome, output};

pub(super) async fn run(link: &mut Link, command: Project) -> Outcome<()> {
    match command {
        Project::List => {
            for project in link.call(TabList {}).await?.projects {
                let (name, cwd) = (shown(&project.name), shown(&project.cwd));
                let tabs = project.tabs.len();
                output::line(format!("project {} — {name}  cwd={cwd}  tabs={tabs}", project.id))?;
            }
            Ok(())
        }
        Project::Create { name, cwd } => {
            let params = ProjectCreate { name, cwd: directory(cwd.as_deref())? };
            let project = link.call(params).await?.project;
            output::line(format!("created project {} — {}", project.id, shown(&project.name)))
        }
        Project::Rename { id, name } => {
            super::just(link, ProjectRename { project_id: Int64(id), name }).await
        }
        Project::Delete { id } => super::just(link, ProjectDelete { project_id: Int64(id) }).await,
        Project::Reorder { order } => {
            let project_ids = order.into_iter().map(Int64).collect();
            super::just(link, ProjectReorder { project_ids }).await
        }
    }
}
