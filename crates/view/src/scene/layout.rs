//! Where the parts of a scene lie: pure functions, so that painters, the mouse and callers that ask for
//! the window's metrics get the same answer.

use rookery_model::{ProjectId, TerminalId};
use unicode_segmentation::UnicodeSegmentation;

use super::geometry::bounded;
pub use super::geometry::{ADVANCE, CellSize, FONT_BOUNDS, GridArea, Point, Rect, WINDOW_BOUNDS};
use super::{Dialog, FontChoice, Inbox, PaletteOverlay, Scene, Sidebar, TabStrip, WindowSize};

/// Width of the sidebar unless the user dragged it.
pub const SIDEBAR_WIDTH: f32 = 220.0;
/// How narrow and how wide the sidebar can be dragged.
pub const SIDEBAR_BOUNDS: (f32, f32) = (160.0, 400.0);
/// Height of the bands at the top and at the sidebar's bottom.
pub const BAND_HEIGHT: f32 = 32.0;
/// Height of a pill.
pub const PILL_HEIGHT: f32 = 24.0;
/// Narrowest and widest pill.
pub const PILL_BOUNDS: (f32, f32) = (80.0, 220.0);
/// Width of the palette.
pub const PALETTE_WIDTH: f32 = 660.0;
/// Greatest height of the palette.
pub const PALETTE_HEIGHT: f32 = 500.0;
/// Height of a project's row.
pub const PROJECT_HEIGHT: f32 = 30.0;
/// Height of an agent's row.
pub const AGENT_HEIGHT: f32 = 24.0;

const MARGIN: f32 = 8.0;
const PILL_GAP: f32 = 4.0;
const TERMINAL_PADDING: (f32, f32) = (10.0, 6.0);
const PALETTE_HEAD: f32 = 46.0;
const PALETTE_ROW: f32 = 34.0;
const PALETTE_PADDING: f32 = 6.0;
const TOAST: (f32, f32) = (300.0, 56.0);
const MAX_TOASTS: usize = 4;
const INBOX_WIDTH: f32 = 340.0;
const INBOX_ROW: f32 = 50.0;
const DIALOG: (f32, f32) = (420.0, 156.0);
const BUTTON: (f32, f32) = (116.0, 30.0);

/// The width a sidebar has: none if collapsed, else within its bounds and at most half the window.
pub fn sidebar_width(window: WindowSize, is_collapsed: bool, width: f32) -> f32 {
    if is_collapsed {
        return 0.0;
    }
    bounded(width, SIDEBAR_BOUNDS).round().min((window.bounded().width / 2.0).floor())
}

/// The three great parts of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Panes {
    /// The whole window.
    pub window: Rect,
    /// The sidebar; of no width if collapsed.
    pub sidebar: Rect,
    /// The band of pills.
    pub strip: Rect,
    /// The terminal with its padding. Its upper edge is what `terminal_top` means.
    pub terminal: Rect,
}

impl Panes {
    /// The parts of a window whose sidebar has a width, as [`sidebar_width`] gives it.
    pub fn of(window: WindowSize, sidebar_width: f32) -> Panes {
        let WindowSize { width, height } = window.bounded();
        let rest = width - sidebar_width;
        Panes {
            window: Rect::new(0.0, 0.0, width, height),
            sidebar: Rect::new(0.0, 0.0, sidebar_width, height),
            strip: Rect::new(sidebar_width, 0.0, rest, BAND_HEIGHT.min(height)),
            terminal: Rect::new(sidebar_width, BAND_HEIGHT, rest, height - BAND_HEIGHT),
        }
    }

    /// Where the cells lie and how many there are.
    pub fn grid(&self, font: &FontChoice) -> GridArea {
        let (horizontal, vertical) = TERMINAL_PADDING;
        GridArea::within(self.terminal.inset(horizontal, vertical), CellSize::of(font))
    }
}

/// Where everything lies.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The great parts.
    pub panes: Panes,
    /// Rows of the sidebar.
    pub sidebar: SidebarLayout,
    /// Pills.
    pub strip: StripLayout,
    /// Cells.
    pub grid: GridArea,
    /// The palette, if open.
    pub palette: Option<PaletteLayout>,
    /// The inbox, if open.
    pub inbox: Option<InboxLayout>,
    /// Toasts, newest last and lowest; older ones than fit are left out.
    pub toasts: Vec<Rect>,
    /// The question, if there is one.
    pub dialog: Option<DialogLayout>,
}

