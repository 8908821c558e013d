//! What is visible at one moment, as plain data.
//!
//! Core fills a [`Scene`], painters draw it and hold no truth of their own. Where its parts lie is
//! computed by [`layout`], so that a picture, a window and a mouse click agree. Nothing here knows
//! a GUI toolkit, a wire or a clock.

mod geometry;
pub mod grid;
pub mod layout;
mod mood;
pub mod pages;
mod preedit;
mod stage;
#[cfg(test)]
mod tests;
mod title;

use rookery_model::{ProjectId, TerminalId};

pub use grid::Grid;
pub use layout::Layout;
pub use mood::{ACCENT, Mood};
pub use preedit::Preedit;
pub use stage::{Drop, FindBar, Lost, Menu, MenuRow, Pane, Panes, Stage, StatusLine, Tone};
pub use title::{TITLE_GRAPHEMES, abbreviated, window_title};

use crate::theme::Theme;

/// A color as red, green, blue.
pub type Rgb = (u8, u8, u8);

/// Everything a painter needs to draw one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Size of the window in logical points.
    pub window: WindowSize,
    /// Colors.
    pub theme: Theme,
    /// The terminal's font.
    pub font: FontChoice,
    /// The window's title; see [`window_title`].
    pub title: String,
    /// Projects and their agents.
    pub sidebar: Sidebar,
    /// Tabs of the active project.
    pub strip: TabStrip,
    /// What is shown below the strip.
    pub stage: Stage,
    /// What the line below everything says.
    pub status: StatusLine,
    /// The palette, while it is open.
    pub palette: Option<PaletteOverlay>,
    /// What waits to be looked at.
    pub inbox: Inbox,
    /// Short messages, newest last.
    pub toasts: Vec<Toast>,
    /// Where they stand.
    pub toast_corner: Corner,
    /// A question that must be answered first.
    pub dialog: Option<Dialog>,
    pub menu: Option<Menu>,
    /// The daemon is away.
    pub lost: Option<Lost>,
    /// Where what is dragged would go.
    pub drop: Option<Drop>,
    /// Where the mouse is, if it is over the window.
    pub hover: Option<layout::Point>,
    /// Physical pixels of a logical point.
    pub scale: f32,
    /// Milliseconds since 1970, for ages; 0 shows none.
    pub now: i64,
    /// Seconds that the clock of the person is ahead of UTC.
    pub utc_offset: i32,
}

impl Scene {
    /// An empty workspace in a window of the default size.
    pub fn new(theme: Theme) -> Self {
        Scene {
            window: WindowSize::default(),
            theme,
            font: FontChoice::default(),
            title: String::new(),
            sidebar: Sidebar::default(),
            strip: TabStrip::default(),
            stage: Stage::default(),
            status: StatusLine::default(),
            palette: None,
            inbox: Inbox::default(),
            toasts: Vec::new(),
            toast_corner: Corner::default(),
            dialog: None,
            menu: None,
            lost: None,
            drop: None,
            hover: None,
            scale: 1.0,
            now: 0,
            utc_offset: 0,
        }
    }
}

/// A corner below the strip, beside the sidebar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Corner {
    #[default]
    LowerRight,
    UpperRight,
    LowerLeft,
}

impl Corner {
    /// All, the usual one first.
    pub const ALL: [Corner; 3] = [Corner::LowerRight, Corner::UpperRight, Corner::LowerLeft];
}

/// A window's size in logical points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSize {
    /// From left to right.
    pub width: f32,
    /// From top to bottom.
    pub height: f32,
}

impl Default for WindowSize {
    fn default() -> Self {
        WindowSize { width: 1100.0, height: 720.0 }
    }
}

/// The terminal's font as the user chose it.
#[derive(Clone, Debug, PartialEq)]
pub struct FontChoice {
    /// Family name; empty for the built-in one.
    pub family: String,
    /// Size in logical points.
    pub size: f32,
}

impl Default for FontChoice {
    fn default() -> Self {
        FontChoice { family: String::new(), size: 13.0 }
    }
}

/// The list of projects at the left.
#[derive(Clone, Debug, PartialEq)]
pub struct Sidebar {
    /// Whether it is hidden.
    pub is_collapsed: bool,
    /// Its width while it is not; see [`layout::sidebar_width`] for the bounds.
    pub width: f32,
    /// Rows from top to bottom.
    pub projects: Vec<ProjectRow>,
    /// Conversations that are in none of these projects.
    pub elsewhere: Vec<AgentRow>,
    /// What is looked for in it, while it is.
    pub filter: Option<pages::Field>,
    /// Whether agents are listed below their projects.
    pub are_agents_visible: bool,
    /// The row that has the keyboard, counted over projects and agents.
    pub chosen: Option<usize>,
    /// How far the user scrolled it, in points; none keeps the active project in view.
    pub scroll: Option<f32>,
}

