//! Viewers: those who look, each with a place of its own, and which of them is the desk.
//!
//! A viewer is one connection of a program that a person looks at. Where it is and what it may do is
//! part of the world, in memory only, so that what follows from it (who sees a terminal, whose size it
//! has) is judged in one step with everything else. What it has in front of the terminals (palette, a
//! name half edited) is its [`Seat`](super::Seat).

mod acts;
mod desk;
mod endings;
mod focus;
mod sizes;
mod tab_history;

use std::collections::BTreeSet;
use std::path::PathBuf;

use rookery_model::{QueueItemId, ReviewId, SessionId, Size, TerminalId, ThreadId, ViewerId};
use rookery_view::scene::WindowSize;

use crate::world::{Active, World};

pub use endings::EndReason;
pub(super) use endings::Ending;
pub(super) use sizes::Sizes;
pub(crate) use tab_history::TabHistory;

/// How many viewers there may be, unless the config says otherwise.
pub const MAX_VIEWERS: usize = 64;
/// How many a device may have.
pub(super) const MAX_VIEWERS_OF_DEVICE: usize = 8;

/// What kind of program a viewer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// In a terminal of another program.
    Tui,
    /// A window of its own.
    Window,
    /// A page in a browser.
    Web,
    /// Anything else.
    Other,
}

/// What a viewer may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViewerRights {
    /// See, without secrets.
    Look,
    /// And answer what agents ask.
    Decide,
    /// Everything.
    Full,
}

rookery_model::words! {
    Face {
        Tui = "tui",
        Window = "window",
        Web = "web",
        Other = "other",
    }
    ViewerRights {
        Look = "look",
        Decide = "decide",
        Full = "full",
    }
}

/// What becomes of terminals that a viewer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// They may take its size.
    Own,
    /// They keep theirs.
    Follow,
}

/// The page that a viewer is at.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Page {
    /// Terminals.
    #[default]
    Workspace,
    /// What asks for attention.
    Inbox(Option<QueueItemId>),
    /// A conversation.
    Thread(ThreadId),
    /// All conversations.
    Threads,
    /// A review, and a file of it.
    Review(ReviewId, Option<String>),
    /// All reviews.
    Reviews,
    /// Checkpoints, of one session or all.
    Checkpoints(Option<SessionId>),
    /// Work trees, of one repository or all.
    Worktrees(Option<PathBuf>),
    /// What was decided.
    Audit,
    Settings,
    /// Keys and what they do.
    Help,
}

/// What a viewer says of itself when it comes.
#[derive(Clone, Debug)]
pub struct NewViewer {
    /// What kind of program it is.
    pub face: Face,
    /// What others see it called.
    pub name: String,
    /// The paired device that it runs on; none on this machine.
    pub device: Option<String>,
    /// What it may do.
    pub rights: ViewerRights,
    /// Whether terminals may take its size.
    pub fit: Fit,
    /// The terminal that it runs in, if it is one of ours.
    pub within: Option<TerminalId>,
    /// Its room for panes.
    pub room: Size,
    /// Whether it shows one pane at a time.
    pub is_single: bool,
    /// Whether it can be asked for a picture of what it shows.
    pub draws: bool,
    /// Where it was before, if it was anywhere.
    pub page: Option<Page>,
    /// The terminal that it showed before.
    pub terminal: Option<TerminalId>,
}

