//! Actions: what keys, palette rows and scripts ask for, done in one place.

use rookery_model::{Error, ProjectId, Result, TerminalId};
use rookery_view::keys::Action;
use rookery_view::palette::Frame;
use rookery_view::settings::FONT_SIZES;

use super::{Clipboard, CloseQuestion, Edit, Page};
use crate::rooms::Seats;
use crate::terminals::OpenTerminal;
use crate::workspace::{TabGroup, Tabs};
use crate::world::Active;

impl Seats {
    /// Does what an action means to this tab, whatever is shown by now.
    pub async fn run_action_on(&self, action: Action, tab: TerminalId) -> Result<()> {
        match action {
            Action::CloseTab => self.core.terminals().close_soon(tab).await,
            Action::RenameTab => {
                if self.place().terminal != Some(tab) {
                    self.show(tab).await?;
                }
                self.edit_tab()
            }
            _ => Err(Error::invalid("args", "this action is about no tab that could be named")),
        }
    }

    /// Does what an action means; returns when it is done.
    pub async fn run_action(&self, action: Action) -> Result<()> {
        match action {
            Action::NewTab => self.new_tab().await.map(drop),
            Action::CloseTab => match self.place().terminal {
                Some(id) => self.core.terminals().close_soon(id).await,
                None => Ok(()),
            },
            Action::RenameTab => self.edit_tab(),
            Action::CycleTabPrev => self.cycle_tab(-1).await,
            Action::CycleTabNext => self.cycle_tab(1).await,
            Action::LastTab => self.last_tab().await,
            Action::NewProject => self.new_project().await,
            Action::RenameProject => self.edit_project(),
            Action::CloseProject => self.close_active_project().await,
            Action::ToggleSidebar => self.toggle_sidebar().await,
            Action::ToggleSidebarAgents => self.toggle_sidebar_agents().await,
            Action::JumpToUnread => self.jump_to_unread().await,
            Action::ClearNotifications => self.core.workspace().clear_all_attention().await,
            Action::CommandPalette => self.open_palette(Frame::Commands).await.map(drop),
            Action::CommandLauncher => self.open_palette(Frame::Launcher).await.map(drop),
            Action::CustomPalette => self.open_palette(Frame::Custom).await.map(drop),
            Action::AgentPalette => self.open_palette(Frame::Agents).await.map(drop),
            Action::SwitchProject(place) => self.switch_project(place).await,
            Action::SwitchTab(place) => self.switch_tab(place).await,
            Action::Copy => self.copy(),
            Action::Paste => self.paste_clipboard().await,
            Action::FontIncrease => self.scale_font(|size| size + 1.0).await,
            Action::FontDecrease => self.scale_font(|size| size - 1.0).await,
            Action::FontReset => {
                let size = rookery_view::settings::DEFAULT_FONT_SIZE;
                self.scale_font(move |_| size).await
            }
            // What only a viewer can do: without one there is no page, no pane and no scrolling.
            Action::OpenInbox
            | Action::NextWaiting
            | Action::NewThread
            | Action::OpenThreads
            | Action::OpenReviews
            | Action::OpenCheckpoints
            | Action::OpenWorktrees
            | Action::OpenAudit
            | Action::SplitRight
            | Action::SplitBelow
            | Action::ZoomPane
            | Action::BreakPane
            | Action::SwapPane
            | Action::TakeSize
            | Action::Find
            | Action::CopyMode
            | Action::PrevPrompt
            | Action::NextPrompt
            | Action::FocusSidebar
            | Action::Settings
            | Action::Help
            | Action::Leave
            | Action::FocusNextPane
            | Action::FocusPane(_)
            | Action::GrowPane(_)
            | Action::ScrollPageUp
            | Action::ScrollPageDown
            | Action::ScrollTop
            | Action::ScrollBottom => Box::pin(self.run_in_viewer(action)).await,
        }
    }

    /// The project shown, with its tabs.
    fn active_tabs(&self) -> Option<Tabs> {
        let workspace = self.core.workspace().tree();
        let active = self.place().project?;
        workspace.projects.into_iter().find(|group| group.project.id == active)
    }

