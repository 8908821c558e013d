//! The one table of actions: id, row in the palette, default keys.

use super::{Platform, Trigger};
use crate::tile::Edge;

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
    Paste,
    /// Larger text.
    FontIncrease,
    /// Smaller text.
    FontDecrease,
    /// Text as large as configured.
    FontReset,
    /// Show the inbox.
    OpenInbox,
    /// Go to the session that has waited longest, then to the next.
    NextWaiting,
    /// Begin a thread.
    NewThread,
    /// Show the list of threads.
    OpenThreads,
    /// Show the list of reviews.
    OpenReviews,
    /// Show the list of checkpoints.
    OpenCheckpoints,
    /// Show the list of worktrees.
    OpenWorktrees,
    /// Show the audit log.
    OpenAudit,
    /// Open a shell at the right of the focused pane.
    SplitRight,
    /// Open a shell below the focused pane.
    SplitBelow,
    /// Give the focused pane all the room, or no longer.
    ZoomPane,
    /// Make the focused pane a tab of its own.
    BreakPane,
    /// Exchange the focused pane with the next.
    SwapPane,
    /// Give the terminal the size that it has here.
    TakeSize,
    /// Find text in the terminal.
    Find,
    /// Move and select by keys.
    CopyMode,
    /// Scroll to the prompt before.
    PrevPrompt,
    /// Scroll to the prompt after.
    NextPrompt,
    /// Go to the tab that was shown before.
    LastTab,
    /// Give the sidebar the keyboard.
    FocusSidebar,
    /// Show the settings.
    Settings,
    /// Show every key.
    Help,
    /// Leave the face; everything runs on.
    Leave,
    /// Give the next pane the keyboard.
    FocusNextPane,
    /// Give the pane at this side the keyboard.
    FocusPane(Edge),
    /// Move the border at this side of the focused pane outward.
    GrowPane(Edge),
    /// Scroll a page to older rows.
    ScrollPageUp,
    /// Scroll a page to newer rows.
    ScrollPageDown,
    /// Scroll to the oldest row.
    ScrollTop,
    /// Scroll to the newest row and follow the output.
    ScrollBottom,
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
    /// Whether Roost has it; its palette rows come first.
    pub is_roosts: bool,
    /// Default triggers in the window; `primary` stands for Alt, or Command on macOS.
    keys: &'static [&'static str],
    /// Default triggers in a terminal and in a browser.
    direct: &'static [&'static str],
    /// Default keys after the prefix, in a terminal and in a browser.
    prefix: &'static [&'static str],
}

/// A former name that is still understood.
const ALIASES: &[(&str, Action)] = &[("delete_project", Action::CloseProject)];

type Keys = &'static [&'static str];

/// A row of Roost's palette.
const fn row(action: Action, id: &'static str, title: &'static str, keys: [Keys; 3]) -> ActionRow {
    let [keys, direct, prefix] = keys;
    ActionRow { action, id, title: Some(title), is_roosts: true, keys, direct, prefix }
}

/// An action of Roost without a row in the palette.
const fn hidden(action: Action, id: &'static str, keys: [Keys; 3]) -> ActionRow {
    let [keys, direct, prefix] = keys;
    ActionRow { action, id, title: None, is_roosts: true, keys, direct, prefix }
}

/// A row that comes after those of Roost.
const fn own(action: Action, id: &'static str, title: &'static str, keys: [Keys; 3]) -> ActionRow {
    ActionRow { is_roosts: false, ..row(action, id, title, keys) }
}

/// An action of our own without a row in the palette.
const fn quiet(action: Action, id: &'static str, keys: [Keys; 3]) -> ActionRow {
    ActionRow { is_roosts: false, ..hidden(action, id, keys) }
}

