//! What is under the mouse, in the words of the state machine: it counts in cells of the room for
//! panes, which begin at 1 here so that there is a cell before the first.

use rookery_face::app::{Drawn, Hit};
use rookery_face::cells::Rect;
use rookery_view::link;
use rookery_view::scene::Stage;
use rookery_view::scene::layout::{self, Point, StatusPart};

use crate::picture::Picture;

/// Where places begin that are no cells: only whether two of them are the same matters.
const ELSEWHERE: u16 = 4096;
/// Two clicks within this many points are at the same place.
const NEAR: f32 = 6.0;

/// All of the screen.
const ALL: Rect = Rect::new(0, 0, u16::MAX, u16::MAX);

/// The cell at a point, counted from 1; 0 lies before the first.
pub(super) fn cell(picture: &Picture, point: Point) -> (u16, u16) {
    let grid = picture.layout.grid;
    let at = |from: f32, origin: f32, size: f32| {
        ((from - origin) / size + 1.0).floor().clamp(0.0, f32::from(ELSEWHERE - 1)) as u16
    };
    let col = at(point.x, grid.origin.x, grid.cell.width);
    let row = at(point.y, grid.origin.y, grid.cell.height);
    (col, row)
}

/// A place that is no cell, for counting clicks.
pub(super) fn elsewhere(point: Point) -> (u16, u16) {
    let at = |from: f32| ELSEWHERE + (from.max(0.0) / NEAR) as u16;
    (at(point.x), at(point.y))
}

/// Panes where they lie, and what is under the mouse over all of it.
pub(super) fn place(drawn: &mut Drawn, picture: &Picture, hit: Option<Hit>) {
    drawn.hits = hit.map(|hit| (ALL, hit)).into_iter().collect();
    let grid = picture.layout.grid;
    let steps = |from: f32, origin: f32, size: f32| ((from - origin) / size).round() as u16 + 1;
    let pane = |pane: &layout::PaneLayout| {
        let col = steps(pane.cells.origin.x, grid.origin.x, grid.cell.width);
        let row = steps(pane.cells.origin.y, grid.origin.y, grid.cell.height);
        let rect = Rect::new(col, row, pane.cells.cols, pane.cells.rows);
        (pane.terminal.get(), rect, (pane.part.row, pane.part.col))
    };
    drawn.panes = picture.layout.terminals.iter().map(pane).collect();
}

/// Rows that a page of keys moves by.
pub(super) fn page_rows(picture: &Picture) -> u16 {
    match &picture.scene.stage {
        Stage::Inbox(_) | Stage::List(_) | Stage::Help(_) | Stage::Settings(_) => 12,
        _ => picture.layout.grid.rows,
    }
}

/// What is under the mouse; none if nothing there is the state machine's.
pub(super) fn hit(picture: &Picture, hit: layout::Hit, shown: &link::Scene) -> Option<Hit> {
    use layout::Hit as On;
    let action = |id: &str| Some(Hit::Action(id.to_owned()));
    match hit {
        On::Project(id) => Some(Hit::Project(id.get())),
        On::Agent(project, agent) => {
            let sidebar = &picture.scene.sidebar;
            // Below the last project are those of none.
            let agents = sidebar.projects.get(project).map_or(&sidebar.elsewhere, |it| &it.agents);
            let agent = agents.get(agent)?;
            Some(Hit::Agent(agent.tab.map(|tab| tab.get()), agent.thread.clone()))
        }
        On::NewProject => action("new_project"),
        On::Bell | On::Status(StatusPart::Waiting) => action("open_inbox"),
        On::NewTab => Some(Hit::NewTab),
        On::Pill(tab) => {
            let mut groups = shown.strip.iter().flat_map(|strip| &strip.groups);
            let group = groups.find(|group| group.tabs.iter().any(|it| it.id == tab.get()))?;
            Some(Hit::Tab(group.id, tab.get()))
        }
        On::Cell { terminal, .. } | On::Pane(terminal) | On::PaneHeader(terminal) => {
            Some(Hit::Pane(terminal.get()))
        }
        On::PaletteRow(index) => u32::try_from(index).ok().map(Hit::PaletteRow),
        On::MenuRow(index) => Some(Hit::MenuRow(index)),
        On::Confirm => Some(Hit::Key("enter".to_owned())),
        On::Cancel | On::Backdrop => Some(Hit::Key("escape".to_owned())),
        On::Row(index) | On::Item(index) => Some(Hit::Row(index)),
        On::Status(StatusPart::Help) => action("help"),
        On::Status(StatusPart::Palette) => action("command_palette"),
        On::Status(StatusPart::Size) => action("take_size"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_beside_cells_are_distinguished() {
        let point = |x, y| Point { x, y };
        assert_eq!(elsewhere(point(10.0, 10.0)), elsewhere(point(11.0, 11.0)));
        assert_ne!(elsewhere(point(10.0, 10.0)), elsewhere(point(40.0, 10.0)));
    }
}