    /// Tabs that are shown together count as one.
    async fn cycle_tab(&self, step: isize) -> Result<()> {
        let (groups, shown) = self.groups();
        let next = shown.and_then(|place| place.checked_add_signed(step));
        match next.and_then(|next| groups.get(next)) {
            Some(group) => self.show_group(group).await,
            None => Ok(()),
        }
    }

    /// The tab that was shown before those that are shown now, in whatever project.
    async fn last_tab(&self) -> Result<()> {
        let last = {
            let world = self.core.look();
            let viewer = self.viewer.filter(|id| world.desk != Some(*id));
            let viewer = viewer.and_then(|id| world.viewers.get(&id));
            let tab_history = viewer.map_or(&world.tab_history, |viewer| &viewer.tab_history);
            tab_history.last(&world, world.standing_of(self.viewer).terminal)
        };
        match last {
            Some(id) => self.show(id).await,
            None => Ok(()),
        }
    }

    async fn switch_tab(&self, place: u8) -> Result<()> {
        match self.groups().0.get(usize::from(place).saturating_sub(1)) {
            Some(group) => self.show_group(group).await,
            None => Ok(()),
        }
    }

    /// The groups of the project shown, and which of them is.
    fn groups(&self) -> (Vec<TabGroup>, Option<usize>) {
        let at = self.place();
        let groups = at.project.map(|id| self.core.workspace().groups(id)).unwrap_or_default();
        let shown =
            groups.iter().position(|group| at.terminal.is_some_and(|id| group.tabs.contains(&id)));
        (groups, shown)
    }

    /// Shows a group, the pane that was selected last if it is one of them.
    async fn show_group(&self, group: &TabGroup) -> Result<()> {
        let latest = {
            let world = self.core.look();
            let tabs = group.tabs.iter().filter_map(|id| world.terminals.get(id));
            tabs.max_by_key(|tab| tab.last_active).map(|tab| tab.id)
        };
        match group.tabs.as_slice() {
            [only] => self.show(*only).await,
            _ => match latest {
                Some(id) => self.show(id).await,
                None => Ok(()),
            },
        }
    }

    async fn switch_project(&self, place: u8) -> Result<()> {
        let workspace = self.core.workspace().tree();
        let wanted = usize::from(place).saturating_sub(1);
        match workspace.projects.get(wanted) {
            Some(group) => self.show_tabs(group).await,
            None => Ok(()),
        }
    }

    /// Shows a project, the tab of it that was selected last if it has any.
    pub async fn show_project(&self, id: ProjectId) -> Result<()> {
        let workspace = self.core.workspace().tree();
        let group = workspace.projects.iter().find(|group| group.project.id == id);
        self.show_tabs(group.ok_or_else(|| Error::not_found("the project is gone"))?).await
    }

    async fn show_tabs(&self, group: &Tabs) -> Result<()> {
        let is_there = |id: &TerminalId| group.tabs.iter().any(|tab| tab.id == *id);
        let remembered = group.project.selected.filter(is_there);
        match remembered.or_else(|| group.tabs.first().map(|tab| tab.id)) {
            Some(tab) => self.show(tab).await,
            None => self.select_project(group.project.id).await,
        }
    }

    /// A new project comes with a shell in it, or not at all.
    async fn new_project(&self) -> Result<()> {
        let home = self.core.inner.config.home.clone();
        let project = self.core.workspace().create_project(String::new(), home.clone()).await?;
        // Who is not the desk shows it to itself alone.
        let is_desk = self.seat().is_none_or(|id| self.is_desk(id));
        let request = OpenTerminal {
            project: Some(project.id),
            cwd: Some(home),
            size: self.window_grid(),
            env: self.core.inner.config.tab_env.clone(),
            activate: is_desk,
            on_exit: rookery_model::OnExit::Close,
            any_cwd: true,
            integrate: true,
            ..OpenTerminal::default()
        };
        match self.core.terminals().open(request).await {
            Ok(opened) if !is_desk => self.show(opened.id).await,
            Ok(_) => Ok(()),
            Err(error) => {
                self.core.workspace().delete_project(project.id).await?;
                Err(error)
            }
        }
    }

    /// A project with several terminals is closed only after a question.
    async fn close_active_project(&self) -> Result<()> {
        let Some(group) = self.active_tabs() else { return Ok(()) };
        let project = group.project.id;
        if group.tabs.len() > 1 {
            self.leave_terminal(self.place().terminal);
            self.change_seat(|seat| seat.question = Some(CloseQuestion { project }));
            return Ok(());
        }
        self.core.workspace().delete_project(project).await
    }

