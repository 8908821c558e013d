//! The state of the face and what input does to it. Pure: time comes in as an argument, whatever
//! shall happen outside goes out as an [`Effect`].

mod act;
mod buttons;
mod copy_mode;
mod effect;
mod field;
mod find;
mod hold;
mod keys;
mod links;
mod lost;
mod menu;
mod mouse;
mod news;
mod questions;
mod replies;
mod toasts;

pub use copy_mode::CopyMode;
pub use effect::{Ask, CallError, Effect, Input, Reply};
pub use field::{Edited, Field, plain_char, typed};
pub use find::FindBar;
pub(crate) use hold::{Moves, moves};
pub use keys::renamed;
pub(crate) use keys::{READ_ONLY, is, is_ctrl};
pub use links::Hover;
pub use lost::Lost;
pub use menu::{Choice, Menu};
pub use mouse::Drag;
pub(crate) use questions::Then;
pub use questions::{Question, exact};
pub(crate) use replies::read;
pub use toasts::Aside;

use std::collections::BTreeMap;

use rookery_view::link::method::{Call, Method};
use rookery_view::link::{self, Opened, Page, Rights, Settings, Tone, method};
use serde::Serialize;

use crate::cells::Rect;
use crate::keymap::Keymap;
use crate::pages::Pages;
use crate::picture::Picture;

/// What a moment looks like from outside.
#[derive(Clone, Copy)]
pub struct Cx<'a> {
    /// What is mirrored from the daemon.
    pub picture: &'a dyn Picture,
    /// Milliseconds of a clock that never jumps.
    pub now: u64,
    /// Milliseconds since 1970, for ages.
    pub wall: i64,
}

/// A place of the picture that can be clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hit {
    /// A pill: its group, and the tab that it shows.
    Tab(u64, u64),
    /// The sign for a new tab.
    NewTab,
    Project(u64),
    /// An agent's row: its terminal or its thread.
    Agent(Option<u64>, Option<String>),
    /// A terminal's cells.
    Pane(u64),
    SidebarEdge,
    /// A row of the page's list.
    Row(usize),
    PaletteRow(u32),
    MenuRow(usize),
    /// A hint: as if this key were pressed.
    Key(String),
    /// An action by its id.
    Action(String),
}

/// What the picture on the screen has where.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// Places that can be clicked; later ones lie over earlier ones.
    pub hits: Vec<(Rect, Hit)>,
    /// Where panes lie on the screen, with the first cell of the terminal that is shown.
    pub panes: Vec<(u64, Rect, (u16, u16))>,
    /// The card that is shown, and whether its end is.
    pub card: Option<(u64, bool)>,
    /// The furthest that its text can be scrolled, where that is counted in lines.
    pub card_most: Option<usize>,
    /// The review and the file of it of which the end is shown.
    pub review_end: Option<(u64, usize)>,
    /// Rows of the list or the text that fit.
    pub page_rows: u16,
    /// Lines of the page's text.
    pub page_lines: usize,
}

/// What is known of the surrounding, and does not change.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// What this viewer is called.
    pub name: String,
    /// Whether the terminal shows UTF-8.
    pub utf8: bool,
    /// One column of text.
    pub plain: bool,
    /// Whether this is a window of the desktop: it has a clipboard, and can open addresses.
    pub is_window: bool,
    /// Our own terminal, if this runs inside of the same daemon.
    pub own_terminal: Option<u64>,
    /// Where the user's settings lie, as it is shown.
    pub settings_file: String,
    /// Only the inbox is wanted: no sidebar, and leaving it ends the face.
    pub only_inbox: bool,
    /// The user's home directory, if it is known.
    pub home: String,
    /// The directory in which the face was started.
    pub cwd: String,
    /// Agents that are installed, for the empty page.
    pub agents: Vec<String>,
}

