//! The workspace as its users see it: projects with their living terminals, and titles.

use rookery_model::{Event, Project, ProjectId, Result, Terminal, TerminalId};
use rookery_store::{Change, ValueKey};

use crate::rooms::Workspace;
use crate::world::Tx;
use crate::world::{Active, no_terminal};

/// A project and the living terminals in it, as they are shown.
#[derive(Clone, Debug)]
pub struct Tabs {
    pub project: Project,
    /// Its terminals, left to right.
    pub tabs: Vec<Terminal>,
}

/// Everything a user sees of the world, of one moment.
#[derive(Clone, Debug)]
pub struct WorkspaceTree {
    /// Projects, top to bottom.
    pub projects: Vec<Tabs>,
    /// What is selected.
    pub active: Active,
}

impl Workspace {
    /// What a user sees now.
    pub fn tree(&self) -> WorkspaceTree {
        let world = self.core.look();
        let tabs = |project: &Project| {
            let tabs = world.terminals_of(project.id).into_iter();
            tabs.filter(|tab| tab.is_alive()).cloned().collect()
        };
        let projects = world.projects.iter();
        let projects =
            projects.map(|project| Tabs { project: project.clone(), tabs: tabs(project) });
        WorkspaceTree { projects: projects.collect(), active: world.active }
    }

    /// A living terminal.
    pub fn tab(&self, id: TerminalId) -> Result<Terminal> {
        let world = self.core.look();
        let tab = world.terminals.get(&id).filter(|tab| tab.is_alive()).cloned();
        tab.ok_or_else(|| no_terminal(id))
    }
}

impl Tx<'_> {
    /// Takes a terminal out of the world, says so, and notes that its child is still to be ended.
    pub(crate) fn take_out(&mut self, id: TerminalId) -> Result<Terminal> {
        let terminal = self.world.terminals.remove(&id).ok_or_else(|| no_terminal(id))?;
        self.save(Change::TerminalDeleted(id));
        self.save(Change::KeptSet { what: ValueKey::Closing(id), value: Some(String::new()) });
        self.observe_closing(&terminal);
        self.emit(Event::TerminalClosed { id, was_alive: terminal.is_alive() });
        Ok(terminal)
    }

    /// Takes a terminal out of the world with all that follows: a project that has lost its last
    /// terminal goes as well, and the selection moves on.
    pub(crate) fn close_terminal(&mut self, id: TerminalId) -> Result<()> {
        let terminal = self.take_out(id)?;
        self.left_project(id, terminal.project);
        Ok(())
    }

    /// A terminal is not in a project any more.
    pub(crate) fn left_project(&mut self, id: TerminalId, project: ProjectId) {
        if self.world.terminals_of(project).is_empty() && self.world.project(project).is_ok() {
            if self.world.active == (Active { project: Some(project), terminal: Some(id) }) {
                // Said once, when the project is gone too.
                self.world.active.terminal = None;
            }
            self.drop_project(project);
        } else {
            self.deselect(id, project);
        }
    }
}
