//! Projects: made, renamed, deleted with everything in them.

use std::path::PathBuf;

use rookery_model::{Event, Project, ProjectId, Result, TerminalId};
use rookery_store::Change;

use super::check_name;
use crate::clock;
use crate::rooms::Workspace;
use crate::secrets;
use crate::world::Tx;

impl Workspace {
    /// All projects, in order.
    pub fn projects(&self) -> Vec<Project> {
        self.core.look().projects.to_vec()
    }

    /// Creates a project whose terminals start in `root`. Without a name it gets a number.
    pub async fn create_project(&self, mut name: String, root: PathBuf) -> Result<Project> {
        check_name("name", &name)?;
        secrets::hide(&mut name);
        self.core
            .transact_durably(|tx| {
                let id = tx.world.mint_project();
                let name = if name.is_empty() { tx.untitled() } else { name };
                Ok(tx.create_project(id, name, root))
            })
            .await
    }

    /// Gives a project another name.
    pub async fn rename_project(&self, id: ProjectId, mut name: String) -> Result<()> {
        check_name("name", &name)?;
        secrets::hide(&mut name);
        self.core
            .transact_durably(|tx| {
                name.clone_into(&mut tx.world.project_mut(id)?.name);
                tx.save_project(id);
                tx.emit(Event::ProjectRenamed { id, name });
                Ok(())
            })
            .await
    }

    /// Deletes a project and closes all its terminals. When this returns they are gone from the
    /// world; their children are being ended.
    pub async fn delete_project(&self, id: ProjectId) -> Result<()> {
        let closed: Vec<TerminalId> = self
            .core
            .transact_durably(|tx| {
                tx.world.project(id)?;
                let terminals: Vec<TerminalId> =
                    tx.world.terminals_of(id).into_iter().map(|terminal| terminal.id).collect();
                for terminal in &terminals {
                    tx.take_out(*terminal)?;
                }
                tx.drop_project(id);
                Ok(terminals)
            })
            .await?;
        for terminal in closed {
            self.core.terminals().end_in_background(terminal);
        }
        Ok(())
    }
}

impl Tx<'_> {
    pub(crate) fn create_project(&mut self, id: ProjectId, name: String, root: PathBuf) -> Project {
        let position = self.world.next_project_position();
        let created_at = clock::wall();
        let project = Project { id, name, root, position, selected: None, created_at };
        self.world.projects.push(project.clone());
        self.world.sort_projects();
        self.save(Change::ProjectUpserted(project.clone()));
        self.emit(Event::ProjectCreated(project.clone()));
        project
    }

    /// A project is gone; nothing in it is left.
    pub(crate) fn drop_project(&mut self, id: ProjectId) {
        self.world.projects.retain(|project| project.id != id);
        self.save(Change::ProjectDeleted(id));
        self.emit(Event::ProjectDeleted { id });
        self.deselect_project(id);
    }

    /// `Untitled <n>` with the first free number from the count of projects on.
    fn untitled(&self) -> String {
        let projects = &self.world.projects;
        (projects.len() + 1..)
            .map(|number| format!("Untitled {number}"))
            .find(|name| projects.iter().all(|project| project.name != *name))
            .unwrap_or_default()
    }
}
