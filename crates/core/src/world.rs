//! The world: plain data, changed only in a transaction.

use std::collections::BTreeMap;

use rookery_model::{Error, EventSeq, Project, ProjectId, Result, Terminal, TerminalId};

/// Everything the daemon knows, except bytes and screens.
pub(crate) struct World {
    /// Projects in the order users gave them.
    pub(crate) projects: Vec<Project>,
    /// Terminals by id.
    pub(crate) terminals: BTreeMap<TerminalId, Terminal>,
    /// Order of terminals within each project.
    pub(crate) order: BTreeMap<ProjectId, Vec<TerminalId>>,
    pub(crate) active: Option<TerminalId>,
    pub(crate) next_project: ProjectId,
    pub(crate) next_terminal: TerminalId,
    pub(crate) next_event: EventSeq,
}

impl World {
    pub(crate) fn project(&self, id: ProjectId) -> Result<&Project> {
        self.projects
            .iter()
            .find(|project| project.id == id)
            .ok_or_else(|| Error::not_found(format!("no project {id}")))
    }

    pub(crate) fn project_mut(&mut self, id: ProjectId) -> Result<&mut Project> {
        self.projects
            .iter_mut()
            .find(|project| project.id == id)
            .ok_or_else(|| Error::not_found(format!("no project {id}")))
    }

    pub(crate) fn terminal(&self, id: TerminalId) -> Result<&Terminal> {
        self.terminals.get(&id).ok_or_else(|| no_terminal(id))
    }

    pub(crate) fn terminal_mut(&mut self, id: TerminalId) -> Result<&mut Terminal> {
        self.terminals.get_mut(&id).ok_or_else(|| no_terminal(id))
    }

    /// Place of a terminal in its project.
    pub(crate) fn position(&self, id: TerminalId) -> usize {
        let project = self.terminals.get(&id).map(|terminal| terminal.project);
        project
            .and_then(|project| self.order.get(&project))
            .and_then(|order| order.iter().position(|other| *other == id))
            .unwrap_or(0)
    }

    /// Terminals in workspace order: by project, then by place.
    pub(crate) fn ordered_terminals(&self) -> Vec<Terminal> {
        self.projects
            .iter()
            .filter_map(|project| self.order.get(&project.id))
            .flatten()
            .filter_map(|id| self.terminals.get(id).cloned())
            .collect()
    }

    pub(crate) fn insert_terminal(&mut self, terminal: Terminal) {
        self.order.entry(terminal.project).or_default().push(terminal.id);
        self.terminals.insert(terminal.id, terminal);
    }

    pub(crate) fn remove_terminal(&mut self, id: TerminalId) -> Option<Terminal> {
        let terminal = self.terminals.remove(&id)?;
        if let Some(order) = self.order.get_mut(&terminal.project) {
            order.retain(|other| *other != id);
        }
        Some(terminal)
    }
}

pub(crate) fn no_terminal(id: TerminalId) -> Error {
    Error::not_found(format!("no terminal {id}"))
}
