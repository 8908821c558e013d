//! How panes are arranged: which tabs of a project are tiled together, and how.
//!
//! A group is one tab alone, or several that share a room. Only the latter are kept; they are neighbors
//! in the order of tabs, whatever is done to that order, and a tab that is gone is in none of them.

use std::collections::BTreeSet;

use rookery_model::{Error, Event, ProjectId, Result, TerminalId};
use rookery_store::Change;
use rookery_view::tile::{Area, Edge, Rect, Refused, Side, Tree};

use super::layout_text;
use crate::rooms::Workspace;
use crate::seats::Viewer;
use crate::world::{Tx, World};

/// Groups that there may be.
const MAX_GROUPS: usize = 2_000;

/// The tiled groups of one project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(super) groups: Vec<Tree>,
}

/// Where a terminal that is opened gets its pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The terminal beside which it lies.
    pub terminal: TerminalId,
    pub side: Side,
    /// The room that the group has.
    pub room: Rect,
}

/// A pill of a project: tabs that are shown together, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabGroup {
    /// Its tabs in their order.
    pub tabs: Vec<TerminalId>,
    /// How they are tiled.
    pub tree: Tree,
}

impl Layout {
    fn group(&self, id: TerminalId) -> Option<&Tree> {
        self.groups.iter().find(|tree| tree.contains(id.get()))
    }

    fn take(&mut self, id: TerminalId) -> Option<Tree> {
        let at = self.groups.iter().position(|tree| tree.contains(id.get()))?;
        Some(self.groups.remove(at))
    }
}

impl World {
    /// How the group of a terminal is tiled.
    pub(crate) fn tree_of(&self, id: TerminalId) -> Tree {
        let project = self.terminals.get(&id).map(|terminal| terminal.project);
        let layout = project.and_then(|project| self.layouts.get(&project));
        layout.and_then(|layout| layout.group(id)).cloned().unwrap_or(Tree::Pane(id.get()))
    }

    /// The terminals of a group, from the upper left on.
    pub(crate) fn group_of(&self, id: TerminalId) -> Vec<TerminalId> {
        self.tree_of(id).terminals().into_iter().map(TerminalId::new).collect()
    }

    /// Where the terminals lie that a viewer shows.
    pub(crate) fn areas(&self, viewer: &Viewer) -> Vec<Area> {
        let shown = self.shown_by(viewer);
        let room = Rect::room(viewer.room.cols(), viewer.room.rows());
        match shown.as_slice() {
            [] => Vec::new(),
            [only] => Tree::Pane(only.get()).areas(room),
            [focused, ..] => self.tree_of(*focused).areas(room),
        }
    }

    /// The groups of a project in the order of its tabs.
    pub(crate) fn groups(&self, project: ProjectId) -> Vec<TabGroup> {
        let tabs: Vec<TerminalId> =
            self.terminals_of(project).iter().filter(|it| it.is_alive()).map(|it| it.id).collect();
        let mut groups: Vec<TabGroup> = Vec::new();
        for id in tabs {
            match groups.iter_mut().find(|group| group.tree.contains(id.get())) {
                Some(group) => group.tabs.push(id),
                None => groups.push(TabGroup { tabs: vec![id], tree: self.tree_of(id) }),
            }
        }
        groups
    }

    /// Who gets the room of a pane that closes, and with it the keys.
    pub(crate) fn heir_of(&self, id: TerminalId, project: ProjectId) -> Option<TerminalId> {
        let mut tree = self.layouts.get(&project)?.group(id)?.clone();
        let heir = TerminalId::new(tree.close(id.get()).ok()?);
        self.terminals.get(&heir).is_some_and(|heir| heir.is_alive()).then_some(heir)
    }

    /// The layout of a project as far as its tabs still bear it.
    fn borne_out(&self, project: ProjectId, layout: &Layout) -> Layout {
        let tabs: Vec<u64> = self
            .terminals_of(project)
            .iter()
            .filter(|it| it.is_alive())
            .map(|it| it.id.get())
            .collect();
        let groups = layout.groups.iter().filter_map(|tree| {
            let together = longest_run(&tabs, tree);
            let tree = tree.clone().retain(&|id| together.contains(&id))?;
            (tree.len() > 1).then_some(tree)
        });
        Layout { groups: groups.collect() }
    }
}

