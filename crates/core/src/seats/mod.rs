//! What a user arranges around the terminals: palette, theme, font, window, sidebar, clipboards.
//!
//! It lives here and not in a window, so that it works without one and is the same for every
//! painter. None of it is part of the world: it is no news, it is not logged, and apart from what
//! the settings file and the sidebar keep, it ends with the daemon.

mod actions;
mod clipboard;
mod content;
mod palette;
mod panes;
mod picture;
mod providers;
mod questions;
mod scene;
mod settings;
mod shots;
mod tabs;
mod viewers;
mod window;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rookery_host::Clipboards;
use rookery_model::{ProjectId, RequestId, TerminalId, ViewerId};
use rookery_term::Palette as Colors;
use rookery_view::keys::Platform;
use rookery_view::palette::{Metrics, Palette};
use rookery_view::scene::WindowSize;
use rookery_view::settings::Settings;
use rookery_view::theme::Themes;
use tokio::sync::{broadcast, oneshot, watch};

use crate::log::{Shows, Signalled, Signals};
use crate::rooms::Seats;

pub use clipboard::Clipboard;
pub use panes::PaneTo;
pub use questions::Presented;
pub use shots::{PictureAsk, WindowPicture};
pub(crate) use viewers::TabHistory;
pub use viewers::{EndReason, Face, Fit, MAX_VIEWERS, NewViewer, Page, Viewer, ViewerRights};
pub use window::WindowMetrics;

/// What the user interface needs to know to start.
#[derive(Clone, Debug)]
pub struct UiConfig {
    /// The settings file; none for a world that no user looks at.
    pub settings: Option<PathBuf>,
    /// Whether there is a desktop whose clipboards are ours as well.
    pub has_display: bool,
    /// Socket passed to scripts.
    pub socket: Option<PathBuf>,
    /// The command line program passed to scripts.
    pub roostctl: Option<PathBuf>,
    /// Finds the families that may be chosen as fonts; may take its time.
    pub fonts: Option<fn() -> Vec<String>>,
    /// How many viewers there may be.
    pub max_viewers: usize,
    /// How long a viewer may leave frames unacknowledged while more waits.
    pub viewer_patience: Duration,
}

impl Default for UiConfig {
    fn default() -> UiConfig {
        UiConfig {
            settings: None,
            has_display: false,
            socket: None,
            roostctl: None,
            fonts: None,
            max_viewers: MAX_VIEWERS,
            viewer_patience: VIEWER_PATIENCE,
        }
    }
}

/// The user interface of one world.
pub(crate) struct Room {
    config: UiConfig,
    /// Colors of a world without settings.
    plain: Colors,
    state: Signalled<State>,
    clipboards: Clipboards,
    stats: SceneStats,
    /// Whose size terminals have.
    sizes: viewers::Sizes,
    /// Where viewers hear that they are to go.
    endings: Mutex<HashMap<ViewerId, viewers::Ending>>,
    /// Raised when the newest window shall come to the front.
    raises: watch::Sender<u64>,
    /// Pictures that the desk's window is asked for.
    shots: shots::PictureRequests,
    /// Texts that programs put on a clipboard, for the desk.
    clips: broadcast::Sender<(Clipboard, String)>,
    /// Held while the settings file is changed.
    settings_writer: tokio::sync::Mutex<()>,
}

struct State {
    /// What the virtual window of the daemon has in front of it.
    headless: Seat,
    /// What viewers have in front of them.
    seats: HashMap<ViewerId, Seat>,
    settings: Settings,
    themes: Themes,
    /// The theme shown, which may be a preview.
    theme: String,
    /// The font shown, which may be a preview; none is the built-in one.
    font: Option<String>,
    font_size: f32,
    window: WindowSize,
    /// Whether a user arranged the window yet: its size, its sidebar or its font.
    is_arranged: bool,
    /// Who waits for an answer given in a palette, by its seat and its session.
    askers: HashMap<Asking, oneshot::Sender<Option<String>>>,
    /// Where the page for browsers is, while it is served.
    web: Option<String>,
    /// The rows of the inbox of such questions, and which one of its palette each is.
    questions: HashMap<RequestId, u64>,
}

