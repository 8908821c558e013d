//! Where the rows of the sidebar lie.

use rookery_model::ProjectId;

use super::{AGENT_HEIGHT, BAND_HEIGHT, Hit, PILL_HEIGHT, PROJECT_HEIGHT, Point, Rect};
use crate::scene::Sidebar;
use crate::scene::geometry::bounded;

/// Where the rows of the sidebar lie.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SidebarLayout {
    /// Where rows are visible; rows beyond it are to be clipped.
    pub list: Rect,
    /// Projects and the agents below them, in the scene's order.
    pub projects: Vec<ProjectLayout>,
    /// What lies below projects, as those do: a heading and the rows of conversations in no project.
    pub elsewhere: Option<(Rect, Vec<Rect>)>,
    /// The button for a new project.
    pub new_project: Rect,
    /// The bell that opens the inbox.
    pub bell: Rect,
    /// The right edge, to drag.
    pub edge: Rect,
    /// Rows above and below those that are visible.
    pub hidden: (usize, usize),
    /// How far it is scrolled, and how far it can be.
    pub scroll: (f32, f32),
}

/// Where a project and its agents lie.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectLayout {
    /// Which project.
    pub id: ProjectId,
    /// Its own row.
    pub row: Rect,
    /// Its agents' rows; none if agents are not shown.
    pub agents: Vec<Rect>,
}

impl SidebarLayout {
    pub(super) fn of(sidebar: &Sidebar, pane: Rect) -> SidebarLayout {
        if pane.width < 1.0 {
            return SidebarLayout::default();
        }
        let list = Rect::new(0.0, BAND_HEIGHT, pane.width, pane.height - 2.0 * BAND_HEIGHT);
        let mut layout = SidebarLayout {
            list,
            projects: Vec::with_capacity(sidebar.projects.len()),
            new_project: Rect::new(0.0, list.bottom(), pane.width, BAND_HEIGHT),
            bell: Rect::new(pane.width - 36.0, 4.0, 28.0, PILL_HEIGHT),
            edge: Rect::new(pane.width - 3.0, 0.0, 6.0, pane.height),
            ..SidebarLayout::default()
        };
        let mut y = list.y;
        let mut rows = |count: usize| {
            let row = Rect::new(0.0, y, pane.width, PROJECT_HEIGHT);
            y += PROJECT_HEIGHT;
            let place = |index: usize| {
                let top = y + index as f32 * AGENT_HEIGHT;
                Rect::new(0.0, top, pane.width, AGENT_HEIGHT)
            };
            let below: Vec<_> = (0..count).map(place).collect();
            y += count as f32 * AGENT_HEIGHT + if count == 0 { 2.0 } else { 8.0 };
            (row, below)
        };
        for project in &sidebar.projects {
            let shown = if sidebar.are_agents_visible { project.agents.len() } else { 0 };
            let (row, agents) = rows(shown);
            layout.projects.push(ProjectLayout { id: project.id, row, agents });
        }
        if sidebar.are_agents_visible && !sidebar.elsewhere.is_empty() {
            layout.elsewhere = Some(rows(sidebar.elsewhere.len()));
        }
        layout.scroll_to(sidebar, y - list.y);
        layout
    }

    /// Moves the rows up: as far as the user scrolled, else until the active one is visible.
    fn scroll_to(&mut self, sidebar: &Sidebar, content: f32) {
        let most = (content - self.list.height).max(0.0);
        let active = sidebar.projects.iter().position(|project| project.is_active).unwrap_or(0);
        let wanted = self.projects.get(active).map_or(0.0, |project| {
            let lowest = project.agents.last().copied().unwrap_or(project.row);
            (lowest.bottom() - self.list.bottom()).min(project.row.y - self.list.y)
        });
        let offset = bounded(sidebar.scroll.unwrap_or(wanted), (0.0, most)).round();
        self.scroll = (offset, most);
        for project in &mut self.projects {
            project.row.y -= offset;
            project.agents.iter_mut().for_each(|row| row.y -= offset);
        }
        if let Some((head, rows)) = &mut self.elsewhere {
            head.y -= offset;
            rows.iter_mut().for_each(|row| row.y -= offset);
        }
        let rows = self
            .projects
            .iter()
            .flat_map(|project| std::iter::once(&project.row).chain(&project.agents))
            .chain(self.elsewhere.iter().flat_map(|(_, rows)| rows));
        let middle = |row: &Rect| row.y + row.height / 2.0;
        for row in rows {
            self.hidden.0 += usize::from(middle(row) < self.list.y);
            self.hidden.1 += usize::from(middle(row) > self.list.bottom());
        }
    }

    pub(super) fn hit(&self, point: Point) -> Option<Hit> {
        let buttons = [
            (self.edge, Hit::SidebarEdge),
            (self.bell, Hit::Bell),
            (self.new_project, Hit::NewProject),
        ];
        if let Some((_, hit)) = buttons.into_iter().find(|(rect, _)| rect.contains(point)) {
            return Some(hit);
        }
        if !self.list.contains(point) {
            return None;
        }
        let at = |rows: &[Rect]| rows.iter().position(|row| row.contains(point));
        let in_project = self.projects.iter().enumerate().find_map(|(index, project)| {
            let own = project.row.contains(point).then_some(Hit::Project(project.id));
            own.or(at(&project.agents).map(|agent| Hit::Agent(index, agent)))
        });
        let below = || at(&self.elsewhere.as_ref()?.1);
        in_project.or_else(|| below().map(|agent| Hit::Agent(self.projects.len(), agent)))
    }
}