/// One who looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Viewer {
    /// Which one.
    pub id: ViewerId,
    /// What kind of program it is.
    pub face: Face,
    /// What others see it called.
    pub name: String,
    /// The paired device that it runs on; none on this machine.
    pub device: Option<String>,
    /// What it may do.
    pub rights: ViewerRights,
    /// Whether terminals may take its size.
    pub fit: Fit,
    /// The terminal that it runs in: were that to have its size, both would shrink without end.
    pub within: Option<TerminalId>,
    /// Its room for panes.
    pub room: Size,
    /// The window that it is, in logical points, if it is one.
    pub window: Option<WindowSize>,
    /// Whether it shows one pane at a time.
    pub is_single: bool,
    /// Whether it can be asked for a picture of what it shows.
    pub draws: bool,
    pub page: Page,
    /// Where it is in the workspace. That of the desk is the world's.
    pub(crate) at: Active,
    /// Whether it was put there since it stood nowhere: what its person did not choose keeps its size.
    pub(crate) is_placed: bool,
    /// Where it was before. That of the desk is the world's.
    pub(crate) tab_history: TabHistory,
    /// The pane that fills its room.
    pub(crate) zoomed: Option<TerminalId>,
    /// Whether it has the keyboard, by what its face says.
    pub has_keyboard: bool,
    /// Whether it can be seen at all.
    pub is_visible: bool,
}

impl Viewer {
    /// Whether it can be where the hands are.
    pub(crate) fn can_be_desk(&self) -> bool {
        self.rights == ViewerRights::Full && self.fit == Fit::Own
    }

    /// Whether a person types here. Who may not type changes nothing for programs or for others by
    /// looking.
    pub(crate) fn types(&self) -> bool {
        self.has_keyboard && self.rights == ViewerRights::Full
    }

    /// Whether it shows terminals now.
    pub(crate) fn shows_workspace(&self) -> bool {
        self.is_visible && self.page == Page::Workspace
    }
}

impl World {
    /// Where a viewer is in the workspace; without one, where the desk is.
    pub(crate) fn standing_of(&self, viewer: Option<ViewerId>) -> Active {
        match viewer.filter(|id| self.desk != Some(*id)).and_then(|id| self.viewers.get(&id)) {
            Some(viewer) => self.still_there(viewer.at),
            None => self.active,
        }
    }

    /// A place, or what came to be there since. One that came to an empty world is where there is something first.
    pub(super) fn still_there(&self, at: Active) -> Active {
        match at.terminal.and_then(|id| self.terminals.get(&id)) {
            Some(terminal) => Active { project: Some(terminal.project), terminal: at.terminal },
            None => {
                let project = at.project.and_then(|id| self.project(id).ok());
                match project.or_else(|| self.usual_project()) {
                    Some(project) => {
                        Active { project: Some(project.id), terminal: self.remembered_tab(project) }
                    }
                    None => Active::default(),
                }
            }
        }
    }

    /// The terminals that a viewer shows, the one that has its keys first.
    pub(crate) fn shown_by(&self, viewer: &Viewer) -> Vec<TerminalId> {
        if !viewer.shows_workspace() {
            return Vec::new();
        }
        let Some(focused) = self.standing_of(Some(viewer.id)).terminal else { return Vec::new() };
        let is_alone = viewer.is_single || viewer.zoomed == Some(focused);
        let mut shown = vec![focused];
        if !is_alone {
            let others = self.group_of(focused).into_iter().filter(|id| *id != focused);
            shown.extend(others);
        }
        shown
    }

    /// Whether a person looks at a terminal right now.
    pub(crate) fn is_seen(&self, id: TerminalId) -> bool {
        let has_window = self.desk.is_none() && self.window_focus == Some(true);
        (has_window && self.active.terminal == Some(id)) || self.watched().any(|(_, it)| it == id)
    }

    /// Who types and shows what.
    pub(crate) fn watched(&self) -> impl Iterator<Item = (ViewerId, TerminalId)> + '_ {
        let watching = self.viewers.values().filter(|viewer| viewer.types());
        watching.flat_map(|viewer| {
            self.shown_by(viewer).into_iter().map(move |terminal| (viewer.id, terminal))
        })
    }

    /// The terminals that have a keyboard.
    pub(crate) fn focused(&self) -> BTreeSet<TerminalId> {
        let watching = self.viewers.values().filter(|it| it.types() && it.shows_workspace());
        let mut focused: BTreeSet<TerminalId> =
            watching.filter_map(|viewer| self.standing_of(Some(viewer.id)).terminal).collect();
        if self.desk.is_none() && self.window_focus == Some(true) {
            focused.extend(self.active.terminal);
        }
        focused
    }
}