/// The most tabs of a group that are neighbors; of equals the first.
fn longest_run(tabs: &[u64], tree: &Tree) -> Vec<u64> {
    let mut longest: &[u64] = &[];
    for run in tabs.chunk_by(|one, other| tree.contains(*one) && tree.contains(*other)) {
        if run.len() > longest.len() && run.iter().all(|id| tree.contains(*id)) {
            longest = run;
        }
    }
    longest.to_vec()
}

impl Workspace {
    /// The groups of a project in the order of its tabs.
    pub fn groups(&self, project: ProjectId) -> Vec<TabGroup> {
        self.core.look().groups(project)
    }

    /// How the group of a terminal is tiled.
    pub fn tree_of(&self, id: TerminalId) -> Tree {
        self.core.look().tree_of(id)
    }

    /// Where the terminals lie that a viewer shows.
    pub fn areas(&self, viewer: &Viewer) -> Vec<Area> {
        self.core.look().areas(viewer)
    }

    /// Whether a pane can be put there.
    pub(crate) fn check_beside(&self, beside: Beside) -> Result<()> {
        let world = self.core.look();
        world.terminal(beside.terminal)?;
        // One that is tiled already only grows.
        let is_new = world.group_of(beside.terminal).len() < 2;
        if is_new
            && world.layouts.values().map(|layout| layout.groups.len()).sum::<usize>() >= MAX_GROUPS
        {
            return Err(Error::busy(format!("there are {MAX_GROUPS} groups of panes already")));
        }
        let tree = world.tree_of(beside.terminal);
        tree.check_insert(beside.terminal.get(), beside.side, beside.room).map_err(refused)
    }

    /// Moves a border of a pane.
    pub async fn resize_pane(&self, id: TerminalId, edge: Edge, by: i32, room: Rect) -> Result<()> {
        self.rearrange(id, |tree| tree.resize(id.get(), edge, by, room)).await
    }

    /// Exchanges two panes of a group.
    pub async fn swap_panes(&self, one: TerminalId, other: TerminalId) -> Result<()> {
        self.rearrange(one, |tree| tree.swap(one.get(), other.get())).await
    }

    /// Puts a tab beside a pane, in its group.
    pub async fn move_pane(&self, id: TerminalId, beside: Beside) -> Result<()> {
        let Beside { terminal: to, side, room } = beside;
        if self.core.look().tree_of(to).contains(id.get()) {
            return self.rearrange(id, |tree| tree.relocate(id.get(), to.get(), side, room)).await;
        }
        self.check_beside(beside)?;
        self.core
            .transact_durably(|tx| {
                let (from, project) =
                    (tx.world.terminal(id)?.project, tx.world.terminal(to)?.project);
                if from != project {
                    let message = format!("terminal {id} is not in project {project}");
                    return Err(Error::conflict(message));
                }
                tx.leave_group(id);
                tx.put_beside(id, beside)?;
                tx.emit(Event::TerminalsReordered { project });
                Ok(())
            })
            .await
    }

    /// Gives a pane a group of its own, after the one that it was in.
    pub async fn break_pane(&self, id: TerminalId) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                let project = tx.world.terminal(id)?.project;
                let others: Vec<TerminalId> =
                    tx.world.group_of(id).into_iter().filter(|other| *other != id).collect();
                if others.is_empty() {
                    return Err(refused(Refused::Alone));
                }
                tx.leave_group(id);
                let order = tx.world.terminals_of(project);
                let last = order.iter().rev().map(|it| it.id).find(|it| others.contains(it));
                if let Some(last) = last {
                    tx.move_after(id, last)?;
                }
                tx.emit(Event::TerminalsReordered { project });
                Ok(())
            })
            .await
    }

    async fn rearrange(
        &self,
        id: TerminalId,
        change: impl FnOnce(&mut Tree) -> std::result::Result<(), Refused>,
    ) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                let project = tx.world.terminal(id)?.project;
                let mut layout = tx.world.layouts.get(&project).cloned().unwrap_or_default();
                let tree = layout.groups.iter_mut().find(|tree| tree.contains(id.get()));
                let mut alone = Tree::Pane(id.get());
                change(tree.unwrap_or(&mut alone)).map_err(refused)?;
                tx.set_layout(project, layout);
                Ok(())
            })
            .await
    }
}

