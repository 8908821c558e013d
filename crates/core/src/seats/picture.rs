//! What only a window shows, for pictures of the window that the desk is: tiled panes, pills of groups
//! and the status line.

use std::sync::Arc;

use rookery_model::{ProjectId, TerminalId, Words as _};
use rookery_view::keys::{Action, FaceKind, Platform};
use rookery_view::scene::{Mood, Pane, Panes, Pill, Scene, Stage, StatusLine};

use super::viewers::{Face, Viewer};
use crate::rooms::Seats;

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
            waiting: u32::try_from(self.core.requests().list().len()).unwrap_or(u32::MAX),
            inbox_key: key(Action::OpenInbox),
            message: None,
            place: scene.title.clone(),
            size: size.map(|it| format!("{}×{}", it.cols(), it.rows())).unwrap_or_default(),
            owner: None,
            mode: self.core.threads().mode(None).word().to_owned(),
            rights: viewer.rights.word().to_owned(),
        }
    }
}