/// What is under a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// Nothing that reacts.
    Nothing,
    /// A project's row.
    Project(ProjectId),
    /// An agent's row.
    Agent(TerminalId),
    /// The button for a new project.
    NewProject,
    /// The sidebar's right edge, to drag.
    SidebarEdge,
    /// The bell that opens the inbox.
    Bell,
    /// A pill.
    Pill(TerminalId),
    /// The button for a new tab.
    NewTab,
    /// A cell.
    Cell {
        /// Row from the top.
        row: u16,
        /// Column from the left.
        col: u16,
    },
    /// A row of the palette, by index.
    PaletteRow(usize),
    /// An entry of the inbox, by index.
    InboxRow(usize),
    /// The button that does what the question asks.
    Confirm,
    /// The button that does not.
    Cancel,
    /// Beside an open palette or question.
    Backdrop,
}

impl Layout {
    /// Where the parts of a scene lie.
    pub fn of(scene: &Scene) -> Layout {
        let sidebar = &scene.sidebar;
        let width = sidebar_width(scene.window, sidebar.is_collapsed, sidebar.width);
        let panes = Panes::of(scene.window, width);
        Layout {
            panes,
            sidebar: SidebarLayout::of(sidebar, panes.sidebar),
            strip: StripLayout::of(&scene.strip, panes.strip),
            grid: panes.grid(&scene.font),
            palette: scene.palette.as_ref().map(|open| PaletteLayout::of(open, panes.window)),
            inbox: scene.inbox.is_open.then(|| InboxLayout::of(&scene.inbox, panes.terminal)),
            toasts: toasts(scene.toasts.len(), panes.terminal),
            dialog: scene.dialog.as_ref().map(|open| DialogLayout::of(open, panes.window)),
        }
    }

    /// What is under a point, the uppermost thing first.
    pub fn hit(&self, point: Point) -> Hit {
        if let Some(dialog) = &self.dialog {
            return dialog.hit(point);
        }
        if let Some(palette) = &self.palette {
            return palette.hit(point);
        }
        let inbox = self.inbox.as_ref().and_then(|inbox| inbox.hit(point));
        inbox
            .or_else(|| self.sidebar.hit(point))
            .or_else(|| self.strip.hit(point))
            .or_else(|| self.grid.cell_at(point).map(|(row, col)| Hit::Cell { row, col }))
            .unwrap_or(Hit::Nothing)
    }
}

/// Where the rows of the sidebar lie.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SidebarLayout {
    /// Where rows are visible; rows beyond it are to be clipped.
    pub list: Rect,
    /// Projects and the agents below them, in the scene's order.
    pub projects: Vec<ProjectLayout>,
    /// The button for a new project.
    pub new_project: Rect,
    /// The bell that opens the inbox.
    pub bell: Rect,
    /// The right edge, to drag.
    pub edge: Rect,
}

/// Where a project and its agents lie.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectLayout {
    /// Which project.
    pub id: ProjectId,
    /// Its own row.
    pub row: Rect,
    /// Its agents' rows; none if agents are not shown.
    pub agents: Vec<(TerminalId, Rect)>,
}

impl SidebarLayout {
    fn of(sidebar: &Sidebar, pane: Rect) -> SidebarLayout {
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
        };
        let mut y = list.y;
        for project in &sidebar.projects {
            let agents = if sidebar.are_agents_visible { &project.agents[..] } else { &[] };
            let row = Rect::new(0.0, y, pane.width, PROJECT_HEIGHT);
            y += PROJECT_HEIGHT;
            let place = |(index, agent): (usize, &super::AgentRow)| {
                let top = y + index as f32 * AGENT_HEIGHT;
                (agent.tab, Rect::new(0.0, top, pane.width, AGENT_HEIGHT))
            };
            let agents: Vec<_> = agents.iter().enumerate().map(place).collect();
            y += agents.len() as f32 * AGENT_HEIGHT + if agents.is_empty() { 2.0 } else { 8.0 };
            layout.projects.push(ProjectLayout { id: project.id, row, agents });
        }
        layout.scroll_to_active(sidebar, y - list.y);
        layout
    }

    /// Moves the rows up until the active one is visible.
    fn scroll_to_active(&mut self, sidebar: &Sidebar, content: f32) {
        let active = sidebar.projects.iter().position(|project| project.is_active).unwrap_or(0);
        let Some(project) = self.projects.get(active) else { return };
        let lowest = project.agents.last().map_or(project.row, |(_, row)| *row);
        let wanted = (lowest.bottom() - self.list.bottom()).min(project.row.y - self.list.y);
        let offset = wanted.clamp(0.0, (content - self.list.height).max(0.0));
        for project in &mut self.projects {
            project.row.y -= offset;
            project.agents.iter_mut().for_each(|(_, row)| row.y -= offset);
        }
    }

    fn hit(&self, point: Point) -> Option<Hit> {
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
        self.projects.iter().find_map(|project| {
            let agent = project.agents.iter().find(|(_, row)| row.contains(point));
            let own = project.row.contains(point).then_some(Hit::Project(project.id));
            own.or(agent.map(|(tab, _)| Hit::Agent(*tab)))
        })
    }
}

