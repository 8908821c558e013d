//! Tabs and what can be done with them.

use std::num::NonZeroU16;

use super::{
    Base64, Color, Empty, Int64,
    agent::{Lifecycle, Ownership, ShellState},
    calls,
    project::Project,
    shapes, words,
};
use crate::errors::Error;

words! {
    /// What a tab shows of its work. A closed set.
    TabState {
        /// Nothing to say.
        None,
        /// Something runs.
        Running,
        /// Something waits for the user.
        NeedsInput,
        /// Something is done.
        Idle,
    }
    /// What a mouse did.
    MouseKind {
        /// A button went down.
        Press,
        /// A button went up.
        Release,
        /// It moved.
        Motion,
    }
    MouseButton {
        Left,
        Right,
        Middle,
        /// The wheel, away from the user.
        WheelUp,
        /// The wheel, towards the user.
        WheelDown,
        /// No button, for motion.
        None,
    }
    /// What an input method did.
    ImeAction {
        /// It shows text that is not entered yet.
        Preedit,
        /// It enters text.
        Commit,
        /// It takes back what it shows.
        Clear,
    }
}

shapes! {
    Tab {
        /// Its id.
        id: Int64,
        /// The project it belongs to.
        project_id: Int64,
        /// Its title.
        title: String,
        /// Its directory.
        cwd: String,
        /// What it shows of its work.
        state: TabState,
        /// Whether a notification was not seen yet.
        has_notification: bool,
        /// Whether it is the one active tab.
        is_active: bool,
        /// Whether its title was given by the user.
        user_titled: bool,
        /// Its place in the project.
        position: i32,
        /// When it was opened, in Unix seconds.
        created_at: i64,
        /// When it was last focused or typed into, in Unix seconds.
        last_active: i64,
        /// Whether a hook owns it.
        hook_active: bool,
        /// What its shell is doing; absent from servers that do not know.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shell_state: Option<ShellState>,
        /// How far along its agent is; absent from servers that do not know.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_lifecycle: Option<Lifecycle>,
        /// Who owns it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ownership: Option<Ownership>,
    }
    TabReply {
        /// It.
        tab: Tab,
    }
    /// The whole workspace.
    Projects {
        /// The projects in display order.
        projects: Vec<Project>,
    }
    /// Where the cursor is, from 0.
    Cursor {
        /// Row.
        row: u32,
        /// Column.
        col: u32,
        /// Whether it is shown.
        visible: bool,
    }
    /// What a tab shows, as text.
    Dump {
        /// Columns.
        cols: u32,
        /// Rows.
        rows: u32,
        /// Absent while it is off the viewport.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<Cursor>,
        /// The rows, without trailing blanks.
        rows_text: Vec<String>,
    }
    /// A cell as it is painted.
    ResolvedCell {
        /// Row.
        row: u32,
        /// Column.
        col: u32,
        /// What it holds; a blank when nothing.
        text: String,
        /// Foreground.
        fg: Color,
        /// Background.
        bg: Color,
        /// Whether the background is other than the default one.
        has_explicit_bg: bool,
        /// Bold.
        bold: bool,
        /// Italic.
        italic: bool,
        /// Inverse.
        inverse: bool,
    }
    /// What a tab shows, as painted.
    ResolvedDump {
        /// Columns.
        cols: u32,
        /// Rows.
        rows: u32,
        /// Every cell, row by row.
        cells: Vec<ResolvedCell>,
    }
    /// Bytes on their way to a child.
    Captured {
        /// The bytes.
        data: Base64,
    }
    /// What was active before.
    Focused {
        /// The project, or 0.
        previous_project_id: Int64,
        /// The tab, or 0.
        previous_tab_id: Int64,
    }
}

