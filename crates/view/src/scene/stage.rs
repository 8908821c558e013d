//! What stands beside the sidebar and below the strip: panes, or a page in place of them.

use std::sync::Arc;

use rookery_model::TerminalId;

use super::pages::{self, Field};
use super::{Grid, Mood};
use crate::tile;

/// What is shown below the strip.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// Nothing runs: what could be begun.
    Empty(pages::Empty),
    /// Terminals.
    Panes(Panes),
    /// What waits, with the card of the selected row.
    Inbox(pages::Inbox),
    /// A conversation.
    Thread(pages::Thread),
    /// A conversation that is being begun.
    NewThread(pages::NewThread),
    /// Changes that are judged.
    Review(pages::Review),
    /// Threads, reviews, checkpoints, worktrees, the audit.
    List(pages::List),
    /// What can be set.
    Settings(pages::Settings),
    /// What every key does.
    Help(pages::Help),
}

impl Default for Stage {
    fn default() -> Self {
        Stage::Empty(pages::Empty::default())
    }
}

impl Stage {
    /// One terminal that has all the room.
    pub fn terminal(terminal: TerminalId, grid: Arc<Grid>) -> Stage {
        let pane = Pane { is_focused: true, ..Pane::new(terminal, None, grid) };
        Stage::Panes(Panes { panes: vec![pane], is_group: false, is_zoomed: false })
    }

    /// The panes, if they are shown.
    pub fn panes(&self) -> &[Pane] {
        match self {
            Stage::Panes(shown) => &shown.panes,
            _ => &[],
        }
    }

    /// The pane that keys go to.
    pub fn focused(&self) -> Option<&Pane> {
        self.panes().iter().find(|pane| pane.is_focused)
    }
}

/// Terminals that share the room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panes {
    /// Those that are shown.
    pub panes: Vec<Pane>,
    /// Whether the group has several tabs: each pane has a header then.
    pub is_group: bool,
    /// Whether one of several has all the room.
    pub is_zoomed: bool,
}

/// One terminal and its part of the room.
#[derive(Clone, Debug, PartialEq)]
pub struct Pane {
    pub terminal: TerminalId,
    /// Its cells of the room for panes, as `tile` or the link gives them; none is the whole room.
    pub area: Option<tile::Rect>,
    /// What it shows. May be larger or smaller than its area.
    pub grid: Arc<Grid>,
    /// Whether keys go to it.
    pub is_focused: bool,
    /// Its title, for its header.
    pub title: String,
    /// How it fares, for its header.
    pub mood: Mood,
    /// First row and column that are shown of a grid that is larger than its area; none keeps the
    /// cursor in view.
    pub pan: Option<(u16, u16)>,
    /// The find bar over it.
    pub find: Option<FindBar>,
    /// Rows that came below what is shown since it was scrolled.
    pub new_rows: u64,
    /// How its program ended, in words, if it did.
    pub ended: Option<String>,
}

impl Pane {
    /// A pane without anything around it.
    pub fn new(terminal: TerminalId, area: Option<tile::Rect>, grid: Arc<Grid>) -> Pane {
        Pane {
            terminal,
            area,
            grid,
            is_focused: false,
            title: String::new(),
            mood: Mood::Inactive,
            pan: None,
            find: None,
            new_rows: 0,
            ended: None,
        }
    }
}

/// What is searched in a terminal, at its upper right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindBar {
    /// What is searched.
    pub field: Field,
    /// `2 of 7`.
    pub count: String,
    /// As an expression.
    pub is_regex: bool,
    /// Capitals count.
    pub is_exact_case: bool,
    /// Why nothing can be found, such as a wrong expression.
    pub error: String,
}

/// The line below everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusLine {
    /// The key that shows all keys, such as `alt+shift+/`; a click shows them.
    pub help_key: String,
    /// Requests that wait.
    pub waiting: u32,
    /// The key that opens the inbox.
    pub inbox_key: String,
    /// The key that opens the palette.
    pub palette_key: String,
    /// What happened last.
    pub message: Option<(Tone, String)>,
    /// Project and directory.
    pub place: String,
    /// `80×24`.
    pub size: String,
    /// Whose size the focused terminal has, if it is another viewer's; a click takes it.
    pub owner: Option<String>,
    /// The policy mode.
    pub mode: String,
    /// What this viewer may do: `full`, `decide`, `look`.
    pub rights: String,
    /// A key was refused just now: the line stands out for a moment.
    pub is_flashing: bool,
}

/// How a message is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Good to know.
    #[default]
    Info,
    /// To be looked at.
    Warn,
    /// Something did not work.
    Error,
}

/// A menu at a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Menu {
    /// Where it was asked for.
    pub at: super::layout::Point,
    /// From top to bottom.
    pub rows: Vec<MenuRow>,
    /// The row that Enter takes.
    pub selected: Option<usize>,
}

/// One row of a menu.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MenuRow {
    /// Its text; an empty one is a line between groups.
    pub title: String,
    /// The key that does the same.
    pub key: String,
    /// Whether it cannot be taken now.
    pub is_disabled: bool,
    /// Whether taking it destroys something.
    pub is_destructive: bool,
}

/// The daemon is away: the last picture, dimmed, with this above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// What is being done about it, such as `connecting again, 3 s`.
    pub trying: String,
    /// What may not have arrived, in a sentence; empty if all did.
    pub unsent: String,
    /// What was said of the last key; may be empty.
    pub note: String,
    /// Whether a button to start the daemon is offered.
    pub can_start: bool,
}

/// Where what is dragged would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drop {
    /// Before the pill of this index; behind the last one if there is none.
    Pill(usize),
    /// Before the project of this index.
    Project(usize),
    /// Beside a pane.
    Pane(TerminalId, tile::Side),
}
