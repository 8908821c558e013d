//! The world: plain data, changed only in a transaction.
//!
//! Rooms reach it in four ways. [`look`] gives it as it stands, [`hold`] keeps it still, [`transact`] changes a
//! copy of it and puts that in its place if all went well, and [`adjust`] does the same for what is in memory
//! only: it is given [`memory::InMemory`], through which nothing that is stored can be changed. What has to be
//! stored before or beside that goes through [`promise`].
//!
//! [`look`]: crate::core::Core::look
//! [`hold`]: crate::core::Core::hold
//! [`transact`]: crate::core::Core::transact
//! [`adjust`]: crate::core::Core::adjust

mod load;
mod memory;
mod promise;
mod records;
mod shared;
mod shown;
mod table;
mod tabs;
#[cfg(test)]
pub(crate) mod tests;
mod transact;

use std::collections::HashMap;
use std::sync::Arc;

use rookery_model::{
    Accepted, Checkpoint, CheckpointId, Error, EventSeq, Handoff, HandoffId, Mode, ParentTurn,
    Project, ProjectId, Request, RequestId, Result, Terminal, TerminalId, ThreadId, TimelineItem,
    ViewerId,
};

use imbl::{OrdMap, OrdSet};

use crate::queue::Items;
use crate::requests::{Parked, Pending};
use crate::reviews::ReviewTable;
use crate::seats::{TabHistory, Viewer};
use crate::tasks::TaskTable;
use crate::threads::{ClientModes, ThreadState, ThreadTable};
use crate::workspace::Layout;

pub(crate) use load::StoredValues;
pub(crate) use records::{Handled, MAX_HANDLED, MAX_KEPT, draw};
pub(crate) use shared::SharedWorld;
pub(crate) use table::{Shared, Table};
pub(crate) use tabs::Tabs;
pub(crate) use transact::{Tx, Undo};

/// What is selected: a project, and a terminal in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Active {
    /// The selected project, if any.
    pub project: Option<ProjectId>,
    /// The selected terminal of that project, if any.
    pub terminal: Option<TerminalId>,
}

/// Everything the daemon knows, except bytes and screens. A copy costs some twenty pointers.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// Projects as they are shown: by position, then by id.
    pub(crate) projects: Shared<Vec<Project>>,
    /// Terminals by id, and where they stand.
    pub(crate) terminals: Tabs,
    pub(crate) active: Active,
    /// What was selected before, in memory only.
    pub(crate) tab_history: TabHistory,
    /// Who looks, in memory only.
    pub(crate) viewers: Table<ViewerId, Viewer>,
    /// The last number that was given to a viewer.
    pub(crate) last_viewer: ViewerId,
    /// The viewer that was used last.
    pub(crate) desk: Option<ViewerId>,
    /// Focus of the virtual window; none until a client has set it.
    pub(crate) window_focus: Option<bool>,
    /// How panes are arranged.
    pub(crate) layouts: Table<ProjectId, Layout>,
    pub(crate) next_project: ProjectId,
    pub(crate) next_terminal: TerminalId,
    pub(crate) next_event: EventSeq,
    /// Whether projects and terminals take their numbers from one sequence.
    pub(crate) shares_ids: bool,
    /// Conversations with agents, without what was said in them.
    pub(crate) threads: ThreadTable,
    /// What agents wait for.
    pub(crate) requests: Pending,
    /// The terminals on which it is shown that they wait.
    pub(crate) shown_on: OrdMap<RequestId, TerminalId>,
    /// What they waited for lately, and the answers.
    pub(crate) settled: Table<RequestId, Request>,
    /// Those of them whose answers were acted on, so that they stand.
    pub(crate) acted_on: OrdSet<RequestId>,
    /// What asks for attention.
    pub(crate) queue: Items,
    /// What happened in sessions, by its number.
    pub(crate) timeline: Table<u64, TimelineItem>,
    pub(crate) reviews: ReviewTable,
    pub(crate) checkpoints: Table<CheckpointId, Checkpoint>,
    pub(crate) handoffs: Table<HandoffId, Handoff>,
    pub(crate) handled: Handled,
    /// Background tasks, those that are over among them.
    pub(crate) tasks: TaskTable,
    /// Work that the last daemon accepted and did not finish.
    pub(crate) unfinished: Shared<Vec<Accepted>>,
    /// The last number that was given to a record.
    last_order: u64,
    /// What clients have to ask for, and may do since it was approved.
    pub(crate) parked: Shared<Parked>,
    /// What agents may do without asking, where their thread does not say otherwise.
    pub(crate) mode: Mode,
    /// How a client last spelled the mode that asks; what it says is the dialect's business.
    pub(crate) asking_spelling: Option<String>,
    /// Modes that clients brought along for what they start themselves.
    pub(crate) client_modes: Shared<ClientModes>,
}

