//! Pictures made by hand, for tests of what is drawn from them.

use std::collections::BTreeMap;

use rookery_view::link::*;

use super::{Picture, Term as TermLook};

/// A picture whose every part is set by a test.
#[derive(Default)]
pub struct Fixed {
    /// Its parts.
    pub scene: Scene,
    /// Its terminals.
    pub terms: BTreeMap<u64, FixedTerm>,
}

/// A terminal whose every part is set by a test.
#[derive(Default)]
pub struct FixedTerm {
    /// Rows and columns.
    pub size: TermSize,
    /// Which rows are shown.
    pub view: View,
    /// Rows by number.
    pub rows: BTreeMap<u64, Row>,
    pub cursor: Cursor,
    pub modes: u32,
    /// How its program ended.
    pub ended: Option<Ended>,
    /// Whose size it has.
    pub owner: Option<Owner>,
    /// Styles by number.
    pub styles: BTreeMap<u32, Style>,
    /// Targets of links by number.
    pub links: BTreeMap<u32, String>,
}

impl Fixed {
    /// A terminal with these lines.
    pub fn with_term(mut self, id: u64, cols: u16, rows: u16, lines: &[&str]) -> Fixed {
        let mut term = FixedTerm {
            size: TermSize { rows, cols },
            cursor: Cursor { row: 0, col: 0, shape: 0, is_visible: true },
            ..FixedTerm::default()
        };
        for number in 0..u64::from(rows) {
            let text = lines.get(number as usize).copied().unwrap_or_default();
            let row = Row { number, text: RowText::Plain(text.to_owned()), ..Row::default() };
            term.rows.insert(number, row);
        }
        self.terms.insert(id, term);
        self
    }
}

impl Picture for Fixed {
    fn scene(&self) -> &Scene {
        &self.scene
    }

    fn term(&self, terminal: u64) -> Option<&dyn TermLook> {
        self.terms.get(&terminal).map(|term| term as &dyn TermLook)
    }
}

impl TermLook for FixedTerm {
    fn style(&self, id: u32) -> Option<&Style> {
        self.styles.get(&id)
    }

    fn link(&self, id: u32) -> Option<&str> {
        self.links.get(&id).map(String::as_str)
    }

    fn size(&self) -> TermSize {
        self.size
    }

    fn view(&self) -> View {
        self.view
    }

    fn row(&self, number: u64) -> Option<&Row> {
        self.rows.get(&number)
    }

    fn cursor(&self) -> Cursor {
        self.cursor
    }

    fn modes(&self) -> u32 {
        self.modes
    }

    fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }
}

/// A scene with two projects, a group of two panes, and three requests that wait.
pub fn workspace(cols: u16, rows: u16) -> Fixed {
    let half = (cols - 1) / 2;
    let area = |t, col, cols| Area { t, col, row: 0, cols, rows };
    let agent = |terminal, name: &str, mood, status: &str, at| Agent {
        terminal: Some(terminal),
        name: name.to_owned(),
        mood,
        status: status.to_owned(),
        at,
        waiting: u32::from(mood == Mood::Waiting),
        ..Agent::default()
    };
    let tab = |id, title: &str, mood| Tab { id, title: title.to_owned(), mood, ..Tab::default() };
    let scene = Scene {
        page: Some(Page::Workspace { terminal: Some(3) }),
        title: Some("zsh – api".to_owned()),
        status: Some(Status { waiting: 3, mode: "default".to_owned(), ..Status::default() }),
        sidebar: Some(Sidebar {
            collapsed: false,
            width: 22.0,
            agents_hidden: false,
            threads: Vec::new(),
            projects: vec![
                Project {
                    id: 1,
                    name: "api".to_owned(),
                    root: "/home/ada/src/api".to_owned(),
                    mood: Mood::Waiting,
                    active: true,
                    waiting: 2,
                    agents: vec![
                        agent(3, "fix-auth", Mood::Waiting, "waits", -240_000),
                        agent(4, "docs", Mood::Working, "works", -20_000),
                    ],
                    ..Project::default()
                },
                Project {
                    id: 2,
                    name: "web".to_owned(),
                    mood: Mood::Failed,
                    agents: vec![
                        agent(5, "upgrade", Mood::Failed, "failed", -120_000),
                        Agent {
                            thread: Some("t1".to_owned()),
                            name: "plan".to_owned(),
                            mood: Mood::Done,
                            ..Agent::default()
                        },
                    ],
                    ..Project::default()
                },
            ],
        }),
        strip: Some(Strip {
            project: Some(1),
            groups: vec![
                Group { id: 7, tabs: vec![tab(7, "zsh", Mood::Quiet)], focused: 7 },
                Group {
                    id: 3,
                    tabs: vec![tab(3, "fix-auth", Mood::Working), tab(4, "docs", Mood::Quiet)],
                    focused: 3,
                },
                Group { id: 8, tabs: vec![tab(8, "logs", Mood::Waiting)], focused: 8 },
            ],
        }),
        panes: Some(Some(Panes {
            group: 3,
            tree: None,
            areas: vec![area(3, 0, half), area(4, half + 1, cols - half - 1)],
            focused: 3,
            zoomed: false,
        })),
        ..Scene::default()
    };
    let fixed = Fixed { scene, ..Fixed::default() };
    let lines = ["$ cargo test", "running 214 tests", "test auth::reused ... FAILED", "$ "];
    fixed.with_term(3, half, rows, &lines).with_term(
        4,
        cols - half - 1,
        rows,
        &["● Update(src/auth.rs)"],
    )
}

/// A few keys, as the daemon tells them.
pub fn default_keys() -> Vec<(String, String, String)> {
    let rows = [
        ("ctrl+alt+p", "command_palette"),
        ("ctrl+alt+o", "open_inbox"),
        ("ctrl+alt+v", "split_right"),
        ("prefix>v", "split_right"),
        ("prefix>shift+5", "split_right"),
        ("prefix>c", "new_tab"),
        ("prefix>i", "open_inbox"),
        ("prefix>shift+v", "open_reviews"),
        ("prefix>/", "find"),
        ("prefix>[", "copy_mode"),
        ("prefix>t", "new_thread"),
        ("prefix>w", "focus_sidebar"),
        ("prefix>shift+/", "help"),
        ("prefix>,", "settings"),
        ("prefix>q", "leave"),
        ("prefix>x", "close_tab"),
        ("prefix>left", "focus_left"),
        ("prefix>z", "zoom_pane"),
        ("prefix>alt+left", "grow_left"),
        ("prefix>space", "command_palette"),
    ];
    rows.iter().map(|(keys, id)| ((*keys).to_owned(), (*id).to_owned(), String::new())).collect()
}