/// Where the pills lie.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StripLayout {
    /// Where pills are visible; pills beyond it are to be clipped.
    pub visible: Rect,
    /// Pills in the scene's order.
    pub pills: Vec<(TerminalId, Rect)>,
    /// The button for a new tab.
    pub new_tab: Rect,
    /// Room for the title at the right; none if the pills need it.
    pub title: Option<Rect>,
}

impl StripLayout {
    fn of(strip: &TabStrip, band: Rect) -> StripLayout {
        let room = band.width - 2.0 * MARGIN - PILL_HEIGHT - PILL_GAP;
        let visible = Rect::new(band.x + MARGIN, band.y, room, band.height);
        let y = band.y + (BAND_HEIGHT - PILL_HEIGHT) / 2.0;
        let widths = pill_widths(strip, room);
        let mut x = visible.x;
        let mut pills = Vec::with_capacity(widths.len());
        for (pill, width) in strip.pills.iter().zip(widths) {
            pills.push((pill.id, Rect::new(x, y, width, PILL_HEIGHT)));
            x += width + PILL_GAP;
        }
        let content = (x - PILL_GAP - visible.x).max(0.0);
        let offset = strip_offset(strip, &pills, visible, content);
        pills.iter_mut().for_each(|(_, rect)| rect.x -= offset);
        let plus = if pills.is_empty() { visible.x } else { x.min(visible.right() + PILL_GAP) };
        let new_tab = Rect::new(plus, y, PILL_HEIGHT, PILL_HEIGHT);
        let title_x = new_tab.right() + 2.0 * MARGIN;
        let title = Rect::new(title_x, band.y, band.right() - 12.0 - title_x, band.height);
        StripLayout { visible, pills, new_tab, title: (title.width >= 120.0).then_some(title) }
    }

    fn hit(&self, point: Point) -> Option<Hit> {
        if self.new_tab.contains(point) {
            return Some(Hit::NewTab);
        }
        if !self.visible.contains(point) {
            return None;
        }
        let pill = self.pills.iter().find(|(_, rect)| rect.contains(point));
        pill.map(|(id, _)| Hit::Pill(*id))
    }
}

/// Widths by title; all shrink alike when the strip is full, until they are at their narrowest.
fn pill_widths(strip: &TabStrip, room: f32) -> Vec<f32> {
    let (narrow, wide) = PILL_BOUNDS;
    let wanted = |pill: &super::Pill| {
        let text = pill.rename.as_ref().unwrap_or(&pill.title);
        let graphemes = text.graphemes(true).count().min(64) as f32;
        (graphemes * 7.0 + 52.0).clamp(narrow, wide)
    };
    let mut widths: Vec<f32> = strip.pills.iter().map(wanted).collect();
    let count = widths.len() as f32;
    let total: f32 = widths.iter().sum::<f32>() + PILL_GAP * (count - 1.0);
    if total > room {
        // Wide pills give way first: cap all at the width where they just fit.
        let fair = ((room - PILL_GAP * (count - 1.0)) / count).floor().max(narrow);
        let spare: f32 = widths.iter().map(|width| (fair - width).max(0.0)).sum();
        let greedy = widths.iter().filter(|width| **width > fair).count().max(1) as f32;
        let cap = fair + (spare / greedy).floor();
        widths.iter_mut().for_each(|width| *width = width.min(cap));
    }
    widths
}

fn strip_offset(
    strip: &TabStrip,
    pills: &[(TerminalId, Rect)],
    visible: Rect,
    content: f32,
) -> f32 {
    let active = strip.pills.iter().position(|pill| pill.is_active).unwrap_or(0);
    let Some((_, rect)) = pills.get(active) else { return 0.0 };
    let most = (content - visible.width).max(0.0);
    // A glimpse of the next pill tells that there is one.
    let wanted = rect.right() + PILL_HEIGHT - visible.right();
    wanted.clamp(0.0, most).min((rect.x - visible.x).max(0.0))
}

/// Where the palette lies.
#[derive(Clone, Debug, PartialEq)]
pub struct PaletteLayout {
    /// The box.
    pub frame: Rect,
    /// The line with the query.
    pub query: Rect,
    /// Visible rows with their index in the scene. The selected one is among them.
    pub rows: Vec<(usize, Rect)>,
}