impl World {
    pub(crate) fn project(&self, id: ProjectId) -> Result<&Project> {
        self.projects.iter().find(|project| project.id == id).ok_or_else(|| no_project(id))
    }

    pub(crate) fn project_mut(&mut self, id: ProjectId) -> Result<&mut Project> {
        self.projects.iter_mut().find(|project| project.id == id).ok_or_else(|| no_project(id))
    }

    pub(crate) fn terminal(&self, id: TerminalId) -> Result<&Terminal> {
        self.terminals.get(&id).ok_or_else(|| no_terminal(id))
    }

    pub(crate) fn terminal_mut(&mut self, id: TerminalId) -> Result<&mut Terminal> {
        self.terminals.get_mut(id).ok_or_else(|| no_terminal(id))
    }

    pub(crate) fn thread(&self, id: ThreadId) -> Result<&ThreadState> {
        self.threads.get(&id).ok_or_else(|| no_thread(id))
    }

    pub(crate) fn thread_mut(&mut self, id: ThreadId) -> Result<&mut ThreadState> {
        self.threads.get_mut(&id).ok_or_else(|| no_thread(id))
    }

    /// The mode of a thread, whoever starts its turns.
    ///
    /// A child agent has that of the turn it works for, or a stricter one of its own.
    pub(crate) fn mode_of(&self, id: ThreadId) -> Mode {
        let Some(state) = self.threads.get(&id) else { return self.mode };
        match self.led_by(id) {
            None => state.thread.mode.unwrap_or(self.mode),
            Some(parent) => {
                let inherited = self.mode_of_turn(parent.thread, parent.turn);
                state.thread.mode.map_or(inherited, |own| own.stricter(inherited))
            }
        }
    }

    /// The turn whose mode holds for a child agent. One that goes on when that turn is over has the mode
    /// of the client that started it from then on, if this client has one of its own.
    pub(crate) fn led_by(&self, id: ThreadId) -> Option<ParentTurn> {
        let state = self.threads.get(&id)?;
        let child = state.thread.child.as_deref()?;
        let parent = child.parent?;
        let is_left = child.outlives_turn && !self.is_at_work(parent);
        let active = state.active.as_ref().filter(|_| is_left);
        match active.is_some_and(|active| self.has_mode_of_client(id, active.turn)) {
            true => None,
            false => Some(parent),
        }
    }

    /// Whether this turn of a thread is at work.
    pub(crate) fn is_at_work(&self, ParentTurn { thread, turn }: ParentTurn) -> bool {
        let active = self.threads.get(&thread).and_then(|state| state.active.as_ref());
        active.is_some_and(|active| active.turn == turn)
    }

    /// The terminals of a project as they are shown, ended ones among them.
    pub(crate) fn terminals_of(&self, project: ProjectId) -> Vec<&Terminal> {
        self.terminals.of(project).collect()
    }

    /// The first living terminal of a project, as they are shown.
    pub(crate) fn first_tab(&self, project: ProjectId) -> Option<TerminalId> {
        let mut living = self.terminals.of(project).filter(|terminal| terminal.is_alive());
        living.next().map(|terminal| terminal.id)
    }