calls! {
    /// Opens a tab.
    "tab.open" TabOpen -> TabReply {
        /// The project; 0 lets the server choose.
        #[serde(default)]
        project_id: Int64,
        /// Where it starts; empty for the project's directory.
        #[serde(default)]
        cwd: String,
        /// What it runs; empty for the shell.
        #[serde(default)]
        argv: Vec<String>,
        /// Columns; 0 for the default.
        #[serde(default)]
        cols: u16,
        /// Rows; 0 for the default.
        #[serde(default)]
        rows: u16,
        /// Its title; empty to derive it from the directory.
        #[serde(default)]
        title: String,
    }
    /// Closes a tab.
    "tab.close" TabClose -> Empty {
        /// The tab.
        tab_id: Int64,
    }
    /// Lists projects and tabs.
    "tab.list" TabList -> Projects {}
    /// Writes to the child of a tab.
    "tab.write" TabWrite -> Empty {
        /// The tab.
        tab_id: Int64,
        /// The bytes.
        data: Base64,
    }
    /// Resizes a tab.
    "tab.resize" TabResize -> Empty {
        /// The tab.
        tab_id: Int64,
        /// Columns.
        cols: NonZeroU16,
        /// Rows.
        rows: NonZeroU16,
    }
    /// Reads what a tab shows, as text.
    "tab.dump" TabDump -> Dump {
        /// The tab.
        tab_id: Int64,
    }
    /// Reads what a tab shows, as painted.
    "tab.dump_resolved" TabDumpResolved -> ResolvedDump {
        /// The tab.
        tab_id: Int64,
    }
    /// Injects output as if the child had written it; test mode only.
    "tab.feed_pty_bytes" TabFeedPtyBytes -> Empty {
        /// The tab.
        tab_id: Int64,
        /// The bytes.
        data: Base64,
    }
    /// Reads what the terminal sent to the child; test mode only.
    "tab.capture_pty_input" TabCapturePtyInput -> Captured {
        /// The tab.
        tab_id: Int64,
        /// Whether what is read is forgotten.
        #[serde(default)]
        drain: bool,
    }
    /// Orders the tabs of a project.
    "tab.reorder" TabReorder -> Empty {
        /// The project.
        project_id: Int64,
        /// The leftmost first; those not named follow.
        tab_ids: Vec<Int64>,
    }
    /// Makes a tab the active one.
    "tab.focus" TabFocus -> Focused {
        /// The tab.
        tab_id: Int64,
    }
    /// Renames a tab for good.
    "tab.set_title" TabSetTitle -> Empty {
        /// The tab.
        tab_id: Int64,
        /// The title; may be empty.
        title: String,
    }
    /// Says what a tab shows of its work.
    "tab.set_state" TabSetState -> Empty {
        /// The tab.
        tab_id: Int64,
        /// The state.
        state: TabState,
    }
    /// Clears the notification of a tab.
    "tab.clear_notification" TabClearNotification -> Empty {
        /// The tab.
        tab_id: Int64,
    }
    /// Says whether a hook owns a tab.
    "tab.set_hook_active" TabSetHookActive -> Empty {
        /// The tab.
        tab_id: Int64,
        /// Whether it does.
        active: bool,
    }
    /// Does what a mouse does; test mode only.
    "tab.dispatch_mouse_event" TabDispatchMouseEvent -> Empty {
        /// The tab.
        tab_id: Int64,
        /// What it did.
        kind: MouseKind,
        /// The button.
        button: MouseButton,
        /// Column.
        cell_x: u16,
        /// Row.
        cell_y: u16,
        /// Bits from the lowest: shift, ctrl, alt, super.
        #[serde(default)]
        mods: u32,
    }
    /// Does what an input method does; test mode only.
    "tab.feed_ime" TabFeedIme -> Empty [TabFeedIme::whole] {
        /// The tab; it must own the keyboard.
        tab_id: Int64,
        /// What it did.
        action: ImeAction,
        /// The text.
        #[serde(default)]
        text: String,
        /// Where the cursor in the text begins; only together with its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor_start: Option<u32>,
        /// Where the cursor in the text ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor_end: Option<u32>,
    }
}

impl TabFeedIme {
    fn whole(&self) -> Result<(), Error> {
        match (self.cursor_start, self.cursor_end) {
            (Some(_), None) => Err(Error::invalid("cursor_end", "needed with cursor_start")),
            (None, Some(_)) => Err(Error::invalid("cursor_start", "needed with cursor_end")),
            _ => Ok(()),
        }
    }
}