fn refused(why: Refused) -> Error {
    match why {
        Refused::Unknown(_) => Error::not_found(why.to_string()),
        Refused::TooMany | Refused::TooDeep => Error::busy(why.to_string()),
        Refused::Twice(_) | Refused::TooSmall | Refused::Alone | Refused::NoBorder => {
            Error::conflict(why.to_string())
        }
    }
}

impl Tx<'_> {
    /// Stores a layout and says so, if it is another than before.
    fn set_layout(&mut self, project: ProjectId, layout: Layout) {
        let before = self.world.layouts.get(&project);
        if before.map_or(layout.groups.is_empty(), |before| *before == layout) {
            return;
        }
        let text = (!layout.groups.is_empty()).then(|| layout_text::write(&layout));
        self.save(Change::LayoutSet(project, text));
        match layout.groups.is_empty() {
            true => drop(self.world.layouts.remove(&project)),
            false => drop(self.world.layouts.insert(project, layout)),
        }
        self.emit(Event::LayoutChanged { project });
    }

    /// After whatever became of tabs since `before`: groups that they do not bear out any more fall apart.
    pub(crate) fn settle_layouts(&mut self, before: &World) {
        let changed = self.world.terminals.changed_since(&before.terminals);
        let projects = changed.flat_map(|(old, new)| [old, new]).flatten();
        let projects: BTreeSet<ProjectId> = projects.map(|terminal| terminal.project).collect();
        for project in projects {
            let Some(layout) = self.world.layouts.get(&project) else { continue };
            let settled = self.world.borne_out(project, layout);
            if self.world.project(project).is_ok() {
                self.set_layout(project, settled);
            } else {
                self.world.layouts.remove(&project);
            }
        }
    }

    fn leave_group(&mut self, id: TerminalId) {
        let Ok(project) = self.world.terminal(id).map(|terminal| terminal.project) else { return };
        let Some(mut layout) = self.world.layouts.get(&project).cloned() else { return };
        for tree in &mut layout.groups {
            // One that is alone, or not in this group, stays.
            let _ = tree.close(id.get());
        }
        layout.groups.retain(|tree| tree.len() > 1);
        self.set_layout(project, layout);
    }

    /// Puts a tab behind another of its project.
    fn move_after(&mut self, id: TerminalId, other: TerminalId) -> Result<()> {
        let project = self.world.terminal(other)?.project;
        let order = self.world.terminals_of(project).into_iter().map(|terminal| terminal.id);
        let mut order: Vec<TerminalId> = order.filter(|it| *it != id).collect();
        let at = order.iter().position(|it| *it == other).map_or(order.len(), |at| at + 1);
        order.insert(at, id);
        for (position, id) in (0..).zip(order) {
            if self.world.terminals.place(id, project, position) {
                self.save_terminal(id);
            }
        }
        Ok(())
    }

    /// Gives a tab a pane beside another, and the place behind it.
    pub(crate) fn put_beside(&mut self, id: TerminalId, beside: Beside) -> Result<()> {
        let project = self.world.terminal(beside.terminal)?.project;
        let mut layout = self.world.layouts.get(&project).cloned().unwrap_or_default();
        let alone = || Tree::Pane(beside.terminal.get());
        let mut tree = layout.take(beside.terminal).unwrap_or_else(alone);
        tree.insert(beside.terminal.get(), beside.side, id.get(), beside.room).map_err(refused)?;
        layout.groups.push(tree);
        self.move_after(id, beside.terminal)?;
        self.set_layout(project, layout);
        Ok(())
    }
}
