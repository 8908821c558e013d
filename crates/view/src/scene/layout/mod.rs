//! Where the parts of a scene lie: pure functions, so that painters, the mouse and callers that ask for
//! the window's metrics get the same answer. What needs the width of text, such as pages, is placed
//! by the painter.

mod overlays;
mod room;
mod sidebar;
mod strip;

use rookery_model::{ProjectId, TerminalId};

pub use self::overlays::{InboxLayout, PaletteLayout};
pub use self::room::{HEADER_HEIGHT, PaneLayout};
pub use self::sidebar::{ProjectLayout, SidebarLayout};
pub use self::strip::StripLayout;
use super::geometry::bounded;
pub use super::geometry::{
    ADVANCE, CellSize, FONT_BOUNDS, GridArea, Point, Rect, WINDOW_BOUNDS, on_pixel,
};
use super::pages::Button;
use super::{Corner, Scene, Stage, StatusLine, WindowSize};
use crate::tile;

/// Width of the sidebar unless the user dragged it.
pub const SIDEBAR_WIDTH: f32 = 220.0;
/// How narrow and how wide the sidebar can be dragged.
pub const SIDEBAR_BOUNDS: (f32, f32) = (160.0, 400.0);
/// Height of the bands at the top and at the sidebar's bottom.
pub const BAND_HEIGHT: f32 = 32.0;
pub const PILL_HEIGHT: f32 = 24.0;
/// Narrowest and widest pill.
pub const PILL_BOUNDS: (f32, f32) = (80.0, 220.0);
pub const PALETTE_WIDTH: f32 = 660.0;
/// Greatest height of the palette.
pub const PALETTE_HEIGHT: f32 = 500.0;
/// Height of a project's row.
pub const PROJECT_HEIGHT: f32 = 30.0;
/// Height of an agent's row.
pub const AGENT_HEIGHT: f32 = 24.0;
/// Height of the line below everything.
pub const STATUS_HEIGHT: f32 = 22.0;

const MARGIN: f32 = 8.0;
/// A window lower than this has no status line.
const LEAST_FOR_STATUS: f32 = 160.0;

/// The width a sidebar has: none if collapsed, else within its bounds and at most half the window.
pub fn sidebar_width(window: WindowSize, is_collapsed: bool, width: f32) -> f32 {
    if is_collapsed {
        return 0.0;
    }
    bounded(width, SIDEBAR_BOUNDS).round().min((window.bounded().width / 2.0).floor())
}

/// The great parts of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Panes {
    /// The whole window.
    pub window: Rect,
    /// The sidebar; of no width if collapsed.
    pub sidebar: Rect,
    /// The band of pills.
    pub strip: Rect,
    /// Terminals with their padding, or a page. Its upper edge is what `terminal_top` means.
    pub terminal: Rect,
    /// The line below it; of no height in a low window.
    pub status: Rect,
}

impl Panes {
    /// The parts of a window whose sidebar has a width, as [`sidebar_width`] gives it.
    pub fn of(window: WindowSize, sidebar_width: f32) -> Panes {
        let is_low = window.bounded().height < LEAST_FOR_STATUS;
        Panes::above(if is_low { 0.0 } else { STATUS_HEIGHT }, window, sidebar_width)
    }

    /// The same without a status line: what Roost's clients measure where there is no window.
    pub fn without_status(window: WindowSize, sidebar_width: f32) -> Panes {
        Panes::above(0.0, window, sidebar_width)
    }

    fn above(line: f32, window: WindowSize, sidebar_width: f32) -> Panes {
        let WindowSize { width, height } = window.bounded();
        let rest = width - sidebar_width;
        Panes {
            window: Rect::new(0.0, 0.0, width, height),
            sidebar: Rect::new(0.0, 0.0, sidebar_width, height),
            strip: Rect::new(sidebar_width, 0.0, rest, BAND_HEIGHT.min(height)),
            terminal: Rect::new(sidebar_width, BAND_HEIGHT, rest, height - BAND_HEIGHT - line),
            status: Rect::new(sidebar_width, height - line, rest, line),
        }
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
    /// The room for panes, in cells.
    pub grid: GridArea,
    /// The panes that are shown, in the scene's order.
    pub terminals: Vec<PaneLayout>,
    /// The palette, if open.
    pub palette: Option<PaletteLayout>,
    /// The inbox, if open.
    pub inbox: Option<InboxLayout>,
    /// Toasts, newest last and lowest; older ones than fit are left out.
    pub toasts: Vec<Rect>,
}

/// What is under a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hit {
    /// Nothing that reacts.
    Nothing,
    /// A project's row.
    Project(ProjectId),
    /// An agent's row: index of its project, and its own there.
    Agent(usize, usize),
    /// The button for a new project.
    NewProject,
    /// The sidebar's right edge, to drag.
    SidebarEdge,
    /// The bell that opens the inbox.
    Bell,
    Pill(TerminalId),
    /// The sign for pills that are not visible.
    MorePills {
        /// Those at the right.
        is_right: bool,
    },
    /// The button for a new tab.
    NewTab,
    /// A cell of a terminal.
    Cell {
        terminal: TerminalId,
        /// Row of its view from the top.
        row: u16,
        /// Column from the left.
        col: u16,
    },
    /// Around the cells of a pane.
    Pane(TerminalId),
    PaneHeader(TerminalId),
    /// The sign that closes a pane.
    PaneClose(TerminalId),
    /// The line between a pane and the one to its right or below it, to drag.
    Gap {
        /// The pane whose edge it is.
        terminal: TerminalId,
        /// Right or down.
        edge: tile::Edge,
    },
    /// A scrollbar, and where on it: 0 is its beginning, 1 its end.
    Bar(Bar, f32),
    /// A row of the palette, by index.
    PaletteRow(usize),
    /// An entry of Roost's inbox, by index.
    InboxRow(usize),
    /// A toast, by index in the scene.
    Toast(usize),
    /// A row of the menu, by index.
    MenuRow(usize),
    /// The button that does what the question asks.
    Confirm,
    /// A further answer of the question, by index.
    Answer(usize),
    /// The button that does not.
    Cancel,
    /// Beside an open palette, question or menu.
    Backdrop,
    /// A button of a page, of the find bar or of the box that says the daemon is away.
    Button(Button),
    /// A row of a page's list, by index; of a review's files too.
    Row(usize),
    /// An item of a thread, by index.
    Item(usize),
    /// A button that belongs to an item of a thread, by the item's index.
    ItemButton(usize, Button),
    /// The sign that a terminal has newer rows than those in view.
    PaneNewest(TerminalId),
    /// A line of the diff that is shown, counted over its hunks.
    Line(usize),
    /// An option of a question, by index; the one behind the last is an own answer.
    Choice(usize),
    /// The control of a setting: its row, and the word of a choice. Of a number 0 is the step down, 1 the
    /// step up and 2 the number; of all else there is only 0.
    Setting(usize, usize),
    /// A field to write into, and the byte of its text that is nearest.
    Field(FieldOf, usize),
    /// A link in prose, by index.
    Link(usize),
    /// A part of the status line.
    Status(StatusPart),
}