    /// Answers the question whether to close a project.
    pub async fn answer_question(&self, is_confirmed: bool) -> Result<()> {
        let question = self.change_seat(|seat| seat.question.take());
        match question {
            Some(CloseQuestion { project }) if is_confirmed => {
                self.core.workspace().delete_project(project).await
            }
            _ => Ok(()),
        }
    }

    /// The newest terminal with something to be seen: of this project, else of any.
    async fn jump_to_unread(&self) -> Result<()> {
        let active = self.place().project;
        let rows = self.core.workspace().inbox();
        let here = rows.iter().find(|(project, ..)| Some(project.id) == active);
        match here.or(rows.first()) {
            Some((_, tab, _)) => self.jump_to(tab.id).await,
            None => Ok(()),
        }
    }

    /// Shows a terminal that the user picked from a list, wherever it is.
    pub(super) async fn jump_to(&self, id: TerminalId) -> Result<()> {
        self.show(id).await?;
        self.reveal_sidebar().await
    }

    fn edit_tab(&self) -> Result<()> {
        if let Some(tab) = self.place().terminal.and_then(|id| self.core.workspace().tab(id).ok()) {
            let edit = Edit::Tab(tab.id, tab.title().into_owned());
            self.leave_terminal(Some(tab.id));
            self.change_seat(|seat| seat.edit = Some(edit));
        }
        Ok(())
    }

    fn edit_project(&self) -> Result<()> {
        if let Some(group) = self.active_tabs() {
            let edit = Edit::Project(group.project.id, group.project.name);
            self.leave_terminal(self.place().terminal);
            self.change_seat(|seat| seat.edit = Some(edit));
        }
        Ok(())
    }

    /// Ends editing a name in place: with this text, or as if it had not begun.
    pub async fn finish_edit(&self, text: Option<String>) -> Result<()> {
        let edit = self.change_seat(|seat| seat.edit.take());
        match (edit, text) {
            (Some(Edit::Tab(id, _)), Some(text)) => {
                self.core.terminals().set_user_title(id, Some(text)).await
            }
            (Some(Edit::Project(id, _)), Some(text)) => {
                self.core.workspace().rename_project(id, text).await
            }
            _ => Ok(()),
        }
    }

    fn copy(&self) -> Result<()> {
        let Some(handle) = self.place().terminal.and_then(|id| self.core.terminals().get(id).ok())
        else {
            return Ok(());
        };
        let handle = match self.seat() {
            Some(viewer) => handle.seen_by(viewer),
            None => handle,
        };
        match handle.selected().text {
            Some(text) => self.set_clipboard(Clipboard::System, &text),
            None => Ok(()),
        }
    }

    async fn paste_clipboard(&self) -> Result<()> {
        let Some(handle) = self.place().terminal.and_then(|id| self.core.terminals().get(id).ok())
        else {
            return Ok(());
        };
        match self.clipboard(Clipboard::System).await {
            Some(text) => handle.paste(&text),
            None => Ok(()),
        }
    }

    async fn scale_font(&self, change: impl FnOnce(f32) -> f32) -> Result<()> {
        let size = {
            let mut state = self.core.inner.seats.state.lock();
            let (least, most) = FONT_SIZES;
            state.font_size = change(state.font_size).clamp(least, most);
            state.settings.font_size = state.font_size;
            state.font_size
        };
        self.arrange().await?;
        self.write_setting("font-size", size.to_string()).await
    }

    /// Shows a project without tabs.
    async fn select_project(&self, project: ProjectId) -> Result<()> {
        let viewer = self.viewer.filter(|id| !self.is_desk(*id));
        self.core
            .transact_durably(|tx| {
                tx.world.project(project)?;
                let place = Active { project: Some(project), terminal: None };
                match viewer.and_then(|id| tx.world.viewers.get_mut(&id)) {
                    Some(viewer) => {
                        viewer.tab_history.left(viewer.at.terminal, None);
                        (viewer.at, viewer.page) = (place, Page::Workspace);
                    }
                    None => tx.select(place),
                }
                Ok(())
            })
            .await
    }
}
