//! The scene: everything visible, put together from the world and what the user arranged.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use rookery_model::{Project, Terminal, TerminalId};
use rookery_term::Detail;
use rookery_view::palette::agents;
use rookery_view::scene::grid::{Scroll, ViewState};
use rookery_view::scene::pages::Field;
use rookery_view::scene::{
    AgentRow, Dialog, FontChoice, Grid, Inbox, InboxRow, Mood, Pill, Preedit, ProjectRow, Scene,
    Sidebar, Stage, TabStrip, window_title,
};

use super::{Edit, Seat};
use crate::clock;
use crate::rooms::Seats;
use crate::workspace::{Tabs, WorkspaceTree};

impl Seats {
    /// What is visible now.
    pub fn scene(&self) -> Scene {
        self.scene_around(true)
    }

    /// What is visible around terminals.
    pub fn scene_around_terminals(&self) -> Scene {
        self.scene_around(false)
    }

    fn scene_around(&self, has_grid: bool) -> Scene {
        let started = Instant::now();
        self.refresh_palette();
        self.drop_stale_questions();
        let mut workspace = self.core.workspace().tree();
        workspace.active = self.place();
        let agents = self.agents_by_tab(&workspace);
        let shown = workspace.active.terminal.filter(|_| has_grid);
        let desk = self.desk_window();
        let window_size = desk.as_ref().and_then(|viewer| viewer.window);
        let window = desk.filter(|_| has_grid);
        let panes = window.as_ref().zip(shown).map(|(viewer, id)| self.panes_of(viewer, id));
        let grid = shown.filter(|_| panes.is_none()).and_then(|id| self.grid_of(id, true));
        let inbox = self.inbox_rows();
        let stats = &self.core.inner.seats.stats;
        if let Some(grid) = &grid {
            let rows = grid.rows.len() as u64;
            stats.rows.fetch_add(rows, Ordering::Relaxed);
            stats.cells.fetch_add(rows * u64::from(grid.cols), Ordering::Relaxed);
        }
        let viewer = self.seat();
        let state = self.core.inner.seats.state.lock();
        let seat = state.seat(viewer);
        let mut scene = Scene::new(state.themes.get(&state.theme));
        scene.window = window_size.unwrap_or(state.window);
        scene.font =
            FontChoice { family: state.font.clone().unwrap_or_default(), size: state.font_size };
        scene.title = self.title(&workspace);
        scene.sidebar = sidebar(seat, &workspace, &agents);
        scene.strip = strip(seat, &workspace);
        if let (Some(id), Some(grid)) = (shown, grid) {
            scene.stage = Stage::terminal(id, Arc::new(grid));
        }
        if let Some(panes) = panes {
            scene.stage = panes;
        }
        scene.palette = seat.palette.overlay();
        scene.inbox = inbox;
        scene.dialog = dialog(seat, &workspace);
        drop(state);
        if let (Some(project), true) = (workspace.active.project, has_grid) {
            self.group_pills(&mut scene, project);
        }
        if let Some(viewer) = &window {
            self.window_sidebar(&mut scene);
            scene.status = self.status_line(viewer, &scene);
        }
        stats.scenes.fetch_add(1, Ordering::Relaxed);
        let nanos = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        stats.nanos.fetch_add(nanos, Ordering::Relaxed);
        scene
    }

    /// Agents as the sidebar lists them, whether or not it is shown.
    fn agents_by_tab(&self, workspace: &WorkspaceTree) -> Vec<AgentRow> {
        let inputs = self.agent_inputs(|_| None);
        agents::sidebar_rows(&inputs, clock::wall(), workspace.active.terminal)
    }

    fn title(&self, workspace: &WorkspaceTree) -> String {
        let Some(group) = active(workspace) else { return "Rookery".to_owned() };
        let tab = group.tabs.iter().find(|tab| Some(tab.id) == workspace.active.terminal);
        let cwd = tab.map_or(group.project.root.as_path(), Terminal::cwd);
        window_title(&group.project.name, cwd, Some(&self.core.inner.config.home))
    }