/// What scrolls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bar {
    /// A terminal.
    Pane(TerminalId),
    /// A page's list, or its files.
    List,
    /// A page's text: a card, a thread, a diff.
    Text,
    /// What a question is about.
    Question,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldOf {
    /// The find bar.
    Find,
    /// What is looked for in the palette.
    Query,
    /// A filter of a list or of the help.
    Filter,
    /// The message of a thread, or the first one of a new one.
    Composer,
    /// The reason of a denial.
    Reason,
    /// An own answer to a question.
    Answer,
    /// A comment on a line.
    Comment,
    /// A name that is edited in place.
    Name,
    Setting,
    /// The field of a question over everything.
    Question,
}

/// A part of the status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusPart {
    /// The key that shows all keys.
    Help,
    /// What waits.
    Waiting,
    /// The key that opens the palette.
    Palette,
    Size,
}

impl Layout {
    /// Where the parts of a scene lie.
    pub fn of(scene: &Scene) -> Layout {
        let sidebar = &scene.sidebar;
        let width = sidebar_width(scene.window, sidebar.is_collapsed, sidebar.width);
        let panes = match scene.status == StatusLine::default() {
            true => Panes::without_status(scene.window, width),
            false => Panes::of(scene.window, width),
        };
        let grid = panes.room(&scene.font, scene.scale, room::Headers::of(scene));
        let is_group = matches!(&scene.stage, Stage::Panes(shown) if shown.is_group);
        let place = |pane| PaneLayout::of(pane, grid, panes.terminal, is_group);
        Layout {
            panes,
            sidebar: SidebarLayout::of(sidebar, panes.sidebar),
            strip: StripLayout::of(&scene.strip, panes.strip),
            grid,
            terminals: scene.stage.panes().iter().map(place).collect(),
            palette: scene.palette.as_ref().map(|open| PaletteLayout::of(open, panes.window)),
            inbox: scene.inbox.is_open.then(|| InboxLayout::of(&scene.inbox, panes.terminal)),
            toasts: Layout::toasts_in(
                scene,
                scene.toast_corner,
                scene.toasts.len(),
                panes.terminal,
            ),
        }
    }

    /// Where `count` toasts lie in a corner.
    fn toasts_in(scene: &Scene, corner: Corner, count: usize, terminal: Rect) -> Vec<Rect> {
        let is_page = !matches!(scene.stage, Stage::Panes(_) | Stage::Empty(_));
        overlays::toasts(count, corner, is_page, terminal)
    }

    /// The first corner in which `count` toasts lie on none of these places.
    pub fn free_corner(&self, scene: &Scene, count: usize, taken: &[Rect]) -> Option<Corner> {
        let room = self.panes.terminal;
        let is_free = |toast: &Rect| {
            let is_inside = toast.y >= room.y && toast.bottom() <= room.bottom();
            is_inside && !taken.iter().any(|place| toast.touches(place))
        };
        Corner::ALL
            .into_iter()
            .find(|corner| Layout::toasts_in(scene, *corner, count, room).iter().all(is_free))
    }

    /// Where a terminal lies, if a pane shows it.
    pub fn terminal(&self, terminal: TerminalId) -> Option<&PaneLayout> {
        self.terminals.iter().find(|pane| pane.terminal == terminal)
    }

    /// What is under a point, the uppermost thing first.
    pub fn hit(&self, point: Point) -> Hit {
        self.hit_above(point)
            .or_else(|| self.hit_around(point))
            .or_else(|| self.terminals.iter().find_map(|pane| pane.hit(point)))
            .unwrap_or(Hit::Nothing)
    }

    /// What floats above the rest there: palette, inbox. Questions and toasts are placed by the painter.
    pub fn hit_above(&self, point: Point) -> Option<Hit> {
        if let Some(palette) = &self.palette {
            return Some(palette.hit(point));
        }
        self.inbox.as_ref().and_then(|inbox| inbox.hit(point))
    }

    /// What of sidebar and strip is there.
    pub fn hit_around(&self, point: Point) -> Option<Hit> {
        self.sidebar.hit(point).or_else(|| self.strip.hit(point))
    }

    /// The terminal that is there, if panes are shown.
    pub fn hit_pane(&self, point: Point) -> Option<Hit> {
        self.terminals.iter().find_map(|pane| pane.hit(point))
    }
}