impl Default for Sidebar {
    fn default() -> Self {
        Sidebar {
            is_collapsed: false,
            width: layout::SIDEBAR_WIDTH,
            projects: Vec::new(),
            elsewhere: Vec::new(),
            filter: None,
            are_agents_visible: true,
            chosen: None,
            scroll: None,
        }
    }
}

/// One project in the sidebar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectRow {
    /// Which project.
    pub id: ProjectId,
    pub name: String,
    /// Whether it is the one shown.
    pub is_active: bool,
    /// What its checkout stands on; empty if unknown.
    pub branch: String,
    /// The loudest mood among its tabs; colors the stripe.
    pub mood: Mood,
    /// Requests that wait in it.
    pub waiting: u32,
    /// Whether any of its tabs has something unseen.
    pub has_badge: bool,
    /// What the user has typed so far while renaming it.
    pub rename: Option<pages::Field>,
    pub agents: Vec<AgentRow>,
}

/// One agent below its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRow {
    /// The tab it works in.
    pub tab: Option<TerminalId>,
    /// The thread that it is, if it works in no tab.
    pub thread: Option<String>,
    /// What it calls its session, else the tab's title.
    pub name: String,
    /// How it fares.
    pub mood: Mood,
    /// The same in words.
    pub status_text: String,
    /// Time since its last event, such as `2m`; empty if unknown.
    pub time_text: String,
    /// Whether its tab is the one shown.
    pub is_active: bool,
}

/// The tabs of the active project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TabStrip {
    /// From left to right.
    pub pills: Vec<Pill>,
    /// How far the user scrolled it, in points; none keeps the active pill in view.
    pub scroll: Option<f32>,
}

/// One tab in the strip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pill {
    /// Which tab; of a group, the one in its focused pane.
    pub id: TerminalId,
    pub title: String,
    /// Colors its dot; none is drawn for [`Mood::Inactive`].
    pub mood: Mood,
    /// Whether it has something unseen.
    pub has_badge: bool,
    /// Whether it is the one shown.
    pub is_active: bool,
    /// Further tabs of its group, of which it is the focused one.
    pub more: usize,
    /// What the user has typed so far while renaming it.
    pub rename: Option<pages::Field>,
}

/// The palette over everything else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaletteOverlay {
    /// Name of its top frame, such as `commands`.
    pub frame: String,
    /// Shown while the query is empty.
    pub placeholder: String,
    /// What the user typed.
    pub query: String,
    /// Where the next letter goes, in bytes; none is behind the last.
    pub cursor: Option<usize>,
    /// What an input method shows there.
    pub preedit: String,
    /// Rows that match, best first.
    pub rows: Vec<PaletteRow>,
}

impl PaletteOverlay {
    /// Index of the selected row; 0 if none says it is.
    pub fn selected(&self) -> usize {
        self.rows.iter().position(|row| row.is_selected).unwrap_or(0)
    }
}

/// One row of the palette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaletteRow {
    /// What activating it names.
    pub id: String,
    /// Its text.
    pub title: String,
    /// More about it; may be empty.
    pub subtitle: String,
    /// How its agent fares, for rows that stand for one.
    pub mood: Option<Mood>,
    /// Whether the next Enter takes it.
    pub is_selected: bool,
    /// Which characters of the title the query matched, by index, ascending.
    pub matched: Vec<usize>,
}

/// What waits to be looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inbox {
    /// Whether the list is shown.
    pub is_open: bool,
    /// Newest first.
    pub rows: Vec<InboxRow>,
    /// What the bell counts, if that is not the rows.
    pub count: Option<usize>,
}

/// One entry of the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxRow {
    /// The tab it came from.
    pub tab: TerminalId,
    /// Where it came from, and what it says in short.
    pub title: String,
    /// More of it; may be empty.
    pub body: String,
    /// How long ago, such as `2m`; may be empty.
    pub time_text: String,
}

/// A short message at the corner of the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    /// First line.
    pub title: String,
    /// Second line; may be empty.
    pub body: String,
    /// Colors its edge.
    pub mood: Mood,
}

/// A question over everything else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dialog {
    /// The question.
    pub title: String,
    /// What an answer entails; may be empty.
    pub body: String,
    /// What it is about, line by line; shown exactly, and wrapped.
    pub lines: Vec<String>,
    /// How far those are scrolled, in points.
    pub scroll: f32,
    /// Its field, if it has one.
    pub field: Option<pages::Field>,
    /// Label of the button that does it.
    pub confirm: String,
    /// Labels of further answers, for questions with several.
    pub others: Vec<String>,
    /// Label of the button that does not.
    pub cancel: String,
    /// Whether doing it destroys something; colors the button.
    pub is_destructive: bool,
}
