//! One frame on the stack: its rows, its filter, its selection and its preview.

use std::fmt;

use super::agents;
use super::content::Content;
use super::filter::{self, Hit};
use super::row::{Row, Target};
use super::{AgentDetail, Effect};
use crate::scene::{PaletteOverlay, PaletteRow};
use crate::settings::Provider;

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    /// All commands.
    Commands,
    /// Commands of the settings, each for a tab of its own.
    Launcher,
    /// Providers.
    Custom,
    Themes,
    Fonts,
    /// Unseen notifications.
    Notifications,
    Agents,
    /// A client's question.
    Present,
    /// A list a provider gave, numbered within the session.
    Provider(u64),
}

/// Id of a frame and words for its empty field; the latter may be replaced.
const FRAMES: &[(Frame, &str, &str)] = &[
    (Frame::Commands, "commands", "Type a command…"),
    (Frame::Launcher, "launcher", "Launch in a new tab…"),
    (Frame::Custom, "custom", "Custom commands…"),
    (Frame::Themes, "themes", "Select a theme…"),
    (Frame::Fonts, "fonts", "Select a font…"),
    (Frame::Notifications, "notifications", "Go to a notification…"),
    (Frame::Agents, "agents", "Go to an agent…"),
    (Frame::Present, "present", "Select…"),
];

impl Frame {
    /// The frame that `palette.open` means by a kind; empty is `commands`.
    pub fn from_kind(kind: &str) -> Option<Self> {
        match kind {
            "" | "commands" => Some(Self::Commands),
            "launcher" => Some(Self::Launcher),
            "custom" => Some(Self::Custom),
            "agents" => Some(Self::Agents),
            _ => None,
        }
    }

    fn placeholder(self) -> &'static str {
        FRAMES.iter().find(|(frame, ..)| *frame == self).map_or("", |(_, _, words)| words)
    }
}

/// The id of the frame, such as `themes` or `provider:items:2`.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(number) => write!(f, "provider:items:{number}"),
            known => {
                let row = FRAMES.iter().find(|(frame, ..)| frame == known);
                f.write_str(row.map_or("", |(_, id, _)| id))
            }
        }
    }
}

/// A visible row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: String,
    /// Its words.
    pub title: String,
    /// A second line.
    pub subtitle: Option<String>,
    /// More about an agent.
    pub agent: Option<AgentDetail>,
    /// Letters of the title that matched, as character positions.
    pub letters: Vec<u32>,
    /// Whether activating it does anything.
    pub actionable: bool,
}

/// All that is visible of a palette. Closed is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaletteState {
    /// Whether it is open.
    pub open: bool,
    /// The frame on top.
    pub frame: Option<Frame>,
    /// What was typed into it, as it was typed.
    pub query: String,
    /// Place of the selected row among the visible ones.
    pub selection: usize,
    /// The visible rows.
    pub items: Vec<Item>,
    /// Words for the empty field.
    pub placeholder: String,
}

/// A frame with its rows.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub serial: u64,
    pub run: u64,
    pub frame: Frame,
    pub query: String,
    pub selection: usize,
    /// Who gave the rows, if a provider did.
    pub provider: Option<Provider>,
    placeholder: String,
    rows: Vec<Row>,
    visible: Vec<Hit>,
    /// What was in force when the frame opened, for frames with a preview.
    active: Option<String>,
    /// What is shown instead of it.
    previewed: Option<String>,
}

impl Shown {
    pub(super) fn new(serial: u64, frame: Frame, placeholder: &str, rows: Vec<Row>) -> Self {
        let mut shown = Self {
            serial,
            run: 0,
            frame,
            query: String::new(),
            selection: 0,
            provider: None,
            placeholder: placeholder.to_owned(),
            rows,
            visible: Vec::new(),
            active: None,
            previewed: None,
        };
        shown.filter();
        shown
    }

    pub(super) fn of_content(serial: u64, content: &Content) -> Self {
        let frame = content.frame();
        let mut shown = Self::new(serial, frame, frame.placeholder(), content.rows());
        if let Some(active) = content.active() {
            let is_active = |row: &Row| same_name(&row.title, active);
            shown.selection = shown.rows.iter().position(is_active).unwrap_or(0);
            shown.active = Some(active.to_owned());
        }
        shown
    }