    pub(super) fn grid_of(&self, id: TerminalId, is_focused: bool) -> Option<Grid> {
        let handle = self.core.terminals().get(id).ok()?;
        let snapshot = handle.viewport(Detail::Cells);
        let selection = handle.selection();
        let on_row = |row: u16| {
            let number = snapshot.first_row + u64::from(row);
            Some((row, selection?.columns_on(number, snapshot.cols)?))
        };
        let state = ViewState {
            selected: (0..snapshot.rows).filter_map(on_row).collect(),
            scroll: Scroll { back: snapshot.offset as u64, history: snapshot.history_len as u64 },
            has_keyboard: is_focused && self.terminal_has_keyboard() && !self.is_without_keyboard(),
            preedit: handle.preedit().map(|shown| Preedit {
                cursor: shown.cursor.map(|(_, end)| end as usize),
                text: shown.text,
            }),
            ..ViewState::default()
        };
        Some(Grid::from_snapshot(&snapshot, &state))
    }

    fn inbox_rows(&self) -> Inbox {
        let now = clock::wall().as_seconds();
        let rows =
            self.core.workspace().inbox().into_iter().map(|(project, tab, pending)| InboxRow {
                tab: tab.id,
                title: format!("{} · {}", project.name, tab.title()),
                body: if pending.text.body.is_empty() {
                    pending.text.title
                } else {
                    pending.text.body
                },
                time_text: agents::time_text(now.saturating_sub(pending.at.as_seconds())),
            });
        Inbox { rows: rows.collect(), ..Inbox::default() }
    }
}

fn active(workspace: &WorkspaceTree) -> Option<&Tabs> {
    workspace.projects.iter().find(|group| Some(group.project.id) == workspace.active.project)
}

pub(super) fn mood(tab: &Terminal) -> Mood {
    agents::mood(agents::effective(&tab.activity))
}

fn sidebar(state: &Seat, workspace: &WorkspaceTree, agents: &[AgentRow]) -> Sidebar {
    let row = |group: &Tabs| {
        let Project { id, name, .. } = &group.project;
        let is_here = |agent: &&AgentRow| group.tabs.iter().any(|tab| Some(tab.id) == agent.tab);
        ProjectRow {
            id: *id,
            name: name.clone(),
            is_active: workspace.active.project == Some(*id),
            branch: String::new(),
            mood: Mood::loudest(group.tabs.iter().map(mood)),
            waiting: 0,
            has_badge: group.tabs.iter().any(|tab| tab.activity.pending.is_some()),
            rename: match &state.edit {
                Some(Edit::Project(edited, text)) if edited == id => Some(Field::of(text)),
                _ => None,
            },
            agents: agents.iter().filter(is_here).cloned().collect(),
        }
    };
    Sidebar {
        is_collapsed: state.sidebar.is_collapsed,
        width: state.sidebar.width,
        projects: workspace.projects.iter().map(row).collect(),
        elsewhere: Vec::new(),
        filter: None,
        are_agents_visible: state.sidebar.are_agents_visible,
        scroll: None,
        chosen: None,
    }
}

fn strip(state: &Seat, workspace: &WorkspaceTree) -> TabStrip {
    let pill = |tab: &Terminal| Pill {
        id: tab.id,
        title: tab.title().into_owned(),
        mood: mood(tab),
        has_badge: tab.activity.pending.is_some(),
        is_active: workspace.active.terminal == Some(tab.id),
        more: 0,
        rename: match &state.edit {
            Some(Edit::Tab(edited, text)) if *edited == tab.id => Some(Field::of(text)),
            _ => None,
        },
    };
    let tabs = active(workspace).map(|group| group.tabs.as_slice()).unwrap_or_default();
    TabStrip { pills: tabs.iter().map(pill).collect(), scroll: None }
}

fn dialog(state: &Seat, workspace: &WorkspaceTree) -> Option<Dialog> {
    let question = state.question?;
    let mut groups = workspace.projects.iter();
    let group = groups.find(|group| group.project.id == question.project)?;
    Some(Dialog {
        title: format!("Close “{}”?", group.project.name),
        body: format!("Its {} tabs and everything that runs in them end.", group.tabs.len()),
        confirm: "Close Project".to_owned(),
        cancel: "Cancel".to_owned(),
        is_destructive: true,
        ..Dialog::default()
    })
}
