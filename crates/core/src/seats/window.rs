//! The window as far as it matters without one: its size, its focus, its sidebar.

use rookery_model::{ErrorKind, Result, TerminalId};
use rookery_view::scene::WindowSize;
use rookery_view::scene::layout::{self, Panes};

use super::{Edit, Page, SceneCounts};
use crate::rooms::Seats;
use crate::terminals::TerminalHandle;

/// Where the store keeps what the sidebar looked like.
const SIDEBAR: &str = "sidebar";

/// The measures of the window, in logical points.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowMetrics {
    pub size: WindowSize,
    /// Width of the sidebar; 0 while it is hidden.
    pub sidebar_width: f32,
    /// Whether the sidebar is hidden.
    pub is_collapsed: bool,
    /// Where the terminal begins, from the top.
    pub terminal_top: f32,
    /// The terminal's font; none is the built-in one.
    pub font: Option<String>,
}

impl Seats {
    /// The measures of the window.
    pub fn window_metrics(&self) -> WindowMetrics {
        let seat = self.seat();
        let own = seat.and_then(|id| self.core.look().viewers.get(&id)?.window);
        let state = self.core.inner.seats.state.lock();
        let sidebar = state.seat(seat).sidebar;
        let size = own.unwrap_or(state.window);
        let width = layout::sidebar_width(size, sidebar.is_collapsed, sidebar.width);
        WindowMetrics {
            size,
            sidebar_width: width,
            is_collapsed: sidebar.is_collapsed,
            terminal_top: Panes::of(size, width).terminal.y,
            font: state.font.clone(),
        }
    }

    /// Makes the window this large; the terminal it shows takes the room there is. A window that is the desk is asked
    /// to, and says itself how large it is then.
    pub async fn resize_window(&self, size: WindowSize) -> Result<()> {
        if let Some(desk) = self.desk_window() {
            self.ask_for_size(desk.id, size.bounded()).await;
            return Ok(());
        }
        self.core.inner.seats.state.lock().window = size.bounded();
        self.arrange().await
    }

    /// The room for terminals changed: the one that is shown takes it, and from now on so does
    /// every other that comes to be shown.
    pub(super) async fn arrange(&self) -> Result<()> {
        self.core.inner.seats.state.lock().is_arranged = true;
        self.fit_active().await
    }

    /// A terminal came to be shown: it takes the room there is. Before a user arranged the window it
    /// keeps the size that it was opened with, and so it does while a client is attached to it, whose
    /// own window it fills.
    pub(crate) async fn fit_shown(&self) {
        let is_arranged = self.core.inner.seats.state.lock().is_arranged;
        let shown =
            self.core.workspace().active().and_then(|id| self.core.terminals().get(id).ok());
        let is_elsewhere =
            |handle: TerminalHandle| handle.is_followed() || self.is_owned(handle.id());
        if !is_arranged || shown.is_none_or(is_elsewhere) {
            return;
        }
        if let Err(error) = self.fit_active().await {
            tracing::warn!(%error, "a terminal that is shown did not take the window's size");
        }
    }

    /// Gives the terminal that is shown as many rows and columns as the window has room for.
    async fn fit_active(&self) -> Result<()> {
        let shown =
            self.core.workspace().active().and_then(|id| self.core.terminals().get(id).ok());
        let size = self.window_grid();
        // A viewer with room of its own says how large it is.
        let shown = shown.filter(|handle| !self.is_owned(handle.id()));
        match shown.filter(|handle| handle.size() != size) {
            Some(handle) => match handle.resize(size).await {
                // What has ended is looked at in the size that it had.
                Err(error) if error.kind() == ErrorKind::Closed => Ok(()),
                fitted => fitted,
            },
            None => Ok(()),
        }
    }

    /// The window got or lost the keyboard; a program that asked for it is notified.
    pub fn focus_window(&self, has_focus: bool) {
        let before = self.core.look().focused();
        self.core.adjust(|world| {
            let viewing = world.viewing();
            match viewing.desk.and_then(|id| viewing.viewers.get_mut(&id)) {
                Some(desk) => desk.has_keyboard = has_focus,
                None => *viewing.window_focus = Some(has_focus),
            }
        });
        self.send_focus_changes(&before);
    }

    /// Whether it was said that whoever this is about does not have the keyboard.
    pub(super) fn is_without_keyboard(&self) -> bool {
        let world = self.core.look();
        match self.seat().and_then(|id| world.viewers.get(&id)) {
            Some(viewer) => !viewer.has_keyboard,
            None => world.window_focus == Some(false),
        }
    }

    /// Keys go elsewhere from now on: what an input method shows on the terminal is called off.
    pub(crate) fn leave_terminal(&self, id: Option<TerminalId>) {
        if let Some(handle) = id.and_then(|id| self.core.terminals().get(id).ok()) {
            handle.call_off_composition();
        }
    }