    /// Takes new rows; the selected row stays selected if it is still there.
    pub(super) fn replace(&mut self, content: &Content) {
        let selected = self.selected_id();
        self.rows = content.rows();
        self.filter();
        let place = selected.and_then(|id| self.place_of(&id));
        self.select(place.unwrap_or(self.selection));
        if self.previewed.is_none() {
            self.active = content.active().map(str::to_owned);
        }
    }

    fn filter(&mut self) {
        self.visible = filter::filter(&self.query, self.rows.iter().map(|row| row.title.as_str()));
    }

    pub(super) fn set_query(&mut self, query: &str) {
        query.clone_into(&mut self.query);
        self.selection = 0;
        self.filter();
    }

    pub(super) fn select(&mut self, place: usize) {
        self.selection = place.min(self.visible.len().saturating_sub(1));
    }

    pub(super) fn row_at(&self, place: usize) -> Option<&Row> {
        self.rows.get(self.visible.get(place)?.index)
    }

    /// The id of the selected row.
    pub(super) fn selected_id(&self) -> Option<String> {
        self.row_at(self.selection).map(|row| row.id.clone())
    }

    /// The place of the first visible row with this id.
    pub(super) fn place_of(&self, id: &str) -> Option<usize> {
        (0..self.visible.len()).find(|place| self.row_at(*place).is_some_and(|row| row.id == id))
    }

    /// What to show for the selected row, if that is not shown already.
    pub(super) fn preview(&mut self) -> Option<Effect> {
        let active = self.active.as_deref()?;
        let row = self.row_at(self.selection)?;
        let name = row.title.clone();
        let showing = self.previewed.as_deref().unwrap_or(active);
        if same_name(&name, showing) {
            return None;
        }
        let effect = match &row.target {
            Target::Theme(name) => Effect::PreviewTheme(name.clone()),
            Target::Font(name) => Effect::PreviewFont(name.clone()),
            _ => return None,
        };
        self.previewed = Some(name);
        Some(effect)
    }

    /// What to show again when the frame goes away.
    pub(super) fn revert(&self) -> Option<Effect> {
        let (active, previewed) = (self.active.as_deref()?, self.previewed.as_deref()?);
        if same_name(active, previewed) {
            return None;
        }
        match self.frame {
            Frame::Themes => Some(Effect::RevertTheme(active.to_owned())),
            Frame::Fonts => Some(Effect::RevertFont(active.to_owned())),
            _ => None,
        }
    }

    pub(super) fn state(&self) -> PaletteState {
        PaletteState {
            open: true,
            frame: Some(self.frame),
            query: self.query.clone(),
            selection: self.selection,
            items: self.visible.iter().filter_map(|hit| self.item(hit)).collect(),
            placeholder: self.placeholder.clone(),
        }
    }

    pub(super) fn overlay(&self) -> PaletteOverlay {
        let row = |(place, hit): (usize, &Hit)| {
            let row = self.rows.get(hit.index)?;
            let lifecycle = row.agent.as_ref().map(|agent| agent.effective_lifecycle);
            Some(PaletteRow {
                id: row.id.clone(),
                title: row.title.clone(),
                subtitle: row.line_below(),
                mood: lifecycle.map(agents::mood),
                is_selected: place == self.selection,
                matched: hit.letters.iter().map(|letter| *letter as usize).collect(),
            })
        };
        PaletteOverlay {
            frame: self.frame.to_string(),
            placeholder: self.placeholder.clone(),
            query: self.query.clone(),
            cursor: None,
            preedit: String::new(),
            rows: self.visible.iter().enumerate().filter_map(row).collect(),
        }
    }

    fn item(&self, hit: &Hit) -> Option<Item> {
        let row = self.rows.get(hit.index)?;
        Some(Item {
            id: row.id.clone(),
            title: row.title.clone(),
            subtitle: row.subtitle.clone(),
            agent: row.agent.clone(),
            letters: hit.letters.clone(),
            actionable: row.is_actionable(),
        })
    }
}

/// Themes and fonts are named without regard to case.
fn same_name(left: &str, right: &str) -> bool {
    left.to_lowercase() == right.to_lowercase()
}