/// Every action, once: its keys in the window, those in a terminal and in a browser, and those after the
/// prefix there.
#[rustfmt::skip]
pub const ACTIONS: &[ActionRow] = &[
    row(Action::ClearNotifications, "clear_notifications", "Clear All Notifications", [&[], &[], &[]]),
    row(Action::ToggleSidebarAgents, "toggle_sidebar_agents", "Toggle Sidebar Agents", [&["primary+shift+a"], &[], &[]]),
    row(Action::NewTab, "new_tab", "New Tab", [&["primary+t"], &["ctrl+alt+c"], &["c"]]),
    row(Action::CloseTab, "close_tab", "Close Tab", [&["primary+w"], &["ctrl+alt+w"], &["x"]]),
    row(Action::RenameTab, "rename_tab", "Rename Tab", [&["primary+r"], &[], &["r"]]),
    row(Action::CycleTabNext, "cycle_tab_next", "Next Tab", [&["primary+shift+]"], &["ctrl+alt+f"], &["n"]]),
    row(Action::CycleTabPrev, "cycle_tab_prev", "Previous Tab", [&["primary+shift+["], &["ctrl+alt+r"], &["p"]]),
    row(Action::NewProject, "new_project", "New Project", [&["primary+n"], &[], &["shift+n"]]),
    row(Action::RenameProject, "rename_project", "Rename Project", [&["primary+shift+r"], &[], &["shift+r"]]),
    row(Action::CloseProject, "close_project", "Close Project", [&["primary+shift+w"], &[], &[]]),
    row(Action::ToggleSidebar, "toggle_sidebar", "Toggle Sidebar", [&["primary+b"], &[], &["b"]]),
    row(Action::JumpToUnread, "jump_to_unread", "Jump to Unread", [&["primary+shift+u"], &[], &["shift+u"]]),
    row(Action::FontIncrease, "font_increase", "Increase Font Size", [&["primary+plus", "primary+equal"], &[], &[]]),
    row(Action::FontDecrease, "font_decrease", "Decrease Font Size", [&["primary+minus"], &[], &[]]),
    row(Action::FontReset, "font_reset", "Reset Font Size", [&["primary+0"], &[], &[]]),
    hidden(Action::CommandPalette, "command_palette", [&["primary+shift+p"], &["ctrl+alt+p"], &["space", ":"]]),
    hidden(Action::CommandLauncher, "command_launcher", [&["primary+shift+t"], &[], &["f"]]),
    hidden(Action::CustomPalette, "custom_palette", [&["primary+shift+e"], &[], &["e"]]),
    hidden(Action::AgentPalette, "agent_palette", [&["primary+shift+o"], &[], &["g"]]),
    hidden(Action::Copy, "copy", [&["primary+c", "ctrl+shift+c"], &[], &["y"]]),
    hidden(Action::Paste, "paste", [&["primary+v", "ctrl+shift+v"], &["ctrl+shift+v", "shift+insert"], &["]"]]),
    hidden(Action::SwitchProject(1), "switch_project_1", [&["primary+1"], &[], &[]]),
    hidden(Action::SwitchProject(2), "switch_project_2", [&["primary+2"], &[], &[]]),
    hidden(Action::SwitchProject(3), "switch_project_3", [&["primary+3"], &[], &[]]),
    hidden(Action::SwitchProject(4), "switch_project_4", [&["primary+4"], &[], &[]]),
    hidden(Action::SwitchProject(5), "switch_project_5", [&["primary+5"], &[], &[]]),
    hidden(Action::SwitchProject(6), "switch_project_6", [&["primary+6"], &[], &[]]),
    hidden(Action::SwitchProject(7), "switch_project_7", [&["primary+7"], &[], &[]]),
    hidden(Action::SwitchProject(8), "switch_project_8", [&["primary+8"], &[], &[]]),
    hidden(Action::SwitchProject(9), "switch_project_9", [&["primary+9"], &[], &[]]),
    hidden(Action::SwitchTab(1), "switch_tab_1", [&["ctrl+1"], &[], &["1"]]),
    hidden(Action::SwitchTab(2), "switch_tab_2", [&["ctrl+2"], &[], &["2"]]),
    hidden(Action::SwitchTab(3), "switch_tab_3", [&["ctrl+3"], &[], &["3"]]),
    hidden(Action::SwitchTab(4), "switch_tab_4", [&["ctrl+4"], &[], &["4"]]),
    hidden(Action::SwitchTab(5), "switch_tab_5", [&["ctrl+5"], &[], &["5"]]),
    hidden(Action::SwitchTab(6), "switch_tab_6", [&["ctrl+6"], &[], &["6"]]),
    hidden(Action::SwitchTab(7), "switch_tab_7", [&["ctrl+7"], &[], &["7"]]),
    hidden(Action::SwitchTab(8), "switch_tab_8", [&["ctrl+8"], &[], &["8"]]),
    hidden(Action::SwitchTab(9), "switch_tab_9", [&["ctrl+9"], &[], &["9"]]),
    hidden(Action::SwitchTab(10), "switch_tab_10", [&[], &[], &[]]),
    own(Action::OpenInbox, "open_inbox", "Open Inbox", [&["primary+shift+i"], &["ctrl+alt+o"], &["i"]]),
    own(Action::NextWaiting, "next_waiting", "Next Waiting", [&["primary+shift+j"], &["ctrl+alt+n"], &["u"]]),
    own(Action::NewThread, "new_thread", "New Thread", [&["primary+shift+n"], &[], &["t"]]),
    own(Action::OpenThreads, "open_threads", "Open Threads", [&["primary+shift+h"], &[], &["shift+t"]]),
    own(Action::OpenReviews, "open_reviews", "Open Reviews", [&[], &[], &["shift+v"]]),
    own(Action::OpenCheckpoints, "open_checkpoints", "Open Checkpoints", [&[], &[], &["shift+k"]]),
    own(Action::OpenWorktrees, "open_worktrees", "Open Worktrees", [&[], &[], &["shift+w"]]),
    own(Action::OpenAudit, "open_audit", "Open Audit", [&[], &[], &["shift+l"]]),
    own(Action::SplitRight, "split_right", "Split Right", [&["primary+shift+\\"], &["ctrl+alt+v"], &["v", "%"]]),
    own(Action::SplitBelow, "split_below", "Split Below", [&["primary+shift+minus"], &["ctrl+alt+b"], &["minus", "\""]]),
    own(Action::ZoomPane, "zoom_pane", "Zoom Pane", [&["primary+shift+z"], &["ctrl+alt+z"], &["z"]]),
    own(Action::BreakPane, "break_pane", "Break Pane", [&[], &[], &["!"]]),
    own(Action::SwapPane, "swap_pane", "Swap Pane", [&[], &[], &["{"]]),
    own(Action::TakeSize, "take_size", "Take Size", [&[], &[], &["shift+s"]]),
    own(Action::Find, "find", "Find", [&["ctrl+shift+f"], &["ctrl+shift+f"], &["/"]]),
    own(Action::CopyMode, "copy_mode", "Copy Mode", [&["primary+shift+c"], &[], &["["]]),
    own(Action::PrevPrompt, "prev_prompt", "Prev Prompt", [&["ctrl+shift+z"], &[], &["("]]),
    own(Action::NextPrompt, "next_prompt", "Next Prompt", [&["ctrl+shift+x"], &[], &[")"]]),
    own(Action::LastTab, "last_tab", "Last Tab", [&["primary+shift+l"], &[], &["tab"]]),
    own(Action::FocusSidebar, "focus_sidebar", "Focus Sidebar", [&[], &[], &["w"]]),
    own(Action::Settings, "settings", "Settings", [&["primary+shift+comma"], &[], &["comma"]]),
    own(Action::Help, "help", "Help", [&["primary+shift+slash"], &[], &["?"]]),
    own(Action::Leave, "leave", "Leave", [&[], &[], &["q", "d"]]),
    quiet(Action::FocusNextPane, "focus_next_pane", [&["primary+shift+x"], &["ctrl+alt+x"], &["o"]]),
    quiet(Action::FocusPane(Edge::Left), "focus_left", [&["ctrl+shift+left"], &[], &["left", "h"]]),
    quiet(Action::FocusPane(Edge::Down), "focus_down", [&["ctrl+shift+down"], &[], &["down", "j"]]),
    quiet(Action::FocusPane(Edge::Up), "focus_up", [&["ctrl+shift+up"], &[], &["up", "k"]]),
    quiet(Action::FocusPane(Edge::Right), "focus_right", [&["ctrl+shift+right"], &[], &["right", "l"]]),
    quiet(Action::GrowPane(Edge::Left), "grow_left", [&[], &[], &["alt+left"]]),
    quiet(Action::GrowPane(Edge::Down), "grow_down", [&[], &[], &["alt+down"]]),
    quiet(Action::GrowPane(Edge::Up), "grow_up", [&[], &[], &["alt+up"]]),
    quiet(Action::GrowPane(Edge::Right), "grow_right", [&[], &[], &["alt+right"]]),
    quiet(Action::ScrollPageUp, "scroll_page_up", [&["shift+page_up"], &["shift+page_up"], &["page_up"]]),
    quiet(Action::ScrollPageDown, "scroll_page_down", [&["shift+page_down"], &["shift+page_down"], &["page_down"]]),
    quiet(Action::ScrollTop, "scroll_top", [&["shift+home"], &["shift+home"], &["home"]]),
    quiet(Action::ScrollBottom, "scroll_bottom", [&["shift+end"], &["shift+end"], &["end"]]),
];