    /// A terminal got or lost the keyboard; a program that asked for it is notified.
    pub(crate) fn send_focus(&self, id: Option<TerminalId>, has_focus: bool) {
        if let Some(handle) = id.and_then(|id| self.core.terminals().get(id).ok()) {
            // A program that does not read its input misses it; that is its own affair.
            let _ = handle.report_focus(has_focus);
        }
    }

    /// The user turned to something else: a name half edited and a question stay as they were.
    pub(crate) fn put_questions_away(&self) {
        let is_any = self.look_at_seat(|seat| seat.edit.is_some() || seat.question.is_some());
        if is_any {
            self.change_seat(|seat| (seat.edit, seat.question) = (None, None));
        }
    }

    /// Forgets a name half edited and a question whose subject is gone or no longer shown.
    pub(super) fn drop_stale_questions(&self) {
        let (active, seat) = (self.place(), self.seat());
        let mut state = self.core.inner.seats.state.lock();
        let is_edited = match &state.seat(seat).edit {
            Some(Edit::Tab(id, _)) => active.terminal == Some(*id),
            Some(Edit::Project(id, _)) => active.project == Some(*id),
            None => true,
        };
        if !is_edited {
            state.seat_mut(seat).edit = None;
        }
        let question = state.seat(seat).question;
        if question.is_some_and(|question| active.project != Some(question.project)) {
            state.seat_mut(seat).question = None;
        }
    }

    /// Makes the sidebar this wide, within its bounds. A hidden one stays hidden, and has this width
    /// when it is shown again.
    pub async fn set_sidebar_width(&self, width: f32) -> Result<()> {
        let (least, most) = layout::SIDEBAR_BOUNDS;
        self.change_seat(|seat| seat.sidebar.width = width.clamp(least, most));
        self.arrange().await?;
        self.remember_sidebar().await
    }

    /// Shows the sidebar if it is hidden: a user who jumped elsewhere sees where that is.
    pub(super) async fn reveal_sidebar(&self) -> Result<()> {
        let is_collapsed = self.look_at_seat(|seat| seat.sidebar.is_collapsed);
        if is_collapsed { self.toggle_sidebar().await } else { Ok(()) }
    }

    /// Shows or hides the sidebar.
    pub(super) async fn toggle_sidebar(&self) -> Result<()> {
        self.change_seat(|seat| seat.sidebar.is_collapsed = !seat.sidebar.is_collapsed);
        self.arrange().await?;
        self.remember_sidebar().await
    }

    /// Shows or hides agents in the sidebar, and writes that into the settings.
    pub(super) async fn toggle_sidebar_agents(&self) -> Result<()> {
        let seat = self.seat();
        let is_visible = {
            let mut state = self.core.inner.seats.state.lock();
            let is_visible = !state.seat(seat).sidebar.are_agents_visible;
            state.seat_mut(seat).sidebar.are_agents_visible = is_visible;
            state.settings.show_sidebar_agents = is_visible;
            is_visible
        };
        self.write_setting("show-sidebar-agents", is_visible.to_string()).await
    }

    async fn remember_sidebar(&self) -> Result<()> {
        let sidebar = self.look_at_seat(|seat| seat.sidebar);
        let text = format!("{} {}", sidebar.is_collapsed, sidebar.width);
        self.core.remember(SIDEBAR, Some(text)).await
    }

    /// Brings the sidebar back as it was.
    pub(crate) async fn restore_sidebar(&self) {
        let Ok(Some(text)) = self.core.remembered(SIDEBAR).await else { return };
        let Some((collapsed, width)) = text.split_once(' ') else { return };
        if let (Ok(is_collapsed), Ok(width)) = (collapsed.parse(), width.parse::<f32>()) {
            let (least, most) = layout::SIDEBAR_BOUNDS;
            let mut state = self.core.inner.seats.state.lock();
            state.headless.sidebar.is_collapsed = is_collapsed;
            state.headless.sidebar.width = width.clamp(least, most);
        }
    }

    /// Whether keys go to the terminal: nothing else wants them, and there is one.
    pub fn terminal_has_keyboard(&self) -> bool {
        self.drop_stale_questions();
        let is_taken = self.look_at_seat(|seat| {
            seat.palette.is_open() || seat.edit.is_some() || seat.question.is_some()
        });
        let desk = self.seat().and_then(|id| self.viewer(id).ok());
        let is_on_page = desk.is_some_and(|viewer| viewer.page != Page::Workspace);
        !is_taken && !is_on_page && self.place().terminal.is_some()
    }

    /// Signs that belong to a word besides letters and digits.
    pub fn word_chars(&self) -> String {
        self.core.inner.seats.word_chars()
    }

    /// How often scenes were made, and what that cost.
    pub fn scene_counts(&self, reset: bool) -> SceneCounts {
        self.core.inner.seats.stats.read(reset)
    }
}
