//! What only a window shows, for pictures of the window that the desk is: tiled panes, pills of groups
//! and the status line.

use std::sync::Arc;

use rookery_model::{ProjectId, Request, TerminalId, Timestamp, Words as _};
use rookery_view::inbox;
use rookery_view::keys::{Action, FaceKind, Platform};
use rookery_view::safe;
use rookery_view::scene::{AgentRow, Mood, Pane, Panes, Pill, Scene, Stage, StatusLine};

use super::viewers::{Face, Viewer};
use crate::clock;
use crate::rooms::Seats;
use crate::sessions::SessionHome;
use crate::threads::{ThreadQuery, ThreadView};

/// Conversations that the sidebar lists, and letters of what names one, as on the link.
const MOST_THREADS: usize = 100;
const TITLE: usize = 80;

impl Seats {
    /// The window that the desk is, if it is one.
    pub(super) fn desk_window(&self) -> Option<Viewer> {
        let viewer = self.viewer(self.seat()?).ok()?;
        (viewer.face == Face::Window).then_some(viewer)
    }

    /// The panes that a window shows.
    pub(super) fn panes_of(&self, viewer: &Viewer, focused: TerminalId) -> Stage {
        let areas = self.core.workspace().areas(viewer);
        let tabs = self.core.workspace().tree_of(focused).terminals().len();
        let pane = |area: rookery_view::tile::Area| {
            let id = TerminalId::new(area.terminal);
            let grid = Arc::new(self.grid_of(id, id == focused)?);
            let tab = self.core.terminals().describe(id).ok()?;
            Some(Pane {
                is_focused: id == focused,
                title: tab.title().into_owned(),
                mood: super::scene::mood(&tab),
                ..Pane::new(id, Some(area.rect), grid)
            })
        };
        Stage::Panes(Panes {
            panes: areas.into_iter().filter_map(pane).collect(),
            is_group: tabs > 1,
            is_zoomed: viewer.zoomed == Some(focused),
        })
    }

    /// One pill for each group, as the loudest of its tabs fares.
    pub(super) fn group_pills(&self, scene: &mut Scene, project: ProjectId) {
        let pills = std::mem::take(&mut scene.strip.pills);
        let groups = self.core.workspace().groups(project);
        let group = |tabs: &[TerminalId]| {
            let own: Vec<&Pill> = pills.iter().filter(|pill| tabs.contains(&pill.id)).collect();
            let shown = own.iter().find(|pill| pill.is_active).or(own.first())?;
            Some(Pill {
                mood: Mood::loudest(own.iter().map(|pill| pill.mood)),
                has_badge: own.iter().any(|pill| pill.has_badge),
                more: own.len() - 1,
                ..(*shown).clone()
            })
        };
        scene.strip.pills = groups.iter().filter_map(|it| group(&it.tabs)).collect();
    }

    /// The sidebar as a window shows it: with conversations, what waits first, ages in minutes, and the
    /// number of requests at its bell.
    pub(super) fn window_sidebar(&self, scene: &mut Scene) {
        let now = clock::wall();
        let requests = self.waiting_requests();
        let query = ThreadQuery { limit: MOST_THREADS, ..ThreadQuery::default() };
        let threads = self.core.threads().list(&query).threads;
        let projects = self.core.workspace().projects();
        let home = |seen: &ThreadView| {
            let around = projects.iter().filter(|it| seen.thread.cwd.starts_with(&it.root));
            around.max_by_key(|it| it.root.components().count()).map(|it| it.id)
        };
        let waits = |row: &AgentRow| {
            requests.iter().any(|request| match (request.thread(), row.tab) {
                (Some(thread), _) => row.thread.as_deref() == Some(thread.to_string().as_str()),
                (None, tab) => {
                    let session = request.session().and_then(|id| self.core.sessions().get(id));
                    let of = tab.map(SessionHome::Terminal);
                    of.is_some() && session.map(|it| it.home) == of
                }
            })
        };
        for project in &mut scene.sidebar.projects {
            for agent in &mut project.agents {
                let tab = agent.tab.and_then(|id| self.core.workspace().tab(id).ok());
                let owner = tab.and_then(|tab| tab.activity.owner);
                agent.time_text = owner.map_or_else(String::new, |it| age(it.last_event_at, now));
            }
            let here = threads.iter().filter(|seen| home(seen) == Some(project.id));
            project.agents.extend(here.map(|seen| thread_row(seen, now)));
            project.agents.sort_by_key(|row| std::cmp::Reverse(waits(row)));
            let waiting = project.agents.iter().filter(|row| waits(row)).count();
            project.waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
        }
        let outside = threads.iter().filter(|seen| home(seen).is_none());
        scene.sidebar.elsewhere = outside.map(|seen| thread_row(seen, now)).collect();
        scene.inbox.count = Some(requests.len());
    }