impl ActionRow {
    /// The default triggers in the window of a platform.
    pub fn triggers(&self, platform: Platform) -> Vec<Trigger> {
        // A test reads every row, so nothing is lost here.
        self.keys.iter().filter_map(|key| Trigger::parse_default(key, platform).ok()).collect()
    }

    /// The default triggers in a terminal and in a browser.
    pub fn direct(&self) -> Vec<Trigger> {
        self.direct.iter().filter_map(|key| Trigger::parse(key).ok()).collect()
    }

    /// The default keys after the prefix.
    pub fn prefixed(&self) -> Vec<Trigger> {
        self.prefix.iter().filter_map(|key| Trigger::parse(key).ok()).collect()
    }

    /// How many default triggers the table names.
    #[cfg(test)]
    pub(super) fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// How many default triggers the other two columns name.
    #[cfg(test)]
    pub(super) fn face_key_counts(&self) -> (usize, usize) {
        (self.direct.len(), self.prefix.len())
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

    /// Its words for people, also where the palette has no row: its id in capitals.
    pub fn words(self) -> String {
        if let Some(title) = self.title() {
            return title.to_owned();
        }
        let capital = |word: &str| {
            let mut chars = word.chars();
            let first = chars.next().map(|c| c.to_ascii_uppercase());
            first.into_iter().chain(chars).collect::<String>()
        };
        self.id().split('_').map(capital).collect::<Vec<_>>().join(" ")
    }

    /// Its words in the palette, if it has a row there.
    pub fn title(self) -> Option<&'static str> {
        self.row().and_then(|row| row.title)
    }
}