    /// The terminal last selected in a project, else its first.
    pub(crate) fn remembered_tab(&self, project: &Project) -> Option<TerminalId> {
        let is_there = |id: &TerminalId| {
            self.terminals.get(id).is_some_and(|tab| tab.is_alive() && tab.project == project.id)
        };
        project.selected.filter(is_there).or_else(|| self.first_tab(project.id))
    }

    /// Where terminals go that name no project: the selected one, else the first.
    pub(crate) fn usual_project(&self) -> Option<&Project> {
        let selected = self.active.project.and_then(|id| self.project(id).ok());
        selected.or_else(|| self.projects.first())
    }

    /// Terminals in workspace order: by project, then by place.
    pub(crate) fn ordered_terminals(&self) -> Vec<Arc<Terminal>> {
        let places: HashMap<ProjectId, usize> =
            self.projects.iter().enumerate().map(|(place, project)| (project.id, place)).collect();
        let placed = |one: &Arc<Terminal>| {
            Some(((*places.get(&one.project)?, one.position, one.id), Arc::clone(one)))
        };
        let mut found: Vec<_> = self.terminals.shared().filter_map(placed).collect();
        found.sort_unstable_by_key(|(place, _)| *place);
        found.into_iter().map(|(_, terminal)| terminal).collect()
    }

    /// The place of a new terminal in a project.
    pub(crate) fn next_position(&self, project: ProjectId) -> i32 {
        after(self.terminals.of(project).next_back().map(|terminal| terminal.position))
    }

    /// The place of a new project.
    pub(crate) fn next_project_position(&self) -> i32 {
        after(self.projects.iter().map(|project| project.position).max())
    }

    pub(crate) fn sort_projects(&mut self) {
        self.projects.sort_by_key(|project| (project.position, project.id));
    }

    /// A number that no project and, if they share a sequence, no terminal ever had.
    pub(crate) fn mint_project(&mut self) -> ProjectId {
        let id = match self.shares_ids {
            true => ProjectId::new(self.next_project.get().max(self.next_terminal.get())),
            false => self.next_project,
        };
        self.next_project = id.next();
        if self.shares_ids {
            self.next_terminal = TerminalId::new(id.next().get());
        }
        id
    }

    /// A number that no terminal and, if they share a sequence, no project ever had.
    pub(crate) fn mint_terminal(&mut self) -> TerminalId {
        let id = match self.shares_ids {
            true => TerminalId::new(self.next_project.get().max(self.next_terminal.get())),
            false => self.next_terminal,
        };
        self.next_terminal = id.next();
        if self.shares_ids {
            self.next_project = ProjectId::new(id.next().get());
        }
        id
    }

    /// Gives back numbers that were minted and never used, if they are still the last ones.
    pub(crate) fn unmint(&mut self, id: TerminalId, new_project: Option<ProjectId>) {
        let is_used = self.terminals.contains_key(&id)
            || new_project.is_some_and(|project| self.project(project).is_ok());
        if is_used {
            return;
        }
        if !self.shares_ids {
            if self.next_terminal == id.next() {
                self.next_terminal = id;
            }
            if let Some(project) = new_project.filter(|it| self.next_project == it.next()) {
                self.next_project = project;
            }
            return;
        }
        // Minted together, so that the project's follows the terminal's.
        let next = new_project.map_or(id.get(), ProjectId::get) + 1;
        if self.next_terminal.get().max(self.next_project.get()) == next {
            self.next_terminal = id;
            self.next_project = ProjectId::new(id.get());
        }
    }
}

fn after(last: Option<i32>) -> i32 {
    last.map_or(0, |last| last.saturating_add(1))
}

pub(crate) fn no_terminal(id: TerminalId) -> Error {
    Error::not_found(format!("no terminal {id}"))
}

pub(crate) fn no_thread(id: ThreadId) -> Error {
    Error::not_found(format!("thread not found: {id}"))
}

fn no_project(id: ProjectId) -> Error {
    Error::not_found(format!("no project {id}"))
}
