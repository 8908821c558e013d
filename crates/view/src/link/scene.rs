//! Parts of the scene. A part that changed is sent whole; a part that is not there is as it was.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Dialog, Face, Hex, Inbox, Palette, Settings, SplitWord, Toast, given, is_false};
use crate::{scene, tile};

/// Everything around terminals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scene {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<Page>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<Theme>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sidebar: Option<Sidebar>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strip: Option<Strip>,
    /// Null while there is no pane.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub panes: Option<Option<Panes>>,
    /// Null while it is closed.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub palette: Option<Option<Palette>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inbox: Option<Inbox>,
    /// Null while nothing is asked.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Option<Dialog>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toasts: Option<Vec<Toast>>,
    /// The user's settings and keys as they are now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
}

/// What the user chose in settings, as `open` tells it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Chosen {
    pub settings: Settings,
    /// Trigger, action and title.
    pub keys: Vec<(String, String, String)>,
}

impl Scene {
    /// The parts of `self` that differ from those of `old`.
    pub fn since(&self, old: &Scene) -> Scene {
        fn part<T: PartialEq + Clone>(new: &Option<T>, old: &Option<T>) -> Option<T> {
            if new == old { None } else { new.clone() }
        }
        Scene {
            page: part(&self.page, &old.page),
            title: part(&self.title, &old.title),
            status: part(&self.status, &old.status),
            theme: part(&self.theme, &old.theme),
            sidebar: part(&self.sidebar, &old.sidebar),
            strip: part(&self.strip, &old.strip),
            panes: part(&self.panes, &old.panes),
            palette: part(&self.palette, &old.palette),
            inbox: part(&self.inbox, &old.inbox),
            dialog: part(&self.dialog, &old.dialog),
            toasts: part(&self.toasts, &old.toasts),
            chosen: part(&self.chosen, &old.chosen),
        }
    }

    /// Takes over every part that is there.
    pub fn apply(&mut self, news: Scene) {
        fn take<T>(part: &mut Option<T>, news: Option<T>) {
            if news.is_some() {
                *part = news;
            }
        }
        take(&mut self.page, news.page);
        take(&mut self.title, news.title);
        take(&mut self.status, news.status);
        take(&mut self.theme, news.theme);
        take(&mut self.sidebar, news.sidebar);
        take(&mut self.strip, news.strip);
        take(&mut self.panes, news.panes);
        take(&mut self.palette, news.palette);
        take(&mut self.inbox, news.inbox);
        take(&mut self.dialog, news.dialog);
        take(&mut self.toasts, news.toasts);
        take(&mut self.chosen, news.chosen);
    }

    /// Leaves out parts so that the rest takes no more than this in a frame; whether any were. The first
    /// part stays, however large it is.
    pub fn shrink(&mut self, most: usize) -> bool {
        fn fits<T: Serialize>(part: &mut Option<T>, room: &mut usize, is_first: &mut bool) -> bool {
            let Some(value) = part else { return true };
            let bytes = serde_json::to_string(value).map_or(0, |text| text.len());
            let stays = bytes <= *room || *is_first;
            *is_first = false;
            match stays {
                true => *room = room.saturating_sub(bytes),
                false => *part = None,
            }
            stays
        }
        let (mut room, mut is_first) = (most, true);
        let (room, is_first) = (&mut room, &mut is_first);
        let fit = [
            fits(&mut self.page, room, is_first),
            fits(&mut self.title, room, is_first),
            fits(&mut self.status, room, is_first),
            fits(&mut self.theme, room, is_first),
            fits(&mut self.panes, room, is_first),
            fits(&mut self.dialog, room, is_first),
            fits(&mut self.palette, room, is_first),
            fits(&mut self.toasts, room, is_first),
            fits(&mut self.chosen, room, is_first),
            fits(&mut self.inbox, room, is_first),
            fits(&mut self.strip, room, is_first),
            fits(&mut self.sidebar, room, is_first),
        ];
        fit.contains(&false)
    }

    /// Whether no part is there.
    pub fn is_empty(&self) -> bool {
        *self == Scene::default()
    }
}

/// Where a viewer is; also the params of `view/go`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "page", rename_all = "lowercase")]
pub enum Page {
    Workspace {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        terminal: Option<u64>,
    },
    Inbox {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<String>,
    },
    Thread {
        thread: String,
    },
    Threads,
    Review {
        review: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
    Reviews,
    Checkpoints {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    Worktrees {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repo: Option<String>,
    },
    Audit,
    Settings,
    Help,
    /// A page of a newer version.
    #[serde(other)]
    Unknown,
}

impl Default for Page {
    fn default() -> Self {
        Page::Workspace { terminal: None }
    }
}

impl Page {
    /// Its word, as in `data-page` and `--page`.
    pub fn word(&self) -> &'static str {
        match self {
            Page::Workspace { .. } => "workspace",
            Page::Inbox { .. } => "inbox",
            Page::Thread { .. } => "thread",
            Page::Threads => "threads",
            Page::Review { .. } => "review",
            Page::Reviews => "reviews",
            Page::Checkpoints { .. } => "checkpoints",
            Page::Worktrees { .. } => "worktrees",
            Page::Audit => "audit",
            Page::Settings => "settings",
            Page::Help => "help",
            Page::Unknown => "unknown",
        }
    }
}

/// State of a session, for display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mood {
    Waiting,
    Failed,
    Working,
    Done,
    #[default]
    #[serde(other)]
    Quiet,
}