/// The whole state of the face.
pub struct App {
    /// What it may do.
    pub rights: Rights,
    /// The user's settings.
    pub settings: Settings,
    /// Keys.
    pub keymap: Keymap,
    /// The surrounding.
    pub around: Environment,
    /// Columns and rows of the outer terminal.
    pub size: (u16, u16),
    /// A message in the status line, until the next key.
    pub note: Option<(Tone, String)>,
    /// The prefix was pressed.
    pub prefix: bool,
    /// The keyboard is in the sidebar, at this row.
    pub sidebar: Option<usize>,
    /// The find bar.
    pub find: Option<FindBar>,
    /// Copy mode.
    pub copy: Option<CopyMode>,
    /// Selected cells: terminal, ends by row number and column, kind.
    pub selection: Option<Selection>,
    /// A question of the face itself.
    pub question: Option<Question>,
    /// A menu under the pointer.
    pub menu: Option<Menu>,
    /// What is written in the palette, while that is open.
    pub palette: Option<Field>,
    /// A name that is being edited in place.
    pub rename: Option<Field>,
    pub pages: Pages,
    /// The daemon is away.
    pub lost: Option<Lost>,
    /// What the mouse drags.
    pub drag: Option<Drag>,
    /// The last picture.
    pub drawn: Drawn,
    /// Whether the outer terminal has the keyboard.
    pub has_focus: bool,
    /// Whether Super is held while the mouse does something; only a window knows.
    pub has_super: bool,
    /// The link that the pointer is over.
    pub hover: Hover,
    /// What is being copied, if it is told by more than that.
    copying: Option<String>,
    out: Vec<Effect>,
    toasts: Vec<Aside>,
    clicks: mouse::Clicks,
    pub(crate) last_page: Option<Page>,
    room: Option<link::Size>,
    is_single: bool,
    /// Pastes of which the daemon has not said that it has them.
    pasting: Vec<String>,
    /// What was typed behind a change of place.
    hold: Option<hold::Hold>,
    /// What is typed now was typed before the page could be seen.
    is_unseen: bool,
    /// The first row of terminals when they were scrolled away from it.
    left_at: BTreeMap<u64, u64>,
    /// How many rows terminals are scrolled back, and how many they shall be after a return.
    behind: BTreeMap<u64, u64>,
    to_scroll: BTreeMap<u64, u64>,
    /// Whether one pane had all the room, and whether that is to be looked at after a return.
    was_zoomed: Option<bool>,
    is_back: bool,
    /// A message was given back when the daemon went away.
    has_unsent: bool,
    /// When the last key was pressed while the daemon was away.
    typed_while_lost: Option<u64>,
    /// Keys as the daemon said them last.
    pub(crate) sent_keys: Vec<(String, String, String)>,
    /// Moods of agents by name, for what `--plain` says.
    moods: BTreeMap<String, link::Mood>,
}

/// Cells of a terminal that are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    pub terminal: u64,
    /// Where it began.
    pub anchor: (u64, u16),
    /// Where it is now.
    pub head: (u64, u16),
    /// Its shape.
    pub kind: link::SelectKind,
}

impl Selection {
    /// Whether a cell is selected.
    pub fn contains(&self, row: u64, col: u16) -> bool {
        let (from, to) = if self.anchor <= self.head {
            (self.anchor, self.head)
        } else {
            (self.head, self.anchor)
        };
        match self.kind {
            link::SelectKind::Lines => row >= from.0 && row <= to.0,
            link::SelectKind::Block => {
                let left = self.anchor.1.min(self.head.1);
                let right = self.anchor.1.max(self.head.1);
                row >= from.0 && row <= to.0 && col >= left && col <= right
            }
            link::SelectKind::Text => (row, col) >= from && (row, col) <= to,
        }
    }
}

impl App {
    /// The state before anything is known.
    pub fn new(size: (u16, u16), around: Environment) -> App {
        App {
            rights: Rights::Look,
            settings: Settings::default(),
            keymap: Keymap::default(),
            around,
            size,
            note: None,
            prefix: false,
            sidebar: None,
            find: None,
            copy: None,
            selection: None,
            question: None,
            menu: None,
            palette: None,
            rename: None,
            pages: Pages::default(),
            lost: None,
            drag: None,
            drawn: Drawn::default(),
            has_focus: true,
            has_super: false,
            hover: Hover::default(),
            copying: None,
            out: Vec::new(),
            toasts: Vec::new(),
            clicks: mouse::Clicks::default(),
            last_page: None,
            room: None,
            is_single: false,
            pasting: Vec::new(),
            hold: None,
            is_unseen: false,
            left_at: BTreeMap::new(),
            behind: BTreeMap::new(),
            to_scroll: BTreeMap::new(),
            was_zoomed: None,
            is_back: false,
            has_unsent: false,
            typed_while_lost: None,
            sent_keys: Vec::new(),
            moods: BTreeMap::new(),
        }
    }

