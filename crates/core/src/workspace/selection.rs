//! Which project and terminal are selected, and where the selection goes when its terminal leaves.

use rookery_model::{Event, ProjectId, Result, TerminalId};
use rookery_store::Change;

use crate::clock;
use crate::rooms::Workspace;
use crate::world::Active;
use crate::world::Tx;

impl Workspace {
    /// What is selected.
    pub fn selection(&self) -> Active {
        self.core.look().active
    }

    /// The selected terminal.
    pub fn active(&self) -> Option<TerminalId> {
        self.selection().terminal
    }

    /// Selects a terminal and its project, which also means that the user has seen what it had to
    /// say. Returns what was selected before.
    pub async fn activate(&self, id: TerminalId) -> Result<Active> {
        let focused = self.core.look().focused();
        let before = self.core.transact_durably(|tx| {
            let project = tx.world.terminal(id)?.project;
            let before = tx.world.active;
            tx.select(Active { project: Some(project), terminal: Some(id) });
            tx.world.terminal_mut(id)?.last_active = clock::wall();
            tx.lower_attention(id)?;
            tx.save_terminal(id);
            tx.show_on_desk()?;
            Ok(before)
        });
        let before = before.await?;
        self.core.seats().put_questions_away();
        if before.terminal != Some(id) {
            self.core.seats().leave_terminal(before.terminal);
        }
        self.core.seats().fit_shown().await;
        self.core.seats().send_focus_changes(&focused);
        Ok(before)
    }
}

impl Tx<'_> {
    /// Selects, remembers it in the project, and says so.
    pub(crate) fn select(&mut self, active: Active) {
        let before = std::mem::replace(&mut self.world.active, active);
        self.world.tab_history.left(before.terminal, active.terminal);
        self.save(Change::ActiveSet { project: active.project, terminal: active.terminal });
        if let Some(project) = active.project
            && let Ok(found) = self.world.project_mut(project)
            && active.terminal.is_some()
            && found.selected != active.terminal
        {
            found.selected = active.terminal;
            self.save_project(project);
        }
        self.emit(Event::ActiveChanged { project: active.project, terminal: active.terminal });
    }

    /// A terminal of `project` is no tab any more: whatever pointed at it points elsewhere.
    pub(crate) fn deselect(&mut self, id: TerminalId, project: ProjectId) {
        // Of a pane it is the one that gets its room.
        let first = self.world.heir_of(id, project).or_else(|| self.world.first_tab(project));
        if let Ok(found) = self.world.project_mut(project)
            && found.selected == Some(id)
        {
            found.selected = first;
            self.save_project(project);
        }
        if self.world.active == (Active { project: Some(project), terminal: Some(id) }) {
            let next = self.fallback(project);
            self.select(next);
        }
    }

    /// A project is gone: whatever pointed at it points elsewhere.
    pub(crate) fn deselect_project(&mut self, project: ProjectId) {
        if self.world.active.project == Some(project) {
            let next = self.fallback(project);
            self.select(next);
        }
    }

    /// What to select next: another terminal of the project if it is still there, else the first
    /// project's.
    fn fallback(&self, project: ProjectId) -> Active {
        let projects = &self.world.projects;
        let still = projects.iter().find(|other| other.id == project).or(projects.first());
        Active {
            project: still.map(|project| project.id),
            terminal: still.and_then(|project| self.world.remembered_tab(project)),
        }
    }
}
