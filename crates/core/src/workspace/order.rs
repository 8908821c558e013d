//! Putting projects and terminals in another order, all or nothing.

use std::collections::HashSet;
use std::hash::Hash;

use rookery_model::{Error, Event, ProjectId, Result, TerminalId};

use crate::rooms::Workspace;
use crate::world::Active;

impl Workspace {
    /// Puts the named terminals of a project first, in this order; the others follow as they were.
    pub async fn reorder_terminals(
        &self,
        project: ProjectId,
        first: Vec<TerminalId>,
    ) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                tx.world.project(project)?;
                for id in &first {
                    let terminal = tx.world.terminal(*id)?;
                    if terminal.project != project {
                        let message = format!("terminal {id} is not in project {project}");
                        return Err(Error::invalid("tab_ids", message));
                    }
                }
                check_unique("tab_ids", &first)?;
                let all: Vec<TerminalId> =
                    tx.world.terminals_of(project).iter().map(|terminal| terminal.id).collect();
                for (position, id) in (0..).zip(rearranged(&first, &all)) {
                    if tx.world.terminals.place(id, project, position) {
                        tx.save_terminal(id);
                    }
                }
                tx.emit(Event::TerminalsReordered { project });
                Ok(())
            })
            .await
    }

    /// Puts the named projects first, in this order; the others follow as they were.
    pub async fn reorder_projects(&self, first: Vec<ProjectId>) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                for id in &first {
                    tx.world.project(*id)?;
                }
                check_unique("project_ids", &first)?;
                let all: Vec<ProjectId> =
                    tx.world.projects.iter().map(|project| project.id).collect();
                for (position, id) in (0..).zip(rearranged(&first, &all)) {
                    let project = tx.world.project_mut(id)?;
                    if project.position != position {
                        project.position = position;
                        tx.save_project(id);
                    }
                }
                tx.world.sort_projects();
                tx.emit(Event::ProjectsReordered);
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
        self.core
            .transact_durably(|tx| {
                tx.world.project(project)?;
                let from = tx.world.terminal(id)?.project;
                let mut order: Vec<TerminalId> =
                    tx.world.terminals_of(project).iter().map(|terminal| terminal.id).collect();
                order.retain(|other| *other != id);
                let index = index.min(order.len());
                order.insert(index, id);
                for (position, id) in (0..).zip(order) {
                    tx.world.terminals.place(id, project, position);
                    tx.save_terminal(id);
                }
                tx.emit(Event::TerminalMoved { id, project, index });
                if from != project {
                    if tx.world.active.terminal == Some(id) {
                        tx.select(Active { project: Some(project), terminal: Some(id) });
                    }
                    tx.left_project(id, from);
                }
                Ok(())
            })
            .await
    }
}

fn check_unique<T: Eq + Hash + Copy + std::fmt::Display>(
    field: &'static str,
    ids: &[T],
) -> Result<()> {
    let mut seen = HashSet::new();
    match ids.iter().find(|id| !seen.insert(**id)) {
        Some(id) => Err(Error::invalid(field, format!("{field} names {id} twice"))),
        None => Ok(()),
    }
}

/// The named ones first, then the others as they were.
fn rearranged<T: PartialEq + Copy>(first: &[T], all: &[T]) -> Vec<T> {
    let rest = all.iter().filter(|id| !first.contains(id));
    first.iter().chain(rest).copied().collect()
}