    /// What shall be done, in order.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.out)
    }

    /// What the user chose, as the daemon says it.
    pub(crate) fn take_chosen(&mut self, settings: &Settings, keys: &[(String, String, String)]) {
        self.settings = settings.clone();
        self.sent_keys = keys.to_vec();
        self.keymap = if self.around.is_window {
            // The prefix belongs to terminal and browser; here that chord is the program's.
            Keymap::exactly(keys, None)
        } else {
            Keymap::new(keys, settings.prefix.as_deref())
        };
    }

    /// A viewer was opened, for the first time or again.
    pub fn opened(&mut self, opened: &Opened) {
        self.rights = opened.rights;
        self.take_chosen(&opened.settings, &opened.keys);
        self.last_page = None;
        self.room = None;
        self.to_scroll = std::mem::take(&mut self.behind);
        self.to_scroll.retain(|_, behind| *behind > 0);
        self.is_back = true;
        self.call(Ask::Prefs, method::PREFS, link::Prefs { get: true, set: None });
        // Cards that are shown: only who asked for one is told what becomes of it.
        let cards = [self.pages.card.ask_again(), self.pages.thread.card.ask_again()];
        for (serial, request) in cards.into_iter().flatten() {
            let call = link::CardCall { item: None, request: Some(request) };
            self.call(Ask::Card(serial), method::CARD, call);
        }
        let has = self.has_focus;
        self.push(Effect::Input(Input::Focus(has)));
    }

    /// Where it is now, for opening again.
    pub fn place(&self, picture: &dyn Picture) -> Option<Page> {
        picture.scene().page.clone()
    }

    /// The picture on the screen is this one now.
    pub fn drawn(&mut self, drawn: Drawn, now: u64) {
        self.drawn = drawn;
        self.painted(now);
    }

    /// The screen has taken the picture: from now on a person can read it.
    pub fn painted(&mut self, now: u64) {
        if let Some((serial, end_is_seen)) = self.drawn.card {
            self.pages.card.drawn(serial, end_is_seen, now);
            self.pages.thread.card.drawn(serial, end_is_seen, now);
            if let Some(most) = self.drawn.card_most {
                self.pages.card.bounded(serial, most);
                self.pages.thread.card.bounded(serial, most);
            }
        }
        self.pages.review.drawn(now);
        if let Some(end) = self.drawn.review_end {
            self.pages.review.end_drawn(end);
        }
    }

    /// The outer terminal has another size.
    pub fn resize(&mut self, size: (u16, u16)) {
        self.size = size;
    }

    /// Tells the daemon the room for panes, if that changed.
    pub fn set_room(&mut self, room: link::Size, is_single: bool) {
        if self.room == Some(room) && self.is_single == is_single {
            return;
        }
        self.room = Some(room);
        self.is_single = is_single;
        let resize =
            link::Resize { size: Some(room), single: Some(is_single), ..link::Resize::default() };
        self.push(Effect::Input(Input::Resize(resize)));
    }

    pub(crate) fn push(&mut self, effect: Effect) {
        self.out.push(effect);
    }

    /// Calls a method; its answer comes back with what it is for.
    pub fn call<P: Serialize, A>(&mut self, ask: Ask, method: Method<P, A>, params: P) {
        self.make(ask, method.with(params));
    }

    /// Makes a call.
    pub(crate) fn make(&mut self, ask: Ask, call: Call) {
        let moves = hold::moves(&ask, &call);
        if moves != Moves::Nothing {
            self.hold_on(moves);
            if [method::GO.name, method::ACT.name, method::PANE.name].contains(&call.method) {
                // The prompt of a new thread goes out of the way; what is written in it stays.
                self.pages.new_thread.is_open = false;
            }
        }
        self.push(Effect::Call(ask, call.method, call.params));
    }

    /// Approving and remembering takes Enter right after its key, and nothing between.
    pub(crate) fn unarm(&mut self) {
        self.pages.card.unarm();
        self.pages.thread.card.unarm();
    }

    /// Says something in the status line.
    pub fn say(&mut self, text: impl Into<String>) {
        self.note = Some((Tone::Info, text.into()));
    }

    /// Says what did not work.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.note = Some((Tone::Warn, text.into()));
    }

    /// Goes to a page.
    pub fn go(&mut self, page: Page) {
        self.sidebar = None;
        // It would hide where one goes; what was written for it is kept.
        self.pages.new_thread.is_open = false;
        self.call(Ask::Quiet, method::GO, page);
    }

    /// Goes back from a page: to the workspace, or to the inbox if that is all there is.
    pub(crate) fn home(&mut self) {
        self.go(match self.around.only_inbox {
            true => Page::Inbox { item: None },
            false => Page::Workspace { terminal: None },
        });
    }

    /// The page that is shown.
    pub fn page(cx: &Cx<'_>) -> Page {
        cx.picture.scene().page.clone().unwrap_or_default()
    }

    /// The pane that has the keyboard.
    pub fn focused(cx: &Cx<'_>) -> Option<u64> {
        let panes = cx.picture.scene().panes.as_ref()?.as_ref()?;
        panes.areas.iter().any(|area| area.t == panes.focused).then_some(panes.focused)
    }

    /// Rows that came since a terminal was scrolled.
    pub fn new_rows(&self, terminal: u64, first: u64) -> u64 {
        self.left_at.get(&terminal).map_or(0, |left| first.saturating_sub(*left))
    }

    /// A directory as it is shown, with `~` for the home directory.
    pub fn place_name(&self, path: &str) -> String {
        let home = self.around.home.trim_end_matches('/');
        let below = path.strip_prefix(home).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match below.filter(|_| !home.is_empty()) {
            Some(rest) => crate::words::line(&format!("~{rest}")),
            None => crate::words::line(path),
        }
    }

    /// Whether decisions can be made here.
    pub fn may_decide(&self) -> bool {
        self.rights >= Rights::Decide
    }

    /// Whether keys may reach programs.
    pub fn may_type(&self) -> bool {
        self.rights == Rights::Full
    }
}
