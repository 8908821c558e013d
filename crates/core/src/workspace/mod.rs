//! Projects, titles, order and selection: what users arrange.

use std::path::PathBuf;

use rookery_model::{Error, Event, Project, ProjectId, Result, Terminal, TerminalId};
use rookery_store::Change;

use crate::clock;
use crate::core::Core;

/// Longest name or title; longer ones are refused.
const MAX_NAME: usize = 1_000;

impl Core {
    /// All projects, in order.
    pub fn projects(&self) -> Vec<Project> {
        self.inner.world.lock().projects.clone()
    }

    /// Creates a project whose terminals start in `root`.
    pub async fn create_project(&self, name: String, root: PathBuf) -> Result<Project> {
        check_name("name", &name)?;
        if !root.is_absolute() {
            return Err(Error::invalid(
                "root",
                format!("{} is not an absolute path", root.display()),
            ));
        }
        self.transact_durably(|tx| {
            let id = tx.world.next_project;
            let project = Project { id, name, root, created_at: clock::wall() };
            tx.world.next_project = id.next();
            tx.world.projects.push(project.clone());
            let position = tx.world.projects.len() - 1;
            tx.save(Change::ProjectUpserted { project: project.clone(), position });
            tx.emit(Event::ProjectCreated(project.clone()));
            Ok(project)
        })
        .await
    }

    /// Gives a project another name.
    pub async fn rename_project(&self, id: ProjectId, name: String) -> Result<()> {
        check_name("name", &name)?;
        self.transact_durably(|tx| {
            let project = tx.world.project_mut(id)?;
            name.clone_into(&mut project.name);
            let project = project.clone();
            let position = tx.world.projects.iter().position(|other| other.id == id).unwrap_or(0);
            tx.save(Change::ProjectUpserted { project, position });
            tx.emit(Event::ProjectRenamed { id, name });
            Ok(())
        })
        .await
    }

    /// Deletes a project after closing its terminals. The last project stays.
    pub async fn delete_project(&self, id: ProjectId) -> Result<()> {
        let terminals: Vec<TerminalId> = {
            let world = self.inner.world.lock();
            world.project(id)?;
            if world.projects.len() == 1 {
                return Err(Error::conflict("the last project cannot be deleted"));
            }
            world.order.get(&id).cloned().unwrap_or_default()
        };
        for terminal in terminals {
            // Another client may have closed it meanwhile, which is what we want.
            let _ = self.close(terminal).await;
        }
        self.transact_durably(|tx| {
            tx.world.project(id)?;
            if tx.world.order.get(&id).is_some_and(|order| !order.is_empty()) {
                return Err(Error::conflict(format!(
                    "a terminal was opened in project {id} meanwhile"
                )));
            }
            tx.world.projects.retain(|project| project.id != id);
            tx.world.order.remove(&id);
            tx.save(Change::ProjectDeleted(id));
            tx.emit(Event::ProjectDeleted { id });
            Ok(())
        })
        .await
    }

    /// All terminals, in workspace order.
    pub fn terminals(&self) -> Vec<Terminal> {
        self.inner.world.lock().ordered_terminals()
    }

    /// One terminal as the world knows it.
    pub fn describe(&self, id: TerminalId) -> Result<Terminal> {
        self.inner.world.lock().terminal(id).cloned()
    }

    /// The active terminal.
    pub fn active(&self) -> Option<TerminalId> {
        self.inner.world.lock().active
    }

    /// Gives a terminal the user's own title, or takes it back.
    pub async fn set_user_title(&self, id: TerminalId, title: Option<String>) -> Result<()> {
        if let Some(title) = &title {
            check_name("title", title)?;
        }
        self.transact_durably(|tx| {
            let terminal = tx.world.terminal_mut(id)?;
            let before = terminal.title().to_owned();
            terminal.user_title = title;
            let after = terminal.title().to_owned();
            tx.save_terminal(id);
            if before != after {
                tx.emit(Event::TerminalTitleChanged { id, title: after });
            }
            Ok(())
        })
        .await
    }

    /// Makes a terminal the active one.
    pub async fn activate(&self, id: TerminalId) -> Result<()> {
        self.transact_durably(|tx| {
            tx.world.terminal(id)?;
            if tx.world.active != Some(id) {
                tx.world.active = Some(id);
                tx.save(Change::ActiveSet(Some(id)));
                tx.emit(Event::ActiveTerminalChanged { id: Some(id) });
            }
            Ok(())
        })
        .await
    }

    /// Moves a terminal to a place in a project; a place past the end is the end.
    pub async fn move_terminal(
        &self,
        id: TerminalId,
        project: ProjectId,
        index: usize,
    ) -> Result<()> {
        self.transact_durably(|tx| {
            tx.world.project(project)?;
            let from = tx.world.terminal(id)?.project;
            if let Some(order) = tx.world.order.get_mut(&from) {
                order.retain(|other| *other != id);
            }
            let order = tx.world.order.entry(project).or_default();
            let index = index.min(order.len());
            order.insert(index, id);
            tx.world.terminal_mut(id)?.project = project;
            tx.save_terminal(id);
            tx.save_order(project);
            if from != project {
                tx.save_order(from);
            }
            tx.emit(Event::TerminalMoved { id, project, index });
            Ok(())
        })
        .await
    }
}

pub(crate) fn check_name(field: &'static str, name: &str) -> Result<()> {
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(Error::invalid(
            field,
            format!("{field} must have between 1 and {MAX_NAME} bytes"),
        ));
    }
    if name.chars().any(char::is_control) {
        return Err(Error::invalid(field, format!("{field} must not contain control characters")));
    }
    Ok(())
}
