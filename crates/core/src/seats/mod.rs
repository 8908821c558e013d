//! What a user arranges around the terminals: palette, theme, font, window, sidebar, clipboards.
//!
//! It lives here and not in a window, so that it works without one and is the same for every
//! painter. None of it is part of the world: it is no news, it is not logged, and apart from what
//! the settings file and the sidebar keep, it ends with the daemon.

mod actions;
mod clipboard;
mod content;
mod palette;
mod providers;
mod scene;
mod settings;
mod tabs;
mod window;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rookery_host::Clipboards;
use rookery_model::{ProjectId, TerminalId};
use rookery_term::Palette as Colors;
use rookery_view::keys::Platform;
use rookery_view::palette::{Metrics, Palette};
use rookery_view::scene::WindowSize;
use rookery_view::settings::Settings;
use rookery_view::theme::Themes;
use tokio::sync::oneshot;

use crate::log::{Shows, Signalled, Signals};

pub use clipboard::Clipboard;
pub use palette::Presented;
pub use window::WindowMetrics;

/// What the user interface needs to know to start.
#[derive(Clone, Debug, Default)]
pub struct UiConfig {
    /// The settings file; none for a world that no user looks at.
    pub settings: Option<PathBuf>,
    /// Whether there is a desktop whose clipboards are ours as well.
    pub has_display: bool,
    /// Socket told to scripts.
    pub socket: Option<PathBuf>,
    /// The command line program told to scripts.
    pub roostctl: Option<PathBuf>,
    /// Finds the families that may be chosen as fonts; may take its time.
    pub fonts: Option<fn() -> Vec<String>>,
}

/// The user interface of one world.
pub(crate) struct Room {
    config: UiConfig,
    /// Colors of a world without settings.
    plain: Colors,
    state: Signalled<State>,
    clipboards: Clipboards,
    stats: SceneStats,
    /// Held while the settings file is changed.
    settings_writer: tokio::sync::Mutex<()>,
}

struct State {
    palette: Palette,
    settings: Settings,
    themes: Themes,
    /// The theme shown, which may be a preview.
    theme: String,
    /// The font shown, which may be a preview; none is the built-in one.
    font: Option<String>,
    font_size: f32,
    window: WindowSize,
    /// Whether anybody arranged the window yet: its size, its sidebar or its font.
    is_arranged: bool,
    sidebar: SidebarState,
    edit: Option<Edit>,
    question: Option<CloseQuestion>,
    /// Who waits for an answer given in the palette, by the palette's session.
    askers: HashMap<u64, oneshot::Sender<Option<String>>>,
    /// What agents have changed since the list was opened; none while that is being found out.
    metrics: HashMap<TerminalId, Option<Metrics>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct SidebarState {
    is_collapsed: bool,
    width: f32,
    are_agents_visible: bool,
}

/// A name that is being edited in place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Edit {
    Tab(TerminalId, String),
    Project(ProjectId, String),
}

/// Whether a project with several terminals shall really be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CloseQuestion {
    project: ProjectId,
}

/// How often scenes were made and what that cost, since the counters were last reset.
#[derive(Debug, Default)]
struct SceneStats {
    scenes: AtomicU64,
    nanos: AtomicU64,
    rows: AtomicU64,
    cells: AtomicU64,
}

/// A reading of the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SceneCounts {
    /// Scenes made.
    pub scenes: u64,
    /// Time that took, in nanoseconds.
    pub nanos: u64,
    /// Rows of terminals in them.
    pub rows: u64,
    /// Cells in those rows.
    pub cells: u64,
}

impl SceneStats {
    fn read(&self, reset: bool) -> SceneCounts {
        let get = |counter: &AtomicU64| match reset {
            true => counter.swap(0, Ordering::Relaxed),
            false => counter.load(Ordering::Relaxed),
        };
        SceneCounts {
            scenes: get(&self.scenes),
            nanos: get(&self.nanos),
            rows: get(&self.rows),
            cells: get(&self.cells),
        }
    }
}

impl Room {
    /// Reads settings and themes. Blocking.
    pub(crate) fn start(config: UiConfig, plain: Colors, signals: &Signals) -> Room {
        let loaded = settings::load(config.settings.as_deref());
        let state = State {
            theme: loaded.settings.theme.clone(),
            font: loaded.settings.font_family.clone(),
            font_size: loaded.settings.font_size,
            sidebar: SidebarState {
                is_collapsed: false,
                width: rookery_view::scene::layout::SIDEBAR_WIDTH,
                are_agents_visible: loaded.settings.show_sidebar_agents,
            },
            palette: Palette::default(),
            settings: loaded.settings,
            themes: loaded.themes,
            window: WindowSize::default(),
            is_arranged: false,
            edit: None,
            question: None,
            askers: HashMap::new(),
            metrics: HashMap::new(),
        };
        let clipboards = Clipboards::start(config.has_display);
        Room {
            config,
            plain,
            state: Signalled::new(state, Shows::Seats, signals),
            clipboards,
            stats: SceneStats::default(),
            settings_writer: tokio::sync::Mutex::new(()),
        }
    }

    /// The colors of terminals now.
    pub(crate) fn colors(&self) -> Colors {
        if self.config.settings.is_none() {
            return self.plain.clone();
        }
        let state = self.state.lock();
        state.themes.get(&state.theme).palette
    }

    /// Whether shells get our integration.
    pub(crate) fn integrates_shells(&self) -> bool {
        self.state.lock().settings.shell_integration
    }

    /// Signs that belong to a word besides letters and digits.
    pub(crate) fn word_chars(&self) -> String {
        self.state.lock().settings.word_break_chars.clone()
    }

    /// Where selecting with the mouse puts the text.
    pub(crate) fn copy_on_select(&self) -> rookery_view::settings::CopyOnSelect {
        self.state.lock().settings.copy_on_select
    }

    /// Whether programs may write the clipboard.
    pub(crate) fn may_write_clipboard(&self) -> bool {
        self.state.lock().settings.clipboard_write
    }
}

const PLATFORM: Platform = Platform::Linux;