    /// Requests that a person is waited for with.
    fn waiting_requests(&self) -> Vec<Request> {
        let mut requests = self.core.requests().list();
        requests.retain(inbox::asks_person);
        requests
    }

    /// Whose size the terminal has that a viewer shows, if not its own.
    fn other_owner(&self, viewer: &Viewer) -> Option<String> {
        let owner = self.size_owner(self.place().terminal?).filter(|owner| *owner != viewer.id)?;
        Some(self.viewer(owner).ok()?.name)
    }

    /// The line below everything.
    pub(super) fn status_line(&self, viewer: &Viewer, scene: &Scene) -> StatusLine {
        let (settings, _) = self.settings();
        let keymap = settings.keymap_for(FaceKind::Window, Platform::current());
        let key = |action: Action| {
            let mut keys: Vec<String> =
                keymap.triggers_of(action).iter().map(ToString::to_string).collect();
            keys.sort_by_key(String::len);
            keys.into_iter().next().unwrap_or_default()
        };
        let size = self.place().terminal.and_then(|id| self.core.terminals().get(id).ok());
        let size = size.map(|terminal| terminal.size());
        StatusLine {
            help_key: key(Action::Help),
            waiting: u32::try_from(self.waiting_requests().len()).unwrap_or(u32::MAX),
            inbox_key: key(Action::OpenInbox),
            palette_key: key(Action::CommandPalette),
            message: None,
            place: scene.title.clone(),
            size: size.map(|it| format!("{}×{}", it.cols(), it.rows())).unwrap_or_default(),
            owner: self.other_owner(viewer),
            mode: self.core.threads().mode(None).word().to_owned(),
            rights: viewer.rights.word().to_owned(),
            is_flashing: false,
        }
    }
}

fn thread_row(seen: &ThreadView, now: Timestamp) -> AgentRow {
    let thread = &seen.thread;
    let named = thread.name.as_deref().filter(|name| !name.trim().is_empty());
    let said: String = thread.preview.chars().take(TITLE).collect();
    let name = named.unwrap_or(if said.is_empty() { "new thread" } else { &said });
    let (mood, status) = match seen.status.active_turn {
        Some(_) if seen.status.waits_for_person() => (Mood::Waiting, "waiting"),
        Some(_) => (Mood::Working, "working"),
        None => (Mood::Inactive, "idle"),
    };
    AgentRow {
        tab: None,
        thread: Some(thread.id.to_string()),
        name: safe::seen(&safe::line(name)),
        mood,
        status_text: status.to_owned(),
        time_text: age(thread.updated_at, now),
        is_active: false,
    }
}

/// How long ago something was, as faces say it.
fn age(at: Timestamp, now: Timestamp) -> String {
    match (now.as_seconds() - at.as_seconds()).max(0) / 60 {
        0 => "<1m".to_owned(),
        minutes @ 1..60 => format!("{minutes}m"),
        minutes @ 60..1440 => format!("{}h", minutes / 60),
        minutes => format!("{}d", minutes / 1440),
    }
}
