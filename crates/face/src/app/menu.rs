//! Menus under the pointer, and the choice of an agent to start.

use rookery_term::keys::{KeyPress, Special};
use rookery_view::link::{LinkAt, Page, ThreadSet, method};

use super::{App, Ask, Cx, Hit, keys::is, plain_char};
use crate::daemon::{self, TerminalOpen};

/// A menu under the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Menu {
    /// Its upper left cell.
    pub at: (u16, u16),
    /// Words of each row, and what it does.
    pub rows: Vec<(String, Choice)>,
    /// The selected row.
    pub selected: usize,
}

/// What a row of a menu does.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// Runs an action.
    Action(&'static str),
    /// Goes to a page.
    Go(Page),
    /// Starts a program in a tab of its own.
    Start(String),
    /// Follows the link at a cell of a terminal.
    Link(u64, (u64, u16)),
    /// Changes something of a thread.
    Set(Box<ThreadSet>),
}

impl Menu {
    fn of_actions(at: (u16, u16), rows: &[(&str, &'static str)]) -> Menu {
        let row =
            |(words, action): &(&str, &'static str)| ((*words).to_owned(), Choice::Action(action));
        Menu { at, rows: rows.iter().map(row).collect(), selected: 0 }
    }
}

const OF_PANE: &[(&str, &str)] = &[
    ("Copy", "copy"),
    ("Paste", "paste"),
    ("Find", "find"),
    ("Copy Mode", "copy_mode"),
    ("Split Right", "split_right"),
    ("Split Below", "split_below"),
    ("Zoom", "zoom_pane"),
    ("Size Here", "take_size"),
    ("Close", "close_tab"),
];
const OF_TAB: &[(&str, &str)] = &[
    ("Rename", "rename_tab"),
    ("Split Right", "split_right"),
    ("Own Tab", "break_pane"),
    ("Close", "close_tab"),
];
const OF_PROJECT: &[(&str, &str)] = &[
    ("Rename", "rename_project"),
    ("New Tab", "new_tab"),
    ("New Thread", "new_thread"),
    ("Close", "close_project"),
];

impl App {
    /// The menu of what was clicked. Its actions are about what is shown, so that is shown first.
    pub(super) fn open_menu(&mut self, cx: &Cx<'_>, hit: &Hit, at: (u16, u16)) {
        let menu = match hit {
            Hit::Pane(_) => Menu::of_actions(at, OF_PANE),
            Hit::Tab(_, tab) => {
                self.go(Page::Workspace { terminal: Some(*tab) });
                Menu::of_actions(at, OF_TAB)
            }
            Hit::Agent(Some(terminal), _) => {
                self.go(Page::Workspace { terminal: Some(*terminal) });
                Menu::of_actions(at, OF_TAB)
            }
            Hit::Agent(None, Some(thread)) => Menu {
                at,
                rows: vec![
                    ("Open".to_owned(), Choice::Go(Page::Thread { thread: thread.clone() })),
                    ("All Threads".to_owned(), Choice::Go(Page::Threads)),
                ],
                selected: 0,
            },
            Hit::Project(project) => {
                // Its actions would be about another project.
                if !self.go_to_project(cx, *project) {
                    return;
                }
                Menu::of_actions(at, OF_PROJECT)
            }
            _ => return,
        };
        self.menu = Some(menu);
    }

    /// Starts one of the agents that were found; which one is asked if there are several.
    pub(super) fn start_agent(&mut self, cx: &Cx<'_>) {
        match self.around.agents.as_slice() {
            [] => self.open_palette("launcher"),
            [only] => {
                let only = only.clone();
                self.start_program(cx, &only);
            }
            several => {
                let row = |name: &String| (format!("Start {name}"), Choice::Start(name.clone()));
                let rows = several.iter().map(row).collect();
                let at = (self.size.0 / 3, self.size.1 / 3);
                self.menu = Some(Menu { at, rows, selected: 0 });
            }
        }
    }

    fn start_program(&mut self, cx: &Cx<'_>, program: &str) {
        let project = cx.picture.scene().strip.as_ref().and_then(|strip| strip.project);
        let open = TerminalOpen { argv: vec![program.to_owned()], project };
        self.call(Ask::Opened, daemon::TERMINALS_OPEN, open);
    }

    pub(super) fn choose_in_menu(&mut self, cx: &Cx<'_>, mut menu: Menu, index: usize) {
        if index >= menu.rows.len() {
            return;
        }
        match menu.rows.swap_remove(index).1 {
            Choice::Action(action) => self.run(cx, action),
            Choice::Go(page) => self.go(page),
            Choice::Start(program) => self.start_program(cx, &program),
            Choice::Link(t, at) => {
                self.call(Ask::Link(t), method::LINK_AT, LinkAt { t, at });
            }
            Choice::Set(set) => self.call(Ask::Quiet, method::THREAD_SET, *set),
        }
    }

    pub(super) fn menu_key(&mut self, cx: &Cx<'_>, press: &KeyPress) -> bool {
        let Some(mut menu) = self.menu.take() else { return false };
        let count = menu.rows.len().max(1);
        if is(press, Special::Up) || plain_char(press) == Some('k') {
            menu.selected = (menu.selected + count - 1) % count;
            self.menu = Some(menu);
        } else if is(press, Special::Down) || plain_char(press) == Some('j') {
            menu.selected = (menu.selected + 1) % count;
            self.menu = Some(menu);
        } else if is(press, Special::Enter) {
            let at = menu.selected;
            self.choose_in_menu(cx, menu, at);
        }
        true
    }
}
