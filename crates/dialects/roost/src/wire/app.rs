//! The application: who it is, what its window shows.

use super::{Base64, Empty, Int64, agent::Lifecycle, calls, shapes};
use crate::errors::Error;

/// The version of the protocol.
pub const PROTOCOL_VERSION: u32 = 1;

shapes! {
    /// Who answers.
    Identity {
        /// The socket it listens on.
        socket_path: String,
        /// The process to signal.
        pid: i32,
        /// The active project, or 0.
        active_project_id: Int64,
        /// The active tab, or 0.
        active_tab_id: Int64,
        /// Its name for people.
        app_label: String,
        /// Its name for programs.
        app_id: String,
        /// Its version.
        ui_version: String,
        /// The version of the protocol, [`PROTOCOL_VERSION`].
        protocol_version: u32,
    }
    /// A picture of the window.
    Screenshot {
        /// The picture as PNG.
        png: Base64,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Pixels per logical point.
        scale: u32,
    }
    /// The window in logical points.
    WindowMetrics {
        /// Width.
        window_width: f64,
        /// Height.
        window_height: f64,
        /// Width of the sidebar, 0 when collapsed.
        sidebar_width: f64,
        /// Whether the sidebar is collapsed.
        sidebar_collapsed: bool,
        /// Where the terminal begins.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        terminal_top: Option<f64>,
        /// The font of the terminal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        terminal_font_family: Option<String>,
    }
    /// What the sidebar shows.
    Sidebar {
        /// Whether agents are shown.
        agents_visible: bool,
        /// The projects in display order.
        projects: Vec<SidebarProject>,
    }
    SidebarProject {
        /// The project.
        project_id: Int64,
        /// Its agents.
        agents: Vec<SidebarAgent>,
    }
    SidebarAgent {
        /// Its tab.
        tab_id: Int64,
        /// Its name.
        name: String,
        /// How far along it is.
        lifecycle: Lifecycle,
        /// What it does, for people.
        status_text: String,
        /// How long ago it was heard of, for people.
        time_text: String,
        /// Whether its tab is the active one.
        is_active: bool,
    }
    /// The tab on screen.
    SelectedTab {
        /// The tab, or 0.
        tab_id: Int64,
    }
    /// Where keys go.
    TerminalFocus {
        /// Whether they go to the terminal.
        focused: bool,
    }
    /// How the pointer looks.
    CursorShape {
        /// Its name, `default` if nothing else.
        shape: String,
    }
    /// What drawing cost.
    RenderStats {
        /// Refreshes.
        refresh_calls: Int64,
        /// Time they took.
        refresh_nanos: Int64,
        /// Rows made anew.
        rows_rebuilt: Int64,
        /// Cells looked at.
        cells_walked: Int64,
        /// Drawings.
        draw_calls: Int64,
        /// Time they took.
        draw_nanos: Int64,
        /// Texts drawn.
        fill_text_calls: Int64,
        /// Views made.
        view_calls: Int64,
        /// Time they took.
        view_nanos: Int64,
        /// Titles shortened.
        elide_calls: Int64,
        /// Time it took.
        elide_nanos: Int64,
    }
}

/// The default of `scale`.
fn one() -> u32 {
    1
}

calls! {
    /// Asks who answers.
    "identify" Identify -> Identity {
        /// The client's name.
        #[serde(default)]
        client_name: String,
        /// The client's version.
        #[serde(default)]
        client_version: String,
    }
    /// Draws the window.
    "app.screenshot" AppScreenshot -> Screenshot [AppScreenshot::in_range] {
        /// Pixels per logical point, 1 or 2.
        #[serde(default = "one")]
        scale: u32,
    }
    /// Raises the window.
    "app.activate" AppActivate -> Empty {}
    /// Measures the window.
    "app.window_metrics" AppWindowMetrics -> WindowMetrics {}
    /// Reads the sidebar.
    "app.sidebar_dump" AppSidebarDump -> Sidebar {}
    /// Asks for the tab on screen.
    "app.selected_tab_id" AppSelectedTabId -> SelectedTab {}
    /// Asks whether keys go to the terminal.
    "app.active_terminal_focused" AppActiveTerminalFocused -> TerminalFocus {}
    /// Asks how the pointer looks.
    "app.cursor_shape" AppCursorShape -> CursorShape {}
    /// Asks what drawing cost.
    "app.render_stats" AppRenderStats -> RenderStats {
        /// Whether counting starts anew afterwards.
        #[serde(default)]
        reset: bool,
    }
    /// Says whether the window has the focus; test mode only.
    "app.set_window_focus" AppSetWindowFocus -> Empty {
        /// Whether it has.
        focus: bool,
    }
    /// Resizes the window; test mode only.
    "window.resize" WindowResize -> Empty [WindowResize::sensible] {
        /// Width in logical points.
        width: f64,
        /// Height in logical points.
        height: f64,
    }
    /// Resizes the sidebar; test mode only.
    "sidebar.set_width" SidebarSetWidth -> Empty [SidebarSetWidth::sensible] {
        /// Width in logical points above 0, clamped to 160 to 400.
        width: f64,
    }
}

impl AppScreenshot {
    fn in_range(&self) -> Result<(), Error> {
        if (1..=2).contains(&self.scale) {
            return Ok(());
        }
        Err(Error::invalid("scale", format!("must be 1 or 2, not {}", self.scale)))
    }
}

impl WindowResize {
    fn sensible(&self) -> Result<(), Error> {
        for (field, length) in [("width", self.width), ("height", self.height)] {
            if !length.is_finite() || length <= 0.0 {
                return Err(Error::invalid(field, "must be finite and above 0"));
            }
        }
        Ok(())
    }
}

impl SidebarSetWidth {
    fn sensible(&self) -> Result<(), Error> {
        if self.width.is_finite() && self.width > 0.0 {
            return Ok(());
        }
        Err(Error::invalid("width", "must be finite and above 0"))
    }
}
