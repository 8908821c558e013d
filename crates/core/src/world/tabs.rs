//! Terminals by id, and where they stand: the tabs of a project are found without going through all
//! others.

use std::ops::Deref;

use imbl::OrdSet;
use rookery_model::{ProjectId, Terminal, TerminalId};

use super::Table;

/// All terminals. Where one stands is changed by [`Tabs::place`] alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tabs {
    all: Table<TerminalId, Terminal>,
    places: OrdSet<(ProjectId, i32, TerminalId)>,
}

impl Tabs {
    pub(crate) fn insert(&mut self, id: TerminalId, terminal: Terminal) {
        self.remove(&id);
        self.places.insert(place(&terminal));
        self.all.insert(id, terminal);
    }

    pub(crate) fn remove(&mut self, id: &TerminalId) -> Option<Terminal> {
        let terminal = self.all.remove(id)?;
        self.places.remove(&place(&terminal));
        Some(terminal)
    }

    /// Changes a terminal, wherever it stands.
    pub(super) fn get_mut(&mut self, id: TerminalId) -> Option<&mut Terminal> {
        self.all.get_mut(&id)
    }

    /// Puts a terminal somewhere. False if it stood there, or is gone.
    pub(crate) fn place(&mut self, id: TerminalId, project: ProjectId, position: i32) -> bool {
        let Some(before) = self.all.get(&id).map(place) else { return false };
        let now = (project, position, id);
        if before == now {
            return false;
        }
        self.places.remove(&before);
        self.places.insert(now);
        if let Some(terminal) = self.all.get_mut(&id) {
            (terminal.project, terminal.position) = (project, position);
        }
        true
    }

    /// The terminals of a project as they are shown, ended ones among them.
    pub(super) fn of(&self, project: ProjectId) -> impl DoubleEndedIterator<Item = &Terminal> {
        let first = (project, i32::MIN, TerminalId::new(0));
        let last = (project, i32::MAX, TerminalId::new(u64::MAX));
        self.places.range(first..=last).filter_map(|(.., id)| self.all.get(id))
    }
}

impl Deref for Tabs {
    type Target = Table<TerminalId, Terminal>;

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl FromIterator<Terminal> for Tabs {
    fn from_iter<I: IntoIterator<Item = Terminal>>(terminals: I) -> Self {
        let mut tabs = Tabs::default();
        terminals.into_iter().for_each(|terminal| tabs.insert(terminal.id, terminal));
        tabs
    }
}

fn place(terminal: &Terminal) -> (ProjectId, i32, TerminalId) {
    (terminal.project, terminal.position, terminal.id)
}
