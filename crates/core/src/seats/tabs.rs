//! Opening tabs from the user interface: where the user is, as the user expects.

use std::path::PathBuf;

use rookery_model::{OnExit, Result, Size, Terminal};
use rookery_view::palette::launch;
use rookery_view::scene::FontChoice;
use rookery_view::scene::layout::{self, Panes};
use rookery_view::settings::Command;

use crate::rooms::Seats;
use crate::terminals::OpenTerminal;

impl Seats {
    /// Where a terminal is now: what its shell reported, else where its process is.
    pub(super) async fn live_cwd(&self, tab: &Terminal) -> PathBuf {
        if let Some(reported) = &tab.reported_cwd {
            return reported.clone();
        }
        let pid = tab.pid;
        let found = tokio::task::spawn_blocking(move || rookery_host::cwd_of(pid)).await;
        found.ok().flatten().unwrap_or_else(|| tab.cwd().to_owned())
    }

    /// Opens a shell where the active terminal is.
    pub(super) async fn new_tab(&self) -> Result<Terminal> {
        self.open_beside(OpenTerminal::default()).await
    }

    /// Opens a tab for a command of the settings.
    pub(super) async fn launch(&self, command: &Command) -> Result<Terminal> {
        let argv = launch::argv(command, &self.core.inner.config.shell);
        let first_title = Some(command.title.clone()).filter(|title| !title.is_empty());
        self.open_beside(OpenTerminal { argv, first_title, ..OpenTerminal::default() }).await
    }

    async fn open_beside(&self, request: OpenTerminal) -> Result<Terminal> {
        let active = self.place();
        let tab = active.terminal.and_then(|id| self.core.workspace().tab(id).ok());
        let cwd = match &tab {
            Some(tab) => Some(self.live_cwd(tab).await),
            None => None,
        };
        // Who is not the desk shows it to itself alone.
        let is_desk = self.seat().is_none_or(|id| self.is_desk(id));
        let room = self.room();
        let opened = self
            .core
            .terminals()
            .open(OpenTerminal {
                cwd,
                project: active.project,
                size: Size::new(room.rows, room.cols).unwrap_or(Size::DEFAULT),
                env: self.core.inner.config.tab_env.clone(),
                activate: is_desk,
                on_exit: OnExit::Close,
                any_cwd: true,
                integrate: true,
                ..request
            })
            .await?;
        if !is_desk {
            self.show(opened.id).await?;
        }
        Ok(opened)
    }

    /// How many rows and columns the window shows.
    pub(super) fn window_grid(&self) -> Size {
        let seat = self.seat();
        let state = self.core.inner.seats.state.lock();
        let sidebar = state.seat(seat).sidebar;
        let width = layout::sidebar_width(state.window, sidebar.is_collapsed, sidebar.width);
        let family = state.font.clone().unwrap_or_default();
        let font = FontChoice { family, size: state.font_size };
        let grid = Panes::without_status(state.window, width).grid(&font);
        Size::new(grid.rows, grid.cols).unwrap_or(Size::DEFAULT)
    }
}