/// A palette, by its seat, and a session of it.
type Asking = (Option<ViewerId>, u64);

/// What lies in front of the terminals that one looks at.
#[derive(Default)]
struct Seat {
    palette: Palette,
    sidebar: SidebarState,
    edit: Option<Edit>,
    question: Option<CloseQuestion>,
    /// What agents have changed since the list was opened; none while that is being found out.
    metrics: HashMap<TerminalId, Option<Metrics>>,
}

impl State {
    /// The seat of a viewer; none, or one that is gone, is the imagined window's.
    fn seat(&self, viewer: Option<ViewerId>) -> &Seat {
        viewer.and_then(|id| self.seats.get(&id)).unwrap_or(&self.headless)
    }

    fn seat_mut(&mut self, viewer: Option<ViewerId>) -> &mut Seat {
        match viewer.and_then(|id| self.seats.get_mut(&id)) {
            Some(seat) => seat,
            None => &mut self.headless,
        }
    }

    /// Those who asked at one seat wait at another from now on.
    fn rename_askers(&mut self, from: Option<ViewerId>, to: Option<ViewerId>) {
        let moved: Vec<Asking> =
            self.askers.keys().filter(|(seat, _)| *seat == from).copied().collect();
        for asking in moved {
            if let Some(asker) = self.askers.remove(&asking) {
                self.askers.insert((to, asking.1), asker);
            }
        }
    }
}

impl Seats {
    /// Where the page for browsers is, while it is served.
    pub fn web(&self) -> Option<String> {
        self.core.inner.seats.state.lock_quietly().web.clone()
    }

    /// The page for browsers is served there from now on, or is not any more.
    pub fn set_web(&self, url: Option<String>) {
        self.core.inner.seats.state.lock().web = url;
    }

    /// Looks at the seat that this is about.
    fn look_at_seat<T>(&self, work: impl FnOnce(&Seat) -> T) -> T {
        let seat = self.seat();
        work(self.core.inner.seats.state.lock().seat(seat))
    }

    /// Changes the seat that this is about.
    fn change_seat<T>(&self, work: impl FnOnce(&mut Seat) -> T) -> T {
        let seat = self.seat();
        work(self.core.inner.seats.state.lock().seat_mut(seat))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct SidebarState {
    is_collapsed: bool,
    width: f32,
    are_agents_visible: bool,
}

impl Default for SidebarState {
    fn default() -> Self {
        let width = rookery_view::scene::layout::SIDEBAR_WIDTH;
        SidebarState { is_collapsed: false, width, are_agents_visible: true }
    }
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
        let sidebar = SidebarState {
            are_agents_visible: loaded.settings.show_sidebar_agents,
            ..SidebarState::default()
        };
        let state = State {
            theme: loaded.settings.theme.clone(),
            font: loaded.settings.font_family.clone(),
            font_size: loaded.settings.font_size,
            headless: Seat { sidebar, ..Seat::default() },
            seats: HashMap::new(),
            settings: loaded.settings,
            themes: loaded.themes,
            window: WindowSize::default(),
            is_arranged: false,
            askers: HashMap::new(),
            questions: HashMap::new(),
            web: None,
        };
        let clipboards = Clipboards::start(config.has_display);
        Room {
            config,
            plain,
            state: Signalled::new(state, Shows::Seats, signals),
            clipboards,
            stats: SceneStats::default(),
            sizes: viewers::Sizes::default(),
            endings: Mutex::default(),
            raises: watch::Sender::new(0),
            shots: shots::PictureRequests::default(),
            clips: broadcast::Sender::new(MAX_CLIPS),
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

    /// Rows that one notch of the wheel scrolls.
    pub(crate) fn wheel_rows(&self) -> u16 {
        self.state.lock().settings.faces.wheel_rows
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

/// How long a viewer may leave frames unacknowledged, unless it is configured otherwise.
const VIEWER_PATIENCE: Duration = Duration::from_secs(60);

/// Texts on their way to a desk.
const MAX_CLIPS: usize = 16;
