//! The one table of actions: id, row in the palette, default keys.

use super::{Platform, Trigger};

/// Something a key, a palette row or a script can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Open a tab in the active project.
    NewTab,
    /// Close the active tab.
    CloseTab,
    /// Edit the active tab's title.
    RenameTab,
    /// Go to the tab before; stops at the first.
    CycleTabPrev,
    /// Go to the tab after; stops at the last.
    CycleTabNext,
    /// Make a project.
    NewProject,
    /// Edit the active project's name.
    RenameProject,
    /// Close the active project.
    CloseProject,
    /// Show or hide the sidebar.
    ToggleSidebar,
    /// Show or hide agents in the sidebar.
    ToggleSidebarAgents,
    /// Go to the newest tab that asks for attention.
    JumpToUnread,
    /// Mark every notification as seen.
    ClearNotifications,
    /// Open the palette of commands.
    CommandPalette,
    /// Open the launcher.
    CommandLauncher,
    /// Open the palette of providers.
    CustomPalette,
    /// Open the palette of agents.
    AgentPalette,
    /// Go to the project at this place, from 1.
    SwitchProject(u8),
    /// Go to the tab at this place, from 1.
    SwitchTab(u8),
    /// Copy the selection.
    Copy,
    /// Paste.
    Paste,
    /// Larger text.
    FontIncrease,
    /// Smaller text.
    FontDecrease,
    /// Text as large as configured.
    FontReset,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionRow {
    /// What it is.
    pub action: Action,
    /// Its name in settings, and the id of its palette row.
    pub id: &'static str,
    /// Its words in the palette of commands, if it has a row there.
    pub title: Option<&'static str>,
    /// Default triggers; `primary` stands for Alt, or Command on macOS.
    keys: &'static [&'static str],
}

/// A former name that is still understood.
const ALIASES: &[(&str, Action)] = &[("delete_project", Action::CloseProject)];

const fn row(
    action: Action,
    id: &'static str,
    title: &'static str,
    keys: &'static [&'static str],
) -> ActionRow {
    ActionRow { action, id, title: Some(title), keys }
}

const fn hidden(action: Action, id: &'static str, keys: &'static [&'static str]) -> ActionRow {
    ActionRow { action, id, title: None, keys }
}

/// Every action, once.
pub const ACTIONS: &[ActionRow] = &[
    row(Action::ClearNotifications, "clear_notifications", "Clear All Notifications", &[]),
    row(
        Action::ToggleSidebarAgents,
        "toggle_sidebar_agents",
        "Toggle Sidebar Agents",
        &["primary+shift+a"],
    ),
    row(Action::NewTab, "new_tab", "New Tab", &["primary+t"]),
    row(Action::CloseTab, "close_tab", "Close Tab", &["primary+w"]),
    row(Action::RenameTab, "rename_tab", "Rename Tab", &["primary+r"]),
    row(Action::CycleTabNext, "cycle_tab_next", "Next Tab", &["primary+shift+]"]),
    row(Action::CycleTabPrev, "cycle_tab_prev", "Previous Tab", &["primary+shift+["]),
    row(Action::NewProject, "new_project", "New Project", &["primary+n"]),
    row(Action::RenameProject, "rename_project", "Rename Project", &["primary+shift+r"]),
    row(Action::CloseProject, "close_project", "Close Project", &["primary+shift+w"]),
    row(Action::ToggleSidebar, "toggle_sidebar", "Toggle Sidebar", &["primary+b"]),
    row(Action::JumpToUnread, "jump_to_unread", "Jump to Unread", &["primary+shift+u"]),
    row(
        Action::FontIncrease,
        "font_increase",
        "Increase Font Size",
        &["primary+plus", "primary+equal"],
    ),
    row(Action::FontDecrease, "font_decrease", "Decrease Font Size", &["primary+minus"]),
    row(Action::FontReset, "font_reset", "Reset Font Size", &["primary+0"]),
    hidden(Action::CommandPalette, "command_palette", &["primary+shift+p"]),
    hidden(Action::CommandLauncher, "command_launcher", &["primary+shift+t"]),
    hidden(Action::CustomPalette, "custom_palette", &["primary+shift+e"]),
    hidden(Action::AgentPalette, "agent_palette", &["primary+shift+o"]),
    hidden(Action::Copy, "copy", &["primary+c", "ctrl+shift+c"]),
    hidden(Action::Paste, "paste", &["primary+v", "ctrl+shift+v"]),
    hidden(Action::SwitchProject(1), "switch_project_1", &["primary+1"]),
    hidden(Action::SwitchProject(2), "switch_project_2", &["primary+2"]),
    hidden(Action::SwitchProject(3), "switch_project_3", &["primary+3"]),
    hidden(Action::SwitchProject(4), "switch_project_4", &["primary+4"]),
    hidden(Action::SwitchProject(5), "switch_project_5", &["primary+5"]),
    hidden(Action::SwitchProject(6), "switch_project_6", &["primary+6"]),
    hidden(Action::SwitchProject(7), "switch_project_7", &["primary+7"]),
    hidden(Action::SwitchProject(8), "switch_project_8", &["primary+8"]),
    hidden(Action::SwitchProject(9), "switch_project_9", &["primary+9"]),
    hidden(Action::SwitchTab(1), "switch_tab_1", &["ctrl+1"]),
    hidden(Action::SwitchTab(2), "switch_tab_2", &["ctrl+2"]),
    hidden(Action::SwitchTab(3), "switch_tab_3", &["ctrl+3"]),
    hidden(Action::SwitchTab(4), "switch_tab_4", &["ctrl+4"]),
    hidden(Action::SwitchTab(5), "switch_tab_5", &["ctrl+5"]),
    hidden(Action::SwitchTab(6), "switch_tab_6", &["ctrl+6"]),
    hidden(Action::SwitchTab(7), "switch_tab_7", &["ctrl+7"]),
    hidden(Action::SwitchTab(8), "switch_tab_8", &["ctrl+8"]),
    hidden(Action::SwitchTab(9), "switch_tab_9", &["ctrl+9"]),
];

impl ActionRow {
    /// The default triggers on a platform.
    pub fn triggers(&self, platform: Platform) -> Vec<Trigger> {
        // A test reads every row, so nothing is lost here.
        self.keys.iter().filter_map(|key| Trigger::parse_default(key, platform).ok()).collect()
    }

    /// How many default triggers the table names.
    #[cfg(test)]
    pub(super) fn key_count(&self) -> usize {
        self.keys.len()
    }
}

impl Action {
    /// The action with this id or former id.
    pub fn from_id(id: &str) -> Option<Self> {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == id).map(|(_, action)| *action);
        alias.or_else(|| ACTIONS.iter().find(|row| row.id == id).map(|row| row.action))
    }

    /// Its row in the table; none only for a place no key can name, such as tab 10.
    pub fn row(self) -> Option<&'static ActionRow> {
        ACTIONS.iter().find(|row| row.action == self)
    }

    /// Its name in settings.
    pub fn id(self) -> &'static str {
        self.row().map_or("", |row| row.id)
    }

    /// Its words in the palette, if it has a row there.
    pub fn title(self) -> Option<&'static str> {
        self.row().and_then(|row| row.title)
    }
}