impl PaletteLayout {
    fn of(palette: &PaletteOverlay, window: Rect) -> PaletteLayout {
        let room = window.inset(2.0 * MARGIN, 2.0 * MARGIN);
        let most = room.height.min(PALETTE_HEIGHT) - PALETTE_HEAD - 2.0 * PALETTE_PADDING;
        let fitting = (most / PALETTE_ROW).floor().max(1.0) as usize;
        let shown = palette.rows.len().min(fitting);
        let first = (palette.selected() + 1).saturating_sub(fitting);
        let rows_height = shown.max(1) as f32 * PALETTE_ROW + 2.0 * PALETTE_PADDING;
        let frame = room.centered(PALETTE_WIDTH, PALETTE_HEAD + rows_height);
        let top = frame.y + PALETTE_HEAD + PALETTE_PADDING;
        let row = |index: usize| {
            let y = top + (index - first) as f32 * PALETTE_ROW;
            let width = frame.width - 2.0 * PALETTE_PADDING;
            (index, Rect::new(frame.x + PALETTE_PADDING, y, width, PALETTE_ROW))
        };
        PaletteLayout {
            frame,
            query: Rect::new(frame.x, frame.y, frame.width, PALETTE_HEAD),
            rows: (first..first + shown).map(row).collect(),
        }
    }

    fn hit(&self, point: Point) -> Hit {
        if let Some((index, _)) = self.rows.iter().find(|(_, rect)| rect.contains(point)) {
            return Hit::PaletteRow(*index);
        }
        if self.frame.contains(point) { Hit::Nothing } else { Hit::Backdrop }
    }
}

/// Where the inbox lies.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxLayout {
    /// The box.
    pub frame: Rect,
    /// Its heading.
    pub heading: Rect,
    /// Entries in the scene's order, as many as fit.
    pub rows: Vec<Rect>,
}

impl InboxLayout {
    fn of(inbox: &Inbox, terminal: Rect) -> InboxLayout {
        let room = terminal.inset(MARGIN, MARGIN);
        let fitting = ((room.height - BAND_HEIGHT - MARGIN) / INBOX_ROW).floor().max(0.0) as usize;
        let shown = inbox.rows.len().min(fitting);
        let height = BAND_HEIGHT + shown.max(1) as f32 * INBOX_ROW + MARGIN;
        let width = INBOX_WIDTH.min(room.width);
        let frame = Rect::new(room.x, room.y, width, height);
        let row = |index: usize| {
            let y = frame.y + BAND_HEIGHT + index as f32 * INBOX_ROW;
            Rect::new(frame.x, y, width, INBOX_ROW).inset(PALETTE_PADDING, 0.0)
        };
        InboxLayout {
            frame,
            heading: Rect::new(frame.x, frame.y, width, BAND_HEIGHT),
            rows: (0..shown).map(row).collect(),
        }
    }

    fn hit(&self, point: Point) -> Option<Hit> {
        let row = self.rows.iter().position(|row| row.contains(point)).map(Hit::InboxRow);
        row.or(self.frame.contains(point).then_some(Hit::Nothing))
    }
}

/// Where a question lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DialogLayout {
    /// The box.
    pub frame: Rect,
    /// The button that does it.
    pub confirm: Rect,
    /// The button that does not.
    pub cancel: Rect,
}

impl DialogLayout {
    fn of(_dialog: &Dialog, window: Rect) -> DialogLayout {
        let frame = window.centered(DIALOG.0, DIALOG.1);
        let y = frame.bottom() - 16.0 - BUTTON.1;
        let confirm = Rect::new(frame.right() - 16.0 - BUTTON.0, y, BUTTON.0, BUTTON.1);
        let cancel = Rect { x: confirm.x - MARGIN - BUTTON.0, ..confirm };
        DialogLayout { frame, confirm, cancel }
    }

    fn hit(&self, point: Point) -> Hit {
        if self.confirm.contains(point) {
            Hit::Confirm
        } else if self.cancel.contains(point) {
            Hit::Cancel
        } else if self.frame.contains(point) {
            Hit::Nothing
        } else {
            Hit::Backdrop
        }
    }
}

/// Toasts stand at the lower right, newest lowest.
fn toasts(count: usize, terminal: Rect) -> Vec<Rect> {
    let shown = count.min(MAX_TOASTS);
    let width = TOAST.0.min(terminal.width - 2.0 * MARGIN);
    let place = |index: usize| {
        let below = (shown - index) as f32;
        let y = terminal.bottom() - MARGIN - below * (TOAST.1 + MARGIN);
        Rect::new(terminal.right() - 2.0 * MARGIN - width, y, width, TOAST.1)
    };
    (0..shown).map(place).collect()
}