impl From<scene::Mood> for Mood {
    fn from(mood: scene::Mood) -> Self {
        match mood {
            scene::Mood::Inactive => Mood::Quiet,
            scene::Mood::Finished => Mood::Done,
            scene::Mood::Working => Mood::Working,
            scene::Mood::Waiting => Mood::Waiting,
            scene::Mood::Failed => Mood::Failed,
        }
    }
}

impl From<Mood> for scene::Mood {
    fn from(mood: Mood) -> Self {
        match mood {
            Mood::Quiet => scene::Mood::Inactive,
            Mood::Done => scene::Mood::Finished,
            Mood::Working => scene::Mood::Working,
            Mood::Waiting => scene::Mood::Waiting,
            Mood::Failed => scene::Mood::Failed,
        }
    }
}

/// The line below everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// How many sessions fare how.
    pub moods: Moods<u32>,
    /// Requests that wait.
    pub waiting: u32,
    pub viewers: Vec<ViewerRow>,
    pub read_only: bool,
    /// The policy mode.
    pub mode: String,
    /// Address of the page, while it is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<String>,
    pub message: Option<Message>,
}

/// Something for each mood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Moods<T: Default> {
    pub waiting: T,
    pub failed: T,
    pub working: T,
    pub done: T,
    pub quiet: T,
}

/// Another viewer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ViewerRow {
    pub name: String,
    pub face: Face,
    pub is_desk: bool,
}

/// What happened last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub tone: Tone,
    pub text: String,
}

/// How a message is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    Info,
    Warn,
    Error,
}

/// Colors of everything that is no program's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Theme {
    pub name: String,
    /// Whether its background is light.
    pub light: bool,
    pub background: Hex,
    pub foreground: Hex,
    pub cursor: Hex,
    pub selection: Hex,
    /// The 16 named colors.
    pub named: Vec<Hex>,
    pub moods: Moods<Hex>,
    pub accent: Hex,
    /// The terminal's font, for faces that draw letters themselves.
    pub font: super::Font,
}

/// Projects with their agents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sidebar {
    pub collapsed: bool,
    /// Points in a window, columns in a terminal.
    pub width: f32,
    /// Agents are not to be listed below their projects.
    #[serde(skip_serializing_if = "is_false")]
    pub agents_hidden: bool,
    pub projects: Vec<Project>,
    /// Threads that work in the directory of no project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<Agent>,
}

/// One project of the sidebar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Project {
    pub id: u64,
    pub name: String,
    pub root: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    pub mood: Mood,
    pub badge: bool,
    /// Whether it is the one shown.
    #[serde(skip_serializing_if = "is_false")]
    pub active: bool,
    /// Requests that wait in it.
    pub waiting: u32,
    /// The name with which a rename began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rename: Option<String>,
    pub agents: Vec<Agent>,
}

/// An agent or a thread below its project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Agent {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    pub name: String,
    pub mood: Mood,
    /// The mood in words.
    pub status: String,
    /// When it last did anything, in milliseconds since 1970; 0 if unknown.
    pub at: i64,
    pub waiting: u32,
    /// Files that it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<u32>,
}

/// The groups of the shown project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Strip {
    pub project: Option<u64>,
    pub groups: Vec<Group>,
}

/// A pill: one tab, or several that are tiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Group {
    pub id: u64,
    pub tabs: Vec<Tab>,
    /// The tab of the focused pane.
    pub focused: u64,
}

/// One tab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tab {
    pub id: u64,
    pub title: String,
    pub mood: Mood,
    pub badge: bool,
    /// The title with which a rename began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rename: Option<String>,
}

/// The panes of the shown group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Panes {
    pub group: u64,
    pub tree: Option<Tree>,
    pub areas: Vec<Area>,
    pub focused: u64,
    pub zoomed: bool,
}

/// A tree of panes: a terminal, or two parts beside each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Tree {
    Pane(u64),
    Split {
        split: SplitWord,
        /// Room of the first part, in parts of 10,000.
        share: u16,
        first: Box<Tree>,
        second: Box<Tree>,
    },
}

impl From<&tile::Tree> for Tree {
    fn from(tree: &tile::Tree) -> Self {
        match tree {
            tile::Tree::Pane(terminal) => Tree::Pane(*terminal),
            tile::Tree::Split(split) => Tree::Split {
                split: split.direction.into(),
                share: split.share,
                first: Box::new((&split.first).into()),
                second: Box::new((&split.second).into()),
            },
        }
    }
}

/// Where a pane lies, in cells of the room for panes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Area {
    pub t: u64,
    pub col: u16,
    pub row: u16,
    pub cols: u16,
    pub rows: u16,
}

impl From<tile::Area> for Area {
    fn from(area: tile::Area) -> Self {
        let tile::Rect { col, row, cols, rows } = area.rect;
        Area { t: area.terminal, col, row, cols, rows }
    }
}
