//! How a viewer begins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Page, Scene, is_false};

/// Params of `view/open`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Open {
    /// What the face speaks; the highest common version is taken.
    pub versions: Vec<u32>,
    pub face: Face,
    /// Shown to others, such as `ssh pts/3`.
    pub name: String,
    pub size: Size,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pixels: Option<Pixels>,
    /// `own` unless the face is a phone or may not type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// The terminal that the face itself runs in: it never takes the size of its pane there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<u64>,
    /// Whether a group shows one pane at a time.
    #[serde(skip_serializing_if = "is_false")]
    pub single: bool,
    /// Where it was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Page>,
    /// May only lower what the connection has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rights: Option<Rights>,
    /// Most frames per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fps: Option<u16>,
    /// See [`wants`]; absent means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wants: Option<Vec<String>>,
    /// It answers `shoot` with `view/picture`.
    #[serde(skip_serializing_if = "is_false")]
    pub draws: bool,
    /// Put checksums into frames.
    #[serde(skip_serializing_if = "is_false")]
    pub check: bool,
}

/// Words of [`Open::wants`].
pub mod wants {
    pub const ROWS: &str = "rows";
    pub const NOTICES: &str = "notices";
    pub const CLIPBOARD: &str = "clipboard";
}

/// What kind of program looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Face {
    Tui,
    Window,
    Web,
    #[default]
    #[serde(other)]
    Other,
}

/// Room for panes, in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Size {
    pub cols: u16,
    pub rows: u16,
}

/// The same room in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pixels {
    pub width: f64,
    pub height: f64,
    /// Width and height of a cell.
    pub cell: (f64, f64),
    #[serde(default = "one")]
    pub scale: f64,
    /// Width of the sidebar, if the person has just given it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sidebar: Option<f64>,
}

fn one() -> f64 {
    1.0
}

/// Whether a viewer may own the size of terminals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    #[default]
    Own,
    Follow,
}

/// What a viewer may do; each includes those before it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Rights {
    Look,
    Decide,
    Full,
}

impl Rights {
    /// The word for it, as it is shown and sent.
    #[must_use]
    pub fn word(self) -> &'static str {
        rookery_model::Words::word(self)
    }
}

rookery_model::words! {
    Rights {
        Look = "look",
        Decide = "decide",
        Full = "full",
    }
}

/// Result of `view/open`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Opened {
    pub version: u32,
    /// The number of this viewer.
    pub viewer: u64,
    pub rights: Rights,
    pub is_desk: bool,
    #[serde(default)]
    pub daemon: Daemon,
    #[serde(default)]
    pub settings: Settings,
    /// Trigger, action and title, for this face and after the user's lines.
    #[serde(default)]
    pub keys: Vec<(String, String, String)>,
    /// Every part.
    #[serde(default)]
    pub scene: Scene,
}

/// Which daemon answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Daemon {
    pub version: String,
    pub build: String,
    pub pid: u32,
    /// Milliseconds since 1970.
    pub started_at: i64,
}

/// What painters need of the user's settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Name of the theme.
    pub theme: String,
    pub font: Font,
    /// Rows of one notch of the wheel.
    pub wheel_rows: u16,
    /// `off`, `selection` or `clipboard`.
    pub copy_on_select: String,
    /// `ctrl`, `alt` or `super`.
    pub link_modifier: String,
    /// Milliseconds for which deciding keys are dead after an item was drawn.
    pub guard: u32,
    pub mouse: bool,
    /// `osc`, `bell` or `off`.
    pub notify: String,
    /// The prefix in canonical spelling; none if it is off.
    pub prefix: Option<String>,
    /// `default` or `tmux`.
    pub key_preset: String,
    /// `busy`, `always` or `never`.
    pub confirm_close: String,
    /// `multiline`, `always` or `never`.
    pub paste_warning: String,
    /// `auto`, `theme`, `terminal` or `none`.
    pub colors: String,
}

/// The terminal's font.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Font {
    /// Empty for the built-in one.
    pub family: String,
    pub size: f32,
}

/// `data` of the error if there is no common version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Supported {
    pub supported: Vec<u32>,
}
